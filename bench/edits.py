"""The edits whose deltas are compared, as a file that the programs of all systems read: those of the model's twin
(tests/model/twin_sizes.py), so that what is compared is what is tested."""

import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "model"))
import twin_sizes  # noqa: E402
from twin_values import p  # noqa: E402

MOVES = {"move a note by 600 places": (100, 700), "swap two neighbours": (100, 101)}


def acts(name, ops):
    """What a program does to the document, for systems with shared types: the ops without the member's number, and a
    move as such."""
    if name in MOVES:
        return [{"op": "move", "path": [], "from": MOVES[name][0], "to": MOVES[name][1]}]
    return [{**op, "path": op["path"][1:]} for op in ops]


def edits():
    """Without lone surrogates, which not all systems have."""
    for name, before, ops in [
        *twin_sizes.text_edits(),
        *twin_sizes.list_edits(random.Random(1)),
        *twin_sizes.key_edits(),
    ]:
        if "half of a pair" in name:
            continue
        (after,) = p.apply([before], ops)
        yield {"name": name, "before": before, "after": after, "ops": p.ops_json(ops), "acts": acts(name, ops)}


def write(folder):
    (folder / "edits.json").write_text(json.dumps(list(edits()), separators=(",", ":")))
