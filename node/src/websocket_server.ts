// Accepting WebSockets, with `ws`: at an address of its own, or beside what an HTTP server does.

import { createServer, STATUS_CODES, type IncomingMessage, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";

import type { Transport, TransportEvents } from "./link.js";
import { codecOf, SUBPROTOCOLS, WebSocketTransport, type Socket } from "./websocket_client.js";

export type Accept = (dial: (events: TransportEvents) => Transport, codec: number) => void;

/** Which pages may connect, and where. */
export interface AcceptOptions {
    /** Further origins whose pages may connect, such as "https://example.org"; "*": any. */
    origins?: string | readonly string[];
    /** Only upgrades of this path. Default: any. */
    path?: string;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[?::1\]?|::ffff:127(\.\d+){3})$/i;

/**
 * Whether an upgrade comes from no page at all, from one of this server, or from one that may connect. A server that
 * was reached over loopback takes only loopback names for its own: any other name may be made to lead there.
 */
export function originAllowed(request: IncomingMessage, origins: readonly string[]): boolean {
    const { origin, host = "" } = request.headers;
    if (origin === undefined || origins.includes("*")) return true;
    if (origins.some((allowed) => allowed.toLowerCase() === origin.toLowerCase())) return true;
    const own = /^https?:\/\/(.+)$/i.exec(origin)?.[1];
    if (own === undefined || host === "" || own.toLowerCase() !== host.toLowerCase()) return false;
    const name = host.replace(/:\d+$/, "");
    return !LOOPBACK.test(request.socket.localAddress ?? "") || LOOPBACK.test(name);
}

function refuse(socket: Duplex, status: number): void {
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function choose(offered: Set<string>): string | false {
    for (const name of offered) if (Object.values(SUBPROTOCOLS).includes(name)) return name;
    return false;
}

function pathOf(request: IncomingMessage): string {
    return (request.url ?? "/").split("?")[0]!;
}

/** Take the upgrades of an HTTP server. Answers how to stop. */
export function attachWebSockets(
    server: HttpServer,
    accept: Accept,
    limit: number,
    options: AcceptOptions,
): () => void {
    const origins = typeof options.origins === "string" ? [options.origins] : (options.origins ?? []);
    const sockets = new WebSocketServer({
        noServer: true,
        maxPayload: limit,
        perMessageDeflate: false,
        clientTracking: false,
        handleProtocols: choose,
    });
    const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        if (options.path !== undefined && pathOf(request) !== options.path) {
            if (server.listenerCount("upgrade") === 1) refuse(socket, 404);
            return;
        }
        socket.on("error", () => {}); // the peer may be gone by now
        if (!originAllowed(request, origins)) return refuse(socket, 403);
        const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
        if (choose(new Set(offered)) === false) return refuse(socket, 400);
        sockets.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
            const opened = webSocket as unknown as Socket;
            accept((events) => new WebSocketTransport(opened, events), codecOf(opened));
        });
    };
    server.on("upgrade", upgrade);
    return () => void server.off("upgrade", upgrade);
}

/** Listen at "ws://host:port" (port 0: any). Answers the address that clients use and how to stop. */
export async function serveWebSockets(
    address: string,
    accept: Accept,
    limit: number,
    options: AcceptOptions,
): Promise<{ address: string; stop(): void }> {
    const url = new URL(address);
    const server = createServer((request, response) => {
        request.resume();
        response.writeHead(426, { Upgrade: "websocket", "Content-Type": "text/plain" });
        response.end("This is a Chordal host: connect by WebSocket.\n");
    });
    const hostname = url.hostname.replace(/^\[|\]$/g, "");
    await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(url.port === "" ? 80 : Number(url.port), hostname, resolve);
    });
    const detach = attachWebSockets(server, accept, limit, options);
    const { port } = server.address() as AddressInfo;
    return {
        address: `ws://${url.hostname}:${port}`,
        stop() {
            detach();
            server.close();
            server.closeAllConnections();
        },
    };
}
