"""The Python side of the drift (README.md): drift.py provide ADDRESS [silent], listen ADDRESS,ADDRESS…, follow ADDRESS
NAME [text], relay ADDRESS NAME [ADDRESS], place ADDRESS WORD…, work"""

import asyncio
import contextlib
import json
import os
import signal
import sys

import chordal

IMPATIENT = {"backoff_first": 200, "backoff_limit": 2000, "ping_interval": 400, "ping_timeout": 600}
PATIENT = {"backoff_first": 20, "backoff_limit": 100}
"""A worker that hears nothing of its parent ends, and another has no memory of it: on a busy machine that is not to be
for a late ping."""
EAGER = IMPATIENT | PATIENT
WORKERS, PAUSE, TICK = 3, 0.01, 0.005  # and seconds
silent = False


class Drift(chordal.Object, version=1):
    name: str
    flow = chordal.document({"tick": 0, "text": "0;", "runs": [], "marks": {}, "done": False})

    @chordal.derive("flow")
    def twice(self):
        return self.flow["tick"] * 2

    def start(self):
        self.ticking = asyncio.get_running_loop().create_task(self.tick())

    def retired(self):
        self.ticking.cancel()

    async def tick(self):
        while not self.flow["done"]:
            with self.transaction() as t:
                t.flow["tick"] += 1
                t.flow["text"] += f"{t.flow['tick']};"
            await asyncio.sleep(TICK)

    @chordal.method
    async def push(self, call, text):
        await log("push", text)
        with call.transaction() as t:
            t.flow["runs"].append(text)
        return len(self.flow["runs"])

    @chordal.method(idempotent=True)
    async def mark(self, call, text):
        await log("mark", text)
        with call.transaction() as t:
            t.flow["marks"][text] = True

    @chordal.method
    def finish(self, call):
        with call.transaction() as t:
            t.flow["done"] = True

    @chordal.method
    def fill(self, call, size):
        return "x" * size

    @chordal.method
    def digest(self, call):
        return self.host.digest(self.flow)


async def log(method, text):
    print(method, text, flush=True)
    if silent and text.startswith("late"):
        await asyncio.Event().wait()


async def provide(job, address):
    async with chordal.Host(types=[Drift], **EAGER) as host:
        if job == "listen":
            for each in address.split(","):
                server = await host.listen(each)
                print("listening", server.address, flush=True)
        else:
            await host.connect(address, offer=True).up()
            print("ready", flush=True)
        await asyncio.Event().wait()


class Follower:
    """Follows an object, calls it all the time, and counts."""

    def __init__(self, drift, name):
        self.drift, self.name = drift, name
        self.commit = self.tick = self.frames = self.snapshots = self.back = self.torn = 0
        self.outcomes = {}
        drift.flow.watch(self.see)

    def see(self, frame):
        tick, text = frame.value["tick"], frame.value["text"]
        self.frames += 1
        self.snapshots += frame.snapshot
        self.back += not frame.snapshot and (frame.commit <= self.commit or tick < self.tick)
        self.torn += not text.endswith(f";{tick};") and tick > 0
        self.commit, self.tick = frame.commit, tick

    async def call(self, method, text):
        try:
            await getattr(self.drift, method)(text)
            self.outcomes[f"{method} {text}"] = "ok"
        except chordal.ChordalError as error:
            self.outcomes[f"{method} {text}"] = error.name

    async def work(self, worker):
        number = 0
        while not self.drift.flow.value["done"]:
            await self.call("mark" if number % 3 == 2 else "push", f"{self.name}-{worker}-{number}")
            number += 1
            await asyncio.sleep(PAUSE)

    async def run(self):
        await self.drift.live()
        print("live", flush=True)
        late = [self.call(method, f"late-{self.name}") for method in ("push", "mark")]
        await asyncio.gather(*late, *(self.work(worker) for worker in range(WORKERS)))


async def follow(address, name, codec="binary"):
    async with chordal.connect(address, codec=codec, **IMPATIENT) as host:
        drift = host.get("drift", name=name)
        follower = Follower(drift, name)
        await follower.run()
        provider = await drift.digest()
        counts = {word: getattr(follower, word) for word in ("frames", "snapshots", "back", "torn", "outcomes")}
        counts |= {"digest": host.digest(drift.flow.value), "provider": provider}
        counts |= {"tick": drift.flow.value["tick"], "twice": drift.twice.value}
        print(json.dumps(counts | {"reconnects": host.counters["reconnects"]}), flush=True)


async def relay(address, name, behind=None):
    """Route what is offered here, and what is offered at another relay; told to end, say bye."""
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    async with chordal.Host(name=name, **EAGER) as host:
        if behind:
            await host.connect(behind, route_offers=True).up()
        server = await host.listen(address, offer=True, route_offers=True)
        print("listening", server.address, flush=True)
        await asyncio.Event().wait()


async def place(address, *words):
    """Offer the type at an address; its objects live in a worker, which these words start."""
    workers = []

    def where(params, host):
        if not workers:
            workers.append(host.worker(words))
        return workers[0]

    async with chordal.Host(**PATIENT) as host:
        host.place("drift", where)
        await host.connect(address, offer=True).up()
        print("ready", flush=True)
        await asyncio.Event().wait()


async def work():
    async with chordal.parent(types=[Drift], **PATIENT) as host:
        print("working", os.getpid(), flush=True)
        await host.parent().closed()


if __name__ == "__main__":
    job, *rest = sys.argv[1:]
    address, *rest = rest or [""]
    silent = rest == ["silent"]
    jobs = {"follow": follow, "relay": relay, "place": place, "work": lambda _: work()}
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(jobs[job](address, *rest) if job in jobs else provide(job, address))
