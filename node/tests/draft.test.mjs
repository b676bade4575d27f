// Drafts: what programs do to them, and the ops that are noted. Each test also applies the ops to the value before.

import assert from "node:assert/strict";
import { test } from "node:test";

import { append, ChangeLog, DraftDocument, truncate } from "../dist/draft.js";
import { readOps } from "../dist/ops.js";
import { applyOps } from "../dist/patch.js";

/** Run `work` on a draft; its result, the ops, and whether they lead there. */
function change(before, work, freeze = true) {
    const copy = structuredClone(before);
    const log = new ChangeLog(freeze);
    const document = new DraftDocument(before, 0, log);
    const result = work(document.read(), document);
    const value = document.finish();
    const ops = readOps(log.out.take());
    assert.deepEqual(applyOps([before], ops)[0], value);
    assert.deepEqual(before, copy);
    return { value, ops, result, log };
}

const names = (ops) => ops.map(({ op }) => op);

test("set, delete, nested, read back", () => {
    const { value, ops } = change({ a: { b: 1 }, c: 2 }, (d) => {
        d.a.b = 5;
        assert.equal(d.a.b, 5);
        d.a.n = { x: [] };
        d.a.n.x.push(1);
        delete d.c;
        delete d.none;
        assert.ok(!("c" in d) && "a" in d);
        assert.deepEqual(Object.keys(d), ["a"]);
        assert.deepEqual(JSON.parse(JSON.stringify(d)), { a: { b: 5, n: { x: [1] } } });
    });
    assert.deepEqual(value, { a: { b: 5, n: { x: [1] } } });
    assert.deepEqual(names(ops), ["set", "set", "splice", "delete"]);
});

test("arrays behave as arrays do", () => {
    const work = (d) => [
        d.push(4, 5),
        d.pop(),
        d.shift(),
        d.unshift(9, 8),
        d.splice(1, 2, "x", "y", "z"),
        d.splice(-2, 1),
        d.splice(2),
        d.splice(0, 0),
        d.length,
        d.push(3, 1, 2),
        d.sort().join(),
        d.reverse().join(),
        d.sort((a, b) => (String(a) > String(b) ? 1 : -1)).join(),
        d.indexOf("x"),
        d.includes(3),
        [...d].length,
        d.map((x) => x).length,
        d.at(-1),
        Array.isArray(d),
        (d.length = 2),
        (d[2] = "new"),
        (d[0] = "first"),
        d.fill(0, 1).join(),
        d.concat([1]).length,
    ];
    const plain = [1, 2, 3];
    const expected = work(plain);
    const { value, result } = change([1, 2, 3], work);
    assert.deepEqual(result, expected);
    assert.deepEqual(value, plain);
});

test("drafts of elements move with their arrays", () => {
    const { value } = change([{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }], (d) => {
        const [zero, one, two, three] = d;
        d.shift();
        d.reverse();
        one.was = "one";
        d.splice(1, 0, "between");
        two.was = "two";
        d.sort((a, b) => (a.n ?? -1) - (b.n ?? -1));
        three.was = "three";
        zero.was = "gone";
        assert.equal(d.indexOf(three), 3);
        assert.equal(d[3], three);
    });
    assert.deepEqual(value, ["between", { n: 1, was: "one" }, { n: 2, was: "two" }, { n: 3, was: "three" }]);
});

test("what was taken out goes on by itself and can be put back", () => {
    const { value, ops } = change({ from: [{ n: 1, deep: { x: 1 } }], to: [] }, (d) => {
        const item = d.from.shift();
        item.n = 2;
        item.deep.x = 2;
        d.to.push(item);
        item.n = 3;
        item.deep.x = 3;
        d.to[0].more = true;
    });
    assert.deepEqual(value, { from: [], to: [{ n: 2, deep: { x: 2 }, more: true }] });
    assert.deepEqual(names(ops), ["splice", "splice", "set"]);
});

test("a draft assigned elsewhere is a copy", () => {
    const { value } = change({ a: { n: 1 } }, (d) => {
        d.a.n = 2;
        d.b = d.a;
        d.a.n = 3;
        d.b.m = 4;
        d.a = d.a;
    });
    assert.deepEqual(value, { a: { n: 3 }, b: { n: 2, m: 4 } });
});

test("a given object is copied", () => {
    const mine = { n: 1, list: [] };
    const { value } = change({}, (d) => {
        d.x = mine;
        mine.n = 2;
        mine.list.push(1);
        d.x.n = 5;
    });
    assert.deepEqual(value, { x: { n: 5, list: [] } });
    assert.equal(mine.n, 2);
});

test("text that grows or loses its front", () => {
    const { ops } = change({ text: "abc", list: ["abc"] }, (d) => {
        d.text += "d";
        d.text = d.text.slice(2);
        d.text = "other";
        d.text = "other";
        d.list[0] += "\ud83d";
        append(d, "text", "!");
        truncate(d, "text", 1);
        append(d.list, 0, "\ude00");
    });
    assert.deepEqual(names(ops), ["append", "truncate", "set", "append", "append", "truncate", "append"]);
});

test("text functions refuse what is no text", () => {
    change({ text: "abc", n: 1 }, (d) => {
        assert.throws(() => append(d, "n", "x"), { name: "type" });
        assert.throws(() => append(d, "none", "x"), { name: "type" });
        assert.throws(() => append(d, "text", 1), { name: "type" });
        assert.throws(() => truncate(d, "text", 4), { name: "range" });
        assert.throws(() => truncate(d, "text", 0.5), { name: "range" });
        assert.throws(() => append({ text: "" }, "text", "x"), { name: "type" });
    });
});

