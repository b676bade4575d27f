"""What a commit into a store costs in Python, beside its own sqlite3 by hand. python bench/store.py FOLDER BATCHES: a
JSON object a line; FOLDER has the payloads, and the files while it runs."""

import asyncio
import itertools
import json
import sqlite3
import time

import chordal
from world import BATCHES, FOLDER, WARM, report

ROUNDS, MANY = 200, 1000
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


async def main():
    for length in (10, 10_000):
        name = f"one delta a commit, {length:,} characters"
        await measure(name, 1, ROUNDS, lambda kept, length=length: commit(kept, length))
        measure_by_hand(name, ROUNDS, length)
    name = "1,000 commits at once, 10 characters"
    await measure(name, MANY, 1, many)
    measure_by_hand(name, MANY, 10)


asyncio.run(main())
