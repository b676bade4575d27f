"""The command line on stores: backup, check, dump, export and import, also beside a running host."""

import asyncio
import functools
import json
import os
import signal
import sqlite3
import subprocess

import chordal
import pytest
import square
from chordal import ChordalError

TOOL = str(square.TOOL)


class Kept(chordal.Object, version=3, history="all"):
    """Params that JSON writes in more than one way, in an order that is not that of the alphabet."""

    name: str
    board: int
    list = chordal.document({"entries": []})
    any = chordal.document(None)


class Other(chordal.Object):
    title = chordal.document("")


VALUES = [
    None,
    True,
    0,
    -(2**63),
    2**64 - 1,
    2**53 + 1,
    0.1,
    -1e-300,
    1.7976931348623157e308,
    "",
    'a "quoted" \\ line\n\x00\x1f ä € 😀',
    "\ud800 alone \udfff",
    [],
    {},
    {"__proto__": [1, [2, [3]]], "": {"": None}, "\udc00": "}],{"},
    ["]", {"[": ","}],
]


def in_a_loop(test):
    @functools.wraps(test)
    def run_test(*arguments, **named):
        asyncio.run(test(*arguments, **named))

    return run_test


def run(*words, text="", **options):
    """Exit code, standard output and standard error."""
    done = subprocess.run([TOOL, *map(str, words)], input=text, capture_output=True, text=True, timeout=60, **options)
    return done.returncode, done.stdout, done.stderr


def lines(*words):
    code, out, error = run(*words)
    assert (code, error) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


async def fill(host):
    for number, value in enumerate(VALUES):
        kept = host.object(Kept, name=f"n{number}", board=number)
        with kept.transaction() as t:
            t.any = [value]
            t.list["entries"].append(value)
        await t.ticket
    other = host.object(Other)
    with other.transaction() as t:
        t.title = "first life"
    other.retire()
    other = host.object(Other)
    with other.transaction() as t:
        t.title = "second life"
    await t.ticket


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "s.db"

    async def make():
        async with chordal.Host(store=path, types=[Kept, Other]) as host:
            await fill(host)

    asyncio.run(make())
    return path


async def values_of(path, *, made=(Kept, Other)):
    async with chordal.Host(store=path, types=made, read_only=True) as host:
        kept = [host.object(Kept, name=f"n{number}", board=number) for number in range(len(VALUES))]
        return [(one.any, one.list) for one in kept], host.object(Other).title


def without_reading_files(folder):
    """A reader leaves SQLite's index and an empty log."""
    return sorted(name for name in os.listdir(folder) if not name.endswith(("-wal", "-shm")))


# ---- backup, check ----


@in_a_loop
async def test_backup_beside_a_running_host(tmp_path):
    path, copy = tmp_path / "s.db", tmp_path / "copy.db"
    async with chordal.Host(store=path, types=[Kept, Other]) as host:
        await fill(host)
        code, out, error = run("backup", path, copy)
        assert (code, out, error) == (0, f"copied up to commit {len(VALUES) + 2}\n", "")
        assert run("check", path) == (0, "no damage\n", "")
        other = host.object(Other)
        with other.transaction() as t:
            t.title = "later"
        await t.ticket
    assert run("check", copy) == (0, "no damage\n", "")
    assert await values_of(copy) == ([([v], {"entries": [v]}) for v in VALUES], "second life")
    assert without_reading_files(tmp_path) == ["copy.db", "s.db"]


