// What lies in a store is read back at a point, followed, copied and checked.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Host, type } from "../dist/node.js";

function folder(t) {
    const made = mkdtempSync(join(tmpdir(), "chordal-"));
    t.after(() => rmSync(made, { recursive: true }));
    return made;
}

const Kept = type("kept", {
    params: ["board", "side"],
    version: 2,
    history: "all",
    documents: { list: { entries: [], text: "" }, any: null },
});
const address = { board: "a", side: 1 };

async function opened(t, options = {}) {
    const place = folder(t);
    const host = new Host({ store: join(place, "s.db"), types: [Kept], ...options });
    t.after(() => host.close());
    return { place, host, object: await host.object(Kept, address) };
}

test("a document as a commit left it", async (t) => {
    const { host, object } = await opened(t);
    for (let number = 1; number <= 10; number++) {
        assert.equal(await object.transaction((t) => void t.list.entries.push(number)), number);
    }
    for (let at = 1; at <= 10; at++) {
        const expected = { entries: Array.from({ length: at }, (_, i) => i + 1), text: "" };
        assert.deepEqual(host.store.read(Kept, address, "list", { at }), expected);
        assert.deepEqual(host.store.read("kept", { side: 1, board: "a" }, "list", { at }), expected);
    }
    assert.equal(host.store.read(Kept, address, "list").entries.length, 10);
    assert.throws(() => host.store.read(Kept, address, "any"), { name: "not_found" });
    assert.throws(() => host.store.read(Kept, { board: "b", side: 1 }, "list"), { name: "not_found" });
    assert.throws(() => host.store.read(Kept, [], "list"), { name: "params" });
    assert.throws(() => host.store.read(Kept, address, "list", { at: -1 }), TypeError);
});

test("documents and their lives", async (t) => {
    const { host, object } = await opened(t);
    assert.deepEqual([...host.store.documents()], []);
    await object.transaction((t) => void (t.any = 1));
    object.retire();
    await (await host.object(Kept, address)).transaction((t) => void (t.any = 2));
    const [first, second] = host.store.documents();
    const of = { type: "kept", params: address, member: "any", version: 2 };
    assert.deepEqual(first, { ...of, incarnation: 1, created: 1, retired: 1, commit: 1 });
    assert.deepEqual(second, { ...of, incarnation: 2, created: 2, retired: null, commit: 2 });
    assert.equal(host.store.read(Kept, address, "any", { at: first.retired }), 1);
    assert.equal(host.store.read(Kept, address, "any"), 2);
    let last;
    for (let side = 0; side < 150; side++) {
        last = (await host.object(Kept, { board: "b", side })).transaction((t) => void (t.any = "x".repeat(side)));
    }
    await last;
    assert.equal([...host.store.documents()].length, 152);
});

test("the outbox is followed and trimmed", async (t) => {
    const { host, object } = await opened(t, { outbox: true });
    const steps = [
        [
            (t) => void t.list.entries.push({ a: 1 }, 2, 3),
            { op: "replace", path: [], value: { entries: [{ a: 1 }, 2, 3], text: "" } },
        ],
        [
            (t) => void t.list.entries.splice(1, 1, 2n ** 64n - 1n),
            { op: "splice", path: ["entries"], index: 1, remove: 1, values: [2n ** 64n - 1n] },
        ],
        [(t) => void (t.list.text += "tok"), { op: "append", path: ["text"], text: "tok" }],
        [(t) => void (t.list.entries[0].a = "x"), { op: "set", path: ["entries", 0, "a"], value: "x" }],
        [(t) => void delete t.list.entries[0].a, { op: "delete", path: ["entries", 0, "a"] }],
    ];
    for (const [number, [change, op]] of steps.entries()) {
        const commit = await object.transaction(change);
        assert.deepEqual(
            [...host.store.outbox(number)],
            [{ commit, writes: [{ type: "kept", params: address, member: "list", ops: [op] }] }],
        );
    }
    assert.equal(host.store.trim(3), 3);
    assert.deepEqual(
        [...host.store.outbox()].map(({ commit }) => commit),
        [4, 5],
    );
    const commits = Array.from({ length: 2500 }, (_, i) => object.transaction((t) => void (t.any = i)));
    await Promise.all(commits);
    assert.equal([...host.store.outbox(5)].length, 2500);
    assert.equal(host.store.trim(2504), 2501);
});

test("a backup while the host goes on", async (t) => {
    const { place, host, object } = await opened(t);
    const copy = join(place, "ä copy.db");
    let last;
    for (let i = 0; i < 200; i++) last = object.transaction((t) => void t.list.entries.push("x".repeat(20_000) + i));
    await last;
    const backup = host.store.backup(copy);
    assert.equal(existsSync(copy), false);
    await object.transaction((t) => void (t.list.entries = []));
    assert.equal(await backup, 200);
    assert.deepEqual(await host.store.check(), []);
    await assert.rejects(host.store.backup(copy), { name: "exists" });
    await assert.rejects(host.store.backup(join(place, "none", "x.db")), { name: "not_found" });
    await assert.rejects(host.store.backup("a\0b"), { name: "invalid" });
    const restored = new Host({ store: copy, types: [Kept] });
    assert.equal((await restored.object(Kept, address)).list.entries.length, 200);
    await restored.close();
});

test("a backup ends with its host", async (t) => {
    const { place, host, object } = await opened(t);
    await object.transaction((t) => void (t.any = "x".repeat(10_000_000)));
    const backup = host.store.backup(join(place, "copy.db"));
    await Promise.all([assert.rejects(backup, { name: "closed" }), host.close()]);
    assert.deepEqual(readdirSync(place), ["s.db"]);
});

test("beside the owner", async (t) => {
    const { place, host, object } = await opened(t, { outbox: true });
    await object.transaction((t) => void (t.any = 1));
    const reader = new Host({ store: join(place, "s.db"), readOnly: true });
    await object.transaction((t) => void (t.any = 2));
    assert.equal(reader.store.read("kept", address, "any"), 2);
    assert.equal([...reader.store.outbox()].length, 2);
    assert.deepEqual(await reader.store.check(), []);
    assert.equal(await reader.store.backup(join(place, "copy.db")), 2);
    assert.throws(() => reader.store.trim(1), { name: "read_only" });
    await reader.close();
    assert.equal(host.store.trim(1), 1);
});

test("without a store", async () => {
    const host = new Host();
    assert.throws(() => host.store.read("kept", {}, "any"), { name: "state" });
    assert.throws(() => [...host.store.documents()], { name: "state" });
    await assert.rejects(host.store.backup("x"), { name: "state" });
    await assert.rejects(host.store.check(), { name: "state" });
    await host.close();
    assert.throws(() => [...host.store.documents()], { name: "closed" });
});
