// What differs between Node and browsers: how the core is loaded, random bytes, transports. An entry sets it once.

import type { Flat } from "./flat.js";
import type { Dial, Transport, TransportEvents } from "./link.js";

export type Accept = (dial: (events: TransportEvents) => Transport, codec: number) => void;

export interface Listening {
    address: string;
    stop(): void;
}

/** What became of a process: its exit code or signal, or why it was not started. */
export type Exited = (code?: number, signal?: string, error?: Error) => void;

export interface Process {
    readonly pid: number | undefined;
    kill(signal: "SIGTERM" | "SIGKILL"): void;
    /** Use the socket that it inherited. */
    carry(events: TransportEvents, limit: number): Transport;
}

export interface Platform {
    /** Whether values are frozen when a host does not say. */
    readonly development: boolean;
    /** Whether hosts may have a store. */
    readonly stores: boolean;
    /** The core; a promise where loading takes a while. */
    load(): Flat | Promise<Flat>;
    random(bytes: Uint8Array): Uint8Array;
    /** Do a step when timers and sockets have had their turn. */
    later(step: () => void): void;
    /** Call back whenever the network is there again, where that is told. Answers how to stop. */
    onOnline?(retry: () => void): () => void;
    /** Refuses addresses that the platform cannot connect to: INVALID, UNSUPPORTED. */
    dial(url: string, codec: number): Dial;
    listen(url: string, accept: Accept, limit: number, options: object): Promise<Listening>;
    /** Start a process that inherits a socket. */
    start(command: string, args: readonly string[], options: object, exited: Exited): Process;
    /** The socket that this process inherited; refused: STATE. */
    parent(): (events: TransportEvents, limit: number) => Transport;
    attach(server: object, accept: Accept, limit: number, options: object): () => void;
}

let current: Platform | undefined;

export function setPlatform(platform: Platform): void {
    current = platform;
}

export function platform(): Platform {
    if (current === undefined) throw new Error("chordal was not imported by its entry");
    return current;
}
