"""The memory link: two hosts of one thread, without a transport between them."""

from __future__ import annotations

from typing import Any

from . import _records, edge
from .errors import ChordalError
from .host import Host
from .link import STATES, Authenticate, Link


class _End(Link):
    """One end; the other one is there as long as there is a transport."""

    _other: _End | None = None
    _accepting: Host | None = None
    _accept_flags = 0
    _ask: Authenticate | None = None  # of the accepting side

    def _on_state(self, event: _records.LinkEvent) -> None:
        if event.state == _records.LINK_DIAL:
            self.state = STATES[event.state]
            self._pair()
            return
        if event.state == _records.LINK_CLOSED:
            self._carry_all()
        super()._on_state(event)

    def _pair(self) -> None:
        host = self._accepting
        if host is None or host.closed:
            self._down()
            return
        other = _End(host, host._core.link_open(self._accept_flags), self.url, None)
        other._authenticate = self._ask
        host._links[other._id] = other
        self._other, other._other = other, self
        for end in (self, other):
            end._host._act(end._host._core.link_up, end._id, _records.CODEC_BINARY)
        self._carry_all()

    def _carry_all(self) -> None:
        other = self._other
        if other is None or other._core.closed or self._core.closed:
            return
        try:
            self._core.link_carry(self._id, other._core, other._id)
        except ChordalError:
            self._cut()
        self._pump.stir()
        other._pump.stir()

    _on_output = _carry_all

    def close(self) -> None:
        super().close()
        self._carry_all()  # the bye arrives, even if the host is closed next

    def _cut(self) -> None:
        other, self._other = self._other, None
        if other is not None:
            other._cut()
            if not other._host.closed:
                other._down()

    def _forget(self) -> None:
        self._cut()
        super()._forget()

    def _abandon(self) -> None:
        self._cut()
        super()._abandon()


def pair(
    host: Host,
    provider: Host,
    *,
    offer: bool = False,
    route_offers: bool = False,
    credentials: Any = None,
    authenticate: Authenticate | None = None,
    trusted: bool = False,
) -> Link:
    """Link `host` with `provider`, both on this thread and loop, as if `host` had connected. `offer` and `route_offers`
    are those of `host`, as for :meth:`Host.connect`; the other side mirrors them. `credentials` (a value) are of
    `host`; `authenticate` and `trusted` of `provider`, as for :meth:`Host.listen`. Answers the link of `host`."""
    flags = _records.LINK_CONNECT | edge.flags(offer, route_offers, True)
    end = _End(host, host._core.link_open(flags), "memory:", None)
    end._connects = True
    end._accepting = provider
    end._accept_flags = edge.flags(route_offers, offer, True, trusted)
    end._accept_flags |= _records.LINK_AUTHENTICATE if authenticate is not None else 0
    end._ask = authenticate
    if credentials is not None:
        end.renew(credentials)
    host._links[end._id] = end
    host._wake()
    return end
