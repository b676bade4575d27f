// Links: a host's side of a transport, which is lost and found again.

import type { Core } from "./core.js";
import { closedError } from "./errors.js";
import { pack } from "./packed.js";
import { platform } from "./platform.js";
import type { Pump } from "./pump.js";
import {
    ChordalError,
    E_STATE,
    FORMAT_PACKED,
    FRAME_TEXT,
    LINK_CLOSED,
    LINK_DIAL,
    LINK_OPENING,
    LINK_UP,
    LINK_WAIT,
    type LinkEvent,
} from "./records.js";

/** dial and opening: on its way. up. wait: for the next attempt. closed: for good. */
export type LinkState = "new" | "dial" | "opening" | "up" | "wait" | "closed";

const STATES: Record<number, LinkState> = {
    [LINK_DIAL]: "dial",
    [LINK_OPENING]: "opening",
    [LINK_UP]: "up",
    [LINK_WAIT]: "wait",
    [LINK_CLOSED]: "closed",
};

const PIECE_INTERVAL = 50; // milliseconds in which one piece of a frame is sign enough
const END_TIMEOUT = 5000; // milliseconds in which a transport that ends must get rid of what waits

/** Whole frames both ways, in order. */
export interface Transport {
    /** Whether frames can be sent now; if not, `drained` is told later. */
    readonly hasRoom: boolean;
    send(bytes: Uint8Array, isText: boolean): void;
    /** Close when all that was sent has left. */
    close(): void;
    /** Cut it. */
    abort(): void;
}

/** What a transport tells its link. */
export interface TransportEvents {
    opened(codec: number): void;
    received(bytes: Uint8Array, frame: number): void;
    /** A piece of a frame came, which is not whole yet. */
    piece(): void;
    /** The peer sends a frame over the limit. */
    tooLarge(): void;
    drained(): void;
    /** It is gone; told once, whatever happened. */
    gone(): void;
}

/** Begin a transport. It tells what becomes of it later, not inside of this call. */
export type Dial = (events: TransportEvents, limit: number) => Transport;

/** What a link needs of its host. */
export interface LinkOwner {
    readonly core: Core;
    readonly pump: Pump;
    /** Tell the program of what it cannot be thrown. */
    report(error: unknown, where: string): void;
    forget(link: Link): void;
}

interface Waiting {
    resolve(): void;
    reject(error: ChordalError): void;
}

/** What a host shows to be let in: a value, or a function that is asked for one each time a link dials. */
export type Credentials = unknown | (() => unknown);

/** Asked about a peer: answers its authority, or throws. */
export type Authenticate = (credentials: any) => unknown;

let links = 0;

/** A link of a host. One that connected goes on until it is closed, over one transport after the other. */
export class Link {
    /** @internal */
    id = 0;
    /** @internal */
    readonly serial = ++links;
    private current: LinkState = "new";
    private reason: ChordalError | undefined;
    private peerName = "";
    private transport: Transport | undefined;
    private ending = false;
    private dials = 0;
    private pieceAt = -Infinity;
    private stopListening: (() => void) | undefined;
    private cutter: ReturnType<typeof setTimeout> | undefined;
    private waiting: Waiting[] = [];
    private credentials: Credentials;
    /** @internal */
    authenticate: Authenticate | undefined;
    private closing: (() => void)[] = [];

    /** @internal */
    constructor(
        protected readonly owner: LinkOwner,
        /** The address connected to, or accepted at. */
        readonly url: string,
        private readonly dial: Dial | undefined,
    ) {}

    get state(): LinkState {
        return this.current;
    }

    /** Why it went down or was closed. */
    get error(): ChordalError | undefined {
        return this.reason;
    }

    /** The name of the host at the other end, once it was up. */
    get peer(): string {
        return this.peerName;
    }

    /** Fulfilled when the link is up; rejected with the reason when it is closed instead. */
    get up(): Promise<void> {
        return new Promise((resolve, reject) => {
            this.waiting.push({ resolve, reject });
            this.settleWaiting();
        });
    }

