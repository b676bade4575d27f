"""Drafts: what a program changes inside a transaction.

A draft reads and writes like a ``dict`` or ``list``. It works on a value of its own that shares all that is not changed
with the document, so a transaction reads what it wrote; each change is also recorded as a packed op, and all of them
cross to the core in one piece when the transaction commits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

from . import _ops, _packed
from .errors import ChordalError
from .values import FrozenDict, FrozenList, freeze, join, units

_set_key = dict.__setitem__
_del_key = dict.__delitem__
_set_index = list.__setitem__


def _put(container: Any, key: Any, value: Any) -> None:
    if type(container) is FrozenDict:
        _set_key(container, key, value)
    else:
        _set_index(container, key, value)


class DraftDocument:
    """One document as its transaction sees it. `value` is its present value; `ops` collects the changes."""

    __slots__ = ("_root", "member", "open", "ops")

    def __init__(self, value: Any, member: int, ops: bytearray) -> None:
        self.member = member
        self.ops = ops
        self.open = True
        self._root = _Box(value, self)

    @property
    def value(self) -> Any:
        return self._root._value[0]

    def read(self) -> Any:
        """The document: a draft of it when it is an object or array, else the value."""
        return self._root._read(0)

    def replace(self, value: Any) -> None:
        """Make the whole document equal to a value; only what differs travels."""
        self._root._write(0, value)


class _Draft:
    """One place of a document. Its children that were read keep their places up to date, so a draft of an element
    stays good when elements before it come or go; a draft of what was removed refuses to be used."""

    __slots__ = ("_children", "_document", "_fresh", "_key", "_parent", "_value")

    def __init__(self, parent: _Draft | None, key: int | str, value: Any, document: DraftDocument) -> None:
        self._parent = parent
        self._key = key
        self._value = value
        self._document = document
        self._fresh = False  # the value is a copy of this transaction's and may be changed in place
        self._children: dict[int | str, _Draft] = {}

    def _read(self, key: Any) -> Any:
        child = self._children.get(key)
        if child is not None:
            return child
        value = self._value[key]
        if type(value) is FrozenDict:
            child = DraftDict(self, key, value, self._document)
        elif type(value) is FrozenList:
            child = DraftList(self, key, value, self._document)
        else:
            return value
        self._children[key] = child
        return child

    def _own(self) -> Any:
        """The value as one that may be changed in place, and so all above it."""
        if not self._fresh:
            parent = self._check()._own()
            self._value = type(self._value)(self._value)
            _put(parent, self._key, self._value)
            self._fresh = True
        return self._value

    def _check(self) -> _Draft:
        if self._parent is None:
            raise ChordalError("state", "what this draft stood for was removed or replaced")
        if not self._document.open:
            raise ChordalError("state", "the transaction has ended")
        return self._parent

    def _path(self, *last: int | str) -> list[int | str]:
        """The path of this place, or of one inside it. Also refuses a draft that is no longer good."""
        path = list(reversed(last))
        place = self
        while place._parent is not None:
            path.append(place._key)
            place = place._parent
        if place is not self._document._root:
            raise ChordalError("state", "what this draft stood for was removed or replaced")
        if not self._document.open:
            raise ChordalError("state", "the transaction has ended")
        path[-1] = self._document.member
        path.reverse()
        return path

    def _forget(self, key: Any) -> None:
        child = self._children.pop(key, None)
        if child is not None:
            child._parent = None

    def _forget_all(self) -> None:
        for key in list(self._children):
            self._forget(key)

    def _write(self, key: Any, value: Any) -> None:
        """Set one place, by the smallest op that does it."""
        path = self._path(key)
        old = self._old(key)
        if isinstance(value, _Draft) and value is self._children.get(key):
            return  # what `draft[key] += …` leaves behind
        if type(old) is str and isinstance(value, str) and value.startswith(old):
            return self._append(path, key, old, value[len(old) :])
        new = freeze(value)
        container = type(new) in (FrozenDict, FrozenList)
        number = _ops.ASSIGN if container and type(old) is type(new) else _ops.SET
        if len(path) == 1:
            number = _ops.ASSIGN
        self._record(number, path, new)
        self._forget(key)
        self._store(key, new)

    def _append(self, path: list[int | str], key: Any, old: str, tail: str) -> None:
        if tail:
            _ops.put_head(self._document.ops, _ops.APPEND, path)
            _packed.put_text(self._document.ops, tail)
            self._store(key, join(old, tail))

    def _record(self, number: int, path: list[int | str], value: Any) -> None:
        _ops.put_head(self._document.ops, number, path)
        _packed.put_value(self._document.ops, value)

    def _old(self, key: Any) -> Any:
        raise NotImplementedError

    def _store(self, key: Any, value: Any) -> None:
        raise NotImplementedError

    def _text(self, key: Any) -> str:
        value = self._value[key]
        if type(value) is not str:
            raise ChordalError("type", "only a string can be appended to or truncated")
        return value

    def append_text(self, key: Any, text: str) -> None:
        """Append to the string at `key`. Costs what it adds. Raises KeyError or IndexError, and ChordalError TYPE if it
        is no string."""
        if not isinstance(text, str):
            raise ChordalError("type", "only text can be appended to a string")
        key = self._place(key)
        path = self._path(key)
        self._append(path, key, self._text(key), text)

    def truncate_text(self, key: Any, count: int) -> None:
        """Drop `count` characters from the front of the string at `key`. Raises as append_text, and ChordalError RANGE
        if it is shorter."""
        key = self._place(key)
        path = self._path(key)
        old = self._text(key)
        if not 0 <= count <= len(old):
            raise ChordalError("range", "the text is shorter")
        if count:
            _ops.put_head(self._document.ops, _ops.TRUNCATE, path)
            _packed.put_varint(self._document.ops, units(old[:count]))
            self._store(key, old[count:])

    def replace(self, value: Any) -> None:
        """Make this place equal to a value; only what differs travels. This draft is then no longer good."""
        self._check()._write(self._key, value)

    def _place(self, key: Any) -> Any:
        return key

    def __eq__(self, other: object) -> bool:
        return bool(self._value == (other._value if isinstance(other, _Draft) else other))

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._value!r})"


class _Box(_Draft):
    """What holds the document's root."""

    __slots__ = ()

    def __init__(self, value: Any, document: DraftDocument) -> None:
        super().__init__(None, 0, [value], document)
        self._fresh = True

    def _path(self, *last: int | str) -> list[int | str]:
        if not self._document.open:
            raise ChordalError("state", "the transaction has ended")
        return [self._document.member]

    def _old(self, key: Any) -> Any:
        return self._value[0]

    def _store(self, key: Any, value: Any) -> None:
        self._value[0] = value


