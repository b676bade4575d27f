// The flat layer, whichever way it was built: what Node's addon and the WASM loader must do alike.
//
// Wrong arguments are made from the model: every function, every position, every kind of wrong value.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const model = JSON.parse(readFileSync(new URL("../../bindings/model.json", import.meta.url), "utf8"));
// Closing calls the function that forgets: there is no other in JavaScript.
const functions = model.functions.filter(({ surface, name }) => surface === "all" && !name.endsWith("_forget"));
const codes = Object.fromEntries(model.errors.map((entry) => [entry.name, entry.value]));
const utf8 = new TextEncoder();
const JSON_FORMAT = 1;
const PACKED_FORMAT = 2;

const GIVEN = new Set(["handle", "id", "time", "u32", "i32", "text", "bytes", "options", "buffer"]);

class FlatError extends Error {
    constructor(code, position, detail) {
        super(detail);
        Object.assign(this, { code, position, detail });
    }
}

function inputs(entry) {
    return entry.arguments.filter((argument) => GIVEN.has(argument.role));
}

function name(entry) {
    return entry.name.replace("chordal_", "");
}

function decode(flat, host, text) {
    return flat.value_decode(host, JSON_FORMAT, utf8.encode(text));
}

/** Encode into a buffer of just the size that is asked for. */
function encode(flat, value, format) {
    const buffer = new Uint8Array(flat.value_encode(value, format, new Uint8Array(0)));
    assert.equal(flat.value_encode(value, format, buffer), buffer.length);
    return buffer;
}

/** Something right for an argument; ids name nothing. */
function right(argument, handles) {
    switch (argument.role) {
        case "handle":
            return handles[argument.type]();
        case "id":
        case "time":
            return 4503599627370497;
        case "u32":
            return 1;
        case "i32":
            return -1;
        case "text":
            return "name";
        case "options":
            return {};
        default:
            return new Uint8Array(16);
    }
}

function wrongValues(handles) {
    const thrower = new Proxy({}, { get: () => assert.fail("read") });
    return {
        undefined,
        null: null,
        true: true,
        "a negative number": -1,
        "half a number": 1.5,
        NaN: NaN,
        Infinity,
        "2^53": 2 ** 53,
        "2^32": 2 ** 32,
        "a huge number": 1e300,
        "a string": "x",
        "a numeric string": "1",
        "an array": [1],
        "an object": { length: 1e9 },
        "a symbol": Symbol("s"),
        "a bigint": 1n,
        "a function": () => 0,
        "a proxy": thrower,
        "a Uint16Array": new Uint16Array(4),
        "a DataView": new DataView(new ArrayBuffer(4)),
        "an ArrayBuffer": new ArrayBuffer(8),
        "a host": handles.chordal_host(),
        "a value": handles.chordal_value(),
    };
}

/** Whether a value that is wrong elsewhere is right here. */
function fits(role, type, what) {
    const whole = what === "2^32" || what === "a small number";
    const roles = {
        id: () => whole,
        time: () => whole,
        u32: () => false,
        i32: () => what === "a negative number",
        text: () => what.endsWith("string"),
        options: () => ["undefined", "null"].includes(what) || /^an? (object|array|Uint|Data|Array)/i.test(what),
        handle: () => what === `a ${type.replace("chordal_", "")}`,
    };
    return roles[role]?.() ?? false;
}