    /** Fulfilled when the link is closed for good, by either side; `error` tells why. */
    get closed(): Promise<void> {
        return new Promise((resolve) => {
            this.closing.push(resolve);
            this.settleWaiting();
        });
    }

    /** Dial again now instead of waiting. */
    retry(): void {
        const { core, pump } = this.owner;
        if (this.id === 0 || this.current === "closed" || core.closed) return;
        core.flat.link_retry(core.host, this.id, core.now());
        pump.wake();
    }

    /** What is shown the next time the link dials, as `credentials` of `connect`. Refused: STATE (an accepted link). */
    renew(credentials: Credentials): void {
        if (!this.connects) throw new ChordalError(E_STATE, 0, "credentials are for a link that connects");
        if (typeof credentials !== "function") pack(credentials); // refused here if it is no value
        this.credentials = credentials;
    }

    protected get connects(): boolean {
        return this.dial !== undefined;
    }

    /** Show the credentials, then go on; at once if they are at hand. */
    protected show(next: () => void): void {
        const { credentials } = this;
        if (typeof credentials !== "function") {
            if (credentials !== undefined) this.give(credentials);
            return next();
        }
        const dial = this.dials;
        const isWanted = () => this.current === "dial" && this.dials === dial;
        void (async () => {
            try {
                const given: unknown = await credentials();
                if (!isWanted() || this.owner.core.closed) return;
                this.give(given);
                next();
            } catch (error) {
                this.owner.report(error, `the credentials for ${this.url}`);
                if (isWanted()) this.gone();
            }
        })();
    }

    private give(credentials: unknown): void {
        const { core } = this.owner;
        core.flat.link_credentials(core.host, this.id, FORMAT_PACKED, pack(credentials ?? null));
    }

    /** Say bye and close. */
    close(): void {
        if (this.current === "closed") return;
        if (this.id === 0) return this.abandon(closedError("link"));
        const { core, pump } = this.owner;
        if (core.closed) return;
        core.flat.link_close(core.host, this.id);
        pump.wake();
    }

    private settleWaiting(): void {
        if (this.current !== "up" && this.current !== "closed") return;
        if (this.current === "closed") for (const resolve of this.closing.splice(0)) resolve();
        for (const one of this.waiting.splice(0)) {
            if (this.current === "up") one.resolve();
            else one.reject(this.reason ?? closedError("link"));
        }
    }

    // ---- what the core tells ----

    /** @internal */
    onState(event: LinkEvent): void {
        this.current = STATES[event.state] ?? this.current;
        this.reason = event.code ? new ChordalError(event.code, 0, event.detail) : undefined;
        if (event.peer !== "") this.peerName = event.peer;
        if (this.dial !== undefined) this.stopListening ??= platform().onOnline?.(() => this.online());
        if (event.state === LINK_DIAL) {
            this.dials++;
            this.dropTransport(); // one that is slow to close must disturb no later one
            this.begin();
        }
        if (event.state === LINK_WAIT || event.state === LINK_CLOSED) this.end();
        if (event.state === LINK_CLOSED && !this.hasTransport()) this.forget();
        this.settleWaiting();
    }

    /** The network is there again: dial at once. A transport from before is dead, and nobody may ever tell. */
    private online(): void {
        const { core } = this.owner;
        if (this.id === 0 || this.current === "closed" || core.closed) return;
        if (this.transport !== undefined) {
            this.dropTransport();
            core.flat.link_down(core.host, this.id, core.now());
        }
        this.retry();
    }

    /** @internal */
    onOutput(): void {
        this.flush();
    }

    /** The core is through with the transport: what waits has a while to leave. */
    private end(): void {
        const { transport } = this;
        this.ending = true;
        clearTimeout(this.cutter);
        if (transport !== undefined) this.cutter = setTimeout(() => transport.abort(), END_TIMEOUT);
        this.flush();
    }

    protected hasTransport(): boolean {
        return this.transport !== undefined;
    }

    /** Send what there is; when the link has ended, the rest, and close. */
    protected flush(): void {
        const { core } = this.owner;
        const { transport } = this;
        while (transport !== undefined && transport.hasRoom && !core.closed) {
            const taken = core.take(this.id);
            if (taken === undefined) {
                if (this.ending) transport.close();
                return;
            }
            transport.send(taken.bytes, taken.frame === FRAME_TEXT);
        }
    }

