// Ops: the steps of a change, as packed bytes and as plain objects (docs/protocol.md, "Ops").

import { Reader, Writer } from "./packed.js";
import {
    ChordalError,
    E_SYNTAX,
    OP_APPEND,
    OP_ASSIGN,
    OP_DELETE,
    OP_ERROR,
    OP_PERMUTE,
    OP_REPLACE,
    OP_SET,
    OP_SPLICE,
    OP_TRUNCATE,
} from "./records.js";
import type { Value } from "./value.js";

/** Where an op applies: array indexes and object keys. */
export type Path = readonly (string | number)[];

/** One step of a change. */
export type Op =
    | { readonly op: "replace" | "set" | "assign"; readonly path: Path; readonly value: Value }
    | { readonly op: "delete"; readonly path: Path }
    | { readonly op: "append"; readonly path: Path; readonly text: string }
    /** Drop UTF-16 units from a string's front. */
    | { readonly op: "truncate"; readonly path: Path; readonly count: number }
    | {
          readonly op: "splice";
          readonly path: Path;
          readonly index: number;
          readonly remove: number;
          readonly values: readonly Value[];
      }
    /** new[i] = old[indexes[i]] */
    | { readonly op: "permute"; readonly path: Path; readonly indexes: readonly number[] };

/** The error that a derive has beside its last value; name "" clears it. */
export interface ErrorOp {
    readonly op: "error";
    readonly member: number;
    readonly code: string;
    readonly message: string;
}

const INLINE = 31; // in the upper five bits: an inline path follows
const OTHERS = 7; // in the lower three bits: an op beyond the seven
const OTHER_ERROR = 1;
const OTHER_ASSIGN = 2;

/** Begin an op: its head byte. The path and the arguments follow. */
export function writeHead(out: Writer, op: number): void {
    out.byte(op === OP_ASSIGN ? (OTHER_ASSIGN << 3) | OTHERS : (INLINE << 3) | op);
}

export function writePath(out: Writer, path: Path): void {
    out.varint(path.length);
    for (const segment of path) {
        if (typeof segment === "number") out.varint(segment * 2);
        else out.text(segment, true);
    }
}

function readPath(reader: Reader): (string | number)[] {
    const path: (string | number)[] = [];
    for (let left = reader.varint(); left > 0; left--) {
        const head = reader.varint();
        path.push(head % 2 === 0 ? head / 2 : reader.key((head - 1) / 2));
    }
    return path;
}

function readMany<T>(reader: Reader, one: () => T): T[] {
    const all: T[] = [];
    for (let left = reader.varint(); left > 0; left--) all.push(one());
    return all;
}

/** The next op. Paths are inline; their first segment is the member. */
export function readOp(reader: Reader): Op | ErrorOp {
    const head = reader.byte();
    const low = head & 7;
    const high = head >> 3;
    if (low === OTHERS) return readOther(reader, high);
    if (high !== INLINE) throw new ChordalError(E_SYNTAX, reader.at - 1);
    const path = readPath(reader);
    switch (low) {
        case OP_REPLACE:
            return { op: "replace", path, value: reader.value() };
        case OP_SET:
            return { op: "set", path, value: reader.value() };
        case OP_DELETE:
            return { op: "delete", path };
        case OP_APPEND:
            return { op: "append", path, text: reader.text() };
        case OP_TRUNCATE:
            return { op: "truncate", path, count: reader.varint() };
        case OP_SPLICE: {
            const index = reader.varint();
            const remove = reader.varint();
            return { op: "splice", path, index, remove, values: readMany(reader, () => reader.value()) };
        }
        default:
            return { op: "permute", path, indexes: readMany(reader, () => reader.varint()) };
    }
}

function readOther(reader: Reader, which: number): Op | ErrorOp {
    if (which === OTHER_ERROR) {
        const member = reader.varint();
        const code = reader.text();
        return { op: "error", member, code, message: reader.text() };
    }
    if (which !== OTHER_ASSIGN) throw new ChordalError(E_SYNTAX, reader.at - 1);
    const path = readPath(reader);
    return { op: "assign", path, value: reader.value() };
}

/** All ops of a change. */
export function readOps(bytes: Uint8Array, freeze = false): (Op | ErrorOp)[] {
    const reader = new Reader(bytes, 0, bytes.length, freeze);
    const ops = [];
    while (reader.at < reader.end) ops.push(readOp(reader));
    return ops;
}

const NUMBERS = {
    replace: OP_REPLACE,
    set: OP_SET,
    delete: OP_DELETE,
    append: OP_APPEND,
    truncate: OP_TRUNCATE,
    splice: OP_SPLICE,
    permute: OP_PERMUTE,
    assign: OP_ASSIGN,
    error: OP_ERROR,
};

export function writeOp(out: Writer, op: Op | ErrorOp): void {
    if (op.op === "error") {
        out.byte((OTHER_ERROR << 3) | OTHERS);
        out.varint(op.member);
        out.text(op.code);
        return out.text(op.message);
    }
    writeHead(out, NUMBERS[op.op]);
    writePath(out, op.path);
    switch (op.op) {
        case "replace":
        case "set":
        case "assign":
            return out.value(op.value);
        case "append":
            return out.text(op.text);
        case "truncate":
            return out.varint(op.count);
        case "splice":
            out.varint(op.index);
            out.varint(op.remove);
            out.varint(op.values.length);
            return op.values.forEach((value) => out.value(value));
        case "permute":
            out.varint(op.indexes.length);
            return op.indexes.forEach((index) => out.varint(index));
    }
}
