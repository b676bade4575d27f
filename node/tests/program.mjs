// Programs of their own for tests: a type to begin with, run to their end.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";

export const entry = new URL("../dist/node.js", import.meta.url).href;
export const start = `
    import { connect, Host, pair, type, useWasm } from ${JSON.stringify(entry)};
    const Notes = type("notes", {
        params: ["board"],
        documents: { list: { entries: [] } },
        methods: {
            add: (call, text) => void call.transaction((t) => t.list.entries.push(text)),
            never: () => new Promise(() => {}),
        },
    });
    const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
`;

/** Run a program; fails when it does not end by itself. */
export async function run(program, ...options) {
    const child = spawn(process.execPath, [...options, "--input-type=module", "-e", start + program]);
    let [out, err] = ["", ""];
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err += data));
    const timer = setTimeout(() => child.kill("SIGKILL"), 15000);
    const [code, signal] = await once(child, "close");
    clearTimeout(timer);
    return { code, signal, out, err };
}

export async function runs(program, ...options) {
    const done = await run(program, ...options);
    assert.deepEqual({ code: done.code, signal: done.signal }, { code: 0, signal: null }, done.err);
    return done.out.trim();
}

/** A program that makes hosts and forgets them. */
export const forgetful = `
    for (let i = 0; i < 200; i++) {
        const host = new Host({ types: [Notes], memory_limit: 1 << 24 });
        await host.ready;
        const notes = host.get(Notes, { board: "a" });
        await notes.add("x".repeat(100000));
        if (i % 20 === 0) gc(), await pause(1);
    }
`;