def test_refused_backups(store, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    for words, told in [
        ([store, taken], "(exists)"),
        ([store, store], "(exists)"),
        ([store, tmp_path / "none" / "x"], "(not_found)"),
        ([tmp_path / "none.db", tmp_path / "x"], "(not_found)"),
        ([taken, tmp_path / "x"], "(not_store)"),
    ]:
        code, out, error = run("backup", *words)
        assert (code, out) == (1, "") and error.startswith("chordal: ") and error.endswith(f"{told}\n"), words
    assert taken.read_text() == "mine" and without_reading_files(tmp_path) == ["s.db", "taken"]


def test_damage(store):
    with sqlite3.connect(store) as file:
        row = file.execute("SELECT max(id) FROM chordal_revisions WHERE id < (2 << 36)").fetchone()[0]
        file.execute("UPDATE chordal_revisions SET data = x'c1' WHERE id = ?", [row])
    file.close()
    code, out, error = run("check", store)
    (fault,) = map(json.loads, out.splitlines())
    assert (code, error, fault["place"]) == (1, "", f"chordal_revisions {row}")
    assert (fault["type"], fault["params"], fault["member"]) == ("kept", {"name": "n0", "board": 0}, "any")
    assert run("export", store)[0] == 1


def test_a_page_that_is_gone(store):
    with sqlite3.connect(store) as file:
        page = file.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'chordal_revisions'").fetchone()[0]
    file.close()
    with open(store, "r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\x55" * 4096)
    code, out, error = run("check", store)
    assert (code, error) == (1, "") and all(json.loads(line)["detail"] for line in out.splitlines())


# ---- dump ----


def test_dump(store):
    told = lines("dump", store)
    assert len(told) == 2 * len(VALUES) + 2
    assert told[0] == {
        "type": "kept",
        "params": {"name": "n0", "board": 0},
        "member": "any",
        "incarnation": 1,
        "version": 3,
        "created": 1,
        "retired": None,
        "commit": 1,
        "value": [None],
    }
    assert [entry["value"] for entry in told if entry["member"] == "any"] == [[v] for v in VALUES]
    first, second = lines("dump", store, "--type", "other")
    assert (first["incarnation"], first["retired"], "value" in first) == (1, len(VALUES) + 1, False)
    assert (second["incarnation"], second["retired"], second["value"]) == (2, None, "second life")
    assert lines("dump", store, "--type", "nothing") == []


def test_dump_at_a_commit(store):
    assert lines("dump", store, "--at", 1) == lines("dump", store)[:2]
    assert [entry["incarnation"] for entry in lines("dump", store, "--at", len(VALUES) + 1, "--type", "other")] == [1]
    assert [entry["incarnation"] for entry in lines("dump", store, "--at", len(VALUES) + 2, "--type", "other")] == [2]
    assert lines("dump", store, "--at", 999) == [e for e in lines("dump", store) if e["retired"] is None]


# ---- export, import ----


def test_tables(tmp_path):
    """Rows with all kinds of cells, in objects of two types, put from the command line's own format."""
    columns = {"a": "integer", "b": "text", "c": "real", "d": "json", "e": "bytes"}
    tables = [
        {"type": "t", "member": name, "version": 2, "columns": columns, "key": key, "indexes": {"by_c": ["c", "a"]}}
        for name, key in (("rows", ["b", "a"]), ("more", ["e"]))
    ]
    rows = [
        {"a": -(2**63) + i, "b": text, "c": (i + 1) / 7, "d": {"x": [text, i]}, "e": "AP8="}
        for i, text in enumerate(["", "\u0000", "ä😀", '"', "\ud800", "x" * 4000])
    ]
    stale = {"stale": True}
    rows += [{"a": i, "b": "many", "c": None, "d": None, "e": None} for i in range(2500)]
    items = [
        *tables,
        {"type": "t", "version": 2, "params": {"z": 1, "a": "x"}, "member": "title", "value": "document"},
        *(
            {"type": "t", "params": {"z": 1, "a": "x"}, "member": "rows", "row": row, **(stale if i % 3 else {})}
            for i, row in enumerate(rows)
        ),
        {"type": "t", "params": {"z": 2, "a": "y"}, "member": "more", "row": {**rows[0], "e": "AAECAw=="}},
    ]
    lines_of = [{"chordal": "export", "version": 1}, *items, {"items": len(items)}]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines_of)
    assert run("import", tmp_path / "a.db", text=text) == (0, f"{len(items)} items\n", "")
    assert run("check", tmp_path / "a.db") == (0, "no damage\n", "")
    code, out, error = run("export", tmp_path / "a.db")
    assert (code, error) == (0, "")
    told = [json.loads(line) for line in out.splitlines()]
    assert told[:4] == lines_of[:4] and told[-1] == lines_of[-1]
    assert {json.dumps(line, sort_keys=True) for line in told} == {
        json.dumps(line, sort_keys=True) for line in lines_of
    }
    assert run("import", tmp_path / "b.db", text=out) == (0, f"{len(items)} items\n", "")
    assert run("export", tmp_path / "b.db") == (0, out, "")
    for late in (items[3:4] + items[:1], items[2:3] * 2, items[:3] + items[3:4] * 2, items[3:4]):
        wrong = "".join(json.dumps(line) + "\n" for line in [lines_of[0], *late, {"items": len(late)}])
        code, _, error = run("import", tmp_path / "c.db", text=wrong.replace('": ', '":').replace(', "', ',"'))
        assert code == 1 and not (tmp_path / "c.db").exists(), error


