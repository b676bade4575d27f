// Tables: rows in transactions and in the store, queries, what is refused.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Host, MethodError, type } from "../dist/node.js";

const Board = type("board", {
    params: ["name"],
    documents: { title: "", counts: { tasks: 0 } },
    tables: {
        tasks: {
            columns: {
                id: "integer",
                title: "text",
                due: "real",
                done: { type: "integer", default: 0 },
                more: "json",
                file: "bytes",
            },
            key: ["id"],
            indexes: { by_title: ["title"] },
        },
        places: { columns: { x: "text", y: "bytes", note: "text" }, key: ["x", "y"] },
    },
    methods: {
        add(call, row) {
            call.transaction((t) => {
                t.tasks.put(row);
                t.counts.tasks += 1;
            });
        },
    },
});

function folder(t) {
    const made = mkdtempSync(join(tmpdir(), "chordal-"));
    t.after(() => rmSync(made, { recursive: true }));
    return made;
}

async function opened(t, options = {}) {
    const host = new Host({ store: join(folder(t), "s.db"), types: [Board], ...options });
    t.after(() => host.close());
    return { host, board: await host.object(Board, { name: "a" }) };
}

/** Put `count` tasks in one commit. */
function fill(board, count) {
    return board.transaction((t) => {
        for (let id = 0; id < count; id++) t.tasks.put({ id, title: `t${id % 10}`, due: id / 2 });
    });
}

const refused =
    (name, words = /./) =>
    (error) => {
        assert.equal(error.name, name, error);
        assert.match(error.message, words);
        return true;
    };

const nothing = { title: null, due: null, done: 0, more: null, file: null };

test("rows are put, patched, removed, and read back", async (t) => {
    const { board } = await opened(t);
    await board.transaction((t) => {
        t.tasks.put({ id: 1, title: "milk", due: 1.5, more: { a: [1, "x"] }, file: new Uint8Array([1, 2, 255]) });
        t.tasks.put({ id: 2 });
        t.tasks.patch({ id: 2, title: "bread" });
        assert.equal(t.tasks.get(2).title, "bread");
        assert.equal(t.tasks.get(3), undefined);
    });
    const milk = { id: 1, title: "milk", due: 1.5, done: 0, more: { a: [1, "x"] }, file: new Uint8Array([1, 2, 255]) };
    assert.deepEqual(board.tasks.get(1), milk);
    assert.deepEqual(board.tasks.get([1]), milk);
    assert.deepEqual(board.tasks.get(2), { ...nothing, id: 2, title: "bread" });
    assert.ok(Object.isFrozen(board.tasks.get(1)));
    await board.transaction((t) => {
        t.tasks.remove(1);
        t.tasks.remove(99);
        assert.equal(t.tasks.get(1), undefined);
        assert.deepEqual(
            t.tasks.query().rows.map(({ id }) => id),
            [2],
        );
        assert.equal(board.tasks.get(1).title, "milk"); // outside it is there until the commit is through
    });
    assert.equal(board.tasks.get(1), undefined);
    assert.equal(board.value("tasks"), board.tasks);
});

test("documents and rows are one commit, and there again", async (t) => {
    const store = join(folder(t), "s.db");
    const host = new Host({ store, types: [Board] });
    const notes = host.get(Board, { name: "a" });
    await notes.live;
    await notes.add({ id: 7, title: "milk" });
    assert.deepEqual(notes.counts.value, { tasks: 1 });
    await assert.rejects(notes.add({ id: 8, titel: "?" }), { name: "internal" });
    assert.deepEqual(notes.counts.value, { tasks: 1 });
    await host.close();

    const again = new Host({ store, types: [Board], onError() {} });
    const board = await again.object(Board, { name: "a" });
    assert.deepEqual(board.tasks.query().rows, [{ ...nothing, id: 7, title: "milk" }]);
    assert.deepEqual(board.counts, { tasks: 1 });
    const [commit] = await Promise.all([board.transaction((t) => t.tasks.put({ id: 8 })), fill(board, 3)]);
    assert.equal(commit, 2);
    assert.deepEqual(
        board.tasks.query().rows.map(({ id }) => id),
        [0, 1, 2, 7, 8],
    );
    await again.close();
});

test("keys of several columns, with bytes", async (t) => {
    const { board } = await opened(t);
    const bytes = Uint8Array.of(0, 200);
    await board.transaction((t) => {
        t.places.put({ x: "a", y: bytes, note: "first" });
        t.places.put({ x: "a", y: Buffer.from("b"), note: "second" });
        assert.equal(t.places.get(["a", bytes]).note, "first");
    });
    assert.deepEqual(board.places.get(["a", bytes]), { x: "a", y: bytes, note: "first" });
    const found = board.places.query({ where: { eq: ["y", bytes] } });
    assert.deepEqual(found, { rows: [{ x: "a", y: bytes, note: "first" }], after: null });
    await board.transaction((t) => {
        assert.equal(t.places.updateWhere({ in: ["y", [bytes]] }, { note: "changed" }), 1);
        t.places.remove(["a", Buffer.from("b")]);
    });
    assert.deepEqual(
        board.places.query().rows.map(({ note }) => note),
        ["changed"],
    );
});

