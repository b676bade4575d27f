"""What is waited for, and waking those who wait, of whom some may have waited on a loop that is no more."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .host import Host


class Outcome(asyncio.Future[Any] if TYPE_CHECKING else asyncio.Future):
    """What comes of a call. Who waits for it has the host take its turn, and who cancels it has the call cancelled."""

    __slots__ = ("host", "number")

    def __init__(self, host: Host) -> None:
        super().__init__(loop=host._loop())
        self.host: Host | None = host  # until it is known
        self.number = 0

    def __await__(self) -> Generator[Any, None, Any]:
        if self.host is not None:
            self.host._pump.early()
        return super().__await__()

    __iter__ = __await__

    def cancel(self, msg: Any = None) -> bool:
        cancelled, host = super().cancel(msg), self.host
        if cancelled and host is not None:
            self.host = None
            host._cancel(self.number)
        return cancelled


def waits(future: asyncio.Future[Any]) -> bool:
    return not future.done() and not future.get_loop().is_closed()


def wake(futures: Iterable[asyncio.Future[None]]) -> None:
    for future in futures:
        if waits(future):
            future.set_result(None)
