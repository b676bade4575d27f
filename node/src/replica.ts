// What a host keeps of one object that it holds: its state, and the values, patched by ops. Nothing of it is kept in
// the core as well. References to the same object share one replica.

import { DeriveError } from "./errors.js";
import { Frame } from "./frame.js";
import { unpack } from "./packed.js";
import { patchMember, type PatchOptions } from "./patch.js";
import type { Pump } from "./pump.js";
import type { Core } from "./core.js";
import type { Link } from "./link.js";
import {
    ChordalError,
    E_NO_MEMBER,
    E_RELEASED,
    E_RETIRED,
    E_STATE,
    FRAME_FOLDED,
    FRAME_SNAPSHOT,
    MEMBER_DERIVE,
    MEMBER_DOCUMENT,
    REFERENCE_LIVE,
    type FrameEvent,
    type ReferenceEvent,
} from "./records.js";

/**
 * pending: asked for. live: values are current. down: no link; the last values stay readable, calls wait. The others
 * are its ends: failed (`retry` asks again), retired, revoked, released.
 */
export type ReferenceState = "pending" | "live" | "down" | "failed" | "retired" | "revoked" | "released";

const STATES: readonly ReferenceState[] = [
    "released",
    "pending",
    "live",
    "down",
    "failed",
    "retired",
    "revoked",
    "released",
];

/** How a reference keeps values. */
export type KeepValues = "shared" | "in-place" | "none";

/** Who gets the frames of a member. */
export interface Follower {
    deliver(frame: Frame): void;
    /** Whether it has a frame that it did not take yet. */
    lags(): boolean;
    end(error: ChordalError | undefined): void;
}

interface Waiting {
    resolve(): void;
    reject(error: ChordalError): void;
}

export class Replica {
    id = 0; // once the host is open
    state: ReferenceState = "pending";
    error: ChordalError | undefined;
    /** Asks the core for the object. */
    ask: () => void = () => {};
    /** The references that share this. */
    handles = 0;
    readonly stateWatchers = new Set<() => void>();
    private names: Map<string, number> | undefined; // members, once the object was live
    private labels: string[] = [];
    private isState: boolean[] = [];
    private values: unknown[] = [];
    private has: boolean[] = [];
    private errors: (ChordalError | undefined)[] = [];
    private commit = 0;
    private followers = new Map<string, Set<Follower>>();
    private waiting: Waiting[] = [];
    private untaken = false;
    private options: PatchOptions;

    constructor(
        private readonly host: { readonly core: Core; readonly pump: Pump },
        readonly keep: KeepValues,
        freeze: boolean,
        private readonly manual: boolean,
        /** Over which it was asked for; undefined: the host chose. */
        readonly link: Link | undefined,
    ) {
        this.options = { freeze: freeze && keep === "shared", inPlace: keep === "in-place" };
    }

    // ---- state ----

    onReference(event: ReferenceEvent): void {
        if (event.state === REFERENCE_LIVE) this.bind(unpack(event.members) as [string, number][]);
        this.change(STATES[event.state]!, event.code ? new ChordalError(event.code, 0, event.detail) : undefined);
    }

    change(state: ReferenceState, error: ChordalError | undefined): void {
        if (this.state === "released") return;
        this.state = state;
        this.error = error;
        for (const tell of [...this.stateWatchers]) this.host.pump.after(tell);
        this.settleWaiting();
        if (this.dead() !== undefined) this.endAll();
    }

    /** Why the object can be held no longer. */
    dead(): ChordalError | undefined {
        switch (this.state) {
            case "failed":
            case "revoked":
                return this.error ?? new ChordalError(E_STATE, 0, this.state);
            case "retired":
                return this.error ?? new ChordalError(E_RETIRED);
            case "released":
                return this.error ?? new ChordalError(E_RELEASED);
            default:
                return undefined;
        }
    }

    private settleWaiting(): void {
        const error = this.dead();
        if (error === undefined && this.state !== "live") return;
        const waiting = this.waiting;
        this.waiting = [];
        for (const one of waiting) {
            if (error === undefined) one.resolve();
            else one.reject(error);
        }
    }

    live(): Promise<void> {
        return new Promise((resolve, reject) => {
            this.waiting.push({ resolve, reject });
            this.settleWaiting();
        });
    }

    private bind(table: [string, number][]): void {
        if (table.length === this.labels.length && table.every(([name], index) => name === this.labels[index])) return;
        this.labels = table.map(([name]) => name);
        this.names = new Map(this.labels.map((name, index) => [name, index]));
        this.isState = table.map(([, kind]) => kind === MEMBER_DOCUMENT || kind === MEMBER_DERIVE);
        for (const [name, followers] of this.followers) {
            const index = this.names.get(name);
            if (index === undefined || !this.isState[index]) this.endThese(followers, noMember(name));
        }
    }

