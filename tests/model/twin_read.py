"""Naive readers, with the code and the position of a fault: JSON, packed values, ops and messages in binary."""

import re
import struct

from twin_values import LEAST, MOST, joined, p


class Fault(Exception):
    def __init__(self, code, position):
        super().__init__(f"{code} at {position}")
        self.code, self.position = code, position


def fault_of(read, *arguments):
    """(what is read, None) or (None, (code, position))."""
    try:
        return read(*arguments), None
    except Fault as fault:
        return None, (fault.code, fault.position)


SEQUENCE = re.compile(
    rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)


BEGINNING = re.compile(
    rb"[\xc2-\xdf]|\xe0[\xa0-\xbf]?|[\xe1-\xef][\x80-\xbf]?|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?"
    rb"|[\xf1-\xf3][\x80-\xbf]{0,2}|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?"
)


def decode(data, position, pairs=False, open_end=False):
    """Text of bytes; a fault is named by the first byte of its sequence. `pairs`: a surrogate may follow the other;
    `open_end`: more might follow."""
    at, high = 0, False
    while at < len(data):
        found = SEQUENCE.match(data, at)
        if not found and open_end and BEGINNING.fullmatch(data, at):
            raise Fault("truncated", position + len(data))
        if not found or (high and not pairs and b"\xed\xb0" <= found[0] <= b"\xed\xbf\xbf"):
            raise Fault("utf8", position + at)
        high = b"\xed\xa0" <= found[0] <= b"\xed\xaf\xbf"
        at = found.end()
    return data.decode("utf-8", "surrogatepass")


# ---- JSON ----

NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
BEGUN = re.compile(rb"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?)?")
ESCAPES = {b'"': '"', b"\\": "\\", b"/": "/", b"b": "\b", b"f": "\f", b"n": "\n", b"r": "\r", b"t": "\t"}


def number_of(text):
    """The value of a JSON number, or None beyond the doubles."""
    if re.fullmatch(rb"-?[0-9]+", text) and LEAST <= int(text) <= MOST:
        return int(text)
    number = float(text)
    return p.canonical(number) if number - number == 0 else None


class Json:
    def __init__(self, data, depth):
        self.data, self.at, self.depth = data, 0, depth

    def space(self):
        while self.data[self.at : self.at + 1] in (b" ", b"\t", b"\r", b"\n"):
            self.at += 1

    def next(self, code="syntax"):
        """The next byte; at the end it is a fault."""
        if self.at == len(self.data):
            raise Fault("truncated", self.at)
        return self.data[self.at : self.at + 1]

    def expect(self, letters):
        self.space()
        found = self.next()
        if found not in letters:
            raise Fault("syntax", self.at)
        self.at += 1
        return found

    def word(self, word, value):
        for letter in word:
            if self.next() != bytes([letter]):
                raise Fault("syntax", self.at)
            self.at += 1
        return value

    def number(self):
        start, found = self.at, NUMBER.match(self.data, self.at)
        begun = BEGUN.match(self.data, self.at)
        if begun.end() > (found.end() if found else start):
            if begun.end() == len(self.data):
                raise Fault("truncated", len(self.data))
            raise Fault("syntax", start)
        value = number_of(found[0])
        if value is None:
            raise Fault("number", start)
        self.at = found.end()
        return value

    def escape(self):
        letter = self.next()
        self.at += 1
        if letter in ESCAPES:
            return ESCAPES[letter]
        if letter != b"u":
            raise Fault("syntax", self.at - 1)
        for _ in range(4):
            if self.next() not in b"0123456789abcdefABCDEF":
                raise Fault("syntax", self.at)
            self.at += 1
        return chr(int(self.data[self.at - 4 : self.at], 16))

    def string(self):
        self.expect([b'"'])
        out = []
        while True:
            plain = re.compile(rb'[^"\\\x00-\x1f]*').match(self.data, self.at)
            out.append(decode(plain[0], self.at, True, plain.end() == len(self.data)))
            self.at = plain.end()
            letter = self.next()
            if letter < b" ":
                raise Fault("syntax", self.at)
            self.at += 1
            if letter == b'"':
                return joined("".join(out))
            out.append(self.escape())

    def value(self, level=0):
        self.space()
        letter = self.next()
        if letter in (b"[", b"{") and level == self.depth:
            raise Fault("depth", self.at)
        if letter == b"[":
            return self.array(level + 1)
        if letter == b"{":
            return self.object(level + 1)
        if letter == b'"':
            return self.string()
        if letter in b"-0123456789":
            return self.number()
        words = {b"n": (b"null", None), b"t": (b"true", True), b"f": (b"false", False)}
        if letter not in words:
            raise Fault("syntax", self.at)
        return self.word(*words[letter])

    def empty(self, end):
        self.at += 1
        self.space()
        if self.next() != end:
            return False
        self.at += 1
        return True

    def array(self, level):
        out = []
        if self.empty(b"]"):
            return out
        while True:
            out.append(self.value(level))
            if self.expect([b",", b"]"]) == b"]":
                return out

    def object(self, level):
        out, twice = {}, None
        if self.empty(b"}"):
            return out
        while True:
            self.space()
            start, key = self.at, self.string()
            if key in out and twice is None:
                twice = start
            self.expect([b":"])
            out[key] = self.value(level)
            if self.expect([b",", b"}"]) == b"}":
                break
        if twice is not None:
            raise Fault("duplicate_key", twice)
        return out

    def whole(self):
        value = self.value()
        self.space()
        if self.at < len(self.data):
            raise Fault("trailing", self.at)
        return value


