// The TypeScript layer in a tab of real Chromium: as files of a plain web server, without a bundler.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { after, before, test } from "node:test";

import { chromium } from "playwright-core";

import { Host, type } from "../../node/dist/node.js";

const root = new URL("../../", import.meta.url);
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm" };
const PAGE = `<!doctype html><link rel="icon" href="data:,"><script type="importmap">
    { "imports": { "chordal": "/node/dist/browser.js" } }
</script><script type="module">window.chordal = await import("chordal");</script>`;

const Notes = type("notes", {
    params: ["board"],
    documents: { list: { entries: [], text: "" } },
    derives: { count: { from: ["list"], compute: ({ list }) => list.entries.length } },
    methods: {
        add: (call, text) => void call.transaction((t) => t.list.entries.push(text)),
        say: (call, text) => void call.transaction((t) => (t.list.text += text)),
    },
});

let browser, web, host, server, port;
let wasmAnswer; // instead of the file

async function answer(request, response) {
    const path = new URL(request.url, "http://x").pathname;
    if (path === "/") return response.setHeader("content-type", "text/html").end(PAGE);
    if (path.endsWith(".wasm") && wasmAnswer !== undefined) return wasmAnswer(response);
    try {
        const data = await readFile(new URL(`.${path}`, root));
        response.setHeader("content-type", TYPES[extname(path)] ?? "text/plain").end(data);
    } catch {
        response.writeHead(404).end();
    }
}

before(async () => {
    web = createServer(answer);
    await new Promise((resolve) => web.listen(0, "127.0.0.1", resolve));
    ({ port } = web.address());
    host = new Host({ types: [Notes], session_lapse: 200 });
    server = await host.listen("ws://127.0.0.1:0", { origins: `http://127.0.0.1:${port}` });
    browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
    });
});

after(async () => {
    await browser?.close();
    await host?.close();
    web?.close();
    web?.closeAllConnections();
});

/** Run a function in a new page. */
async function inPage(work, argument) {
    const page = await browser.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.waitForFunction(() => window.chordal);
    const result = await page.evaluate(work, argument);
    assert.deepEqual(errors, []);
    return { page, result };
}

for (const codec of ["binary", "text"]) {
    test(`a tab holds an object, over ${codec} messages`, async () => {
        const { page, result } = await inPage(
            async ([address, codec]) => {
                const host = window.chordal.connect(address, { codec });
                const notes = host.get("notes", { board: codec });
                const frames = [];
                notes.list.watch(({ ops }) => frames.push(ops[0].op));
                await notes.live;
                await Promise.all([..."abc"].map((text) => notes.add(text)));
                for (const half of ["\ud83d", "\ude00"]) await notes.say(half);
                const { value } = notes.list;
                return { value, count: notes.count.value, frames, digest: host.digest(value) };
            },
            [server.address, codec],
        );
        assert.deepEqual(result.value, { entries: ["a", "b", "c"], text: "😀" });
        assert.equal(result.count, 3);
        assert.equal(result.frames[0], "replace");
        const notes = await host.object(Notes, { board: codec });
        assert.equal(result.digest, host.digest(notes.list));
        notes.release();
        await page.close();
        for (let i = 0; i < 200 && host.counters().live_objects > 0n; i++)
            await new Promise((done) => setTimeout(done, 10));
        assert.equal(host.counters().live_objects, 0n, "the session of a closed tab lapses");
    });
}

test("a tab provides objects to itself", async () => {
    const { result } = await inPage(async () => {
        const { Host, MethodError, type } = window.chordal;
        const Counter = type("counter", {
            documents: { state: { n: 0 } },
            derives: { twice: { from: ["state"], compute: ({ state }) => state.n * 2 } },
            methods: {
                add(call, n) {
                    if (n < 0) throw new MethodError("negative", "only up");
                    call.transaction((t) => (t.state.n += n));
                    return call.newId();
                },
            },
        });
        const host = new Host({ types: [Counter] });
        const counter = host.get(Counter, {});
        const id = await counter.add(5);
        const failed = await counter.add(-1).catch((error) => error.name);
        await host.close();
        return [id.length, failed, counter.state, counter.twice.value];
    });
    assert.deepEqual(result, [16, "negative", "released", 10]);
});

test("a tab cannot be connected to", async () => {
    const { result } = await inPage(async () => {
        const host = new window.chordal.Host();
        const failed = await host.listen("ws://127.0.0.1:0").catch((error) => error.name);
        try {
            host.connect("ipc:/x");
        } catch (error) {
            return [failed, error.name];
        }
    });
    assert.deepEqual(result, ["unsupported", "invalid"]);
});

test("a link that is lost comes back", async () => {
    const provider = new Host({ types: [Notes] });
    const origins = `http://127.0.0.1:${port}`;
    const first = await provider.listen("ws://127.0.0.1:0", { origins });
    const kept = await provider.object(Notes, { board: "x" });
    const { page } = await inPage(async (address) => {
        window.host = window.chordal.connect(address, { backoff_first: 10, backoff_limit: 50 });
        window.notes = window.host.get("notes", { board: "x" });
        await window.notes.live;
    }, first.address);
    first.close();
    await page.waitForFunction(() => window.notes.state === "down");
    await page.evaluate(() => void (window.waiting = window.notes.add("while down")));
    await provider.listen(first.address, { origins });
    await page.evaluate(() => window.waiting);
    assert.deepEqual(kept.list.entries, ["while down"]);
    await page.close();
    await provider.close();
});

test("a core that cannot be loaded is told by all that was asked", async () => {
    const answers = [
        [(response) => response.setHeader("content-type", "text/html").end(PAGE), /is not WebAssembly but text\/html/],
        [(response) => response.writeHead(404).end(), /status 404/],
    ];
    for (const [given, words] of answers) {
        wasmAnswer = given;
        const { result } = await inPage(async (address) => {
            const host = window.chordal.connect(address);
            const notes = host.get("notes", { board: "a" });
            const told = (promise) => promise.then(String, (error) => error.message);
            const link = host.connect(address);
            const all = await Promise.all([host.ready, notes.live, notes.add("x"), link.up].map(told));
            return [...all, notes.state];
        }, server.address);
        for (const message of result.slice(0, 4)) assert.match(message, words);
        assert.equal(result[4], "failed");
    }
    wasmAnswer = undefined;
});
