// Live queries: kept current here and over a link, refused with the reason.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Host, pair, type } from "../dist/node.js";

const Board = type("board", {
    params: ["name"],
    documents: { title: "" },
    tables: {
        tasks: {
            columns: { id: "integer", title: "text", done: { type: "integer", default: 0 }, file: "bytes" },
            key: ["id"],
        },
    },
    methods: {
        put(call, row) {
            call.transaction((t) => t.tasks.put(row));
        },
        clear(call) {
            call.transaction((t) => t.tasks.deleteWhere(null));
        },
    },
});

function opened(t, options = {}) {
    const folder = mkdtempSync(join(tmpdir(), "chordal-"));
    const host = new Host({ store: join(folder, "s.db"), types: [Board], ...options });
    t.after(async () => {
        await host.close();
        rmSync(folder, { recursive: true });
    });
    return host;
}

const ids = (query) => query.rows.value.map(({ id }) => id);

test("a live query follows the table of a provided object", async (t) => {
    const host = opened(t);
    const board = await host.object(Board, { name: "a" });
    await board.transaction((t) => t.tasks.put({ id: 5, title: "five", file: new Uint8Array([1, 2, 3]) }));
    const query = board.tasks.live({ where: { eq: ["done", 0] }, order: [["id", "desc"]], limit: 2, after: null });
    await query.live;
    const [{ file, ...row }] = query.rows.value;
    assert.deepEqual(row, { id: 5, title: "five", done: 0 });
    assert.equal(file.length, 3);
    assert.match(file.digest, /^[0-9a-f]{16}$/);
    const frames = [];
    query.rows.watch((frame) => frames.push(frame));
    const commit = await board.transaction((t) => {
        t.tasks.put({ id: 6 });
        t.tasks.put({ id: 7 });
        t.tasks.put({ id: 8, done: 1 });
    });
    assert.deepEqual(ids(query), [7, 6]);
    assert.equal(frames.at(-1).commit, commit);
    await board.transaction((t) => t.tasks.updateWhere({ eq: ["id", 7] }, { done: 1 }));
    assert.deepEqual(ids(query), [6, 5]);
    const same = board.tasks.live({ where: { eq: ["done", 0] }, order: [["id", "desc"]], limit: 2 });
    assert.equal(same.rows.value, query.rows.value);
    board.retire();
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(query.state, "retired");
    query.release();
    assert.throws(() => query.rows.watch(() => {}), { name: "released" });
});

test("over a link, with a method's result behind its rows", async (t) => {
    const provider = opened(t);
    const host = new Host();
    t.after(() => host.close());
    await pair(host, provider);
    const board = host.get(Board, { name: "b" });
    const open = board.tasks.live({ where: { lt: ["id", 100] } });
    const counts = board.tasks.live({ group: ["done"], count: true });
    const files = board.tasks.live({ where: { eq: ["file", new Uint8Array([255, 254])] } });
    await Promise.all([open.live, counts.live, files.live]);
    assert.deepEqual(open.rows.value, []);
    await board.put({ id: 1, title: "x" });
    await board.put({ id: 2, done: 1, file: "//4=" });
    await board.put({ id: 200 });
    assert.deepEqual([ids(open), ids(files)], [[1, 2], [2]]);
    assert.deepEqual(counts.rows.value, [
        { group: { done: 0 }, count: 2 },
        { group: { done: 1 }, count: 1 },
    ]);
    await board.clear();
    assert.deepEqual([open.rows.value, counts.rows.value], [[], []]);
});

test("it goes the way of the object that it is asked through", async (t) => {
    const [first, second] = [opened(t), opened(t)];
    const host = new Host();
    t.after(() => host.close());
    await pair(host, first);
    const link = await pair(host, second);
    const boards = [host.get(Board, { name: "a" }), host.get(Board, { name: "a" }, { link })];
    await Promise.all(boards.map((board, id) => board.put({ id })));
    const queries = boards.map((board) => board.tasks.live());
    await Promise.all(queries.map((query) => query.live));
    assert.deepEqual(queries.map(ids), [[0], [1]]);
});

test("what cannot be followed fails with the reason", async (t) => {
    const host = opened(t);
    const board = host.get(Board, { name: "a" });
    const fails = async (query, name) => {
        await assert.rejects(query.live, { name });
        assert.equal(query.state, "failed");
    };
    await fails(board.tasks.live({ where: { eq: ["nope", 1] } }), "invalid");
    await fails(board.title.live(), "invalid");
    await fails(board.nothing.live(), "no_member");
    await fails(board.tasks.live({ limit: -1 }), "invalid");
    assert.throws(() => board.tasks.live({ where: { eq: ["id", () => 1] } }), { name: "type" });
    board.release();
    assert.throws(() => board.tasks.live(), { name: "released" });
    const provided = await host.object(Board, { name: "a" });
    await host.close();
    assert.throws(() => provided.tasks.live(), { name: "closed" });
});
