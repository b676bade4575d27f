// The entry for browsers: the WebAssembly core, and the tab's WebSocket.

import { setPlatform } from "./platform.js";
import { ChordalError, E_INVALID, E_UNSUPPORTED } from "./records.js";
import { loadWasm } from "./wasm.js";
import { webSocketDial, type Socket } from "./websocket_client.js";

function isDevelopment(): boolean {
    try {
        return process.env.NODE_ENV !== "production"; // a bundler writes the answer here
    } catch {
        return false;
    }
}

/** Messages to oneself are not held back, as timers are. */
const channel = new MessageChannel();
const steps: (() => void)[] = [];
channel.port1.onmessage = () => steps.shift()!();

function later(step: () => void): void {
    steps.push(step);
    channel.port2.postMessage(0);
}

function unsupported(): never {
    throw new ChordalError(E_UNSUPPORTED, 0, "a browser cannot be connected to, nor start processes");
}

setPlatform({
    development: isDevelopment(),
    stores: false,
    load: () => loadWasm(),
    random: (bytes) => crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>),
    later,
    dial(url, codec) {
        if (!/^wss?:/.test(url)) throw new ChordalError(E_INVALID, 0, `${url} is no address: ws://host:port/path`);
        return webSocketDial((protocols) => new WebSocket(url, protocols) as unknown as Socket, codec);
    },
    onOnline(retry) {
        addEventListener("online", retry);
        return () => removeEventListener("online", retry);
    },
    listen: unsupported,
    attach: unsupported,
    start: unsupported,
    parent: unsupported,
});

export * from "./index.js";
