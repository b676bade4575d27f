"""The event readers against records that are laid out by the model, field by field."""

import json
import random
import struct
from pathlib import Path

from chordal import _native, _records

MODEL = json.loads((Path(__file__).resolve().parents[2] / "bindings" / "model.json").read_text())
TEXTS = ["", "words", "hé 日本", "\ud800 alone", "x" * 300]


class Record:
    """One record as the core lays it out, and the values that a reader must find."""

    def __init__(self, event, pick):
        self.values = {"flags": pick.randrange(1 << 16)}
        self.head = bytearray(event["size"])
        self.tail = b""
        for field in event["fields"]:
            getattr(self, "put_" + field["type"])(field["name"], field["offset"], pick)
        length = (len(self.head) + len(self.tail) + 7) & ~7
        struct.pack_into("<IHH", self.head, 0, length, event["value"], self.values["flags"])
        self.bytes = bytes(self.head + self.tail).ljust(length, b"\0")
        self.values.pop("reserved", None)

    def put(self, code, name, offset, value):
        struct.pack_into("<" + code, self.head, offset, value)
        self.values[name] = value

    def put_id(self, name, offset, pick):
        self.put("Q", name, offset, pick.randrange(1 << 53))

    def put_u64(self, name, offset, pick):
        self.put("Q", name, offset, pick.randrange(1 << 64))

    def put_u32(self, name, offset, pick):
        self.put("I", name, offset, pick.randrange(1 << 32))

    def put_i32(self, name, offset, pick):
        self.put("i", name, offset, pick.randrange(-(1 << 31), 1 << 31))

    def put_span(self, name, offset, pick, data=None):
        text = pick.choice(TEXTS)
        data = text.encode("utf-8", "surrogatepass")
        struct.pack_into("<II", self.head, offset, len(self.head) + len(self.tail), len(data))
        self.tail += data
        self.values[name] = text

    def put_part(self, name, offset, pick):
        inside = pick.random() < 0.7
        data = pick.randbytes(pick.randrange(40)) if inside else b""
        part = 0 if inside else pick.randrange(1, 1 << 53)
        at = len(self.head) + len(self.tail) if inside else 0
        struct.pack_into("<IIQ", self.head, offset, at, len(data) if inside else 100000, part)
        self.tail += data
        self.values |= {name: data, f"{name}_part": part}


def test_every_event_is_read():
    pick = random.Random(7)
    records = [Record(event, pick) for event in MODEL["events"] for _ in range(50)]
    pick.shuffle(records)
    data = b"".join(record.bytes for record in records)
    for buffer in (data, bytearray(data), memoryview(data)):
        events = _native.read_events(buffer)
        assert [event._asdict() for event in events] == [record.values for record in records]


def test_unknown_kinds_are_skipped():
    pick = random.Random(8)
    known = Record(MODEL["events"][0], pick)
    unknown = struct.pack("<IHHQ", 16, 999, 0, 0)
    events = _native.read_events(unknown + known.bytes + unknown)
    assert [event._asdict() for event in events] == [known.values]


def test_tables():
    assert {code: row[0] for code, row in _records.ERRORS.items()} == {
        row["value"]: row["name"].lower() for row in MODEL["errors"]
    }
    assert _records.ERROR_CODES["not_found"] == _records.E_NOT_FOUND == -7
    assert [_records.OPS[row["value"]][1] for row in MODEL["operations"]] == [
        row["letter"] for row in MODEL["operations"]
    ]
    assert list(_records.COUNTERS) == [row["name"] for row in MODEL["counters"]]
