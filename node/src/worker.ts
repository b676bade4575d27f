// Workers: processes that a host starts, each linked with it by a socket that it inherits. Only in Node.

import { checkNames, type Names } from "./check.js";
import { closedError } from "./errors.js";
import { Link, type LinkOwner, type Transport, type TransportEvents } from "./link.js";
import { nameOf, type Type } from "./object.js";
import { platform, type Exited, type Process } from "./platform.js";
import { ChordalError, E_BYE, E_INVALID, E_LIMIT, LINK_CLOSED, LINK_UP, LINK_WAIT, type LinkEvent } from "./records.js";

/** How a worker is started and watched. Times are milliseconds. */
export interface WorkerOptions {
    /** It is ready when it offers these. */
    types?: readonly (string | Type<any, any, any, any>)[];
    /** Whether it may hold this host's objects. Default true. */
    serve?: boolean;
    /** From start to ready, else it is ended and has failed. Default 30000. */
    startTimeout?: number;
    /** When it is stopped: for the calls that this host made over its link. Default 5000. */
    drainTimeout?: number;
    /** From the bye to SIGTERM. Default 5000. */
    stopTimeout?: number;
    /** From SIGTERM to SIGKILL. Default 5000. */
    killTimeout?: number;
    /** The wait after a second failure in a row, doubled each time. Default 250. */
    backoffFirst?: number;
    /** Default 15000. */
    backoffLimit?: number;
    /** Ready for so long, earlier failures are forgotten. Default 10000. */
    steady?: number;
    /** Failures in a row after which it is started again. Default 8. */
    restarts?: number;
    /** Its environment. Default: this process's. */
    env?: Record<string, string | undefined>;
    /** The folder that it runs in. Default: this process's. */
    cwd?: string;
}

/** starting: or started again. ready: its link is up and offers the types that were named. ended: for good. */
export type WorkerState = "starting" | "ready" | "stopping" | "ended";

const DEFAULTS = {
    startTimeout: 30000,
    drainTimeout: 5000,
    stopTimeout: 5000,
    killTimeout: 5000,
    backoffFirst: 250,
    backoffLimit: 15000,
    steady: 10000,
    restarts: 8,
};
const NAMES: Names<WorkerOptions> = {
    types: true,
    serve: true,
    startTimeout: true,
    drainTimeout: true,
    stopTimeout: true,
    killTimeout: true,
    backoffFirst: true,
    backoffLimit: true,
    steady: true,
    restarts: true,
    env: true,
    cwd: true,
};
const LAST_BYTES = 1000; // for what a process sent before its end, while others hold its socket open

interface Waiting {
    done(): boolean;
    resolve(): void;
    reject(error: ChordalError): void;
}

/**
 * A process that serves objects, started again when it fails: also when it exits with 0 without having said bye
 * (`host.close()`), since it may only have lost this host. Made by `host.worker`.
 */
export class Worker {
    /** The link with the worker's host: the same over all of its processes. */
    readonly link: Link;
    private readonly patience: typeof DEFAULTS;
    private readonly types: readonly string[];
    private current: WorkerState = "starting";
    private process: Process | undefined;
    private failures = 0; // in a row
    private missed = false; // its start deadline
    private isLinked = false; // with a process, as far as the link has told
    private hasLeft = false; // that said bye
    private isOpen = false; // it exited with 0, and whether it said bye is not known yet
    private isStopping = false;
    private code: number | undefined;
    private endSignal: string | undefined;
    private reason: ChordalError | undefined;
    private wanted: Pending | undefined; // what waits for a process
    private timer: ReturnType<typeof setTimeout> | undefined; // its start deadline, or until it is steady
    private pause: ReturnType<typeof setTimeout> | undefined;
    private leaving: ReturnType<typeof setTimeout> | undefined;
    private waiting: Waiting[] = [];

