"""Transactions: one atomic change of any number of documents, tables and objects of one host."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from . import _futures, _native
from ._native import ObjectDraft, Rows
from .errors import ChordalError

if TYPE_CHECKING:
    from ._pump import Pump
    from .object import Object


class Ticket:
    """What a commit answers at once. Its outcome can be awaited: the commit's number."""

    __slots__ = ("__weakref__", "_pump", "_waiting", "commit", "error")

    def __init__(self, pump: Pump) -> None:
        self._pump: Pump | None = pump  # until it is settled
        self.commit: int | None = None
        """The number of the commit, once it is through."""
        self.error: ChordalError | None = None
        """Why it failed, if it did."""
        self._waiting: list[asyncio.Future[None]] | None = None

    @property
    def done(self) -> bool:
        return self.commit is not None or self.error is not None

    def _settle(self, commit: int, error: ChordalError | None = None) -> None:
        self._pump = None
        if error is None:
            self.commit = commit
        else:
            self.error = error
        if self._waiting is not None:
            _futures.wake(self._waiting)

    def __await__(self) -> Generator[Any, None, int]:
        if self._pump is not None:
            self._pump.early()
        while self.commit is None and self.error is None:
            future = asyncio.get_running_loop().create_future()
            if self._waiting is None:
                self._waiting = []
            self._waiting.append(future)
            yield from future
        if self.error is not None:
            raise self.error
        assert self.commit is not None
        return self.commit


class Transaction(ObjectDraft):
    """A context: commits at its end, aborts on an exception. The documents and tables of its own object are
    attributes; those of others are reached by :meth:`of`. It reads what it wrote, and all of it becomes visible at
    once.

    It may stay open across an ``await``: if a document that it touched, or a row that it read, was changed by others
    meanwhile, the commit raises ChordalError CONFLICT and changes nothing. One for a call that puts rows has to end
    before the call is answered. Raises ChordalError STATE when it is used after its end.
    """

    __slots__ = ()

    def of(self, instance: Object) -> ObjectDraft:
        """Another object of this host, in the same transaction."""
        if instance is self._instance:
            return self
        if self._others is None:
            self._others = {}
        if not hasattr(instance, "_id"):
            raise ChordalError("type", "an object is what the host's object() answers")
        draft = self._others.get(instance._id)
        if draft is None:
            self._check_open()
            if instance.host._core is not self._core:
                raise ChordalError("invalid", "the object belongs to another host")
            draft = self._others[instance._id] = ObjectDraft(self._core, instance, self, None, 0)
        return draft

    @property
    def ticket(self) -> Ticket:
        """The commit's ticket, after the end. ``await t.ticket`` gives its number."""
        if self._ticket is None:
            raise ChordalError("state", "the transaction has not been committed")
        return self._ticket

    def commit(self) -> Ticket:
        """Commit now, instead of at the end of the context. Raises ChordalError CONFLICT, CLOSED (an object is
        gone)."""
        self._check_open()
        ticket: Ticket = self._provider.commit(self)
        self._ticket = ticket
        return ticket

    def abort(self) -> None:
        """Forget all changes."""
        self._close(False)

    def _begun(self) -> Rows:
        """The core's transaction, for rows."""
        self._check_open()
        rows = self._rows
        if rows is None:
            rows = self._rows = Rows(self._core, self._provider.behalf(self._call))
        return rows

    def _instances(self) -> list[Object]:
        """Those whose documents may have changed."""
        others = self._others.values() if self._others else ()
        return [draft._instance for draft in (self, *others) if draft._instance is not None]

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if not self._open:
            return
        if kind is None:
            self._ticket = self._provider.commit(self)
        else:
            self._close(False)


_native.adopt(reserved=frozenset(dir(Transaction)))
