"""The providing side of a host: its objects, the calls they serve, their derives and commits."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from . import _native, _records
from .call import Call
from .errors import ChordalError, MethodError, error_of
from .link import Link
from .object import Derive, Method, Object, Placement
from .transaction import Ticket, Transaction
from .values import FrozenDict, freeze

if TYPE_CHECKING:
    from ._pump import Pump
    from .host import Host

log = logging.getLogger("chordal")

INTERNAL = "internal"  # what others learn of a fault of the program


class Provider:
    def __init__(self, host: Host) -> None:
        self.host = host
        self.core = host._core
        self.pump: Pump  # set by the host
        self.types: dict[int, type[Object]] = {}
        self.numbers: dict[str, int] = {}
        self.objects: dict[int, Object] = {}
        self.calls: dict[int, Call] = {}
        self.tickets: dict[int, tuple[Ticket, Transaction]] = {}
        self.placements: dict[str, Placement] = {}
        self.tasks: set[asyncio.Task[Any]] = set()
        self.settle_polls = 0  # how often derives may have to be asked for after a commit

    # ---- types and objects ----

    def provide(self, kind: type[Object]) -> None:
        number = self.core.type_provide(kind.declaration())
        self.types[number] = kind
        self.numbers[kind.type_name] = number
        self.settle_polls = max(self.settle_polls, _derive_depth(kind))

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
            if type(instance)._waits_for_start():
                self._run(self._start(instance, event.version))
            return
        gone = self.objects.pop(event.object, None)
        if gone is not None:
            gone.retired()

    async def _start(self, instance: Object, stored: int) -> None:
        where = "migrate"
        try:
            if 0 < stored < type(instance).type_version:
                await self._migrate(instance, stored)
            where = "start"
            outcome = instance.start()
            if inspect.isawaitable(outcome):
                await outcome
            reason = MethodError("", "")
        except Exception as error:
            reason = _told(error, f"{instance!r}.{where}")
        if instance._id in self.objects:
            self.core.object_start(instance._id, reason.name, reason.detail)
            self.pump.wake()

    async def _migrate(self, instance: Object, stored: int) -> None:
        with instance.transaction() as t:
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
            told = _told(error, f"the placement of {name} {dict(params)}")
            if not self.core.closed:
                _answered(self.core.resolve_fail, question, told.name, told.detail)
        self.pump.wake()

    # ---- calls ----

    def on_call(self, event: _records.CallEvent) -> None:
        instance = self.objects.get(event.object)
        if instance is None:  # retired meanwhile
            self.core.release(event.call)
            return
        member = type(instance).type_members[event.member]
        assert isinstance(member, Method)
        call = Call(self, event.call, instance, event.origin, event.authority)
        self.calls[event.call] = call
        arguments = _native.unpack(event.arguments)
        if not member.takes(len(arguments)):
            return self._fail(call, MethodError("arguments", f"{member.name} does not take {len(arguments)} arguments"))
        try:
            result = member.function(instance, call, *arguments)
        except Exception as error:
            return self._fail(call, _told(error, f"{instance!r}.{member.name}"))
        if inspect.isawaitable(result):
            self._run(self._serve(call, member, result))
        else:
            self._answer(call, member, result)

    async def _serve(self, call: Call, member: Method, result: Awaitable[Any]) -> None:
        try:
            value = await result
        except asyncio.CancelledError:
            if self.calls.pop(call._id, None) is not None and not self.core.closed:
                self.core.release(call._id)
            raise
        except Exception as error:
            self._fail(call, _told(error, f"{call.object!r}.{member.name}"))
        else:
            self._answer(call, member, value)

    def _answer(self, call: Call, member: Method, value: Any) -> None:
        if self.calls.pop(call._id, None) is None or self.core.closed:
            return
        try:
            self.core.call_answer(call._id, value)
        except ChordalError as error:
            self.calls[call._id] = call
            return self._fail(call, _told(error, f"the result of {call.object!r}.{member.name}"))
        self.pump.wake()

    def _fail(self, call: Call, error: MethodError) -> None:
        if self.calls.pop(call._id, None) is None or self.core.closed:
            return
        try:
            self.core.call_fail(call._id, error.name, error.detail)
        except ChordalError:
            log.exception("a method's error could not be told")
            self.core.release(call._id)
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
            value = freeze(member.function(instance))
            if _answered(self.core.compute_answer, event.compute, value):
                instance._values[event.member] = value
        except Exception as error:
            told = _told(error, f"{instance!r}.{member.name}")
            _answered(self.core.compute_fail, event.compute, told.name, told.detail)

    # ---- commits ----

    def commit(self, transaction: Transaction) -> Ticket:
        """Bring a transaction to the core in one crossing, and let what depends on it settle."""
        ticket = Ticket()
        through = False
        try:
            changes = transaction._changes()
            if changes:
                call = transaction._call if transaction._call in self.calls else 0
                number = self.core.commit(call, changes)
                through = True
        finally:
            transaction._close(through)
        if not through:
            ticket._settle(0)
            return ticket
        self.tickets[number] = (ticket, transaction)
        if self.settle_polls:
            self.pump.settle(self.settle_polls)
        else:
            self.pump.wake()
        return ticket

    def on_ticket(self, event: _records.TicketEvent) -> None:
        ticket, transaction = self.tickets.pop(event.ticket)
        if event.code:
            for instance in transaction._instances():  # the tips fell back
                for member in type(instance).type_documents.values():
                    instance._values.pop(member.index, None)
            ticket._settle(0, error_of(event.code, event.detail))
        else:
            ticket._settle(event.commit)

    # ---- the end ----

    def close(self, error: ChordalError) -> None:
        for task in self.tasks:
            task.cancel()
        for ticket, _ in self.tickets.values():
            ticket._settle(0, error)
        self.tickets.clear()
        self.calls.clear()
        self.objects.clear()


def _answered(answer: Callable[..., None], *arguments: Any) -> bool:
    """Answer a compute or a question. False: too late, nobody waits any more."""
    try:
        answer(*arguments)
    except ChordalError as error:
        if error.name != "closed":
            raise
        return False
    return True


def _told(error: Exception, where: str) -> MethodError:
    """What others are told of an exception: a MethodError as it is, of all else nothing."""
    if isinstance(error, MethodError) and error.name:
        return error
    log.error("%s failed", where, exc_info=error)
    return MethodError(INTERNAL, "the provider failed")


def _derive_depth(kind: type[Object]) -> int:
    """How many rounds of computing a change of a type's documents may take."""
    depths: dict[str, int] = {}
    for member in kind.type_members:
        if isinstance(member, Derive):
            depths[member.name] = 1 + max((depths.get(source, 0) for source in member.sources), default=0)
    return max(depths.values(), default=0)
