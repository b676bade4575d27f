// Strings as UTF-8 in which a lone surrogate is written by its own three bytes, as in the core.

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();
const LONE_SURROGATE = /\p{Surrogate}/u;
const SHORT = 28; // below this a plain loop is faster than a decoder

/** What Node's toString is made of: it needs no view for each text. Undefined elsewhere, or where it is another one. */
const utf8Slice = (() => {
    type Slice = (this: Uint8Array, start: number, end: number) => string;
    const slice = (globalThis as { Buffer?: { prototype?: { utf8Slice?: Slice } } }).Buffer?.prototype?.utf8Slice;
    try {
        return slice?.call(new Uint8Array([0x78, 0xc3, 0xa4, 0x79]), 1, 3) === "\u00e4" ? slice : undefined;
    } catch {
        return undefined;
    }
})();

function decodeLong(bytes: Uint8Array, start: number, end: number): string {
    return utf8Slice ? utf8Slice.call(bytes, start, end) : decoder.decode(bytes.subarray(start, end));
}

export function decodeText(bytes: Uint8Array, start: number, end: number): string {
    if (end - start < SHORT) return decodeShort(bytes, start, end) ?? decodeCarefully(bytes, start, end);
    const text = decodeLong(bytes, start, end);
    return text.includes("\ufffd") ? decodeCarefully(bytes, start, end) : text;
}

/** ASCII, by eight characters at once: each piece is a string of its own. Undefined: it is something else. */
function decodeShort(bytes: Uint8Array, start: number, end: number): string | undefined {
    const { fromCharCode } = String;
    let text = "";
    let all = 0;
    let at = start;
    for (; at + 8 <= end; at += 8) {
        const a = bytes[at]!;
        const b = bytes[at + 1]!;
        const c = bytes[at + 2]!;
        const d = bytes[at + 3]!;
        const e = bytes[at + 4]!;
        const f = bytes[at + 5]!;
        const g = bytes[at + 6]!;
        const h = bytes[at + 7]!;
        all |= a | b | c | d | e | f | g | h;
        text += fromCharCode(a, b, c, d, e, f, g, h);
    }
    if (at + 4 <= end) {
        const a = bytes[at]!;
        const b = bytes[at + 1]!;
        const c = bytes[at + 2]!;
        const d = bytes[at + 3]!;
        all |= a | b | c | d;
        text += fromCharCode(a, b, c, d);
        at += 4;
    }
    for (; at < end; at++) {
        all |= bytes[at]!;
        text += fromCharCode(bytes[at]!);
    }
    return all < 0x80 ? text : undefined;
}

export function encodeText(text: string): Uint8Array {
    return LONE_SURROGATE.test(text) ? encodeCarefully(text) : encoder.encode(text);
}

// What the core hands out is valid but for lone surrogates, so lengths follow from the first byte.
function decodeCarefully(bytes: Uint8Array, start: number, end: number): string {
    let text = "";
    for (let at = start; at < end;) {
        const first = bytes[at]!;
        const size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        let point = size === 1 ? first : first & (0x7f >> size);
        for (let i = 1; i < size; i++) point = (point << 6) | (bytes[at + i]! & 0x3f);
        text += String.fromCodePoint(point);
        at += size;
    }
    return text;
}

function encodeCarefully(text: string): Uint8Array {
    const bytes = new Uint8Array(text.length * 3);
    let length = 0;
    for (const character of text) {
        const point = character.codePointAt(0)!;
        if (point >= 0xd800 && point <= 0xdfff) {
            bytes.set([0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f)], length);
            length += 3;
        } else {
            length += encoder.encodeInto(character, bytes.subarray(length)).written;
        }
    }
    return bytes.slice(0, length);
}