/** `open` gives a fresh flat layer. `numbers`: handles are numbers, which also fit where ids do. */
export function flatTests(open, { numbers = false } = {}) {
    async function started() {
        const flat = await open();
        flat.use_error(FlatError);
        const host = flat.host_open();
        const handles = {
            chordal_host: () => host,
            chordal_value: () => flat.value_decode(host, JSON_FORMAT, utf8.encode("[1]")),
            chordal_transaction: () => (numbers ? host : flat.transaction_begin(host, 0)), // a tab has none
        };
        return { flat, host, handles };
    }

    function isFlatError(code) {
        return (error) => error instanceof FlatError && error.code === codes[code];
    }

    test("the functions are those of the model", async () => {
        const { flat } = await started();
        assert.deepEqual(Object.keys(flat).sort(), ["use_error", ...functions.map(name)].sort());
    });

    test("wrong arguments are type errors", async () => {
        const { flat, host, handles } = await started();
        for (const entry of functions) {
            const wanted = inputs(entry);
            wanted.forEach((argument, position) => {
                for (const [what, value] of Object.entries(wrongValues(handles))) {
                    const handle = what === "a host" || what === "a value";
                    if (fits(argument.role, argument.type, what)) continue;
                    if (numbers && handle && argument.role !== "text" && argument.role !== "handle") continue;
                    const given = wanted.map((other) => right(other, handles));
                    given[position] = value;
                    assert.throws(
                        () => flat[name(entry)](...given),
                        argument.role === "options" ? undefined : TypeError,
                        `${name(entry)}: ${what} as ${argument.name}`,
                    );
                }
            });
        }
        assert.equal(typeof flat.host_counters(host).entries, "bigint");
    });

    test("no arguments and too many do no harm", async () => {
        const { flat } = await started();
        for (const entry of functions) {
            const many = new Array(50).fill(1);
            for (const given of [[], many]) {
                try {
                    flat[name(entry)](...given);
                } catch (error) {
                    assert.ok(error instanceof TypeError || error instanceof FlatError, `${name(entry)}: ${error}`);
                }
            }
        }
    });

    test("ids that name nothing are answered, not followed", async () => {
        const { flat, handles } = await started();
        for (const entry of functions.filter((each) => each.arguments.some(({ role }) => role === "id"))) {
            if (numbers && entry.arguments[0].type === "chordal_transaction") continue;
            try {
                flat[name(entry)](...inputs(entry).map((argument) => right(argument, handles)));
            } catch (error) {
                assert.ok(error instanceof FlatError && error.code < 0, `${name(entry)}: ${error}`);
            }
        }
    });

    test("a closed handle answers CLOSED, and closing twice is nothing", async () => {
        const { flat, host, handles } = await started();
        const values = functions.some((entry) => entry.name === "chordal_value_decode")
            ? handles.chordal_value()
            : null;
        flat.value_unref(values);
        flat.value_unref(values);
        assert.throws(() => flat.value_digest(values), isFlatError("CLOSED"));
        flat.host_close(host);
        flat.host_close(host);
        flat.release(host, 5);
        for (const entry of functions.filter((each) => each.arguments[0]?.type === "chordal_host")) {
            if (entry.result.role === "none") continue;
            const given = inputs(entry).map((argument) => (argument.role === "handle" ? host : right(argument, {})));
            assert.throws(() => flat[name(entry)](...given), isFlatError("CLOSED"), name(entry));
        }
    });

    test("a transaction ends with its commit, its abort or its host", async () => {
        const { flat, host } = await started();
        if (numbers) return assert.throws(() => flat.transaction_begin(host, 0), isFlatError("UNSUPPORTED"));
        const changes = new Uint8Array(0);
        const committed = flat.transaction_begin(host, 0);
        assert.ok(flat.transaction_commit(committed) > 0);
        assert.throws(() => flat.transaction_commit(committed), isFlatError("INVALID"));
        assert.throws(() => flat.transaction_changes(committed, changes), isFlatError("CLOSED"));
        flat.transaction_abort(committed);
        const aborted = flat.transaction_begin(host, 0);
        flat.transaction_abort(aborted);
        flat.transaction_abort(aborted);
        assert.throws(() => flat.transaction_changes(aborted, changes), isFlatError("CLOSED"));
        const [left, dropped] = [flat.transaction_begin(host, 0), flat.transaction_begin(host, 0)];
        flat.host_close(host);
        assert.throws(() => flat.transaction_changes(left, changes), isFlatError("CLOSED"));
        assert.throws(() => flat.transaction_commit(left), isFlatError("CLOSED"));
        flat.transaction_abort(dropped);
    });

    test("options are read by name and checked", async () => {
        const { flat, host } = await started();
        flat.host_close(flat.host_open({ memory_limit: 1n << 22n, depth_limit: 3, ping_interval: 100, other: "x" }));
        flat.host_close(flat.host_open({ memory_limit: 1 << 22, call_limit: undefined }));
        for (const options of [
            { depth_limit: -1 },
            { depth_limit: 2 ** 32 },
            { depth_limit: "3" },
            { depth_limit: 1n },
        ]) {
            assert.throws(() => flat.host_open(options), TypeError);
        }
        for (const options of [{ memory_limit: -1n }, { memory_limit: 1n << 64n }, 5, "x", Symbol("s")]) {
            assert.throws(() => flat.host_open(options), TypeError);
        }
        const fault = new Error("from a getter");
        const throwing = {
            get depth_limit() {
                throw fault;
            },
        };
        assert.throws(() => flat.host_open(throwing), fault);
        const shallow = flat.host_open({ depth_limit: 3 });
        assert.throws(() => decode(flat, shallow, "[[[[1]]]]"), isFlatError("DEPTH"));
        flat.host_close(host);
    });

    test("a failed call tells code, position and words", async () => {
        const { flat, host } = await started();
        assert.throws(
            () => decode(flat, host, '{"a": 1, "a": 2}'),
            (error) => isFlatError("DUPLICATE_KEY")(error) && error.position === 9 && typeof error.detail === "string",
        );
        assert.throws(() => decode(flat, host, "[1"), isFlatError("TRUNCATED"));
        assert.equal(flat.error_name(codes.NOT_FOUND), "not_found");
        assert.equal(flat.error_name(1), "unknown");
        assert.equal(JSON.parse(flat.versions()).abi, model.abi);
    });

    test("without an error class a plain error has the code", async () => {
        const flat = await open();
        const host = flat.host_open();
        assert.throws(
            () => decode(flat, host, "["),
            (error) => error instanceof Error && error.code === codes.TRUNCATED,
        );
        assert.throws(() => flat.use_error(5), TypeError);
    });

    test("values go in and come out, and are equal in both formats", async () => {
        const { flat, host } = await started();
        for (const text of ["null", "-1.5", '"hé\\ud83d\\ude00"', '"\\ud800"', '{"a":[1,2,{"b":true}],"c":"d"}']) {
            const value = decode(flat, host, text);
            const again = flat.value_decode(host, PACKED_FORMAT, encode(flat, value, PACKED_FORMAT));
            assert.equal(flat.value_equal(value, again), 1);
            assert.equal(flat.value_digest(value), flat.value_digest(again));
            assert.equal(typeof flat.value_digest(value), "bigint");
            const json = new TextDecoder().decode(encode(flat, again, JSON_FORMAT));
            if (!text.includes("ud800")) assert.deepEqual(JSON.parse(json), JSON.parse(text));
            const other = flat.value_ref(value);
            flat.value_unref(value);
            assert.equal(flat.value_equal(other, again), 1);
        }
    });

    test("a buffer that is too small is left alone", async () => {
        const { flat, host } = await started();
        const value = decode(flat, host, '"0123456789"');
        const buffer = new Uint8Array(4).fill(7);
        assert.equal(flat.value_encode(value, JSON_FORMAT, buffer), 12);
        assert.deepEqual([...buffer], [7, 7, 7, 7]);
        const part = new Uint8Array(40).fill(7);
        assert.equal(flat.value_encode(value, JSON_FORMAT, part.subarray(3, 15)), 12);
        assert.equal(new TextDecoder().decode(part.subarray(3, 15)), '"0123456789"');
        assert.deepEqual([part[2], part[15]], [7, 7]);
    });

    test("large values make the memory grow", async () => {
        const { flat, host } = await started();
        const text = JSON.stringify(Array.from({ length: 300000 }, (_, i) => `element ${i}`));
        for (let i = 0; i < 3; i++) {
            const value = decode(flat, host, text);
            assert.equal(encode(flat, value, JSON_FORMAT).length, text.length);
            flat.value_unref(value);
        }
    });

    test("strings of any length and script reach the core", async () => {
        const { flat, host } = await started();
        const params = utf8.encode("{}");
        for (const type of [
            "a",
            "ü".repeat(15),
            "x".repeat(251),
            "x".repeat(252),
            "é".repeat(127),
            "日本".repeat(42),
        ]) {
            const declaration = { name: type, version: 1, params: [], members: [] };
            flat.type_provide(host, utf8.encode(JSON.stringify(declaration)));
            assert.ok(flat.object_get(host, type, JSON_FORMAT, params) > 0);
            assert.throws(() => flat.object_get(host, `${type}!`, JSON_FORMAT, params), isFlatError("NO_TYPE"));
        }
        for (const type of ["", "x".repeat(1e6), "日本".repeat(5000), "\ud800"]) {
            assert.throws(() => flat.object_get(host, type, JSON_FORMAT, params), FlatError);
        }
    });

    test("a call crosses a link between two hosts", async () => {
        const { flat, host: provider } = await started();
        crossLink(flat, provider, flat.host_open());
    });

    test("a host names its run", async () => {
        const { flat, host } = await started();
        const run = flat.host_run(host);
        assert.equal(run.constructor, Uint8Array);
        assert.equal(run.length, 16);
        assert.notDeepEqual(run, flat.host_run(flat.host_open()));
    });
}

