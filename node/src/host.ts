// Hosts: what provides objects, holds those of others, and is linked with other hosts.

import { Admission } from "./admission.js";
import { checkNames, choose, type Names } from "./check.js";
import { Core } from "./core.js";
import { asyncDispose, dispose } from "./dispose.js";
import { closedError, errorOf } from "./errors.js";
import type { Counters, Flat } from "./flat.js";
import { Link, Server } from "./link.js";
import {
    checkAttach,
    checkConnect,
    checkListen,
    linkFlags,
    type AttachOptions,
    type ConnectOptions,
    type LinkOptions,
    type ListenOptions,
} from "./link_options.js";
import { MemoryLink, type PairOptions } from "./memory.js";
import { checkType, nameOf, type Placement, type Shape, type Type } from "./object.js";
import { checkHost, coreOptions, hexOf, type HostOptions } from "./options.js";
import { lend, pack, packArguments, unpack } from "./packed.js";
import { platform, type Accept } from "./platform.js";
import type { ProvidedObject } from "./provided.js";
import { Provider } from "./provider.js";
import { Pump, rethrow } from "./pump.js";
import {
    ChordalError,
    CODEC_BINARY,
    CODEC_TEXT,
    EVENT_AUTHENTICATE,
    EVENT_CALL,
    EVENT_CANCEL,
    EVENT_COMPUTE,
    EVENT_FRAME,
    EVENT_GUARD,
    EVENT_LINK,
    EVENT_OBJECT,
    EVENT_OUTPUT,
    EVENT_REFERENCE,
    EVENT_RESOLVE,
    EVENT_RESULT,
    EVENT_TICKET,
    E_INVALID,
    E_RELEASED,
    E_STATE,
    E_UNSUPPORTED,
    FORMAT_PACKED,
    LINK_AUTHENTICATE,
    LINK_CONNECT,
    LINK_DEFLATE,
    LINK_PATIENT,
    LINK_TRUSTED,
    LINK_WORKER,
    REFERENCE_KEPT,
    REFERENCE_MANUAL,
    RESULT_BYTES,
    type HostEvent,
    type ResultEvent,
} from "./records.js";
import { Reference, withMembers, type AnyReference, type CallOptions, type ReferenceTo } from "./reference.js";
import { Replica, type KeepValues } from "./replica.js";
import { Store } from "./store.js";
import type { Transaction } from "./transaction.js";
import { liveParams, QUERY_TYPE } from "./table.js";
import { Worker, type WorkerOptions } from "./worker.js";

export interface GetOptions {
    /** Where to ask. Default: here, if the type is provided here, else the first link that this host connected. */
    link?: Link;
    /** The version of the type; 0, the default: any. */
    version?: number;
    /** Values move only as fast as `frames()` are taken, and the provider folds what waits. */
    manual?: boolean;
    /**
     * "shared" (the default): values are immutable, and share with the ones before what did not change. "in-place":
     * one value that is changed; nothing is copied, also in a huge array. "none": there are only the ops of frames.
     */
    values?: KeepValues;
}

const GET: Names<GetOptions> = { link: true, version: true, manual: true, values: true };
const VALUES: Names<Record<KeepValues, unknown>> = { shared: true, "in-place": true, none: true };
const PARENT: Names<Pick<LinkOptions, "serve">> = { serve: true };

interface Pending {
    promise: Promise<unknown>;
    replica: Replica;
    handle: Reference; // keeps it from being forgotten
    resolve(value: unknown): void;
    reject(error: unknown): void;
}

const CODECS = { binary: CODEC_BINARY, text: CODEC_TEXT };
const OVER: ReadonlySet<string> = new Set(["released", "retired", "revoked"]); // another reference may be had
const CLOSE_TIMEOUT = 1000; // milliseconds for links to say bye

const forgottenReferences = new FinalizationRegistry<() => void>((letGo) => letGo());
const forgottenHosts = new FinalizationRegistry<Core>((core) => core.close());

