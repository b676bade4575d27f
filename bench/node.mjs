// Node: what the TypeScript layer costs, on the addon or on WebAssembly.
// node --expose-gc bench/node.mjs FOLDER BATCHES addon|wasm: a JSON object a line; FOLDER has the payloads.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { append, Host, pair, type, useWasm } from "../node/dist/node.js";
import { pack, unpack } from "../node/dist/packed.js";

const [folder, batchesText, core] = process.argv.slice(2);
const batches = Number(batchesText);
const read = (name) => readFileSync(join(folder, name), "utf8");
const text = { notes: read("notes.json"), document: read("document.json"), item: read("item.json") };
const KEPT = Math.min(100, batches * 20);
// Batches before those that count: V8 compiles what it has seen often, beside the program.
const warm = (batch) => (batches === 1 ? 1 : batch < 100 ? 8 : 25);

const Notes = type("notes", {
    params: ["board"],
    documents: { list: { entries: [] } },
    methods: { ping: () => "n1" },
});

async function openWorld(linked, payload) {
    const world = { provider: new Host({ types: [Notes] }), frames: 0, arrived: () => {} };
    await world.provider.ready;
    world.consumer = linked ? new Host() : world.provider;
    if (linked) await pair(world.consumer, world.provider);
    world.object = await provide(world, 0, payload);
    return world;
}

async function provide(world, board, payload) {
    const object = await world.provider.object(Notes, { board });
    await object.transaction((t) => void (t.list = JSON.parse(payload)));
    return object;
}

async function hold(world, board = 0) {
    const reference = world.consumer.get(Notes, { board });
    await reference.live;
    return reference;
}

async function watch(world) {
    world.reference = await hold(world);
    world.stop = world.reference.list.watch(() => world.arrived());
    await frameAfter(world, (object) => object.transaction((t) => void (t.list.entries[999].text = "x")));
}

async function closeWorld({ provider, consumer }) {
    await consumer.close();
    if (provider !== consumer) await provider.close();
}

// ---- what is done to the notes ----

const token = (t) => append(t.list.entries[999], "text", " tok");
let number = 0;
const field = (t) => void (t.list.entries[500].author = `name-${String(number++ % 1000).padStart(3, "0")}`);
const item = (t) => void t.list.entries.push(JSON.parse(text.item));
const removal = (t) => void t.list.entries.splice(400, 1);

const commit = (change) => (world) => world.object.transaction(change);
function frameAfter(world, act) {
    return new Promise((resolve) => {
        world.arrived = resolve;
        void act(world.object);
    });
}
const commitToFrame = (change) => (world) => frameAfter(world, (object) => object.transaction(change));
const call = (world) => world.reference.ping("milk");
async function holdOnce(world) {
    (await hold(world)).release();
}

const restoreToken = (world) => world.object.transaction((t) => void (t.list.entries[999].text = "a".repeat(80)));
const restoreAppended = (world, n) => world.object.transaction((t) => void t.list.entries.splice(1000, n));
async function restoreRemoved(world, n) {
    const notes = Array.from({ length: n }, () => JSON.parse(text.item));
    await world.object.transaction((t) => void t.list.entries.push(...notes));
}

const { notes, document } = text;
const local = { linked: false, payload: notes, batch: 200 };
const linked = { linked: true, payload: notes, batch: 200 };
const CASES = [
    ["local call", { ...local, once: call }],
    ["commit without a watch", { ...local, once: commit(token), restore: restoreToken }],
    ["commit with a watch", { ...local, watched: true, once: commitToFrame(token), restore: restoreToken }],
    ["call round trip, binary", { ...linked, once: call }],
    ["commit to frame, token appended, binary", follow(token, restoreToken)],
    ["commit to frame, changed field, binary", follow(field)],
    ["commit to frame, appended item, binary", follow(item, restoreAppended, 100)],
    ["commit to frame, removed item, binary", follow(removal, restoreRemoved, 100)],
    ["hold to live, 1,000 notes, binary", { ...linked, batch: 10, once: holdOnce, held: false }],
    [
        "hold to live, 500 x 960 document, binary",
        { ...linked, batch: 5, once: holdOnce, held: false, payload: document },
    ],
];

function follow(change, restore, batch = 200) {
    return { ...linked, batch, watched: true, once: commitToFrame(change), restore };
}

// ---- measuring ----

const print = (row) => process.stdout.write(`${JSON.stringify(row)}\n`);
const pause = () => new Promise((resolve) => setImmediate(resolve));

/** Both hosts' counters together. */
function counters({ provider, consumer }) {
    const sums = {};
    for (const host of new Set([provider, consumer])) {
        for (const [name, value] of Object.entries(host.counters())) sums[name] = (sums[name] ?? 0) + Number(value);
    }
    return sums;
}

