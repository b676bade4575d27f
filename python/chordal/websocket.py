"""WebSockets, with the library `websockets`: one frame a message, the subprotocol names the codec."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from . import _records
from .edge import check_options
from .link import Accept, Dial, Server

if TYPE_CHECKING:
    from .host import Host

PROTOCOLS = {
    _records.CODEC_BINARY: Subprotocol(f"chordal.{_records.PROTOCOL}.bin"),
    _records.CODEC_TEXT: Subprotocol(f"chordal.{_records.PROTOCOL}.json"),
}


_OF_CLIENT = {"host", "port", "unix", "path"}  # which the library looks for among those of the loop
_OF_SERVER = {"unix", "path"}
_OURS = {"subprotocols", "create_connection", "process_request"}


def _check(options: dict[str, Any], own: set[str], *takers: Callable[..., Any]) -> None:
    of_proxy = {name for name in options if name.startswith("proxy_")}
    check_options(options, own | of_proxy, *takers)
    check_options(options, options.keys() - _OURS)


def _options(host: Host, options: dict[str, Any]) -> dict[str, Any]:
    """The core asks after silent peers itself, and its parts come deflated, so the library does neither."""
    limit = host._core.link_limit()
    return {"max_size": limit, "compression": None, "ping_interval": None, "close_timeout": 1, **options}


def _nothing() -> None:
    pass


class _InPieces:
    """A connection that says of each piece of a frame that it came: its peer is there, however long the frame takes."""

    on_piece: Callable[[], None] = staticmethod(_nothing)

    def data_received(self, data: bytes) -> None:
        self.on_piece()
        super().data_received(data)  # type: ignore[misc]


class _Client(_InPieces, ClientConnection):
    pass


class _Server(_InPieces, ServerConnection):
    pass


class WebSocket:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def on_piece(self) -> Callable[[], None]:
        return self._connection.on_piece  # type: ignore[attr-defined, no-any-return]

    @on_piece.setter
    def on_piece(self, told: Callable[[], None]) -> None:
        self._connection.on_piece = told  # type: ignore[attr-defined]

    async def receive(self) -> bytes | str | None:
        try:
            return await self._connection.recv()
        except (ConnectionClosed, UnicodeDecodeError):
            return None

    async def send(self, frame: bytes | str) -> None:
        try:
            await self._connection.send(frame)
        except ConnectionClosed as error:
            raise EOFError("the peer is gone") from error

    async def close(self) -> None:
        await self._connection.close()

    def abort(self) -> None:
        self._connection.transport.abort()


def _codec(connection: Connection) -> int:
    for codec, protocol in PROTOCOLS.items():
        if connection.subprotocol == protocol:
            return codec
    raise EOFError("the peer does not speak Chordal")


def dialler(host: Host, url: str, codec: int, options: dict[str, Any]) -> Dial:
    _check(options, _OF_CLIENT, connect, asyncio.SelectorEventLoop.create_connection)

    async def dial() -> tuple[WebSocket, int]:
        made = _options(host, options | {"create_connection": _Client})
        connection = await connect(url, subprotocols=[PROTOCOLS[codec]], **made)
        try:
            return WebSocket(connection), _codec(connection)
        except EOFError:
            await connection.close()
            raise

    return dial


class _Listener:
    """A server whose connections end by their links: they have to say bye."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def close(self) -> None:
        self._server.close(close_connections=False)

    async def wait_closed(self) -> None:
        await self._server.wait_closed()


async def listen(host: Host, url: str, origins: Iterable[str] | str, accept: Accept, options: dict[str, Any]) -> Server:
    _check(options, _OF_SERVER, serve, asyncio.SelectorEventLoop.create_server)
    place = urlsplit(url)
    allowed = {origins} if isinstance(origins, str) else set(origins)
    address = url

    async def accepted(connection: ServerConnection) -> None:
        codec = _codec(connection)
        await accept(address)._carry(WebSocket(connection), codec)

    def checked(connection: ServerConnection, request: Request) -> Response | None:
        if _from_own_page(request, allowed):
            return None
        return connection.respond(HTTPStatus.FORBIDDEN, "This origin may not connect.\n")

    server = await serve(
        accepted,
        place.hostname,
        place.port or 0,
        subprotocols=list(PROTOCOLS.values()),
        process_request=checked,
        create_connection=_Server,
        **_options(host, options),
    )
    port = next(iter(server.sockets)).getsockname()[1]
    name = f"[{place.hostname}]" if ":" in (place.hostname or "") else place.hostname
    address = f"{place.scheme}://{name}:{port}{place.path}"
    return Server(host, _Listener(server), address)


def _from_own_page(request: Request, allowed: set[str]) -> bool:
    """Whether an upgrade comes from no page at all, from one of this server, or from one that may connect."""
    origin = request.headers.get("Origin")
    if origin is None or "*" in allowed or origin in allowed:
        return True
    own = request.headers.get("Host", "").lower()
    return bool(own) and urlsplit(origin).netloc.lower() == own