def json(data, depth):
    return Json(data, depth).whole()


# ---- packed values ----

SIZED = {0xD9: ("str", 1), 0xDA: ("str", 2), 0xDB: ("str", 4), 0xDC: ("array", 2), 0xDD: ("array", 4)}
SIZED |= {0xDE: ("map", 2), 0xDF: ("map", 4)}
CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


class Bytes:
    """What a part is read by."""

    def __init__(self, data, depth):
        self.data, self.at, self.depth = data, 0, depth

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Fault("truncated", len(self.data))
        self.at += count
        return self.data[self.at - count : self.at]

    def head(self):
        """(what, its count or number)."""
        start, byte = self.at, self.take(1)[0]
        if byte < 0x80 or byte >= 0xE0:
            return "number", byte if byte < 0x80 else byte - 0x100
        if byte < 0xC0:
            return ("map", byte & 15) if byte < 0x90 else ("array", byte & 15) if byte < 0xA0 else ("str", byte & 31)
        if byte in CONSTANTS:
            return "constant", CONSTANTS[byte]
        if 0xCC <= byte <= 0xD3:
            return "number", int.from_bytes(self.take(1 << (byte & 3)), "big", signed=byte >= 0xD0)
        if byte in (0xCA, 0xCB):
            (number,) = struct.unpack(">f", self.take(4)) if byte == 0xCA else struct.unpack(">d", self.take(8))
            if number - number != 0:
                raise Fault("number", start)
            return "number", p.canonical(number)
        if byte not in SIZED:
            raise Fault("syntax", start)
        what, size = SIZED[byte]
        return what, int.from_bytes(self.take(size), "big")

    def text(self, count):
        start = self.at
        return decode(self.take(count), start)

    def value(self, level=0):
        start = self.at
        what, count = self.head()
        if what in ("number", "constant"):
            return count
        if what == "str":
            return self.text(count)
        if count > len(self.data) - self.at:
            raise Fault("truncated", len(self.data))
        if level == self.depth:
            raise Fault("depth", start)
        if what == "array":
            return [self.value(level + 1) for _ in range(count)]
        return self.map(level + 1, count)

    def map(self, level, count):
        out, twice = {}, None
        for _ in range(count):
            start = self.at
            what, length = self.head()
            if what != "str":
                raise Fault("syntax", start)
            key = self.text(length)
            if key in out and twice is None:
                twice = start
            out[key] = self.value(level)
        if twice is not None:
            raise Fault("duplicate_key", twice)
        return out

    def varint(self):
        start, number, shift = self.at, 0, 0
        while True:
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << shift
            shift += 7
            if number >= 2**64 or (shift == 70 and byte >= 0x80):
                raise Fault("syntax", start)
            if byte < 0x80:
                break
        if byte == 0 and shift > 7:
            raise Fault("syntax", start)
        return number

    def number(self):
        start, number = self.at, self.varint()
        if number >= 2**53:
            raise Fault("range", start)
        return number


def pack(data, depth):
    reader = Bytes(data, depth)
    value = reader.value()
    if reader.at < len(data):
        raise Fault("trailing", reader.at)
    return value
