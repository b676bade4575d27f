"""The context of one call that a provided object serves."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

from . import _native
from .object import Object
from .transaction import Transaction

if TYPE_CHECKING:
    from ._provider import Provider


class Call:
    """What a method gets as its first argument."""

    def __init__(self, provider: Provider, number: int, instance: Object, origin: int, authority: bytes = b"") -> None:
        self._provider = provider
        self._id = number
        self.object = instance
        """The object that was called."""
        self.origin = origin
        """Which session called: a number that is the same for all calls of one session; 0 is this host."""
        self._authority = authority
        self.cancelled = asyncio.Event()
        """Set when the caller no longer wants the answer. The method may go on; its answer is dropped."""

    @property
    def authority(self) -> Any:
        """That of the calling session: what the program admitted its host with (see :meth:`Host.listen`). None for
        one without, and for calls of this host itself, which `origin` tells apart."""
        return _native.unpack(self._authority) if self._authority else None

    def transaction(self) -> Transaction:
        """A transaction on behalf of this call: its result reaches the caller after the change."""
        provider = self._provider
        return Transaction(provider.core, self.object, None, provider, self._id)

    def new_id(self) -> str:
        """A short random text, unique for all purposes: 96 bits."""
        return secrets.token_urlsafe(12)
