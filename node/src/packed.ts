// Native values as packed bytes, and back: the binary value encoding of docs/protocol.md, a subset of MessagePack.
//
// The reader trusts its input to be what the core writes, as far as memory is concerned it trusts nobody.

import { ChordalError, E_DEPTH, E_SYNTAX, E_TRAILING, E_TRUNCATED, E_TYPE } from "./records.js";
import { decodeText, encodeText } from "./text.js";
import { canonicalNumber, DEPTH_LIMIT, isPlain, refuseClass, setKey, type Value } from "./value.js";

const encoder = new TextEncoder();
const LONE_SURROGATE = /\p{Surrogate}/u;
const SHORT = 40; // below this a plain loop is faster than an encoder
const FIRST_SIZE = 1024;
const KEPT_SIZE = 1 << 20; // a larger buffer is not kept for the next use

/** A growing buffer. */
export class Writer {
    bytes = new Uint8Array(FIRST_SIZE);
    private view = new DataView(this.bytes.buffer);
    at = 0;
    /** Whether values may have bytes in them: rows. */
    bytesAllowed = false;

    /** Start anew. */
    reset(): this {
        if (this.bytes.length > KEPT_SIZE) this.use(new Uint8Array(FIRST_SIZE));
        this.at = 0;
        this.bytesAllowed = false;
        return this;
    }

    /** A copy of what was written. */
    take(): Uint8Array {
        return this.bytes.slice(0, this.at);
    }

    private use(bytes: Uint8Array<ArrayBuffer>): void {
        this.bytes = bytes;
        this.view = new DataView(bytes.buffer);
    }

