"""Tables: typed rows of an object, in the store of the host that provides it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native
from .values import FrozenDict, FrozenList

if TYPE_CHECKING:
    from .object import Object, TableMember
    from .reference import Reference
    from .transaction import Transaction

QUERY_TYPE = "chordal.query"  # which every host with a store provides


class Page(NamedTuple):
    """What a query answers."""

    rows: FrozenList
    """Rows, a FrozenDict each; of counts and sums ``{"group": …, "count": …, "sum": …}``. (Bytes in a group are base64
    text in live queries.)"""
    after: str | None
    """Where the next page begins; None at the end."""


def query_of(query: Mapping[str, Any] | None, parts: Mapping[str, Any]) -> dict[str, Any]:
    """A query of a mapping and of keywords; what is None is left out."""
    return {name: part for name, part in {**(query or {}), **parts}.items() if part is not None}


def live_params(kind: str, params: FrozenDict, member: str, query: Mapping[str, Any]) -> dict[str, Any]:
    """The address of a live query."""
    return {"type": kind, "params": params, "member": member, "query": _native.plain(query)}


class Table:
    """A table of an object that this host provides, as it is stored: an attribute of the object."""

    __slots__ = ("_instance", "_member")

    def __init__(self, instance: Object, member: TableMember) -> None:
        self._instance = instance
        self._member = member

    def get(self, key: Any) -> FrozenDict | None:
        """The row of a key, or None. A key is its value, or a list when it has several columns. Raises ChordalError
        TYPE, INVALID (no key of this table), and those of reading the store."""
        row: FrozenDict | None = self._instance.host._core.object_row(self._instance._id, self._member.index, key)
        return row

    def query(self, query: Mapping[str, Any] | None = None, /, **parts: Any) -> Page:
        """Rows, or counts and sums of them; as a mapping or by keywords, all of them optional::

            page = board.tasks.query(where={"ge": ["due", 7]}, order=[["due", "desc"]], limit=20)

        `where`: a condition: ``{"eq": [column, value]}``, so, too: ne, lt, le, gt, ge, prefix; ``{"in": [column,
        [value, …]]}``, ``{"null": column}``, ``{"and": [condition, …]}``, or; ``{"not": condition}``. `order`: columns,
        each as it is or as ``[column, "desc"]``. `limit`: 1 to 10000, default 1000. `after`: the cursor of the page
        before. `stale`: True, only rows that an older version of the table has written, which are to be put anew (not
        in live queries). `count`: True; `sum`: a column of numbers (exact, of reals the nearest double); `group`:
        columns. It is the same JSON in all languages, but that ``bytes`` are compared as they are. Raises ChordalError
        INVALID with words, LIMIT."""
        answer = self._instance.host._core.object_query(self._instance._id, self._member.index, query_of(query, parts))
        return Page(answer["rows"], answer["after"])

    def live(self, query: Mapping[str, Any] | None = None, /, **parts: Any) -> Reference:
        """A reference whose document `rows` is what the query answers, kept current from each commit's changes:
        ``board.tasks.live(order=["due"], limit=20).rows.watch(…)``. In its rows bytes are ``{"length", "digest"}``. In
        a host that only reads its store it is what the query gave when it was first held; held again after all let it
        go it asks anew. Raises ChordalError INVALID with words, LIMIT."""
        kind, params = type(self._instance).type_name, self._instance.params
        asked = live_params(kind, params, self._member.name, query_of(query, parts))
        return self._instance.host.get(QUERY_TYPE, asked)

    def __repr__(self) -> str:
        return f"<Table {self._member.name} of {self._instance!r}>"


class TableDraft:
    """A table in a transaction: it reads what the transaction wrote, and its rows are committed with the documents.
    What is refused changes nothing, but :meth:`update_where` and :meth:`delete_where` with LIMIT or NOMEM, after which
    the commit fails, too.

    A row that was read or patched, and that others changed meanwhile, makes the commit raise CONFLICT; so does any
    change of a table that was queried."""

    __slots__ = ("_index", "_object", "_transaction")

    def __init__(self, transaction: Transaction, number: int, index: int) -> None:
        self._transaction = transaction
        self._object = number
        self._index = index

    def get(self, key: Any) -> FrozenDict | None:
        """As :meth:`Table.get`."""
        row: FrozenDict | None = self._transaction._begun().row(self._object, self._index, key)
        return row

    def query(self, query: Mapping[str, Any] | None = None, /, **parts: Any) -> Page:
        """As :meth:`Table.query`."""
        answer = self._transaction._begun().query(self._object, self._index, query_of(query, parts))
        return Page(answer["rows"], answer["after"])

    def put(self, row: Mapping[str, Any]) -> None:
        """Put a row, whole, in place of one with the same key; a column that is not given has its default, or is None.
        Raises ChordalError INVALID (no such column, no key), TYPE, RANGE (a value does not fit its column), LIMIT
        (1048576 rows in one transaction)."""
        self._transaction._begun().put(self._object, self._index, row)

    def patch(self, row: Mapping[str, Any]) -> None:
        """Change the columns that are given, beside the key, of the row with that key. Raises as :meth:`put`, and
        NOT_FOUND."""
        self._transaction._begun().patch(self._object, self._index, row)

    def remove(self, key: Any) -> None:
        """Remove the row of a key; that there is none is no error."""
        self._transaction._begun().remove(self._object, self._index, key)

    def update_where(self, where: Mapping[str, Any] | None, changes: Mapping[str, Any]) -> int:
        """Change columns, none of the key, in all rows for which a condition holds (None: in all); answers how many."""
        return self._transaction._begun().update_where(self._object, self._index, where, changes)

    def delete_where(self, where: Mapping[str, Any] | None) -> int:
        """Remove all rows for which a condition holds (None: all); answers how many."""
        return self._transaction._begun().delete_where(self._object, self._index, where)
