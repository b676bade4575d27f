// Ops applied to native values.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readOps, writeOp } from "../dist/ops.js";
import { Writer } from "../dist/packed.js";
import { applyOps, patchMember } from "../dist/patch.js";

function packed(ops) {
    const out = new Writer();
    for (const op of ops) writeOp(out, op);
    return out.take();
}

const before = { title: "t", entries: [{ text: "a" }, { text: "b" }], other: { x: [1] } };
const all = [
    { op: "append", path: [0, "entries", 0, "text"], text: "\ude00" },
    { op: "truncate", path: [0, "title"], count: 1 },
    { op: "splice", path: [0, "entries"], index: 1, remove: 1, values: [{ text: "c" }, 2] },
    { op: "permute", path: [0, "entries"], indexes: [2, 0, 1] },
    { op: "set", path: [0, "__proto__"], value: { deep: true } },
    { op: "set", path: [0, "entries", 3], value: "end" },
    { op: "delete", path: [0, "other"] },
    { op: "error", member: 0, code: "bad", message: "words" },
];

test("ops as bytes and back", () => {
    assert.deepEqual(readOps(packed(all)), all);
    const assign = [{ op: "assign", path: [3, "a", 70000], value: 1 }];
    assert.deepEqual(readOps(packed(assign)), assign);
});

test("all ops", () => {
    const [after] = applyOps([before], all);
    assert.deepEqual(after.entries, [2, { text: "a\ude00" }, { text: "c" }, "end"]);
    assert.equal(after.title, "");
    assert.deepEqual(Object.keys(after), ["title", "entries", "__proto__"]);
    assert.equal(Object.getPrototypeOf(after), Object.prototype);
    assert.equal(before.entries.length, 2);
    assert.equal(before.entries[0].text, "a");
});

test("an object of many keys stays as it was, and its copy is like others", () => {
    const many = JSON.parse(`{"__proto__": 1, ${Array.from({ length: 500 }, (_, i) => `"k${i}": [${i}]`).join()}}`);
    const kept = JSON.stringify(many);
    const ops = [
        { op: "set", path: [0, "k7"], value: "seven" },
        { op: "delete", path: [0, "k8"] },
        { op: "set", path: [0, "constructor"], value: 9 },
    ];
    const [after] = applyOps([many], ops);
    assert.equal(JSON.stringify(many), kept);
    assert.equal(
        JSON.stringify(after),
        kept.replace("[7]", '"seven"').replace('"k8":[8],', "").replace(/}$/, ',"constructor":9}'),
    );
    assert.equal(Object.getPrototypeOf(after), Object.prototype);
    assert.equal(after.k9, many.k9);
    assert.equal(applyOps([after], [{ op: "set", path: [0, "k1"], value: 1 }])[0].k1, 1);
});

test("what did not change is shared", () => {
    const [after] = applyOps([before], [{ op: "append", path: [0, "entries", 1, "text"], text: "!" }]);
    assert.notEqual(after, before);
    assert.notEqual(after.entries, before.entries);
    assert.equal(after.entries[0], before.entries[0]);
    assert.equal(after.other, before.other);
});

test("containers are copied once in a change", () => {
    const value = { list: [[], []] };
    const ops = [];
    for (let i = 0; i < 3; i++) ops.push({ op: "set", path: [0, "list", 0, i], value: i });
    assert.deepEqual(applyOps([value], ops)[0], { list: [[0, 1, 2], []] });
    assert.deepEqual(value, { list: [[], []] });
});

test("in place", () => {
    const value = { list: [1] };
    const [after] = applyOps([value], [{ op: "set", path: [0, "list", 1], value: 2 }], { inPlace: true });
    assert.equal(after, value);
    assert.deepEqual(value, { list: [1, 2] });
});

test("frozen when asked", () => {
    const bytes = packed([{ op: "set", path: [1, "a"], value: { b: [] } }]);
    const { value } = patchMember({ c: 1 }, 1, bytes, { freeze: true });
    assert.ok(Object.isFrozen(value) && Object.isFrozen(value.a) && Object.isFrozen(value.a.b));
});

test("what does not fit is refused and changes nothing", () => {
    const cases = [
        ["path", { op: "set", path: [1], value: 1 }],
        ["path", { op: "set", path: [0, "none", "x"], value: 1 }],
        ["path", { op: "set", path: [0, "title", 0], value: 1 }],
        ["type", { op: "set", path: [0, "entries", "x"], value: 1 }],
        ["type", { op: "set", path: [0, 0], value: 1 }],
        ["range", { op: "set", path: [0, "entries", 3], value: 1 }],
        ["path", { op: "delete", path: [0, "none"] }],
        ["path", { op: "delete", path: [0, "toString"] }],
        ["range", { op: "delete", path: [0, "entries", 2] }],
        ["type", { op: "append", path: [0, "entries"], text: "x" }],
        ["range", { op: "truncate", path: [0, "title"], count: 2 }],
        ["type", { op: "splice", path: [0, "title"], index: 0, remove: 0, values: [] }],
        ["range", { op: "splice", path: [0, "entries"], index: 1, remove: 2, values: [] }],
        ["range", { op: "splice", path: [0, "entries"], index: 3, remove: 0, values: [1] }],
        ["permutation", { op: "permute", path: [0, "entries"], indexes: [0, 0] }],
        ["permutation", { op: "permute", path: [0, "entries"], indexes: [0] }],
        ["permutation", { op: "permute", path: [0, "entries"], indexes: [0, 2] }],
    ];
    const copy = structuredClone(before);
    for (const [name, op] of cases) {
        const first = { op: "set", path: [0, "title"], value: "changed" };
        const fits = name === "path" || !op.path.includes("title");
        assert.throws(() => applyOps([before], fits ? [first, op] : [op]), { name }, JSON.stringify(op));
        assert.deepEqual(before, copy);
    }
});

test("many values in one splice", () => {
    const values = Array.from({ length: 200000 }, (_, i) => i);
    const [after] = applyOps([[-1, -2]], [{ op: "splice", path: [0], index: 1, remove: 0, values }]);
    assert.equal(after.length, 200002);
    assert.equal(after[200000], 199999);
    assert.equal(after[200001], -2);
});