@in_a_loop
async def test_export_and_import(store, tmp_path):
    code, text, error = run("export", store)
    assert (code, error) == (0, "")
    head, *documents, end = map(json.loads, text.splitlines())
    assert (head, end) == ({"chordal": "export", "version": 1}, {"items": len(documents)})
    assert len(documents) == 2 * len(VALUES) + 1
    copy = tmp_path / "copy.db"
    assert run("import", copy, text=text) == (0, f"{len(documents)} items\n", "")
    assert run("export", copy) == (0, text, "")
    assert run("check", copy) == (0, "no damage\n", "")
    assert await values_of(copy) == await values_of(store)
    assert {(entry["version"], entry["created"]) for entry in lines("dump", copy)} == {(3, 1), (1, 1)}
    async with chordal.Host(store=copy, types=[Kept, Other]) as host:
        other = host.object(Other)
        with other.transaction() as t:
            t.title = "goes on"
        assert await t.ticket == 2


@in_a_loop
async def test_export_beside_a_running_host(store):
    before = run("export", store)
    async with chordal.Host(store=store, types=[Kept, Other]) as host:
        other = host.object(Other)
        with other.transaction() as t:
            t.title = "while it runs"
        await t.ticket
        code, text, _ = run("export", store)
        assert code == 0 and text == before[1].replace("second life", "while it runs")


@in_a_loop
async def test_an_empty_store(tmp_path):
    async with chordal.Host(store=tmp_path / "s.db"):
        pass
    _, text, _ = run("export", tmp_path / "s.db")
    assert text.splitlines()[1:] == ['{"items":0}']
    assert run("import", tmp_path / "copy.db", text=text) == (0, "0 items\n", "")
    assert lines("dump", tmp_path / "copy.db") == []


