"""What lies in a store is read back at a point, followed, copied and checked."""

import asyncio
import sqlite3

import chordal
import pytest
from chordal import ChordalError
from conftest import Notes, until


class Kept(chordal.Object, version=2, history="all"):
    board: str
    side: int
    list = chordal.document({"entries": [], "text": ""})
    any = chordal.document(None)


async def commit(instance, change):
    with instance.transaction() as t:
        change(t)
    return await t.ticket


def refused(name, function, *arguments, **named):
    with pytest.raises(ChordalError) as failure:
        function(*arguments, **named)
    assert failure.value.name == name


async def test_read_at_a_commit(tmp_path):
    async with chordal.Host(store=tmp_path / "s.db", types=[Kept]) as host:
        kept = host.object(Kept, board="a", side=1)
        for number in range(1, 11):
            assert await commit(kept, lambda t, number=number: t.list["entries"].append(number)) == number
        for at in range(1, 11):
            value = host.store.read(Kept, "list", board="a", side=1, at=at)
            assert value == {"entries": list(range(1, at + 1)), "text": ""}
            assert value == host.store.read("kept", "list", {"side": 1, "board": "a"}, at=at)
        assert host.store.read(Kept, "list", board="a", side=1)["entries"][-1] == 10
        assert isinstance(value, chordal.FrozenDict)
        refused("not_found", host.store.read, Kept, "any", board="a", side=1)
        refused("not_found", host.store.read, Kept, "list", board="b", side=1)
        refused("not_found", host.store.read, "nothing", "list")
        refused("type", host.store.read, 5, "list")
        refused("range", host.store.read, Kept, "list", board="a", side=1, at=-1)


async def test_documents_and_their_lives(tmp_path):
    async with chordal.Host(store=tmp_path / "s.db", types=[Kept]) as host:
        assert list(host.store.documents()) == []
        for life in (1, 2):
            kept = host.object(Kept, board="a", side=1)
            with kept.transaction() as t:
                t.any = life
            if life == 1:
                kept.retire()
        await t.ticket
        first, second = host.store.documents()
        assert first == ("kept", {"board": "a", "side": 1}, "any", 1, 2, 1, 1, 1)
        assert (second.incarnation, second.created, second.retired, second.commit) == (2, 2, None, 2)
        assert host.store.read(Kept, "any", board="a", side=1, at=first.retired) == 1
        assert host.store.read(Kept, "any", board="a", side=1) == 2
        for side in range(150):
            with host.object(Kept, board="b", side=side).transaction() as t:
                t.any = side
        await t.ticket
        assert [document.params["side"] for document in host.store.documents()] == [1, 1, *range(150)]


OPS = [
    (lambda t: t.list["entries"].extend([{"a": 1}, 2, 3]), [("r", (), {"entries": [{"a": 1}, 2, 3], "text": ""})]),
    (lambda t: t.list["entries"].insert(1, 2**64 - 1), [("p", ("entries",), 1, 0, [2**64 - 1])]),
    (lambda t: t.list.append_text("text", "tok"), [("a", ("text",), "tok")]),
    (lambda t: t.list.truncate_text("text", 2), [("t", ("text",), 2)]),
    (lambda t: t.list["entries"].permute([3, 2, 1, 0]), [("m", ("entries",), [3, 2, 1, 0])]),
    (lambda t: t.list["entries"][3].__setitem__("a", "x"), [("s", ("entries", 3, "a"), "x")]),
    (lambda t: t.list["entries"][3].__delitem__("a"), [("d", ("entries", 3, "a"))]),
]


async def test_the_outbox_is_followed_and_trimmed(tmp_path):
    async with chordal.Host(store=tmp_path / "s.db", types=[Kept], outbox=True) as host:
        kept = host.object(Kept, board="a", side=1)
        for number, (change, ops) in enumerate(OPS, 1):
            assert await commit(kept, change) == number
            (row,) = host.store.outbox(after=number - 1)
            assert row == (number, [("kept", {"board": "a", "side": 1}, "list", ops, None, None)]), number
        with kept.transaction() as t:
            t.any = t.list["text"] = "both"
        last = await t.ticket
        assert [write.member for write in next(host.store.outbox(last - 1)).writes] == ["any", "list"]
        assert host.store.trim(3) == 3
        assert [row.commit for row in host.store.outbox()] == list(range(4, last + 1))
        for number in range(2500):
            with kept.transaction() as t:
                t.any = number
        last = await t.ticket
        assert len(list(host.store.outbox(after=8))) == 2500
        assert host.store.trim(last - 1) == 2500 + 8 - 3 - 1
        assert [row.commit for row in host.store.outbox()] == [last]