// Over the machine's own addresses deflating takes longer than sending.
const NEAR = /^(ipc:|wss?:\/\/(localhost|127\.[\d.]+|\[::1\])([:/]|$))/i;

function wayFlag(url: string): number {
    return NEAR.test(url) ? 0 : LINK_DEFLATE;
}

function printError(error: unknown, where: string): void {
    console.error(`chordal: ${where}:`, error);
}

function keyOf(params: object): string {
    const bytes = pack(Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1)));
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

/**
 * One runtime instance: the types that it provides, the objects it holds, its links. Usable at once; in a browser the
 * core is loaded meanwhile, and what was asked of the host is done then, in order (`ready`). Close it with `close`,
 * `using` or `await using`; what it made may be closed before or after it, in any order.
 */
export class Host implements Disposable, AsyncDisposable {
    /** Fulfilled when the core is there; rejected when it cannot be loaded or refuses the options. */
    readonly ready: Promise<void>;
    private opened: { core: Core; pump: Pump; provider: Provider } | undefined;
    private steps: { step: () => void; fail: (error: unknown) => void }[] | undefined = [];
    private isClosed = false;
    private failure: unknown;
    private readonly freeze: boolean;
    /** @internal */
    readonly report: (error: unknown, where: string) => void;
    private replicas = new Map<number, Replica>();
    private shared = new Map<string, Replica>();
    private calls = new Map<number, Pending>();
    private links = new Map<number, Link>();
    private servers = new Set<Server>();
    private workers = new Set<Worker>();
    private parentLink: Link | undefined;
    private kept: Store | undefined;

    constructor(private readonly options: HostOptions = {}) {
        checkHost(options);
        this.freeze = options.freeze ?? platform().development;
        this.report = options.onError ?? printError;
        const loaded = platform().load();
        if (loaded instanceof Promise) {
            this.ready = loaded.then((flat) => this.open(flat)).catch((error) => this.failed(error));
            this.ready.catch(() => {}); // told by whatever is asked of the host
        } else {
            this.open(loaded);
            this.ready = Promise.resolve();
        }
    }

    private open(flat: Flat): void {
        if (this.isClosed) throw closedError("host");
        const { types = [], placed = true } = this.options;
        const core = new Core(flat, coreOptions(this.options));
        const pump = new Pump(
            core,
            (event) => this.handle(event),
            (event) => this.opened!.provider.polled(event),
            this.report,
        );
        this.opened = { core, pump, provider: new Provider(this, core, pump, this.freeze, this.report) };
        forgottenHosts.register(this, core, core);
        try {
            for (const type of types) {
                const { placement } = type.declaration;
                if (placed && placement !== undefined) this.opened.provider.place(type.name, placement);
                else this.opened.provider.provide(type);
            }
        } catch (error) {
            this.closeNow();
            throw error;
        }
        const { steps } = this;
        this.steps = undefined;
        for (const { step, fail } of steps ?? []) attempt(step, fail);
    }

    private failed(error: unknown): never {
        this.failure = error;
        for (const { fail } of this.steps?.splice(0) ?? []) fail(error);
        throw error;
    }

    /** Do something now, or when the core is there. */
    private whenOpen(step: () => void, fail: (error: unknown) => void): void {
        if (this.isClosed) throw closedError("host");
        if (this.failure !== undefined) throw this.failure;
        if (this.steps === undefined) attempt(step, fail);
        else this.steps.push({ step, fail });
    }

    /** @internal */
    get core(): Core {
        if (this.opened === undefined)
            throw new ChordalError(E_STATE, 0, "the core is not loaded yet: await host.ready");
        return this.opened.core;
    }

    /** @internal */
    get pump(): Pump {
        void this.core;
        return this.opened!.pump;
    }

    private get provider(): Provider {
        void this.core;
        return this.opened!.provider;
    }

    private get admission(): Admission {
        return new Admission(this.core, this.pump, this.freeze, this.report);
    }

    // ---- providing ----

