"""Pipes: messages over a unix socket, each behind its length as four bytes, little end first."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Any

from . import _records
from .edge import check_options
from .link import Accept, Dial, Server

if TYPE_CHECKING:
    from .host import Host


def _nothing() -> None:
    pass


class Pipe:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int) -> None:
        self._reader = reader
        self._writer = writer
        self._limit = limit
        self.on_piece = _nothing

    async def receive(self) -> bytes | None:
        try:
            size = int.from_bytes(await self._reader.readexactly(4), "little")
            return await self._frame(min(size, self._limit + 1))
        except (EOFError, OSError):
            return None

    async def _frame(self, size: int) -> bytes:
        pieces = []
        while size:
            piece = await self._reader.read(size)
            if not piece:
                raise EOFError
            pieces.append(piece)
            size -= len(piece)
            if size:
                self.on_piece()
        return b"".join(pieces)

    async def send(self, frame: bytes | str) -> None:
        assert isinstance(frame, bytes)
        self._writer.writelines((len(frame).to_bytes(4, "little"), frame))
        await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    def abort(self) -> None:
        self._writer.transport.abort()


def dialler(host: Host, path: str, options: dict[str, Any]) -> Dial:
    check_options(options, (), asyncio.open_unix_connection, asyncio.SelectorEventLoop.create_unix_connection)

    async def dial() -> tuple[Pipe, int]:
        reader, writer = await asyncio.open_unix_connection(path, **options)
        return Pipe(reader, writer, host._core.link_limit()), _records.CODEC_BINARY

    return dial


class _Socket:
    """A server whose file goes with it."""

    def __init__(self, server: asyncio.Server, path: str) -> None:
        self._server = server
        self._path = path
        self._closed = asyncio.Event()

    def close(self) -> None:
        if not self._closed.is_set():
            self._closed.set()
            self._server.close()
            with contextlib.suppress(OSError):
                os.unlink(self._path)

    async def wait_closed(self) -> None:
        await self._closed.wait()


async def listen(host: Host, path: str, accept: Accept, options: dict[str, Any]) -> Server:
    check_options(options, (), asyncio.start_unix_server, asyncio.SelectorEventLoop.create_unix_server)
    url = f"ipc:{path}"

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if host.closed:
            writer.close()
            return
        pipe = Pipe(reader, writer, host._core.link_limit())
        accept(url)._start(pipe, _records.CODEC_BINARY)

    return Server(host, _Socket(await asyncio.start_unix_server(accepted, path, **options), path), url)
