// The delta tracker of @earendil-works/chord: a change tracked, encoded to JSON bytes, decoded and applied to a replica
// in the same process; without commit, link or watch. node bench/peers/chord.mjs FOLDER BATCHES

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { applyImmutable, decoder, encoder, track } from "@earendil-works/chord/delta";

const [folder, batchesText] = process.argv.slice(2);
const batches = Number(batchesText);
const read = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
const version = createRequire(import.meta.url)("@earendil-works/chord/package.json").version;
const WARM = batches > 1 ? 25 : 1;

const toBytes = new TextEncoder();
const toText = new TextDecoder();
const STEPS = ["track", "encode", "decode", "apply"];

/** Add the time of each step of one change, in microseconds, to `sums`. */
function change(world, act, sums) {
    const t0 = performance.now();
    act(world.tracker.state);
    const ops = world.tracker.flush();
    const t1 = performance.now();
    const bytes = toBytes.encode(JSON.stringify(world.encoder.encode(ops)));
    const t2 = performance.now();
    const received = world.decoder.decode(JSON.parse(toText.decode(bytes)));
    const t3 = performance.now();
    world.replica = applyImmutable(world.replica, received);
    const t4 = performance.now();
    [t1 - t0, t2 - t1, t3 - t2, t4 - t3].forEach((time, step) => (sums[step] += time * 1000));
    return bytes.length;
}

let number = 0;
const note = read("item.json");
const CASES = [
    [
        "token appended",
        200,
        (state) => (state.entries[999].text += " tok"),
        (s) => (s.entries[999].text = "a".repeat(80)),
    ],
    ["changed field", 200, (state) => (state.entries[500].author = `name-${String(number++ % 1000).padStart(3, "0")}`)],
    ["appended item", 100, (state) => state.entries.push({ ...note }), (s, n) => s.entries.splice(1000, n)],
    [
        "removed item",
        100,
        (state) => state.entries.splice(400, 1),
        (s, n) => s.entries.push(...Array.from({ length: n }, () => ({ ...note }))),
    ],
];

for (const [name, batch, act, restore] of CASES) {
    const world = { tracker: track(read("notes.json")), encoder: encoder(), decoder: decoder(), replica: undefined };
    change(world, () => {}, [0, 0, 0, 0]); // the first is the whole value
    const samples = [];
    const processor = [];
    let bytes, sums;
    for (let round = -WARM; round < batches; round++) {
        sums = [0, 0, 0, 0];
        const [start, worked] = [performance.now(), process.cpuUsage()];
        for (let i = 0; i < batch; i++) bytes = change(world, act, sums);
        const { user, system } = process.cpuUsage(worked);
        if (round >= 0) samples.push(((performance.now() - start) * 1000) / batch);
        if (round >= 0) processor.push((user + system) / batch);
        if (restore) change(world, (state) => restore(state, batch), [0, 0, 0, 0]);
    }
    const counts = Object.fromEntries(STEPS.map((step, i) => [step, Math.round((sums[i] / batch) * 100) / 100]));
    const row = { case: `commit to frame, ${name}, binary`, system: "@earendil-works/chord", version };
    process.stdout.write(`${JSON.stringify({ ...row, unit: "us", samples, processor, bytes, counts })}\n`);
}

/** The whole value, from and to plain values. */
function snapshot() {
    const notes = read("notes.json");
    const ops = track(notes).flush();
    const encode = () => toBytes.encode(JSON.stringify(encoder().encode(ops)));
    const bytes = encode();
    const decode = () => applyImmutable(undefined, decoder().decode(JSON.parse(toText.decode(bytes))));
    if (JSON.stringify(decode()) !== JSON.stringify(notes)) throw new Error("snapshot");
    for (const [name, once] of Object.entries({ encode, decode })) {
        const samples = [];
        for (let round = -WARM; round < batches; round++) {
            const start = performance.now();
            for (let i = 0; i < 10; i++) once();
            if (round >= 0) samples.push(((performance.now() - start) * 1000) / 10);
        }
        const row = { case: `snapshot ${name}, 1,000 notes`, system: "@earendil-works/chord", version };
        process.stdout.write(`${JSON.stringify({ ...row, unit: "us", samples, bytes: bytes.length })}\n`);
    }
}

snapshot();
