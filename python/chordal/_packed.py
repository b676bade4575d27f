"""Packed values: native values to bytes and back (docs/protocol.md, "Values").

The bytes are MessagePack, restricted; across the API an argument or a result may also be ``bytes``. What comes from the
core was checked there; what comes from the program is checked here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import values
from .errors import ChordalError
from .values import DEPTH_LIMIT, FrozenDict, FrozenList

_U16 = struct.Struct(">H")
_U32 = struct.Struct(">I")
_DOUBLE = struct.Struct(">d")
_FLOAT = struct.Struct(">f")

# How many bytes a head announces: numbers by their reader, the rest by the width of their length.
_NUMBERS = {
    0xCA: _FLOAT,
    0xCB: _DOUBLE,
    0xCC: struct.Struct(">B"),
    0xCD: _U16,
    0xCE: _U32,
    0xCF: struct.Struct(">Q"),
    0xD0: struct.Struct(">b"),
    0xD1: struct.Struct(">h"),
    0xD2: struct.Struct(">i"),
    0xD3: struct.Struct(">q"),
}
_LENGTHS = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


# ---- writing ----


def put_varint(out: bytearray, number: int) -> None:
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def text_bytes(text: str) -> bytes:
    """UTF-8 with pairs joined and lone halves in three bytes."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return values.text(text).encode("utf-8", "surrogatepass")


def put_text(out: bytearray, text: str) -> None:
    data = text_bytes(text)
    put_varint(out, len(data))
    out += data


def _put_str(out: bytearray, text: str) -> None:
    data = text_bytes(text)
    size = len(data)
    if size < 32:
        out.append(0xA0 | size)
    elif size < 0x100:
        out.append(0xD9)
        out.append(size)
    elif size < 0x10000:
        out += b"\xda" + _U16.pack(size)
    else:
        out += b"\xdb" + _U32.pack(size)
    out += data


def _put_int(out: bytearray, number: int) -> None:
    if 0 <= number < 0x80:
        out.append(number)
    elif -32 <= number < 0:
        out.append(number & 0xFF)
    else:
        out += _wide_int(values.integer(number))


def _wide_int(number: int) -> bytes:
    head, bits = (0xCC, number.bit_length()) if number >= 0 else (0xD0, (~number).bit_length() + 1)
    size = 1 if bits <= 8 else 2 if bits <= 16 else 4 if bits <= 32 else 8
    return bytes((head + size.bit_length() - 1,)) + number.to_bytes(size, "big", signed=number < 0)


def _put_number(out: bytearray, number: float) -> None:
    exact = values.number(number)
    if type(exact) is int:
        _put_int(out, exact)
    else:
        out += b"\xcb" + _DOUBLE.pack(exact)


def _put_head(out: bytearray, size: int, small: int, wide: int) -> None:
    """The head of an array (0x90, 0xdc) or a map (0x80, 0xde)."""
    if size < 16:
        out.append(small | size)
    elif size < 0x10000:
        out.append(wide)
        out += _U16.pack(size)
    else:
        out.append(wide + 1)
        out += _U32.pack(size)


def _put_bytes(out: bytearray, data: bytes | bytearray | memoryview) -> None:
    data = bytes(data)
    size = len(data)
    if size < 0x100:
        out += bytes((0xC4, size))
    elif size < 0x10000:
        out += b"\xc5" + _U16.pack(size)
    else:
        out += b"\xc6" + _U32.pack(size)
    out += data


def put_value(out: bytearray, value: Any, depth_limit: int = DEPTH_LIMIT) -> None:
    """Append a native value. Raises ChordalError as :func:`values.freeze` does."""
    stack: list[tuple[Any, bool]] = []
    items: Any = iter((value,))
    keyed = False
    while True:
        for item in items:
            if keyed:
                key, item = item
                if type(key) is not str and not isinstance(key, str):
                    raise ChordalError("type", f"a {type(key).__name__} is not a key")
                _put_str(out, key)
            kind = type(item)
            if kind is str:
                _put_str(out, item)
            elif kind is int:
                _put_int(out, item)
            elif item is None:
                out.append(0xC0)
            elif kind is bool:
                out.append(0xC3 if item else 0xC2)
            elif kind is float:
                _put_number(out, item)
            else:
                inner = _put_other(out, item)
                if inner is not None:
                    if len(stack) >= depth_limit:
                        raise ChordalError("depth", "the value is nested too deep")
                    stack.append((items, keyed))
                    items, keyed = inner
                    break
        else:
            if not stack:
                return
            items, keyed = stack.pop()


