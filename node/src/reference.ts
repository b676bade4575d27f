// References: objects of this host or another one, as live local values and callable methods.

import { checkFunction, checkNames, invalid, shown, type Names } from "./check.js";
import { dispose } from "./dispose.js";
import type { Frame } from "./frame.js";
import type { Shape } from "./object.js";
import { rethrow } from "./pump.js";
import { ChordalError, E_CLOSED, E_RELEASED } from "./records.js";
import type { Follower, ReferenceState, Replica } from "./replica.js";
import type { TableFollower } from "./table.js";
import type { Immutable } from "./value.js";

/** How a call is made. */
export interface CallOptions {
    /** Aborting it tells the provider that the answer is no longer wanted. */
    signal?: AbortSignal;
    /** In milliseconds; a call whose time is over before it was sent is never sent. */
    timeout?: number;
}

const CALL: Names<CallOptions> = { signal: true, timeout: true };

function checkCall(args: readonly unknown[], options: CallOptions): void {
    if (!Array.isArray(args)) throw invalid("the arguments are no array");
    checkNames("a call", options, CALL);
    const { signal, timeout = 0 } = options;
    if (typeof timeout !== "number" || Number.isNaN(timeout)) {
        throw invalid(`timeout is a number of milliseconds, not ${shown(timeout)}`);
    }
    if (signal !== undefined && typeof signal?.addEventListener !== "function") {
        throw invalid(`signal is an AbortSignal, not ${shown(signal)}`);
    }
}

/** A document or derive that is held. */
export interface Watchable<T> {
    /** The last value, immutable; undefined before the first, or when the object is held without values. */
    readonly value: T | undefined;
    /** Why the derive could not be computed the last time; its value is then the last good one. */
    readonly error: ChordalError | undefined;
    /**
     * Call `observer` with a frame for each batch that changes the member, first of all with the whole value once it
     * is here; never inside of this call. Stop it by calling what is returned, or by `using`.
     */
    watch(observer: (frame: Frame<T>) => void): Stop;
    /**
     * The same frames, for `for await`. While nobody asks for the next one, all that come are folded into it. The loop
     * ends when the object is retired, the reference released or the host closed, and throws when it fails.
     */
    frames(): Frames<T>;
}

/** Stops a watch; also at the end of a `using` block. */
export interface Stop extends Disposable {
    (): void;
}

/** Anything that may be a member, when nothing is known of the type. */
export type AnyMember = Watchable<any> & TableFollower & ((...args: any[]) => Promise<any>);

