"""The pump: brings the core's events to a host on its event loop, and wakes the core when it has something to do."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from . import _records
from ._core import Core

_POLLS = 32  # of one turn, before others on the loop have theirs


class Pump:
    def __init__(self, core: Core, handlers: dict[type, Callable[[Any], None]]) -> None:
        self.core = core
        self.handlers = handlers
        self._loop: asyncio.AbstractEventLoop | None = None
        self._scheduled = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = _records.NEVER
        self._events: deque[_records.Event] = deque()  # polled, not handled yet
        self._after: deque[Callable[[], None]] = deque()
        self.on_new_loop: Callable[[], None] = lambda: None

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop that the host lives on: the one that it was first used on, until that is closed."""
        if self._loop is None or self._loop.is_closed():
            first = self._loop is None
            self._loop = asyncio.get_running_loop()
            self._scheduled = False
            self._timer = None
            self._timer_at = _records.NEVER
            if not first:
                self.on_new_loop()
        return self._loop

    def wake(self) -> None:
        """Something was done to the host: take a turn soon."""
        loop = self.loop()
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._turn)

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

    def after(self, step: Callable[[], None]) -> None:
        """Do a step when all events polled so far are handled."""
        self._after.append(step)
        self.wake()

    def settle(self, rounds: int) -> None:
        """Answer the derives that a commit asked for, so that they can be read at once. Other events wait for the
        turn."""
        waiting, self._events = self._events, deque()
        self._compute(waiting)
        for _ in range(rounds):
            if not self._compute(self.core.poll()):
                break
        self.wake()

    def _compute(self, events: Iterable[_records.Event]) -> int:
        """Handle what derives need, keep the rest in order; answers how many were computed."""
        computes = 0
        for event in events:
            if isinstance(event, (_records.ComputeEvent, _records.ObjectEvent)):
                computes += isinstance(event, _records.ComputeEvent)
                self._handle(event)
            else:
                self._events.append(event)
        return computes

    def _turn(self) -> None:
        self._scheduled = False
        for _ in range(_POLLS):
            self._do_afters()
            if self.core.closed:
                return
            if not self._events:
                self._events.extend(self.core.poll())
            while self._events:
                self._handle(self._events.popleft())
            if self.core.closed:
                return
            if not self._after and (deadline := self.core.deadline()):
                self._set_timer(deadline)
                return
        self.wake()

    def _handle(self, event: _records.Event) -> None:
        try:
            self.handlers[type(event)](event)
        except Exception as error:
            self._report(error)

    def _do_afters(self) -> None:
        while self._after:
            try:
                self._after.popleft()()
            except Exception as error:
                self._report(error)

    def _report(self, error: Exception) -> None:
        """An exception of the program's code goes to the loop's handler; the turn goes on."""
        self.loop().call_exception_handler({"message": "an exception in a chordal callback", "exception": error})

    def _set_timer(self, deadline: int) -> None:
        """A timer that is early is as good: the turn that it takes sets the next one."""
        if deadline >= self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self.loop().call_later(max(deadline / 1000 - time.monotonic(), 0), self._due)

    def _due(self) -> None:
        self._timer = None
        self._timer_at = _records.NEVER
        if not self._scheduled and not self.core.closed:
            self._turn()

    def stop(self) -> None:
        """No more turns."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._events.clear()
        self._after.clear()
