"""What a host keeps of one object that it holds: its state, and the values, patched by ops. Nothing of it is kept in
the core as well. All references to the same object share one replica."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from . import _futures, _native, _records
from .errors import ChordalError, DeriveError, error_of
from .frame import Frame

if TYPE_CHECKING:
    from .host import Host
    from .link import Link

log = logging.getLogger("chordal")

STATES = {
    _records.REFERENCE_PENDING: "pending",
    _records.REFERENCE_LIVE: "live",
    _records.REFERENCE_DOWN: "down",
    _records.REFERENCE_FAILED: "failed",
    _records.REFERENCE_RETIRED: "retired",
    _records.REFERENCE_REVOKED: "revoked",
    _records.REFERENCE_RELEASED: "released",
}


KeepValues = Literal["shared", "in-place", "none"]
"""How a reference keeps values."""


class Follower(Protocol):
    """Who gets the frames of a member."""

    def _deliver(self, frame: Frame) -> None: ...
    def _lags(self) -> bool: ...
    def _end(self, error: ChordalError | None) -> None: ...


class Replica:
    def __init__(self, host: Host, number: int, manual: bool, keep: KeepValues, link: Link | None = None) -> None:
        self.host = host
        self.link = link  # over which it was asked for; None: the host chose
        self.id = number
        self.manual = manual
        self.keep = keep
        self.state = "pending"
        self.reason: ChordalError | None = None
        self.names: dict[str, int] | None = None  # members, once the object was live
        self.labels: list[str] = []
        self.states: set[int] = set()  # the documents and derives among them
        self.documents: set[int] = set()
        self.values: dict[int, Any] = {}
        self.errors: dict[int, ChordalError | None] = {}
        self.commit = 0
        self.followers: dict[str, dict[int, weakref.ref[Any]]] = {}  # by id
        self.watches: set[Any] = set()  # followers that go on when nobody keeps them
        self.holds: weakref.WeakSet[Any] = weakref.WeakSet()  # of the references that were not given back
        self.waiting: list[asyncio.Future[None]] = []
        self.untaken = False
        self.lost: set[int] = set()  # members of which a frame was not taken over: they wait for a whole value
        self.patched: _records.FrameEvent | None = None  # the last frame that is in the values
        self.finalizer = weakref.finalize(self, _give_back, host._core, host._pump, number)
        self.finalizer.atexit = False

    # ---- state ----

    def on_reference(self, event: _records.ReferenceEvent) -> None:
        members = _native.unpack(event.members) if event.state == _records.REFERENCE_LIVE else None
        self.state = STATES[event.state]
        self.reason = error_of(event.code, event.detail) if event.code else None
        if members is not None:
            self._bind(members)
        self._wake()
        error = self.dead()
        if error is not None:
            self.end(None if self.state == "retired" else error)

    def _bind(self, table: list[list[Any]]) -> None:
        names = {row[0]: index for index, row in enumerate(table)}
        if names == self.names:
            return
        self.names = names
        self.labels = list(names)
        self.states = {
            index for index, row in enumerate(table) if row[1] in (_records.MEMBER_DOCUMENT, _records.MEMBER_DERIVE)
        }
        self.documents = {index for index, row in enumerate(table) if row[1] == _records.MEMBER_DOCUMENT}
        for name, followers in list(self.followers.items()):
            index = names.get(name, -1)
            if index not in self.states:
                self._end(
                    _present(followers), ChordalError("no_member", f"the object has no document or derive {name}")
                )
            elif index in self.values:
                self._hand(_present(followers), self.snapshot(index))

    def dead(self) -> ChordalError | None:
        """Why the object can be held no longer."""
        if self.state in ("failed", "retired", "revoked"):
            return self.reason or ChordalError(self.state if self.state != "failed" else "state")
        if self.state == "released":
            return self.reason or ChordalError("released")
        return None

    def retry(self) -> None:
        self.host._act(self.host._core.reference_retry, self.id)
        self.state = "pending"
        self.reason = None

    def _wake(self) -> None:
        if self.state in ("pending", "down"):
            return
        waiting, self.waiting = self.waiting, []
        _futures.wake(waiting)

    async def live(self) -> None:
        while self.state != "live":
            error = self.dead()
            if error is not None:
                raise error
            future: asyncio.Future[None] = self.host._loop().create_future()
            self.waiting.append(future)
            await future

    # ---- values ----

    def member(self, name: str) -> int | None:
        """The number of a document or derive; None while the object was never live. Raises NO_MEMBER."""
        if self.names is None:
            return None
        index = self.names.get(name, -1)
        if index not in self.states:
            raise ChordalError("no_member", f"the object has no document or derive {name}")
        return index

    def snapshot(self, index: int) -> Frame:
        return Frame(self.values.get(index), self.commit, None, False, self.errors.get(index), True)

    def on_frame(self, event: _records.FrameEvent) -> None:
        member = event.member
        whole = bool(event.flags & _records.FRAME_SNAPSHOT)
        if event is self.patched:  # there was no memory to tell of it
            self.reset()
            return
        if member in self.lost and not whole:
            self._taken()
            return
        try:
            if self.keep == "none":
                told = _native.last_error(event.ops)
            else:
                told = _native.patch_in(self.values, member, event.ops, whole, self.keep == "in-place")
        except (ChordalError, MemoryError) as error:
            self.lost.add(member)
            self.reset()
            self._taken()
            log.warning("an op did not apply, the whole value is asked for: %s", error)
            return
        self.patched = event
        self.lost.discard(member)
        self.commit = event.commit
        if member not in self.documents and (whole or told is not None):
            self.errors[member] = DeriveError(*told) if told is not None and told[0] else None
        name = self.labels[member] if member < len(self.labels) else ""
        followers = self.followers.get(name)
        if followers:
            folded = bool(event.flags & _records.FRAME_FOLDED)
            ops = None if whole and self.keep != "none" else event.ops
            value = self.values.get(member)
            frame = Frame(value, event.commit, ops, folded, self.errors.get(member), whole)
            for follower in _present(followers):
                try:
                    follower._deliver(frame)
                except MemoryError:
                    log.warning("no memory for a frame, the whole value is asked for")
                    self.reset()
        self._taken()

    def _taken(self) -> None:
        """A frame is here: the core is told once all followers have it."""
        self.untaken = self.manual
        if self.untaken:
            self.host._pump.after(self.take)

    def reset(self) -> None:
        """Ask for whole values."""
        if self.state != "released" and not self.host._core.closed:
            self.host._core.watch_reset(self.id)

    # ---- who follows ----

    def follow(self, name: str, follower: Any, for_good: bool) -> None:
        self.host._enter()
        error = self.dead()
        if error is not None:
            raise error
        index = self.member(name)
        self._keep(name, follower)
        if for_good:
            self.watches.add(follower)
            self.host._watched.add(self)
        if index is not None and index in self.values:
            self._hand([follower], self.snapshot(index))

    def _keep(self, name: str, follower: Any) -> None:
        """Follow as long as somebody else keeps the follower."""
        key, kept = id(follower), weakref.ref(self)

        def gone(_: Any) -> None:
            replica = kept()
            if replica is not None:
                replica._forget(name, key)

        self.followers.setdefault(name, {})[key] = weakref.ref(follower, gone)

    def _forget(self, name: str, key: int) -> None:
        followers = self.followers.get(name)
        if followers is not None:
            followers.pop(key, None)
            if not followers:
                del self.followers[name]

    def unfollow(self, name: str, follower: Any) -> None:
        self._forget(name, id(follower))
        self.watches.discard(follower)
        if not self.watches:
            self.host._watched.discard(self)
        self.take()

    def _hand(self, followers: Iterable[Any], frame: Frame) -> None:
        for follower in followers:
            follower._deliver(frame)

    def take(self) -> None:
        """Tell the core that the frames were taken, once all followers have."""
        if not self.untaken or self.host._core.closed or self.state == "released":
            return
        if any(follower._lags() for followers in self.followers.values() for follower in _present(followers)):
            return
        self.untaken = False
        self.host._core.watch_take(self.id)
        self.host._wake()

    def _end(self, followers: Iterable[Any], error: ChordalError | None) -> None:
        for follower in followers:
            follower._end(error)

    def end(self, error: ChordalError | None) -> None:
        """No more frames will come."""
        for followers in list(self.followers.values()):
            self._end(_present(followers), error)
        self.followers.clear()
        self.watches.clear()
        self.host._watched.discard(self)

    def release(self, reason: ChordalError | None = None) -> None:
        """Give the object back. The last values stay readable."""
        if self.state == "released":
            return
        self.state = "released"
        self.reason = reason
        self.finalizer()
        self._wake()
        self.end(reason)


def _present(followers: dict[int, weakref.ref[Any]]) -> list[Any]:
    return [follower for kept in followers.values() if (follower := kept()) is not None]


def _give_back(core: Any, pump: Any, number: int) -> None:
    """Also called by the garbage collector, on any thread."""
    core.release(number)
    pump.nudge()