    private room(size: number): void {
        if (this.at + size <= this.bytes.length) return;
        const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.at + size));
        larger.set(this.bytes.subarray(0, this.at));
        this.use(larger);
    }

    byte(byte: number): void {
        this.room(1);
        this.bytes[this.at++] = byte;
    }

    varint(number: number): void {
        this.room(8);
        while (number >= 0x80) {
            this.bytes[this.at++] = (number % 0x80) | 0x80;
            number = Math.floor(number / 0x80);
        }
        this.bytes[this.at++] = number;
    }

    raw(bytes: Uint8Array): void {
        this.room(bytes.length);
        this.bytes.set(bytes, this.at);
        this.at += bytes.length;
    }

    /** What another one has. */
    append(other: Writer): void {
        const { at, bytes } = other;
        if (at > SHORT) return this.raw(lent(other));
        this.room(at);
        for (let i = 0; i < at; i++) this.bytes[this.at++] = bytes[i]!;
    }

    /** Text behind its length as a varint, or as a path's key: length * 2 + 1. */
    text(text: string, isKey = false): void {
        const { length } = text;
        if (length < SHORT && this.asciiAt(text, this.at + 1)) {
            this.bytes[this.at] = isKey ? length * 2 + 1 : length;
            this.at += 1 + length;
            return;
        }
        const bytes = encodeText(text);
        this.varint(isKey ? bytes.length * 2 + 1 : bytes.length);
        this.raw(bytes);
    }

    /** Put short text at a place before anything is put there; false when it is not plain ASCII. */
    private asciiAt(text: string, at: number): boolean {
        const { length } = text;
        this.room(at - this.at + length);
        const { bytes } = this;
        for (let i = 0; i < length; i++) {
            const unit = text.charCodeAt(i);
            if (unit >= 0x80) return false;
            bytes[at++] = unit;
        }
        return true;
    }

    value(value: unknown, depth = 0): void {
        switch (typeof value) {
            case "string":
                return this.string(value);
            case "number":
                return this.number(value);
            case "boolean":
                return this.byte(value ? 0xc3 : 0xc2);
            case "bigint":
                return this.bigint(value);
            case "object":
                return value === null ? this.byte(0xc0) : this.container(value, depth + 1);
            default:
                throw new ChordalError(E_TYPE, 0, `${typeof value} is not a value`);
        }
    }

    private container(value: object, depth: number): void {
        if (depth > DEPTH_LIMIT) throw new ChordalError(E_DEPTH, 0, "nested too deep, or a cycle");
        if (Array.isArray(value)) return this.array(value, depth);
        if (this.bytesAllowed && value instanceof Uint8Array) return this.bin(value);
        if (!isPlain(value)) refuseClass(value);
        const keys = Object.keys(value);
        this.head(keys.length, 0x80, 15, 0xde);
        for (const key of keys) {
            this.string(key);
            this.value((value as Record<string, unknown>)[key], depth);
        }
    }

    private array(value: readonly unknown[], depth: number): void {
        this.head(value.length, 0x90, 15, 0xdc);
        for (let i = 0; i < value.length; i++) this.value(value[i], depth);
    }

    /** The arguments of a call: values, and bytes, which travel raw. */
    args(values: readonly unknown[]): void {
        this.head(values.length, 0x90, 15, 0xdc);
        for (const value of values) {
            if (value instanceof Uint8Array) this.bin(value);
            else this.value(value, 1);
        }
    }

    private bin(bytes: Uint8Array): void {
        this.room(5);
        this.bytes[this.at++] = bytes.length < 0x100 ? 0xc4 : bytes.length < 0x10000 ? 0xc5 : 0xc6;
        if (bytes.length < 0x100) this.bytes[this.at++] = bytes.length;
        else if (bytes.length < 0x10000) this.put16(bytes.length);
        else this.put32(bytes.length);
        this.raw(bytes);
    }

    private put16(number: number): void {
        this.view.setUint16(this.at, number);
        this.at += 2;
    }

    private put32(number: number): void {
        this.view.setUint32(this.at, number);
        this.at += 4;
    }

    /** A length: inside the first byte up to `most`, else as 16 or 32 bits behind `wide` or the one after it. */
    private head(length: number, fixed: number, most: number, wide: number): void {
        this.room(5);
        if (length <= most) {
            this.bytes[this.at++] = fixed | length;
        } else if (length < 0x10000) {
            this.bytes[this.at++] = wide;
            this.put16(length);
        } else {
            this.bytes[this.at++] = wide + 1;
            this.put32(length);
        }
    }

    private number(value: number): void {
        if (!Number.isSafeInteger(value)) return this.double(value);
        this.room(9);
        if (value >= 0) this.positive(value);
        else this.negative(value);
    }

    private double(value: number): void {
        const canonical = canonicalNumber(value);
        if (typeof canonical === "bigint") return this.bigint(canonical);
        this.room(9);
        this.bytes[this.at] = 0xcb;
        this.view.setFloat64(this.at + 1, value);
        this.at += 9;
    }

    private positive(value: number): void {
        if (value < 0x80) {
            this.bytes[this.at++] = value;
        } else if (value < 0x100) {
            this.bytes[this.at++] = 0xcc;
            this.bytes[this.at++] = value;
        } else if (value < 0x10000) {
            this.bytes[this.at++] = 0xcd;
            this.put16(value);
        } else if (value < 0x100000000) {
            this.bytes[this.at++] = 0xce;
            this.put32(value);
        } else {
            this.bytes[this.at++] = 0xcf;
            this.put32(Math.floor(value / 0x100000000));
            this.put32(value >>> 0);
        }
    }

    private negative(value: number): void {
        if (value >= -0x20) {
            this.bytes[this.at++] = value;
        } else if (value >= -0x80) {
            this.bytes[this.at++] = 0xd0;
            this.bytes[this.at++] = value;
        } else if (value >= -0x8000) {
            this.bytes[this.at++] = 0xd1;
            this.put16(value);
        } else if (value >= -0x80000000) {
            this.bytes[this.at++] = 0xd2;
            this.put32(value);
        } else {
            this.bytes[this.at++] = 0xd3;
            this.put32(Math.floor(value / 0x100000000));
            this.put32(value >>> 0);
        }
    }

    private bigint(value: bigint): void {
        const canonical = canonicalNumber(value);
        if (typeof canonical === "number") return this.number(canonical);
        this.room(9);
        this.bytes[this.at] = value < 0n ? 0xd3 : 0xcf;
        this.view.setBigUint64(this.at + 1, BigInt.asUintN(64, value));
        this.at += 9;
    }

    private string(text: string): void {
        const { length } = text;
        if (length < SHORT && this.asciiAt(text, this.at + headSize(length))) {
            this.stringHead(length);
            this.at += length;
            return;
        }
        this.room(5 + 3 * length);
        const guess = headSize(length);
        const { written } = encoder.encodeInto(text, this.bytes.subarray(this.at + guess));
        if (written !== length && LONE_SURROGATE.test(text)) return this.oddString(text);
        const size = headSize(written);
        const start = this.at + guess;
        if (size !== guess) this.bytes.copyWithin(this.at + size, start, start + written);
        this.stringHead(written);
        this.at += written;
    }

    private oddString(text: string): void {
        const bytes = encodeText(text);
        this.stringHead(bytes.length);
        this.raw(bytes);
    }

    private stringHead(length: number): void {
        if (length < 32 || length >= 0x100) return this.head(length, 0xa0, 31, 0xda);
        this.room(2);
        this.bytes[this.at++] = 0xd9;
        this.bytes[this.at++] = length;
    }
}

function headSize(length: number): number {
    return length < 32 ? 1 : length < 0x100 ? 2 : length < 0x10000 ? 3 : 5;
}