    /** Provide types. Refused: EXISTS (the name is taken), INVALID, with words. */
    provide(...types: Type<any, any, any, any>[]): void {
        types.forEach(checkType);
        this.whenOpen(
            () => {
                for (const type of types) this.provider.provide(type);
            },
            throwNowOrLater(this.steps === undefined),
        );
    }

    /**
     * The objects of a type live elsewhere, each where `placement` says, by default that of its declaration. It is
     * asked whenever somebody wants an object, once for all that want it at the time, and should give the same for the
     * same params as long as the object lives there. If it throws a MethodError, those who want the object see it
     * failed for this reason. Refused: EXISTS (provided or placed already), INVALID, UNSUPPORTED (WebAssembly).
     */
    place(type: string | Type<any, any, any, any>, placement?: Placement): void {
        const where = placement ?? (typeof type === "string" ? undefined : type.declaration.placement);
        if (where === undefined) throw new ChordalError(E_INVALID, 0, "a type is placed by a function");
        const name = nameOf(type);
        this.whenOpen(() => this.provider.place(name, where), throwNowOrLater(this.steps === undefined));
    }

    /**
     * The object of a type that this host provides, by the type or its name, made if there is none. It counts as held
     * until its `release`. Refused: NO_TYPE, PARAMS, INVALID (no type, nor a name).
     */
    object(type: string, params?: object): Promise<ProvidedObject<string, any, any, any>>;
    object<P extends string, D, R, M, T>(
        type: Type<P, D, R, M, T>,
        params?: { readonly [K in P]: unknown },
    ): Promise<ProvidedObject<P, D, R, T>>;
    async object(type: string | Type<any, any, any, any>, params: object = {}): Promise<unknown> {
        const name = nameOf(type);
        await this.ready;
        return this.provider.object(name, params);
    }

    /** Change documents and tables of several objects here: `host.transaction((t) => { t.of(notes).list… })`. */
    transaction(work: (t: Transaction<{}>) => unknown): Promise<number> {
        return this.provider.transact(undefined, 0, work);
    }

    /**
     * End all sessions with this authority, by value, at once: the references of their hosts are revoked, with the
     * reason; what those called has an unknown outcome to them and is cancelled here; and the links that were admitted
     * with it open no other sessions. Peers that link anew are for `authenticate` to refuse. Do it at each host that
     * admits or provides. Not in browsers.
     */
    revoke(authority: unknown, reason = ""): void {
        this.core.flat.host_revoke(this.core.host, FORMAT_PACKED, pack(authority), reason);
        this.pump.wake();
    }

    // ---- holding ----

    /**
     * A reference to an object, by its type or its type's name, and its params. It is there at once; `await notes.live`
     * waits for the values.
     */
    get(type: string, params?: object, options?: GetOptions): AnyReference;
    get<T extends { readonly shape: Shape }>(
        type: T | string,
        params: { readonly [K in T["shape"]["params"]]: unknown },
        options?: GetOptions,
    ): ReferenceTo<T>;
    get(type: string | { readonly name?: string }, params: object = {}, options: GetOptions = {}): any {
        checkNames("get", options, GET);
        const name = nameOf(type);
        const { link, version = 0, manual = false, values = "shared" } = options;
        choose("way to keep values", values, VALUES);
        const key = [link?.serial ?? 0, name, version, manual, values, keyOf(params)].join("\0");
        let replica = this.shared.get(key);
        if (replica === undefined || OVER.has(replica.state)) {
            replica = this.hold(name, pack(params), options);
            this.shared.set(key, replica);
        }
        return this.makeReference(replica, name, params);
    }

    private makeReference(replica: Replica, name: string, params: object): Reference {
        const reference = new Reference(this, replica, name, Object.freeze({ ...params }));
        replica.handles++;
        forgottenReferences.register(reference, () => this.letGo(replica), reference);
        return withMembers(reference);
    }

