"""A proxy that troubles what runs through it: it cuts connections on both sides or on one, falls silent, delays and
throttles. TCP ("127.0.0.1:port") or Unix sockets (a path), at either end."""

import asyncio
import contextlib
import itertools
import os
import socket

CHUNK = 16384
WAITING = 64  # chunks in one direction that wait for their time; then nothing more is read
SMALL = 1 << 16  # what the system may keep of what the server sends


async def _open(place):
    if "/" in place:
        return await asyncio.open_unix_connection(place)
    host, port = place.rsplit(":", 1)
    end = socket.socket()
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
    end.setblocking(False)
    await asyncio.get_running_loop().sock_connect(end, (host, int(port)))
    return await asyncio.open_connection(sock=end)


class _Way:
    """One direction of a connection."""

    def __init__(self, proxy, reader, writer):
        self.proxy, self.reader, self.writer = proxy, reader, writer
        self.queue = asyncio.Queue(WAITING)

    async def take(self):
        loop = asyncio.get_running_loop()
        while data := await self.reader.read(CHUNK):
            await self.queue.put((loop.time() + self.proxy.delay, data))
        await self.queue.put((loop.time() + self.proxy.delay, b""))

    async def give(self):
        loop = asyncio.get_running_loop()
        while True:
            due, data = await self.queue.get()
            await asyncio.sleep(max(0, due - loop.time()))
            if not data:
                return
            self.writer.write(data)
            self.proxy.carried += len(data)
            await self.writer.drain()
            if self.proxy.rate:
                await asyncio.sleep(len(data) / self.proxy.rate)


class _Pair:
    """A connection of a client and the one that was made to the server for it."""

    def __init__(self, proxy, near, far):
        self.near, self.far = near[1], far[1]
        self.ways = [_Way(proxy, near[0], far[1]), _Way(proxy, far[0], near[1])]
        self.steps = []
        self.silent = False

    async def carry(self):
        """Until either side ends; silenced, until it is cut."""
        gives = [asyncio.ensure_future(way.give()) for way in self.ways]
        self.steps = [*gives, *(asyncio.ensure_future(way.take()) for way in self.ways)]
        try:
            await asyncio.wait(gives, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.stop()
            await asyncio.gather(*self.steps, return_exceptions=True)
        if self.silent:
            await asyncio.Event().wait()

    def stop(self):
        for step in self.steps:
            step.cancel()


class Proxy:
    """`delay` (seconds, one way) and `rate` (bytes a second; 0: any) may be changed at any time. `made` counts the
    connections that came to the server."""

    def __init__(self, server):
        self.server = server
        self.delay = self.rate = self.made = self.carried = 0
        self.pairs = {}  # and their tasks
        self.news = asyncio.Condition()

    async def __aenter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.listening = await asyncio.start_server(self._accepted, sock=self.listener)
        return self

    async def at(self, path):
        """Listen at a Unix socket as well."""
        self.unix = await asyncio.start_unix_server(self._accepted, path)
        self.path = path

    unix = path = None

    async def __aexit__(self, *_):
        self.listening.close()
        if self.unix:
            self.unix.close()
            with contextlib.suppress(OSError):
                os.unlink(self.path)
        self.cut()
        await asyncio.gather(*self.pairs.values(), return_exceptions=True)

    async def _accepted(self, reader, writer):
        pair = None
        try:
            pair = _Pair(self, (reader, writer), await _open(self.server))
            self.pairs[pair] = asyncio.current_task()
            async with self.news:
                self.made += 1
                self.news.notify_all()
            await pair.carry()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self.pairs.pop(pair, None)
            for end in (writer, *([pair.far] if pair else [])):
                end.transport.abort()

    async def connected(self, count):
        """Wait until so many connections have come to the server."""
        async with self.news:
            await self.news.wait_for(lambda: self.made >= count)

    # ---- trouble ----

    def cut(self):
        """Both sides see the connection end."""
        for task in list(self.pairs.values()):
            task.cancel()

    def silence(self, near=False, far=False):
        """Nothing is carried any more, and neither side is told; but for the one that is named, which is cut: the
        client (`near`) or the server (`far`)."""
        for pair in list(self.pairs):
            pair.silent = True
            pair.stop()
            for end, is_cut in ((pair.near, near), (pair.far, far)):
                if is_cut:
                    end.transport.abort()

    TROUBLES = 5

    async def trouble(self, pause=0.2):
        """Each kind of trouble in turn, each once the client has come back from the one before."""
        kinds = [
            self.cut,
            lambda: self.silence(near=True),
            lambda: self.silence(far=True),
            lambda: self.silence(),
            self.cut,
        ]
        weather = itertools.cycle([(0, 0), (0.02, 0), (0, 100_000), (0.01, 200_000)])
        for kind, (self.delay, self.rate) in zip(kinds, weather, strict=False):
            await asyncio.sleep(pause)
            before = self.made
            kind()
            await self.connected(before + 1)
        self.delay = self.rate = 0
