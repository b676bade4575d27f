"""How a reference keeps values: sharing ones, one that is changed in place, or none."""

import asyncio
import json

import chordal
import pytest
from chordal import ChordalError
from chordal import frame as frames
from conftest import Notes, turns, until


class Pair:
    """A provider's object and how a linked host holds it."""

    async def __aenter__(self):
        self.provider, self.holder = chordal.Host(types=[Notes]), chordal.Host()
        chordal.pair(self.holder, self.provider)
        self.object = self.provider.object(Notes, board="a")
        return self

    async def __aexit__(self, *_):
        await self.holder.close()
        await self.provider.close()

    async def write(self, change):
        with self.object.transaction() as t:
            change(t)
        await t.ticket
        await turns(10)

    async def hold(self, **options):
        return await self.holder.get("notes", board="a", **options).live()


def push(*items):
    return lambda t: t.list["entries"].extend(items)


@pytest.fixture
def short_frames(monkeypatch):
    monkeypatch.setattr(frames, "_KEPT_BYTES", 100)


async def test_in_place_is_one_value():
    async with Pair() as pair:
        place, shared = await pair.hold(values="in-place"), await pair.hold()
        value, entries, before = place.list.value, place.list.value["entries"], shared.list.value
        seen = []
        place.list.watch(lambda frame: seen.append((frame.value, frame.ops)))
        await pair.write(push(1, [2], "three", {"four": 4}))
        await pair.write(lambda t: t.list["entries"].reverse())
        await pair.write(lambda t: t.list["entries"].__delitem__(1))
        await pair.write(lambda t: t.list["entries"][1].append(3))
        assert place.list.value is value and value["entries"] is entries
        assert value == shared.list.value == {"entries": [{"four": 4}, [2, 3], 1]}
        assert before == {"entries": []}
        assert all(seen_value is value for seen_value, _ in seen) and len(seen) == 5
        assert seen[4][1] == [("p", ("entries", 1), 1, 0, [3])]
        with pytest.raises(TypeError):
            entries.append(1)


async def test_none_has_ops_alone():
    async with Pair() as pair:
        bare = pair.holder.get("notes", board="a", values="none")
        seen = []
        bare.list.watch(seen.append)
        await bare.live()
        await turns()
        await pair.write(push({"id": 1}))
        assert bare.list.value is None and all(frame.value is None for frame in seen)
        assert [frame.snapshot for frame in seen] == [True, False]
        assert seen[0].ops == [("r", (), {"entries": []})]
        assert seen[1].ops == [("p", ("entries",), 0, 0, [{"id": 1}])]


async def test_references_share_a_replica_only_when_they_keep_alike():
    async with Pair() as pair:
        held = [await pair.hold(values=values) for values in ("shared", "in-place", "none", "shared")]
        assert len({reference._replica.id for reference in held}) == 3
        assert held[0]._replica is held[3]._replica
        with pytest.raises(ChordalError) as caught:
            pair.holder.get("notes", board="a", values="copied")
        assert caught.value.name == "invalid"


async def test_ops_that_wait_are_folded():
    async with Pair() as pair:
        bare = pair.holder.get("notes", board="a", values="none")
        following = bare.list.frames()
        await bare.live()
        await pair.write(push(1))
        await pair.write(push(2))
        frame = await anext(following)
        assert frame.folded and frame.snapshot and frame.ops[0] == ("r", (), {"entries": []}) and len(frame.ops) == 3
        await pair.write(push(3))
        frame = await anext(following)
        assert not frame.snapshot and frame.ops == [("p", ("entries",), 2, 0, [3])]


@pytest.mark.usefixtures("short_frames")
async def test_ops_that_are_too_many_become_a_whole_value():
    async with Pair() as pair:
        bare = pair.holder.get("notes", board="a", values="none")
        following = bare.list.frames()
        await bare.live()
        assert (await anext(following)).snapshot
        for n in range(20):
            await pair.write(push(f"entry {n} of some length"))
        await until(lambda: following._lags())
        ops, frame = [], None
        while True:
            frame = await anext(following)
            ops = frame.ops if frame.snapshot else ops + frame.ops
            if following._next is None:
                break
        assert frame.folded and ops[0][0] == "r"
        last = ops[0][2]["entries"] + [item for op in ops[1:] for item in op[4]]
        assert last == [f"entry {n} of some length" for n in range(20)]


async def test_a_broken_value_in_place_is_made_whole(caplog):
    async with Pair() as pair:
        place = await pair.hold(values="in-place")
        await pair.write(push(1))
        list.clear(place.list.value["entries"])
        await pair.write(lambda t: t.list["entries"].__setitem__(0, {"id": 1}) or t.list["entries"].__delitem__(0))
        await pair.write(push("x"))
        list.clear(place.list.value["entries"])
        await pair.write(lambda t: t.list["entries"].__delitem__(0))
        await until(lambda: place.list.value == {"entries": []})
        await pair.write(push("again"))
        assert json.dumps(place.list.value) == '{"entries": ["again"]}' and "did not apply" in caplog.text
        await asyncio.sleep(0)
