"""Workers: processes that a host starts, each linked with it by a socket that it inherits."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from . import _futures, _records
from ._time import milliseconds
from .errors import ChordalError, closed
from .ipc import Pipe
from .link import Link, Transport

if TYPE_CHECKING:
    from .host import Host

log = logging.getLogger("chordal")

PARENT = "CHORDAL_PARENT"  # names the descriptor that a worker inherits
LINK_FLAGS = _records.LINK_CONNECT | _records.LINK_PATIENT | _records.LINK_WORKER
LAST_BYTES = 1.0  # seconds for what a process sent before its end, while others hold its socket open


@dataclass
class Patience:
    """How long a worker is waited for, in seconds, and how often it is started again."""

    start_timeout: float
    drain_timeout: float
    stop_timeout: float
    kill_timeout: float
    backoff_first: float
    backoff_limit: float
    steady: float
    restarts: int

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name != "restarts":
                milliseconds(getattr(self, field.name))

    def pause(self, failures: int) -> float:
        """The link has waited a little already; after several failures in a row it takes longer."""
        return min(self.backoff_first * 2.0 ** (failures - 2), self.backoff_limit) if failures > 1 else 0.0


class Worker:
    """A process that serves objects, started again when it fails: also when it exits with 0 without having said bye
    (:meth:`Host.close`), since it may only have lost this host. Made by :meth:`Host.worker`."""

    def __init__(
        self,
        host: Host,
        command: tuple[str, ...],
        types: tuple[str, ...],
        patience: Patience,
        serve: bool,
        options: Mapping[str, Any],
    ) -> None:
        from . import edge

        flags = LINK_FLAGS | edge.flags(False, True, serve)
        self._host = host
        self._command = command
        self._types = types
        self._patience = patience
        self._options = dict(options)
        self._process: asyncio.subprocess.Process | None = None
        self._failures = 0  # in a row
        self._missed = False  # its start deadline
        self._linked = False  # with a process, as far as the link has told
        self._left = False  # that said bye
        self._open = False  # it exited with 0, and whether it said bye is not known yet
        self._stopping = False
        self._stopped = asyncio.Event()  # the same, to be waited for
        self._waiting: list[asyncio.Future[None]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self.link: Link = _WorkerLink(self, host, host._core.link_open(flags))
        """The link with the worker's host: the same over all of its processes."""
        self.state = "starting"
        """"starting", "ready" (its link is up, and offers the types that were named), "stopping" or "ended"."""
        self.exit_code: int | None = None
        """What its last process exited with; below zero the signal that ended it."""
        self.error: ChordalError | None = None
        """Why it ended: None when it was stopped or said bye and exited with 0, "limit" after too many failures,
        "invalid" when it cannot be started."""

    @property
    def gone(self) -> bool:
        """Whether it is stopping or has ended: what is placed needs another."""
        return self.state in ("stopping", "ended")

    @property
    def pid(self) -> int | None:
        """The number of its process, while there is one."""
        return self._process.pid if self._process is not None else None

    async def ready(self) -> Worker:
        """Wait until it is ready. Raises ChordalError with the reason when it ends instead."""
        while self.state != "ready":
            if self.gone:
                await self.ended()
                raise self.error or closed("worker")
            await self._change()
        return self

    async def ended(self) -> None:
        """Wait until it has ended for good: its process is gone, and no other follows."""
        while self.state != "ended":
            await self._change()

    async def stop(self) -> None:
        """Stop it, and wait for the end: say bye when the calls of this host are done, send SIGTERM if it does not exit
        then, at last SIGKILL."""
        self._stop(None)
        await self.ended()

    def _stop(self, error: ChordalError | None) -> None:
        self._host._enter()
        if self._stopping:
            return
        self._note_end(error)
        if self._host.closed or self.link.state == "closed":
            return self._link_closed()
        if error is None and self._process is not None:
            span = milliseconds(self._patience.drain_timeout)
            self._host._act(self._host._core.link_drain, self.link._id, span)
        else:
            self.link.close()

    def _note_end(self, error: ChordalError | None) -> None:
        self._stopping = True
        self._stopped.set()
        self.error = error
        self._set_state("stopping")

    # ---- waiting ----

    async def _change(self) -> None:
        future: asyncio.Future[None] = self._host._loop().create_future()
        self._waiting.append(future)
        await future

    def _set_state(self, state: str) -> None:
        if self.state == state or self.state == "ended":
            return
        self.state = state
        waiting, self._waiting = self._waiting, []
        _futures.wake(waiting)

    def _run(self, work: Any) -> asyncio.Task[Any]:
        task = self._host._loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _after(self, span: float | None, step: Any = None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if span is None else self._host._loop().call_later(span, step)

    # ---- its link ----

    async def _dial(self) -> tuple[Transport, int]:
        """Start a process, and wait until it is there."""
        if self._linked:
            self._link_down(False)
        while self._process is not None:  # the one before has its time to leave
            await self._change()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), self._patience.pause(self._failures))
        if self._stopping:
            raise closed("worker")
        pipe = await self._start()
        if await pipe.receive() != b"":
            await pipe.close()
            raise OSError("the worker is gone before it was there")
        return _WorkerPipe(self, pipe), _records.CODEC_BINARY

    async def _start(self) -> Pipe:
        ours, theirs = socket.socketpair()
        options = dict(self._options)
        number = theirs.fileno()
        options["env"] = {**(options.get("env") or os.environ), PARENT: str(number)}
        options["pass_fds"] = (*options.get("pass_fds", ()), number)
        options.setdefault("stdin", asyncio.subprocess.DEVNULL)
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(*self._command, **options)
        except Exception as error:
            ours.close()
            self._not_started(error)
            raise
        self._process = process
        self._linked = True
        self._missed = self._left = self._open = False
        self._after(self._patience.start_timeout, self._too_late)
        reader, writer = await asyncio.open_connection(sock=ours)
        self._run(self._watch(process, writer))
        return Pipe(reader, writer, self._host._core.link_limit())

    def _not_started(self, error: Exception) -> None:
        if isinstance(error, (BlockingIOError, MemoryError)):  # the system is full
            self._failed()
        else:
            log.error("the worker %s cannot be started: %s", self._command[0], error)
            self._stop(ChordalError("invalid", f"{self._command[0]}: {error}"))

    def _look(self) -> None:
        """It may be ready now."""
        if self.state != "starting" or self.link.state != "up" or self._host.closed:
            return
        if all(self._host._core.link_offers(self.link._id, name) for name in self._types):
            self._after(self._patience.steady, self._is_steady)
            self._set_state("ready")

    def _is_steady(self) -> None:
        self._failures = 0

    def _too_late(self) -> None:
        self._missed = True
        self._run(self._end_process(0))

    def _link_down(self, left: bool) -> None:
        """Its transport is gone; its process should be, too."""
        self._linked = False
        self._left = self._left or left
        if self.state == "ready":
            self._set_state("starting")
        self._after(None)
        self._run(self._end_process(self._patience.stop_timeout))
        if self._open and not self._stopping:
            self._judge()

    def _link_closed(self) -> None:
        if not self._stopping:
            self._note_end(self.link.error)
        self._after(None)
        self._run(self._end())

    async def _end(self) -> None:
        await self._end_process(self._patience.stop_timeout)
        self._host._workers.discard(self)
        self._set_state("ended")

    # ---- its process ----

    async def _watch(self, process: asyncio.subprocess.Process, writer: asyncio.StreamWriter) -> None:
        self.exit_code = await process.wait()
        self._process = None
        self._after(None)
        self._host._loop().call_later(LAST_BYTES, writer.transport.abort)
        if self._stopping:
            self.link.close()  # nothing is left to wait for
        elif self.exit_code == 0 and not self._missed and self._linked:
            self._open = True
        else:
            self._judge()
        waiting, self._waiting = self._waiting, []
        _futures.wake(waiting)

    def _judge(self) -> None:
        """One that did not say bye may have ended because it lost its parent."""
        self._open = False
        if self.exit_code == 0 and not self._missed and self._left:
            self._stop(None)
        else:
            self._failed()

    def _failed(self) -> None:
        log.warning("the worker %s failed: exit code %s", self._command[0], self.exit_code)
        self._failures += 1
        if self._failures > self._patience.restarts:
            self._stop(ChordalError("limit", "the worker failed too often"))

    async def _end_process(self, grace: float) -> None:
        """Wait a while for the exit of the present process, then enforce it."""
        process = self._process
        if process is None:
            return
        for span, act in ((grace, process.terminate), (self._patience.kill_timeout, process.kill)):
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._exit_of(process)), span)
            if process.returncode is not None or self._process is not process:
                return
            with contextlib.suppress(ProcessLookupError):
                act()
        await self._exit_of(process)

    async def _exit_of(self, process: asyncio.subprocess.Process) -> None:
        await process.wait()
        while self._process is process:  # until it is taken note of
            await asyncio.sleep(0)

    def __repr__(self) -> str:
        return f"<Worker {self._command[0]}: {self.state}>"


