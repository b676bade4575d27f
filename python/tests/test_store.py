"""Documents in a store: there again, durable before they are seen, refused with clear codes."""

import asyncio
import os
import subprocess
import sys

import chordal
import pytest
from chordal import ChordalError
from conftest import Notes


async def add(path, text, **options):
    async with chordal.Host(store=path, types=[Notes], **options) as host:
        notes = await host.get(Notes, board="a").live()
        await notes.add(text)
        return [entry["text"] for entry in notes.list.value["entries"]]


@pytest.mark.parametrize("durability", ["normal", "full", "off"])
async def test_a_document_is_there_again(tmp_path, durability):
    path = tmp_path / "ä store.db"
    assert await add(path, "milk", durability=durability) == ["milk"]
    assert await add(path, "honey", durability=durability) == ["milk", "honey"]
    async with chordal.Host(store=os.fsencode(path), types=[Notes]) as host:
        notes = await host.get(Notes, board="a").live()
        assert notes.summary.value == ": 2"
        other = await host.get(Notes, board="b").live()
        assert other.list.value == {"entries": []}


async def test_transactions_of_one_turn_build_on_each_other(tmp_path):
    async with chordal.Host(store=tmp_path / "s.db", types=[Notes]) as host:
        notes = host.object(Notes, board="a")
        tickets = []
        for number in range(100):
            with notes.transaction() as t:
                t.list["entries"].append(number)
            tickets.append(t.ticket)
        assert [await ticket for ticket in tickets] == list(range(1, 101))
        assert notes.list["entries"] == list(range(100))
    async with chordal.Host(store=tmp_path / "s.db", types=[Notes]) as host:
        assert host.object(Notes, board="a").list["entries"] == list(range(100))


class Mixed(chordal.Object, history=5):
    kept = chordal.document(0)
    seen = chordal.document(0, persist=False)


async def test_documents_of_the_moment(tmp_path):
    for round in range(1, 3):
        async with chordal.Host(store=tmp_path / "s.db", types=[Mixed]) as host:
            mixed = host.object(Mixed)
            assert (mixed.kept, mixed.seen) == (round - 1, 0)
            with mixed.transaction() as t:
                t.kept = t.seen = round
            await t.ticket
            assert (mixed.kept, mixed.seen) == (round, round)


async def test_only_one_owner(tmp_path):
    path = tmp_path / "s.db"
    async with chordal.Host(store=path, types=[Notes]) as host:
        await (await host.get(Notes, board="a").live()).add("milk")
        with pytest.raises(ChordalError) as failure:
            chordal.Host(store=path)
        assert failure.value.name == "owned"
        program = f"import chordal; chordal.Host(store={str(path)!r})"
        other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert other.returncode != 0 and "owned" in other.stderr
        async with chordal.Host(store=path, types=[Notes], read_only=True) as reader:
            notes = reader.object(Notes, board="a")
            assert len(notes.list["entries"]) == 1
            with notes.transaction() as t:
                t.title = "no"
            with pytest.raises(ChordalError) as failure:
                await t.ticket
            assert failure.value.name == "read_only"
            assert notes.title == ""
    assert await add(path, "honey") == ["milk", "honey"]


async def test_bad_stores(tmp_path):
    text = tmp_path / "text.db"
    text.write_text("no database, " * 100)
    for path, name in [
        (text, "not_store"),
        (tmp_path / "none" / "s.db", "not_found"),
        (tmp_path, "disk_io"),
        ("", "invalid"),
        ("x" * 5000, "invalid"),
    ]:
        with pytest.raises(ChordalError) as failure:
            chordal.Host(store=path)
        assert failure.value.name == name, path
    with pytest.raises(ChordalError) as failure:
        chordal.Host(store=tmp_path / "s.db", durability="some")
    assert failure.value.name == "invalid"
    for given in ({"durability": "full"}, {"read_only": True}, {"outbox": True}, {"durability": "some"}):
        with pytest.raises(ChordalError) as failure:
            chordal.Host(**given)
        assert failure.value.name == "invalid" and "durability" in failure.value.detail
    with pytest.raises(ChordalError) as failure:
        chordal.Host(store=tmp_path / "s.db", read_only=True)
    assert failure.value.name == "not_found"
    with pytest.raises(ValueError):
        chordal.Host(store="a\0b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text.db"]
    assert text.read_text().startswith("no database")


async def test_a_host_that_is_not_made_leaves_the_store(tmp_path):
    class Bad(chordal.Object):
        rows = chordal.table({"id": "no such type"}, key="id")

    path, kept = tmp_path / "s.db", []
    for make, name in (
        (lambda: chordal.Host(store=path, types=[Notes, Bad]), "invalid"),
        (lambda: chordal.Host(store=path, types=[Notes, int]), "type"),
        (lambda: chordal.connect("nowhere", store=path), "invalid"),
        (lambda: chordal.parent(store=path), "state"),
    ):
        with pytest.raises(ChordalError) as failure:
            make()
        assert failure.value.name == name
        kept.append(failure.value)  # and the frames that have the host
        assert await add(path, "milk")


