// The programs in the docs run.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "chordal-"));
const target = join(folder, "node_modules", "chordal");
mkdirSync(target, { recursive: true });
for (const name of ["node", "wasm"]) symlinkSync(join(root, name), join(target, name));
symlinkSync(join(root, "packages/npm.json"), join(target, "package.json"));
after(() => rmSync(folder, { recursive: true }));

function run(program) {
    const file = join(folder, "program.mjs");
    writeFileSync(file, program);
    const done = spawnSync(process.execPath, [file], { encoding: "utf8", timeout: 20000 });
    assert.equal(done.stderr, "");
    assert.equal(done.status, 0);
    return done.stdout.trim().split("\n");
}

test("the guide", () => {
    const text = readFileSync(join(root, "docs/guide/javascript.md"), "utf8");
    const programs = [...text.matchAll(/^```js\n(.*?)^```/gms)].map(([, program]) => program);
    programs.push(`await remember(${JSON.stringify(folder)});`, `await plan(${JSON.stringify(folder)});`);
    const lines = run(programs.join("").replaceAll("ws://127.0.0.1:7777", `ipc:${folder}/socket`));
    assert.ok(lines.includes("true") && lines.includes("no_note there is no such note"), lines.join("\n"));
    assert.ok(lines.includes("one"));
    const kept = ["4", "milk soon null", "[ { group: { done: 0 }, count: 2, sum: 9 } ]", "[ 'soon', 'milk' ]", "1"];
    for (const line of kept) assert.ok(lines.includes(line), `${line} in\n${lines.join("\n")}`);
});

test("the shortest program", () => {
    assert.equal(run(readFileSync(join(root, "examples/node/notes.mjs"), "utf8")).at(-1), "milk 1");
});
