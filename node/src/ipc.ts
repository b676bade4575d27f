// Pipes between processes of one machine: "ipc:/path". Each message is a little-endian 32-bit length and its bytes.

import { chmodSync, unlinkSync } from "node:fs";
import { connect, createServer, type Server as NetServer, type Socket } from "node:net";

import type { Transport, TransportEvents } from "./link.js";
import { CODEC_BINARY, FRAME_BINARY } from "./records.js";

const MOST_WAITING = 1 << 20;
const HEAD = 4;
const CLOSE_TIMEOUT = 1000;

class PipeTransport implements Transport {
    private chunks: Buffer[] = [];
    private gathered = 0;
    private wanted = HEAD;
    private length = -1; // of the frame that is gathered; -1: its head is
    private isGone = false;
    private ended = false;

    constructor(
        private socket: Socket,
        private events: TransportEvents,
        private limit: number,
        private awaits = false, // the process at the other end has not said yet that it is there
    ) {
        socket.on("connect", () => events.opened(CODEC_BINARY));
        socket.on("data", (chunk) => this.gather(chunk));
        socket.on("drain", () => events.drained());
        socket.on("error", () => {}); // followed by "close"
        socket.on("end", () => socket.end());
        socket.on("close", () => this.gone());
    }

    private gone(): void {
        if (this.isGone) return;
        this.isGone = true;
        this.events.gone();
    }

    private gather(chunk: Buffer): void {
        if (this.ended) return;
        this.chunks.push(chunk);
        this.gathered += chunk.length;
        while (this.gathered >= this.wanted && !this.ended) this.piece();
        if (this.gathered > 0) this.events.piece();
    }

    /** A head or a frame is complete. */
    private piece(): void {
        const all = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
        const piece = all.subarray(0, this.wanted);
        this.chunks = all.length > this.wanted ? [all.subarray(this.wanted)] : [];
        this.gathered -= this.wanted;
        if (this.awaits) {
            this.awaits = false;
            if (piece.readUInt32LE(0) === 0) this.events.opened(CODEC_BINARY);
            else this.abort();
        } else if (this.length < 0) {
            this.length = this.wanted = piece.readUInt32LE(0);
            if (this.length > this.limit) this.refuse();
        } else {
            this.length = -1;
            this.wanted = HEAD;
            this.events.received(piece, FRAME_BINARY);
        }
    }

    private refuse(): void {
        this.ended = true;
        this.chunks = [];
        this.events.tooLarge();
    }

    get hasRoom(): boolean {
        return !this.isGone && this.socket.writableLength < MOST_WAITING;
    }

    send(bytes: Uint8Array): void {
        const head = Buffer.allocUnsafe(HEAD);
        head.writeUInt32LE(bytes.length, 0);
        this.socket.cork();
        this.socket.write(head);
        this.socket.write(bytes);
        this.socket.uncork();
    }

    close(): void {
        this.socket.end();
        this.socket.setTimeout(CLOSE_TIMEOUT, () => this.socket.destroy());
    }

    abort(): void {
        this.socket.destroy();
    }
}

/** Connect to the pipe at a path. */
export function dialPipe(path: string, events: TransportEvents, limit: number): Transport {
    return new PipeTransport(connect({ path, allowHalfOpen: true }), events, limit);
}

/** The pipe to a process that was started: open when that says that it is there, by an empty message. */
export function spawnedPipe(socket: Socket, events: TransportEvents, limit: number): Transport {
    return new PipeTransport(socket, events, limit, true);
}

/** The other end of such a pipe. */
export function inheritedPipe(socket: Socket, events: TransportEvents, limit: number): Transport {
    socket.write(Buffer.alloc(HEAD));
    return new PipeTransport(socket, events, limit);
}

/** What became of an address in use: whether somebody answers there. */
function answers(path: string): Promise<boolean> {
    return new Promise((resolve) => {
        const socket = connect(path);
        socket.on("connect", () => (socket.destroy(), resolve(true)));
        socket.on("error", () => resolve(false));
    });
}

function listen(server: NetServer, path: string): Promise<void> {
    return new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(path, () => {
            server.off("error", reject);
            chmodSync(path, 0o600);
            resolve();
        });
    });
}

/** Accept processes of the same user at a path; a socket that a dead process left there is taken over. */
export async function servePipe(
    path: string,
    accept: (dial: (events: TransportEvents) => Transport, codec: number) => void,
    limit: number,
): Promise<() => void> {
    const server = createServer({ allowHalfOpen: true }, (socket) =>
        accept((events) => new PipeTransport(socket, events, limit), CODEC_BINARY),
    );
    try {
        await listen(server, path);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || (await answers(path))) throw error;
        unlinkSync(path);
        await listen(server, path);
    }
    return () => void server.close();
}
