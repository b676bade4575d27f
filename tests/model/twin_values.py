"""Random values with what is nasty in them, and what can be told of a value."""

import pathlib
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "vectors"))
sys.setrecursionlimit(20000)

import protocol as p  # noqa: E402

PIECES = ["a", "bc", "é", "✓", "😀", "\ud83d", "\ude00", "\udbff", "\udfff", "\0", "\n", '"', "\\", "/"]
PIECES += [
    "\x7f",
    "\u2028",
    "\ufffd",
    "\uffff",
    "\U0010ffff",
    "\ue000",
    "\x1f",
    "long enough to be seen ",
    "0123456789abcdef" * 4,
]
KEYS = ["a", "b", "c", "text", "entries", "", "__proto__", "constructor", "0", "1", "-", "~1/", "\0", "\ud800"]
KEYS += ["é" * 20]
FLOATS = [0.1, -0.5, 1.5, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e-7, 1e-6, 1e-5]
FLOATS += [float(2**53 + 2), 1e16, 1e17, 1e21, 1e22, 1e23, -1e16, float(2**63), float(2**64), 4.35, 0.3, 2 / 3]
LEAST, MOST = -(2**63), 2**64 - 1


def joined(text):
    """A high and a low surrogate behind each other are one code point."""
    return p.from_utf16(p.utf16(text))


def text(r):
    if r.random() < 0.02:
        return joined("".join(r.choice(PIECES) for _ in range(r.randrange(400))))
    return joined("".join(r.choice(PIECES) for _ in range(r.choice([0, 1, 1, 2, 3, 5]))))


def key(r):
    return r.choice(KEYS) if r.random() < 0.9 else text(r)


def double(r):
    """A double of random bits, or one of few digits."""
    if r.random() < 0.5:
        return p.canonical(r.randrange(10**6) / 10 ** r.randrange(20))
    while True:
        (number,) = struct.unpack(">d", r.getrandbits(64).to_bytes(8, "big"))
        if number - number == 0:
            return p.canonical(number)


def integer(r):
    """One at a border of the packed forms, of the doubles, or of the range."""
    number = r.choice([1, -1]) * (2 ** r.randrange(65) + r.randrange(-2, 3))
    return min(max(number, LEAST), MOST)


def number(r):
    chance = r.random()
    if chance < 0.4:
        return r.randrange(5)
    return integer(r) if chance < 0.7 else r.choice(FLOATS) if chance < 0.8 else double(r)


def scalar(r):
    chance = r.random()
    if chance < 0.2:
        return r.choice([None, True, False])
    return number(r) if chance < 0.5 else text(r)


def nested(r, value, levels):
    for _ in range(levels):
        value = [value] if r.random() < 0.5 else {key(r): value}
    return value


def value(r, depth=3):
    chance = r.random()
    if depth == 0 or chance < 0.3:
        return scalar(r)
    if chance < 0.31:
        return [scalar(r) for _ in range(r.randrange(600))]
    if chance < 0.32:
        return {f"{key(r)}{i}": scalar(r) for i in range(r.randrange(100))}
    if chance < 0.33:
        return nested(r, scalar(r), r.randrange(40))
    if chance < 0.65:
        return [value(r, depth - 1) for _ in range(r.randrange(6))]
    return {key(r): value(r, depth - 1) for _ in range(r.randrange(6))}


def large(r):
    """Containers and a string beyond one chunk of memory."""
    items = [r.choice([i, str(i), {"id": i, "text": "note"}]) for i in range(r.randrange(3000))]
    keys = {f"k{i}": i for i in range(r.randrange(2000))}
    return {"list": items, "keys": keys, "text": joined("".join(r.choices(PIECES, k=r.randrange(3000))))}


def same(a, b):
    """Whether two values are the same: 1, 1.0 and true are not, and the order of keys means nothing."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return a == b


def nesting(value):
    """Containers in each other."""
    inside = value if isinstance(value, list) else value.values() if isinstance(value, dict) else None
    return 0 if inside is None else 1 + max(map(nesting, inside), default=0)


def read(value):
    """What json.loads gave, as a value: it gives floats for what is an integer."""
    if isinstance(value, list):
        return list(map(read, value))
    if isinstance(value, dict):
        return {k: read(v) for k, v in value.items()}
    return p.canonical(value)