/** Keys recur: those of before, in ASCII, are found again by a few of their bytes. */
const keys: string[] = new Array<string>(512).fill("");
const LONGEST_KEY = 24;

function decodeKey(bytes: Uint8Array, start: number, end: number): string {
    const length = end - start;
    if (length === 0 || length > LONGEST_KEY) return decodeText(bytes, start, end);
    const slot = (bytes[start]! * 31 + bytes[end - 1]! * 7 + bytes[start + (length >> 1)]! + length) & 511;
    const known = keys[slot]!;
    if (known.length === length) {
        let i = 0;
        while (i < length && known.charCodeAt(i) === bytes[start + i]) i++;
        if (i === length) return known;
    }
    const key = asKey(decodeText(bytes, start, end));
    if (key.length === length) keys[slot] = key; // else a character takes several bytes
    return key;
}

/** The same text as the one that objects have for a key: with it they need not look it up. */
function asKey(text: string): string {
    return Object.keys({ [text]: 0 })[0]!;
}

/** Reads what lies in a stretch of bytes. */
export class Reader {
    private laidView: DataView | undefined;

    constructor(
        private bytes: Uint8Array,
        public at = 0,
        public end = bytes.length,
        private freeze = false,
        /** Whether values may have bytes in them: rows. */
        private bytesAllowed = false,
    ) {}

    /** Made when it is needed, which it rarely is. */
    private get view(): DataView {
        const { bytes } = this;
        this.laidView ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        return this.laidView;
    }

    /** The place of the next `size` bytes. */
    private skip(size: number): number {
        const { at } = this;
        if (size > this.end - at) throw new ChordalError(E_TRUNCATED, this.end);
        this.at = at + size;
        return at;
    }

    byte(): number {
        return this.bytes[this.skip(1)]!;
    }

    varint(): number {
        let number = 0;
        for (let scale = 1; ; scale *= 0x80) {
            const byte = this.byte();
            number += (byte & 0x7f) * scale;
            if (byte < 0x80) return number;
            if (scale > 2 ** 46) throw new ChordalError(E_SYNTAX, this.at - 1);
        }
    }

    /** Text behind its length. */
    text(length = this.varint()): string {
        const start = this.skip(length);
        return decodeText(this.bytes, start, start + length);
    }

    key(length: number): string {
        const start = this.skip(length);
        return decodeKey(this.bytes, start, start + length);
    }

    value(depth = 0): Value {
        const byte = this.byte();
        if (byte < 0x80) return byte;
        if (byte < 0x90) return this.object(byte & 0x0f, depth);
        if (byte < 0xa0) return this.array(byte & 0x0f, depth);
        if (byte < 0xc0) return this.text(byte & 0x1f);
        if (byte >= 0xe0) return byte - 0x100;
        return this.wide(byte, depth);
    }

    private wide(byte: number, depth: number): Value {
        switch (byte) {
            case 0xc0:
                return null;
            case 0xc2:
                return false;
            case 0xc3:
                return true;
            case 0xca:
                return canonicalNumber(this.view.getFloat32(this.skip(4)));
            case 0xcb:
                return canonicalNumber(this.view.getFloat64(this.skip(8)));
            case 0xcc:
                return this.byte();
            case 0xcd:
                return this.view.getUint16(this.skip(2));
            case 0xce:
                return this.view.getUint32(this.skip(4));
            case 0xcf:
                return canonicalNumber(this.view.getBigUint64(this.skip(8)));
            case 0xd0:
                return this.view.getInt8(this.skip(1));
            case 0xd1:
                return this.view.getInt16(this.skip(2));
            case 0xd2:
                return this.view.getInt32(this.skip(4));
            case 0xd3:
                return canonicalNumber(this.view.getBigInt64(this.skip(8)));
            case 0xd9:
                return this.text(this.byte());
            case 0xda:
                return this.text(this.view.getUint16(this.skip(2)));
            case 0xdb:
                return this.text(this.view.getUint32(this.skip(4)));
            case 0xdc:
                return this.array(this.view.getUint16(this.skip(2)), depth);
            case 0xdd:
                return this.array(this.view.getUint32(this.skip(4)), depth);
            case 0xde:
                return this.object(this.view.getUint16(this.skip(2)), depth);
            case 0xdf:
                return this.object(this.view.getUint32(this.skip(4)), depth);
            default:
                if (!this.bytesAllowed || byte < 0xc4 || byte > 0xc6) throw new ChordalError(E_SYNTAX, this.at - 1);
                return this.bin(byte) as unknown as Value;
        }
    }

