// The generated event readers against records that are laid out by the model, field by field.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as records from "../../node/dist/records.js";
import { decodeText, encodeText } from "../../node/dist/text.js";

const model = JSON.parse(readFileSync(new URL("../../bindings/model.json", import.meta.url), "utf8"));
const TEXTS = ["", "words", "hé 日本", "\ud800 alone", "\ufffd", "x".repeat(300)];

let state = 7;
function random(limit) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
}

/** One record as the core lays it out, and the event that a reader must make of it. */
function makeRecord(entry) {
    const bytes = new Uint8Array(4096);
    const view = new DataView(bytes.buffer);
    const event = { kind: entry.value, flags: random(65536) };
    let end = entry.size;
    function append(at, data) {
        bytes.set(data, end);
        view.setUint32(at, end, true);
        view.setUint32(at + 4, data.length, true);
        end += data.length;
    }
    const writers = {
        id(name, at) {
            event[name] = random(2 ** 21) * 2 ** 32 + random(2 ** 32);
            view.setBigUint64(at, BigInt(event[name]), true);
        },
        u64(name, at) {
            event[name] = BigInt.asUintN(64, -1n - BigInt(random(1000)));
            view.setBigUint64(at, event[name], true);
        },
        u32: (name, at) => view.setUint32(at, (event[name] = random(2 ** 32)), true),
        i32: (name, at) => view.setInt32(at, (event[name] = random(2 ** 32) | 0), true),
        span(name, at) {
            event[name] = TEXTS[random(TEXTS.length)];
            append(at, encodeText(event[name]));
        },
        part(name, at) {
            const inside = random(10) < 7;
            event[name] = new Uint8Array(inside ? random(40) : 0).fill(random(256));
            event[`${name}_part`] = inside ? 0 : 2 ** 40 + random(1000);
            append(at, event[name]);
            if (!inside) view.setUint32(at + 4, 100000, true);
            view.setBigUint64(at + 8, BigInt(event[`${name}_part`]), true);
        },
    };
    for (const field of entry.fields) writers[field.type](field.name, field.offset);
    delete event.reserved;
    const length = (end + 7) & ~7;
    view.setUint32(0, length, true);
    view.setUint16(4, entry.value, true);
    view.setUint16(6, event.flags, true);
    return { event, bytes: bytes.subarray(0, length) };
}

test("every event is read, and unknown kinds are skipped", () => {
    const buffer = new records.EventBuffer(16);
    for (let round = 0; round < 50; round++) {
        const made = model.events.map(makeRecord);
        const unknown = new Uint8Array(16);
        new DataView(unknown.buffer).setUint32(0, 16, true);
        unknown[5] = 99;
        const pieces = [...made.map(({ bytes }) => bytes), unknown, makeRecord(model.events[0]).bytes];
        const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
        buffer.grow(length);
        let at = 0;
        for (const piece of pieces) {
            buffer.bytes.set(piece, at);
            at += piece.length;
        }
        const events = buffer.read(length);
        assert.equal(events.length, made.length + 1);
        made.forEach(({ event }, i) => assert.deepEqual({ ...events[i] }, event));
    }
});

test("text survives, whatever its surrogates", () => {
    for (const text of [...TEXTS, "\udfff", "a\ud83d", "\ud83d\ude00", "\ude00\ud83d", "é".repeat(100) + "\ud800"]) {
        const bytes = encodeText(text);
        assert.equal(decodeText(bytes, 0, bytes.length), text);
    }
    assert.deepEqual([...encodeText("\ud800")], [0xed, 0xa0, 0x80]);
});

test("errors have the names of their codes", () => {
    const error = new records.ChordalError(records.E_NOT_FOUND, 3, "no such object");
    assert.deepEqual([error.name, error.code, error.position, error.message], ["not_found", -7, 3, "no such object"]);
    assert.equal(new records.ChordalError(records.E_NOT_FOUND).message, records.ERRORS[-7][1]);
    for (const entry of model.errors) assert.equal(records.ERROR_CODES[entry.name.toLowerCase()], entry.value);
});
