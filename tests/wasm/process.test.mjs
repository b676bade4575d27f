// The WebAssembly core in a process of its own: when it is used, and what it gives back.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

import { entry, forgetful, runs, start } from "../../node/tests/program.mjs";

test("hosts that are forgotten are closed", async () => {
    await runs(`useWasm();${forgetful}`, "--expose-gc");
});

test("without an addon the WebAssembly core is used, with a warning", async () => {
    const { cpSync, mkdtempSync, rmSync, symlinkSync } = await import("node:fs");
    const { fileURLToPath } = await import("node:url");
    const { join } = await import("node:path");
    const { tmpdir } = await import("node:os");
    const root = fileURLToPath(new URL("../../", import.meta.url));
    const folder = mkdtempSync(join(tmpdir(), "chordal-"));
    for (const part of ["node/dist", "wasm"]) cpSync(join(root, part), join(folder, part), { recursive: true });
    cpSync(join(root, "package.json"), join(folder, "package.json"));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const program = start.replace(entry, `file://${folder}/node/dist/node.js`);
    const child = spawn(process.execPath, [
        "--input-type=module",
        "-e",
        `${program}
        const host = new Host({ types: [Notes] });
        const notes = host.get(Notes, { board: "a" });
        await notes.add("x");
        console.log(notes.list.value.entries.length);`,
    ]);
    let [out, err] = ["", ""];
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err += data));
    assert.deepEqual(await once(child, "close"), [0, null], err);
    assert.equal(out.trim(), "1");
    assert.match(err, /Warning: chordal: no addon for linux/);
    rmSync(folder, { recursive: true });
});