    private hold(name: string, params: Uint8Array, options: GetOptions): Replica {
        const { link, version = 0, manual = false, values = "shared" } = options;
        const replica = new Replica(this, values, this.freeze, manual, link);
        const flags = REFERENCE_KEPT | (manual ? REFERENCE_MANUAL : 0);
        replica.ask = () => {
            const { core, pump } = this;
            if (link?.state === "closed") throw closedError("link");
            const over = link?.id ?? 0;
            replica.id = core.flat.reference_get(core.host, over, name, version, flags, FORMAT_PACKED, params);
            this.replicas.set(replica.id, replica);
            pump.wake();
        };
        this.ask(replica);
        return replica;
    }

    private ask(replica: Replica): void {
        this.whenOpen(
            () => replica.state !== "released" && replica.ask(),
            (error) => replica.change("failed", error as ChordalError),
        );
    }

    /** @internal A live query of a table of an object that is held. */
    live(replica: Replica, type: string, params: object, table: string, query: object | undefined): Reference {
        const { link } = replica;
        return this.get(QUERY_TYPE, liveParams(type, params, table, query), link === undefined ? {} : { link });
    }

    /** @internal */
    retry(replica: Replica): void {
        if (replica.id === 0) return this.ask(replica);
        this.core.flat.reference_retry(this.core.host, replica.id);
        this.pump.wake();
    }

    /** @internal One reference less. */
    letGo(replica: Replica, handle?: Reference): void {
        if (handle !== undefined) forgottenReferences.unregister(handle);
        if (--replica.handles > 0 || this.isClosed) return;
        this.endCalls(new ChordalError(E_RELEASED), replica);
        replica.release();
        this.replicas.delete(replica.id);
        for (const [key, other] of this.shared) if (other === replica) this.shared.delete(key);
        this.opened?.pump.wake();
    }

    // ---- calls ----

    /** @internal */
    call(
        replica: Replica,
        handle: Reference,
        method: string,
        args: readonly unknown[],
        options: CallOptions,
    ): Promise<any> {
        const { signal, timeout = 0 } = options;
        if (signal?.aborted) return Promise.reject(signal.reason);
        let pending!: Pending;
        const promise = new Promise<unknown>(
            (resolve, reject) => (pending = { replica, handle, resolve, reject } as Pending),
        );
        pending.promise = promise;
        attempt(() => {
            const start = (packed: Uint8Array) => this.startCall(replica, method, packed, timeout, pending, signal);
            if (this.steps === undefined && !this.isClosed) return lend((out) => out.args(args), start);
            const packed = packArguments(args);
            this.whenOpen(() => start(packed), pending.reject);
        }, pending.reject);
        return promise;
    }

    private startCall(
        replica: Replica,
        method: string,
        args: Uint8Array,
        timeout: number,
        pending: Pending,
        signal: AbortSignal | undefined,
    ): void {
        const { core, pump } = this;
        if (replica.id === 0) throw replica.dead() ?? closedError("reference");
        const milliseconds = Math.max(0, Math.ceil(timeout));
        const id = core.flat.call_start(core.host, replica.id, method, FORMAT_PACKED, args, milliseconds);
        this.calls.set(id, pending);
        pump.wake();
        if (signal !== undefined) this.endOnAbort(id, pending, signal);
    }

    private endOnAbort(id: number, pending: Pending, signal: AbortSignal): void {
        const abort = () => {
            pending.reject(signal.reason);
            if (!this.calls.has(id) || this.isClosed) return;
            this.core.flat.call_cancel(this.core.host, id);
            this.pump.wake();
        };
        if (signal.aborted) return abort();
        signal.addEventListener("abort", abort, { once: true });
        const forget = () => signal.removeEventListener("abort", abort);
        pending.promise.then(forget, forget);
    }

    private onResult(event: ResultEvent): void {
        const pending = this.calls.get(event.call);
        this.calls.delete(event.call);
        if (event.code !== 0) pending?.reject(errorOf(event.code, event.name, event.detail));
        else if (event.flags & RESULT_BYTES) pending?.resolve(event.value.slice());
        else pending?.resolve(unpack(event.value, this.freeze));
    }

