"""Waking those who wait, of whom some may have waited on a loop that is no more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any


def waits(future: asyncio.Future[Any]) -> bool:
    return not future.done() and not future.get_loop().is_closed()


def wake(futures: Iterable[asyncio.Future[None]]) -> None:
    for future in futures:
        if waits(future):
            future.set_result(None)