type Caller<M> = M extends (call: any, ...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;

/** The members of a type as its holders see them. */
export type Members<S extends Shape> = {
    readonly [K in keyof S["documents"]]: Watchable<Immutable<S["documents"][K]>>;
} & {
    readonly [K in keyof S["derives"]]: Watchable<Immutable<S["derives"][K]>>;
} & { readonly [K in keyof S["methods"]]: Caller<S["methods"][K]> } & {
    readonly [K in keyof S["tables"]]: TableFollower<S["tables"][K]>;
};

/** A reference whose members are known by a declared type. */
export type ReferenceTo<T extends { readonly shape: Shape }> = Reference & Members<T["shape"]>;

/** A reference to an object of which only the name of its type is known. */
export type AnyReference = Reference & { readonly [member: string]: AnyMember };

/** Whose reference it is. */
export interface Holder {
    call(
        replica: Replica,
        handle: Reference,
        method: string,
        args: readonly unknown[],
        options: CallOptions,
    ): Promise<any>;
    retry(replica: Replica): void;
    live(replica: Replica, type: string, params: object, table: string, query: object | undefined): Reference;
    letGo(replica: Replica, handle: Reference): void;
}

const REPLICA = Symbol("replica");
const HOLDER = Symbol("holder");
const MEMBERS = Symbol("members");
const FOLLOWING = Symbol("following");

/**
 * What `host.get` returns. Members are properties: `notes.list.value`, `await notes.add("milk")`; for names that this
 * class has itself, `notes.member("state")`. Give it back with `release` or `using`, or just forget it.
 */
export class Reference implements Disposable {
    /** @internal */
    readonly [REPLICA]: Replica;
    /** @internal */
    readonly [HOLDER]: Holder;
    /** @internal */
    readonly [MEMBERS] = new Map<string, Member>();
    /** @internal */
    readonly [FOLLOWING] = new Set<Follower & { stop(): void }>();
    private isReleased = false;

    /** @internal */
    constructor(
        holder: Holder,
        replica: Replica,
        /** The name of the object's type. */
        readonly type: string,
        /** Its address within the type. */
        readonly params: any,
    ) {
        this[REPLICA] = replica;
        this[HOLDER] = holder;
    }

    get state(): ReferenceState {
        return this.isReleased ? "released" : this[REPLICA].state;
    }

    /** Why the object failed or was revoked, or why its link is down. */
    get error(): ChordalError | undefined {
        return this.isReleased ? undefined : this[REPLICA].error;
    }

    /** Fulfilled once the object's values are here and current. Rejected with the reason if it cannot be held. */
    get live(): Promise<void> {
        if (this.isReleased) return Promise.reject(new ChordalError(E_RELEASED));
        return this[REPLICA].live();
    }

    /** A member by any name. */
    member(name: string): AnyMember {
        const members = this[MEMBERS];
        let member = members.get(name);
        if (member === undefined) members.set(name, (member = makeMember(this, name)));
        return member as unknown as AnyMember;
    }

    /** Call a method with options: `notes.call("add", ["milk"], { signal, timeout: 1000 })`. */
    call<K extends keyof this & string>(
        method: K,
        args: this[K] extends (...args: infer Args) => any ? Args : readonly unknown[],
        options?: CallOptions,
    ): Promise<this[K] extends (...args: any[]) => Promise<infer Result> ? Result : any>;
    call(method: string, args: readonly unknown[] = [], options: CallOptions = {}): Promise<any> {
        if (this.isReleased) return Promise.reject(new ChordalError(E_RELEASED));
        try {
            checkCall(args, options);
        } catch (error) {
            return Promise.reject(error);
        }
        return this[HOLDER].call(this[REPLICA], this, method, args, options);
    }

    /** Call `observer` now and whenever the state changes. Stop it by calling what is returned. */
    onState(
        observer: (state: { state: ReferenceState; error: ChordalError | undefined; detail: string }) => void,
    ): Stop {
        checkFunction("an observer", observer);
        const replica = this[REPLICA];
        let told: ReferenceState | undefined;
        const tell = () => {
            const { state, error } = this;
            if (!replica.stateWatchers.has(tell) || (state === told && error === undefined)) return;
            told = state;
            observer({ state, error, detail: error?.message ?? "" });
        };
        replica.stateWatchers.add(tell);
        queueMicrotask(() => {
            try {
                tell();
            } catch (error) {
                rethrow(error);
            }
        });
        return makeStop(() => replica.stateWatchers.delete(tell));
    }

    /** Ask again for an object that failed. */
    retry(): void {
        this[HOLDER].retry(this[REPLICA]);
    }

    /** Give the reference back: its watches end. Its last values stay readable. */
    release(): void {
        if (this.isReleased) return;
        this.isReleased = true;
        for (const follower of [...this[FOLLOWING]]) follower.stop();
        this[HOLDER].letGo(this[REPLICA], this);
    }

    [dispose](): void {
        this.release();
    }
}

/** Names that the language or its tools look for on anything. */
const NO_MEMBERS = new Set(["then", "toJSON", "constructor"]);

/** Members as properties of a reference. */
export function withMembers(reference: Reference): Reference {
    return new Proxy(reference, {
        get(target, key) {
            if (typeof key === "string" && !(key in target))
                return NO_MEMBERS.has(key) ? undefined : target.member(key);
            const own: unknown = Reflect.get(target, key, target);
            return typeof own === "function" ? own.bind(target) : own;
        },
        set: () => false,
    });
}

/** One member of a reference, known by name; what it is shows when the object is live. */
class Member {
    declare reference: Reference;
    declare memberName: string;

    get value(): unknown {
        return this.reference[REPLICA].value(this.memberName);
    }

    get error(): ChordalError | undefined {
        return this.reference[REPLICA].derivesError(this.memberName);
    }

    watch(observer: (frame: Frame) => void): Stop {
        checkFunction("an observer", observer);
        const watch = new Watch(this.reference, this.memberName, observer);
        watch.start();
        return makeStop(() => watch.stop());
    }

    live(query?: object): Reference {
        const { reference } = this;
        if (reference.state === "released") throw new ChordalError(E_RELEASED);
        return reference[HOLDER].live(reference[REPLICA], reference.type, reference.params, this.memberName, query);
    }

    frames(): Frames<any> {
        const frames = new FrameQueue(this.reference, this.memberName);
        frames.start();
        return frames;
    }
}

/** A member can be called, too, and so it is a function; but one with nothing else of a function's. */
function makeMember(reference: Reference, name: string): Member {
    const member = (...args: unknown[]) => reference.call(name as never, args as never);
    Object.setPrototypeOf(member, Member.prototype);
    Object.defineProperty(member, "name", { value: name });
    return Object.assign(member, { reference, memberName: name }) as unknown as Member;
}

function makeStop(stop: () => void): Stop {
    return Object.assign(() => void stop(), { [dispose]: () => void stop() }) as Stop;
}

/** Who follows a member of a reference, as long as the reference is kept. */
abstract class Following implements Follower {
    constructor(
        protected reference: Reference,
        private name: string,
    ) {}

    start(): void {
        if (this.reference.state === "released") throw new ChordalError(E_RELEASED);
        this.reference[FOLLOWING].add(this);
        this.reference[REPLICA].follow(this.name, this);
    }

    stop(): void {
        if (!this.reference[FOLLOWING].delete(this)) return;
        this.reference[REPLICA].unfollow(this.name, this);
        this.ended(undefined);
    }

    end(error: ChordalError | undefined): void {
        this.reference[FOLLOWING].delete(this);
        this.ended(error);
    }

    abstract deliver(frame: Frame): void;
    abstract lags(): boolean;
    abstract ended(error: ChordalError | undefined): void;
}

class Watch extends Following {
    private open = true;

    constructor(
        reference: Reference,
        name: string,
        private observer: (frame: Frame) => void,
    ) {
        super(reference, name);
    }

    deliver(frame: Frame): void {
        this.reference[REPLICA].after(() => {
            if (this.open) this.observer(frame);
        });
    }

    lags(): boolean {
        return false;
    }

    ended(): void {
        this.open = false;
    }
}

/** The frames of a member, one after the other; what comes while nobody asks is folded into one. */
export interface Frames<T> extends AsyncIterableIterator<Frame<T>>, Disposable {
    /** Stop following. */
    stop(): void;
}

interface Asking {
    resolve(result: IteratorResult<Frame>): void;
    reject(error: ChordalError): void;
}

class FrameQueue extends Following implements Frames<any> {
    private waiting: Frame | undefined;
    private lost = false; // until a whole value comes
    private asking: Asking[] = [];
    private done = false;
    private error: ChordalError | undefined;

    deliver(frame: Frame): void {
        if (this.lost && !frame.snapshot) return;
        this.lost = false;
        const asking = this.asking.shift();
        if (asking !== undefined) asking.resolve({ done: false, value: frame });
        else this.wait(frame);
    }

    private wait(frame: Frame): void {
        const replica = this.reference[REPLICA];
        this.waiting = this.waiting === undefined ? frame : this.waiting.fold(frame, replica.keep !== "none");
        this.lost = this.waiting === undefined;
        if (this.lost) replica.reset();
    }

    lags(): boolean {
        return this.waiting !== undefined;
    }

    ended(error: ChordalError | undefined): void {
        this.done = true;
        const isPlainEnd = error === undefined || error.code === E_RELEASED || error.code === E_CLOSED;
        this.error = isPlainEnd ? undefined : error;
        for (const asking of this.asking.splice(0)) this.finish(asking);
    }

    private finish({ resolve, reject }: Asking): void {
        const { error } = this;
        this.error = undefined;
        if (error === undefined) resolve({ done: true, value: undefined });
        else reject(error);
    }

    next(): Promise<IteratorResult<Frame>> {
        const frame = this.waiting;
        if (frame !== undefined) {
            this.waiting = undefined;
            this.reference[REPLICA].take();
            return Promise.resolve({ done: false, value: frame });
        }
        return new Promise((resolve, reject) => {
            if (this.done) this.finish({ resolve, reject });
            else this.asking.push({ resolve, reject });
        });
    }

    return(): Promise<IteratorResult<Frame>> {
        this.waiting = undefined;
        this.stop();
        return Promise.resolve({ done: true, value: undefined });
    }

    [Symbol.asyncIterator](): this {
        return this;
    }

    [dispose](): void {
        this.stop();
    }
}
