// better-sqlite3 by hand: the value in memory, its change as JSON, one transaction each, and the whole value when the
// changes behind it outweigh it. The same file system and pragmas as ours.

import { rmSync } from "node:fs";
import { join } from "node:path";

import { print, times } from "./measure.mjs";

const ROUNDS = 200;
const MANY = 1000;
const path = join(process.argv[2], "store-peer.db");
let number = 0;
const cell = (length) => String(number++).padStart(length, "x");

function remove() {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

function open(Database) {
    remove();
    const file = new Database(path);
    file.pragma("journal_mode = WAL");
    file.pragma("synchronous = NORMAL");
    file.exec(
        "CREATE TABLE revisions(id INTEGER PRIMARY KEY, number INTEGER NOT NULL, base INTEGER, data TEXT NOT NULL)",
    );
    const insert = file.prepare("INSERT INTO revisions(number, base, data) VALUES(?, ?, ?)");
    let [value, count, base, behind] = [{ cell: "" }, 0, 0, 0];
    const write = file.transaction((change) => {
        insert.run(count, null, change);
        behind += change.length;
        if (behind <= base + 4096) return;
        const text = JSON.stringify(value);
        insert.run(count, 1, text);
        [base, behind] = [text.length, 0];
    });
    const commit = (length) => {
        value = { ...value, cell: cell(length) };
        count++;
        write.immediate(JSON.stringify(["s", ["cell"], value.cell]));
    };
    return { file, commit };
}

let Database;
try {
    ({ default: Database } = await import("better-sqlite3"));
    new Database(":memory:").close();
} catch {
    process.exit(0); // it could not be built here
}
for (const [name, length, batch] of [
    ["one delta a commit, 10 characters", 10, ROUNDS],
    ["one delta a commit, 10,000 characters", 10_000, ROUNDS],
    ["1,000 commits at once, 10 characters", 10, MANY],
]) {
    const { file, commit } = open(Database);
    print(`store, ${name}`, "better-sqlite3", await times(batch, () => commit(length)));
    file.close();
    remove();
}

// ---- rows ----

const ROWS = 10_000;
const PAGE = 100;
remove();
const file = new Database(path);
file.pragma("journal_mode = WAL");
file.pragma("synchronous = NORMAL");
file.exec("CREATE TABLE rows(id INTEGER PRIMARY KEY, title TEXT, done INTEGER, version INTEGER) WITHOUT ROWID");
const put = file.prepare("INSERT OR REPLACE INTO rows VALUES(?, ?, ?, ?)");
const page = file.prepare("SELECT id, title, done FROM rows WHERE id >= ? ORDER BY id LIMIT ?");
const old = file.prepare("SELECT id, title, done FROM rows WHERE version < ? AND id > ? ORDER BY id LIMIT ?");
const update = file.prepare("UPDATE rows SET done = ?");
const putOne = file.transaction((id, done) => put.run(id, `title ${id}`, done, 1)); // one that is there is not written
const updateAll = file.transaction((done) => update.run(done));
file.transaction(() => {
    for (let id = 0; id < ROWS; id++) put.run(id, `title ${id}`, 0, 1);
})();
const migrateSome = file.transaction((version, after) => {
    const rows = old.all(version, after, PAGE);
    for (const { id, title } of rows) put.run(id, title, 1, version);
    return rows.at(-1)?.id;
});

let version = 1;
function migrateAll() {
    version++;
    for (let after = -1; after !== undefined;) after = migrateSome.immediate(version, after);
}

for (const [name, batch, once] of [
    ["one row a commit", ROUNDS, () => putOne.immediate(number % ROWS, number++)],
    ["query page of 100 rows", ROUNDS, () => page.all((number = (number + 7919) % (ROWS - PAGE)), PAGE)],
    ["update of 10,000 rows", 1, () => updateAll.immediate(number++)],
    ["migration of 10,000 rows", 1, migrateAll],
]) {
    print(`store, ${name}`, "better-sqlite3", await times(batch, once));
}
file.close();
remove();
