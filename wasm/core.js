// What the generated functions of flat.js stand on: memory, checks of arguments, handles, errors.
//
// Handles are numbers that were never used before, so a closed or made-up one is known as such. Input is copied into a
// scratch area, which is reserved once per call before anything is written to it: reserving may grow the memory, and
// growing detaches the views of it.

const FIXED = 512; // the start of the scratch area: an error, then what comes out
const ERROR = 0;
const OUT = 128;
const KEPT = 1 << 20; // a larger scratch area is given back after the call

const SHORT = 32; // below this a plain loop is faster than an encoder

const E_NOMEM = -1;
const E_CLOSED = -5;
const E_ROOM = -9;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

class PlainError extends Error {
    constructor(code, position, detail) {
        super(detail || `code ${code}`);
        this.code = code;
        this.position = position;
        this.detail = detail;
    }
}

function refuse(at, wanted) {
    throw new TypeError(`argument ${at} is not ${wanted}`);
}

export function checkWhole(number, at) {
    if (!Number.isSafeInteger(number) || number < 0) refuse(at, "a whole number");
}

export function checkU32(number, at) {
    if (typeof number !== "number" || number >>> 0 !== number) refuse(at, "a whole number of 32 bits");
}

export function checkI32(number, at) {
    if (typeof number !== "number" || (number | 0) !== number) refuse(at, "a whole number of 32 bits");
}

export function checkText(value, at) {
    if (typeof value !== "string") refuse(at, "a string");
}

export function checkBytes(value, at) {
    if (!(value instanceof Uint8Array)) refuse(at, "a Uint8Array");
}

export class Core {
    constructor(instance) {
        this.exports = instance.exports;
        this.memory = instance.exports.memory;
        this.u8 = new Uint8Array(0);
        this.words = new Uint32Array(0);
        this.view = new DataView(new ArrayBuffer(0));
        this.errorClass = PlainError;
        this.handles = new Map();
        this.lastHandle = 0;
        this.base = 0;
        this.room = 0;
        this.at = 0; // the next free byte of the scratch area
    }

    // ---- memory ----

    refresh() {
        if (this.u8.length !== 0) return; // growing detaches
        const { buffer } = this.memory;
        this.u8 = new Uint8Array(buffer);
        this.words = new Uint32Array(buffer);
        this.view = new DataView(buffer);
    }

    /** Start a call that needs so many bytes of input and output buffers, each of them aligned to 8. */
    reserve(size) {
        const wanted = FIXED + size;
        if (wanted > this.room) {
            const room = Math.max(wanted, 2 * Math.min(this.room, KEPT));
            if (this.base !== 0) this.exports.free(this.base);
            this.base = wanted < 0x7fffffff ? this.exports.malloc(room) >>> 0 : 0;
            this.room = this.base === 0 ? 0 : room;
            if (this.base === 0) throw new this.errorClass(E_NOMEM, 0, "");
        }
        this.refresh();
        const error = (this.base + ERROR) >>> 2;
        const out = (this.base + OUT) >>> 2;
        for (let i = 0; i < 5; i++) this.words[error + i] = 0; // up to the detail's first byte
        for (let i = 0; i < 4; i++) this.words[out + i] = 0;
        this.at = this.base + FIXED;
        return this.base + ERROR;
    }

    /** The place of the n-th result. */
    out(index) {
        return this.base + OUT + 8 * index;
    }

    space(size) {
        const at = this.at;
        this.at = (at + size + 7) & ~7;
        return at;
    }

    putText(text) {
        const at = this.at;
        if (text.length < SHORT && this.putAscii(text, at)) {
            this.space(text.length);
            return text.length;
        }
        const { written } = encoder.encodeInto(text, this.u8.subarray(at, at + 3 * text.length));
        this.space(written);
        return written;
    }

    putAscii(text, at) {
        for (let i = 0; i < text.length; i++) {
            const unit = text.charCodeAt(i);
            if (unit >= 0x80) return false;
            this.u8[at + i] = unit;
        }
        return true;
    }

