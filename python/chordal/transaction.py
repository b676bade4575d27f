"""Transactions: one atomic change of any number of documents and objects of one host."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from . import _futures, _packed
from .draft import DraftDocument
from .errors import ChordalError, closed
from .object import Document, Object

if TYPE_CHECKING:
    from ._provider import Provider


class Ticket:
    """What a commit answers at once. Its outcome can be awaited: the commit's number."""

    def __init__(self) -> None:
        self.commit: int | None = None
        """The number of the commit, once it is through."""
        self.error: ChordalError | None = None
        """Why it failed, if it did."""
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def done(self) -> bool:
        return self.commit is not None or self.error is not None

    def _settle(self, commit: int, error: ChordalError | None = None) -> None:
        if error is None:
            self.commit = commit
        else:
            self.error = error
        _futures.wake(self._waiting)

    async def _outcome(self) -> int:
        while not self.done:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future
        if self.error is not None:
            raise self.error
        assert self.commit is not None
        return self.commit

    def __await__(self) -> Generator[Any, None, int]:
        return self._outcome().__await__()


class ObjectDraft:
    """An object inside a transaction: its documents are attributes (or items), to be read and changed."""

    __slots__ = ("_documents", "_instance", "_ops", "_transaction")

    _transaction: Transaction
    _instance: Object
    _ops: bytearray
    _documents: dict[str, DraftDocument]

    def __init__(self, transaction: Transaction, instance: Object) -> None:
        for name, value in (("_transaction", transaction), ("_instance", instance)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_ops", bytearray())
        object.__setattr__(self, "_documents", {})

    def _draft(self, name: str) -> DraftDocument:
        self._transaction._check_open()
        draft = self._documents.get(name)
        if draft is None:
            member = type(self._instance).type_documents.get(name)
            if member is None:
                raise ChordalError("no_member", f"{type(self._instance).type_name} has no document {name}")
            draft = DraftDocument(self._instance._value(member), member.index, self._ops)
            self._documents[name] = draft
            self._transaction._bases.append((self._instance, member, draft.value))
        return draft

    def __getitem__(self, name: str) -> Any:
        return self._draft(name).read()

    def __setitem__(self, name: str, value: Any) -> None:
        self._draft(name).replace(value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._draft(name).read()

    def __setattr__(self, name: str, value: Any) -> None:
        self._draft(name).replace(value)


class Transaction(ObjectDraft):
    """A context: commits at its end, aborts on an exception. The documents of its own object are attributes; those of
    others are reached by :meth:`of`. It reads what it wrote, and all of it becomes visible at once.

    It may stay open across an ``await``: if a document that it touched was changed by others meanwhile, the commit
    raises ChordalError CONFLICT and changes nothing. Raises ChordalError STATE when it is used after its end.
    """

    __slots__ = ("_bases", "_call", "_open", "_others", "_provider", "_ticket")

    _bases: list[tuple[Object, Document, Any]]
    _ticket: Ticket | None
    _others: dict[int, ObjectDraft]
    _open: bool
    _call: int
    _provider: Provider

    def __init__(self, provider: Provider, instance: Object | None, call: int) -> None:
        super().__init__(self, instance)  # type: ignore[arg-type]
        fields = {"_provider": provider, "_call": call, "_open": True, "_others": {}, "_bases": [], "_ticket": None}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _draft(self, name: str) -> DraftDocument:
        if self._instance is None:
            raise ChordalError("state", "this transaction has no object of its own: use of(object)")
        return super()._draft(name)

    def of(self, instance: Object) -> ObjectDraft:
        """Another object of this host, in the same transaction."""
        if instance is self._instance:
            return self
        draft = self._others.get(instance._id)
        if draft is None:
            self._check_open()
            if instance.host._core is not self._provider.core:
                raise ChordalError("invalid", "the object belongs to another host")
            draft = self._others[instance._id] = ObjectDraft(self, instance)
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
        self._close()
        for instance, member, base in self._bases:
            if instance._values.get(member.index) is not base:
                raise ChordalError("conflict", f"{member.name} was changed while the transaction was open")
        object.__setattr__(self, "_ticket", self._provider.commit(self))
        return self.ticket

    def abort(self) -> None:
        """Forget all changes."""
        self._close()

    def _close(self) -> None:
        object.__setattr__(self, "_open", False)
        for draft in self._drafts():
            for document in draft._documents.values():
                document.open = False

    def _drafts(self) -> list[ObjectDraft]:
        return [self, *self._others.values()]

    def _check_open(self) -> None:
        if not self._open:
            raise ChordalError("state", "the transaction has ended")
        if self._provider.core.closed:
            raise closed("host")

    def _packed(self) -> bytes:
        """All changes as the core takes them."""
        out = bytearray()
        for draft in self._drafts():
            if draft._ops:
                _packed.put_varint(out, draft._instance._id)
                _packed.put_varint(out, len(draft._ops))
                out += draft._ops
        return bytes(out)

    def __enter__(self) -> Transaction:
        self._check_open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if not self._open:
            return
        if kind is None:
            self.commit()
        else:
            self.abort()