    private array(length: number, depth: number): Value {
        this.enter(length, depth);
        const array: Value[] = [];
        for (let i = 0; i < length; i++) array.push(this.value(depth + 1));
        return this.freeze ? Object.freeze(array) : array;
    }

    private object(length: number, depth: number): Value {
        this.enter(length * 2, depth);
        const object: Record<string, Value> = {};
        for (let i = 0; i < length; i++) {
            const key = this.key(this.stringLength());
            setKey(object, key, this.value(depth + 1));
        }
        return this.freeze ? Object.freeze(object) : object;
    }

    /** A container of so many members, of a byte at least each, begins. */
    private enter(least: number, depth: number): void {
        if (least > this.end - this.at) throw new ChordalError(E_TRUNCATED, this.end);
        if (depth >= DEPTH_LIMIT) throw new ChordalError(E_DEPTH, this.at - 1);
    }

    private stringLength(): number {
        const byte = this.byte();
        if (byte >= 0xa0 && byte < 0xc0) return byte & 0x1f;
        if (byte === 0xd9) return this.byte();
        if (byte === 0xda) return this.view.getUint16(this.skip(2));
        if (byte === 0xdb) return this.view.getUint32(this.skip(4));
        throw new ChordalError(E_SYNTAX, this.at - 1);
    }

    /** A value, or bytes (a copy). */
    argument(): Value | Uint8Array {
        const byte = this.bytes[this.at]!;
        if (byte < 0xc4 || byte > 0xc6) return this.value(1);
        this.skip(1);
        return this.bin(byte);
    }

    private bin(byte: number): Uint8Array {
        const { view } = this;
        const length =
            byte === 0xc4 ? this.byte() : byte === 0xc5 ? view.getUint16(this.skip(2)) : view.getUint32(this.skip(4));
        const start = this.skip(length);
        return this.bytes.slice(start, start + length);
    }

    arrayLength(): number {
        const byte = this.byte();
        if (byte >= 0x90 && byte < 0xa0) return byte & 0x0f;
        if (byte === 0xdc) return this.view.getUint16(this.skip(2));
        if (byte === 0xdd) return this.view.getUint32(this.skip(4));
        throw new ChordalError(E_TYPE, this.at - 1);
    }

    finish(): void {
        if (this.at !== this.end) throw new ChordalError(E_TRAILING, this.at);
    }
}

/** Writers that nobody uses now. */
const idle: Writer[] = [];
const MOST_IDLE = 16;

/** An empty writer; give it back by `returnWriter`, or forget it. */
export function borrowWriter(): Writer {
    return idle.pop()?.reset() ?? new Writer();
}

export function returnWriter(writer: Writer): void {
    if (idle.length < MOST_IDLE) idle.push(writer);
}

/** What was written, to be read before the writer is used again. */
export function lent(writer: Writer): Uint8Array {
    return writer.bytes.subarray(0, writer.at);
}

/** Let `use` have what `write` writes; it keeps nothing of it. A copy would be memory outside of V8's heap. */
export function lend<T>(write: (writer: Writer) => void, use: (bytes: Uint8Array) => T): T {
    const writer = borrowWriter();
    write(writer);
    const result = use(lent(writer));
    returnWriter(writer);
    return result;
}

/** What `write` writes. */
export function written(write: (writer: Writer) => void): Uint8Array {
    const writer = borrowWriter();
    write(writer);
    const bytes = writer.take();
    returnWriter(writer);
    return bytes;
}

/** A native value as packed bytes. Refuses what is no value: NUMBER, TYPE, DEPTH (cycles, too). */
export function pack(value: unknown): Uint8Array {
    return written((writer) => writer.value(value));
}

export function packArguments(values: readonly unknown[]): Uint8Array {
    return written((writer) => writer.args(values));
}

export function unpack(bytes: Uint8Array, freeze = false): Value {
    const reader = new Reader(bytes, 0, bytes.length, freeze);
    const value = reader.value();
    reader.finish();
    return value;
}

/** Let `use` have a row or a key as packed bytes: its cells may be bytes. */
export function lendRow<T>(value: unknown, use: (bytes: Uint8Array) => T): T {
    return lend((writer) => {
        writer.bytesAllowed = true;
        writer.value(value);
    }, use);
}

/** A row, or an answer with rows. */
export function unpackRows(bytes: Uint8Array, freeze = false): any {
    const reader = new Reader(bytes, 0, bytes.length, freeze, true);
    const value = reader.value();
    reader.finish();
    return value;
}

export function unpackArguments(bytes: Uint8Array, freeze = false): (Value | Uint8Array)[] {
    const reader = new Reader(bytes, 0, bytes.length, freeze);
    const values = [];
    for (let left = reader.arrayLength(); left > 0; left--) values.push(reader.argument());
    reader.finish();
    return values;
}
