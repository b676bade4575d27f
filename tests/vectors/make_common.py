"""What the makers of vectors share."""

import protocol as p

FILES = {}


def vectors(name, about, cases):
    FILES[f"{name}.json"] = {"about": about, "cases": cases}


def native(value):
    """A value with tags where plain JSON cannot say it in every language."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, int):
        return value if abs(value) < 2**53 else {"$integer": str(value)}
    if isinstance(value, float):
        value = p.canonical(value)
        if isinstance(value, int):
            return native(value)
        return {"$double": p.json_double(value)} if value.is_integer() else value
    if isinstance(value, list):
        return [native(member) for member in value]
    return {key: native(member) for key, member in value.items()}


def nest(depth, inner="", opener="[", closer="]"):
    return opener * depth + inner + closer * depth


def refused(name, code, position, **data):
    return {"name": name, **data, "code": code, "position": position}


def op(kind, path=None, **arguments):
    return {"op": kind} | ({} if path is None else {"path": path}) | arguments


def native_op(one):
    return {key: native(value) for key, value in one.items()}