test("large integers are bigints", async (t) => {
    const { board } = await opened(t);
    const largest = 2n ** 63n - 1n;
    await board.transaction((t) => {
        t.tasks.put({ id: largest, done: -(2n ** 63n) });
        t.tasks.put({ id: 2 ** 53 - 1, done: 5n });
        assert.equal(t.tasks.get(largest).id, largest);
    });
    assert.equal(board.tasks.get(largest).done, -(2n ** 63n));
    assert.equal(board.tasks.get(2 ** 53 - 1).done, 5);
    assert.deepEqual(board.tasks.query({ sum: "done" }), { rows: [{ sum: 5n - 2n ** 63n }], after: null });
    await assert.rejects(async () => board.transaction((t) => t.tasks.put({ id: largest + 1n })), refused("range"));
});

test("queries: conditions, orders, pages, counts", async (t) => {
    const { board } = await opened(t);
    await fill(board, 100);
    const ids = (query) => board.tasks.query(query).rows.map(({ id }) => id);
    assert.deepEqual(ids({ where: { and: [{ ge: ["id", 10] }, { lt: ["due", 6] }] } }), [10, 11]);
    assert.deepEqual(ids({ where: { in: ["id", [3, 5, 500]] }, order: [["id", "desc"]] }), [5, 3]);
    assert.deepEqual(ids({ where: { eq: ["title", "t4"] }, order: ["title"], limit: 3 }), [4, 14, 24]);
    assert.deepEqual(ids({ where: undefined, limit: undefined, after: null }).length, 100);
    const seen = [];
    let after;
    do {
        const page = board.tasks.query({ order: [["title", "desc"]], limit: 30, after });
        seen.push(...page.rows);
        after = page.after;
    } while (after !== null);
    assert.equal(new Set(seen.map(({ id }) => id)).size, 100);
    assert.deepEqual([seen[0].title, seen[99].title], ["t9", "t0"]);
    assert.deepEqual(board.tasks.query({ count: true }), { rows: [{ count: 100 }], after: null });
    const groups = board.tasks.query({ where: { lt: ["id", 25] }, group: ["title"], count: true, sum: "id" }).rows;
    assert.deepEqual(groups[0], { group: { title: "t0" }, count: 3, sum: 30 });
    assert.equal(groups.length, 10);
    await board.transaction((t) => {
        assert.equal(t.tasks.updateWhere({ lt: ["id", 50] }, { done: 1 }), 50);
        assert.equal(t.tasks.deleteWhere({ eq: ["title", "t9"] }), 10);
        assert.deepEqual(t.tasks.query({ where: { eq: ["done", 1] }, count: true }).rows, [{ count: 45 }]);
        assert.equal(t.tasks.deleteWhere({ eq: ["title", "none"] }), 0);
    });
    assert.deepEqual(board.tasks.query({ where: { eq: ["done", 1] }, count: true }).rows, [{ count: 45 }]);
    assert.equal(await board.transaction((t) => t.tasks.deleteWhere(null)), 3);
    assert.deepEqual(board.tasks.query().rows, []);
});

test("a large page and a large row come whole", async (t) => {
    const { board } = await opened(t);
    const title = "x".repeat(100_000);
    await board.transaction((t) => {
        for (let id = 0; id < 30; id++) t.tasks.put({ id, title, file: new Uint8Array(70_000).fill(id) });
    });
    const { rows } = board.tasks.query();
    assert.ok(rows.length === 30 && rows.every((row) => row.title === title && row.file.length === 70_000));
    assert.equal(board.tasks.get(3).file[69_999], 3);
});

test("an aborted transaction leaves nothing", async (t) => {
    const { host, board } = await opened(t);
    const before = host.counters();
    const fails = (work) => {
        assert.throws(() => board.transaction(work), { message: "no" });
        assert.deepEqual(board.tasks.query().rows, []);
        assert.equal(board.title, "");
    };
    fails((t) => {
        t.title = "x";
        t.tasks.put({ id: 1 });
        throw new Error("no");
    });
    fails((t) => {
        t.tasks.query();
        throw new Error("no");
    });
    assert.equal(await board.transaction((t) => t.tasks.query()), 0);
    assert.equal(host.counters().commits, before.commits);
});

