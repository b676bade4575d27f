// Documents in a store: there again, durable before they are seen, refused with clear codes.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { connect, Host, MethodError, type } from "../dist/node.js";

function folder(t) {
    const made = mkdtempSync(join(tmpdir(), "chordal-"));
    t.after(() => rmSync(made, { recursive: true }));
    return made;
}

const Notes = type("notes", {
    params: ["board"],
    documents: { list: { entries: [] }, title: "" },
    methods: {
        add(call, text) {
            call.transaction((t) => {
                t.list.entries.push({ text });
            });
            return text;
        },
    },
});

async function add(store, text, options = {}) {
    const host = new Host({ store, types: [Notes], ...options });
    const notes = host.get(Notes, { board: "a" });
    await notes.live;
    await notes.add(text);
    const texts = notes.list.value.entries.map((entry) => entry.text);
    await host.close();
    return texts;
}

test("a document is there again", async (t) => {
    const store = join(folder(t), "ä store.db");
    for (const durability of ["normal", "full", "off"]) await add(store, durability, { durability });
    assert.deepEqual(await add(store, "last"), ["normal", "full", "off", "last"]);
});

test("transactions of one turn build on each other", async (t) => {
    const store = join(folder(t), "s.db");
    const numbers = Array.from({ length: 100 }, (_, i) => i);
    let host = new Host({ store, types: [Notes] });
    const object = await host.object(Notes, { board: "a" });
    const commits = numbers.map((i) => object.transaction((t) => void t.list.entries.push(i)));
    assert.deepEqual(
        await Promise.all(commits),
        numbers.map((i) => i + 1),
    );
    await host.close();
    host = new Host({ store, types: [Notes] });
    assert.deepEqual((await host.object(Notes, { board: "a" })).list.entries, numbers);
    await host.close();
});

test("documents of the moment", async (t) => {
    const store = join(folder(t), "s.db");
    const Mixed = type("mixed", { documents: { kept: 0, seen: 0 }, inMemory: ["seen"], history: 5 });
    for (const round of [1, 2]) {
        const host = new Host({ store, types: [Mixed] });
        const object = await host.object(Mixed);
        assert.deepEqual([object.kept, object.seen], [round - 1, 0]);
        await object.transaction((t) => {
            t.kept = t.seen = round;
        });
        await host.close();
    }
    assert.throws(() => type("x", { inMemory: ["nothing"] }), { name: "invalid" });
});

test("only one owner, any number of readers", async (t) => {
    const store = join(folder(t), "s.db");
    const host = new Host({ store, types: [Notes] });
    const object = await host.object(Notes, { board: "a" });
    await object.transaction((t) => void t.list.entries.push(1));
    assert.throws(() => new Host({ store }), { name: "owned" });
    const reader = new Host({ store, types: [Notes], readOnly: true });
    const copy = await reader.object(Notes, { board: "a" });
    assert.deepEqual(copy.list.entries, [1]);
    await assert.rejects(
        copy.transaction((t) => void (t.title = "no")),
        { name: "read_only" },
    );
    assert.equal(copy.title, "");
    await reader.close();
    await host.close();
});

test("bad stores", (t) => {
    const place = folder(t);
    const text = join(place, "text.db");
    writeFileSync(text, "no database, ".repeat(100));
    for (const [store, name] of [
        [text, "not_store"],
        [join(place, "none", "s.db"), "not_found"],
        [place, "disk_io"],
        ["", "invalid"],
    ]) {
        assert.throws(() => new Host({ store }), { name }, store);
    }
    assert.throws(() => new Host({ store: "s.db", durability: "some" }), { name: "invalid" });
    assert.throws(() => new Host({ store: "a\0b" }), TypeError);
    assert.throws(() => new Host({ store: 7 }), TypeError);
    assert.deepEqual(readdirSync(place), ["text.db"]);
});

const First = type("person", { documents: { name: "", tags: "" } });

async function storeFirst(store, name) {
    const host = new Host({ store, types: [First] });
    const object = await host.object(First);
    await object.transaction((t) => {
        t.name = name;
        t.tags = "x";
    });
    await host.close();
}

test("a newer version brings documents up to date", async (t) => {
    const store = join(folder(t), "s.db");
    const calls = [];
    const Second = type("person", {
        version: 2,
        documents: { name: { first: "", last: "" }, tags: [], seen: 0 },
        migrate(t, version) {
            calls.push(version);
            const [first, last] = String(t.name).split(" ");
            t.name = { first, last };
        },
    });
    await storeFirst(store, "Ada Lovelace");
    for (let round = 0; round < 2; round++) {
        const host = new Host({ store, types: [Second] });
        const person = host.get(Second);
        await person.live;
        assert.deepEqual(person.name.value, { first: "Ada", last: "Lovelace" });
        assert.equal(person.tags.value, "x");
        assert.equal(person.seen.value, 0);
        await host.close();
    }
    assert.deepEqual(calls, [1]);
    const host = new Host({ store, types: [First] });
    await assert.rejects(async () => host.object(First), { name: "type_version" });
    await host.close();
});

test("a migration that fails changes nothing", async (t) => {
    const store = join(folder(t), "s.db");
    const Second = type("person", {
        version: 2,
        documents: { name: {} },
        migrate(t) {
            t.name = { first: "half" };
            throw new MethodError("no_name", "there is no second word");
        },
    });
    await storeFirst(store, "Ada");
    let host = new Host({ store, types: [Second] });
    const early = await host.object(Second);
    const write = async () => early.transaction((t) => void (t.name = "early"));
    await assert.rejects(write, { name: "state" });
    await assert.rejects(host.get(Second).live, { name: "method", message: /no second word/ });
    await assert.rejects(write, { name: "state" });
    await host.close();
    host = new Host({ store, types: [First] });
    assert.equal((await host.object(First)).name, "Ada");
    await host.close();
});

test("what fell back is not read", async (t) => {
    const store = join(folder(t), "s.db");
    const Mixed = type("mixed", { documents: { kept: 1, seen: 0 }, inMemory: ["seen"] });
    let host = new Host({ store, types: [Mixed] });
    await (await host.object(Mixed)).transaction((t) => void (t.kept = 2));
    await host.close();
    host = new Host({ store, types: [Mixed], readOnly: true });
    const object = await host.object(Mixed);
    const reference = host.get(Mixed);
    await reference.live;
    const read = [];
    const watch = reference.seen.watch(({ value }) => read.push([value, object.kept]));
    await reference.live;
    const first = object.transaction((t) => void (t.seen = 5));
    const second = object.transaction((t) => void (t.kept = 7));
    assert.deepEqual([object.seen, object.kept], [5, 7]);
    await assert.rejects(second, { name: "read_only" });
    await first;
    assert.deepEqual(read.at(-1), [5, 2]);
    assert.deepEqual([object.seen, object.kept], [5, 2]);
    watch.close?.();
    await host.close();
});

test("calls of durable methods", async (t) => {
    const path = join(folder(t), "s.db");
    const Count = type("count", {
        keep: true,
        documents: { entries: [] },
        methods: {
            add(call, text) {
                call.transaction((t) => t.entries.push(text));
                return text + "!";
            },
        },
        durable: ["add"],
    });
    assert.throws(() => new Host({ types: [Count] }), { name: "unsupported" });
    const provider = new Host({ store: path, types: [Count] });
    const { address } = await provider.listen("ws://127.0.0.1:0");
    const host = connect(address);
    const count = host.get("count");
    await count.live;
    assert.equal(await count.add("x"), "x!");
    assert.deepEqual(count.entries.value, ["x"]);
    await host.close();
    await provider.close();
});
