"""Hosts: what provides objects, holds those of others, and is linked with other hosts."""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
import weakref
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import _futures, _native, _records
from ._admission import Admission
from ._futures import Outcome
from ._native import Core
from ._provider import Provider
from ._pump import Pump
from ._replica import KeepValues, Replica
from ._time import milliseconds
from .errors import ChordalError, call_error, closed
from .link import Authenticate, Link, Server
from .object import Object, Placement, TypeLike, type_of
from .reference import Reference
from .store import Store
from .transaction import Transaction
from .values import FrozenDict, freeze

if TYPE_CHECKING:
    from .worker import Worker

_Answer = TypeVar("_Answer")
_HALF = 1 << 64
_DURABILITY = {
    "normal": _records.DURABILITY_NORMAL,
    "full": _records.DURABILITY_FULL,
    "off": _records.DURABILITY_OFF,
}
_TRIES = 16  # of a transaction that is run again on conflict


class Host:
    """One runtime instance: the types that it provides, the objects it holds, its links.

    `types`: subclasses of :class:`chordal.Object` to provide; those with a `placement` are not provided but placed,
    unless `placed` is False, as it is in workers. `limits` are the core's options by name, such as
    ``memory_limit=1 << 28`` or ``window_messages=8`` (bytes, counts, milliseconds; docs/api.md). `name`: the host's
    lasting name, a UUID (also as a string) or 16 bytes that no other host has: sessions find the way through it, and to
    it, again after a restart. Raises ChordalError INVALID or NOMEM.

    `store`: the path of the host's store, a SQLite file that is made when there is none: the documents of its objects
    are in it, and a commit is in it before anyone sees it. `durability`: what it survives then: "normal" the death of
    the process, "full" a power cut, too, "off" neither for sure. `read_only`: read it beside its owner. `outbox`: keep
    what each commit wrote for others to follow. Raises ChordalError OWNED (another host has it), NEWER, NOT_STORE,
    CORRUPT, READ_ONLY, NOT_FOUND, DISK_FULL, DISK_IO.

    A host lives on the event loop, and on the thread, that it is first used on: from another thread everything raises
    ChordalError BUSY, in a forked process FORKED, after :meth:`close` CLOSED. Use it as a context,
    ``async with chordal.Host(…) as host``, or close it yourself; things may be closed in any order.
    """

    def __init__(
        self,
        *,
        types: Iterable[type[Object]] = (),
        placed: bool = True,
        name: str | bytes | uuid.UUID | None = None,
        store: str | bytes | os.PathLike[Any] | None = None,
        durability: Literal["normal", "full", "off"] = "normal",
        read_only: bool = False,
        outbox: bool = False,
        **limits: int,
    ) -> None:
        named = {} if name is None else _halves(name)
        stored = _store_options(store, durability, read_only, outbox)
        self._core = Core(limits | named | stored)
        self._provider = Provider(self)
        self._admission = Admission(self, self._provider)
        self._store = Store(self._core, self._provider)
        self._pump = self._provider.pump = Pump(self._core, self._handlers())
        self._pump.on_new_loop = self._on_new_loop
        self._pump.on_polled = self._provider.polled
        self._replicas: dict[int, weakref.ref[Replica]] = {}
        self._shared: weakref.WeakValueDictionary[Any, Replica] = weakref.WeakValueDictionary()
        self._watched: set[Replica] = set()
        self._calls: dict[int, tuple[Outcome, Replica]] = {}
        self._links: dict[int, Link] = {}
        self._servers: set[Server] = set()
        self._workers: set[Worker] = set()
        self._parent: Link | None = None
        self._finalizer = weakref.finalize(self, _forgotten, self._core, os.getpid())
        self._finalizer.atexit = False
        with _closed_on_failure(self):
            for kind in types:
                if placed and getattr(kind, "type_placement", None) is not None:
                    self.place(kind)
                else:
                    self.provide(kind)

    def _handlers(self) -> dict[type, Callable[[Any], None]]:
        return {
            _records.LinkEvent: self._on_link,
            _records.OutputEvent: self._on_output,
            _records.ReferenceEvent: self._on_reference,
            _records.FrameEvent: self._on_frame,
            _records.ObjectEvent: self._provider.on_object,
            _records.CallEvent: self._provider.on_call,
            _records.CancelEvent: self._provider.on_cancel,
            _records.ResultEvent: self._on_result,
            _records.TicketEvent: self._provider.on_ticket,
            _records.ComputeEvent: self._provider.on_compute,
            _records.AuthenticateEvent: self._admission.on_authenticate,
            _records.GuardEvent: self._admission.on_guard,
            _records.ResolveEvent: self._provider.on_resolve,
        }

    # ---- providing ----

    def provide(self, kind: type[Object]) -> None:
        """Provide a type. Raises ChordalError EXISTS (the name is taken), INVALID (with words)."""
        if not (isinstance(kind, type) and issubclass(kind, Object) and kind.type_name):
            raise ChordalError("type", "a type is a subclass of chordal.Object")
        self._core.enter()
        self._provider.provide(kind)
        self._wake_if_running()

    def place(self, kind: TypeLike, placement: Placement | None = None) -> None:
        """The objects of a type live elsewhere, each where `placement` says, by default that of the class: a function
        of the object's params and this host that answers a :class:`Worker` or a link, or an awaitable of one. It is
        asked whenever somebody wants an object, once for all that want it at the time, and should answer the same for
        the same params as long as the object lives there. If it raises MethodError, those who want the object see it
        failed for this reason. Raises ChordalError EXISTS (provided or placed already), INVALID (no placement)."""
        if placement is None and isinstance(kind, type):
            placement = kind.type_placement
        if placement is None:
            raise ChordalError("invalid", "where do the objects live? A type is placed by a function")
        self._provider.place(type_of(kind), placement)
        self._wake_if_running()

    def object(self, kind: TypeLike, params: Mapping[str, Any] | None = None, /, **named: Any) -> Any:
        """The object of a type that this host provides, as an instance of its class; made if there is none. It counts
        as held until its ``release()``. Raises ChordalError NO_TYPE, PARAMS."""
        address = freeze({**(params or {}), **named})
        instance = self._provider.object(type_of(kind), address)
        self._pump.settle()
        return instance

    def transaction(self) -> Transaction:
        """A transaction over objects of this host: ``with host.transaction() as t: t.of(notes).list[…] = …``."""
        self._core.enter()
        return Transaction(self._core, None, None, self._provider, 0)

    async def transact(self, function: Callable[[Transaction], Awaitable[_Answer] | _Answer]) -> _Answer:
        """Run `function` with a transaction, commit, wait until it is through, and answer what the function did. On
        CONFLICT it is all run again, so the function must have no other effect. May be ``async``."""
        for attempt in range(_TRIES):
            try:
                with self.transaction() as t:
                    answer: Any = function(t)
                    if isinstance(answer, Awaitable):
                        answer = await answer
                await t.ticket
                return answer  # type: ignore[no-any-return]
            except ChordalError as error:
                if error.name != "conflict" or attempt == _TRIES - 1:
                    raise
        raise AssertionError

    # ---- holding ----

    def get(
        self,
        kind: TypeLike,
        params: Mapping[str, Any] | None = None,
        /,
        *,
        link: Link | None = None,
        version: int = 0,
        manual: bool = False,
        values: KeepValues = "shared",
        **named: Any,
    ) -> Reference:
        """A reference to an object: ``host.get("notes", board="lunch")``, or with a mapping for params that are no
        keywords. The object is this host's own if it provides the type, else it is asked for over `link`, by default
        the first link that this host connected. Answers at once; ``await ref.live()`` waits for the values.

        `version`: the type's, 0 any. `manual`: values move only as fast as ``frames()`` are taken, and the provider
        folds what waits. `values`: "shared" (immutable ones, which share with those before what did not change),
        "in-place" (one value that changes: nothing is copied, also in a huge list), "none" (only the ops of frames).
        Raises ChordalError NO_TYPE (nowhere to ask), CLOSED (the link), INVALID (`values`), PARAMS and the errors of
        values."""
        if values not in ("shared", "in-place", "none"):
            raise ChordalError("invalid", f"values cannot be {values!r}")
        if not (link is None or isinstance(link, Link)):
            raise ChordalError("type", "a link is what connect and pair answer")
        name = type_of(kind)
        address = freeze({**(params or {}), **named})
        key = (link._id if link else 0, name, version, manual, values, _native.pack(sorted(address.items())))
        replica = self._shared.get(key)
        if replica is None or replica.state in ("released", "retired", "revoked"):
            number = self._ask(key[0], name, version, manual, address)
            replica = self._keep(Replica(self, number, manual, values, link))
            self._shared[key] = replica
            self._wake()
        return Reference(replica, name, address)

    def _ask(self, link: int, name: str, version: int, manual: bool, params: FrozenDict) -> int:
        flags = _records.REFERENCE_KEPT | (_records.REFERENCE_MANUAL if manual else 0)
        return self._core.reference_get(link, name, version, flags, params)

    def _keep(self, replica: Replica) -> Replica:
        """Find a replica by its id, as long as somebody else keeps it."""
        replicas, number = self._replicas, replica.id
        replicas[number] = weakref.ref(replica, lambda _: replicas.pop(number, None))
        return replica

    def _replica(self, number: int) -> Replica | None:
        kept = self._replicas.get(number)
        return kept() if kept is not None else None

    def _release(self, replica: Replica) -> None:
        replica.release()
        self._replicas.pop(replica.id, None)
        self._wake_if_running()

    def _on_reference(self, event: _records.ReferenceEvent) -> None:
        replica = self._replica(event.reference)
        if replica is not None:
            replica.on_reference(event)

    def _on_frame(self, event: _records.FrameEvent) -> None:
        kept = self._replicas.get(event.watch)
        replica = kept() if kept is not None else None
        if replica is not None:
            replica.on_frame(event)

    # ---- calls ----

    def _call(
        self, replica: Replica, method: str, arguments: tuple[Any, ...], timeout: float | None
    ) -> asyncio.Future[Any]:
        if replica.state == "released":
            raise replica.reason or ChordalError("released")
        span = 0 if timeout is None else max(1, milliseconds(timeout))
        future = Outcome(self)
        number = self._core.call_start(replica.id, method, arguments, span)
        self._calls[number] = (future, replica)
        future.number = number
        self._pump.wake()
        return future

    def _cancel(self, number: int) -> None:
        if number in self._calls and not self._core.closed:
            self._core.call_cancel(number)
            self._wake()

    def _on_result(self, event: _records.ResultEvent) -> None:
        self._core.gone(event.call)
        waiting = self._calls.get(event.call)
        if waiting is not None and _futures.waits(waiting[0]):
            self._resolve(waiting[0], event)
        self._calls.pop(event.call, None)

    def _resolve(self, future: Outcome, event: _records.ResultEvent) -> None:
        future.host = None
        if event.code:
            future.set_exception(call_error(event.code, event.name, event.detail))
            return
        try:
            value = event.value if event.flags & _records.RESULT_BYTES else _native.unpack(event.value)
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(value)

    # ---- links ----

    def connect(
        self,
        url: str,
        *,
        codec: str = "binary",
        credentials: Any = None,
        offer: bool = False,
        route_offers: bool = False,
        serve: bool = True,
        trusted: bool = False,
        **options: Any,
    ) -> Link:
        """Link with the host that listens at `url`, "ws://host:port/path", "wss://…" or "ipc:/path", again and again
        until the link is closed. `codec`: "binary", or "text" (WebSocket only). `offer`: offer the types that this
        host provides to the peer, for others to reach through it. `route_offers`: reach what the peer offers through
        it. `serve`: whether the peer may hold this host's objects. Other options are the transport's (``ssl=…``).

        `credentials`: what the peer's program is shown to let this host in: a value, or a function, plain or ``async``,
        that is asked for one each time the link dials; see also :meth:`Link.renew`. They travel in the first message,
        never in the address. A host that refuses them closes the link for good, with ChordalError REFUSED. `trusted`:
        what the peer says about the authority of the sessions that it passes on is believed: a worker's link to its
        server. Raises ChordalError INVALID."""
        from . import edge

        flags = _records.LINK_CONNECT | edge.flags(offer, route_offers, serve, trusted) | edge.way(url)
        dial = edge.dialler(self, url, codec, options)
        link = Link(self, self._core.link_open(flags), url, dial)
        self._links[link._id] = link
        if credentials is not None:
            link.renew(credentials)
        self._wake()
        return link

    async def listen(
        self,
        url: str,
        *,
        origins: Iterable[str] | str = (),
        authenticate: Authenticate | None = None,
        offer: bool = False,
        route_offers: bool = False,
        serve: bool = True,
        trusted: bool = False,
        **options: Any,
    ) -> Server:
        """Accept links at "ws://host:port" (port 0: any) or "ipc:/path". A browser page may connect when it comes
        from the server's own address, or from one of `origins` ("*": from anywhere). The rest is as for
        :meth:`connect`.

        `authenticate(credentials)`, plain or ``async``, is asked about each peer before anything else is taken from it
        (None: it showed nothing). It answers the peer's authority, any value, which guards and methods then see, or
        raises: ``chordal.ChordalError("refused", "the words")`` is told to the peer, all else is logged and the peer
        is refused without words. So is one that waits longer than the host's `handshake_timeout`, which may come again.
        Raises OSError when the address is taken, ChordalError INVALID."""
        from . import edge

        self._core.enter()
        flags = edge.flags(offer, route_offers, serve, trusted) | edge.way(url)

        def accept(address: str) -> Link:
            return self._accept(flags, address, authenticate)

        server = await edge.listen(self, url, origins, accept, options)
        self._servers.add(server)
        return server

    async def serve(self, url: str, **options: Any) -> None:
        """Listen, as :meth:`listen` does, until cancelled."""
        server = await self.listen(url, **options)
        await server.serve_forever()

    def revoke(self, authority: Any, reason: str = "") -> None:
        """End all sessions with this authority, by value, at once: the references of their hosts are revoked, with the
        reason, what those called has an unknown outcome to them and is cancelled here, and the links that were admitted
        with it open no other sessions. Peers that link anew are for `authenticate` to refuse. Do it at each host that
        admits or provides. Raises ChordalError SIZE and the errors of values."""
        self._act(self._core.revoke, 0, authority, reason)

    def worker(
        self,
        command: Sequence[str],
        *,
        types: Iterable[TypeLike] = (),
        serve: bool = True,
        start_timeout: float = 30,
        drain_timeout: float = 5,
        stop_timeout: float = 5,
        kill_timeout: float = 5,
        backoff_first: float = 0.25,
        backoff_limit: float = 15,
        steady: float = 10,
        restarts: int = 8,
        **options: Any,
    ) -> Worker:
        """Start a process that serves objects: ``host.worker([sys.executable, "board.py"])``. There it links itself
        by :func:`chordal.parent`. Its link is one of this host's: what the worker offers is reached through it, and
        what is placed there, while it is started again, waits. Needs a running event loop.

        `types`: it is ready when these are offered. `start_timeout`: seconds until it is ready, else it is ended and
        has failed. A process that fails is started again, at most `restarts` times in a row, with growing waits; after
        `steady` seconds failures are forgotten. One that says bye and exits with 0 has ended; without a bye it
        may only have lost this host, and has failed. `serve`: whether it may hold this host's objects. The
        other times are those of :meth:`Worker.stop`. Other options are those of
        ``asyncio.create_subprocess_exec`` (``env``, ``cwd``, ``stdout`` …). Raises ChordalError INVALID, LIMIT."""
        from .worker import Patience, Worker

        if isinstance(command, str) or not command:
            raise ChordalError("invalid", "a command is a list: the program and its arguments")
        self._loop()
        patience = Patience(
            start_timeout, drain_timeout, stop_timeout, kill_timeout, backoff_first, backoff_limit, steady, restarts
        )
        names = tuple(type_of(kind) for kind in types)
        worker = Worker(self, tuple(str(word) for word in command), names, patience, serve, options)
        self._workers.add(worker)
        self._links[worker.link._id] = worker.link
        self._wake()
        return worker

    def parent(self, *, serve: bool = True) -> Link:
        """In a worker: the link with the host that started this process, made when it is asked for the first time. The
        types of this host are offered over it. ``await host.parent().closed()`` waits until the parent is gone, or
        wants no more of this worker: exit then. Raises ChordalError STATE (no host started this process)."""
        if self._parent is None:
            from . import edge, worker

            loop = self._loop()
            flags = edge.flags(True, False, serve, trusted=True)
            self._core.enter()
            socket = worker.inherited()
            link = self._parent = self._accept(flags, "parent:")
            link._task = loop.create_task(worker.carry(link, socket))
        return self._parent

    def _accept(self, flags: int, url: str, authenticate: Authenticate | None = None) -> Link:
        flags |= _records.LINK_AUTHENTICATE if authenticate is not None else 0
        link = Link(self, self._core.link_open(flags), url, None)
        link._authenticate = authenticate
        self._links[link._id] = link
        return link

    def _on_link(self, event: _records.LinkEvent) -> None:
        link = self._links.get(event.link)
        if link is not None:
            link._on_state(event)

    def _on_output(self, event: _records.OutputEvent) -> None:
        link = self._links.get(event.link)
        if link is not None:
            link._on_output()

    # ---- the rest ----

    @property
    def store(self) -> Store:
        """What lies in this host's store, to be read back, followed, copied and checked."""
        return self._store

    @property
    def run(self) -> str:
        """The random name of this opening of the host: 32 hexadecimal digits."""
        return self._core.run().hex()

    @property
    def counters(self) -> dict[str, int]:
        """What the core counted: memory, messages, bytes, commits, crossings (`entries`) … (docs/api.md)."""
        return self._core.counters()

    def digest(self, value: Any) -> str:
        """A 64-bit digest of a value, as 16 hexadecimal digits: equal values have equal ones, in every runtime."""
        return f"{self._core.digest(value):016x}"

    @property
    def closed(self) -> bool:
        return self._core.closed

    def _enter(self) -> None:
        """What may be done also after the end: only on the host's thread before. Raises ChordalError BUSY."""
        if not self._core.closed:
            self._core.enter()

    def _loop(self) -> asyncio.AbstractEventLoop:
        return self._pump.loop()

    def _wake(self) -> None:
        self._pump.wake()

    def _wake_if_running(self) -> None:
        try:
            self._pump.wake()
        except RuntimeError:
            pass  # the first use on a loop wakes it

    def _act(self, function: Callable[..., None], *arguments: Any) -> None:
        function(*arguments)
        self._wake()

    def _on_new_loop(self) -> None:
        """The loop was closed under the host, with all transports: go on in the new one."""
        self._core.adopt()
        for link in list(self._links.values()):
            link._transport_gone()

    async def close(self) -> None:
        """Say bye on all links, then close: calls still waiting raise OUTCOME_UNKNOWN if they were sent, else CLOSED;
        references are released, iterations end. Sessions of others that only pass through this host are lost, and come
        back when it is there again, or another way. Closing twice is allowed."""
        if self._core.closed:
            return
        self._core.enter()
        self._act(self._core.host_leave)
        for server in list(self._servers):
            server.close()
        workers = list(self._workers)
        try:
            await self._say_bye()
        finally:
            self._close_now()
            for worker in workers:
                worker._link_closed()
        for worker in workers:
            await worker.ended()

    async def _say_bye(self) -> None:
        """Give the links a moment to send what waits."""
        tasks = [link._task for link in self._links.values() if link._task is not None]
        for link in list(self._links.values()):
            link.close()
        if tasks:
            await asyncio.wait(tasks, timeout=1)

    def _close_now(self) -> None:
        if self._core.closed:
            return
        error = closed("host")
        self._pump.stop()
        for link in list(self._links.values()):
            link._abandon()
        self._links.clear()
        for future, _ in self._calls.values():
            if _futures.waits(future):
                future.host = None
                future.set_exception(error)
                future.exception()  # nobody has to ask for it
        self._calls.clear()
        self._provider.close(error)
        for number in list(self._replicas):
            replica = self._replica(number)
            if replica is not None:
                replica.release(error)
        self._core.close()

    async def __aenter__(self) -> Host:
        self._core.enter()
        self._wake()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Host {'closed' if self.closed else self.run}>"


