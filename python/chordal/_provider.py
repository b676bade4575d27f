"""The providing side of a host: its objects, the calls they serve, their derives and commits."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from . import _native, _records
from .call import Call
from .errors import ChordalError, MethodError, error_of
from .link import Link
from .object import Derive, Document, Method, Object, Placement, TableMember
from .transaction import Ticket, Transaction
from .values import FrozenDict, freeze

if TYPE_CHECKING:
    from ._pump import Pump
    from .host import Host

log = logging.getLogger("chordal")

INTERNAL = "internal"  # what others learn of a fault of the program
_ROWS_AT_ONCE = 100  # of a table that is migrated
_WORDS = 16_384  # characters of an error's name or message: 64 KiB at most, what the core takes


class Provider:
    def __init__(self, host: Host) -> None:
        self.host = host
        self.core = host._core
        self.pump: Pump  # set by the host
        self.types: dict[int, type[Object]] = {}
        self.numbers: dict[str, int] = {}
        self.objects: dict[int, Object] = {}
        self.calls: dict[int, Call] = {}
        self.starting: set[int] = set()  # objects that were migrated and are not started yet
        self.tickets: dict[int, tuple[Ticket, Transaction]] = {}
        self.unnumbered: deque[tuple[Ticket, Transaction]] = deque()  # there was no memory for the ticket's number
        self.copies: dict[int, Ticket] = {}  # of the store
        self.unsettled: dict[int, int] = {}  # object: commits that are not through, where there are derives
        self.placements: dict[str, Placement] = {}
        self.tasks: set[asyncio.Task[Any]] = set()

    # ---- types and objects ----

    def provide(self, kind: type[Object]) -> None:
        number = self.core.type_provide(kind.declaration())
        self.types[number] = kind
        self.numbers[kind.type_name] = number
        self.pump.rounds = max(self.pump.rounds, _derive_depth(kind))

    def object(self, name: str, params: FrozenDict) -> Object:
        number = self.core.object_get(name, params)
        return self._instance(number, self.numbers[name], params)

    def _instance(self, number: int, type: int, params: FrozenDict) -> Object:
        instance = self.objects.get(number)
        if instance is None:
            instance = self.objects[number] = self.types[type]._make(self.host, number, params)
        return instance

    def on_object(self, event: _records.ObjectEvent) -> None:
        if event.state == _records.OBJECT_MADE:
            instance = self._instance(event.object, event.type, _native.unpack(event.params))
            if type(instance)._has_work():
                self._run(self._begin(instance, event.version))
            return
        self.unsettled.pop(event.object, None)
        gone = self.objects.pop(event.object, None)
        if gone is not None:
            gone.retired()

    async def _begin(self, instance: Object, stored: int) -> None:
        if type(instance)._waits_for_start():
            await self._start(instance, stored)
        for member in type(instance).type_members:
            if isinstance(member, TableMember) and member.migrate:
                await self._migrate_rows(instance, member)

    async def _migrate_rows(self, instance: Object, member: TableMember) -> None:
        """A page of old rows in each commit."""
        assert member.migrate
        after = None
        try:
            while not self.core.closed and instance._id in self.objects:
                with instance.transaction() as t:
                    rows = getattr(t, member.name)
                    page = rows.query(stale=True, limit=_ROWS_AT_ONCE, after=after)
                    for row in page.rows:
                        rows.put(member.migrate(row))
                await t.ticket
                after = page.after
                if after is None:
                    break
        except Exception as error:
            if not self.core.closed and instance._id in self.objects:
                log.error("the rows in %s of %r are not all up to date", member.name, instance, exc_info=error)

    async def _start(self, instance: Object, stored: int) -> None:
        where = "migrate"
        try:
            if 0 < stored < type(instance).type_version:
                await self._migrate(instance, stored)
            self.starting.add(instance._id)
            where = "start"
            outcome = instance.start()
            if inspect.isawaitable(outcome):
                await outcome
            reason = ("", "")
        except BaseException as error:
            reason = _told(error, where, "of", instance)
            if not isinstance(error, Exception):
                self._started(instance, reason)
                raise
        self._started(instance, reason)

    def _started(self, instance: Object, reason: tuple[str, str]) -> None:
        self.starting.discard(instance._id)
        if instance._id in self.objects and not self.core.closed:
            self.core.object_start(instance._id, *reason)
            self.pump.wake()

    async def _migrate(self, instance: Object, stored: int) -> None:
        with Transaction(self.core, instance, None, self, instance._id) as t:
            outcome = instance.migrate(t, stored)
            if inspect.isawaitable(outcome):
                await outcome
        await t.ticket

    # ---- objects elsewhere ----

    def place(self, name: str, placement: Placement) -> None:
        self.core.enter()
        self.core.type_place(name)
        self.placements[name] = placement

    def on_resolve(self, event: _records.ResolveEvent) -> None:
        self._run(self._resolve(event.question, event.type, _native.unpack(event.params)))

    async def _resolve(self, question: int, name: str, params: FrozenDict) -> None:
        try:
            place = self.placements[name](params, self.host)
            if inspect.isawaitable(place):
                place = await place
            link = getattr(place, "link", place)
            if not isinstance(link, Link):
                raise TypeError(f"a placement answers a worker or a link, not {place!r}")
            _answered(self.core.resolve, question, link._id)
            if link.state == "closed":
                raise MethodError("no_route", "the link to the object is closed")
        except Exception as error:
            told = _told(error, "the placement of", name, params)
            if not self.core.closed:
                _answered(self.core.resolve_fail, question, *told)
        self.pump.wake()

    # ---- calls ----

    def on_call(self, event: _records.CallEvent) -> None:
        instance = self.objects.get(event.object)
        if instance is None:  # retired meanwhile
            self.core.release(event.call)
            return
        member = type(instance).type_members[event.member]
        assert isinstance(member, Method)
        if event.call in self.calls:  # there was no memory to tell of what it raised
            self.calls.pop(event.call)
            self.core.release(event.call)
            return
        call = Call(self, event.call, instance, event.origin, event.authority)
        self.calls[event.call] = call
        try:
            arguments = _native.unpack(event.arguments)
            if not member.takes(len(arguments)):
                raise MethodError("arguments", f"{member.name} does not take {len(arguments)} arguments")
            result = member.function(instance, call, *arguments)
            if not inspect.isawaitable(result):
                return self._answer(call, member, result)
            self._run(self._serve(call, member, result))
        except BaseException as error:
            self._fail(call, member, error)
            if not isinstance(error, (Exception, asyncio.CancelledError)):
                raise

    async def _serve(self, call: Call, member: Method, result: Awaitable[Any]) -> None:
        try:
            value = await result
        except asyncio.CancelledError:
            if self.calls.pop(call._id, None) is not None and not self.core.closed:
                self.core.release(call._id)
                self.pump.wake()
            raise
        except BaseException as error:
            self._fail(call, member, error)
            if not isinstance(error, Exception):
                raise
        else:
            self._answer(call, member, value)

    def _answer(self, call: Call, member: Method, value: Any) -> None:
        """Reading the value may run code of the program, which may raise anything."""
        if call._id not in self.calls or self.core.closed:
            return
        try:
            self.core.call_answer(call._id, value)
        except BaseException as error:
            self._fail(call, member, error)
            if not isinstance(error, Exception):
                raise
            return
        self.calls.pop(call._id, None)
        self.pump.wake()

    def _fail(self, call: Call, member: Method, error: BaseException) -> None:
        if call._id not in self.calls or self.core.closed:
            return
        try:
            self.core.call_fail(call._id, *_told(error, member.name, "of", call.object))
        except Exception:
            self.core.release(call._id)
            log.exception("a method's error could not be told")
        self.calls.pop(call._id, None)
        self.pump.wake()

    def on_cancel(self, event: _records.CancelEvent) -> None:
        call = self.calls.get(event.call)
        if call is not None:
            call.cancelled.set()

    def _run(self, work: Any) -> None:
        task = self.host._loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    # ---- derives ----

    def on_compute(self, event: _records.ComputeEvent) -> None:
        instance = self.objects.get(event.object)
        if instance is None:  # its OBJECT event comes behind this one
            _answered(self.core.compute_fail, event.compute, INTERNAL, "")
            return
        member = type(instance).type_members[event.member]
        assert isinstance(member, Derive)
        try:
            value = freeze(self._computed(instance, member))
            if _answered(self.core.compute_answer, event.compute, value):
                instance._values[event.member] = value
        except BaseException as error:
            if not self.core.closed:
                _answered(self.core.compute_fail, event.compute, *_told(error, member.name, "of", instance))
            if not isinstance(error, (Exception, asyncio.CancelledError)):
                raise

    def _computed(self, instance: Object, member: Derive) -> Any:
        """A derive's value. While several commits are on their way, documents are what the first of them made."""
        if self.unsettled.get(instance._id, 0) <= 1:
            return member.function(instance)
        prepared, kind = instance._values, type(instance)
        instance._values = {
            index: value for index, value in prepared.items() if not isinstance(kind.type_members[index], Document)
        }
        for document in kind.type_documents.values():
            instance._values[document.index] = self.core.object_read(instance._id, document.index)
        try:
            return member.function(instance)
        finally:
            instance._values = prepared

    # ---- commits ----

    def behalf(self, number: int) -> int:
        """What the core is told of whom a transaction is for: a call that is not answered, an object that starts."""
        return number if number in self.calls or number in self.objects else 0

    def commit(self, transaction: Transaction) -> Ticket:
        """Bring a transaction to the core in one crossing, and let what depends on it settle."""
        pump, unnumbered = self.pump, self.unnumbered
        ticket, close = Ticket(pump), transaction._close
        entry = (ticket, transaction)
        unnumbered.append(entry)  # what takes memory comes before the commit, also the method that ends it
        through = False
        try:
            changes = transaction._changes()
            rows = transaction._rows
            if rows is not None and (changes or rows.changed):
                number = rows.commit(changes)
                through = True
            elif changes:
                call = transaction._call
                number = self.core.commit(call and self.behalf(call), changes)
                through = True
        finally:
            close(through)
            if not through:
                unnumbered.pop()
        if not through:
            ticket._settle(0)
            return ticket
        try:  # it stands, whatever follows
            if number is not None:
                self.tickets[number] = entry
                unnumbered.pop()
            if pump.rounds:
                self._settle(transaction)
            else:
                pump.wake()
        except MemoryError:
            pump.wake()
        return ticket

    def _settle(self, transaction: Transaction) -> None:
        for instance in transaction._instances():
            self.unsettled[instance._id] = self.unsettled.get(instance._id, 0) + 1
        self.pump.settle()

    async def copy(self, path: bytes) -> int:
        """Copy the store; the ticket of it is like a commit's."""
        self.pump.loop()
        ticket = self.copies[self.core.store_backup(path)] = Ticket(self.pump)
        self.pump.wake()
        return await ticket

    def polled(self, event: _records.TicketEvent) -> None:
        """Tickets are looked at when they are polled, before their turn: what else is told may lead to commits."""
        if event.ticket in self.copies:
            return
        _, transaction = self.tickets.get(event.ticket) or self.unnumbered[0]
        if event.code:
            _forget_values(transaction)
        if self.pump.rounds:
            for instance in transaction._instances():
                left = self.unsettled.get(instance._id, 1) - 1
                if left > 0:
                    self.unsettled[instance._id] = left
                else:
                    self.unsettled.pop(instance._id, None)

    def on_ticket(self, event: _records.TicketEvent) -> None:
        entry = self.tickets.get(event.ticket)
        if entry is None or event.code:
            return self._on_other_ticket(event, entry)
        entry[0]._settle(event.commit)
        del self.tickets[event.ticket]

    def _on_other_ticket(self, event: _records.TicketEvent, entry: tuple[Ticket, Transaction] | None) -> None:
        copy = self.copies.get(event.ticket)
        if copy is not None:
            copy._settle(event.commit, error_of(event.code, event.detail) if event.code else None)
            del self.copies[event.ticket]
            return
        ticket, transaction = entry or self.unnumbered[0]
        if event.code:
            _forget_values(transaction)  # there may have been no memory for it before
            ticket._settle(0, error_of(event.code, event.detail))
        else:
            ticket._settle(event.commit)
        if self.tickets.pop(event.ticket, None) is None:
            self.unnumbered.popleft()

    # ---- the end ----

    def close(self, error: ChordalError) -> None:
        for task in self.tasks:
            task.cancel()
        for ticket, _ in (*self.tickets.values(), *self.unnumbered):
            ticket._settle(0, error)
        for copy in self.copies.values():
            copy._settle(0, error)
        self.copies.clear()
        self.tickets.clear()
        self.unnumbered.clear()
        self.calls.clear()
        self.objects.clear()


