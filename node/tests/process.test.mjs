// Hosts and the process that they live in: its end, workers, garbage, what programs throw.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

import { entry, forgetful, run, runs, start } from "./program.mjs";

test("a program with a local host ends by itself", async () => {
    const out = await runs(`
        const host = new Host({ types: [Notes] });
        const notes = host.get(Notes, { board: "a" });
        notes.list.watch(({ value }) => console.log(value.entries.length));
        await notes.add("x");
    `);
    assert.equal(out, "0\n1");
});

test("a program ends when its links are closed", async () => {
    await runs(`
        const host = new Host({ types: [Notes] });
        const server = await host.listen("ws://127.0.0.1:0");
        const holder = connect(server.address);
        await holder.get(Notes, { board: "a" }).add("x");
        await holder.close();
        await host.close();
    `);
});

test("a program may end in the middle of everything", async () => {
    for (const end of [
        "process.exit(0)",
        "setImmediate(() => process.exit(0))",
        "process.kill(process.pid, 0), process.exit(0)",
    ]) {
        await runs(`
            const host = new Host({ types: [Notes] });
            const server = await host.listen("ws://127.0.0.1:0");
            const holder = connect(server.address);
            const notes = holder.get(Notes, { board: "a" });
            await notes.live;
            notes.never();
            for (let i = 0; i < 100; i++) notes.add("x");
            ${end};
        `);
    }
});

test("an observer that throws is an uncaught exception, and the rest goes on", async () => {
    const out = await runs(`
        process.on("uncaughtException", (error) => console.log(error.message));
        const host = new Host({ types: [Notes] });
        const notes = host.get(Notes, { board: "a" });
        notes.list.watch(() => { throw new Error("mine"); });
        notes.list.watch(({ value }) => console.log(value.entries.length));
        await notes.live;
        await pause(5);
    `);
    assert.deepEqual(out.split("\n").sort(), ["0", "mine"]);
});

test("what a method throws is printed here", async () => {
    const { err, out } = await run(`
        const Faulty = type("faulty", { methods: { crash: () => { throw new Error("a secret"); } } });
        const host = new Host({ types: [Faulty] });
        await host.get(Faulty, {}).crash().catch((error) => console.log(error.name));
    `);
    assert.match(err, /chordal: faulty\.crash: Error: a secret/);
    assert.equal(out.trim(), "internal");
});

test("references that are forgotten are given back, those that are watched are not", async () => {
    const out = await runs(
        `
        const [provider, holder] = [new Host({ types: [Notes] }), new Host()];
        await pair(holder, provider);
        await (async () => {
            for (let i = 0; i < 50; i++) await holder.get(Notes, { board: String(i) }).live;
            holder.get(Notes, { board: "watched" }).list.watch(() => {});
        })();
        for (let i = 0; i < 50 && provider.counters().live_objects > 1n; i++) {
            gc();
            await pause(5);
        }
        gc();
        await pause(20);
        console.log(provider.counters().live_objects);
        await holder.close();
        await pause(5);
        console.log(provider.counters().live_objects);
        `,
        "--expose-gc",
    );
    assert.equal(out, "1n\n0n");
});

test("hosts that are forgotten are closed", async () => {
    await runs(forgetful, "--expose-gc");
});

test("hosts in several workers at once", async () => {
    const program = `${start}
        const { workerData, parentPort } = await import("node:worker_threads");
        const host = connect(workerData);
        const notes = host.get(Notes, { board: "shared" });
        for (let i = 0; i < 50; i++) await notes.add("x");
        await host.close();
        parentPort.postMessage("done");
    `;
    const { Host, type } = await import(entry);
    const Notes = type("notes", {
        params: ["board"],
        documents: { list: { entries: [] } },
        methods: { add: (call, text) => void call.transaction((t) => t.list.entries.push(text)) },
    });
    const host = new Host({ types: [Notes] });
    const notes = await host.object(Notes, { board: "shared" });
    const { address } = await host.listen("ws://127.0.0.1:0");
    const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
    const workers = Array.from({ length: 4 }, () => new Worker(url, { workerData: address }));
    await Promise.all(workers.map((worker) => once(worker, "exit")));
    assert.equal(notes.list.entries.length, 200);
    await host.close();
});

test("workers that are terminated in the middle of everything", async () => {
    const program = `${start}
        const { parentPort } = await import("node:worker_threads");
        const host = new Host({ types: [Notes] });
        const server = await host.listen("ws://127.0.0.1:0");
        const holder = connect(server.address);
        const notes = holder.get(Notes, { board: "a" });
        notes.list.watch(() => {});
        await notes.live;
        parentPort.postMessage("busy");
        for (;;) await notes.add("x");
    `;
    const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
    for (let round = 0; round < 10; round++) {
        const workers = [new Worker(url), new Worker(url)];
        await Promise.all(workers.map((worker) => once(worker, "message")));
        await new Promise((resolve) => setTimeout(resolve, round));
        await Promise.all(workers.map((worker) => worker.terminate()));
    }
});