    // ---- values ----

    /** The number of a document or derive; undefined while the object was never live. */
    private member(name: string): number | undefined {
        if (this.names === undefined) return undefined;
        const index = this.names.get(name);
        if (index === undefined || !this.isState[index]) throw noMember(name);
        return index;
    }

    value(name: string): unknown {
        const index = this.member(name);
        return index === undefined ? undefined : this.values[index];
    }

    derivesError(name: string): ChordalError | undefined {
        const index = this.member(name);
        return index === undefined ? undefined : this.errors[index];
    }

    onFrame(event: FrameEvent): void {
        const { member, ops } = event;
        const whole = (event.flags & FRAME_SNAPSHOT) !== 0;
        if (!this.patch(member, ops, whole, event.code)) return;
        this.commit = Number(event.commit);
        this.has[member] = true;
        this.untaken = this.manual;
        const followers = this.followers.get(this.labels[member] ?? "");
        if (followers !== undefined) {
            const kept = whole && this.keep !== "none" ? undefined : ops.slice();
            const folded = (event.flags & FRAME_FOLDED) !== 0;
            const frame = new Frame(this.values[member], this.commit, kept, folded, this.errors[member], whole);
            const [first] = followers;
            if (followers.size === 1) first!.deliver(frame);
            else for (const follower of [...followers]) follower.deliver(frame);
        }
        if (this.untaken) this.host.pump.after(() => this.take());
    }

    /** Bring a member's value and error up to date; false when its ops do not fit, and the whole value will follow. */
    private patch(member: number, ops: Uint8Array, whole: boolean, code: number): boolean {
        if (this.keep === "none") return true;
        let error = whole ? undefined : this.errors[member];
        try {
            const patched = patchMember(whole ? undefined : this.values[member], member, ops, this.options);
            this.values[member] = patched.value;
            const told = patched.error;
            if (told !== undefined) error = told.code === "" ? undefined : new DeriveError(told.code, told.message);
            else if (code !== 0) error ??= new ChordalError(code);
        } catch (reason) {
            if (!(reason instanceof ChordalError)) throw reason;
            this.reset();
            return false;
        }
        this.errors[member] = error;
        return true;
    }

    /** Ask for whole values. */
    reset(): void {
        const { core, pump } = this.host;
        if (this.state === "released" || core.closed) return;
        core.flat.watch_reset(core.host, this.id);
        pump.wake();
    }

    // ---- who follows ----

    follow(name: string, follower: Follower): void {
        const dead = this.dead();
        if (dead !== undefined) throw dead;
        const index = this.member(name);
        let followers = this.followers.get(name);
        if (followers === undefined) this.followers.set(name, (followers = new Set()));
        followers.add(follower);
        if (index === undefined || !this.has[index] || this.keep === "none") return;
        follower.deliver(new Frame(this.values[index], this.commit, undefined, false, this.errors[index]));
    }

    unfollow(name: string, follower: Follower): void {
        const followers = this.followers.get(name);
        followers?.delete(follower);
        if (followers?.size === 0) this.followers.delete(name);
        this.take();
    }

    /** Do a step when the events at hand are handled. */
    after(step: () => void): void {
        this.host.pump.after(step);
    }

    /** Tell the core that the frames were taken, once all followers have. */
    take(): void {
        const { core, pump } = this.host;
        if (!this.untaken || this.state === "released" || core.closed) return;
        for (const followers of this.followers.values()) {
            for (const follower of followers) if (follower.lags()) return;
        }
        this.untaken = false;
        core.flat.watch_take(core.host, this.id);
        pump.wake();
    }

    private endThese(followers: Iterable<Follower>, error: ChordalError | undefined): void {
        for (const follower of [...followers]) follower.end(error);
    }

    /** No more frames will come. */
    private endAll(): void {
        const error = this.state === "retired" ? undefined : this.dead();
        const all = [...this.followers.values()];
        this.followers.clear();
        for (const followers of all) this.endThese(followers, error);
    }

    /** Give the object back. The last values stay readable. */
    release(reason?: ChordalError): void {
        if (this.state === "released") return;
        this.change("released", reason);
        if (this.id !== 0) this.host.core.release(this.id);
    }
}

function noMember(name: string): ChordalError {
    return new ChordalError(E_NO_MEMBER, 0, `the object has no document or derive ${name}`);
}
