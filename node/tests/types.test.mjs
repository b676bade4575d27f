// The type declarations, as a program that installed the package sees them.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The package, laid out as it is installed, without what only runs. */
function installed() {
    const folder = mkdtempSync(join(tmpdir(), "chordal-"));
    const target = join(folder, "node_modules", "chordal");
    mkdirSync(target, { recursive: true });
    cpSync(join(root, "node/dist"), join(target, "node/dist"), { recursive: true });
    cpSync(join(root, "wasm"), join(target, "wasm"), {
        recursive: true,
        filter: (path) => !/\.(c|txt|wasm)$/.test(path),
    });
    cpSync(join(root, "packages/npm.json"), join(target, "package.json"));
    mkdirSync(join(folder, "node_modules", "@types"));
    symlinkSync(join(root, "node_modules/@types/node"), join(folder, "node_modules/@types/node"));
    symlinkSync(join(root, "node_modules/undici-types"), join(folder, "node_modules/undici-types"));
    writeFileSync(join(folder, "package.json"), '{"type": "module"}');
    writeFileSync(join(folder, "types.ts"), readFileSync(join(root, "node/tests/types.ts")));
    return folder;
}

const settings = {
    node: { module: "nodenext", types: ["node"], lib: ["es2022"] },
    browser: { module: "esnext", moduleResolution: "bundler", types: [], lib: ["es2022", "dom", "dom.iterable"] },
};

for (const [place, options] of Object.entries(settings)) {
    test(`declarations: ${place}`, () => {
        const folder = installed();
        const compilerOptions = {
            target: "es2022",
            strict: true,
            noEmit: true,
            exactOptionalPropertyTypes: true,
            ...options,
        };
        writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["types.ts"] }));
        const tsc = join(root, "node_modules/typescript/bin/tsc");
        const done = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
        assert.equal(done.stdout + done.stderr, "");
        rmSync(folder, { recursive: true });
    });
}
