"""Random ops for a document, which of them are refused, and ops read back from their JSON."""

import json

from twin_values import joined, key, nesting, p, read, scalar, text, value

KINDS = {letter: kind for kind, letter in p.LETTERS.items()}


def from_elements(elements, paths=None):
    """Ops of the flat array; definitions go into `paths`, a list, or are not taken."""
    ops, at = [], 0
    while at < len(elements):
        kind = KINDS[elements[at]]
        op = {"op": kind}
        at += 1
        if kind != "generation":
            op["member" if kind == "error" else "path"] = elements[at]
            at += 1
        for name in p.ARGUMENTS.get(kind, []):
            op[name] = elements[at]
            at += 1
        if kind == "generation":
            paths.clear()
        elif kind == "define":
            paths.append(op["path"])
        else:
            if isinstance(op.get("path"), int):
                op["path"] = paths[op["path"]]
            ops.append(op)
    return ops


def from_json(text, paths=None):
    return from_elements(read(json.loads(text)), paths)


# ---- which ops are refused ----


def step(value, segment):
    """(what is there, None) or (None, code)."""
    if not isinstance(value, (list, dict)):
        return None, "path"
    if isinstance(segment, str) != isinstance(value, dict):
        return None, "type"
    if isinstance(value, dict):
        return (value[segment], None) if segment in value else (None, "path")
    return (value[segment], None) if segment < len(value) else (None, "path")


def resolve(members, path):
    value, code = members[path[0]], None
    for segment in path[1:]:
        value, code = step(value, segment)
        if code:
            break
    return value, code


def refused_in_container(container, op, last):
    if not isinstance(container, (list, dict)):
        return "path"
    if isinstance(last, str) != isinstance(container, dict):
        return "type"
    if isinstance(container, dict):
        return "path" if op["op"] == "delete" and last not in container else None
    return "range" if last > len(container) - (op["op"] == "delete") else None


def refused_in_place(place, op):
    kind = op["op"]
    wanted = str if kind in ("append", "truncate") else list
    if not isinstance(place, wanted):
        return "type"
    if kind == "truncate":
        return "range" if op["count"] > p.units(place) else None
    if kind == "splice":
        return "range" if op["index"] + op["remove"] > len(place) else None
    if kind == "permute":
        return None if sorted(op["indexes"]) == list(range(len(place))) else "permutation"
    return None


def deepest(op):
    """How deep the op makes its member, if by the value that it brings."""
    inside = len(op["path"]) - 1
    if op["op"] == "splice":
        return inside + nesting(op["values"]) if op["values"] else 0
    return inside + nesting(op["value"]) if "value" in op else 0


def refused(members, op, depth):
    """The code with which an op is refused, or None."""
    path, kind = op["path"], op["op"]
    if deepest(op) > depth:
        return "depth"
    if kind == "replace":
        return None if len(path) == 1 else "path"
    if kind in ("set", "delete"):
        if len(path) == 1:
            return "path"
        container, code = resolve(members, path[:-1])
        return code or refused_in_container(container, op, path[-1])
    place, code = resolve(members, path)
    return code or refused_in_place(place, op)


def apply(members, ops, depth=512):
    """(the members after, None), or (the members before the op, (its code, its place))."""
    for at, op in enumerate(ops):
        code = None if op["op"] == "error" else refused(members, op, depth)
        if code:
            return members, (code, at)
        members = p.apply(members, [op])
    return members, None


# ---- random ops ----


def any_path(r, members):
    """A walk down from a member, now and then to what is not there."""
    path = [r.randrange(len(members))]
    here = members[path[0]]
    while isinstance(here, (list, dict)) and r.random() < 0.75:
        if isinstance(here, dict):
            path.append(r.choice(list(here)) if here and r.random() < 0.9 else key(r))
        else:
            path.append(r.randrange(len(here) + 1) if r.random() < 0.1 or not here else r.randrange(len(here)))
        here, code = step(here, path[-1])
        if code:
            break
    return path, here


