"""Packed ops: what a change consists of, to bytes and back (docs/protocol.md, "Ops").

Across the API every path is inline, and its first segment is the index of the member.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from . import _packed, _records

Path = tuple["int | str", ...]
Op = tuple[Any, ...]
"""One change as a tuple: letter, path inside the member, arguments. ``("a", ("entries", 0, "text"), " milk")``."""

REPLACE, SET, DELETE, APPEND = _records.OP_REPLACE, _records.OP_SET, _records.OP_DELETE, _records.OP_APPEND
TRUNCATE, SPLICE, PERMUTE = _records.OP_TRUNCATE, _records.OP_SPLICE, _records.OP_PERMUTE
DEFINE, ERROR, ASSIGN, GENERATION = _records.OP_DEFINE, _records.OP_ERROR, _records.OP_ASSIGN, _records.OP_GENERATION

LETTERS = {
    REPLACE: "r",
    SET: "s",
    DELETE: "d",
    APPEND: "a",
    TRUNCATE: "t",
    SPLICE: "p",
    PERMUTE: "m",
    ERROR: "!",
    ASSIGN: "=",
}

_OTHERS = 7  # the number in the head of all ops from DEFINE on
_INLINE = 31


def put_head(out: bytearray, number: int, path: Sequence[int | str]) -> None:
    """An op's number and inline path."""
    out.append(number | _INLINE << 3 if number < _OTHERS else _OTHERS | number - _OTHERS << 3)
    _packed.put_varint(out, len(path))
    for segment in path:
        if type(segment) is int:
            _packed.put_varint(out, segment << 1)
        else:
            data = _packed.text_bytes(segment)  # type: ignore[arg-type]
            _packed.put_varint(out, len(data) << 1 | 1)
            out += data


def put_splice(out: bytearray, path: Sequence[int | str], index: int, remove: int, items: Sequence[Any]) -> None:
    put_head(out, SPLICE, path)
    for number in (index, remove, len(items)):
        _packed.put_varint(out, number)
    for item in items:
        _packed.put_value(out, item)


def put_permute(out: bytearray, path: Sequence[int | str], indexes: Sequence[int]) -> None:
    put_head(out, PERMUTE, path)
    _packed.put_varint(out, len(indexes))
    for index in indexes:
        _packed.put_varint(out, index)


def replacement(member: int, value: Any) -> bytes:
    """The one op that makes a member this value."""
    out = bytearray()
    put_head(out, REPLACE, (member,))
    _packed.put_value(out, value)
    return bytes(out)


def read(data: bytes) -> Iterator[tuple[int, Path, tuple[Any, ...]]]:
    """The ops in order: number, whole path, arguments."""
    place = 0
    end = len(data)
    while place < end:
        head = data[place]
        number = head & 7
        if number == _OTHERS:
            number += head >> 3
        place += 1
        if number == ERROR:
            member, place = _packed.get_varint(data, place)
            path: Path = (member,)
        else:
            path, place = _read_path(data, place)
        arguments, place = _READERS[number](data, place)
        yield number, path, arguments


def listed(data: bytes) -> list[Op]:
    """The ops as tuples for programs, with paths inside the member."""
    return [(LETTERS[number], path[1:], *arguments) for number, path, arguments in read(data)]


def last_error(data: bytes) -> tuple[str, str] | None:
    """The error state that the ops leave behind: code and words, ("", "") for none; None when they tell of none."""
    error = None
    for number, _, arguments in read(data):
        if number == ERROR:
            error = arguments
    return error


def _read_path(data: bytes, place: int) -> tuple[Path, int]:
    count, place = _packed.get_varint(data, place)
    path: list[int | str] = []
    for _ in range(count):
        segment, place = _packed.get_varint(data, place)
        if segment & 1:
            size = segment >> 1
            path.append(_packed.text_of(data[place : place + size]))
            place += size
        else:
            path.append(segment >> 1)
    return tuple(path), place


def _read_value(data: bytes, place: int) -> tuple[tuple[Any, ...], int]:
    value, place = _packed.get_value(data, place)
    return (value,), place


def _read_nothing(data: bytes, place: int) -> tuple[tuple[Any, ...], int]:
    return (), place


def _read_text(data: bytes, place: int) -> tuple[tuple[Any, ...], int]:
    text, place = _packed.get_text(data, place)
    return (text,), place


def _read_two_texts(data: bytes, place: int) -> tuple[tuple[Any, ...], int]:
    first, place = _packed.get_text(data, place)
    second, place = _packed.get_text(data, place)
    return (first, second), place


def _read_count(data: bytes, place: int) -> tuple[tuple[Any, ...], int]:
    count, place = _packed.get_varint(data, place)
    return (count,), place


def _read_splice(data: bytes, place: int) -> tuple[tuple[Any, ...], int]:
    index, place = _packed.get_varint(data, place)
    remove, place = _packed.get_varint(data, place)
    count, place = _packed.get_varint(data, place)
    items = []
    for _ in range(count):
        item, place = _packed.get_value(data, place)
        items.append(item)
    return (index, remove, items), place


def _read_indexes(data: bytes, place: int) -> tuple[tuple[Any, ...], int]:
    count, place = _packed.get_varint(data, place)
    indexes = []
    for _ in range(count):
        index, place = _packed.get_varint(data, place)
        indexes.append(index)
    return (indexes,), place


_READERS = {
    REPLACE: _read_value,
    SET: _read_value,
    DELETE: _read_nothing,
    APPEND: _read_text,
    TRUNCATE: _read_count,
    SPLICE: _read_splice,
    PERMUTE: _read_indexes,
    ERROR: _read_two_texts,
    ASSIGN: _read_value,
}
