// Beside bench/crowd.mjs: a change of a text sent to a hundred readers over loopback WebSockets, all in this process,
// until the last reader has it. `ws` only broadcasts the bytes of a token; Socket.IO emits it as an event; of Yjs, each
// update is merged into each reader's document. Servers of their own are in rooms.mjs.
// node bench/peers/crowd.mjs FOLDER BATCHES

import { once as event } from "node:events";
import { createServer } from "node:http";

import { Server } from "socket.io";
import { io } from "socket.io-client";
import { WebSocket, WebSocketServer } from "ws";
import * as Y from "yjs";

import { measureCrowd, READERS, took } from "./measure.mjs";

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

async function openWs() {
    const { broadcast, close } = await webSockets(() => () => {});
    const token = new TextEncoder().encode('["a",[0],4]');
    return { send: () => broadcast(token), close };
}

async function openYjs() {
    const source = new Y.Doc();
    const text = source.getText("text");
    const { broadcast, close } = await webSockets(() => {
        const replica = new Y.Doc();
        return (bytes) => Y.applyUpdate(replica, bytes);
    });
    source.on("update", broadcast);
    return { send: () => text.insert(text.length, " tok"), close };
}

async function openSocketIo() {
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
}

await measureCrowd("ws", await openWs());
await measureCrowd("yjs", await openYjs());
await measureCrowd("socket.io", await openSocketIo());
process.exit(0);
