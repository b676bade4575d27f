// What the programs of Node share: hosts with notes, counters, the heap, rows of the report.
// Their arguments: FOLDER BATCHES addon|wasm; FOLDER has the payloads.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { GCProfiler } from "node:v8";

import { Host, pair, type, useWasm } from "../node/dist/node.js";

const [folder, batchesText, core] = process.argv.slice(2);
export const batches = Number(batchesText);
export const isWasm = core === "wasm";
if (isWasm) useWasm();

const read = (name) => readFileSync(join(folder, name), "utf8");
export const text = { notes: read("notes.json"), document: read("document.json"), item: read("item.json") };
/** Batches before those that count: V8 compiles what it has seen often, beside the program. */
export const warm = (batch) => (batches === 1 ? 1 : batch < 100 ? 8 : 25);

const Notes = type("notes", {
    params: ["board"],
    documents: { list: { entries: [] } },
    methods: { ping: () => "n1" },
});
let computed = 0;
/** With a derive that is another value each time. */
export const Counted = type("counted", {
    params: ["board"],
    documents: { list: { entries: [] } },
    derives: { count: { from: ["list"], compute: () => ++computed } },
});

export async function openWorld(linked, payload, of = Notes) {
    const world = { of, provider: new Host({ types: [of] }), frames: 0, arrived: () => {} };
    await world.provider.ready;
    world.consumer = world.provider;
    if (linked) await openConsumer(world);
    if (payload) world.object = await provide(world, 0, payload);
    return world;
}

/** Another host, linked with the provider. */
export async function openConsumer(world) {
    world.consumer = new Host();
    await pair(world.consumer, world.provider);
}

export async function provide(world, board, payload) {
    const object = await world.provider.object(world.of, { board });
    await object.transaction((t) => void (t.list = JSON.parse(payload)));
    return object;
}

export async function hold(world, board = 0) {
    const reference = world.consumer.get(world.of, { board });
    await reference.live;
    return reference;
}

export async function closeWorld({ provider, consumer }) {
    await consumer.close();
    if (provider !== consumer) await provider.close();
}

export const print = (row) => process.stdout.write(`${JSON.stringify({ system: "chordal", ...row })}\n`);
export const pause = () => new Promise((resolve) => setImmediate(resolve));

/** Both hosts' counters together. */
export function counters({ provider, consumer }) {
    const sums = {};
    for (const host of new Set([provider, consumer])) {
        for (const [name, value] of Object.entries(host.counters())) sums[name] = (sums[name] ?? 0) + Number(value);
    }
    return sums;
}

async function collect() {
    for (let i = 0; i < 6; i++) {
        globalThis.gc();
        await pause();
    }
}

/** What V8 keeps. The core's own memory is counted by the core. */
export async function heap() {
    await collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + (isWasm ? 0 : arrayBuffers);
}

/** Bytes of the heap that were taken meanwhile: what it grew by, and what was collected. */
export async function taken(work) {
    const profiler = new GCProfiler();
    globalThis.gc();
    profiler.start();
    const before = process.memoryUsage().heapUsed;
    await work();
    const after = process.memoryUsage().heapUsed;
    const collected = profiler
        .stop()
        .statistics.map(
            ({ beforeGC, afterGC }) => beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize,
        );
    return collected.reduce((sum, bytes) => sum + bytes, after - before);
}