def _forget_values(transaction: Transaction) -> None:
    """The tips fell back: they are read again."""
    for instance in transaction._instances():
        for member in type(instance).type_documents.values():
            instance._values.pop(member.index, None)


def _answered(answer: Callable[..., None], *arguments: Any) -> bool:
    """Answer a compute or a question. False: too late, nobody waits any more."""
    try:
        answer(*arguments)
    except ChordalError as error:
        if error.name != "closed":
            raise
        return False
    return True


def _told(error: BaseException, *where: Any) -> tuple[str, str]:
    """What others are told of an exception: the words of a MethodError, of all else nothing. It always answers, though
    what it looks at is the program's."""
    try:
        if isinstance(error, MethodError) and (name := _words(error.name)):
            return name, _words(error.detail)
    except Exception as second:
        error = second
    try:
        log.error("%s failed", " ".join(map(str, where)), exc_info=error)
    except Exception:
        log.error("a method, derive or start failed, and so did its words")
    return INTERNAL, "the provider failed"


def _words(text: Any) -> str:
    """As others are told them; also of what is no text."""
    return freeze(text if isinstance(text, str) else str(text))[:_WORDS]  # type: ignore[no-any-return]


def _derive_depth(kind: type[Object]) -> int:
    """How many rounds of computing a change of a type's documents may take."""
    depths: dict[str, int] = {}
    for member in kind.type_members:
        if isinstance(member, Derive):
            depths[member.name] = 1 + max((depths.get(source, 0) for source in member.sources), default=0)
    return max(depths.values(), default=0)
