"""Immutable native values.

Every value that Chordal hands out is one of ``None``, ``bool``, ``int``, ``float``, ``str``, :class:`FrozenList`
and :class:`FrozenDict`. The two containers read like ``list`` and ``dict`` (they are subclasses: ``json``, ``==``,
unpacking and pattern matching work), and refuse to be changed. A new revision copies the containers on the way to
what changed and shares all others, so ``old["a"] is new["a"]`` tells that nothing below changed.
"""

from __future__ import annotations

from typing import Any, NoReturn, Union

from . import _native
from ._native import freeze

__all__ = ["FrozenDict", "FrozenList", "Value", "freeze"]

Value = Union[None, bool, int, float, str, "FrozenList", "FrozenDict"]
"""What Chordal hands out."""


def _refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
    raise TypeError(f"a {type(self).__name__} cannot be changed; change the document in a transaction")


class FrozenDict(dict):  # type: ignore[type-arg]
    """A JSON object that cannot be changed. ``dict(value)`` is a copy that can. One that a program makes is frozen
    to its depths, with the errors of :func:`freeze`."""

    __slots__ = ()

    def __new__(cls, *content: Any, **named: Any) -> FrozenDict:
        return freeze(dict(*content, **named))  # type: ignore[no-any-return]

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

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
    """A JSON array that cannot be changed. ``list(value)`` is a copy that can. One that a program makes is frozen
    to its depths, with the errors of :func:`freeze`."""

    __slots__ = ()

    def __new__(cls, *content: Any) -> FrozenList:
        return freeze(list(*content))  # type: ignore[no-any-return]

    def __init__(self, *_: Any) -> None:
        pass

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


_native.adopt(frozen_dict=FrozenDict, frozen_list=FrozenList)