    /** @internal */
    constructor(
        private readonly owner: LinkOwner,
        private readonly command: string,
        private readonly args: readonly string[],
        private readonly options: WorkerOptions,
        private readonly gone: () => void,
    ) {
        checkNames("a worker", options, NAMES);
        this.patience = { ...DEFAULTS };
        for (const key of Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]) {
            this.patience[key] = options[key] ?? DEFAULTS[key];
        }
        this.types = (options.types ?? []).map(nameOf);
        this.link = new WorkerLink(this, owner, `worker:${command}`);
    }

    get state(): WorkerState {
        return this.current;
    }

    /** Whether it is stopping or has ended: what is placed needs another. */
    get isGone(): boolean {
        return this.current === "stopping" || this.current === "ended";
    }

    /** The number of its process, while there is one. */
    get pid(): number | undefined {
        return this.process?.pid;
    }

    /** What its last process exited with. */
    get exitCode(): number | undefined {
        return this.code;
    }

    /** The signal that ended its last process. */
    get signal(): string | undefined {
        return this.endSignal;
    }

    /** Why it ended: undefined when it was stopped or said bye and exited with 0, "limit" after too many failures,
     * "invalid" when it cannot be started. */
    get error(): ChordalError | undefined {
        return this.reason;
    }

    /** Fulfilled when it is ready; rejected with the reason when it ends instead. */
    get ready(): Promise<void> {
        return this.until(() => this.current === "ready");
    }

    /** Fulfilled when it has ended for good: its process is gone, and no other follows. */
    get ended(): Promise<void> {
        return this.until(() => this.current === "ended");
    }

    /**
     * Stop it: say bye when the calls of this host are done, send SIGTERM if it does not exit then, at last SIGKILL.
     * The promise is `ended`.
     */
    stop(): Promise<void> {
        this.end(undefined);
        return this.ended;
    }

    private end(error: ChordalError | undefined): void {
        if (this.isStopping) return;
        this.noteEnd(error);
        const { core, pump } = this.owner;
        if (this.link.id === 0 || this.process === undefined || error !== undefined) return this.link.close();
        if (core.closed) return;
        core.flat.link_drain(core.host, this.link.id, this.patience.drainTimeout, core.now());
        pump.wake();
    }

    private noteEnd(error: ChordalError | undefined): void {
        this.isStopping = true;
        this.reason = error;
        this.change("stopping");
    }

    // ---- waiting ----

    private until(done: () => boolean): Promise<void> {
        return new Promise((resolve, reject) => {
            this.waiting.push({ done, resolve, reject });
            this.settle();
        });
    }

    private settle(): void {
        for (const one of this.waiting.splice(0)) {
            if (one.done()) one.resolve();
            else if (this.current === "ended") one.reject(this.reason ?? closedError("worker"));
            else this.waiting.push(one);
        }
    }

    private change(state: WorkerState): void {
        if (this.current === "ended") return;
        this.current = state;
        this.settle();
    }

    // ---- its link ----

    /** @internal A transport is wanted: a process. */
    dial(events: TransportEvents, limit: number): Transport {
        const { received } = events;
        const watched = Object.assign(Object.create(events) as TransportEvents, {
            received: (bytes: Uint8Array, frame: number) => {
                received(bytes, frame);
                this.look();
            },
        });
        const pending = new Pending(watched, limit);
        if (this.isLinked) this.linkDown(false);
        this.wanted = pending;
        if (this.process === undefined) this.startLater(); // else when the one before is gone: it has its time to leave
        return pending;
    }

    /** The link has waited a little already; after several failures in a row it takes longer. */
    private startLater(): void {
        const { backoffFirst, backoffLimit } = this.patience;
        const pause = this.failures > 1 ? Math.min(backoffFirst * 2 ** (this.failures - 2), backoffLimit) : 0;
        this.pause = setTimeout(() => this.start(), pause);
    }

    private start(): void {
        const pending = this.wanted;
        this.wanted = undefined;
        if (pending === undefined || pending.isOver) return;
        this.missed = this.hasLeft = this.isOpen = false;
        const { env, cwd } = this.options;
        let isOver = false;
        const exited: Exited = (code, signal, error) => {
            if (!isOver) this.exited(pending, code, signal, error);
            isOver = true;
        };
        try {
            this.process = platform().start(this.command, this.args, { env, cwd }, exited);
            this.isLinked = true;
            pending.begin(this.process);
        } catch (error) {
            return exited(undefined, undefined, error as Error);
        }
        this.after(this.patience.startTimeout, () => {
            this.missed = true;
            this.terminate();
        });
    }

    private after(span: number, step: () => void): void {
        clearTimeout(this.timer);
        this.timer = setTimeout(step, span);
    }

    /** It may be ready now. */
    private look(): void {
        const { core } = this.owner;
        if (this.current !== "starting" || this.link.state !== "up" || core.closed) return;
        if (!this.types.every((name) => core.flat.link_offers(core.host, this.link.id, name) === 1)) return;
        this.after(this.patience.steady, () => (this.failures = 0));
        this.timer?.unref?.();
        this.change("ready");
    }

    /** @internal */
    onLink(event: LinkEvent): void {
        if (event.state === LINK_UP) this.look();
        else if (event.state === LINK_WAIT) this.linkDown(event.code === E_BYE);
        else if (event.state === LINK_CLOSED) this.linkDown(false);
    }

    /** Its transport is gone; its process should be, too. */
    private linkDown(hasLeft: boolean): void {
        this.isLinked = false;
        this.hasLeft ||= hasLeft;
        if (this.current === "ready") this.change("starting");
        clearTimeout(this.timer);
        this.endProcess();
        if (!this.isOpen || this.isStopping) return;
        this.judge();
        this.goOn();
    }

    /** @internal */
    linkClosed(): void {
        if (!this.isStopping) this.noteEnd(this.link.error);
        clearTimeout(this.timer);
        clearTimeout(this.pause);
        if (this.process !== undefined) this.endProcess();
        else if (this.current !== "ended") {
            this.change("ended");
            this.gone();
        }
    }

    // ---- its process ----

    private exited(pending: Pending, code?: number, signal?: string, error?: Error): void {
        this.process = undefined;
        [this.code, this.endSignal] = [code, signal];
        clearTimeout(this.timer);
        clearTimeout(this.leaving);
        this.leaving = undefined;
        setTimeout(() => pending.abort(), error === undefined ? LAST_BYTES : 0).unref?.();
        if (this.isStopping)
            this.link.close(); // nothing is left to wait for
        else if (error !== undefined) this.end(new ChordalError(E_INVALID, 0, error.message));
        else if (code === 0 && !this.missed && this.isLinked) this.isOpen = true;
        else this.judge();
        this.goOn();
    }

    private goOn(): void {
        if (this.link.state === "closed") this.linkClosed();
        else if (this.wanted !== undefined && !this.isStopping) this.startLater();
    }

    /** One that did not say bye may have ended because it lost its parent. */
    private judge(): void {
        this.isOpen = false;
        if (this.code === 0 && !this.missed && this.hasLeft) return this.end(undefined);
        this.failures++;
        if (this.failures > this.patience.restarts) {
            this.end(new ChordalError(E_LIMIT, 0, "the worker failed too often"));
        }
    }

    /** Its present process has some time to leave. */
    private endProcess(): void {
        if (this.process === undefined || this.leaving !== undefined) return;
        this.leaving = setTimeout(() => this.terminate(), this.patience.stopTimeout);
    }

    private terminate(): void {
        this.process?.kill("SIGTERM");
        clearTimeout(this.leaving);
        this.leaving = setTimeout(() => this.process?.kill("SIGKILL"), this.patience.killTimeout);
    }
}

