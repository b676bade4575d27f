// WebSockets, by the interface that browsers and Node's `ws` have in common: one frame a message, the subprotocol
// names the codec.

import type { Dial, Transport, TransportEvents } from "./link.js";
import { CODEC_BINARY, CODEC_TEXT, FRAME_BINARY, FRAME_TEXT, PROTOCOL } from "./records.js";
import { encodeText } from "./text.js";

export const SUBPROTOCOLS: Readonly<Record<number, string>> = {
    [CODEC_BINARY]: `chordal.${PROTOCOL}.bin`,
    [CODEC_TEXT]: `chordal.${PROTOCOL}.json`,
};

const MOST_WAITING = 1 << 20; // bytes that the socket may keep before the next frame waits
const LOOK_AGAIN = 20; // milliseconds
const decoder = new TextDecoder();

/** What is used of a WebSocket. */
export interface Socket {
    binaryType: string;
    readonly protocol: string;
    readonly bufferedAmount: number;
    onopen: unknown;
    onmessage: unknown;
    onclose: unknown;
    onerror: unknown;
    send(data: any): void;
    close(code?: number): void;
    /** Only `ws` has it, as the rest. */
    terminate?(): void;
    /** What it reads from, once it is open. */
    readonly _socket?: { on(event: "data", told: () => void): void } | null;
}

/** The codec that was agreed on; 0: the peer does not speak Chordal. */
export function codecOf(socket: { readonly protocol: string }): number {
    for (const [codec, name] of Object.entries(SUBPROTOCOLS)) if (name === socket.protocol) return Number(codec);
    return 0;
}

const OPEN_TIMEOUT = 10_000; // milliseconds
const CLOSE_TIMEOUT = 1000; // milliseconds for the peer to answer a close

export class WebSocketTransport implements Transport {
    private timer: ReturnType<typeof setTimeout> | undefined;
    private isGone = false;

    constructor(
        private socket: Socket,
        private events: TransportEvents,
    ) {
        socket.binaryType = "arraybuffer";
        socket.onopen = () => this.opened();
        socket.onmessage = (event: { data: unknown }) => this.received(event.data);
        socket.onerror = (event: { error?: { code?: string } }) => {
            if (event.error?.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") events.tooLarge();
        };
        socket.onclose = () => this.gone();
        this.watchPieces();
    }

    /** Of frames the platform tells only when they are whole. */
    private watchPieces(): void {
        this.socket._socket?.on("data", () => this.events.piece());
    }

    /** Give it up unless it opens in time: a peer may take the connection and say nothing. */
    openWithin(span: number): this {
        this.timer = setTimeout(() => this.abort(), span);
        return this;
    }

    private opened(): void {
        clearTimeout(this.timer);
        this.timer = undefined;
        this.watchPieces();
        const codec = codecOf(this.socket);
        if (codec === 0) this.close();
        else this.events.opened(codec);
    }

    private received(data: unknown): void {
        if (typeof data === "string") this.events.received(encodeText(data), FRAME_TEXT);
        else this.events.received(new Uint8Array(data as ArrayBuffer), FRAME_BINARY);
    }

    private gone(): void {
        if (this.isGone) return;
        this.isGone = true;
        clearTimeout(this.timer);
        this.events.gone();
    }

    /** There is no event for room: look again after a while. */
    get hasRoom(): boolean {
        if (this.isGone) return false;
        if (this.socket.bufferedAmount < MOST_WAITING) return true;
        this.timer ??= setTimeout(() => {
            this.timer = undefined;
            this.events.drained();
        }, LOOK_AGAIN);
        return false;
    }

    send(bytes: Uint8Array, isText: boolean): void {
        this.socket.send(isText ? decoder.decode(bytes) : bytes);
    }

    close(): void {
        this.socket.close();
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.abort(), CLOSE_TIMEOUT);
    }

    abort(): void {
        if (this.socket.terminate !== undefined) this.socket.terminate();
        else this.socket.close();
        this.gone();
    }
}

/** Connect by the platform's WebSocket. */
export function webSocketDial(open: (protocols: string[], limit: number) => Socket, codec: number): Dial {
    return (events, limit) =>
        new WebSocketTransport(open([SUBPROTOCOLS[codec]!], limit), events).openWithin(OPEN_TIMEOUT);
}
