"""Who is admitted, and what those may do: the program's functions are asked, and their answers brought to the core."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from . import _native, _records
from .errors import ChordalError
from .object import Ask

if TYPE_CHECKING:
    from ._provider import Provider
    from .host import Host
    from .link import Authenticate

log = logging.getLogger("chordal")

_WORDS = 100  # as many as travel


async def _answer_of(function: Callable[..., Any], *arguments: Any) -> Any:
    answer = function(*arguments)
    return await answer if inspect.isawaitable(answer) else answer


def _late(act: Callable[..., None], *arguments: Any) -> None:
    """Tell the core; too late, or for nobody any more, is no fault."""
    try:
        act(*arguments)
    except ChordalError as error:
        if error.name not in ("closed", "state"):
            raise


class Admission:
    def __init__(self, host: Host, provider: Provider) -> None:
        self.host = host
        self.core = host._core
        self.provider = provider

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self.provider._run(work)

    # ---- at links ----

    def on_authenticate(self, event: _records.AuthenticateEvent) -> None:
        link = self.host._links.get(event.link)
        if link is None or link._authenticate is None:
            _late(self.core.link_refuse, event.link, "")
        else:
            self._run(self._authenticate(event.link, link._authenticate, event.credentials))

    async def _authenticate(self, link: int, function: Authenticate, credentials: bytes) -> None:
        try:
            authority = await _answer_of(function, _native.unpack(credentials))
        except Exception as error:
            self._refuse(link, _reason(error))
        else:
            self._admit(link, authority)
        self.provider.pump.wake()

    def _refuse(self, link: int, reason: str) -> None:
        if not self.core.closed:
            _late(self.core.link_refuse, link, reason)

    def _admit(self, link: int, authority: Any) -> None:
        if self.core.closed:
            return
        try:
            _late(self.core.link_admit, link, authority)
        except Exception:
            log.exception("an authority is no value")
            self._refuse(link, "")

    # ---- at objects ----

    def on_guard(self, event: _records.GuardEvent) -> None:
        kind = self.provider.types[event.type]
        method = None if event.member == _records.ALL_MEMBERS else kind.type_members[event.member].name
        authority = _native.unpack(event.authority) if event.authority else None
        self._run(self._judge(event.guard, kind, Ask(authority, _native.unpack(event.params), method, event.origin)))

    async def _judge(self, guard: int, kind: Any, ask: Ask) -> None:
        verdict = _records.GUARD_DENY
        try:
            answer = await _answer_of(kind.guard, ask)
            if answer == "all":
                verdict = _records.GUARD_ALLOW_CALLS
            elif answer is True:
                verdict = _records.GUARD_ALLOW
            elif answer is not False:
                log.error("%s.guard answered %r: denied", kind.__name__, answer)
        except Exception as error:
            log.error("%s.guard failed: denied", kind.__name__, exc_info=error)
        if not self.core.closed:
            _late(self.core.guard_answer, guard, verdict)
            self.provider.pump.wake()


def _reason(error: Exception) -> str:
    """What a peer that is refused is told: the words of a ChordalError "refused", of all else nothing."""
    if isinstance(error, ChordalError) and error.name == "refused" and isinstance(error.detail, str):
        return error.detail[:_WORDS]
    log.error("a peer could not be authenticated", exc_info=error)
    return ""


async def credentials_now(credentials: Any) -> Any:
    """What is shown at the next dial: a value, or what a function answers."""
    return await _answer_of(credentials) if callable(credentials) else credentials
