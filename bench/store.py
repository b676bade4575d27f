"""What a commit into a store costs in Python, beside its own sqlite3 by hand. python bench/store.py FOLDER BATCHES: a
JSON object a line; FOLDER has the payloads, and the files while it runs."""

import asyncio
import itertools
import json
import sqlite3
import time

import chordal
from world import BATCHES, FOLDER, WARM, report

ROUNDS, MANY, ROWS, PAGE = 200, 1000, 10_000, 100
COLUMNS = {"id": "integer", "title": "text", "done": "integer"}
PATH = FOLDER / "store-python.db"
numbers = itertools.count()


class Kept(chordal.Object, history="all"):
    list = chordal.document({"cell": ""})


def cell(length):
    return str(next(numbers)).rjust(length, "x")


def remove():
    for suffix in ("", "-wal", "-shm", "-owner"):
        PATH.with_name(PATH.name + suffix).unlink(missing_ok=True)


async def measure(name, each, rounds, once):
    """The time of one commit; `once` makes `each` of them."""
    remove()
    samples, processor = [], []
    async with chordal.Host(store=PATH, types=[Kept]) as host:
        kept = host.object(Kept)
        for batch in range(-WARM, BATCHES):
            start, worked = time.perf_counter(), time.process_time()
            for _ in range(rounds):
                await once(kept)
            if batch >= 0:
                samples.append((time.perf_counter() - start) * 1e6 / (rounds * each))
                processor.append((time.process_time() - worked) * 1e6 / (rounds * each))
    report(case=f"store, {name}", unit="us", samples=samples, processor=processor)
    remove()


def commit(kept, length):
    with kept.transaction() as t:
        t.list["cell"] = cell(length)
    return t.ticket


async def many(kept):
    for ticket in [commit(kept, 10) for _ in range(MANY)]:
        await ticket


class ByHand:
    """The same by the interpreter's own sqlite3: the value in memory, its change as JSON, one transaction each, and the
    whole value when the changes behind it outweigh it."""

    def __init__(self):
        self.file = sqlite3.connect(PATH, isolation_level=None)
        self.file.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
            "CREATE TABLE revisions(id INTEGER PRIMARY KEY, number INTEGER NOT NULL, base INTEGER, data TEXT NOT NULL);"
        )
        self.value, self.number, self.base, self.behind = {"cell": ""}, 0, 0, 0

    def add(self, base, text):
        self.file.execute("INSERT INTO revisions(number, base, data) VALUES(?, ?, ?)", (self.number, base, text))

    def commit(self, length):
        self.value = {**self.value, "cell": cell(length)}
        self.number += 1
        self.file.execute("BEGIN IMMEDIATE")
        change = json.dumps(["s", ["cell"], self.value["cell"]])
        self.add(None, change)
        self.behind += len(change)
        if self.behind > self.base + 4096:
            text = json.dumps(self.value)
            self.add(1, text)
            self.base, self.behind = len(text), 0
        self.file.execute("COMMIT")


def measure_by_hand(name, rounds, length):
    remove()
    hand = ByHand()
    samples, processor = [], []
    for batch in range(-WARM, BATCHES):
        start, worked = time.perf_counter(), time.process_time()
        for _ in range(rounds):
            hand.commit(length)
        if batch >= 0:
            samples.append((time.perf_counter() - start) * 1e6 / rounds)
            processor.append((time.process_time() - worked) * 1e6 / rounds)
    hand.file.close()
    row = {"unit": "us", "samples": samples, "processor": processor, "version": sqlite3.sqlite_version}
    report(case=f"store, {name}", system="sqlite3", **row)
    remove()


# ---- tables ----


def rows_of(version, migrate=None):
    class Rows(chordal.Object):
        rows = chordal.table(COLUMNS, key="id", version=version, migrate=migrate)

    return Rows


def row_of(number):
    return {"id": number, "title": f"title {number}", "done": 0}


async def fill(host):
    rows = host.object("rows")
    with rows.transaction() as t:
        for number in range(ROWS):
            t.rows.put(row_of(number))
    await t.ticket
    return rows


async def timed(name, rounds, once):
    samples, processor = [], []
    for batch in range(-WARM, BATCHES):
        start, worked = time.perf_counter(), time.process_time()
        for _ in range(rounds):
            await once()
        if batch >= 0:
            samples.append((time.perf_counter() - start) * 1e6 / rounds)
            processor.append((time.process_time() - worked) * 1e6 / rounds)
    report(case=f"store, {name}", unit="us", samples=samples, processor=processor)


