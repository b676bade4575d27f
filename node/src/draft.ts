// Drafts: documents as a transaction sees and changes them, like the plain objects and arrays that they are.
//
// A draft is a Proxy that notes each change as a packed op and carries it out on a copy of the containers on the way,
// so that it reads what it wrote. What was removed goes on as a value of its own that nobody else sees.

import { writeHead } from "./ops.js";
import { borrowWriter, returnWriter, type Writer } from "./packed.js";
import {
    ChordalError,
    E_RANGE,
    E_STATE,
    E_TYPE,
    OP_APPEND,
    OP_ASSIGN,
    OP_DELETE,
    OP_PERMUTE,
    OP_REPLACE,
    OP_SET,
    OP_SPLICE,
    OP_TRUNCATE,
} from "./records.js";
import { copyContainer, copyIn, hasKey, isContainer, setKey, shareEqual, type Container, type Value } from "./value.js";

/** A document's value as a transaction may change it. */
export type Draft<T> = T extends readonly (infer Element)[]
    ? Draft<Element>[]
    : T extends object
      ? { -readonly [Key in keyof T]: Draft<T[Key]> }
      : T;

type Key = string | number;

/** Leads from a draft to what it stands for. */
export const PLACE = Symbol("place");

/** Where text can be appended to and cut, by key. */
export interface Place {
    appendText(key: string, text: string): void;
    truncateText(key: string, count: number): void;
}

/** The changes of one object in a transaction. */
export class ChangeLog {
    readonly out = borrowWriter();
    open = true;

    constructor(readonly freeze: boolean) {}

    take(value: unknown): Value {
        return copyIn(value, draftValue, this.freeze);
    }

    /** The ops were taken: there are no more. */
    end(): void {
        this.open = false;
        returnWriter(this.out);
    }
}

/** What stands behind a draft, as an immutable value; undefined for what is no draft. */
function draftValue(value: object): unknown {
    const node = (value as { [PLACE]?: unknown })[PLACE];
    return node instanceof DraftNode ? node.publish() : undefined;
}

/** A document in a transaction. */
export class DraftDocument {
    value: unknown;
    private node: DraftNode | undefined;

    constructor(
        value: unknown,
        readonly member: number,
        readonly log: ChangeLog,
    ) {
        this.value = value;
    }

    read(): unknown {
        if (!isContainer(this.value)) return this.value;
        this.node ??= new DraftNode(this.value, this.log, this, undefined, 0);
        return this.node.proxy;
    }

    write(incoming: unknown): void {
        const fresh = this.log.take(incoming);
        const change = changeOf(this.finish(), fresh, true);
        if (change === undefined) return;
        this.note(change.op, 0);
        change.write(this.log.out);
        this.replace(change.value);
    }

    appendText(text: string): void {
        const old = requireText(this.value);
        this.note(OP_APPEND, 0);
        this.log.out.text(text);
        this.replace(old + text);
    }

    truncateText(count: number): void {
        const left = cutText(this.value, count);
        this.note(OP_TRUNCATE, 0);
        this.log.out.varint(count);
        this.replace(left);
    }

    private replace(value: unknown): void {
        this.node?.detach();
        this.node = undefined;
        this.value = value;
    }

    /** Write an op's head and the beginning of its path: this member; so many segments follow. */
    note(op: number, segments: number): Writer {
        const { out, open } = this.log;
        if (!open) throw new ChordalError(E_STATE, 0, "the transaction has ended");
        writeHead(out, op);
        out.varint(segments + 1);
        out.varint(this.member * 2);
        return out;
    }

    /** The finished value. */
    finish(): unknown {
        return this.node === undefined ? this.value : this.node.publish();
    }
}

interface Change {
    op: number;
    value: unknown;
    write(out: Writer): void;
}

/** How to make one value into another; undefined when they are the same. */
function changeOf(old: unknown, fresh: Value, whole: boolean): Change | undefined {
    if (old === fresh) return undefined;
    if (typeof old === "string" && typeof fresh === "string") {
        const more = fresh.length - old.length;
        if (more > 0 && fresh.slice(0, old.length) === old) {
            return textChange(OP_APPEND, fresh, (out) => out.text(fresh.slice(old.length)));
        }
        if (more < 0 && fresh !== "" && old.slice(-more) === fresh) {
            return textChange(OP_TRUNCATE, fresh, (out) => out.varint(-more));
        }
    } else if (isContainer(old) && isContainer(fresh) && Array.isArray(old) === Array.isArray(fresh)) {
        const value = shareEqual(old, fresh);
        return value === old ? undefined : { op: OP_ASSIGN, value, write: (out) => out.value(value) };
    }
    return { op: whole ? OP_REPLACE : OP_SET, value: fresh, write: (out) => out.value(fresh) };
}