    /** Settle the calls of one object, or all. */
    private endCalls(error: ChordalError, replica?: Replica): void {
        for (const [id, pending] of this.calls) {
            if (replica !== undefined && pending.replica !== replica) continue;
            pending.promise.catch(() => {}); // nobody has to ask for it
            pending.reject(error);
            this.calls.delete(id);
            this.core.release(id);
        }
    }

    // ---- links ----

    /**
     * Link with the host that listens at "ws://host:port/path", "wss://…" or, in Node, "ipc:/path": again and again,
     * until the link or the host is closed.
     */
    connect(url: string, options: ConnectOptions = {}): Link {
        checkConnect(options);
        const codec = choose("codec", options.codec ?? "binary", CODECS);
        const link = new Link(this, String(url), platform().dial(String(url), codec));
        if (options.credentials !== undefined) link.renew(options.credentials);
        this.whenOpen(
            () => this.openLink(link, LINK_CONNECT | linkFlags(options) | wayFlag(String(url))),
            (error) => link.abandon(error as ChordalError),
        );
        return link;
    }

    private openLink(link: Link, flags: number): void {
        if (link.state === "closed") return; // before it was opened
        const { pump } = this;
        link.id = this.openWith(flags);
        this.links.set(link.id, link);
        pump.wake();
    }

    /** The WebAssembly core has no part in who may: a tab is reached through a server, which judges. */
    private openWith(flags: number): number {
        const { core } = this;
        try {
            return core.flat.link_open(core.host, flags);
        } catch (error) {
            if (!(error instanceof ChordalError && error.code === E_INVALID)) throw error;
            if (!(flags & (LINK_TRUSTED | LINK_AUTHENTICATE))) throw error;
            throw new ChordalError(
                E_UNSUPPORTED,
                0,
                "the WebAssembly core neither authenticates peers nor trusts them",
            );
        }
    }

    /** Refuse now what would be refused of each peer. */
    private checkFlags(flags: number): void {
        if (flags & (LINK_TRUSTED | LINK_AUTHENTICATE)) this.core.release(this.openWith(flags));
    }

    /** Accept links at "ws://host:port" (port 0: any) or "ipc:/path". Only in Node. */
    async listen(url: string, options: ListenOptions = {}): Promise<Server> {
        checkListen(options);
        await this.ready;
        this.checkFlags(linkFlags(options));
        const accepted = new Set<Link>();
        const limit = Number(this.core.flat.link_limit(this.core.host));
        const { address, stop } = await platform().listen(url, this.acceptor(url, options, accepted), limit, options);
        if (this.isClosed) {
            stop();
            throw closedError("host");
        }
        return this.makeServer(address, stop, accepted);
    }

    /** Accept links as WebSocket upgrades of an HTTP server (`node:http` or `node:https`). Only in Node. */
    attach(server: object, options: AttachOptions = {}): Server {
        checkAttach(options);
        this.checkFlags(linkFlags(options));
        const accepted = new Set<Link>();
        const limit = Number(this.core.flat.link_limit(this.core.host));
        const accept = this.acceptor("", options, accepted);
        return this.makeServer("", platform().attach(server, accept, limit, options), accepted);
    }

    /**
     * Start a process that serves objects: `host.worker(process.execPath, ["board.js"])`. There it links itself by
     * `parent`. Its link is one of this host's: what the worker offers is reached through it, and what is placed there
     * waits while it is started again. One that says bye and exits with 0 has ended. Only in Node.
     */
    worker(command: string, args: readonly string[] = [], options: WorkerOptions = {}): Worker {
        const worker = new Worker(this, command, args, options, () => this.workers.delete(worker));
        this.workers.add(worker);
        const own = LINK_CONNECT | LINK_PATIENT | LINK_WORKER;
        const flags = own | linkFlags({ routeOffers: true, serve: options.serve });
        this.whenOpen(
            () => this.openLink(worker.link, flags),
            (error) => worker.link.abandon(error as ChordalError),
        );
        return worker;
    }

