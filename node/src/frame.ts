// Frames: what an observer of a member gets for one batch.

import { readOps, type Op } from "./ops.js";
import type { ChordalError } from "./records.js";

/** Ops that wait in one frame, besides a whole value; more of them become "it is now this value". */
const KEPT_BYTES = 1 << 20;

/** A member after one batch, or after several that were folded into one frame. */
export class Frame<T = any> {
    private list: readonly Op[] | undefined;

    /** @internal */
    constructor(
        /** The member's value: immutable, and sharing with the one before what did not change, unless it is held
         * otherwise (`values`, of `get`). */
        readonly value: T,
        /** The number of the provider's commit. */
        readonly commit: number,
        private readonly packed: Uint8Array | undefined,
        /** Whether more than one batch is in this frame. */
        readonly folded = false,
        /** Why the derive could not be computed; its value is then the last good one. */
        readonly error: ChordalError | undefined = undefined,
        /** Whether this is the whole value, not a change of the one before. */
        readonly snapshot = packed === undefined,
        private readonly limit = KEPT_BYTES + (snapshot && packed !== undefined ? packed.length : 0),
    ) {}

    /**
     * The change; paths begin inside the member. A snapshot is one "replace"; without values, what was folded into it
     * follows.
     */
    get ops(): readonly Op[] {
        this.list ??= this.packed === undefined ? [this.whole()] : listed(this.packed);
        return this.list;
    }

    private whole(): Op {
        return { op: "replace", path: [], value: this.value as never };
    }

    /**
     * @internal One frame for this one and the next. Undefined: it would be too long, and without `values` nothing else
     * tells.
     */
    fold(later: Frame<T>, values: boolean): Frame<T> | undefined {
        const { value, commit, error } = later;
        if (later.snapshot) return new Frame(value, commit, later.packed, true, error, true);
        if (this.packed === undefined || later.packed === undefined)
            return new Frame(value, commit, undefined, true, error);
        if (this.packed.length + later.packed.length > this.limit) {
            return values ? new Frame(value, commit, undefined, true, error) : undefined;
        }
        return new Frame(value, commit, joined(this.packed, later.packed), true, error, this.snapshot, this.limit);
    }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
    const both = new Uint8Array(first.length + second.length);
    both.set(first);
    both.set(second, first.length);
    return both;
}

function listed(packed: Uint8Array): Op[] {
    const ops: Op[] = [];
    for (const op of readOps(packed)) {
        if (op.op !== "error") ops.push({ ...op, path: op.path.slice(1) });
    }
    return ops;
}
