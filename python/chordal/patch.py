"""Applying ops to an immutable value: what keeps a copy equal to its provider's.

The containers on the way to a change are copied once per frame, all others are shared with the value before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from . import _ops
from .errors import ChordalError
from .values import FrozenDict, FrozenList, drop_units, join

_CONTAINERS = (FrozenDict, FrozenList)


def patch(value: Any, ops: bytes) -> Any:
    """The value after packed ops on one member. The value given stays as it is. Raises ChordalError PATH, TYPE, RANGE
    or PERMUTATION for an op that does not apply to it."""
    box = [value]
    fresh: dict[int, Any] = {}  # containers made here, which may be changed in place
    for number, path, arguments in _ops.read(ops):
        parent: Any = box
        key: Any = 0
        for segment in path[1:]:
            parent = _own(parent, key, fresh)
            key = segment
        if number != _ops.ERROR:
            _APPLY[number](parent, key, *arguments)
    return box[0]


def _fail(name: str, detail: str) -> NoReturn:
    raise ChordalError(name, detail)


def _child(parent: Any, key: Any) -> Any:
    try:
        return parent[key]
    except (KeyError, IndexError, TypeError):
        _fail("path", "the path leads nowhere")


def _own(parent: Any, key: Any, fresh: dict[int, Any]) -> Any:
    """The container at a place, as a copy of its own that may be changed."""
    child = _child(parent, key)
    if id(child) in fresh:
        return child
    if not isinstance(child, _CONTAINERS):
        _fail("path", "the path leads through a plain value")
    copy = type(child)(child)
    fresh[id(copy)] = copy
    _put(parent, key, copy)
    return copy


def _put(parent: Any, key: Any, value: Any) -> None:
    if isinstance(parent, dict):
        dict.__setitem__(parent, key, value)
    else:
        list.__setitem__(parent, key, value)


def _set(parent: Any, key: Any, value: Any) -> None:
    if isinstance(parent, list) and type(key) is int and key <= len(parent):
        list.__setitem__(parent, slice(key, key + 1), (value,))
    elif isinstance(parent, dict) and type(key) is str:
        dict.__setitem__(parent, key, value)
    else:
        _fail("path", "the path leads nowhere")


def _delete(parent: Any, key: Any) -> None:
    _child(parent, key)
    (dict if isinstance(parent, dict) else list).__delitem__(parent, key)


def _typed(parent: Any, key: Any, kind: type) -> Any:
    child = _child(parent, key)
    return child if isinstance(child, kind) else _fail("type", "the value has the wrong type")


def _append(parent: Any, key: Any, text: str) -> None:
    _put(parent, key, join(_typed(parent, key, str), text))


def _truncate(parent: Any, key: Any, count: int) -> None:
    _put(parent, key, drop_units(_typed(parent, key, str), count))


def _splice(parent: Any, key: Any, index: int, remove: int, items: list[Any]) -> None:
    array = _typed(parent, key, FrozenList)
    if index + remove > len(array):
        _fail("range", "the splice is beyond the array")
    _put(parent, key, FrozenList([*array[:index], *items, *array[index + remove :]]))


def _permute(parent: Any, key: Any, indexes: list[int]) -> None:
    array = _typed(parent, key, FrozenList)
    if sorted(indexes) != list(range(len(array))):
        _fail("permutation", "not a permutation of the array")
    _put(parent, key, FrozenList([array[index] for index in indexes]))


_APPLY: dict[int, Callable[..., None]] = {
    _ops.REPLACE: _set,
    _ops.SET: _set,
    _ops.ASSIGN: _set,
    _ops.DELETE: _delete,
    _ops.APPEND: _append,
    _ops.TRUNCATE: _truncate,
    _ops.SPLICE: _splice,
    _ops.PERMUTE: _permute,
}
