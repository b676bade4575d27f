// The entry for Node: the addon, or the WebAssembly core where there is none for the platform.

import { webcrypto } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Server } from "node:http";
import { createRequire } from "node:module";
import { WebSocket } from "ws";

import type { Flat } from "./flat.js";
import { dialPipe, servePipe } from "./ipc.js";
import { setPlatform } from "./platform.js";
import { parentPipe, startProcess } from "./process.js";
import { ChordalError, CODEC_BINARY, E_INVALID } from "./records.js";
import { loadWasm, wasmWanted } from "./wasm.js";
import { webSocketDial, type Socket } from "./websocket_client.js";
import { attachWebSockets, serveWebSockets } from "./websocket_server.js";

const ADDON = "../build/chordal.node";
const WASM = new URL("../../wasm/dist/chordal.wasm", import.meta.url);
const IPC = "ipc:";

let addon: Flat | undefined;
let isMissing = false;

function loadAddon(): Flat | undefined {
    if (addon !== undefined || isMissing) return addon;
    try {
        addon = createRequire(import.meta.url)(ADDON) as Flat;
    } catch (error) {
        isMissing = true;
        const platform = `${process.platform} ${process.arch}, Node ${process.version}`;
        process.emitWarning(
            `chordal: no addon for ${platform} (${(error as Error).message}); the slower WebAssembly core is used`,
        );
    }
    return addon;
}

/** The path of a pipe; undefined for a WebSocket. Anything else is refused. */
function pipePath(url: string, schemes: RegExp): string | undefined {
    if (url.startsWith(IPC) && url.length > IPC.length) return url.slice(IPC.length);
    try {
        if (schemes.test(new URL(url).protocol)) return undefined;
    } catch {
        // not even a URL
    }
    throw new ChordalError(E_INVALID, 0, `${url} is no address: ws://host:port or ipc:/path`);
}

setPlatform({
    development: process.env.NODE_ENV !== "production",
    stores: true,
    load: () => (wasmWanted() ? undefined : loadAddon()) ?? loadWasm(() => readFile(WASM)),
    random: (bytes) => webcrypto.getRandomValues(bytes),
    later: (step) => void setImmediate(step),
    dial(url, codec) {
        const path = pipePath(url, /^wss?:$/);
        if (path !== undefined) {
            if (codec !== CODEC_BINARY) throw new ChordalError(E_INVALID, 0, "a pipe carries the binary codec only");
            return (events, limit) => dialPipe(path, events, limit);
        }
        const open = (protocols: string[], maxPayload: number) =>
            new WebSocket(url, protocols, { maxPayload, perMessageDeflate: false }) as unknown as Socket;
        return webSocketDial(open, codec);
    },
    async listen(url, accept, limit, options) {
        const path = pipePath(url, /^ws:$/);
        if (path !== undefined) return { address: url, stop: await servePipe(path, accept, limit) };
        return serveWebSockets(url, accept, limit, options);
    },
    start: (command, args, options, exited) => startProcess(command, args, options, exited),
    parent: () => parentPipe(),
    attach: (server, accept, limit, options) => attachWebSockets(server as Server, accept, limit, options),
});

export * from "./index.js";
