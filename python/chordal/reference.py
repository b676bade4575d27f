"""References: objects of this host or another one, as live local values and callable methods."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from . import _futures
from .errors import ChordalError
from .frame import Frame
from .rows import QUERY_TYPE, live_params, query_of

if TYPE_CHECKING:
    from ._replica import Replica

_Follower = TypeVar("_Follower", "Watch", "Frames")


class Reference:
    """What ``host.get`` answers. Members are attributes: ``notes.list.value``, ``await notes.add("milk")``; for names
    that this class has itself, ``notes["state"]``. Give it back with :meth:`release`, or just forget it."""

    def __init__(self, replica: Replica, type: str, params: Any) -> None:
        self._replica = replica
        self._hold = Hold(replica, type, params)
        self._members: dict[str, Member] = {}
        self.type = type
        """The name of the object's type."""
        self.params = params
        """Its address within the type."""

    @property
    def state(self) -> str:
        """One of "pending" (asked for), "live" (values are current), "down" (no link: the last values stay readable,
        calls wait), "failed", "retired", "revoked" or "released"."""
        return "released" if self._hold.released else self._replica.state

    @property
    def error(self) -> ChordalError | None:
        """Why the object failed or was revoked, or why its link is down."""
        return self._replica.reason

    async def live(self) -> Reference:
        """Wait until the object's values are here and current. Raises ChordalError with the provider's code if it
        cannot be held, and CLOSED when the host is closed meanwhile."""
        self._hold.check()
        await self._replica.live()
        return self

    def retry(self) -> None:
        """Ask again for an object that failed. Raises ChordalError STATE when it has not."""
        self._hold.check()
        self._replica.retry()

    def release(self) -> None:
        """Give the reference back: its watches end. With the last reference to the object calls that wait end, too.
        Values stay readable."""
        self._replica.host._enter()
        if self._hold.release():
            self._replica.host._release(self._replica)

    def __getitem__(self, name: str) -> Member:
        member = self._members.get(name)
        if member is None:
            member = self._members[name] = Member(self._hold, name)
        return member

    def __getattr__(self, name: str) -> Member:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    if not TYPE_CHECKING:  # which refuses it by itself

        def __setattr__(self, name: str, value: Any) -> None:
            declared = getattr(type(self), name, Member) is not getattr(Reference, name, Member)  # by a subclass
            if not (declared or name.startswith("_") or name in ("type", "params")):
                raise AttributeError(f"{name} of a reference cannot be assigned: an object is changed by its methods")
            super().__setattr__(name, value)

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *_: Any) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<Reference {self.type} {self.params}: {self.state}>"


class Hold:
    """What one reference has of the replica that all references to the object share."""

    __slots__ = ("__weakref__", "followers", "params", "released", "replica", "type")

    def __init__(self, replica: Replica, type: str, params: Any) -> None:
        self.replica = replica
        self.type = type
        self.params = params
        self.released = False
        self.followers: weakref.WeakSet[Watch | Frames] = weakref.WeakSet()
        replica.holds.add(self)

    def check(self) -> None:
        if self.released:
            raise ChordalError("released")

    def release(self) -> bool:
        """End what goes on through this reference. True: nobody else holds or follows the object."""
        self.released = True
        self.replica.holds.discard(self)
        for follower in list(self.followers):
            follower.close()
        return not self.replica.holds and not self.replica.followers