test("what is refused changes nothing", async (t) => {
    const { board } = await opened(t);
    await board.transaction((t) => {
        t.tasks.put({ id: 1, title: "kept" });
        const wrong = [
            [() => t.tasks.put({ title: "no key" }), "invalid"],
            [() => t.tasks.put({ id: 1, nope: 1 }), "invalid"],
            [() => t.tasks.put({ id: "1" }), "type"],
            [() => t.tasks.put({ id: null }), "invalid"],
            [() => t.tasks.put({ id: 1.5 }), "type"],
            [() => t.tasks.put({ id: 1, title: undefined }), "type"],
            [() => t.tasks.put({ id: 1, title: new Uint8Array(3) }), "type"],
            [() => t.tasks.put({ id: 1, file: "not base64" }), "syntax"],
            [() => t.tasks.put({ id: 1, more: { deep: new Uint8Array(1) } }), "syntax"],
            [() => t.tasks.put({ id: 1, more: new Map() }), "type"],
            [() => t.tasks.put([1]), "type"],
            [() => t.tasks.put(undefined), "type"],
            [() => t.tasks.patch({ id: 2, title: "x" }), "not_found"],
            [() => t.tasks.get("1"), "type"],
            [() => t.tasks.get([1, 2]), "type"],
            [() => t.tasks.get({ id: 1 }), "type"],
            [() => t.tasks.remove(undefined), "type"],
            [() => t.tasks.query({ where: { eq: ["nope", 1] } }), "invalid"],
            [() => t.tasks.query({ were: {} }), "invalid"],
            [() => t.tasks.query({ limit: 0 }), "invalid"],
            [() => t.tasks.query({ after: "nonsense" }), "invalid"],
            [() => t.tasks.query({ where: { eq: ["title", () => 1] } }), "type"],
            [() => t.tasks.updateWhere({ eq: ["id", 1] }, { id: 2 }), "invalid"],
            [() => t.tasks.updateWhere({ or: 7 }, { title: "x" }), "invalid"],
            [() => t.tasks.deleteWhere(undefined), "type"],
        ];
        for (const [act, name] of wrong) assert.throws(act, refused(name), act.toString());
    });
    assert.deepEqual(board.tasks.query().rows, [{ ...nothing, id: 1, title: "kept" }]);
    for (const query of [{ limit: 10001 }, { order: ["more"] }, { group: [], count: 1 }, { after: 1 }, []]) {
        assert.throws(() => board.tasks.query(query), { name: /invalid|type/ }, JSON.stringify(query));
    }
    const cyclic = {};
    cyclic.not = cyclic;
    assert.throws(() => board.tasks.query({ where: cyclic }), { name: /depth|Range/ });
    assert.throws(() => board.tasks.get({}), refused("type"));
});

test("after its end a transaction is refused", async (t) => {
    const { board } = await opened(t);
    let kept;
    await board.transaction((t) => {
        kept = t.tasks;
        kept.put({ id: 1 });
    });
    for (const act of [() => kept.put({ id: 2 }), () => kept.get(1), () => kept.query(), () => kept.deleteWhere(null)])
        assert.throws(act, refused("state", /has ended/));
    assert.throws(() => board.transaction(async (t) => t.tasks.put({ id: 3 })), refused("state", /async/));
    assert.deepEqual(
        board.tasks.query().rows.map(({ id }) => id),
        [1],
    );
});

test("a host that is closed inside of a transaction", async (t) => {
    const { host, board } = await opened(t);
    let again;
    assert.throws(
        () =>
            board.transaction((t) => {
                t.tasks.put({ id: 1 });
                host.closeNow();
                again = t.tasks;
                assert.throws(() => t.tasks.put({ id: 2 }), refused("closed"));
                assert.throws(() => t.tasks.query(), refused("closed"));
            }),
        refused("closed"),
    );
    assert.throws(() => again.get(1), refused("closed"));
    assert.throws(() => board.tasks.get(1), refused("closed"));
    assert.throws(() => board.tasks.query(), refused("closed"));
});

test("a retired object has no rows any more", async (t) => {
    const { host, board } = await opened(t);
    await fill(board, 3);
    assert.throws(
        () =>
            board.transaction((t) => {
                t.tasks.put({ id: 9 });
                board.retire();
                assert.throws(() => t.tasks.put({ id: 10 }), { name: /retired|closed/ });
            }),
        { name: /retired|closed/ },
    );
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(board.tasks.get(1), undefined);
    assert.throws(() => board.transaction((t) => t.tasks.put({ id: 1 })), refused("invalid"));
    const next = await host.object(Board, { name: "a" });
    assert.deepEqual(next.tasks.query().rows, []);
});