function textChange(op: number, value: string, write: (out: Writer) => void): Change {
    return { op, value, write };
}

function requireText(value: unknown): string {
    if (typeof value !== "string") throw new ChordalError(E_TYPE, 0, "there is no string to change here");
    return value;
}

function cutText(value: unknown, count: number): string {
    const text = requireText(value);
    if (!Number.isSafeInteger(count) || count < 0 || count > text.length) {
        throw new ChordalError(E_RANGE, 0, `${count} of ${text.length} units cannot be cut`);
    }
    return text.slice(count);
}

function writeKey(out: Writer, key: Key): void {
    if (typeof key === "number") out.varint(key * 2);
    else out.text(key, true);
}

/** The index that a property name of an array means; -1 for other names. */
function indexOf(key: string): number {
    const first = key.charCodeAt(0) - 48;
    if (!(first >= 0 && first <= 9)) return -1;
    const index = Number(key);
    return Number.isInteger(index) && index >= 0 && String(index) === key ? index : -1;
}

/** What proxies stand before: they only tell an array from an object. */
const ARRAY: Container = [];
const OBJECT: Container = {};

/** One container in a draft, and the handler of its proxy. */
class DraftNode implements ProxyHandler<Container> {
    readonly proxy: Container;
    private owned = false; // the container is a copy of our own
    private children: Map<Key, DraftNode> | undefined; // drafts that were asked for

    constructor(
        private value: Container,
        private log: ChangeLog,
        private document: DraftDocument | undefined,
        private parent: DraftNode | undefined,
        private key: Key,
    ) {
        this.proxy = new Proxy<Container>(Array.isArray(value) ? ARRAY : OBJECT, this);
    }

    // ---- the tree ----

    /** It was removed: from now on it is a value of its own. */
    detach(): void {
        this.document = this.parent = undefined;
    }

    /** The value, which does not change any more: a later change copies it first. */
    publish(): Container {
        if (!this.owned) return this.value;
        this.owned = false;
        if (this.children !== undefined) for (const child of this.children.values()) child.publish();
        if (this.log.freeze) Object.freeze(this.value);
        return this.value;
    }

    /** Make the container, and all above it, ours to change. */
    private own(): Container {
        if (this.owned) return this.value;
        this.value = copyContainer(this.value);
        this.owned = true;
        if (this.parent !== undefined) put(this.parent.own(), this.key, this.value);
        else if (this.document !== undefined) this.document.value = this.value;
        return this.value;
    }

    /** Write an op on a key of this container, or on itself. */
    private note(op: number, key?: Key): Writer | undefined {
        let segments = key === undefined ? 0 : 1;
        let top: DraftNode = this;
        for (; top.parent !== undefined; top = top.parent) segments++;
        if (top.document === undefined) return undefined;
        const out = top.document.note(op, segments);
        this.writeWay(out);
        if (key !== undefined) writeKey(out, key);
        return out;
    }

    /** The segments from the document to here. */
    private writeWay(out: Writer): void {
        if (this.parent === undefined) return;
        this.parent.writeWay(out);
        writeKey(out, this.key);
    }

    private child(key: Key, value: Container): DraftNode {
        this.children ??= new Map();
        let child = this.children.get(key);
        if (child === undefined) {
            child = new DraftNode(value, this.log, undefined, this, key);
            this.children.set(key, child);
        }
        return child;
    }

    private read(key: Key): unknown {
        const value = (this.value as Record<Key, unknown>)[key];
        return isContainer(value) ? this.child(key, value).proxy : value;
    }

    /** Let go of the draft at a key. */
    private forget(key: Key): void {
        this.children?.get(key)?.detach();
        this.children?.delete(key);
    }

