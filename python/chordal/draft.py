"""Drafts: what a program changes inside a transaction.

A draft reads and writes like a ``dict`` or ``list``. It works on a value of its own that shares all that is not changed
with the document, so a transaction reads what it wrote; each change is also recorded as a packed op, and all of them
cross to the core in one piece when the transaction commits.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, MutableSequence
from typing import Any

from . import _native
from ._native import Draft, DraftArray, DraftObject


def _plain(value: Any) -> Any:
    """What a draft stands for."""
    return value._value if isinstance(value, Draft) else value


class DraftDict(DraftObject, MutableMapping):  # type: ignore[type-arg]
    """A JSON object in a transaction; reads and writes like a ``dict``.

    ``draft["text"] += "…"`` on a string travels as an append; an object or array that is assigned over another one
    travels as the difference. Values are taken as :func:`chordal.freeze` takes them, with its errors."""

    __slots__ = ()

    def clear(self) -> None:
        """Make it empty."""
        self.replace_contents({})


class DraftList(DraftArray, MutableSequence):  # type: ignore[type-arg]
    """A JSON array in a transaction; reads and writes like a ``list``. Insertions and removals travel as splices, sort
    and reverse as permutations. Values are taken as :func:`chordal.freeze` takes them, with its errors."""

    __slots__ = ()

    def reverse(self) -> None:
        """Turn the order around, as a permutation."""
        self.permute(range(len(self) - 1, -1, -1))

    def sort(self, *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> None:
        """Sort as ``list.sort`` does, as a permutation."""
        value = self._value
        order = value.__getitem__ if key is None else lambda index: key(value[index])
        self.permute(sorted(range(len(value)), key=order, reverse=reverse))

    def index(self, value: Any, *bounds: int) -> int:
        """The first index of an equal element."""
        return int(self._value.index(_plain(value), *bounds))


_native.adopt(draft_dict=DraftDict, draft_list=DraftList)
