"""The edges: which transport an address means."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from . import _records
from .errors import ChordalError
from .link import Accept, Dial, Server

if TYPE_CHECKING:
    from .host import Host

CODECS = {"binary": _records.CODEC_BINARY, "text": _records.CODEC_TEXT}


def flags(offer: bool, route_offers: bool, serve: bool, trusted: bool = False) -> int:
    return (
        (_records.LINK_TRUSTED if trusted else 0)
        | (_records.LINK_OFFER if offer else 0)
        | (_records.LINK_ROUTE_OFFERS if route_offers else 0)
        | (0 if serve else _records.LINK_NO_SERVE)
    )


def check_options(options: Iterable[str], own: Iterable[str], *takers: Callable[..., Any]) -> None:
    """Refuse what nobody takes by name: of a link that dials it would show when it does so, in the log at best."""
    known = {*own}
    for taker in takers:
        places = inspect.signature(taker).parameters.values()
        known.update(place.name for place in places if place.kind is place.KEYWORD_ONLY)
    for name in options:
        if name not in known:
            raise TypeError(f"{name} is no option of a link, or of its transport")


def way(url: str) -> int:
    """The flag of a way on which large parts go deflated: not to the machine itself, where that takes longer."""
    if not _is_web(url):
        return 0
    name = urlsplit(url).hostname or ""
    near = name in ("localhost", "::1") or re.fullmatch(r"127\.[\d.]+", name)
    return 0 if near else _records.LINK_DEFLATE


def dialler(host: Host, url: str, codec: str, options: dict[str, Any]) -> Dial:
    """How to reach an address."""
    if codec not in CODECS:
        raise ChordalError("invalid", f"{codec} is no codec: binary or text")
    if _is_web(url):
        from . import websocket

        return websocket.dialler(host, url, CODECS[codec], options)
    if url.startswith("ipc:"):
        from . import ipc

        if codec != "binary":
            raise ChordalError("invalid", "a pipe carries the binary codec only")
        return ipc.dialler(host, _path(url), options)
    raise ChordalError("invalid", f"{url} is no address: ws://host:port or ipc:/path")


async def listen(host: Host, url: str, origins: Iterable[str] | str, accept: Accept, options: dict[str, Any]) -> Server:
    if _is_web(url):
        from . import websocket

        if url.startswith("wss:") and "ssl" not in options:
            raise ChordalError("invalid", "wss:// needs ssl=, a context with the server's certificate")
        return await websocket.listen(host, url, origins, accept, options)
    if url.startswith("ipc:"):
        from . import ipc

        return await ipc.listen(host, _path(url), accept, options)
    raise ChordalError("invalid", f"{url} is no address: ws://host:port or ipc:/path")


def _is_web(url: str) -> bool:
    """Whether it is the address of a WebSocket."""
    if not isinstance(url, str):
        raise ChordalError("type", "an address is a text")
    if not url.startswith(("ws://", "wss://")):
        return False
    try:
        place = urlsplit(url)
        return bool(place.hostname) and (place.port or 0) >= 0
    except ValueError:  # no port
        return False


def _path(url: str) -> str:
    path = url[len("ipc:") :]
    if not path:
        raise ChordalError("invalid", "ipc: needs a path")
    return path