class _WorkerLink(Link):
    """A link that is dialled by starting a process."""

    def __init__(self, worker: Worker, host: Host, number: int) -> None:
        super().__init__(host, number, f"worker:{worker._command[0]}", worker._dial)
        self._worker = worker

    def _on_state(self, event: _records.LinkEvent) -> None:
        super()._on_state(event)
        if event.state == _records.LINK_UP:
            self._worker._look()
        elif event.state in (_records.LINK_WAIT, _records.LINK_CLOSED):
            self._worker._link_down(event.state == _records.LINK_WAIT and event.code == _records.E_BYE)

    def _drop_dial(self) -> None:
        """Its process has its own deadlines, and is seen to its end."""

    def _forget(self) -> None:
        super()._forget()
        self._worker._link_closed()


class _WorkerPipe:
    """What is received may be what a worker needs to be ready: an offer."""

    def __init__(self, worker: Worker, pipe: Pipe) -> None:
        self._worker = worker
        self._pipe = pipe
        self.send = pipe.send
        self.close = pipe.close
        self.abort = pipe.abort

    @property
    def on_piece(self) -> Callable[[], None]:
        return self._pipe.on_piece

    @on_piece.setter
    def on_piece(self, told: Callable[[], None]) -> None:
        self._pipe.on_piece = told

    async def receive(self) -> bytes | None:
        self._worker._look()
        return await self._pipe.receive()


def inherited() -> socket.socket:
    """The socket of the host that started this process. Once."""
    text = os.environ.get(PARENT, "")
    try:
        number = int(text) if text.isdecimal() else -1
        if number < 0 or not stat.S_ISSOCK(os.fstat(number).st_mode):
            raise OSError
    except (OSError, OverflowError):
        raise ChordalError("state", "no host started this process, or the link with it was taken") from None
    del os.environ[PARENT]
    os.set_inheritable(number, False)  # processes that it starts in turn have parents of their own
    return socket.socket(fileno=number)


async def carry(link: Link, inherited: socket.socket) -> None:
    """The worker's side: say that it is there, then go on as any link."""
    reader, writer = await asyncio.open_connection(sock=inherited)
    writer.write(bytes(4))
    await link._carry(Pipe(reader, writer, link._host._core.link_limit()), _records.CODEC_BINARY)