def _forgotten(core: Core, process: int) -> None:
    """The garbage collector found a host that was not closed; nothing uses it any more."""
    if os.getpid() == process and not core.closed:
        core.adopt()
        core.close()


@contextlib.contextmanager
def _closed_on_failure(host: Host) -> Iterator[None]:
    """What completes a host that nobody has yet: if it fails, nobody will close the host, which may own a store."""
    try:
        yield
    except BaseException:
        host._close_now()
        raise


def _store_options(
    path: str | bytes | os.PathLike[Any] | None, durability: str, read_only: bool, outbox: bool
) -> dict[str, int | bytes]:
    if durability not in _DURABILITY:
        raise ChordalError("invalid", f"{durability!r} is no durability: normal, full or off")
    if path is None:
        if read_only or outbox or durability != "normal":
            raise ChordalError("invalid", "durability, read_only and outbox are for a store: store=…, its path")
        return {}
    flags = (_records.STORE_READ_ONLY if read_only else 0) | (_records.STORE_OUTBOX if outbox else 0)
    return {"store": os.fsencode(path), "store_durability": _DURABILITY[durability], "store_flags": flags}


def _halves(name: str | bytes | uuid.UUID) -> dict[str, int]:
    """A lasting name as the core takes it."""
    try:
        number = int.from_bytes(name, "big") if isinstance(name, bytes) else uuid.UUID(str(name)).int
    except ValueError:
        number = 0
    if number == 0 or (isinstance(name, bytes) and len(name) != 16):
        raise ChordalError("invalid", f"{name!r} is no name of a host: a UUID or 16 bytes")
    return {"name_high": number // _HALF, "name_low": number % _HALF}


def connect(
    url: str,
    *,
    types: Iterable[type[Object]] = (),
    codec: str = "binary",
    credentials: Any = None,
    offer: bool = False,
    **limits: Any,
) -> Host:
    """A host that is linked with the one at `url`, and links again when the link is lost: ``async with
    chordal.connect("ws://127.0.0.1:7777") as host``. Needs a running event loop. See :meth:`Host.connect`."""
    asyncio.get_running_loop()
    host = Host(types=types, **limits)
    with _closed_on_failure(host):
        host.connect(url, codec=codec, credentials=credentials, offer=offer)
    return host


def parent(*, types: Iterable[type[Object]] = (), serve: bool = True, **limits: int) -> Host:
    """A worker's host: it provides `types`, also those with a `placement`, and is linked with the host that started
    this process (:meth:`Host.parent`). Needs a running event loop. Raises ChordalError STATE (no host started it)."""
    asyncio.get_running_loop()
    host = Host(types=types, placed=False, **limits)
    with _closed_on_failure(host):
        host.parent(serve=serve)
    return host
