"""Immutable native values.

Every value that Chordal hands out is one of ``None``, ``bool``, ``int``, ``float``, ``str``, :class:`FrozenList`
and :class:`FrozenDict`. The two containers read like ``list`` and ``dict`` (they are subclasses: ``json``, ``==``,
unpacking and pattern matching work), and refuse to be changed. A new revision copies the containers on the way to
what changed and shares all others, so ``old["a"] is new["a"]`` tells that nothing below changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Union

from .errors import ChordalError

Value = Union[None, bool, int, float, str, "FrozenList", "FrozenDict"]
"""What Chordal hands out."""

INTEGER_MIN = -(1 << 63)
INTEGER_MAX = (1 << 64) - 1
EXACT = float(1 << 53)

DEPTH_LIMIT = 512
"""How deep values nest when a host sets no limit of its own."""


def _refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
    raise TypeError(f"a {type(self).__name__} cannot be changed; change the document in a transaction")


class FrozenDict(dict):  # type: ignore[type-arg]
    """A JSON object that cannot be changed. ``dict(value)`` is a copy that can."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def copy(self) -> FrozenDict:
        """The value itself: it never changes."""
        return self

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: Any) -> FrozenDict:
        return self

    def __reduce__(self) -> Any:
        return FrozenDict, (dict(self),)


class FrozenList(list):  # type: ignore[type-arg]
    """A JSON array that cannot be changed. ``list(value)`` is a copy that can."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def copy(self) -> FrozenList:
        """The value itself: it never changes."""
        return self

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: Any) -> FrozenList:
        return self

    def __reduce__(self) -> Any:
        return FrozenList, (list(self),)


def text(value: str) -> str:
    """The text as Chordal keeps it: the halves of a surrogate pair joined, lone ones kept."""
    if value.isascii():
        return str(value)
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return str(value)


def integer(value: int) -> int:
    """The integer, if it is in the range that travels exactly: -2^63 to 2^64-1."""
    if INTEGER_MIN <= value <= INTEGER_MAX:
        return int(value)
    raise ChordalError("number", "an integer outside -2^63 .. 2^64-1")


def number(value: float) -> int | float:
    """The number that a float is: an ``int`` when it is integral and at most 2^53, else a finite ``float``."""
    if -EXACT <= value <= EXACT:
        whole = int(value)
        return whole if whole == value else float(value)
    if math.isfinite(value):
        return float(value)
    raise ChordalError("number", "NaN and infinities are not values")


def freeze(value: Any, depth_limit: int = DEPTH_LIMIT) -> Any:
    """An immutable copy of a plain value; parts that are immutable already are shared.

    Takes ``None``, ``bool``, ``int``, ``float``, ``str``, mappings with ``str`` keys, lists, tuples and other
    sequences but ``bytes``. Raises ChordalError NUMBER (an integer out of range, NaN, an infinity), DEPTH (nested
    deeper than `depth_limit`, or in itself), DUPLICATE_KEY (two keys that are the same text) and TYPE.
    """
    waiting: list[tuple[Any, Any, int]] = []
    frozen = _freeze_one(value, 1, waiting)
    while waiting:
        target, source, depth = waiting.pop()
        if depth > depth_limit:
            raise ChordalError("depth", "the value is nested too deep")
        if type(target) is FrozenDict:
            _fill_dict(target, source, depth + 1, waiting)
        else:
            list.extend(target, [_freeze_one(item, depth + 1, waiting) for item in source])
    return frozen


def _freeze_one(value: Any, depth: int, waiting: list[tuple[Any, Any, int]]) -> Any:
    """The value itself if it is plain, else a container that is filled later."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else text(value)
    if kind is int:
        return integer(value)
    if value is None or kind is bool or kind is FrozenDict or kind is FrozenList:
        return value
    if isinstance(value, Mapping):
        waiting.append((FrozenDict(), value, depth))
        return waiting[-1][0]
    if isinstance(value, str):
        return text(str(value))
    if isinstance(value, float):
        return number(float(value))
    if isinstance(value, int):
        return integer(int(value))
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        waiting.append((FrozenList(), value, depth))
        return waiting[-1][0]
    raise ChordalError("type", f"a {kind.__name__} is not a value")


def _fill_dict(target: FrozenDict, source: Any, depth: int, waiting: list[tuple[Any, Any, int]]) -> None:
    for key, item in source.items():
        if not isinstance(key, str):
            raise ChordalError("type", f"a {type(key).__name__} is not a key")
        dict.__setitem__(target, text(key), _freeze_one(item, depth, waiting))
    if len(target) != len(source):
        raise ChordalError("duplicate_key", "two keys are the same text")


def units(value: str) -> int:
    """The length of a text in UTF-16 code units, the unit of the protocol."""
    if value.isascii():
        return len(value)
    return len(value) + sum(character > "\uffff" for character in value)


def drop_units(value: str, count: int) -> str:
    """The text without its first `count` UTF-16 units. Raises ChordalError RANGE if it is shorter."""
    if value.isascii():
        if count > len(value):
            raise ChordalError("range", "the text is shorter")
        return value[count:]
    pairs = value.encode("utf-16-le", "surrogatepass")
    if 2 * count > len(pairs):
        raise ChordalError("range", "the text is shorter")
    return pairs[2 * count :].decode("utf-16-le", "surrogatepass")


def join(head: str, tail: str) -> str:
    """Two texts behind each other; a high half at the seam joins with a low one."""
    if head and tail and "\ud800" <= head[-1] <= "\udbff" and "\udc00" <= tail[0] <= "\udfff":
        return head[:-1] + text(head[-1] + tail[0]) + tail[1:]
    return head + tail
