"""A worker for test_workers.py: what it does is its first argument."""

import asyncio
import os
import signal
import sys
import time

import chordal


class Board(chordal.Object, placement=lambda params, host: None):
    name: str
    list = chordal.document({"text": "", "process": 0})

    def start(self):
        with self.transaction() as t:
            t.list["process"] = os.getpid()

    @chordal.method
    def add(self, call, text):
        with call.transaction() as t:
            t.list["text"] += text
        return len(self.list["text"])

    @chordal.method(idempotent=True)
    async def slowly(self, call, seconds):
        await asyncio.sleep(seconds)
        return os.getpid()

    @chordal.method
    async def hang(self, call):
        await asyncio.sleep(3600)

    @chordal.method
    def leave(self, call):
        asyncio.get_running_loop().call_later(0.05, self.host.parent().close)

    @chordal.method
    def vanish(self, call):
        asyncio.get_running_loop().call_later(0.05, os._exit, 0)


async def serve(types, **limits):
    async with chordal.parent(types=types, **limits) as host:
        await host.parent().closed()


def main(mode):
    if mode == "crash":
        sys.exit(3)
    elif mode == "silent":
        time.sleep(60)
    elif mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("deaf", flush=True)
        time.sleep(60)
    elif mode == "bare":
        asyncio.run(serve([]))
    elif mode == "named":
        asyncio.run(serve([Board], name_low=7))
    else:
        asyncio.run(serve([Board]))


if __name__ == "__main__":
    main(sys.argv[1])
