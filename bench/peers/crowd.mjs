// Beside bench/crowd.mjs: a change of a text sent to a hundred readers over loopback WebSockets, all in this process,
// until the last reader has it. `ws` only broadcasts the bytes of a token; Socket.IO emits it as an event; with Yjs and
// y-websocket's way (an update a message) it is merged into each reader's document.
// node bench/peers/crowd.mjs FOLDER BATCHES

import { once as event } from "node:events";
import { createServer } from "node:http";

import { Server } from "socket.io";
import { io } from "socket.io-client";
import { WebSocket, WebSocketServer } from "ws";
import * as Y from "yjs";

import { print, times } from "./measure.mjs";

const READERS = 100;
const BATCH = 20;
let waiting = 0;
let arrived = () => {};
const took = () => {
    if (--waiting === 0) arrived();
};
const toAll = (send) => () => {
    waiting = READERS;
    const all = new Promise((resolve) => (arrived = resolve));
    send();
    return all;
};

async function measure(system, open) {
    const { send, close } = await open();
    print("one commit to 100 WebSockets", system, await times(BATCH, toAll(send)));
    await close();
}

async function webSockets(onMessage) {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await event(server, "listening");
    const readers = [];
    for (let i = 0; i < READERS; i++) {
        const reader = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
        reader.binaryType = "nodebuffer";
        await event(reader, "open");
        const receive = onMessage();
        reader.on("message", (bytes) => {
            receive(bytes);
            took();
        });
        readers.push(reader);
    }
    const close = async () => {
        for (const reader of readers) reader.terminate();
        server.close();
    };
    const broadcast = (bytes) => {
        for (const client of server.clients) client.send(bytes);
    };
    return { broadcast, close };
}

await measure("ws", async () => {
    const { broadcast, close } = await webSockets(() => () => {});
    const token = new TextEncoder().encode('["a",[0],4]');
    return { send: () => broadcast(token), close };
});

await measure("yjs", async () => {
    const source = new Y.Doc();
    const text = source.getText("text");
    const { broadcast, close } = await webSockets(() => {
        const replica = new Y.Doc();
        return (bytes) => Y.applyUpdate(replica, bytes);
    });
    source.on("update", broadcast);
    return { send: () => text.insert(text.length, " tok"), close };
});

await measure("socket.io", async () => {
    const http = createServer();
    const server = new Server(http, { transports: ["websocket"] });
    await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
    const readers = [];
    for (let i = 0; i < READERS; i++) {
        const reader = io(`http://127.0.0.1:${http.address().port}`, { transports: ["websocket"], forceNew: true });
        await new Promise((resolve) => reader.on("connect", resolve));
        reader.on("token", took);
        readers.push(reader);
    }
    const close = async () => {
        for (const reader of readers) reader.close();
        await server.close();
    };
    return { send: () => server.emit("token", " tok"), close };
});
process.exit(0);
