// Node: what stays in memory, in the core and in V8, and what happens once.
// node --expose-gc bench/kept.mjs FOLDER BATCHES addon|wasm: a JSON object a line; FOLDER has the payloads.

import { batches, closeWorld, heap, hold, isWasm, openConsumer, openWorld, print, provide, text } from "./world.mjs";

const KEPT = Math.min(100, batches * 20);
const HOLDERS = 10;
const OBJECTS = Math.min(1000, batches * 200);

const liveBytes = (host) => Number(host.counters().live_bytes);

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
    print({ case: "bytes kept per replica, 1,000 notes", unit: "B", samples: [kept], counts });
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

/** One object, held by more hosts: what the provider keeps for a hold. All links were there, and held something. */
async function measureFurther() {
    const world = await openWorld(true, text.notes);
    await provide(world, 1, text.notes);
    const worlds = Array.from({ length: HOLDERS }, () => ({ ...world }));
    for (const one of worlds) await openConsumer(one);
    const kept = [];
    for (const board of [1, 0]) {
        for (const one of [world, ...worlds]) one.held = [...(one.held ?? []), await hold(one, board)];
        kept.push(liveBytes(world.provider));
        if (kept.length === 1) await hold(world, 0);
        if (kept.length === 1) kept[0] = liveBytes(world.provider);
    }
    const bytes = Math.round((kept[1] - kept[0]) / HOLDERS);
    print({ case: "bytes kept per further hold, 1,000 notes", unit: "B", samples: [bytes] });
    for (const { consumer } of worlds) await consumer.close();
    await closeWorld(world);
}

/** Many small objects, held in their own host. */
async function measureObjects() {
    const world = await openWorld(false, undefined);
    const references = [await hold(world, OBJECTS)];
    const before = { heap: await heap(), core: liveBytes(world.provider) };
    for (let board = 0; board < OBJECTS; board++) references.push(await hold(world, board));
    const counts = {
        core: Math.round((liveBytes(world.provider) - before.core) / OBJECTS),
        native: Math.round(((await heap()) - before.heap) / OBJECTS),
    };
    print({ case: "bytes kept per live object", unit: "B", samples: [counts.core + counts.native], counts });
    if (references.some(({ state }) => state !== "live")) throw new Error("not held");
    await closeWorld(world);
}

/** The first hold between two new hosts that are linked. */
async function measureFirst(name, payload) {
    const samples = [];
    for (let round = 0; round < batches; round++) {
        const world = await openWorld(true, payload);
        const start = performance.now();
        await hold(world);
        samples.push((performance.now() - start) * 1000);
        await closeWorld(world);
    }
    print({ case: `first hold to live, ${name}, binary`, unit: "us", samples });
}

await measureFirst("1,000 notes", text.notes);
await measureFirst("500 x 960 document", text.document);
await measureKept();
if (!isWasm) await measureKeptJson();
await measureFurther();
await measureObjects();