async function measure(name, { linked, payload, batch, watched, held = true, once, restore }) {
    const world = await openWorld(linked, payload);
    if (watched) await watch(world);
    else if (held) world.reference = await hold(world);
    const samples = [];
    const processor = [];
    let before, after;
    for (let round = -warm(batch); round < batches; round++) {
        before = counters(world);
        const [start, worked] = [performance.now(), process.cpuUsage()];
        for (let i = 0; i < batch; i++) await once(world);
        const { user, system } = process.cpuUsage(worked);
        const time = ((performance.now() - start) * 1000) / batch;
        after = counters(world);
        if (round >= 0) samples.push(time);
        if (round >= 0) processor.push((user + system) / batch);
        await restore?.(world, batch);
        await pause();
    }
    const per = (counter) => Math.round(((after[counter] - before[counter]) / batch) * 100) / 100;
    print({
        case: name,
        system: "chordal",
        unit: "us",
        samples,
        processor,
        bytes: per("bytes_out"),
        counts: { messages: per("messages_out"), allocations: per("allocations"), entries: per("entries") },
    });
    await closeWorld(world);
}

async function collect() {
    for (let i = 0; i < 6; i++) {
        globalThis.gc();
        await pause();
    }
}

/** What V8 keeps. The core's own memory is counted by the core. */
async function heap() {
    await collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + (core === "wasm" ? 0 : arrayBuffers);
}

/** References to as many objects, over one link; what the provider keeps is there before. */
async function measureKept() {
    const world = await openWorld(true, text.notes);
    for (let board = 1; board <= KEPT; board++) await provide(world, board, text.notes);
    const references = [await hold(world)];
    const before = { heap: await heap(), core: world.consumer.counters(), provider: world.provider.counters() };
    for (let board = 1; board <= KEPT; board++) references.push(await hold(world, board));
    const after = { heap: await heap(), core: world.consumer.counters(), provider: world.provider.counters() };
    const per = (a, b) => Math.round((Number(a) - Number(b)) / KEPT);
    const counts = {
        core: per(after.core.live_bytes, before.core.live_bytes),
        native: per(after.heap, before.heap),
        provider: per(after.provider.live_bytes, before.provider.live_bytes),
    };
    const kept = counts.core + counts.native;
    print({ case: "bytes kept per replica, 1,000 notes", system: "chordal", unit: "B", samples: [kept], counts });
    if (references.some((reference) => reference.list.value.entries.length !== 1000)) throw new Error("not held");
    await closeWorld(world);
}

/** The same notes as plain values. */
async function measureKeptJson() {
    const values = [];
    const before = await heap();
    for (let i = 0; i < KEPT; i++) values.push(JSON.parse(text.notes));
    const kept = Math.round(((await heap()) - before) / KEPT);
    print({ case: "bytes kept per replica, 1,000 notes", system: "limit: JSON.parse", unit: "B", samples: [kept] });
    if (values.some((value) => value.entries.length !== 1000)) throw new Error("not kept");
}

function measurePlain(name, system, once, bytes) {
    const samples = [];
    for (let round = -warm(1); round < batches; round++) {
        const start = performance.now();
        for (let i = 0; i < 20; i++) once();
        if (round >= 0) samples.push(((performance.now() - start) * 1000) / 20);
    }
    print({ case: name, system, unit: "us", samples, bytes });
}

/** V8's own JSON, of text and to text that are there already. */
function measureJson(name, json) {
    const value = JSON.parse(json);
    measurePlain(name, "limit: JSON.parse", () => JSON.parse(json), json.length);
    measurePlain(name, "limit: JSON.stringify", () => JSON.stringify(value), json.length);
}

/** The notes from native values to bytes and back, without a host; and the same by JSON. */
function measureSnapshot(json) {
    const value = JSON.parse(json);
    const packed = pack(value);
    const bytes = new TextEncoder().encode(json);
    const [encode, decode] = ["snapshot encode, 1,000 notes", "snapshot decode, 1,000 notes"];
    measurePlain(encode, "chordal", () => pack(value), packed.length);
    measurePlain(decode, "chordal", () => unpack(packed), packed.length);
    measurePlain(encode, "limit: JSON", () => new TextEncoder().encode(JSON.stringify(value)), bytes.length);
    measurePlain(decode, "limit: JSON", () => JSON.parse(new TextDecoder().decode(bytes)), bytes.length);
}

if (core === "wasm") useWasm();
for (const [name, options] of CASES) await measure(name, options);
await measureKept();
if (core !== "wasm") {
    await measureKeptJson();
    measureJson("hold to live, 1,000 notes, binary", text.notes);
    measureJson("hold to live, 500 x 960 document, binary", text.document);
    measureSnapshot(text.notes);
}
