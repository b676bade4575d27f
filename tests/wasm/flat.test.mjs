// The flat layer over WebAssembly in Node, and the loader.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";

import { load } from "../../wasm/load.js";
import { flatTests } from "../bindings/flat.mjs";

const file = readFileSync(new URL("../../wasm/dist/chordal.wasm", import.meta.url));
const LARGEST = 60 * 1024; // by brotli

globalThis.crypto ??= (await import("node:crypto")).webcrypto; // Node 18
const module = await WebAssembly.compile(file);

flatTests(() => load(module), { numbers: true });

async function served(type, body, status = 200) {
    const server = createServer((request, response) => {
        response.writeHead(status, type ? { "content-type": type } : {});
        response.end(body);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${server.address().port}/chordal.wasm`;
    return { url, close: () => server.close() };
}

test("it asks for nothing but entropy and the text of doubles", () => {
    const imports = WebAssembly.Module.imports(module).map((entry) => `${entry.module}.${entry.name}`);
    assert.deepEqual(imports.sort(), ["chordal.entropy", "chordal.read_real", "chordal.write_real"]);
});

test("it loads from bytes, a response and an address", async () => {
    const server = await served("application/wasm", file);
    for (const source of [file, module, fetch(server.url), await fetch(server.url), server.url, new URL(server.url)]) {
        const flat = await load(source);
        assert.ok(flat.host_open() > 0);
    }
    server.close();
});

test("a server that knows no WASM type is forgiven", async () => {
    const server = await served("application/octet-stream", file);
    assert.ok((await load(server.url)).host_open() > 0);
    server.close();
});

test("what is not WASM is named", async () => {
    for (const [type, body, status, words] of [
        ["text/html", "<!doctype html><p>Not here", 200, /is not WebAssembly but text\/html/],
        ["text/html", "gone", 404, /answered with status 404/],
    ]) {
        const server = await served(type, body, status);
        await assert.rejects(load(server.url), words);
        server.close();
    }
    await assert.rejects(load("http://127.0.0.1:9/chordal.wasm"), /could not be fetched/);
});

test("entropy comes from where it is told", async () => {
    const flat = await load(module, { entropy: (out) => out.fill(5) });
    assert.deepEqual(flat.host_run(flat.host_open()), flat.host_run(flat.host_open()));
    const dry = await load(module, {
        entropy() {
            throw new Error("none left");
        },
    });
    assert.throws(() => dry.host_open(), { code: -11 });
});

test("it stays small", () => {
    const size = brotliCompressSync(file).length;
    assert.ok(size <= LARGEST, `${size} bytes compressed`);
});
