// Beside bench/crowd.mjs: what has a server of its own, with its own client, a hundred of them in this process.
// y-websocket and Colyseus serve from here too; NATS, where its program was built, from a process of its own, so that a
// change goes there first. node bench/peers/rooms.mjs FOLDER BATCHES

import { spawn } from "node:child_process";
import { once as event } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { Room, Server } from "@colyseus/core";
import { schema, t } from "@colyseus/schema";
import { Client } from "@colyseus/sdk";
import { WebSocketTransport } from "@colyseus/ws-transport";
import { wsconnect } from "@nats-io/nats-core";
import { docs, setupWSConnection } from "@y/websocket-server/utils";
import { WebSocket, WebSocketServer } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";

import { measureCrowd, READERS, took } from "./measure.mjs";

process.setMaxListeners(0); // y-websocket adds one for each reader

/** A port that is free now. */
async function freePort() {
    const server = createServer().listen(0, "127.0.0.1");
    await event(server, "listening");
    const { port } = server.address();
    server.close();
    await event(server, "close");
    return port;
}

/** A text is kept by the server, which sends each update to all who follow it. */
async function openYjs() {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    server.on("connection", setupWSConnection);
    await event(server, "listening");
    const readers = [];
    for (let i = 0; i < READERS; i++) {
        const replica = new Y.Doc();
        const url = `ws://127.0.0.1:${server.address().port}`;
        const reader = new WebsocketProvider(url, "notes", replica, { WebSocketPolyfill: WebSocket, disableBc: true });
        await new Promise((resolve) => reader.once("sync", resolve));
        replica.on("update", took);
        readers.push(reader);
    }
    const text = docs.get("notes").getText("text");
    const close = async () => {
        for (const reader of readers) reader.destroy();
        for (const client of server.clients) client.terminate();
        server.close();
    };
    return { send: () => text.insert(text.length, " tok"), close };
}

const Notes = schema({ text: t.string() });
let room;
class NotesRoom extends Room {
    onCreate() {
        this.setState(new Notes());
        this.state.text = "a";
        this.patchRate = null; // each change is sent at once
        room = this;
    }
}

/** State of a room, whose changed fields are sent whole: the text is kept short. */
async function openColyseus() {
    const port = await freePort();
    const server = new Server({ greet: false, transport: new WebSocketTransport() });
    server.define("notes", NotesRoom);
    await server.listen(port, "127.0.0.1");
    const readers = [];
    for (let i = 0; i < READERS; i++) {
        const reader = await new Client(`ws://127.0.0.1:${port}`).joinOrCreate("notes");
        await new Promise((resolve) => reader.onStateChange.once(resolve));
        reader.onStateChange(took);
        readers.push(reader);
    }
    const send = () => {
        const { text } = room.state;
        room.state.text = text.length > 40 ? "a" : `${text} tok`;
        room.broadcastPatch();
    };
    const close = async () => {
        await Promise.all(readers.map((reader) => reader.leave()));
        await server.gracefullyShutdown(false);
    };
    return { send, close };
}

/** A message to a subject, from one more client, to all who subscribed. */
async function openNats(program) {
    const port = await freePort();
    const settings = `${program}.conf`;
    writeFileSync(settings, `listen: "127.0.0.1:-1"\nwebsocket { listen: "127.0.0.1:${port}", no_tls: true }\n`);
    const server = spawn(program, ["-c", settings], { stdio: ["ignore", "ignore", "pipe"] });
    for await (const line of server.stderr) if (`${line}`.includes("Server is ready")) break;
    const servers = `ws://127.0.0.1:${port}`;
    const wsFactory = async (url) => {
        const socket = new WebSocket(url);
        socket.binaryType = "arraybuffer";
        return { socket, encrypted: false };
    };
    const clients = [];
    for (let i = 0; i <= READERS; i++) clients.push(await wsconnect({ servers, wsFactory }));
    const [writer, ...readers] = clients;
    for (const reader of readers) {
        reader.subscribe("notes", { callback: took });
        await reader.flush();
    }
    const token = new TextEncoder().encode('["a",[0],4]');
    const close = async () => {
        await Promise.all(clients.map((client) => client.close()));
        server.kill();
        await event(server, "close");
    };
    return { version: writer.info.version, send: () => writer.publish("notes", token), close };
}

await measureCrowd("y-websocket", await openYjs());
await measureCrowd("@colyseus/core", await openColyseus());
const program = join(process.argv[2], "nats-server");
if (existsSync(program)) await measureCrowd("nats-server", await openNats(program));
process.exit(0);