class DraftDict(_Draft, MutableMapping):  # type: ignore[type-arg]
    """A JSON object in a transaction; reads and writes like a ``dict``.

    ``draft["text"] += "…"`` on a string travels as an append; an object or array that is assigned over another one
    travels as the difference. Values are taken as :func:`chordal.freeze` takes them, with its errors."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        return self._read(key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise ChordalError("type", f"a {type(key).__name__} is not a key")
        self._write(freeze(key), value)

    def __delitem__(self, key: str) -> None:
        if key not in self._value:
            raise KeyError(key)
        _ops.put_head(self._document.ops, _ops.DELETE, self._path(key))
        self._forget(key)
        _del_key(self._own(), key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __contains__(self, key: object) -> bool:
        return key in self._value

    def _old(self, key: Any) -> Any:
        return self._value.get(key)

    def _store(self, key: Any, value: Any) -> None:
        _set_key(self._own(), key, value)

    def clear(self) -> None:
        """Make it empty."""
        self.replace_contents({})

    def replace_contents(self, value: Mapping[str, Any]) -> None:
        """Make it equal to a mapping; only what differs travels. This draft stays good."""
        _replace_contents(self, value)


class DraftList(_Draft, MutableSequence):  # type: ignore[type-arg]
    """A JSON array in a transaction; reads and writes like a ``list``. Insertions and removals travel as splices, sort
    and reverse as permutations. Values are taken as :func:`chordal.freeze` takes them, with its errors."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._read(place) for place in range(*index.indices(len(self._value)))]
        return self._read(self._place(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            return self._set_slice(index, value)
        self._write(self._place(index), value)

    def __delitem__(self, index: Any) -> None:
        if not isinstance(index, slice):
            return self._splice(self._place(index), 1, ())
        places = range(*index.indices(len(self._value)))
        if places.step in (1, -1) and places:
            return self._splice(min(places), len(places), ())
        for place in sorted(places, reverse=True):
            self._splice(place, 1, ())

    def insert(self, index: int, value: Any) -> None:
        """Put a value before the element at `index`."""
        self._splice(slice(index, None).indices(len(self._value))[0], 0, (value,))

    def append(self, value: Any) -> None:
        """Put a value at the end."""
        self._splice(len(self._value), 0, (value,))

    def extend(self, values: Iterable[Any]) -> None:
        """Put values at the end, in one splice."""
        self._splice(len(self._value), 0, list(values))

    def clear(self) -> None:
        """Make it empty."""
        self._splice(0, len(self._value), ())

    def reverse(self) -> None:
        """Turn the order around, as a permutation."""
        self.permute(range(len(self._value) - 1, -1, -1))

    def sort(self, *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> None:
        """Sort as ``list.sort`` does, as a permutation."""
        value = self._value
        order = value.__getitem__ if key is None else lambda index: key(value[index])
        self.permute(sorted(range(len(value)), key=order, reverse=reverse))

    def permute(self, indexes: Sequence[int]) -> None:
        """Put the elements in a new order: ``new[i] = old[indexes[i]]``. Raises ChordalError PERMUTATION."""
        path = self._path()
        old = self._value
        if sorted(indexes) != list(range(len(old))):
            raise ChordalError("permutation")
        if all(index == place for place, index in enumerate(indexes)):
            return
        _ops.put_permute(self._document.ops, path, indexes)
        value = self._own()
        _set_index(value, slice(None), [value[index] for index in indexes])
        places = {index: place for place, index in enumerate(indexes)}
        self._move(lambda place: places[place])

    def replace_contents(self, value: Sequence[Any]) -> None:
        """Make it equal to a sequence; only what differs travels. This draft stays good."""
        _replace_contents(self, value)

    def index(self, value: Any, *bounds: int) -> int:
        """The first index of an equal element."""
        return int(self._value.index(value._value if isinstance(value, _Draft) else value, *bounds))

    def _set_slice(self, index: slice, value: Iterable[Any]) -> None:
        places = range(*index.indices(len(self._value)))
        items = list(value)
        if places.step == 1:
            return self._splice(places.start, len(places), items)
        if len(places) != len(items):
            raise ValueError(f"{len(items)} values for a slice of {len(places)}")
        for place, item in zip(places, items, strict=True):
            self._write(place, item)

    def _splice(self, index: int, remove: int, values: Sequence[Any]) -> None:
        path = self._path()
        items = [freeze(value) for value in values]
        if not remove and not items:
            return
        _ops.put_splice(self._document.ops, path, index, remove, items)
        _set_index(self._own(), slice(index, index + remove), items)
        if self._children:
            for place in range(index, index + remove):
                self._forget(place)
            shift = len(items) - remove
            self._move(lambda place: place + shift if place >= index else place)

    def _move(self, place_of: Callable[[Any], int]) -> None:
        """The elements have new places: tell the drafts of them."""
        children = {}
        for place, child in self._children.items():
            child._key = place_of(place)
            children[child._key] = child
        self._children = children  # type: ignore[assignment]

    def _place(self, index: Any) -> int:
        place = operator.index(index)
        place += len(self._value) if place < 0 else 0
        if not 0 <= place < len(self._value):
            raise IndexError("index out of range")
        return place

    def _old(self, key: Any) -> Any:
        return self._value[key]

    def _store(self, key: Any, value: Any) -> None:
        _set_index(self._own(), key, value)


def _replace_contents(draft: DraftDict | DraftList, value: Any) -> None:
    path = draft._path()
    new = freeze(value)
    if type(new) is not type(draft._value):
        raise ChordalError("type", "an object stays an object and an array an array")
    draft._record(_ops.ASSIGN, path, new)
    draft._forget_all()
    own = draft._own()
    if type(new) is FrozenDict:
        dict.clear(own)
        dict.update(own, new)
    else:
        _set_index(own, slice(None), new)