    /**
     * In a worker: the link with the host that started this process, made when it is asked for the first time. The
     * types of this host are offered over it. `await host.parent().closed` waits until the parent is gone, or wants no
     * more of this worker: nothing keeps it from exiting then. Refused: STATE (no host started this process).
     */
    parent(options: Pick<LinkOptions, "serve"> = {}): Link {
        checkNames("parent", options, PARENT);
        const { serve } = options;
        if (this.parentLink !== undefined) return this.parentLink;
        const dial = platform().parent();
        const link = (this.parentLink = new Link(this, "parent:", undefined));
        this.whenOpen(
            () => {
                this.openLink(link, linkFlags({ offer: true, serve, trusted: true }));
                const limit = Number(this.core.flat.link_limit(this.core.host));
                link.accepted((events) => dial(events, limit), CODEC_BINARY);
            },
            (error) => link.abandon(error as ChordalError),
        );
        return link;
    }

    private acceptor(url: string, options: ListenOptions, accepted: Set<Link>): Accept {
        return (dial, codec) => {
            const link = new Link(this, url, undefined);
            link.authenticate = options.authenticate;
            this.openLink(link, linkFlags(options) | wayFlag(url));
            for (const old of accepted) if (old.state === "closed") accepted.delete(old);
            accepted.add(link);
            link.accepted(dial, codec);
        };
    }

    private makeServer(address: string, stop: () => void, accepted: Set<Link>): Server {
        const server = new Server(
            address,
            () => this.servers.delete(server) && stop(),
            () => accepted,
        );
        this.servers.add(server);
        return server;
    }

    /** @internal Link with a host of the same thread. */
    linkTo(provider: Host, options: PairOptions): Link {
        const { offer = false, routeOffers = false, credentials, authenticate, trusted = false } = options;
        const flags = linkFlags({
            offer: routeOffers,
            routeOffers: offer,
            trusted,
            ...(authenticate && { authenticate }),
        });
        provider.checkFlags(flags);
        const accept = () => {
            if (provider.isClosed) return undefined;
            const other = new MemoryLink(provider, undefined);
            other.authenticate = authenticate;
            provider.openLink(other, flags);
            return other;
        };
        const link = new MemoryLink(this, accept);
        if (credentials !== undefined) link.renew(credentials);
        this.openLink(link, LINK_CONNECT | linkFlags({ offer, routeOffers }));
        return link;
    }

    /** @internal */
    forget(link: Link): void {
        this.links.delete(link.id);
    }

    // ---- events ----

    private handle(event: HostEvent): void {
        switch (event.kind) {
            case EVENT_LINK:
                return this.links.get(event.link)?.onState(event);
            case EVENT_OUTPUT:
                return this.links.get(event.link)?.onOutput();
            case EVENT_REFERENCE:
                return this.replicas.get(event.reference)?.onReference(event);
            case EVENT_FRAME:
                return this.replicas.get(event.watch)?.onFrame(event);
            case EVENT_RESULT:
                return this.onResult(event);
            case EVENT_OBJECT:
                return this.provider.onObject(event);
            case EVENT_CALL:
                return this.provider.onCall(event);
            case EVENT_CANCEL:
                return this.provider.onCancel(event);
            case EVENT_TICKET:
                return this.provider.onTicket(event);
            case EVENT_COMPUTE:
                return this.provider.onCompute(event);
            case EVENT_AUTHENTICATE:
                return void this.admission.authenticate(event, this.links.get(event.link)?.authenticate);
            case EVENT_GUARD:
                return void this.admission.judge(event, this.provider.typeOf(event.type));
            case EVENT_RESOLVE:
                return this.provider.onResolve(event);
        }
    }

    // ---- the rest ----

    /** What lies in this host's store, to be read back, followed, copied and checked. Not in browsers. */
    get store(): Store {
        return (this.kept ??= new Store(this.core, this.opened!.provider));
    }

