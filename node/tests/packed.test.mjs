// Native values as packed bytes, and what is refused.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pack, packArguments, unpack, unpackArguments } from "../dist/packed.js";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const back = (value) => unpack(pack(value));

test("numbers have one form", () => {
    assert.equal(hex(pack(-0)), "00");
    assert.equal(hex(pack(5n)), "05");
    assert.equal(hex(pack(2 ** 53)), "cf0020000000000000");
    assert.equal(back(2 ** 53), 9007199254740992n);
    assert.equal(back(2 ** 53 - 1), 9007199254740991);
    assert.equal(back(-(2 ** 53) + 1), -9007199254740991);
    assert.equal(back(2n ** 64n - 1n), 18446744073709551615n);
    assert.equal(back(-(2n ** 63n)), -9223372036854775808n);
    assert.equal(back(1e300), 1e300);
    assert.equal(back(2 ** 60), 2 ** 60, "a double stays one");
    assert.ok(Object.is(unpack(Buffer.from("cb8000000000000000", "hex")), 0), "no negative zero");
    assert.equal(unpack(Buffer.from("cb4059000000000000", "hex")), 100);
});

test("every length of an integer comes back", () => {
    for (let bits = 0; bits < 53; bits++) {
        for (const number of [2 ** bits, 2 ** bits - 1, -(2 ** bits), -(2 ** bits) - 1])
            assert.equal(back(number), number);
    }
});

test("text of all lengths and letters comes back", () => {
    for (const letter of ["a", "é", "漢", "😀", "\ud83d", "\ude00x", "\0"]) {
        for (const length of [
            0, 1, 2, 10, 15, 16, 31, 32, 33, 39, 40, 85, 86, 127, 128, 255, 256, 257, 21845, 65535, 65536,
        ]) {
            const text = letter.repeat(length);
            assert.equal(back(text), text, `${letter} ${length}`);
        }
    }
    assert.equal(hex(pack("\ud83d")), "a3eda0bd");
    assert.equal(hex(pack("\ud83d" + "\ude00")), "a4f09f9880");
});

test("each letter at each place of a short text or key", () => {
    for (const letter of ["a", "\u0080", "é", "ÿ", "漢", "\ufffd", "\ufeff", "😀", "\ud83d", "\ude00", "\0"]) {
        for (let length = 1; length <= 40; length++) {
            for (let place = 0; place < length; place++) {
                const text = "x".repeat(place) + letter + "y".repeat(length - place - 1);
                const value = [text, { [text]: text }, { ["z".repeat(length)]: 1 }, { [text]: 2 }];
                assert.deepEqual(back(value), value);
            }
        }
    }
    assert.deepEqual(back([{ 5: 1, "-5": 2, 1.5: 3 }, { 5: 4 }]), [{ 5: 1, "-5": 2, 1.5: 3 }, { 5: 4 }]);
});

test("keys are any text", () => {
    const value = JSON.parse('{"__proto__": {"a": 1}, "": 2, "constructor": 3, "toString": null}');
    const read = back(value);
    assert.deepEqual(Object.keys(read), ["__proto__", "", "constructor", "toString"]);
    assert.deepEqual(Object.getOwnPropertyDescriptor(read, "__proto__").value, { a: 1 });
    assert.equal(Object.getPrototypeOf(read), Object.prototype);
    const twins = [{ ab: 1 }, { "\u00e9": 2 }, { ab: 3 }, { "\u00e8": 4 }];
    assert.deepEqual(back(twins), twins);
});

test("containers of all lengths come back", () => {
    for (const length of [0, 1, 15, 16, 65535, 65536]) {
        const array = Array.from({ length }, (_, i) => i);
        assert.deepEqual(back(array), array);
        const object = Object.fromEntries(array.map((i) => [`k${i}`, i]));
        assert.deepEqual(back(object), object);
    }
});

test("what is no value is refused", () => {
    const cycle = {};
    cycle.self = [cycle];
    const cases = [
        [NaN, "number"],
        [Infinity, "number"],
        [2n ** 64n, "number"],
        [-(2n ** 63n) - 1n, "number"],
        [undefined, "type"],
        [{ a: undefined }, "type"],
        [[, 1], "type"],
        [() => 1, "type"],
        [Symbol("x"), "type"],
        [new Date(), "type"],
        [new Map(), "type"],
        [new Uint8Array(1), "type"],
        [cycle, "depth"],
    ];
    for (const [value, name] of cases) assert.throws(() => pack(value), { name }, String(name));
    let deep = 0;
    for (let i = 0; i < 512; i++) deep = [deep];
    assert.deepEqual(back(deep), deep);
    assert.throws(() => pack([deep]), { name: "depth" });
});

test("a getter that packs does not disturb", () => {
    const value = {
        get a() {
            return pack({ other: "x".repeat(100) }).length;
        },
        b: 2,
    };
    assert.deepEqual(back(value), { a: value.a, b: 2 });
});

test("arguments may be bytes", () => {
    for (const length of [0, 1, 255, 256, 65536]) {
        const bytes = new Uint8Array(length).fill(7);
        assert.deepEqual(unpackArguments(packArguments([1, bytes, "x"])), [1, bytes, "x"]);
    }
});

test("broken bytes are refused", () => {
    for (const text of ["", "91", "a2aa", "81", "dd00ffffff", "c1", "cf00", "8101", "0000"]) {
        assert.throws(() => unpack(Buffer.from(text, "hex")), { code: /-2\d/ } && Error, text);
    }
});

test("frozen when asked", () => {
    const value = unpack(pack({ a: [{}] }), true);
    assert.ok(Object.isFrozen(value) && Object.isFrozen(value.a) && Object.isFrozen(value.a[0]));
    assert.ok(!Object.isFrozen(back({ a: 1 })));
});