    putBytes(data) {
        const at = this.space(data.length);
        this.u8.set(data, at);
        return at;
    }

    /** Fill a size-first structure; what was not given is 0. A field: [name, offset, bits, may it be a bigint]. */
    putOptions(given, size, fields) {
        const at = this.space(size);
        this.u8.fill(0, at, at + size);
        this.view.setUint32(at, size, true);
        for (const [name, offset, bits, big] of fields) {
            const value = given.get(name);
            if (value === undefined) continue;
            if (bits === 32) this.view.setUint32(at + offset, value, true);
            else this.view.setBigUint64(at + offset, big ? value : BigInt(value), true);
        }
        return at;
    }

    // ---- results ----

    end() {
        if (this.room > KEPT) {
            this.exports.free(this.base);
            this.base = this.room = 0;
        }
    }

    number(index) {
        this.refresh();
        const at = this.out(index) >>> 2;
        return this.words[at] + this.words[at + 1] * 4294967296;
    }

    word(index) {
        this.refresh();
        return this.words[this.out(index) >>> 2];
    }

    bigint(index) {
        this.refresh();
        return this.view.getBigUint64(this.out(index), true);
    }

    copy(at, length) {
        this.refresh();
        return this.u8.slice(at, at + length);
    }

    /** Give the caller's buffer what was written for it, and the length that was written or is needed. */
    give(buffer, at, length) {
        this.refresh();
        if (length !== 0 && length <= buffer.length) buffer.set(this.u8.subarray(at, at + length));
        return length;
    }

    text(at) {
        this.refresh();
        at >>>= 0;
        return decoder.decode(this.u8.subarray(at, this.u8.indexOf(0, at)));
    }

    error(code) {
        this.refresh();
        const at = this.base + ERROR;
        const position = this.view.getUint32(at + 8, true) + this.view.getUint32(at + 12, true) * 4294967296;
        const detail = this.text(at + 16);
        this.end();
        throw new this.errorClass(code, position, detail);
    }

    check(code) {
        if (code < 0) this.error(code);
    }

    checkRoom(code) {
        if (code < 0 && code !== E_ROOM) this.error(code);
    }

    // ---- handles ----

    open(kind, pointer) {
        this.lastHandle += 1;
        this.handles.set(this.lastHandle, { kind, pointer: pointer >>> 0 });
        return this.lastHandle;
    }

    /** The pointer of an open handle; 0 when it is closed. */
    quietly(handle, kind, at) {
        const entry = this.handles.get(handle);
        if (entry !== undefined && entry.kind === kind) return entry.pointer;
        if (!Number.isSafeInteger(handle) || handle < 1 || handle > this.lastHandle || entry !== undefined) {
            refuse(at, `a ${kind}`);
        }
        return 0;
    }

    pointer(handle, kind, at) {
        const pointer = this.quietly(handle, kind, at);
        if (pointer === 0) throw new this.errorClass(E_CLOSED, 0, "");
        return pointer;
    }

    close(handle, kind, at) {
        const pointer = this.quietly(handle, kind, at);
        this.handles.delete(handle);
        return pointer;
    }
}

/** Read the options once (they may be getters), checked. */
export function readOptions(options, fields, at) {
    const given = new Map();
    if (options === undefined || options === null) return given;
    if (typeof options !== "object") refuse(at, "an object");
    for (const [name, , bits, big] of fields) {
        const value = options[name];
        if (value === undefined) continue;
        const fits = big && typeof value === "bigint" ? BigInt.asUintN(64, value) === value : isWhole(value, bits);
        if (!fits) throw new TypeError(`${name} is not a whole number in range`);
        given.set(name, big ? BigInt(value) : value);
    }
    return given;
}

function isWhole(value, bits) {
    return Number.isSafeInteger(value) && value >= 0 && (bits !== 32 || value <= 0xffffffff);
}