    /** What the core counted: memory, messages, bytes, commits, crossings (`entries`) … (docs/api.md). */
    counters(): Counters {
        return this.core.flat.host_counters(this.core.host);
    }

    /** The random name of this opening of the host: 32 hexadecimal digits. */
    get run(): string {
        return hexOf(this.core.flat.host_run(this.core.host));
    }

    /** A 64-bit digest of a value, as 16 hexadecimal digits: equal values have equal ones, in every runtime. */
    digest(value: unknown): string {
        const { flat, host } = this.core;
        const decoded = flat.value_decode(host, FORMAT_PACKED, pack(value));
        const digest = flat.value_digest(decoded);
        flat.value_unref(decoded);
        return digest.toString(16).padStart(16, "0");
    }

    get closed(): boolean {
        return this.isClosed;
    }

    /**
     * Say bye on all links, then close: all calls still waiting are rejected, references released, loops ended, and
     * workers, which are waited for. Sessions of others that only pass through this host are lost, and come back when
     * it is there again, or another way.
     */
    async close(): Promise<void> {
        if (this.isClosed) return;
        if (this.opened !== undefined) this.leave(this.opened.core);
        const workers = [...this.workers];
        for (const server of [...this.servers]) server.close();
        for (const link of [...this.links.values()]) link.close();
        const until = performance.now() + CLOSE_TIMEOUT;
        while (this.links.size > 0 && performance.now() < until && !this.isClosed) {
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
        this.closeNow();
        await Promise.all(workers.map((worker) => worker.ended));
    }

    private leave(core: Core): void {
        core.flat.host_leave(core.host, 0, core.now());
        this.opened!.pump.wake();
    }

    /** Close at once: links are cut. */
    closeNow(): void {
        if (this.isClosed) return;
        this.isClosed = true;
        const error = closedError("host");
        for (const { fail } of this.steps?.splice(0) ?? []) fail(error);
        for (const server of [...this.servers]) server.close();
        for (const link of [...this.links.values()]) link.abandon(error);
        this.endCalls(error);
        this.end(error);
    }

    private end(error: ChordalError): void {
        const { opened } = this;
        opened?.provider.close(error);
        for (const replica of new Set([...this.shared.values(), ...this.replicas.values()])) replica.release(error);
        this.links.clear();
        this.replicas.clear();
        this.shared.clear();
        if (opened === undefined) return;
        opened.pump.stop();
        opened.core.close();
        forgottenHosts.unregister(opened.core);
    }

    [dispose](): void {
        this.closeNow();
    }

    async [asyncDispose](): Promise<void> {
        await this.close();
    }
}

function attempt(step: () => void, fail: (error: unknown) => void): void {
    try {
        step();
    } catch (error) {
        fail(error);
    }
}

function throwNowOrLater(now: boolean): (error: unknown) => void {
    return now
        ? (error) => {
              throw error;
          }
        : rethrow;
}

/** A host of which nobody is told holds nothing: no store, no types. */
function closedOnFailure(host: Host, step: () => void): Host {
    try {
        step();
    } catch (error) {
        void host.close();
        throw error;
    }
    return host;
}

/** A host that is linked with the one at `url`, and links again when the link is lost. */
export function connect(url: string, options: HostOptions & ConnectOptions = {}): Host {
    const { codec, credentials, offer, routeOffers, serve, trusted, ...rest } = options;
    const host = new Host(rest);
    return closedOnFailure(host, () => {
        host.connect(url, { codec, credentials, offer, routeOffers, serve, trusted } as ConnectOptions);
    });
}

/**
 * A worker's host: it provides its types, also those with a `placement`, and is linked with the host that started this
 * process. Refused: STATE (no host did).
 */
export function parent(options: HostOptions & Pick<LinkOptions, "serve"> = {}): Host {
    const { serve, ...rest } = options;
    const host = new Host({ ...rest, placed: false });
    return closedOnFailure(host, () => host.parent({ serve }));
}
