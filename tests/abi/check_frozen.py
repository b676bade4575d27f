"""The interface only grows: every function, value and offset of each released model is still there, unchanged.

python check_frozen.py [--freeze]     --freeze: keep the present model as that of the present version
"""

import json
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "bindings" / "model.json"
FROZEN = ROOT / "bindings" / "abi"


def by_name(rows):
    return {row["name"]: row for row in rows}


def without(row, *words):
    return {key: value for key, value in row.items() if key not in words}


def functions(old, new):
    """Symbol, parameters and result are the signature; words and groupings may change."""
    present = by_name(new["functions"])
    for name, row in by_name(old["functions"]).items():
        now = present.get(name)
        if now is None:
            yield f"the function {name} is gone"
        elif any(now[key] != row[key] for key in ("symbol", "params", "result")):
            yield f"the function {name} has another signature"


def values(old, new):
    for table in ("constants", "errors", "operations", "events"):
        present = by_name(new[table])
        for name, row in by_name(old[table]).items():
            now = present.get(name)
            if now is None:
                yield f"{table}: {name} is gone"
            elif now["value"] != row["value"] and name not in MOVING:
                yield f"{table}: {name} is {now['value']}, was {row['value']}"


# What a release is expected to change.
MOVING = {"CHORDAL_VERSION", "CHORDAL_PROTOCOL", "CHORDAL_STORE"}


def fields(kind, old, new, same_size):
    """Fields keep their places. A structure may grow at its end, unless its size is part of the interface."""
    present = by_name(new)
    for name, row in by_name(old).items():
        now = present.get(name)
        if now is None:
            yield f"{kind} {name} is gone"
            continue
        places = by_name(now["fields"])
        for field, was in by_name(row["fields"]).items():
            if field != "reserved" and without(places.get(field, {}), "comment") != without(was, "comment"):
                yield f"{kind} {name}: the field {field} is not where or what it was"
        sizes = [(row[key], now[key]) for key in ("size", "size32") if key in row]
        if any(b < a or (same_size(name) and a != b) for a, b in sizes):
            yield f"{kind} {name} has another size"


# Structures that carry their size, or are passed with it, may grow; the rest is laid out by the caller as it knows it.
def fixed(name):
    return not name.endswith(("_options", "_functions", "_counters", "_handlers"))


def compare(old, new):
    if old["abi"] != new["abi"]:
        return  # another epoch: nothing is promised
    yield from functions(old, new)
    yield from values(old, new)
    yield from fields("struct", old["structs"], new["structs"], fixed)
    yield from fields("event", old["events"], new["events"], lambda name: False)
    names = [row["name"] for row in old["counters"]]
    if [row["name"] for row in new["counters"]][: len(names)] != names:
        yield "the counters are not those that were, in their order, with new ones behind them"


def unnoticed(model):
    """Whether the check sees a function that is gone, one that changed, a moved field and another value."""
    gone, changed, moved, other = (json.loads(json.dumps(model)) for _ in range(4))
    gone["functions"].pop()
    changed["functions"][0]["params"].pop()
    moved["events"][0]["fields"][0]["offset"] += 8
    other["errors"][0]["value"] -= 1
    return sum(not list(compare(model, new)) for new in (gone, changed, moved, other))


def main():
    model = json.loads(MODEL.read_text())
    if sys.argv[1:] == ["--freeze"]:
        FROZEN.mkdir(exist_ok=True)
        shutil.copyfile(MODEL, FROZEN / f"{model['version']}.json")
    failed = unnoticed(model)
    passed = 4 - failed
    for path in sorted(FROZEN.glob("*.json")):
        complaints = list(compare(json.loads(path.read_text()), model))
        for complaint in complaints:
            print(f"{path.stem}: {complaint}")
        passed, failed = passed + (not complaints), failed + bool(complaints)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