    /** The elements have moved: -1 for those that are gone. */
    private move(to: (index: number) => number): void {
        const before = this.children;
        if (before === undefined) return;
        this.children = new Map();
        for (const child of before.values()) {
            const index = to(child.key as number);
            child.key = index;
            if (index < 0) child.detach();
            else this.children.set(index, child);
        }
    }

    // ---- changes ----

    private change(key: Key, incoming: unknown): void {
        const fresh = this.log.take(incoming);
        this.children?.get(key)?.publish(); // the new value may share parts of the old one
        const old = hasKey(this.value, String(key)) ? (this.value as Record<Key, unknown>)[key] : undefined;
        const change = changeOf(old, fresh, false);
        if (change === undefined) return;
        const out = this.note(change.op, key);
        if (out !== undefined) change.write(out);
        this.forget(key);
        put(this.own(), key, change.value);
    }

    private remove(key: string): void {
        this.note(OP_DELETE, key);
        this.forget(key);
        delete (this.own() as Record<string, unknown>)[key];
    }

    appendText(name: string, text: string): void {
        const [key, old] = this.textAt(name);
        this.note(OP_APPEND, key)?.text(text);
        put(this.own(), key, old + text);
    }

    truncateText(name: string, count: number): void {
        const [key, old] = this.textAt(name);
        const left = cutText(old, count);
        this.note(OP_TRUNCATE, key)?.varint(count);
        put(this.own(), key, left);
    }

    private textAt(name: string): [Key, string] {
        const key = Array.isArray(this.value) ? indexOf(String(name)) : name;
        return [
            key,
            hasKey(this.value, String(key))
                ? requireText((this.value as Record<Key, unknown>)[key])
                : requireText(undefined),
        ];
    }

    splice(index: number, remove: number, incoming: readonly unknown[]): unknown[] {
        const values = incoming.map((value) => this.log.take(value));
        const removed = [];
        for (let i = index; i < index + remove; i++) removed.push(this.read(i));
        if (remove === 0 && values.length === 0) return removed;
        const out = this.note(OP_SPLICE);
        if (out !== undefined) {
            out.varint(index);
            out.varint(remove);
            out.varint(values.length);
            for (const value of values) out.value(value);
        }
        const shift = values.length - remove;
        this.move((at) => (at < index ? at : at < index + remove ? -1 : at + shift));
        (this.own() as unknown[]).splice(index, remove, ...values);
        return removed;
    }

    permute(indexes: readonly number[]): void {
        if (indexes.every((from, to) => from === to)) return;
        const out = this.note(OP_PERMUTE);
        if (out !== undefined) {
            out.varint(indexes.length);
            for (const index of indexes) out.varint(index);
        }
        const old = this.value as unknown[];
        const places: number[] = [];
        indexes.forEach((from, to) => (places[from] = to));
        const now = this.own() as unknown[];
        const before = old === now ? old.slice() : old;
        indexes.forEach((from, to) => (now[to] = before[from]));
        this.move((index) => places[index]!);
    }

    elements(): readonly unknown[] {
        return this.value as unknown[];
    }

    // ---- the proxy ----

    get(_: Container, key: string | symbol): unknown {
        if (typeof key === "symbol") return key === PLACE ? this : Reflect.get(this.value, key);
        if (Array.isArray(this.value)) {
            const index = indexOf(key);
            if (index >= 0) return this.read(index);
            const method = arrayMethods[key];
            if (method !== undefined && hasKey(arrayMethods, key)) return (...args: unknown[]) => method(this, args);
            return Reflect.get(this.value, key);
        }
        return hasKey(this.value, key) ? this.read(key) : Reflect.get(this.value, key);
    }

    set(_: Container, key: string | symbol, value: unknown): boolean {
        if (typeof key === "symbol") throw new ChordalError(E_TYPE, 0, "a symbol is no key");
        if (!Array.isArray(this.value)) this.change(key, value);
        else if (key === "length") this.setLength(value);
        else this.setElement(key, value);
        return true;
    }

    private setElement(key: string, value: unknown): void {
        const index = indexOf(key);
        const { length } = this.value as unknown[];
        if (index < 0) throw new ChordalError(E_TYPE, 0, `an array has no member ${key}`);
        if (index > length) throw new ChordalError(E_RANGE, 0, `${index} is beyond the end of the array`);
        if (index === length) this.splice(index, 0, [value]);
        else this.change(index, value);
    }