def test_refused_imports(store, tmp_path):
    _, text, _ = run("export", store)
    whole = text.splitlines(keepends=True)
    twice = [*whole[:2], *whole[1:]]
    for number, wrong in enumerate(
        [
            "",
            "{}\n",
            "".join(whole[1:]),
            "".join(whole[:-1]),
            "".join(whole[:-2] + whole[-1:]),
            "".join(twice),
            text + "{}\n",
            text.replace('"member":"any"', '"member":5', 1),
            text.replace('{"type"', "{type", 1),
            text[: len(text) // 2],
        ]
    ):
        code, out, error = run("import", tmp_path / "copy.db", text=wrong)
        where = "chordal: line " if wrong else "chordal: no line on the standard input: "
        assert (code, out) == (1, "") and error.startswith(where), number
        assert without_reading_files(tmp_path) == ["s.db"], number
    code, _, error = run("import", store, text=text)
    assert code == 1 and error.startswith(f"chordal: {store}: ") and "(exists)" in error


def test_killed_within_an_import(store, tmp_path):
    """There is no store; what was begun beside is told of, and in nobody's way once it is gone."""
    _, text, _ = run("export", store)
    process = subprocess.Popen([TOOL, "import", tmp_path / "copy.db"], stdin=subprocess.PIPE, text=True)
    process.stdin.write("".join(text.splitlines(keepends=True)[:-1]))
    process.stdin.flush()
    beside = tmp_path / "copy.db-import"
    while not (tmp_path / "copy.db-import-wal").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "copy.db").exists()
    code, _, error = run("import", tmp_path / "copy.db", text=text)
    assert code == 1 and error.startswith(f"chordal: {beside}: ") and "(exists)" in error
    beside.unlink()
    code, out, _ = run("import", tmp_path / "copy.db", text=text)
    assert code == 0 and out.endswith(" items\n") and run("export", tmp_path / "copy.db")[1] == text
    assert not beside.exists()


def test_hostile_imports(tmp_path):
    """Whatever comes is refused with its line and a code, and leaves nothing."""
    head = '{"chordal":"export","version":1}\n'
    table = '{"type":"t","member":"rows","columns":{"a":"integer","b":"bytes","c":"json"},"key":["a"]}\n'
    row = '{"type":"t","params":{},"member":"rows","row":%s}\n'
    document = '{"type":"t","version":1,"params":{},"member":"d","value":%s}\n'
    for items in [
        [document % ("[" * 5000 + "]" * 5000)],
        [document % "1e999999"],
        [document % '"\\ud800'],
        [document.replace('"params":{}', '"params":{"a":1,"a":2}') % "1"],
        [document.replace('"version":1', '"version":0') % "1"],
        [document.replace('"t"', '"' + "t" * 256 + '"') % "1"],
        [document.replace('"t"', '""') % "1"],
        [table, row % '{"a":1.5}'],
        [table, row % '{"a":1,"b":"no base64"}'],
        [table, row % '{"a":9223372036854775808}'],
        [table, row % '{"a":1,"x":1}'],
        [table, row % '{"b":null}'],
        [table, row % "[]", table],
        [table.replace('["a"]', '["c"]')],
        [table.replace('"integer"', '"int); DROP TABLE chordal_runs; --"')],
        ["\0\0\0\n"],
        ["null\n"],
        [document % "1" + '{"items":1e0}\n'],
        [document % "1" + '{"items":1}x\n'],
    ]:
        text = head + "".join(items) + f'{{"items":{len(items)}}}\n'
        code, out, error = run("import", tmp_path / "s.db", text=text)
        assert (code, out) == (1, "") and error.startswith("chordal: line "), (items, error)
        assert list(tmp_path.iterdir()) == [], items


def test_a_full_output(store):
    with open("/dev/full", "w") as full:
        for words in (["export", store], ["dump", store], ["check", store]):
            done = subprocess.run([TOOL, *words], stdout=full, stderr=subprocess.PIPE, text=True)
            assert done.returncode == 1 and "cannot be written" in done.stderr


@pytest.mark.parametrize("word", ["backup", "check", "dump", "export", "import"])
def test_help(word):
    code, out, error = run(word, "--help")
    assert (code, error) == (0, "") and out.startswith(f"usage: chordal {word} ")
    code, out, error = run(word)
    assert (code, out) == (2, "") and error.startswith("usage: ")


def test_what_readers_refuse(store):
    with sqlite3.connect(store) as file:
        file.execute("PRAGMA user_version = 99")
    file.close()
    for word in ("check", "dump", "export"):
        code, _, error = run(word, store)
        assert code == 1 and "(newer)" in error
    with pytest.raises(ChordalError) as failure:
        chordal.Host(store=store)
    assert failure.value.name == "newer"
