// Frames: what an observer of a member gets for one batch.

import { readOps, type Op } from "./ops.js";
import type { ChordalError } from "./records.js";

const KEPT_BYTES = 1 << 20; // ops that wait in one frame; more of them become "it is now this value"

/** A member after one batch, or after several that were folded into one frame. */
export class Frame<T = any> {
    private list: readonly Op[] | undefined;

    /** @internal */
    constructor(
        /** The member's value: immutable, and sharing with the one before what did not change. */
        readonly value: T,
        /** The number of the provider's commit. */
        readonly commit: number,
        private readonly packed: Uint8Array | undefined,
        /** Whether more than one batch is in this frame. */
        readonly folded = false,
        /** Why the derive could not be computed; its value is then the last good one. */
        readonly error: ChordalError | undefined = undefined,
    ) {}

    /** Whether this is the whole value, not a change of the one before. */
    get snapshot(): boolean {
        return this.packed === undefined;
    }

    /** The change; paths begin inside the member. A snapshot is one "replace". */
    get ops(): readonly Op[] {
        this.list ??= this.packed === undefined ? [this.whole()] : listed(this.packed);
        return this.list;
    }

    private whole(): Op {
        return { op: "replace", path: [], value: this.value as never };
    }

    /** @internal One frame for this one and the next. */
    fold(later: Frame<T>): Frame<T> {
        let ops: Uint8Array | undefined;
        if (this.packed !== undefined && later.packed !== undefined) ops = joined(this.packed, later.packed);
        return new Frame(later.value, later.commit, ops, true, later.error);
    }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array | undefined {
    const length = first.length + second.length;
    if (length > KEPT_BYTES) return undefined;
    const both = new Uint8Array(length);
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
