"""Applying ops to an immutable value: what keeps a copy equal to its provider's.

The containers on the way to a change are copied once per frame, all others are shared with the value before; or, in
place, nothing is copied, and the value before is gone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from . import _ops
from .errors import ChordalError
from .values import FrozenDict, FrozenList, drop_units, join

_CONTAINERS = (FrozenDict, FrozenList)


def patch(value: Any, ops: bytes, in_place: bool = False) -> Any:
    """The value after packed ops on one member. The value given stays as it is, unless it is changed `in_place`. Raises
    ChordalError PATH, TYPE, RANGE or PERMUTATION for an op that does not apply to it."""
    box = [value]
    fresh: dict[int, Any] | None = None if in_place else {}  # containers made here, which may be changed in place
    for number, path, arguments in _ops.read(ops):
        if number == _ops.ERROR:
            continue
        parent: Any = box
        key: Any = 0
        for segment in path[1:]:
            parent = _own(parent, key, fresh)
            key = segment
        if number in _WITHIN:
            _WITHIN[number](_own_array(parent, key, fresh), *arguments)
        else:
            _APPLY[number](parent, key, *arguments)
    return box[0]


def _fail(name: str, detail: str) -> NoReturn:
    raise ChordalError(name, detail)


def _child(parent: Any, key: Any) -> Any:
    try:
        return parent[key]
    except (KeyError, IndexError, TypeError):
        _fail("path", "the path leads nowhere")


def _own(parent: Any, key: Any, fresh: dict[int, Any] | None) -> Any:
    """The container at a place, as a copy of its own that may be changed. `fresh` None: nothing is copied."""
    child = _child(parent, key)
    if not isinstance(child, _CONTAINERS):
        _fail("path", "the path leads through a plain value")
    if fresh is None or id(child) in fresh:
        return child
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


def _own_array(parent: Any, key: Any, fresh: dict[int, Any] | None) -> Any:
    _typed(parent, key, FrozenList)
    return _own(parent, key, fresh)


def _splice(array: Any, index: int, remove: int, items: list[Any]) -> None:
    if index + remove > len(array):
        _fail("range", "the splice is beyond the array")
    list.__setitem__(array, slice(index, index + remove), items)


def _permute(array: Any, indexes: list[int]) -> None:
    if sorted(indexes) != list(range(len(array))):
        _fail("permutation", "not a permutation of the array")
    list.__setitem__(array, slice(None), [array[index] for index in indexes])


_APPLY: dict[int, Callable[..., None]] = {
    _ops.REPLACE: _set,
    _ops.SET: _set,
    _ops.ASSIGN: _set,
    _ops.DELETE: _delete,
    _ops.APPEND: _append,
    _ops.TRUNCATE: _truncate,
}
_WITHIN: dict[int, Callable[..., None]] = {_ops.SPLICE: _splice, _ops.PERMUTE: _permute}  # of an array
