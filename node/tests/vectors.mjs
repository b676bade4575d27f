// The shared vectors (tests/vectors/README.md), from native values to native values: through the codec of this package,
// and through the core of linked hosts.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { Host, pair, type } from "../dist/node.js";
import { readOps, writeOp } from "../dist/ops.js";
import { pack, packArguments, unpack, unpackArguments, Writer } from "../dist/packed.js";
import { applyOps } from "../dist/patch.js";
import { FORMAT_JSON, FORMAT_PACKED } from "../dist/records.js";
import { encodeText } from "../dist/text.js";

const vectors = new URL("../../tests/vectors/", import.meta.url);
const DECLARED = 8; // how deep the declaration of a type is nested, which a host's limit must leave room for
const FOR_C = ["messages", "changes", "snapshots", "deflated"];
const FIELDS = {
    values:
        "name value packed json digest also_json also_packed also_json_hex reordered arguments " +
        "code position depth json_hex",
    ops: "name ops binary json also_binary also_json json_hex code position dictionary depth",
    apply: "name before ops after code depth",
};
const DOUBLES = { nan: NaN, inf: Infinity, "-inf": -Infinity };
const TAGS = {
    $integer: BigInt,
    $double: (text) => DOUBLES[text] ?? Number(text),
    $bytes: (text) => fromHex(text),
};

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const fromHex = (text) => new Uint8Array(Buffer.from(text, "hex"));

/** A value of the vectors as JavaScript has it. */
function native(form) {
    if (Array.isArray(form)) return form.map(native);
    if (typeof form !== "object" || form === null) return form;
    const [tag, ...more] = Object.keys(form);
    if (more.length === 0 && Object.hasOwn(TAGS, tag)) return TAGS[tag](form[tag]);
    const value = {};
    for (const key of Object.keys(form)) {
        assert.ok(!key.startsWith("$"), `an unknown tag ${key}`);
        Object.defineProperty(value, key, {
            value: native(form[key]),
            enumerable: true,
            configurable: true,
            writable: true,
        });
    }
    return value;
}

/** All cases of a family's files with this verdict. */
function cases(family, verdict) {
    const found = [];
    for (const file of readdirSync(new URL(family, vectors)).sort()) {
        assert.match(file, /^(accept|refuse)_.*\.json$/);
        for (const one of JSON.parse(readFileSync(new URL(`${family}/${file}`, vectors), "utf8")).cases) {
            for (const field of Object.keys(one))
                assert.ok(FIELDS[family].split(" ").includes(field), `${file}: ${field}`);
            if (file.startsWith(verdict)) found.push({ ...one, file });
        }
    }
    assert.ok(found.length > 0);
    return found;
}

/** Run `work` on all cases, and say which one it was. */
async function each(family, verdict, work) {
    for (const one of cases(family, verdict)) {
        try {
            await work(one);
        } catch (error) {
            error.message = `${one.file}, ${one.name}: ${error.message}`;
            throw error;
        }
    }
}

async function withHost(options, work) {
    const host = new Host(options);
    try {
        await host.ready;
        return await work(host);
    } finally {
        host.closeNow();
    }
}

/** Bytes in one form, through the core, in another. */
function through({ core }, data, source, target) {
    const value = core.flat.value_decode(core.host, source, data);
    try {
        const bytes = new Uint8Array(core.flat.value_encode(value, target, new Uint8Array(0)));
        core.flat.value_encode(value, target, bytes);
        return bytes;
    } finally {
        core.flat.value_unref(value);
    }
}

function packedOps(ops) {
    const out = new Writer();
    for (const op of ops) writeOp(out, op);
    return out.take();
}

const nativeOps = (ops) =>
    ops.map((op) => {
        const copy = { ...op };
        if ("value" in op) copy.value = native(op.value);
        if ("values" in op) copy.values = native(op.values);
        return copy;
    });

/** A type whose documents are these values. */
function typed(before) {
    return type("applied", { documents: Object.fromEntries(before.map((value, index) => [`m${index}`, value])) });
}

/** One object's change in a commit. */
function change(id, ops) {
    const out = new Writer();
    out.varint(id);
    out.varint(ops.length);
    const head = out.at;
    out.raw(ops);
    return { head, changes: out.take() };
}

function caught(work) {
    try {
        work();
    } catch (error) {
        return { code: error.name, position: error.position };
    }
    return assert.fail("it was not refused");
}

