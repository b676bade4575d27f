"""How large the deltas are of edits that a program makes by assigning: beside the fewest ops that say the same."""

import random

from twin_ops import from_json
from twin_values import p, same

NOTE = "The quick brown fox jumps over the lazy dog, again and again, until it is tired. "


def notes(count):
    """The list of notes of the benchmarks: 80 characters each."""
    return [{"id": f"n{i}", "done": i % 3 == 0, "text": f"{i:05} {NOTE}"[:80]} for i in range(count)]


def op(kind, *path, **arguments):
    return {"op": kind, "path": [0, *path]} | arguments


def text_edits():
    """(name, before, the ops that a program would name)."""
    words = " ".join(f"word{i}" for i in range(2000))
    yield "append a token to a string of 500", words[:500], [op("append", text=" token")]
    yield "append a token to a string of 10,000", words[:10000], [op("append", text=" token")]
    yield "append the second half of a pair", words[:500] + "\ud83d", [op("append", text="\ude00 token")]
    yield "drop 100 from the front of 10,000", words[:10000], [op("truncate", count=100)]
    window = [op("truncate", count=100), op("append", text=words[-100:])]
    yield "move a window of 10,000 by 100", words[:10000], window
    yield "move a window of 50 by 10", words[:50], [op("truncate", count=10), op("append", text="0123456789")]
    yield "a token within a note's text", notes(100), [op("append", 50, "text", text=" token")]


def list_edits(r):
    many, fresh = notes(1000), {"id": "fresh", "done": False, "text": NOTE[:80]}
    order, moved, near = list(range(1000)), list(range(1000)), list(range(1000))
    r.shuffle(order)
    moved.insert(700, moved.pop(100))
    near.insert(101, near.pop(100))
    yield "append a note to 1,000", many, [op("splice", index=1000, remove=0, values=[fresh])]
    yield "insert a note in front", many, [op("splice", index=0, remove=0, values=[fresh])]
    yield "insert a note in the middle", many, [op("splice", index=500, remove=0, values=[fresh])]
    yield "remove a note in the middle", many, [op("delete", 500)]
    yield "remove 100 notes in front", many, [op("splice", index=0, remove=100, values=[])]
    window = [op("splice", index=0, remove=10, values=[])]
    window += [op("splice", index=990, remove=0, values=list(range(1000, 1010)))]
    yield "move a window of 1,000 numbers by 10", list(range(1000)), window
    moves = [op("delete", 100), op("splice", index=700, remove=0, values=[many[100]])]
    yield "move a note by 600 places", many, moves
    yield "swap two neighbours", many, [op("delete", 100), op("splice", index=101, remove=0, values=[many[100]])]
    yield "shuffle 1,000 notes", many, [op("permute", indexes=order)]
    yield "reverse 1,000 numbers", list(range(1000)), [op("permute", indexes=list(range(999, -1, -1)))]
    grid = [[y * 100 + x for x in range(100)] for y in range(100)]
    yield "a cell of a grid of 100 x 100", grid, [op("set", 50, 50, value=-1)]


def key_edits():
    many, table = notes(1000), {f"key{i:05}": i for i in range(10000)}
    yield "one field of a note", many, [op("set", 500, "done", value=True)]
    yield "one field of ten notes", many, [op("set", i * 100, "done", value="later") for i in range(10)]
    yield "one key of 10,000", table, [op("set", "key05000", value=-1)]
    yield "a new key beside 10,000", table, [op("set", "fresh", value=1)]
    yield "delete a key of 10,000", table, [op("delete", "key05000")]
    yield "ten keys of 10,000", table, [op("set", f"key{i * 1000:05}", value=-1) for i in range(10)]
    whole = op("replace", value={f"k{i}": i + 1000 for i in range(100)})
    yield "every key of 100", {f"k{i}": i for i in range(100)}, [whole]


def row(name, before, named, answer):
    """What the diff takes, what the named ops take, and what it would be to send the value."""
    (after,) = p.apply([before], named)
    ops = from_json(answer["json"])
    assert same(p.apply([before], ops), [after]), name
    return {
        "edit": name,
        "ops": len(ops),
        "binary": len(answer["binary"]) // 2,
        "json": len(answer["json"].encode()),
        "named_ops": len(named),
        "named_binary": len(p.ops_binary(named)),
        "value_binary": len(p.pack(after)),
    }


def table(ask):
    """The rows; `ask` has the core answer requests."""
    edits = [*text_edits(), *list_edits(random.Random(1)), *key_edits()]
    answers = ask([["diff", before, *p.apply([before], named)] for _, before, named in edits])
    return [row(*edit, answer) for edit, answer in zip(edits, answers, strict=True)]


def complaints(rows):
    """A diff is as good as the ops that a program would name, but for a few bytes."""
    for one in rows:
        if one["binary"] > one["named_binary"] * 1.1 + 4:
            yield f"{one['edit']}: {one['ops']} ops of {one['binary']} bytes, not {one['named_binary']}"