test("several objects in one transaction, and objects of others", async (t) => {
    const { host, board } = await opened(t);
    const other = await host.object(Board, { name: "b" });
    await host.transaction((t) => {
        t.of(board).tasks.put({ id: 1, title: "a" });
        t.of(other).tasks.put({ id: 1, title: "b" });
        t.of(other).title = "b";
    });
    assert.deepEqual([board.tasks.get(1).title, other.tasks.get(1).title, other.title], ["a", "b", "b"]);
});

test("a commit that the store refuses", async (t) => {
    const { board } = await opened(t);
    const first = board.transaction((t) => t.tasks.put({ id: 1, title: "x" }));
    assert.throws(() => board.transaction((t) => t.tasks.patch({ id: 5, title: "y" })), refused("not_found"));
    assert.equal(await first, 1);
    assert.deepEqual(
        board.tasks.query().rows.map(({ id }) => id),
        [1],
    );
});

test("types are refused", async (t) => {
    const tables = (tasks) => type("odd", { tables: { tasks } });
    assert.throws(() => tables({ columns: {}, key: [], indices: {} }), refused("invalid", /indices/));
    assert.throws(() => tables(null), refused("invalid", /tasks/));
    assert.throws(() => type("odd", { documents: { tasks: 1 }, tables: { tasks: {} } }), refused("invalid", /same/));
    const store = join(folder(t), "s.db");
    const provide = (tasks) => new Host({ store, types: [tables(tasks)] });
    for (const wrong of [
        { columns: { id: "integer" } },
        { columns: {}, key: [] },
        { columns: { id: "number" }, key: ["id"] },
        { columns: { id: "integer" }, key: ["no"] },
        { columns: { id: "json" }, key: ["id"] },
        { columns: { id: "integer" }, key: ["id"], indexes: { a: ["b"] } },
        { columns: { id: { type: "integer", default: "x" } }, key: ["id"] },
    ])
        assert.throws(() => provide(wrong), refused("invalid"), JSON.stringify(wrong));
    assert.throws(() => new Host({ types: [Board] }), refused("unsupported"));
    const host = provide({ columns: { id: "integer" }, key: ["id"], version: 2 });
    await host.close();
    assert.throws(() => provide({ columns: { id: "integer" }, key: ["id"] }), refused("type_version"));
});

test("a method's failure after rows were put", async (t) => {
    const Late = type("late", {
        tables: { rows: { columns: { id: "integer" }, key: ["id"] } },
        methods: {
            fail(call) {
                call.transaction((t) => {
                    t.rows.put({ id: 1 });
                    throw new MethodError("late", "no");
                });
            },
            async twice(call) {
                call.transaction((t) => t.rows.put({ id: 2 }));
                await null;
                await call.transaction((t) => t.rows.patch({ id: 2 }));
                return call.object.rows.query().rows.length;
            },
        },
    });
    const host = new Host({ store: join(folder(t), "s.db"), types: [Late] });
    const late = host.get(Late);
    await assert.rejects(late.fail(), { name: "late" });
    assert.equal(await late.twice(), 1);
    await host.close();
});

const numbered = (version, migrate) =>
    type("numbered", {
        tables: { rows: { columns: { id: "integer", text: "text" }, key: ["id"], version, migrate } },
    });

async function until(condition) {
    for (let i = 0; i < 1000; i++) {
        if (condition()) return;
        await new Promise((resolve) => setTimeout(resolve, 2));
    }
    throw new Error("it does not come");
}

test("rows are migrated in the background", async (t) => {
    const store = join(folder(t), "s.db");
    const first = numbered(1);
    let host = new Host({ store, types: [first] });
    await (
        await host.object(first)
    ).transaction((t) => {
        for (let id = 0; id < 250; id++) t.rows.put({ id, text: `old ${id}` });
    });
    await host.close();
    let round = 1;
    const reports = [];
    const kind = numbered(2, (row) => {
        if (round === 1 && row.id === 150) throw new Error("not yet");
        return { ...row, text: row.text.replace("old", "new") };
    });
    const stale = (object) => object.rows.query({ stale: true, count: true }).rows[0].count;
    host = new Host({ store, types: [kind], onError: (error) => reports.push(error.message) });
    let object = await host.object(kind);
    await until(() => stale(object) === 150 && reports.length === 1);
    assert.deepEqual(reports, ["not yet"]);
    assert.equal(object.rows.get(99).text, "new 99");
    assert.equal(object.rows.get(100).text, "old 100");
    await host.close();
    round = 2;
    host = new Host({ store, types: [kind] });
    object = await host.object(kind);
    await object.transaction((t) => t.rows.put({ id: 200, text: "mine" })); // others go on meanwhile
    await until(() => stale(object) === 0);
    const texts = object.rows.query().rows.map((row) => row.text);
    assert.deepEqual(
        texts,
        Array.from({ length: 250 }, (_, id) => (id === 200 ? "mine" : `new ${id}`)),
    );
    await host.close();
});