# The interpreter's own SQLite closes the file in the same process, which drops the locks of ours: the owner's lock is
# not among them.
async def test_beside_the_interpreters_sqlite(tmp_path):
    sqlite3 = pytest.importorskip("sqlite3")
    path = tmp_path / "s.db"
    async with chordal.Host(store=path, types=[Notes]) as host:
        notes = await host.get(Notes, board="a").live()
        for number in range(20):
            await notes.add(str(number))
            other = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            assert other.execute("SELECT count(*) FROM chordal_runs").fetchone() == (1,)
            other.close()
            program = f"import chordal; chordal.Host(store={str(path)!r})"
            if number % 10 == 0:
                owner = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
                assert "owned" in owner.stderr
    async with chordal.Host(store=path, types=[Notes]) as host:
        assert len(host.object(Notes, board="a").list["entries"]) == 20


# A process that is killed between any two commits has lost none that it was told of.
async def test_killed(tmp_path):
    path = tmp_path / "s.db"
    program = f"""
import asyncio, chordal, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
from conftest import Notes

async def main():
    async with chordal.Host(store={str(path)!r}, types=[Notes]) as host:
        notes = await host.get(Notes, board="a").live()
        for number in range(100000):
            await notes.add(str(number))
            print(len(notes.list.value["entries"]), flush=True)

asyncio.run(main())
"""
    told = 0
    for lines in (3, 50, 1):
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(lines):
            told = int(process.stdout.readline())
        process.kill()
        process.communicate()
        async with chordal.Host(store=path, types=[Notes]) as host:
            entries = host.object(Notes, board="a").list["entries"]
            assert len(entries) >= told
            assert [entry["id"] for entry in entries] == list(range(1, len(entries) + 1))


def first_and_second(migrate):
    class First(chordal.Object, name="person"):
        name = chordal.document("")
        tags = chordal.document("")

    class Second(chordal.Object, name="person", version=2):
        name = chordal.document({"first": "", "last": ""})
        tags = chordal.document([])
        seen = chordal.document(0)
        started = chordal.document(0)

        def start(self):
            assert self.seen == 0 and isinstance(self.name, dict)
            with self.transaction() as t:
                t.started += 1

    Second.migrate = migrate
    return First, Second


async def test_a_newer_version_brings_documents_up_to_date(tmp_path):
    path, calls = tmp_path / "s.db", []

    async def migrate(self, t, version):
        calls.append(version)
        await asyncio.sleep(0)
        first, last = t.name.split(" ")
        t.name = {"first": first, "last": last}

    First, Second = first_and_second(migrate)
    async with chordal.Host(store=path, types=[First]) as host:
        person = host.object(First)
        with person.transaction() as t:
            t.name, t.tags = "Ada Lovelace", "x"
        await t.ticket
    for _ in range(2):
        async with chordal.Host(store=path, types=[Second]) as host:
            person = await host.get(Second).live()
            assert person.name.value == {"first": "Ada", "last": "Lovelace"}
            assert person.tags.value == "x"
            assert person.started.value == _ + 1
    assert calls == [1]
    async with chordal.Host(store=path, types=[First]) as host:
        with pytest.raises(ChordalError) as failure:
            host.object(First)
        assert failure.value.name == "type_version"


async def test_a_migration_that_fails_changes_nothing(tmp_path):
    path = tmp_path / "s.db"

    def migrate(self, t, version):
        t.name = {"first": "half", "last": ""}
        raise chordal.MethodError("no_name", "there is no second word")

    First, Second = first_and_second(migrate)
    async with chordal.Host(store=path, types=[First]) as host:
        with host.object(First).transaction() as t:
            t.name = "Ada"
        await t.ticket
    async with chordal.Host(store=path, types=[Second]) as host:
        early = host.object(Second)
        for _ in range(2):  # before it has run, and after it has failed
            with pytest.raises(ChordalError) as failure, early.transaction() as t:
                t.name = "early"
            assert failure.value.name == "state"
            with pytest.raises(ChordalError) as failure:
                await host.get(Second).live()
            assert (failure.value.name, failure.value.detail) == ("method", "there is no second word")
    async with chordal.Host(store=path, types=[First]) as host:
        assert host.object(First).name == "Ada"


async def test_what_fell_back_is_not_read(tmp_path):
    path, seen = tmp_path / "s.db", []
    async with chordal.Host(store=path, types=[Mixed]) as host:
        with host.object(Mixed).transaction() as t:
            t.kept = 1
        await t.ticket
    async with chordal.Host(store=path, types=[Mixed], read_only=True) as host:
        mixed = host.object(Mixed)
        reference = await host.get(Mixed).live()

        def look(frame):
            with mixed.transaction() as t:
                seen.append((frame.value, t.kept))
                t.abort()

        reference.seen.watch(look)
        await asyncio.sleep(0)
        with mixed.transaction() as first:
            first.seen = 5
        with mixed.transaction() as second:
            second.kept = 7
        assert (mixed.seen, mixed.kept) == (5, 7)
        with pytest.raises(ChordalError) as failure:
            await second.ticket
        assert failure.value.name == "read_only"
        await first.ticket
        assert seen == [(0, 1), (5, 1)]
        assert (mixed.seen, mixed.kept) == (5, 1)


async def test_a_derive_reads_what_its_commit_made(tmp_path):
    counted = []

    class Counted(chordal.Object):
        items = chordal.document([])

        @chordal.derive("items")
        def count(self):
            counted.append(len(self.items))
            return len(self.items)

    async with chordal.Host(store=tmp_path / "s.db", types=[Counted]) as host:
        object = host.object(Counted)
        await host.get(Counted).live()
        for number in range(3):
            with object.transaction() as t:
                t.items.append(number)
        await t.ticket
        assert counted == [0, 1, 2, 3]
