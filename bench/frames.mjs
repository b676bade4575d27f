// What a frame copies: one element changes in a list or an object of some size, held with values that share, in place,
// or with ops alone. node bench/frames.mjs FOLDER BATCHES addon|wasm: a JSON object a line.

import { Host, pair, type } from "../node/dist/node.js";
import { writeOp } from "../node/dist/ops.js";
import { written } from "../node/dist/packed.js";
import { batches, closeWorld, print, taken } from "./world.mjs";

const WARM = batches === 1 ? 1 : 5;
const BATCH = batches === 1 ? 10 : 50;
const KEEP = { shared: "shared", "in place": "in-place", "ops alone": "none" };
const SIZES = { list: [100, 1000, 10_000, 100_000], object: [100, 1000, 10_000] };

const Sized = type("sized", { params: [], documents: { value: null } });

const keyOf = (i) => `key-${String(i).padStart(7, "0")}`;
const numbers = (size) => Array.from({ length: size }, (_, i) => i);
const MADE = { list: numbers, object: (size) => Object.fromEntries(numbers(size).map((i) => [keyOf(i), i])) };

async function open(kind, size, values) {
    const world = { provider: new Host({ types: [Sized] }), consumer: new Host(), arrived: () => {} };
    await pair(world.consumer, world.provider);
    world.object = await world.provider.object(Sized, {});
    await world.object.transaction((t) => void (t.value = MADE[kind](size)));
    const reference = world.consumer.get(Sized, {}, { values });
    world.first = new Promise((resolve) => (world.arrived = resolve));
    world.member = reference.value;
    world.member.watch(() => world.arrived());
    await reference.live;
    await world.first;
    world.path = [0, kind === "list" ? size >> 1 : keyOf(size >> 1)];
    return world;
}

function varint(number) {
    const bytes = [];
    for (; number > 127; number = Math.floor(number / 128)) bytes.push((number & 127) | 128);
    return [...bytes, number];
}

let number = 0;

/** The ops as the core takes them, so that the provider's own values have no part in it. */
function commit({ provider, object, path }) {
    const ops = written((out) => writeOp(out, { op: "set", path, value: ++number % 100 }));
    const head = [...varint(object.id), ...varint(ops.length)];
    provider.core.flat.commit(provider.core.host, 0, Uint8Array.of(...head, ...ops));
    provider.pump.wake();
}

function frame(world) {
    return new Promise((resolve) => {
        world.arrived = resolve;
        commit(world);
    });
}

async function measure(kind, size, kept) {
    const world = await open(kind, size, KEEP[kept]);
    const samples = [];
    for (let round = -WARM; round < batches; round++) {
        const start = performance.now();
        for (let i = 0; i < BATCH; i++) await frame(world);
        if (round >= 0) samples.push(((performance.now() - start) * 1000) / BATCH);
    }
    const heap = await taken(async () => {
        for (let i = 0; i < BATCH; i++) await frame(world);
    });
    const { value } = world.member;
    if (kept !== "ops alone" && value[world.path[1]] !== number % 100) throw new Error(`${kind} of ${size}, ${kept}`);
    const name = `frame, ${kind} of ${size.toLocaleString("en")}, ${kept}`;
    print({ case: name, unit: "us", samples, counts: { heap: Math.round(heap / BATCH) } });
    await closeWorld(world);
}

for (const [kind, sizes] of Object.entries(SIZES)) {
    for (const size of sizes) for (const kept of Object.keys(KEEP)) await measure(kind, size, kept);
}
