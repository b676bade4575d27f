"""How large pycrdt's deltas of the edits are. python bench/peers/edits.py FOLDER: a JSON object a line. FOLDER has
edits.json."""

import importlib.metadata
import json
import pathlib
import sys

from pycrdt import Array, Doc, Map, Text

EDITS = json.loads((pathlib.Path(sys.argv[1]) / "edits.json").read_text())


def shared(value, texts=(), path=""):
    """Shared types for the containers, and for the texts that are changed within."""
    if isinstance(value, str):
        return Text(value) if path in texts else value
    if isinstance(value, dict):
        return Map({key: shared(item, texts, f"{path}/{key}") for key, item in value.items()})
    if isinstance(value, list):
        return Array([shared(item, texts, f"{path}/{i}") for i, item in enumerate(value)])
    return value


def plain(value):
    return value.to_py() if isinstance(value, (Map, Array)) else str(value) if isinstance(value, Text) else value


def again(target, items):
    del target[0 : len(target)]
    target.extend([shared(item) for item in items])


def splice(target, act):
    at, remove = act["index"], act["remove"]
    if remove:
        del target[at : at + remove]
    for i, value in enumerate(act["values"]):
        target.insert(at + i, shared(value))


def perform(root, act):
    path = ["v", *act["path"]]
    holder = root
    for segment in path[:-1]:
        holder = holder[segment]
    key, kind = path[-1], act["op"]
    if kind in ("set", "replace"):
        holder[key] = shared(act["value"])
    elif kind == "delete":
        del holder[key]
    elif kind == "append":
        holder[key].insert(len(holder[key]), act["text"])
    elif kind == "truncate":
        del holder[key][0 : act["count"]]
    elif kind == "splice":
        splice(holder[key], act)
    elif kind == "move":
        item = plain(holder[key][act["from"]])
        del holder[key][act["from"]]
        holder[key].insert(act["to"], shared(item))
    else:
        items = plain(holder[key])
        again(holder[key], [items[index] for index in act["indexes"]])


def measure(edit):
    texts = {
        "".join(f"/{segment}" for segment in act["path"]) for act in edit["acts"] if "text" in act or "count" in act
    }
    source, replica = Doc(), Doc()
    root = source.get("root", type=Map)
    copy = replica.get("root", type=Map)
    root["v"] = shared(edit["before"], texts)
    replica.apply_update(source.get_update())
    updates = []
    following = source.observe(lambda event: updates.append(event.update))
    with source.transaction():
        for act in edit["acts"]:
            perform(root, act)
    source.unobserve(following)
    for update in updates:
        replica.apply_update(update)
    assert plain(copy["v"]) == edit["after"], edit["name"]
    return sum(map(len, updates))


for edit in EDITS:
    size = measure(edit)
    row = {"case": f"delta size, {edit['name']}", "system": "pycrdt", "version": importlib.metadata.version("pycrdt")}
    print(json.dumps({**row, "unit": "B", "samples": [size], "bytes": size}), flush=True)
