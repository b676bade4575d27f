// Tests of the edges: who may connect, nonsense, limits.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createDeaf, connect as netConnect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { WebSocket } from "ws";

import { ChordalError, connect, Host } from "../dist/node.js";
import { folder, Notes, pause, ways } from "./live_setup.mjs";

export function edgeTests() {
    test("only pages that may connect do", async () => {
        const host = new Host({ types: [Notes] });
        const open = await host.listen("ws://127.0.0.1:0", { origins: ["https://friend.example"] });
        const any = await host.listen("ws://127.0.0.1:0", { origins: "*" });
        const port = new URL(open.address).port;
        const tries = [
            [undefined, {}, true],
            [`http://127.0.0.1:${port}`, {}, true],
            [`http://localhost:${port}`, { host: `localhost:${port}` }, true],
            ["https://friend.example", {}, true],
            ["https://FRIEND.example", {}, true],
            ["https://friend.example.evil.test", {}, false],
            ["https://friend.example:444", {}, false],
            ["http://friend.example", {}, false],
            ["http://127.0.0.1", {}, false],
            [`http://127.0.0.1:${port}.evil.test`, {}, false],
            [`http://evil.test:${port}`, { host: `evil.test:${port}` }, false],
            ["null", {}, false],
            ["file://", {}, false],
        ];
        const reach = (address, origin, headers) =>
            new Promise((resolve) => {
                const socket = new WebSocket(address, ["chordal.1.bin"], { origin, headers });
                socket.on("open", () => (socket.terminate(), resolve(true)));
                socket.on("unexpected-response", (_, response) => (response.destroy(), resolve(response.statusCode)));
                socket.on("error", () => resolve(false));
            });
        for (const [origin, headers, allowed] of tries) {
            assert.equal(await reach(open.address, origin, headers), allowed || 403, `${origin}`);
        }
        assert.equal(await reach(any.address, "http://evil.test", {}), true);
        await host.close();
    });

    test("beside an HTTP server", async () => {
        const host = new Host({ types: [Notes] });
        await host.ready;
        const http = createServer((request, response) => response.end("page"));
        const server = host.attach(http, { path: "/live" });
        await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
        const { port } = http.address();
        const holder = connect(`ws://127.0.0.1:${port}/live`);
        assert.equal(await holder.get(Notes, { board: "a" }).add("x"), 1);
        assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), "page");
        const wrong = new WebSocket(`ws://127.0.0.1:${port}/other`, ["chordal.1.bin"]);
        assert.match((await once(wrong, "error"))[0].message, /404/);
        const stranger = new WebSocket(`ws://127.0.0.1:${port}/live`, ["other"]);
        assert.match((await once(stranger, "error"))[0].message, /400/);
        await holder.close();
        server.close();
        await host.close();
        http.close();
        http.closeAllConnections();
    });

    test("a peer that talks nonsense loses its link alone", async () => {
        const { holder, provider, server, end } = await ways.binary();
        const notes = holder.get(Notes, { board: "a" });
        await notes.live;
        for (const [protocol, frames] of [
            ["chordal.1.bin", [Buffer.from("ffffff", "hex")]],
            ["chordal.1.bin", ["text"]],
            ["chordal.1.bin", [Buffer.alloc(0)]],
            ["chordal.1.json", ["[", "[]"]],
            ["chordal.1.json", [Buffer.from("00", "hex")]],
        ]) {
            const socket = new WebSocket(server.address, [protocol]);
            await once(socket, "open");
            for (const frame of frames) socket.send(frame);
            await once(socket, "close");
        }
        assert.equal(await notes.add("x"), 1);
        void provider;
        await end();
    });

    test("what is over the limit is refused, and ends the link of who sends it all the same", async () => {
        const provider = new Host({ types: [Notes], message_limit: 100000 });
        for (const address of ["ws://127.0.0.1:0", `ipc:${folder}/large`]) {
            const server = await provider.listen(address);
            const holder = connect(server.address);
            const notes = holder.get(Notes, { board: "a" });
            await notes.live;
            await assert.rejects(notes.say("x".repeat(200000)), { name: "size" });
            assert.equal(await notes.say("x"), null);
            await holder.close();
            server.close();
        }
        const { address } = await provider.listen("ws://127.0.0.1:0");
        const socket = new WebSocket(address, ["chordal.1.bin"]);
        await once(socket, "open");
        socket.send(Buffer.alloc(200000));
        await once(socket, "close");
        await provider.listen(`ipc:${folder}/larger`);
        const pipe = netConnect(`${folder}/larger`);
        pipe.write(Buffer.from([0xff, 0xff, 0xff, 0x7f, 1]));
        pipe.resume();
        await once(pipe, "close");
        await provider.close();
    });

    test("a memory limit that others reach ends no program", async () => {
        const provider = new Host({ types: [Notes], memory_limit: 1 << 20 });
        const server = await provider.listen("ws://127.0.0.1:0");
        const holder = connect(server.address, { backoff_first: 5, backoff_limit: 10 });
        const notes = holder.get(Notes, { board: "a" });
        await notes.live;
        const outcomes = [];
        for (let i = 0; i < 20; i++) outcomes.push(notes.add("x".repeat(200000)));
        const settled = await Promise.allSettled(outcomes);
        assert.ok(provider.counters.sessions_back > 0 || settled.some(({ status }) => status === "rejected"));
        for (const { reason } of settled) assert.ok(reason === undefined || reason instanceof ChordalError);
        const other = connect(server.address);
        assert.equal(await other.get(Notes, { board: "b" }).add("small"), 1);
        await Promise.all([holder.close(), other.close(), provider.close()]);
    });

    for (const address of ["ws://127.0.0.1:0", `ipc:${join(folder, "bye")}`]) {
        test(`who closes says bye, and retry dials at once: ${address.slice(0, 3)}`, async () => {
            const provider = new Host({ types: [Notes] });
            const server = await provider.listen(address);
            const holder = new Host({ backoff_first: 3_600_000, backoff_limit: 3_600_000 });
            const link = holder.connect(server.address);
            await link.up;
            server.close();
            while (link.state !== "wait") await pause(5);
            assert.equal(link.error.name, "bye");
            const again = await provider.listen(server.address);
            link.retry();
            await link.up;
            assert.equal(holder.counters().reconnects, 1n);
            await Promise.all([holder.close(), provider.close()]);
            assert.equal(again.address, server.address);
        });
    }

    test("a dial without an answer is given up", async () => {
        let came = 0;
        const open = new Set();
        const deaf = createDeaf((socket) => {
            came++;
            open.add(socket);
            socket.on("error", () => {});
            socket.on("close", () => open.delete(socket));
            socket.resume();
        });
        await new Promise((resolve) => deaf.listen(0, "127.0.0.1", resolve));
        const { port } = deaf.address();
        const holder = new Host({ dial_timeout: 100, backoff_first: 20, backoff_limit: 50 });
        const link = holder.connect(`ws://127.0.0.1:${port}`);
        while (came < 3 || link.state !== "wait") await pause(5);
        assert.equal(link.error.name, "timeout");
        assert.ok(open.size <= 1, `${open.size} dials at once`);
        await new Promise((resolve) => {
            deaf.close(resolve);
            for (const socket of open) socket.destroy();
        });
        const provider = new Host({ types: [Notes] });
        await provider.listen(`ws://127.0.0.1:${port}`);
        assert.equal(await holder.get(Notes, { board: "a" }).add("x"), 1);
        await Promise.all([holder.close(), provider.close()]);
    });

    test("credentials that come too late", async () => {
        const provider = new Host({ types: [Notes] });
        const server = await provider.listen("ws://127.0.0.1:0");
        const holder = new Host({ dial_timeout: 100, backoff_first: 20, backoff_limit: 50 });
        const waiting = [];
        let stale = true;
        const credentials = () => (stale ? new Promise((resolve) => waiting.push(resolve)) : "now");
        const link = holder.connect(server.address, { credentials });
        while (waiting.length < 2) await pause(2);
        waiting[0]("stale"); // of a dial that was given up, while the next one is on its way
        await pause(20);
        assert.ok(["dial", "wait"].includes(link.state), link.state);
        stale = false;
        await link.up;
        assert.equal(holder.counters().reconnects, 0n);
        await Promise.all([holder.close(), provider.close()]);
    });

    test("a lasting name", async () => {
        const digits = "0123456789abcdef8899aabbccddeeff";
        const uuid = "01234567-89AB-cdef-8899-aabbccddeeff";
        for (const name of [digits, uuid, Uint8Array.from(Buffer.from(digits, "hex"))]) {
            const provider = new Host({ types: [Notes], name });
            const server = await provider.listen("ws://127.0.0.1:0");
            const holder = new Host();
            const link = holder.connect(server.address);
            await link.up;
            assert.equal(link.peer, digits);
            await Promise.all([holder.close(), provider.close()]);
        }
        for (const name of ["", "home", new Uint8Array(15), new Uint8Array(16), "0".repeat(32)]) {
            const refused = await Promise.resolve()
                .then(() => new Host({ name }).ready)
                .catch((error) => error);
            assert.equal(refused?.name, "invalid");
        }
    });
}

