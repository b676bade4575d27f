// Applying ops to native values: the containers on a changed path are copied once, all others are shared.

import { readOp, type ErrorOp, type Op, type Path } from "./ops.js";
import { Reader } from "./packed.js";
import { ChordalError, E_PATH, E_PERMUTATION, E_RANGE, E_TYPE } from "./records.js";
import { copyContainer, hasKey, isContainer, setKey, type Container, type Value } from "./value.js";

/** How values are kept: frozen, or changed in place instead of being copied. */
export interface PatchOptions {
    freeze?: boolean;
    inPlace?: boolean;
}

type Segment = string | number;

function refuse(code: number): never {
    throw new ChordalError(code);
}

/** An index of an array, up to the largest that is allowed. */
function indexUpTo(most: number, segment: Segment): number {
    if (typeof segment !== "number") return refuse(E_TYPE);
    return segment <= most ? segment : refuse(E_RANGE);
}

/** One change of several members' values, which stay as they are until it is through. */
export class Patch {
    private fresh = new Set<Container>();

    /** `values` is changed; what is inside of it only `inPlace`. */
    constructor(
        readonly values: unknown[],
        private inPlace = false,
    ) {}

    apply(op: Op | ErrorOp): void {
        if (op.op === "error") return;
        const { path } = op;
        if (path.length < 1 || typeof path[0] !== "number" || path[0] >= this.values.length) refuse(E_PATH);
        const last = path[path.length - 1]!;
        switch (op.op) {
            case "replace":
                if (path.length !== 1) refuse(E_PATH);
                this.values[path[0]] = op.value;
                break;
            case "set":
            case "assign":
                this.set(this.holder(path), last, op.value);
                break;
            case "delete":
                if (path.length === 1) refuse(E_PATH);
                this.remove(this.holder(path), last);
                break;
            case "append":
                this.setText(path, this.text(path) + op.text);
                break;
            case "truncate":
                this.setText(path, this.cut(this.text(path), op.count));
                break;
            case "splice":
                this.splice(this.array(path), op.index, op.remove, op.values);
                break;
            case "permute":
                this.permute(this.array(path), op.indexes);
                break;
        }
    }

    /** All containers that this change made. */
    freeze(): void {
        for (const container of this.fresh) Object.freeze(container);
    }

    /** The container at a place, of our own; it is copied if it is shared. */
    private own(holder: Container, segment: Segment): Container {
        if (Array.isArray(holder) && typeof segment === "number" && segment >= holder.length) refuse(E_PATH);
        const value = this.read(holder, segment);
        if (!isContainer(value)) return refuse(E_PATH);
        if (this.inPlace || this.fresh.has(value)) return value;
        const copy = copyContainer(value);
        this.fresh.add(copy);
        if (Array.isArray(holder)) holder[segment as number] = copy;
        else setKey(holder, segment as string, copy);
        return copy;
    }

    /** The container of the last segment; the list of members for a path of one. */
    private holder(path: Path): Container {
        let holder: Container = this.values;
        for (let i = 0; i + 1 < path.length; i++) holder = this.own(holder, path[i]!);
        return holder;
    }

    private read(holder: Container, segment: Segment): unknown {
        if (Array.isArray(holder)) return holder[indexUpTo(holder.length - 1, segment)];
        if (typeof segment !== "string") return refuse(E_TYPE);
        return hasKey(holder, segment) ? holder[segment] : refuse(E_PATH);
    }

    private set(holder: Container, segment: Segment, value: unknown): void {
        if (Array.isArray(holder)) {
            const most = holder === this.values ? holder.length - 1 : holder.length;
            holder[indexUpTo(most, segment)] = value;
        } else if (typeof segment === "string") {
            setKey(holder, segment, value);
        } else {
            refuse(E_TYPE);
        }
    }

    private remove(holder: Container, segment: Segment): void {
        this.read(holder, segment);
        if (Array.isArray(holder)) holder.splice(segment as number, 1);
        else delete holder[segment as string];
    }

    private text(path: Path): string {
        const value = this.read(this.holder(path), path[path.length - 1]!);
        return typeof value === "string" ? value : refuse(E_TYPE);
    }

    private setText(path: Path, text: string): void {
        this.set(this.holder(path), path[path.length - 1]!, text);
    }

    private cut(text: string, count: number): string {
        return count <= text.length ? text.slice(count) : refuse(E_RANGE);
    }

    private array(path: Path): unknown[] {
        const holder = this.holder(path);
        const last = path[path.length - 1]!;
        return Array.isArray(this.read(holder, last)) ? (this.own(holder, last) as unknown[]) : refuse(E_TYPE);
    }

    private splice(array: unknown[], index: number, remove: number, values: readonly Value[]): void {
        if (index > array.length || remove > array.length - index) refuse(E_RANGE);
        if (values.length < 10000) {
            array.splice(index, remove, ...values);
            return;
        }
        const tail = array.slice(index + remove);
        array.length = index;
        for (const value of values) array.push(value);
        for (const value of tail) array.push(value);
    }

    private permute(array: unknown[], indexes: readonly number[]): void {
        const old = array.slice();
        const seen = new Uint8Array(old.length);
        if (indexes.length !== old.length) refuse(E_PERMUTATION);
        for (const index of indexes) {
            if (index >= old.length || seen[index]) refuse(E_PERMUTATION);
            seen[index] = 1;
        }
        for (let i = 0; i < old.length; i++) array[i] = old[indexes[i]!];
    }
}

/** A change of several members: their new values. Refused, without any effect: TYPE, PATH, RANGE, PERMUTATION. */
export function applyOps(
    values: readonly unknown[],
    ops: Iterable<Op | ErrorOp>,
    options: PatchOptions = {},
): unknown[] {
    const patch = new Patch(values.slice(), options.inPlace);
    for (const op of ops) patch.apply(op);
    if (options.freeze) patch.freeze();
    return patch.values;
}

/** What a frame brought: the member's new value, and the error that it told of. */
export interface Patched {
    value: unknown;
    error: ErrorOp | undefined;
}

/** Apply the packed ops of one member's frame. A snapshot needs no value. */
export function patchMember(value: unknown, member: number, bytes: Uint8Array, options: PatchOptions): Patched {
    const members = new Array<unknown>(member + 1);
    members[member] = value;
    const patch = new Patch(members, options.inPlace);
    const reader = new Reader(bytes, 0, bytes.length, options.freeze);
    let error: ErrorOp | undefined;
    while (reader.at < reader.end) {
        const op = readOp(reader);
        if (op.op === "error") error = op;
        else patch.apply(op);
    }
    if (options.freeze) patch.freeze();
    return { value: members[member], error };
}