async def test_a_backup_while_the_host_goes_on(tmp_path):
    path, copy = tmp_path / "s.db", tmp_path / "copy.db"
    async with chordal.Host(store=path, types=[Notes]) as host:
        notes = host.object(Notes, board="a")
        for number in range(200):
            with notes.transaction() as t:
                t.list["entries"].append("x" * 20000 + str(number))
        await t.ticket
        backup = asyncio.ensure_future(host.store.backup(copy))
        await asyncio.sleep(0)
        assert not copy.exists()
        await commit(notes, lambda t: t.list["entries"].clear())
        assert await backup == 200
        assert await host.store.check() == []
        for place, name in [(copy, "exists"), (path, "exists"), (tmp_path / "no" / "s.db", "not_found")]:
            with pytest.raises(ChordalError) as failure:
                await host.store.backup(place)
            assert failure.value.name == name
    async with chordal.Host(store=copy, types=[Notes]) as host:
        assert len(host.object(Notes, board="a").list["entries"]) == 200


async def test_a_backup_ends_with_its_host(tmp_path):
    async with chordal.Host(store=tmp_path / "s.db", types=[Notes]) as host:
        with host.object(Notes, board="a").transaction() as t:
            t.title = "x" * 10_000_000
        await t.ticket
        backup = asyncio.ensure_future(host.store.backup(tmp_path / "copy.db"))
        await asyncio.sleep(0)
    with pytest.raises(ChordalError) as failure:
        await backup
    assert failure.value.name == "closed"
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]


async def test_beside_the_owner(tmp_path):
    path = tmp_path / "s.db"
    async with chordal.Host(store=path, types=[Kept], outbox=True) as host:
        kept = host.object(Kept, board="a", side=1)
        await commit(kept, lambda t: setattr(t, "any", 1))
        async with chordal.Host(store=path, read_only=True) as reader:
            await commit(kept, lambda t: setattr(t, "any", 2))
            assert reader.store.read(Kept, "any", board="a", side=1) == 2
            assert [row.commit for row in reader.store.outbox()] == [1, 2]
            assert await reader.store.check() == []
            assert await reader.store.backup(tmp_path / "copy.db") == 2
            refused("read_only", reader.store.trim, 1)


async def test_damage_is_told(tmp_path):
    path = tmp_path / "s.db"
    async with chordal.Host(store=path, types=[Kept]) as host:
        await commit(host.object(Kept, board="a", side=1), lambda t: setattr(t, "any", 1))
    with sqlite3.connect(path) as file:
        file.execute("UPDATE chordal_revisions SET data = x'c1'")
    file.close()
    async with chordal.Host(store=path) as host:
        (fault,) = await host.store.check()
        assert fault.place == f"chordal_revisions {(1 << 36) + 1}" and "damaged" in fault.detail
        assert (fault.type, fault.params, fault.member) == ("kept", {"board": "a", "side": 1}, "any")
        refused("corrupt", host.store.read, Kept, "any", board="a", side=1)


async def test_without_a_store(tmp_path):
    async with chordal.Host() as host:
        refused("state", host.store.read, "kept", "any")
        refused("state", list, host.store.documents())
        refused("state", list, host.store.outbox())
        refused("state", host.store.trim, 1)
        for coroutine in (host.store.backup(tmp_path / "x"), host.store.check()):
            with pytest.raises(ChordalError) as failure:
                await coroutine
            assert failure.value.name == "state"
    refused("closed", list, host.store.documents())


async def test_a_restored_backup_is_no_history_that_a_holder_saw(tmp_path):
    """Commits with the numbers that it knows, of another run: it gets the values as they are now."""
    address, copy = f"ipc:{tmp_path}/socket", tmp_path / "copy.db"

    async def serve(store, words):
        host = chordal.Host(store=store, types=[Kept])
        kept = host.object(Kept, board="a", side=1)
        for word in words:
            await commit(kept, lambda t, word=word: t.list["entries"].append(word))
        await host.listen(address)
        return host, kept

    host, kept = await serve(tmp_path / "s.db", ["one", "two", "three"])
    async with chordal.connect(address, backoff_first=5, backoff_limit=20) as holder:
        held = await holder.get(Kept, board="a", side=1).live()
        assert await host.store.backup(copy) == 3
        for word in ("four", "five", "six"):
            await commit(kept, lambda t, word=word: t.list["entries"].append(word))
        await until(lambda: len(held.list.value["entries"]) == 6)
        await host.close()
        host, kept = await serve(copy, ["vier", "fünf", "sechs", "sieben"])
        expected = ["one", "two", "three", "vier", "fünf", "sechs", "sieben"]
        assert kept.list["entries"] == expected
        await until(lambda: held.list.value["entries"] == expected)
        await commit(kept, lambda t: t.list["entries"].append("acht"))
        await until(lambda: held.list.value["entries"] == [*expected, "acht"])
        await host.close()