class Member:
    """A member of a reference: a document or derive to read and follow, a method to call, a table to query."""

    __slots__ = ("_hold", "name")

    def __init__(self, hold: Hold, name: str) -> None:
        self._hold = hold
        self.name = name

    @property
    def _replica(self) -> Replica:
        return self._hold.replica

    def _follow(self, follower: _Follower) -> _Follower:
        self._hold.followers.add(follower)
        return follower

    @property
    def value(self) -> Any:
        """The last value, immutable; None before the first, or when the object is held without values. Raises
        ChordalError NO_MEMBER."""
        index = self._replica.member(self.name)
        return None if index is None else self._replica.values.get(index)

    @property
    def error(self) -> ChordalError | None:
        """Why the derive could not be computed the last time; its value is then the last good one."""
        index = self._replica.member(self.name)
        return None if index is None else self._replica.errors.get(index)

    def watch(self, callback: Callable[[Frame], None]) -> Watch:
        """Call `callback` with a frame for each batch that changes the member, first of all with the whole value once
        it is here. It is called on the host's thread, from the event loop, never inside of this call. An exception in
        it goes to the loop's exception handler. Raises ChordalError NO_MEMBER, RELEASED, RETIRED."""
        if not callable(callback):
            raise TypeError(f"a watch calls a function, not {callback!r}")
        self._hold.check()
        return self._follow(Watch(self._replica, self.name, callback))

    def frames(self) -> Frames:
        """The same frames, for ``async for``. While nobody asks for the next one, all that come are folded into it. The
        loop ends when the object is retired, the reference released or the host closed, and raises when it fails."""
        self._hold.check()
        return self._follow(Frames(self._replica, self.name))

    def live(self, query: Mapping[str, Any] | None = None, /, **parts: Any) -> Reference:
        """Of a table: a reference whose document `rows` is what a query answers, kept current (:meth:`Table.live`). It
        is asked for where the object was; one that is refused there is "failed", with the words. Raises ChordalError
        RELEASED, the errors of values, and for an object of this host those of :meth:`Table.live`."""
        self._hold.check()
        replica, reference = self._replica, self._hold
        asked = live_params(reference.type, reference.params, self.name, query_of(query, parts))
        return replica.host.get(QUERY_TYPE, asked, link=replica.link)

    def __call__(self, *arguments: Any, timeout: float | None = None) -> asyncio.Future[Any]:
        """Call the method; ``await`` gives its result once the change that it made is visible here. The call leaves at
        once, or when the object is live, in order; it runs once at most.

        Arguments are values, or ``bytes``, which travel raw. `timeout`: seconds (below 1 ms it is over at once); None:
        none. Cancelling the awaiting task tells the provider that the answer is no longer wanted. Raises, or makes
        ``await`` raise: MethodError (the method's own), DeadlineError, Cancelled, OutcomeUnknown, and ChordalError with
        another code, RANGE for a timeout that is no span of time."""
        self._hold.check()
        return self._replica.host._call(self._replica, self.name, arguments, timeout)

    def __repr__(self) -> str:
        return f"<Member {self.name}>"


class Watch:
    """A callback that follows a member until :meth:`close`."""

    def __init__(self, replica: Replica, name: str, callback: Callable[[Frame], None]) -> None:
        self._replica = replica
        self._name = name
        self._callback = callback
        self._pump = replica.host._pump
        self._open = True
        self.error: ChordalError | None = None
        """Why no more frames come, if so."""
        replica.follow(name, self, True)

    def _deliver(self, frame: Frame) -> None:
        self._pump.after(self._run, frame)

    def _run(self, frame: Frame) -> None:
        if self._open:
            self._callback(frame)

    def _lags(self) -> bool:
        return False

    def _end(self, error: ChordalError | None) -> None:
        self.error = error

    def close(self) -> None:
        """Stop following. Closing twice is allowed."""
        self._replica.host._enter()
        self._open = False
        self._replica.unfollow(self._name, self)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Frames:
    """The frames of a member, one after the other; what comes while nobody waits is folded into one."""

    def __init__(self, replica: Replica, name: str) -> None:
        self._replica = replica
        self._name = name
        self._next: Frame | None = None
        self._lost = False  # until a whole value comes
        self._waiting: asyncio.Future[None] | None = None
        self._ended = False
        self._error: ChordalError | None = None
        replica.follow(name, self, False)

    def __aiter__(self) -> Frames:
        return self

    async def __anext__(self) -> Frame:
        if self._next is None:
            self._replica.host._pump.early()
        while self._next is None:
            if self._ended:
                error, self._error = self._error, None
                if error is None or error.name in ("closed", "released"):
                    raise StopAsyncIteration
                raise error
            if self._waiting is None:
                self._waiting = self._replica.host._loop().create_future()
            await asyncio.shield(self._waiting)
        frame, self._next = self._next, None
        self._replica.take()
        return frame

    def _deliver(self, frame: Frame) -> None:
        if self._lost and not frame.snapshot:
            return
        try:
            self._next = frame if self._next is None else self._next.fold(frame, self._replica.keep != "none")
        except MemoryError:
            self._next = None
        self._lost = self._next is None
        if self._lost:
            self._replica.reset()
        else:
            self._wake()

    def _lags(self) -> bool:
        return self._next is not None

    def _end(self, error: ChordalError | None) -> None:
        self._ended = True
        self._error = error
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            _futures.wake((waiting,))

    def close(self) -> None:
        """Stop following."""
        self._replica.host._enter()
        self._next = None
        self._end(None)
        self._replica.unfollow(self._name, self)

    async def aclose(self) -> None:
        """As :meth:`close`, for ``contextlib.aclosing``."""
        self.close()