def _put_other(out: bytearray, item: Any) -> tuple[Iterable[Any], bool] | None:
    """A container's head; answers an iterator over what goes in. Or a subclass of a plain type, written."""
    if isinstance(item, (dict, Mapping)):
        _put_head(out, len(item), 0x80, 0xDE)
        return iter(item.items()), True
    if isinstance(item, str):
        _put_str(out, str(item))
    elif isinstance(item, int):
        _put_int(out, int(item))
    elif isinstance(item, float):
        _put_number(out, float(item))
    elif isinstance(item, (list, tuple, Sequence)) and not isinstance(item, (bytes, bytearray, memoryview)):
        _put_head(out, len(item), 0x90, 0xDC)
        return iter(item), False
    else:
        raise ChordalError("type", f"a {type(item).__name__} is not a value")
    return None


def pack(value: Any, depth_limit: int = DEPTH_LIMIT) -> bytes:
    """A native value as packed bytes."""
    out = bytearray()
    put_value(out, value, depth_limit)
    return bytes(out)


def pack_arguments(arguments: Sequence[Any], depth_limit: int = DEPTH_LIMIT) -> bytes:
    """A call's arguments as a packed array; an argument that is bytes travels raw."""
    out = bytearray()
    _put_head(out, len(arguments), 0x90, 0xDC)
    for argument in arguments:
        if isinstance(argument, (bytes, bytearray, memoryview)):
            _put_bytes(out, argument)
        else:
            put_value(out, argument, depth_limit)
    return bytes(out)


# ---- reading ----


def get_varint(data: bytes, place: int) -> tuple[int, int]:
    """A varint and the place behind it."""
    number = data[place]
    place += 1
    if number < 0x80:
        return number, place
    number &= 0x7F
    shift = 7
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
        shift += 7


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def get_text(data: bytes, place: int) -> tuple[str, int]:
    size, place = get_varint(data, place)
    return text_of(data[place : place + size]), place + size


def get_value(data: bytes, place: int = 0) -> tuple[Any, int]:
    """The immutable value at a place of packed bytes, and the place behind it."""
    keys: dict[bytes, str] = {}  # one string for the same key, however often it occurs
    stack: list[tuple[Any, int, bool, Any]] = []
    target: Any = None  # the container that is being filled, how much it lacks, and the key that comes next
    left = 0
    keyed = False
    key: Any = None
    while True:
        if keyed:
            head = data[place]
            size, start = (head & 0x1F, place + 1) if head < 0xC0 else _size(data, head, place + 1)
            place = start + size
            raw = data[start:place]
            if raw in keys:
                key = keys[raw]
            else:
                key = keys[raw] = raw.decode("utf-8", "surrogatepass")
        head = data[place]
        place += 1
        if 0xA0 <= head < 0xC0:
            start = place
            place += head & 0x1F
            value: Any = data[start:place].decode("utf-8", "surrogatepass")
        elif head < 0x80:
            value = head
        elif 0xA0 <= head < 0xDC or head >= 0xE0:
            value, place = _get_plain(data, head, place)
        else:
            size, place = (head & 0x0F, place) if head < 0xA0 else _size(data, head, place)
            is_object = head < 0x90 or 0xDE <= head
            value = FrozenDict() if is_object else FrozenList()
            if size:
                stack.append((target, left, keyed, key))
                target, left, keyed = value, size, is_object
                continue
        while stack:
            if keyed:
                _set_item(target, key, value)
            else:
                _append(target, value)
            left -= 1
            if left:
                break
            value = target
            target, left, keyed, key = stack.pop()
        else:
            return value, place


_set_item = dict.__setitem__
_append = list.append


def _size(data: bytes, head: int, place: int) -> tuple[int, int]:
    """The length that is written behind a head, and the place behind that."""
    start = place + _LENGTHS[head]
    return int.from_bytes(data[place:start], "big"), start


def _get_plain(data: bytes, head: int, place: int) -> tuple[Any, int]:
    """What is neither a container nor a short string nor a small number."""
    if head >= 0xE0:
        return head - 0x100, place
    if head in _CONSTANTS:
        return _CONSTANTS[head], place
    if head in _NUMBERS:
        reader = _NUMBERS[head]
        (value,) = reader.unpack_from(data, place)
        return values.number(value) if head < 0xCC else value, place + reader.size
    size, place = _size(data, head, place)
    raw = data[place : place + size]
    return raw if head < 0xC7 else text_of(raw), place + size


def unpack(data: bytes) -> Any:
    """The immutable native value of packed bytes."""
    return get_value(data)[0]