    private setLength(length: unknown): void {
        const old = (this.value as unknown[]).length;
        if (typeof length !== "number" || !Number.isInteger(length) || length < 0 || length > old) {
            throw new ChordalError(E_RANGE, 0, "an array cannot have missing elements");
        }
        this.splice(length, old - length, []);
    }

    deleteProperty(_: Container, key: string | symbol): boolean {
        if (typeof key === "symbol" || !hasKey(this.value, key)) return true;
        if (Array.isArray(this.value)) throw new ChordalError(E_TYPE, 0, "to take an element out, use splice");
        this.remove(key);
        return true;
    }

    defineProperty(_: Container, key: string | symbol, property: PropertyDescriptor): boolean {
        return "value" in property && this.set(_, key, property.value);
    }

    has(_: Container, key: string | symbol): boolean {
        return Reflect.has(this.value, key);
    }

    ownKeys(): (string | symbol)[] {
        return Reflect.ownKeys(this.value);
    }

    getOwnPropertyDescriptor(_: Container, key: string | symbol): PropertyDescriptor | undefined {
        const property = Reflect.getOwnPropertyDescriptor(this.value, key);
        if (property === undefined) return undefined;
        const fixed = key === "length" && Array.isArray(this.value);
        const value = typeof key === "string" && !fixed ? this.get(_, key) : property.value;
        return { value, writable: true, enumerable: !fixed, configurable: !fixed };
    }

    setPrototypeOf(): boolean {
        return false;
    }

    preventExtensions(): boolean {
        return false;
    }
}

function put(container: Container, key: Key, value: unknown): void {
    if (Array.isArray(container)) container[key as number] = value;
    else setKey(container, key as string, value);
}

// ---- what changes an array as a whole ----

/** A relative position as Array's methods take it. */
function position(value: unknown, length: number, missing: number): number {
    if (value === undefined) return missing;
    const number = Math.trunc(Number(value)) || 0;
    return number < 0 ? Math.max(0, length + number) : Math.min(number, length);
}

function inTextOrder(a: unknown, b: unknown): number {
    const x = String(a);
    const y = String(b);
    return x < y ? -1 : x > y ? 1 : 0;
}

type ArrayMethod = (node: DraftNode, args: unknown[]) => unknown;

const arrayMethods: Record<string, ArrayMethod> = {
    push(node, values) {
        node.splice(node.elements().length, 0, values);
        return node.elements().length;
    },
    pop(node) {
        const { length } = node.elements();
        return length === 0 ? undefined : node.splice(length - 1, 1, [])[0];
    },
    shift(node) {
        return node.elements().length === 0 ? undefined : node.splice(0, 1, [])[0];
    },
    unshift(node, values) {
        node.splice(0, 0, values);
        return node.elements().length;
    },
    splice(node, args) {
        const { length } = node.elements();
        const index = position(args[0], length, 0);
        const most = args.length === 0 ? 0 : length - index;
        const remove = args.length < 2 ? most : Math.max(0, Math.min(Math.trunc(Number(args[1])) || 0, most));
        return node.splice(index, remove, args.slice(2));
    },
    sort(node, [compare]) {
        const values = node.elements().slice();
        const order = typeof compare === "function" ? (compare as (a: unknown, b: unknown) => number) : inTextOrder;
        node.permute([...values.keys()].sort((a, b) => order(values[a], values[b])));
        return node.proxy;
    },
    reverse(node) {
        node.permute([...node.elements().keys()].reverse());
        return node.proxy;
    },
};

// ---- text ----

function placeOf(draft: object): Place {
    const place = (draft as { [PLACE]?: Place })[PLACE];
    if (place === undefined) throw new ChordalError(E_TYPE, 0, "this is no draft of a transaction");
    return place;
}

/** Append to the string at a key of a draft: what `draft[key] += text` does, without looking at the string. */
export function append<T extends object>(draft: T, key: keyof T & (string | number), text: string): void {
    placeOf(draft).appendText(String(key), requireText(text));
}

/** Drop so many UTF-16 units from the front of the string at a key of a draft. */
export function truncate<T extends object>(draft: T, key: keyof T & (string | number), count: number): void {
    placeOf(draft).truncateText(String(key), count);
}