    // ---- the transport ----

    protected begin(): void {
        this.show(() => this.connect());
    }

    private connect(): void {
        const { core } = this.owner;
        this.carry((events) => this.dial!(events, Number(core.flat.link_limit(core.host))));
    }

    /** Use a transport until it is gone. */
    private carry(dial: (events: TransportEvents) => Transport): void {
        this.ending = false;
        let transport: Transport | undefined;
        const told = (step: () => void) => {
            if (transport === undefined || transport !== this.transport || this.owner.core.closed) return;
            this.attempt(step);
        };
        const events: TransportEvents = {
            opened: (codec) => told(() => this.opened(codec)),
            received: (bytes, frame) => told(() => this.received(bytes, frame)),
            piece: () => told(() => this.piece()),
            tooLarge: () => told(() => this.tooLarge()),
            drained: () => told(() => this.flush()),
            gone: () => told(() => this.gone()),
        };
        try {
            this.transport = transport = dial(events);
        } catch {
            this.gone();
        }
    }

    /** A step that the core may refuse, for want of memory: the transport is cut then. */
    private attempt(step: () => void): void {
        try {
            step();
        } catch (error) {
            this.owner.report(error, `the link ${this.url}`);
            this.transport?.abort();
        }
    }

    /** @internal Use a transport that the peer has opened. */
    accepted(dial: (events: TransportEvents) => Transport, codec: number): void {
        this.carry(dial);
        if (this.transport !== undefined) this.attempt(() => this.opened(codec));
    }

    private opened(codec: number): void {
        const { core, pump } = this.owner;
        if (this.ending) return this.transport!.close();
        core.flat.link_up(core.host, this.id, codec, core.now());
        pump.wake();
    }

    private received(bytes: Uint8Array, frame: number): void {
        const { core, pump } = this.owner;
        if (this.ending) return;
        try {
            core.flat.link_feed(core.host, this.id, frame, bytes, core.now());
        } catch (error) {
            if (!(error instanceof ChordalError)) throw error; // else the core has said bye, or dials again
        }
        pump.wake();
    }

    /** The peer is there, however long the frame takes. */
    private piece(): void {
        const { core } = this.owner;
        const now = core.now();
        if (this.ending || now - this.pieceAt < PIECE_INTERVAL) return;
        this.pieceAt = now;
        core.flat.link_progress(core.host, this.id, now); // nothing in the WebAssembly core
    }

    private tooLarge(): void {
        const { core } = this.owner;
        this.received(new Uint8Array(Number(core.flat.link_limit(core.host)) + 1), 1);
    }

    /** The transport is gone. */
    protected gone(): void {
        const { core, pump } = this.owner;
        this.transport = undefined;
        clearTimeout(this.cutter);
        if (this.id === 0 || core.closed) return;
        core.flat.link_down(core.host, this.id, core.now());
        if (this.current === "closed" || this.dial === undefined) this.forget();
        pump.wake();
    }

    protected forget(): void {
        if (this.id === 0) return;
        this.owner.forget(this);
        this.owner.core.release(this.id);
        this.id = 0;
        this.current = "closed";
        this.stopListening?.();
        this.settleWaiting();
    }

    private dropTransport(): void {
        const { transport } = this;
        this.transport = undefined;
        clearTimeout(this.cutter);
        transport?.abort();
    }

    /** @internal The host is closed. */
    abandon(reason: ChordalError): void {
        this.dropTransport();
        this.stopListening?.();
        this.reason ??= reason;
        this.current = "closed";
        this.settleWaiting();
    }
}

/** What `host.serve` and `host.attach` give. */
export class Server {
    /** @internal */
    constructor(
        /** Where clients connect; "" for a server that was attached to. */
        readonly address: string,
        private readonly shut: () => void,
        private readonly links: () => Iterable<Link>,
    ) {}

    /** Accept no more links, and close those that were accepted. */
    close(): void {
        this.shut();
        for (const link of [...this.links()]) link.close();
    }
}
