// Node: what a commit into a store costs. node --expose-gc bench/store.mjs FOLDER BATCHES addon: a JSON object a line;
// FOLDER has the payloads, and the files while it runs.

import { rmSync } from "node:fs";
import { join } from "node:path";

import { Host, type } from "../node/dist/node.js";
import { batches, print, warm } from "./world.mjs";

const ROUNDS = 200;
const MANY = 1000;
const path = join(process.argv[2], "store-node.db");

const ROWS = 10_000;
const PAGE = 100;
const COLUMNS = { id: "integer", title: "text", done: "integer" };
const rowsOf = (version, migrate) =>
    type("rows", { tables: { rows: { columns: COLUMNS, key: ["id"], version, migrate } } });
const rowOf = (id) => ({ id, title: `title ${id}`, done: 0 });

const Kept = type("kept", { documents: { list: { cell: "" } }, history: "all" });
let number = 0;
const cell = (length) => String(number++).padStart(length, "x");

function remove() {
    for (const suffix of ["", "-wal", "-shm", "-owner"]) rmSync(path + suffix, { force: true });
}

/** The time of one commit; `once` makes `each` of them. */
async function measure(name, each, rounds, once) {
    remove();
    const host = new Host({ store: path, types: [Kept] });
    const object = await host.object(Kept);
    const samples = [];
    const processor = [];
    for (let batch = -warm(batches); batch < batches; batch++) {
        const [start, worked] = [performance.now(), process.cpuUsage()];
        for (let i = 0; i < rounds; i++) await once(object);
        const { user, system } = process.cpuUsage(worked);
        const count = rounds * each;
        if (batch >= 0) samples.push(((performance.now() - start) * 1000) / count);
        if (batch >= 0) processor.push((user + system) / count);
    }
    print({ case: `store, ${name}`, unit: "us", samples, processor });
    await host.close();
    remove();
}

for (const length of [10, 10_000]) {
    await measure(`one delta a commit, ${length.toLocaleString("en")} characters`, 1, ROUNDS, (object) =>
        object.transaction((t) => void (t.list.cell = cell(length))),
    );
}
await measure("1,000 commits at once, 10 characters", MANY, 1, (object) => {
    const commits = [];
    for (let i = 0; i < MANY; i++) commits.push(object.transaction((t) => void (t.list.cell = cell(10))));
    return Promise.all(commits);
});

// ---- tables ----

async function fill(kind) {
    remove();
    const host = new Host({ store: path, types: [kind] });
    const object = await host.object(kind);
    await object.transaction((t) => {
        for (let id = 0; id < ROWS; id++) t.rows.put(rowOf(id));
    });
    return { host, object };
}

async function timed(name, rounds, once) {
    const samples = [];
    const processor = [];
    for (let batch = -warm(batches); batch < batches; batch++) {
        const [start, worked] = [performance.now(), process.cpuUsage()];
        for (let i = 0; i < rounds; i++) await once();
        const { user, system } = process.cpuUsage(worked);
        if (batch >= 0) samples.push(((performance.now() - start) * 1000) / rounds);
        if (batch >= 0) processor.push((user + system) / rounds);
    }
    print({ case: `store, ${name}`, unit: "us", samples, processor });
}

const { host, object } = await fill(rowsOf(1));
// Another row each time: SQLite by hand would not write one that is there already.
const putOne = () => object.transaction((t) => t.rows.put({ ...rowOf(number % ROWS), done: number++ }));
await timed("one row a commit", ROUNDS, putOne);
await timed("query page of 100 rows", ROUNDS, () => {
    number = (number + 7919) % (ROWS - PAGE);
    if (object.rows.query({ where: { ge: ["id", number] }, limit: PAGE }).rows.length !== PAGE) throw new Error("rows");
});
await timed("update of 10,000 rows", 1, () => object.transaction((t) => t.rows.updateWhere(null, { done: number++ })));
await host.close();

/** One more row put is behind them all. */
async function migrate() {
    let [left, done] = [ROWS];
    const all = new Promise((resolve) => (done = resolve));
    const kind = rowsOf(2, (row) => {
        if (--left === 0) done();
        return { ...row, done: 1 };
    });
    const start = performance.now();
    const host = new Host({ store: path, types: [kind] });
    const object = await host.object(kind);
    await all;
    await object.transaction((t) => t.rows.put(rowOf(ROWS)));
    const took = performance.now() - start;
    await host.close();
    return took * 1000;
}

const samples = [];
for (let batch = 0; batch < batches; batch++) {
    await (await fill(rowsOf(1))).host.close();
    samples.push(await migrate());
}
print({ case: "store, migration of 10,000 rows", unit: "us", samples });
remove();
