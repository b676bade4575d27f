"""Stores: what lies in a host's file, read back, followed, copied and checked."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .frame import Op
from .object import TypeLike, type_of
from .values import FrozenDict, FrozenList, freeze

if TYPE_CHECKING:
    from ._native import Core
    from ._provider import Provider

_TRIMMED = 1024  # rows that go at once
_ARGUMENTS = {"d": 0, "p": 3}  # of an op, behind its letter and path; else 1


class StoredDocument(NamedTuple):
    """A document that a store knows."""

    type: str
    params: FrozenDict
    member: str
    incarnation: int
    """Which life of the address it is, from 1."""
    version: int
    """Of the type that wrote it last."""
    created: int
    """Its first commit."""
    retired: int | None
    """The commit after which its life ended."""
    commit: int | None
    """Its newest commit that can be read."""


class Write(NamedTuple):
    """What a commit did to one document, or to one row of a table."""

    type: str
    params: FrozenDict
    member: str
    ops: list[Op]
    """Of a document: as those of a :class:`Frame`; where it begins, or begins anew, one ``("r", (), value)``."""
    put: FrozenDict | None = None
    """The row that was put in a table; bytes are base64 text."""
    removed: FrozenList | None = None
    """The key of the row that was removed."""


class Written(NamedTuple):
    """What one commit wrote."""

    commit: int
    writes: list[Write]


class Fault(NamedTuple):
    """Something in a store is damaged: where (a table and its row), what, and of which document, or of which row by its
    key, as far as that is known."""

    place: str | None
    detail: str
    type: str | None
    params: FrozenDict | None
    member: str | None
    key: FrozenList | None


class Store:
    """What lies in the store of a host: ``host.store``. All of it works in a host that reads beside the owner, too, but
    :meth:`trim`. It is what is in the file: a commit is, once its ticket is through.

    Raises ChordalError STATE when the host has no store, CORRUPT, DISK_IO; of writing also READ_ONLY, DISK_FULL."""

    __slots__ = ("_core", "_provider")

    def __init__(self, core: Core, provider: Provider) -> None:
        self._core = core
        self._provider = provider

    def read(
        self, kind: TypeLike, member: str, params: Mapping[str, Any] | None = None, /, *, at: int = 0, **named: Any
    ) -> Any:
        """A document as commit `at` left it, by default the newest: ``host.store.read(Notes, "list", board="lunch",
        at=42)``. Of whatever life its address had then; the type need not be provided. Raises ChordalError NOT_FOUND
        (there was none then, or what it was is kept no more: `history` of its type)."""
        address = freeze({**(params or {}), **named})
        return self._core.store_read(type_of(kind), address, member, at)[0]

    def documents(self) -> Iterator[StoredDocument]:
        """All documents, retired ones that are remembered among them."""
        after = -1
        while after:
            page, after = self._core.store_documents(max(after, 0), 0)
            yield from (StoredDocument(**entry) for entry in page)

    def outbox(self, after: int = 0) -> Iterator[Written]:
        """What commits behind number `after` wrote, of a host that keeps an outbox, up to now. A follower keeps the
        number of the last one that it took and asks again from there."""
        more = True
        while more:
            page, more = self._core.store_outbox(after, 0)
            for row in page:
                after = row["commit"]
                yield Written(after, [_write(entry) for entry in row["writes"]])

    def trim(self, upto: int) -> int:
        """Forget of the outbox what commits up to this number wrote; answers how many it was."""
        dropped = total = self._core.store_trim(upto)
        while dropped == _TRIMMED:
            dropped = self._core.store_trim(upto)
            total += dropped
        return total

    async def backup(self, path: str | bytes | os.PathLike[Any]) -> int:
        """Copy the store, as it is now, to another path, while the host goes on; answers the newest commit in the copy.
        It takes its name when it is whole: one that is cut leaves no store. Raises ChordalError EXISTS (something is
        there), OWNED (another copy is being made there), NOT_FOUND (its folder), INVALID."""
        return await self._provider.copy(os.fsencode(path))

    async def check(self) -> list[Fault]:
        """Look for damage: SQLite's own check, the runs, each revision of each document, each cell of each row. Other
        tasks go on between pages of documents and of rows."""
        faults: list[Fault] = []
        after = -1
        while after:
            page, after = self._core.store_check(max(after, 0), 0)
            faults += (Fault(**fault) for fault in page)
            await asyncio.sleep(0)
        return faults


def _write(entry: FrozenDict) -> Write:
    ops = [("r", (), entry["value"])] if "value" in entry else list(_ops(entry.get("ops", ())))
    return Write(entry["type"], entry["params"], entry["member"], ops, entry.get("put"), entry.get("remove"))


def _ops(flat: Any) -> Iterator[Op]:
    """Ops of the JSON form, as tuples; their paths begin inside the member."""
    at = 0
    while at < len(flat):
        letter, path, behind = flat[at], flat[at + 1], at + 2
        at = behind + _ARGUMENTS.get(letter, 1)
        yield (letter, tuple(path[1:]), *flat[behind:at])