export function vectorTests() {
    test("no family is forgotten", () => {
        const families = readdirSync(vectors, { withFileTypes: true }).filter((entry) => entry.isDirectory());
        const names = families.map(({ name }) => name).filter((name) => !name.startsWith("_"));
        assert.deepEqual(names.sort(), [...Object.keys(FIELDS), ...FOR_C].sort());
    });

    test("values", () =>
        withHost({}, (host) =>
            each("values", "accept", (one) => {
                const value = native(one.value);
                if (one.arguments) {
                    assert.equal(hex(packArguments(value)), one.packed);
                    return assert.deepEqual(unpackArguments(fromHex(one.packed)), value);
                }
                assert.deepEqual(unpack(fromHex(one.packed)), value);
                if (!one.reordered) assert.equal(hex(pack(value)), one.packed);
                assert.deepEqual(unpack(pack(value)), value);
                assert.equal(
                    Buffer.from(through(host, fromHex(one.packed), FORMAT_PACKED, FORMAT_JSON)).toString(),
                    one.json,
                );
                const texts = [one.json, ...(one.also_json ?? [])].map(encodeText);
                for (const text of [...texts, ...(one.also_json_hex ?? []).map(fromHex)]) {
                    assert.deepEqual(unpack(through(host, text, FORMAT_JSON, FORMAT_PACKED)), value);
                }
                for (const form of (one.also_packed ?? []).map(fromHex)) {
                    assert.deepEqual(unpack(form), value);
                    assert.deepEqual(unpack(through(host, form, FORMAT_PACKED, FORMAT_PACKED)), value);
                }
                assert.equal(host.digest(value), one.digest);
            }),
        ));

    test("refused values", () =>
        each("values", "refuse", (one) => {
            if ("value" in one) return assert.equal(caught(() => pack(native(one.value))).code, one.code);
            const data = one.packed ?? one.json_hex;
            const bytes = data === undefined ? encodeText(one.json) : fromHex(data);
            const format = "packed" in one ? FORMAT_PACKED : FORMAT_JSON;
            return withHost({ depth_limit: one.depth ?? 512 }, (host) => {
                const refused = caught(() => through(host, bytes, format, FORMAT_PACKED));
                assert.deepEqual(refused, { code: one.code, position: one.position });
            });
        }));

    test("ops", () =>
        each("ops", "accept", (one) => {
            const ops = nativeOps(one.ops);
            assert.equal(hex(packedOps(ops)), one.binary);
            for (const form of [one.binary, ...(one.also_binary ?? [])]) assert.deepEqual(readOps(fromHex(form)), ops);
        }));

    test("refused ops", () =>
        each("ops", "refuse", (one) => {
            if (one.binary === undefined || one.dictionary || (one.depth ?? 512) < DECLARED) return undefined;
            return withHost({ types: [typed([{}, {}])], depth_limit: one.depth ?? 512 }, async (host) => {
                const object = await host.object(typed([{}, {}]));
                const { head, changes } = change(object.id, fromHex(one.binary));
                const refused = caught(() => host.core.flat.commit(host.core.host, 0, changes));
                assert.deepEqual(refused, { code: one.code, position: head + one.position });
            });
        }));

    test("applied ops", () =>
        each("apply", "accept", (one) => {
            const [before, after] = [native(one.before), native(one.after)];
            const copy = structuredClone(before);
            assert.deepEqual(applyOps(before, nativeOps(one.ops)), after);
            assert.deepEqual(before, copy);
        }));

    test("applied ops, through the core of linked hosts", () =>
        each("apply", "accept", async (one) => {
            const [before, after] = [native(one.before), native(one.after)];
            await withHost({ types: [typed(before)] }, (provider) =>
                withHost({}, async (holder) => {
                    await pair(holder, provider);
                    const object = await provider.object(typed(before));
                    const held = holder.get("applied");
                    await held.live;
                    for (const [index, value] of before.entries()) {
                        assert.deepEqual(held[`m${index}`].value, value);
                        assert.deepEqual(object[`m${index}`], value);
                    }
                    const ops = packedOps(nativeOps(one.ops).filter(({ op }) => op !== "error"));
                    if (ops.length === 0) return;
                    provider.core.flat.commit(provider.core.host, 0, change(object.id, ops).changes);
                    provider.pump.wake();
                    const isThere = () => after.every((value, index) => equal(held[`m${index}`].value, value));
                    for (let i = 0; i < 200 && !isThere(); i++) await new Promise((resolve) => setTimeout(resolve, 1));
                    after.forEach((value, index) => assert.deepEqual(held[`m${index}`].value, value));
                }),
            );
        }));

    test("ops that do not fit", () =>
        each("apply", "refuse", async (one) => {
            const before = native(one.before);
            const ops = nativeOps(one.ops);
            const copy = structuredClone(before);
            if (one.depth === undefined) assert.equal(caught(() => applyOps(before, ops)).code, one.code);
            assert.deepEqual(before, copy);
            if ((one.depth ?? 512) < DECLARED) return;
            await withHost({ types: [typed(before)] }, async (host) => {
                const object = await host.object(typed(before));
                const { changes } = change(object.id, packedOps(ops));
                assert.equal(caught(() => host.core.flat.commit(host.core.host, 0, changes)).code, one.code);
                before.forEach((value, index) => assert.deepEqual(object[`m${index}`], value));
            });
        }));
}

function equal(a, b) {
    try {
        assert.deepEqual(a, b);
        return true;
    } catch {
        return false;
    }
}
