// Strings as UTF-8 in which a lone surrogate is written by its own three bytes, as in the core.

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();
const LONE_SURROGATE = /\p{Surrogate}/u;
const SHORT = 24; // below this a plain loop is faster than a decoder

export function decodeText(bytes: Uint8Array, start: number, end: number): string {
    if (end - start < SHORT) {
        let text = "";
        let at = start;
        for (; at < end && bytes[at]! < 0x80; at++) text += String.fromCharCode(bytes[at]!);
        return at === end ? text : decodeCarefully(bytes, start, end);
    }
    const text = decoder.decode(bytes.subarray(start, end));
    return text.includes("\ufffd") ? decodeCarefully(bytes, start, end) : text;
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