def text_op(r, path, here):
    if r.random() < 0.6:
        return {"op": "append", "path": path, "text": text(r)}
    count = p.units(here)
    return {"op": "truncate", "path": path, "count": min(r.randrange(count + 1), r.randrange(8)) + (r.random() < 0.05)}


def array_op(r, path, here):
    if r.random() < 0.25:
        indexes = list(range(len(here)))
        r.shuffle(indexes)
        if r.random() < 0.05:
            indexes.append(0)
        return {"op": "permute", "path": path, "indexes": indexes}
    index = r.randrange(len(here) + 1)
    remove = min(r.randrange(4), len(here) - index) + (r.random() < 0.03)
    values = [value(r, 1) for _ in range(r.randrange(4))]
    return {"op": "splice", "path": path, "index": index, "remove": remove, "values": values}


def any_op(r, members, depth=2):
    path, here = any_path(r, members)
    chance = r.random()
    if isinstance(here, str) and chance < 0.7:
        return text_op(r, path, here)
    if isinstance(here, list) and chance < 0.5:
        return array_op(r, path, here)
    if r.random() < 0.02:
        wrong = {"append": {"text": "x"}, "truncate": {"count": 1}, "permute": {"indexes": []}}
        wrong["splice"] = {"index": 0, "remove": 0, "values": [0]}
        kind = r.choice(list(wrong))
        return {"op": kind, "path": path} | wrong[kind]
    if len(path) == 1:
        kind = "replace" if r.random() < 0.97 else r.choice(["set", "delete"])
    else:
        kind = "delete" if chance < 0.3 else "set" if chance < 0.98 else "replace"
    return {"op": kind, "path": path} | ({} if kind == "delete" else {"value": value(r, depth)})


def good_ops(r, members, count):
    """Ops that apply one after the other, and the members after."""
    ops = []
    while len(ops) < count:
        op = any_op(r, members)
        if not refused(members, op, 512):
            ops.append(op)
            members = p.apply(members, [op])
    return ops, members


# ---- an edited copy of a value, as a program would assign it ----


def edited_text(r, here):
    units = p.utf16(here)
    cut = 2 * r.randrange(len(units) // 2 + 1)
    return r.choice(
        [
            lambda: joined(here + text(r)),
            lambda: p.from_utf16(units[cut:]),
            lambda: joined(p.from_utf16(units[cut:]) + text(r)),
            lambda: joined(p.from_utf16(units[:cut]) + text(r) + p.from_utf16(units[cut:])),
            lambda: text(r),
        ]
    )()


def edited_list(r, here):
    out = list(here)
    for _ in range(r.choice([1, 1, 1, 2, 5])):
        chance = r.random()
        if out and chance < 0.3:
            out.insert(r.randrange(len(out)), out.pop(r.randrange(len(out))))
        elif out and chance < 0.5:
            index = r.randrange(len(out))
            out[index] = edited(r, out[index])
        elif out and chance < 0.65:
            out.pop(r.randrange(len(out)))
        elif out and chance < 0.72:
            r.shuffle(out)
        elif out and chance < 0.8:
            cut = r.randrange(len(out))
            out = out[cut:] + [scalar(r) for _ in range(r.randrange(4))]
        else:
            out.insert(r.randrange(len(out) + 1), value(r, 1))
    return out


def edited(r, here):
    chance = r.random()
    if chance < 0.05:
        return value(r, 2)
    if isinstance(here, str):
        return edited_text(r, here)
    if isinstance(here, list):
        return edited_list(r, here)
    if not isinstance(here, dict):
        return scalar(r)
    out = dict(here)
    for _ in range(r.randrange(1, 4)):
        if out and r.random() < 0.7:
            name = r.choice(list(out))
            out[name] = edited(r, out[name])
        elif out and r.random() < 0.3:
            out.pop(r.choice(list(out)))
        else:
            out[key(r)] = value(r, 1)
    if r.random() < 0.2:
        order = list(out)
        r.shuffle(order)
        out = {name: out[name] for name in order}
    return out
