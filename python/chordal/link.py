"""Links: a host's side of a transport, which is lost and found again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from . import _futures, _records
from ._admission import credentials_now
from .errors import ChordalError, closed, error_of

if TYPE_CHECKING:
    from .host import Host

log = logging.getLogger("chordal")

STATES = {
    0: "new",
    _records.LINK_DIAL: "dial",
    _records.LINK_OPENING: "opening",
    _records.LINK_UP: "up",
    _records.LINK_WAIT: "wait",
    _records.LINK_CLOSED: "closed",
}


class Transport(Protocol):
    """Whole frames both ways, in order."""

    on_piece: Callable[[], None]
    """Called, where that can be known, when a piece of a frame came that is not whole yet."""

    async def receive(self) -> bytes | str | None:
        """The next frame; None: the peer is gone."""

    async def send(self, frame: bytes | str) -> None:
        """Returns when there is room for the next one."""

    async def close(self) -> None: ...

    def abort(self) -> None:
        """Cut it: whatever waits for it ends."""


_PIECE_INTERVAL = 0.05  # seconds in which one piece of a frame is sign enough
_END_TIMEOUT = 5  # seconds in which a transport that ends must get rid of what waits

Dial = Callable[[], Awaitable["tuple[Transport, int]"]]
Authenticate = Callable[[Any], Any]
Accept = Callable[[str], "Link"]
"""Makes the link of an accepted transport, given the address."""


class Link:
    """A link of a host. One that connected goes on until it is closed, over one transport after the other."""

    def __init__(self, host: Host, number: int, url: str, dial: Dial | None) -> None:
        self._host = host
        self._core = host._core
        self._pump = host._pump
        self._id = number
        self._dial = dial
        self._connects = dial is not None
        self._task: asyncio.Task[Any] | None = None
        self._transport: Transport | None = None
        self._output = asyncio.Event()
        self._ending = False
        self._piece_at = 0.0
        self._waiting: list[asyncio.Future[None]] = []
        self._credentials: Any = None
        self._authenticate: Authenticate | None = None
        self.url = url
        """The address connected to, or accepted at."""
        self.state = "new"
        """"dial" and "opening" (on its way), "up", "wait" (for the next attempt) or "closed"."""
        self.error: ChordalError | None = None
        """Why it went down or was closed."""
        self.peer = ""
        """The name of the host at the other end, once it was up."""

    async def up(self) -> Link:
        """Wait until the link is up. Raises ChordalError with the reason if it is closed instead."""
        while self.state != "up":
            if self.state == "closed":
                raise self.error or closed("link")
            future: asyncio.Future[None] = self._host._loop().create_future()
            self._waiting.append(future)
            await future
        return self

    async def closed(self) -> None:
        """Wait until the link is closed for good, by either side; `error` tells why."""
        while self.state != "closed":
            future: asyncio.Future[None] = self._host._loop().create_future()
            self._waiting.append(future)
            await future

    def retry(self) -> None:
        """Dial again now instead of waiting."""
        self._host._act(self._host._core.link_retry, self._id)

    def renew(self, credentials: Any) -> None:
        """What is shown the next time the link dials, as `credentials` of :meth:`Host.connect`. Raises ChordalError
        SIZE, STATE (an accepted link) and the errors of values."""
        if not self._connects:
            raise ChordalError("state", "credentials are for a link that connects")
        if not callable(credentials):
            self._core.link_credentials(self._id, credentials)
        self._credentials = credentials

    def close(self) -> None:
        """Say bye and close. Closing twice is allowed."""
        if self.state != "closed" and not self._host.closed:
            self._host._act(self._host._core.link_close, self._id)

    # ---- what the core tells ----

    def _on_state(self, event: _records.LinkEvent) -> None:
        self.state = STATES[event.state]
        self.error = error_of(event.code, event.detail) if event.code else None
        self.peer = event.peer or self.peer
        if event.state == _records.LINK_DIAL:
            self._ending = False
            self._output.set()  # a writer of the last transport sees that it is over
            if self._transport is not None:
                self._transport.abort()
                self._transport = None
            self._task = self._host._loop().create_task(self._dial_and_carry())
        elif event.state in (_records.LINK_WAIT, _records.LINK_CLOSED):
            self._ending = True
            self._output.set()
            if self._transport is not None:
                self._host._loop().call_later(_END_TIMEOUT, self._transport.abort)
            else:
                self._drop_dial()
        if event.state == _records.LINK_CLOSED and self._task is None:
            self._forget()
        self._wake_waiting()

    def _on_output(self) -> None:
        self._output.set()

    def _wake_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        _futures.wake(waiting)

    # ---- the transport ----

    def _drop_dial(self) -> None:
        """It did not come in time, or is wanted no more."""
        if self._dial is not None and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _dial_and_carry(self) -> None:
        assert self._dial is not None
        task = asyncio.current_task()
        try:
            if callable(self._credentials):
                self._core.link_credentials(self._id, await credentials_now(self._credentials))
            transport, codec = await self._dial()
        except Exception as error:
            log.debug("cannot connect to %s: %s", self.url, error)
            self._end_of(task)
            return
        if self._task is task and not self._ending:
            await self._carry(transport, codec)
        else:  # closed meanwhile
            await transport.close()
            self._end_of(task)

    def _start(self, transport: Transport, codec: int) -> None:
        self._task = self._host._loop().create_task(self._carry(transport, codec))

    async def _carry(self, transport: Transport, codec: int) -> None:
        """Carry frames both ways until either side ends."""
        task = self._task = asyncio.current_task()
        self._transport = transport
        transport.on_piece = lambda: self._on_piece(task)
        writer = self._host._loop().create_task(self._write(transport, task))
        try:
            self._host._act(self._host._core.link_up, self._id, codec)
            await self._read(transport, task)
            self._end_of(task)
        except Exception as error:
            log.log(_weight(error), "the link to %s ends: %r", self.url, error)
            self._end_of(task)
        finally:  # cancelled: the host is closed, or the loop ends, and what may follow on another one is not known yet
            writer.cancel()
            if self._transport is transport:
                self._transport = None
            await transport.close()

    def _carries(self, task: Any) -> bool:
        """Whether a transport is still this link's: one that is slow to close may find another in its place."""
        return self._task is task and not self._host.closed

    async def _read(self, transport: Transport, task: Any) -> None:
        while (frame := await transport.receive()) is not None:
            if self._ending or not self._carries(task):
                continue
            try:
                self._host._core.link_feed(self._id, frame)
            except ChordalError as error:  # the core has said bye, or will dial again
                log.info("the link to %s is cut: %s", self.peer or self.url, error)
            self._host._wake()

    def _on_piece(self, task: Any) -> None:
        now = monotonic()
        if now - self._piece_at < _PIECE_INTERVAL or self._ending or not self._carries(task):
            return
        self._piece_at = now
        with contextlib.suppress(ChordalError):  # closed meanwhile
            self._core.link_progress(self._id)

    async def _write(self, transport: Transport, task: Any) -> None:
        """Send what there is; when the link has ended, the rest, and close."""
        try:
            while self._carries(task):
                frame = self._host._core.link_take(self._id)
                if frame is not None:
                    await transport.send(frame)
                elif self._ending:
                    break
                else:
                    self._output.clear()
                    await self._output.wait()
        except Exception as error:
            log.log(_weight(error), "the link to %s cannot be written: %r", self.peer or self.url, error)
        await transport.close()

    def _end_of(self, task: Any) -> None:
        if self._task is task:
            self._down()

    def _down(self) -> None:
        """The transport is gone."""
        self._task = None
        if self._host.closed:
            return
        try:
            self._host._core.link_down(self._id)
        except ChordalError as error:
            log.debug("%s", error)
        if self.state == "closed" or not self._connects:
            self._forget()
        self._host._wake()

    def _transport_gone(self) -> None:
        """The event loop was closed, and the transport with it."""
        self._output = asyncio.Event()
        self._transport = None
        if self._task is not None:
            self._down()

    def _forget(self) -> None:
        self.state = "closed"
        self._host._links.pop(self._id, None)
        self._host._core.release(self._id)
        self._wake_waiting()

    def _abandon(self) -> None:
        """The host is closed."""
        if self._task is not None and not self._task.get_loop().is_closed():
            self._task.cancel()
        self.error = closed("host")
        self.state = "closed"
        self._wake_waiting()

    def __repr__(self) -> str:
        return f"<Link {self.url}: {self.state}>"


def _weight(error: Exception) -> int:
    """What ends a link now and then is nothing to look at."""
    return logging.DEBUG if isinstance(error, (ChordalError, OSError, EOFError)) else logging.WARNING


class Server:
    """What ``host.listen`` answers."""

    def __init__(self, host: Host, server: Any, address: str) -> None:
        self._host = host
        self._server = server
        self.address = address
        """Where clients connect."""

    def close(self) -> None:
        """Accept no more links, and close those that were accepted. Closing twice is allowed."""
        self._host._enter()
        self._host._servers.discard(self)
        self._server.close()
        for link in list(self._host._links.values()):
            if not link._connects and link.url == self.address:
                link.close()

    async def serve_forever(self) -> None:
        """Wait until cancelled or closed."""
        try:
            await self._server.wait_closed()
        finally:
            self.close()

    async def __aenter__(self) -> Server:
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.close()
