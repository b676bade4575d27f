"""Tables between runtimes: rows that one provides, in live queries that another holds."""

import asyncio
import contextlib
import json
import pathlib

import chordal
import pytest

PROGRAM = pathlib.Path(__file__).resolve().with_name("tables.mjs")
LARGEST = 2**63 - 1


class Board(chordal.Object):
    name: str
    tasks = chordal.table(
        {"id": "integer", "title": "text", "due": "real", "done": {"type": "integer", "default": 0}, "file": "bytes"},
        key="id",
    )

    @chordal.method
    def put(self, call, row, file):
        with call.transaction() as t:
            t.tasks.put({**row, "file": file})

    @chordal.method
    def finish(self, call, where):
        with call.transaction() as t:
            return t.tasks.update_where(where, {"done": 1})


async def node(*words):
    program = ("node", str(PROGRAM), *map(str, words))
    return await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)


@contextlib.asynccontextmanager
async def provided(by, address, store):
    if by == "python":
        async with chordal.Host(store=store, types=[Board]) as host, await host.listen(address):
            yield
        return
    process = await node("provide", address, store)
    try:
        assert await process.stdout.readline() == b"ready\n"
        yield
    finally:
        process.kill()
        await process.wait()


async def held_here(address):
    """What tables.mjs does in JavaScript."""
    async with chordal.connect(address) as host:
        board = host.get(Board, name="ä")
        first = board.tasks.live(where={"eq": ["done", 0]}, order=[["due", "desc"]], limit=3)
        groups = board.tasks.live(group=["done"], count=True, sum="id")
        files = board.tasks.live(where={"gt": ["file", b"\x05"]})
        for query in (first, groups, files):
            await query.live()
        for number in range(10):
            await board.put({"id": number, "title": f"é {number}", "due": number / 4}, bytes([number, 255]))
        await board.put({"id": LARGEST, "due": -1}, b"")
        count = await board.finish({"in": ["id", [9, LARGEST]]})
        with pytest.raises(chordal.ChordalError) as wrong:
            await board.tasks.live(where={"eq": ["nope", 1]}).live()
        rows = [query.rows.value for query in (first, groups, files)]
    return {"rows": rows, "count": count, "why": wrong.value.name}


async def held_elsewhere(address, *words):
    process = await node("hold", address, *words)
    try:
        out, _ = await process.communicate()
        assert process.returncode == 0
        return json.loads(out)
    finally:
        if process.returncode is None:
            process.kill()


HOLDERS = {
    "python": held_here,
    "node": held_elsewhere,
    "wasm": lambda address: held_elsewhere(address, "wasm"),
}


def check(seen):
    first, groups, files = seen["rows"]
    assert [(row["id"], row["title"], row["due"], row["done"]) for row in first] == [
        (8, "é 8", 2, 0),
        (7, "é 7", 1.75, 0),
        (6, "é 6", 1.5, 0),
    ]
    assert [(entry["group"], entry["count"], int(entry["sum"])) for entry in groups] == [
        ({"done": 0}, 9, 36),
        ({"done": 1}, 2, 9 + LARGEST),
    ]
    assert [(row["id"], row["file"]["length"]) for row in files] == [(number, 2) for number in range(5, 10)]
    assert (seen["count"], seen["why"]) == (2, "invalid")
    return [row["file"]["digest"] for row in files]


@pytest.mark.parametrize("provider", ["python", "node"])
def test_live_queries(provider, tmp_path):
    async def run():
        digests = []
        for holder, hold in HOLDERS.items():
            address = f"ipc:{tmp_path}/{holder}"
            async with provided(provider, address, tmp_path / f"{holder}.db"):
                digests.append(check(await asyncio.wait_for(hold(address), 30)))
        assert all(each == digests[0] for each in digests) and len(set(digests[0])) == 5

    asyncio.run(run())
