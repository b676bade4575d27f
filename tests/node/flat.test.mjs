// The flat layer of the Node addon, and what is the addon's own: garbage collection, workers, exit.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { flatTests } from "../bindings/flat.mjs";

const path = fileURLToPath(new URL("../../node/build/chordal.node", import.meta.url));
const addon = createRequire(import.meta.url)(path);
const bytes = new TextEncoder();

flatTests(() => addon);

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

test("memory that others share is refused", () => {
    const host = addon.host_open();
    const shared = new Uint8Array(new SharedArrayBuffer(16));
    assert.throws(() => addon.value_decode(host, 1, shared), TypeError);
});

test("a detached buffer is an empty one", () => {
    const host = addon.host_open();
    const gone = bytes.encode("[1]");
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    assert.throws(() => addon.value_decode(host, 1, gone), { code: -25 });
});

test("an external of someone else is no handle", () => {
    const folder = mkdtempSync(join(tmpdir(), "chordal-"));
    copyFileSync(path, join(folder, "other.node"));
    const other = createRequire(import.meta.url)(join(folder, "other.node"));
    for (let i = 0; i < 20; i++) {
        addon.host_open();
        assert.throws(() => addon.host_deadline(other.host_open()), TypeError);
    }
    rmSync(folder, { recursive: true });
});

test("handles that are dropped are closed", async () => {
    const host = addon.host_open();
    const before = addon.host_counters(host).live_bytes;
    for (let i = 0; i < 2000; i++) addon.value_decode(host, 1, bytes.encode(`["value", ${i}]`));
    assert.ok(addon.host_counters(host).live_bytes > before + 10000n);
    for (let i = 0; i < 20 && addon.host_counters(host).live_bytes > before; i++) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.equal(addon.host_counters(host).live_bytes, before);
    for (let i = 0; i < 200; i++) addon.host_open();
    gc();
    await new Promise((resolve) => setTimeout(resolve, 5));
    gc();
});

const busy = `
    const addon = require(${JSON.stringify(path)});
    const { parentPort } = require("node:worker_threads");
    const kept = [];
    for (let i = 0; ; i++) {
        const host = addon.host_open();
        kept.push(host, addon.value_decode(host, 1, Buffer.from("[1,2,3]")));
        if (i === 50) parentPort.postMessage("busy");
        if (i % 100 === 0) kept.length = 0;
    }`;

test("workers are ended in the midst of their work", async () => {
    const workers = Array.from({ length: 4 }, () => new Worker(busy, { eval: true }));
    await Promise.all(
        workers.map(async (worker) => {
            await once(worker, "message");
            await worker.terminate();
        }),
    );
    assert.equal(typeof addon.host_deadline(addon.host_open()), "number");
});

test("a process ends with everything open", () => {
    const script = `
        const addon = require(${JSON.stringify(path)});
        globalThis.kept = [addon.host_open(), addon.host_open()];
        kept.push(addon.value_decode(kept[0], 1, Buffer.from("[1]")));
        addon.link_open(kept[0], 1);
        if (process.argv[1] === "exit") process.exit(0);`;
    for (const way of ["exit", "end"]) {
        const done = spawnSync(process.execPath, ["-e", script, way], { encoding: "utf8" });
        assert.deepEqual([done.status, done.signal, done.stderr], [0, null, ""], way);
    }
});