/** Of the addon: the WebAssembly core is told of whole frames only. */
export function pieceTests() {
    // As long as it comes: its peer asks, and is told, several times that it is there.
    for (const kind of ["ipc", "ws"])
        test(`a frame that comes slowly keeps its link up, ${kind}`, async () => {
            const url = kind === "ipc" ? `ipc:${join(folder, "slow")}` : "ws://127.0.0.1:0";
            const host = new Host({ ping_interval: 200, ping_timeout: 200 });
            const server = await host.listen(url);
            const hello = Buffer.concat([Buffer.from([1, 1, 1]), Buffer.alloc(32, 7), Buffer.from([128, 128, 64, 0])]);
            const [size, length] = [Buffer.alloc(4), Buffer.alloc(4)];
            size.writeUInt32LE(hello.length);
            length.writeUInt32LE(1 << 24);
            const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13";
            const upgrade =
                `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${key}\r\n` +
                "Sec-WebSocket-Protocol: chordal.1.bin\r\n\r\n";
            const begin =
                kind === "ipc"
                    ? [size, hello, length]
                    : [
                          Buffer.from(upgrade),
                          Buffer.from([0x82, 0x80 + hello.length, 0, 0, 0, 0]),
                          hello,
                          Buffer.from([0x82, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
                      ];
            const peer = kind === "ipc" ? netConnect(url.slice(4)) : netConnect(Number(new URL(server.address).port));
            let got = "";
            let ended = false;
            peer.on("data", (bytes) => (got += bytes.toString("latin1")));
            peer.on("close", () => (ended = true));
            peer.on("error", () => {});
            peer.write(Buffer.concat(begin));
            const ping = kind === "ipc" ? "\x02\0\0\0\x16\0" : "\x82\x02\x16\0";
            while (got.split(ping).length < 5 && !ended) {
                peer.write(Buffer.alloc(100));
                await pause(10);
            }
            assert.ok(!ended, got);
            while (!got.includes("timeout")) await pause(10);
            peer.destroy();
            await host.close();
        });
}