async def measure_rows():
    remove()
    async with chordal.Host(store=PATH, types=[rows_of(1)]) as host:
        rows = await fill(host)

        async def put():
            number = next(numbers)
            with rows.transaction() as t:
                t.rows.put({**row_of(number % ROWS), "done": number})
            await t.ticket

        async def page():
            start = next(numbers) * 7919 % (ROWS - PAGE)
            assert len(rows.rows.query(where={"ge": ["id", start]}, limit=PAGE).rows) == PAGE

        async def update():
            with rows.transaction() as t:
                t.rows.update_where(None, {"done": next(numbers)})
            await t.ticket

        await timed("one row a commit", ROUNDS, put)
        await timed("query page of 100 rows", ROUNDS, page)
        await timed("update of 10,000 rows", 1, update)


async def migrate_once():
    """One more row put is behind them all."""
    remove()
    async with chordal.Host(store=PATH, types=[rows_of(1)]) as host:
        await fill(host)
    left, done = itertools.count(ROWS - 1, -1), asyncio.Event()

    def migrate(row):
        if next(left) == 0:
            done.set()
        return {**row, "done": 1}

    start = time.perf_counter()
    async with chordal.Host(store=PATH, types=[rows_of(2, migrate)]) as host:
        rows = host.object("rows")
        await done.wait()
        with rows.transaction() as t:
            t.rows.put(row_of(ROWS))
        await t.ticket
        return (time.perf_counter() - start) * 1e6


class RowsByHand:
    def __init__(self):
        self.file = sqlite3.connect(PATH, isolation_level=None)
        self.file.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
            "CREATE TABLE rows(id INTEGER PRIMARY KEY, title TEXT, done INTEGER, version INTEGER) WITHOUT ROWID;"
        )
        self.version = 1
        self.within(lambda: self.put((number, f"title {number}", 0, 1) for number in range(ROWS)))

    def within(self, work):
        self.file.execute("BEGIN IMMEDIATE")
        result = work()
        self.file.execute("COMMIT")
        return result

    def put(self, rows):
        self.file.executemany("INSERT OR REPLACE INTO rows VALUES(?, ?, ?, ?)", rows)

    def put_one(self):
        number = next(numbers)
        row = (number % ROWS, f"title {number % ROWS}", number, 1)  # one that is there already would not be written
        self.within(lambda: self.put([row]))

    def page(self):
        start = next(numbers) * 7919 % (ROWS - PAGE)
        found = self.file.execute("SELECT id, title, done FROM rows WHERE id >= ? ORDER BY id LIMIT ?", (start, PAGE))
        assert len(found.fetchall()) == PAGE

    def update(self):
        self.within(lambda: self.file.execute("UPDATE rows SET done = ?", (next(numbers),)))

    def migrate_some(self, after):
        sql = "SELECT id, title FROM rows WHERE version < ? AND id > ? ORDER BY id LIMIT ?"
        rows = self.file.execute(sql, (self.version, after, PAGE)).fetchall()
        self.put((number, title, 1, self.version) for number, title in rows)
        return rows[-1][0] if rows else None

    def migrate(self):
        self.version += 1
        after = -1
        while after is not None:
            after = self.within(lambda after=after: self.migrate_some(after))


def measure_rows_by_hand():
    remove()
    hand = RowsByHand()
    for name, rounds, once in (
        ("one row a commit", ROUNDS, hand.put_one),
        ("query page of 100 rows", ROUNDS, hand.page),
        ("update of 10,000 rows", 1, hand.update),
        ("migration of 10,000 rows", 1, hand.migrate),
    ):
        samples = []
        for batch in range(-WARM, BATCHES):
            start = time.perf_counter()
            for _ in range(rounds):
                once()
            if batch >= 0:
                samples.append((time.perf_counter() - start) * 1e6 / rounds)
        row = {"unit": "us", "samples": samples, "version": sqlite3.sqlite_version}
        report(case=f"store, {name}", system="sqlite3", **row)
    hand.file.close()
    remove()


async def main():
    for length in (10, 10_000):
        name = f"one delta a commit, {length:,} characters"
        await measure(name, 1, ROUNDS, lambda kept, length=length: commit(kept, length))
        measure_by_hand(name, ROUNDS, length)
    name = "1,000 commits at once, 10 characters"
    await measure(name, MANY, 1, many)
    measure_by_hand(name, MANY, 10)
    await measure_rows()
    measure_rows_by_hand()
    samples = [await migrate_once() for _ in range(BATCHES)]
    report(case="store, migration of 10,000 rows", unit="us", samples=samples)
    remove()


asyncio.run(main())