/** Records as [kind, view] pairs. */
function poll(flat, host, now) {
    const buffer = new Uint8Array(65536);
    const records = [];
    for (let length; (length = flat.host_poll(host, now, buffer)) > 0;) {
        const view = new DataView(buffer.slice().buffer);
        for (let at = 0; at < length; at += view.getUint32(at, true)) {
            records.push([view.getUint16(at + 4, true), new DataView(view.buffer, at)]);
        }
    }
    return records;
}

const eventKinds = Object.fromEntries(model.events.map((entry) => [entry.name, entry]));

function field(kind, view, wanted) {
    const { offset, type } = eventKinds[kind].fields.find((entry) => entry.name === wanted);
    if (type === "id") return Number(view.getBigUint64(offset, true));
    if (type === "i32") return view.getInt32(offset, true);
    const start = view.getUint32(offset, true);
    return new Uint8Array(view.buffer, view.byteOffset + start, view.getUint32(offset + 4, true));
}

function crossLink(flat, provider, consumer) {
    const declaration = {
        name: "echo",
        version: 1,
        params: [],
        members: [{ name: "say", kind: "method" }],
    };
    flat.type_provide(provider, utf8.encode(JSON.stringify(declaration)));
    const inner = flat.link_open(provider, 0);
    const outer = flat.link_open(consumer, 1);
    flat.link_up(provider, inner, 1, 0);
    flat.link_up(consumer, outer, 1, 0);
    const reference = flat.reference_get(consumer, outer, "echo", 0, 0, JSON_FORMAT, utf8.encode("{}"));
    const call = flat.call_start(consumer, reference, "say", JSON_FORMAT, utf8.encode('["hé"]'), 0);
    const results = [];
    for (let turn = 0; turn < 20 && results.length === 0; turn++) {
        for (const [kind, view] of poll(flat, provider, turn)) {
            if (kind !== eventKinds.CALL.value) continue;
            const args = field("CALL", view, "arguments").slice();
            flat.call_answer(provider, field("CALL", view, "call"), PACKED_FORMAT, args);
        }
        for (const [kind, view] of poll(flat, consumer, turn)) {
            if (kind === eventKinds.RESULT.value) results.push(view);
        }
        flat.link_carry(provider, inner, consumer, outer, turn);
    }
    assert.equal(results.length, 1, "the call has a result");
    assert.equal(field("RESULT", results[0], "code"), 0);
    assert.equal(field("RESULT", results[0], "call"), call);
    const value = flat.value_decode(consumer, PACKED_FORMAT, field("RESULT", results[0], "value"));
    assert.equal(new TextDecoder().decode(encode(flat, value, JSON_FORMAT)), '["hé"]');
}
