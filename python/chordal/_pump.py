"""The pump: brings the core's events to a host on its event loop, and wakes the core when it has something to do.

All hosts of a loop take their turns in one step of it, one after the other until none has anything left, so that what
one does for another does not wait for the loop to go round. Who waits for what a turn brings need not wait for that
step either, if the loop has nothing else to run before it: the turns are taken within the `await`.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from . import _records
from ._native import Core

_POLLS = 32  # of one turn, before others have theirs
_TURNS = 32  # of one step of the loop
_EARLY_STEPS = 32  # within the program's awaits, before the loop goes round
_PAUSE = 0.1  # seconds, when there was no memory
_TRIES = 20  # to handle one event without memory
_EARLY = (_records.ComputeEvent, _records.ObjectEvent)  # what derives need, also before other events


class Turns:
    """Whose turn it is on a loop."""

    __slots__ = ("__weakref__", "_context", "_loop", "_ready", "_scheduled", "early_steps", "taking", "waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = weakref.ref(loop)
        ready = getattr(loop, "_ready", None)  # asyncio's own loops; of others nobody knows what they run next
        self._ready: deque[Any] | None = ready if isinstance(ready, deque) else None
        self._context = contextvars.Context()  # of the step to come
        self._scheduled = False
        self.early_steps = 0  # since the loop went round
        self.taking = 0  # turns that are being taken now
        self.waiting: deque[Pump] = deque()

    def add(self, pump: Pump) -> None:
        self.waiting.append(pump)
        if not self._scheduled:
            loop = self._loop()
            assert loop is not None
            try:
                self._context = contextvars.copy_context()
                loop.call_soon(self._step, context=self._context)
            except MemoryError:
                self.waiting.pop()
                raise
            self._scheduled = True

    def _step(self) -> None:
        early, self.early_steps = self.early_steps, 0
        try:
            if not early or not self._ready:
                self.take()
        finally:  # what is left; also when it lay ready since before an early one, and others may commit before it
            self._scheduled = False
            if self.waiting:
                self.add(self.waiting.popleft())

    def take(self) -> None:
        waiting = self.waiting
        for _ in range(_TURNS):
            if not waiting:
                break
            waiting.popleft().turn()

    def take_early(self) -> None:
        """Take the step that is to come now, for a task that is about to wait for what it brings. Not if anything else
        is ready to run before it (others may commit, too, and one step is for all of them), nor within a turn, nor all
        the time: the loop has to go round."""
        ready = self._ready
        if ready is None or len(ready) != 1 or not self._scheduled or self.taking:
            return
        if self.early_steps < _EARLY_STEPS:
            self.early_steps += 1
            self._context.run(self.take)


_turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = weakref.WeakKeyDictionary()


class Pump:
    __slots__ = (
        "_after",
        "_events",
        "_loop",
        "_polled",
        "_scheduled",
        "_timer",
        "_timer_at",
        "_tries",
        "_turns",
        "core",
        "handlers",
        "on_new_loop",
        "on_polled",
        "rounds",
    )

    def __init__(self, core: Core, handlers: dict[type, Callable[[Any], None]]) -> None:
        self.core = core
        self.handlers = handlers
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turns: Turns | None = None
        self._scheduled = False  # among the turns, or in one that looks again before it ends
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = _records.NEVER
        # Events that were polled and not handled: the next one is the last of `_events`, then the first of `_polled`.
        # To go from one to the next takes no memory, so none is lost when there is none.
        self._events: list[_records.Event] = []
        self._polled: list[_records.Event] = []
        self._tries = 0  # of the next event
        self._after: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self.on_new_loop: Callable[[], None] = lambda: None
        self.on_polled: Callable[[_records.TicketEvent], None] = lambda event: None
        self.rounds = 0  # of derives, that may have to be asked for after a commit

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop that the host lives on: the one that it was first used on, until that is closed."""
        loop = self._loop
        if loop is None or loop.is_closed():
            first = loop is None
            loop = self._loop = asyncio.get_running_loop()
            turns = _turns.get(loop)
            if turns is None:
                turns = _turns[loop] = Turns(loop)
            self._turns = turns
            self._scheduled = False
            self._timer = None
            self._timer_at = _records.NEVER
            if not first:
                self.on_new_loop()
        return loop

    def wake(self) -> None:
        """Something was done to the host: take a turn soon."""
        loop = self._loop
        if loop is None or loop.is_closed():
            self.loop()
        if not self._scheduled:
            self._turns.add(self)  # type: ignore[union-attr]
            self._scheduled = True

    def early(self) -> None:
        """A task is about to wait for what this host's next turn may bring: it is taken now, if it can be."""
        turns = self._turns
        if turns is None or not turns.waiting or asyncio.get_running_loop() is not self._loop:
            return
        try:
            turns.take_early()
        except Exception as error:
            self._report(error)

    def stir(self) -> None:
        """As wake, if there is something to do now, or sooner than the timer tells."""
        if not self._scheduled and self.core.deadline() < self._timer_at:
            self.wake()

    def nudge(self) -> None:
        """As wake, from any thread, and without need of a loop."""
        loop = self._loop
        if loop is None or loop.is_closed() or self.core.closed:
            return
        try:
            loop.call_soon_threadsafe(self._nudged)
        except RuntimeError:
            return  # closed just now

    def _nudged(self) -> None:
        if not self.core.closed:
            self.wake()

    def after(self, step: Callable[..., None], *arguments: Any) -> None:
        """Do a step when all events polled so far are handled."""
        self._after.append((step, arguments))
        if not self._scheduled:
            self.wake()

    def settle(self) -> None:
        """Answer the derives that a commit asked for, so that they can be read at once. Other events wait for the
        turn."""
        try:
            if self.rounds:
                self._compute()
            for _ in range(self.rounds):
                if self.core.closed:
                    break
                self._poll(self._polled)
                if not self._compute():
                    break
        finally:
            self.wake()

    def _poll(self, polled: list[_records.Event]) -> None:
        first = len(polled)
        self.core.poll(polled)
        for index in range(first, len(polled)):
            event = polled[index]
            if type(event) is _records.TicketEvent and (event.code or self.rounds):
                with contextlib.suppress(MemoryError):  # it has its turn
                    self.on_polled(event)

    def _compute(self) -> int:
        """Handle what derives need; answers how many were computed."""
        computes = 0
        while (event := self._early()) is not None:
            computes += isinstance(event, _records.ComputeEvent)
            self._handle(event)
        return computes

    def _early(self) -> _records.Event | None:
        """The next event that derives need. To handle it may come back here, so there is no other list of them."""
        events, polled = self._events, self._polled
        for at in range(len(events) - 1, -1, -1):
            if isinstance(events[at], _EARLY):
                return events.pop(at)
        for at in range(len(polled)):
            if isinstance(polled[at], _EARLY):
                return polled.pop(at)
        return None

    def turn(self) -> None:
        """Handle what the core has to tell, until nothing is left. While it goes on it counts as scheduled: what wakes
        the host meanwhile is looked at in it."""
        core, handlers, after, turns = self.core, self.handlers, self._after, self._turns
        self._scheduled = True
        turns.taking += 1  # type: ignore[union-attr]
        try:
            for _ in range(_POLLS):
                while after:
                    step, arguments = after.popleft()
                    try:
                        step(*arguments)
                    except (Exception, asyncio.CancelledError) as error:
                        self._report(error)
                if core.closed:
                    break
                events = self._events
                if not events:
                    polled = self._polled
                    if not polled:
                        self._poll(polled)
                    polled.reverse()
                    self._polled = events
                    self._events = events = polled
                while events:
                    event = events.pop()
                    try:
                        handlers[type(event)](event)
                    except MemoryError as error:
                        if core.closed or not self._again(event):
                            self._report(error)
                            continue
                        raise
                    except (Exception, asyncio.CancelledError) as error:
                        self._report(error)
                if core.closed:
                    break
                if not after and (deadline := core.deadline()):
                    if deadline < self._timer_at:
                        self._set_timer(deadline)
                    break
            else:
                turns.add(self)  # type: ignore[union-attr]
                return
        except BaseException as error:
            self._scheduled = False
            if not core.closed:
                self._go_on_after(error)
            raise
        finally:
            turns.taking -= 1  # type: ignore[union-attr]
        self._scheduled = False
        self._tries = 0

    def _again(self, event: _records.Event) -> bool:
        """There was no memory to handle it: it stays the next one. Handlers do nothing twice. False: often enough."""
        self._tries = self._tries + 1 if self._tries < _TRIES else 0
        if self._tries:
            self._events.append(event)
        return self._tries > 0

    def _go_on_after(self, error: BaseException) -> None:
        """The turn ended early: what is left is for another one."""
        if isinstance(error, Exception):  # not at once: there may be memory later
            self.later(self.wake)
        else:
            self.wake()

    def later(self, step: Callable[..., None], *arguments: Any) -> None:
        """Do a step after a pause, if the host is still open then."""

        def due() -> None:
            if not self.core.closed:
                step(*arguments)

        self.loop().call_later(_PAUSE, due)

    def _handle(self, event: _records.Event) -> None:
        try:
            self.handlers[type(event)](event)
        except MemoryError:
            if self.core.closed or not self._again(event):
                raise
        except (Exception, asyncio.CancelledError) as error:
            self._report(error)

    def _report(self, error: BaseException) -> None:
        """An exception of the program's code goes to the loop's handler; the turn goes on."""
        self.loop().call_exception_handler({"message": "an exception in a chordal callback", "exception": error})

    def _set_timer(self, deadline: int) -> None:
        """A timer that is early is as good: the turn that it takes sets the next one."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self.loop().call_later(max(deadline / 1000 - time.monotonic(), 0), self._due)

    def _due(self) -> None:
        self._timer = None
        self._timer_at = _records.NEVER
        if not self._scheduled and not self.core.closed:
            self.turn()

    def stop(self) -> None:
        """No more turns."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._events.clear()
        self._polled.clear()
        self._after.clear()
