"""Naive readers of ops and of messages, in binary, with the code and the position of a fault."""

from twin_read import Bytes, Fault
from twin_values import p

KINDS = {number: kind for kind, number in p.NUMBERS.items()}
OTHERS = {number: kind for kind, number in p.OTHERS.items()}


class Ops(Bytes):
    """A part of ops. `paths` is the dictionary of a stream, a list that is changed, or None for ops of the API."""

    def __init__(self, data, depth, paths, limit):
        super().__init__(data, depth)
        self.paths, self.limit = paths, limit

    def count(self):
        """How many things follow: each has a byte at least."""
        count = self.varint()
        if count > len(self.data) - self.at:
            raise Fault("truncated", len(self.data))
        return count

    def text_of(self):
        return self.text(self.varint())

    def path(self):
        start = self.at
        count = self.count()
        if count > self.depth + 1:
            raise Fault("depth", start)
        path = [self.segment() for _ in range(count)]
        if not path or isinstance(path[0], str):
            raise Fault("syntax", start)
        return path

    def segment(self):
        start, head = self.at, self.varint()
        if head & 1:
            return self.text(head >> 1)
        if head >> 1 >= 2**53:
            raise Fault("range", start)
        return head >> 1

    def place(self, start, place):
        if place == 31:
            return self.path()
        number = place + (self.number() if place == 30 else 0)
        if self.paths is None or number >= len(self.paths):
            raise Fault("range", start)
        return self.paths[number]

    def index(self, count):
        start, index = self.at, self.varint()
        if index >= count:
            raise Fault("permutation", start)
        return index

    def argument(self, kind, name):
        if name == "value":
            return self.value()
        if name == "text":
            return self.text_of()
        if name == "values":
            return [self.value() for _ in range(self.count())]
        if name == "indexes":
            count = self.count()
            return [self.index(count) for _ in range(count)]
        return self.number()

    def error(self):
        op = {"op": "error", "member": self.number()}
        start = self.at
        op |= {"code": self.text_of(), "message": self.text_of()}
        if op["message"] and not op["code"]:
            raise Fault("syntax", start)
        return op

    def op(self):
        start, head = self.at, self.take(1)[0]
        kind = KINDS.get(head & 7) or OTHERS.get(head >> 3)
        if not kind:
            raise Fault("syntax", start)
        if kind == "error":
            return self.error()
        op = {"op": kind}
        if kind != "generation":
            op["path"] = self.place(start, head >> 3 if head & 7 < 7 else 31)
        for name in p.ARGUMENTS.get(kind, []):
            op[name] = self.argument(kind, name)
        if (kind == "assign") == (self.paths is not None) and kind in OTHERS.values():
            raise Fault("syntax", start)
        if kind == "replace" and len(op["path"]) > 1:
            raise Fault("path", start)
        return op

    def whole(self):
        ops = []
        while self.at < len(self.data):
            start, op = self.at, self.op()
            if op["op"] == "generation":
                self.paths.clear()
            elif op["op"] == "define":
                if len(self.paths) == self.limit:
                    raise Fault("range", start)
                self.paths.append(op["path"])
            else:
                ops.append(op)
        return ops


def ops(data, depth, paths, limit):
    return Ops(data, depth, paths, limit).whole()


# ---- messages ----

WORDS = {number: (word, letters) for word, (number, letters) in p.MESSAGES.items()}
OF_LINK = ("hello", "welcome", "ping", "pong", "bye", "offer")
WITH_ABSENT = ("hello", "welcome", "origin", "bound")
WITH_RAW = ("c", "r")
WITH_DEFLATED = ("bound", "s", "c", "r")
NAMES = {bits: name for name, bits in p.BITS.items()}


class Message(Bytes):
    """A binary frame. All faults are `malformed`."""

    def __init__(self, data, current):
        super().__init__(data, 0)
        self.current = current

    def require(self, good, position):
        if not good:
            raise Fault("syntax", position)

    def part(self, word):
        start, head = self.at, self.varint()
        self.require(not head & 2 or word in WITH_DEFLATED, start)
        self.require(not head & 1 or word in WITH_RAW, start)
        self.require(head or word in WITH_ABSENT, start)
        data = self.take(head >> 2)
        return None if not head else {NAMES[head & 3]: data.hex()}

    def field(self, letter, word):
        if letter == "N":
            return self.number()
        if letter == "I":
            return self.take(16).hex()
        if letter == "T":
            return self.text(self.number())
        if letter == "P":
            return self.part(word)
        out = []
        while self.at < len(self.data):
            out.append([self.number(), self.part(word)] if letter == "S" else self.part(word))
        return out

    def whole(self):
        head = self.take(1)[0]
        self.require(head & 31, 0)
        word, letters = WORDS.get(head & 31, (None, ""))
        self.require(not head >> 6 or word in ("s", None) or (word == "c" and head >> 6 == 2), 0)
        origin = 0 if word in OF_LINK else self.current
        if head & 32:
            start, origin = self.at, self.number()
            self.require(origin not in (0, self.current), start)
        self.require(not word or (origin == 0) == (word in OF_LINK), 1 if head & 32 else 0)
        if not word:
            return {"origin": origin}
        fields = [self.field(letter, word) for letter in letters]
        self.require(self.at == len(self.data), self.at)
        flags = ["more"] * (head >> 6 & 1) + ["durable"] * (head >> 7)
        return {"kind": word, "flags": flags, "origin": origin, "fields": fields}


def message(data, current):
    try:
        return Message(data, current).whole()
    except Fault as fault:
        raise Fault("malformed", fault.position) from None