/** A transport whose process is still to be started. */
class Pending implements Transport {
    private inner: Transport | undefined;
    isOver = false;

    constructor(
        private readonly events: TransportEvents,
        private readonly limit: number,
    ) {}

    begin(process: Process): void {
        this.inner = process.carry(this.events, this.limit);
    }

    get hasRoom(): boolean {
        return this.inner === undefined || this.inner.hasRoom;
    }

    send(bytes: Uint8Array, isText: boolean): void {
        this.inner?.send(bytes, isText);
    }

    close(): void {
        if (this.inner !== undefined) this.inner.close();
        else this.abort();
    }

    abort(): void {
        if (this.inner !== undefined) return this.inner.abort();
        if (this.isOver) return;
        this.isOver = true;
        queueMicrotask(() => this.events.gone());
    }
}

/** A link that is dialled by starting a process. */
class WorkerLink extends Link {
    constructor(
        private readonly worker: Worker,
        owner: LinkOwner,
        url: string,
    ) {
        super(owner, url, (events, limit) => worker.dial(events, limit));
    }

    override onState(event: LinkEvent): void {
        super.onState(event);
        this.worker.onLink(event);
    }

    protected override forget(): void {
        super.forget();
        this.worker.linkClosed();
    }

    override abandon(reason: ChordalError): void {
        super.abandon(reason);
        this.worker.linkClosed();
    }
}