test("containers assigned over containers travel as assign and share what is equal", () => {
    const before = { rows: [{ id: 1, deep: { a: 1 } }, { id: 2 }], same: { x: 1 } };
    const { value, ops } = change(before, (d) => {
        const kept = d.rows[0];
        kept.deep.a = 2;
        d.rows = [{ id: 1, deep: { a: 2 } }, { id: 2 }, { id: 3 }];
        kept.deep.a = 99;
        d.same = { x: 1 };
    });
    assert.deepEqual(names(ops), ["set", "assign"]);
    assert.equal(value.rows[1], before.rows[1]);
    assert.equal(value.rows[0].deep.a, 2);
    assert.equal(value.same, before.same);
});

test("the whole document", () => {
    const whole = (before, after) => names(change(before, (_, document) => document.write(after)).ops);
    assert.deepEqual(whole({ a: 1 }, { a: 2 }), ["assign"]);
    assert.deepEqual(whole({ a: 1 }, { a: 1 }), []);
    assert.deepEqual(whole({ a: 1 }, [1]), ["replace"]);
    assert.deepEqual(whole("ab", "abc"), ["append"]);
    assert.deepEqual(whole(1, null), ["replace"]);
    const { value } = change({ a: { n: 1 } }, (d, document) => {
        const { a } = d;
        document.write({ a: { n: 1 }, b: 2 });
        a.n = 7;
        document.read().b = 3;
    });
    assert.deepEqual(value, { a: { n: 1 }, b: 3 });
});

test("what is no value is refused and leaves the draft as it was", () => {
    const cycle = [];
    cycle.push(cycle);
    const { value } = change({ list: [1, 2] }, (d) => {
        for (const [bad, name] of [
            [undefined, "type"],
            [NaN, "number"],
            [() => 1, "type"],
            [cycle, "depth"],
            [new Date(), "type"],
        ]) {
            assert.throws(() => (d.x = bad), { name });
            assert.throws(() => d.list.push(bad), { name });
        }
        assert.throws(() => (d.list[5] = 1), { name: "range" });
        assert.throws(() => (d.list.length = 5), { name: "range" });
        assert.throws(() => (d.list.name = 5), { name: "type" });
        assert.throws(() => delete d.list[0], { name: "type" });
        assert.throws(() => (d[Symbol("s")] = 1), { name: "type" });
        assert.throws(() => Object.freeze(d), TypeError);
        assert.throws(() => Object.setPrototypeOf(d, null), TypeError);
    });
    assert.deepEqual(value, { list: [1, 2] });
});

test("any key is a key", () => {
    const { value } = change({}, (d) => {
        d["__proto__"] = { x: 1 };
        d["__proto__"].y = 2;
        d.constructor = 1;
        d[""] = 0;
        assert.equal(Object.hasOwn(d, "__proto__"), true);
    });
    assert.deepEqual(Object.keys(value), ["__proto__", "constructor", ""]);
    assert.deepEqual(Object.getOwnPropertyDescriptor(value, "__proto__").value, { x: 1, y: 2 });
});

test("numbers take their one form", () => {
    const { value } = change({}, (d) => {
        d.small = 5n;
        d.large = 2n ** 60n;
        d.edge = 2 ** 53;
        d.zero = -0;
    });
    assert.deepEqual(value, { small: 5, large: 2n ** 60n, edge: 2n ** 53n, zero: 0 });
});

test("revisions share and are frozen", () => {
    const before = { a: { x: 1 }, b: { y: [1] } };
    const { value } = change(before, (d) => void (d.b.z = { w: 1 }));
    assert.equal(value.a, before.a);
    assert.equal(value.b.y, before.b.y);
    assert.ok(Object.isFrozen(value) && Object.isFrozen(value.b) && Object.isFrozen(value.b.z));
    assert.ok(!Object.isFrozen(change(before, (d) => void (d.b.z = 1), false).value));
});

test("no changes after the end", () => {
    let kept;
    const { log } = change({ a: {} }, (d) => void (kept = d));
    log.open = false;
    assert.throws(() => (kept.x = 1), { name: "state" });
    assert.throws(() => (kept.a.x = 1), { name: "state" });
    assert.deepEqual(kept.a, {});
});

test("random edits lead to what plain objects become", () => {
    let seed = 7;
    const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
    const pick = (d) => (Array.isArray(d) ? (d.length ? random(d.length) : 0) : "abc"[random(3)]);
    const make = (depth) => [1, "t", [1, 2, 3], { a: "x", b: [{}] }, null][random(depth > 2 ? 2 : 5)];
    function edit(d, depth) {
        const key = pick(d);
        const inner = d[key];
        if (typeof inner === "object" && inner !== null && random(3) > 0) return edit(inner, depth + 1);
        const value = make(depth);
        if (Array.isArray(d)) {
            const at = random(d.length + 1);
            [
                () => d.push(value),
                () => d.splice(at, random(3), value),
                () => d.reverse(),
                () => d.shift(),
                () => (d[at] = value),
            ][random(5)]();
        } else if (typeof inner === "string" && random(2)) d[key] += "more";
        else if (random(4) === 0) delete d[key];
        else d[key] = value;
    }
    for (let round = 0; round < 300; round++) {
        const before = { a: [{ a: "s" }, [1, 2]], b: { c: "text" } };
        const plain = structuredClone(before);
        const start = seed;
        for (let i = 0; i < 20; i++) edit(plain, 0);
        seed = start;
        const { value } = change(before, (d) => {
            for (let i = 0; i < 20; i++) edit(d, 0);
        });
        assert.deepEqual(value, plain);
    }
});
