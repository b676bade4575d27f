"""The drift (README.md): sessions outlive their transports, in every runtime, whatever happens to these."""

import asyncio
import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import uuid

import chordal
import pytest
import square
from drift import IMPATIENT
from proxy import Proxy

HERE, ROOT = square.HERE, square.ROOT
NODE = ["node", HERE / "drift_node.mjs"]
PYTHON = [sys.executable, HERE / "drift.py"]
RUNTIMES = ("c", "python", "node", "tab")
LISTENING = RUNTIMES[:3]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return square.page_folder(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """The command of each runtime; C is built from the libraries and parts of the tool."""
    target = tmp_path_factory.mktemp("c") / "drift"
    tool = [ROOT / "core" / "tool" / f"{name}.c" for name in ("program", "text", "options", "request", "target")]
    library = ROOT / "build" / "release"
    paths = [f"-I{ROOT / 'core'}", f"-I{ROOT / 'core' / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}"]
    libraries = ["-lchordal_uv", "-lchordal", "-luv"]
    words = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror", HERE / "drift.c", *tool, *paths, *libraries]
    subprocess.run([*map(str, words), "-o", target], check=True)
    return {"c": [target], "python": PYTHON, "node": NODE, "tab": ["node", HERE / "tab.mjs"]}


# ---- processes ----


class Process:
    """A process and the lines that it says."""

    def __init__(self, words):
        self.words = [str(word) for word in words]
        self.lines = []
        self.news = asyncio.Condition()

    async def __aenter__(self):
        self.process = await asyncio.create_subprocess_exec(
            *self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=square.ENVIRONMENT, limit=1 << 20
        )
        self.reading = asyncio.create_task(self.read())
        return self

    async def read(self):
        async for line in self.process.stdout:
            async with self.news:
                self.lines.append(line.decode().strip())
                self.news.notify_all()
        async with self.news:
            self.lines.append("")  # the end
            self.news.notify_all()

    async def line(self, start, after=0):
        """The first line that begins so, behind so many."""
        found = None

        def seen():
            nonlocal found
            found = next((line for line in self.lines[after:] if line.startswith(start)), None)
            return found is not None or "" in self.lines

        async with self.news:
            await asyncio.wait_for(self.news.wait_for(seen), square.TIMEOUT)
        if found is None:
            raise RuntimeError(f"{self.words} ended without {start}")
        return found

    async def say(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        await self.process.stdin.drain()

    async def __aexit__(self, *_):
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.terminate()
            try:
                await asyncio.wait_for(self.process.wait(), 10)
            except asyncio.TimeoutError:
                self.process.kill()
        await self.process.wait()
        await self.reading


def provider_words(programs, runtime, address, *rest):
    return [*programs[runtime], "provide_drift" if runtime == "tab" else "provide", address, *rest]


def runs_of(processes, call):
    return sum(line == call for process in processes for line in process.lines)


def check(report, providers, *, lives=1, heard=True):
    """Nothing was lost, nothing came twice, nothing went back. Of `lives` of the provider each began without memory.
    `heard`: all that ran was told; a page's last lines go with it."""
    assert (report["snapshots"], report["back"], report["torn"]) == (lives, 0, 0), report
    assert report["digest"] == report["provider"] and report["twice"] == 2 * report["tick"]
    assert len(report["outcomes"]) > 20 and report["frames"] > 20
    for call, outcome in report["outcomes"].items():
        runs = runs_of(providers, call)
        if outcome == "outcome_unknown" and lives > 1 and call.startswith("push"):
            assert runs <= 1, call
        else:
            assert outcome == "ok", (call, outcome)
            assert heard <= runs <= (lives if call.startswith("mark") else 1), (call, runs)


async def told(report, providers):
    """Until the calls are told that came back: a page's lines come late."""
    for call, outcome in report["outcomes"].items():
        while outcome == "ok" and not runs_of(providers, call):
            await asyncio.sleep(0.01)


def place_of(address):
    return address.removeprefix("ws://").removeprefix("ipc:").rstrip("/")


@contextlib.asynccontextmanager
async def held(address, names):
    """The objects, held by this process too, from when they are there."""
    async with chordal.connect(address, **IMPATIENT) as host:
        yield {name: await host.get("drift", name=name).live() for name in names}


async def reports_of(objects, followers):
    """Let the objects come to rest, so that their followers do."""
    for drift in objects.values():
        await drift.finish()
    return {name: json.loads(await process.line("{")) for name, process in followers.items()}


async def start_followers(enter, programs, addresses, *options):
    followers = {}
    for name, address in addresses.items():
        followers[name] = await enter(Process([*programs[name.split("-")[0]], "follow", address, name, *options]))
    for follower in followers.values():
        await follower.line("live")
    return followers


def run(test):
    asyncio.run(asyncio.wait_for(test, 2 * square.TIMEOUT))


# ---- the square, in trouble ----


def serving(folder, listen="ws://127.0.0.1:0", name=None):
    """A server, which routes what is offered to it."""
    named = ["--name", name] if name else []
    return Process([square.TOOL, "serve", "--listen", listen, "--page", folder, *named])


async def reached(process, number=0):
    """An address of a process that listens."""
    await process.line("listening")
    while True:
        lines = [line.removeprefix("listening ") for line in process.lines if line.startswith("listening")]
        if len(lines) > number:
            return lines[number]
        await asyncio.sleep(0.01)


async def row(programs, folder, provider):
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        address = await reached(await enter(serving(folder)))
        behind = await enter(Proxy(place_of(address)))
        providing = await enter(Process(provider_words(programs, provider, f"ws://{behind.place}")))
        await providing.line("ready")
        proxies = {runtime: await enter(Proxy(place_of(address))) for runtime in RUNTIMES}
        places = {runtime: f"ws://{proxy.place}" for runtime, proxy in proxies.items()}
        followers = await start_followers(enter, programs, places)
        objects = await enter(held(address, followers))
        await asyncio.gather(*(proxy.trouble() for proxy in proxies.values()))
        before = behind.made
        behind.cut()
        await behind.connected(before + 1)
        for name, report in (await reports_of(objects, followers)).items():
            check(report, [providing])
            assert report["reconnects"] >= Proxy.TROUBLES, (name, report["reconnects"])
            assert objects[name].flow.value["tick"] == report["tick"]


@pytest.mark.parametrize("provider", RUNTIMES)
def test_square(programs, folder, provider):
    run(row(programs, folder, provider))


async def direct(programs, provider, folder):
    """Without a server between: sessions over pipes, and over WebSockets in text."""
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        words = [*programs[provider], "listen", f"ipc:{folder}/provider,ws://127.0.0.1:0"]
        providing = await enter(Process(words))
        pipe, web = [await reached(providing, number) for number in range(2)]
        proxies = [await enter(Proxy(place_of(address))) for address in (pipe, pipe, pipe, web, web)]
        names = ["c", "python", "node", "python-text", "node-text"]
        for name, proxy in zip(names[:3], proxies, strict=False):
            await proxy.at(f"{folder}/{name}")
        pipes = {name: f"ipc:{folder}/{name}" for name in names[:3]}
        texts = {name: f"ws://{proxy.place}" for name, proxy in zip(names[3:], proxies[3:], strict=True)}
        followers = await start_followers(enter, programs, pipes)
        followers |= await start_followers(enter, programs, texts, "text")
        objects = await enter(held(web, followers))
        await asyncio.gather(*(proxy.trouble() for proxy in proxies))
        for report in (await reports_of(objects, followers)).values():
            check(report, [providing])
            assert report["reconnects"] >= Proxy.TROUBLES


async def all_direct(programs, folder):
    tests = []
    for provider in LISTENING:
        (folder / provider).mkdir()
        tests.append(direct(programs, provider, folder / provider))
    await asyncio.gather(*tests)


def test_direct(programs, tmp_path):
    run(all_direct(programs, tmp_path))


# ---- a reader that takes nothing ----


def established(server, client):
    """Whether the server's side of a connection on this machine still stands."""
    wanted = f":{server:04X}", f":{client:04X}", "01"
    with open("/proc/net/tcp") as table:
        rows = [line.split()[1:4] for line in table]
    return any(all(map(str.endswith, row, wanted)) for row in rows)


async def stuck(programs, provider):
    """More waits for it than fits anywhere: it is let go all the same, at both ends."""
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        address = await reached(await enter(Process([*programs[provider], "listen", "ws://127.0.0.1:0"])))
        proxy = await enter(Proxy(place_of(address)))
        drift = (await enter(held(f"ws://{proxy.place}", ["stuck"])))["stuck"]
        proxy.rate = 1_000_000
        filled = asyncio.ensure_future(drift.fill(8 << 20))
        while proxy.carried < 300_000:
            await asyncio.sleep(0.01)
        (pair,) = proxy.pairs
        ports = [pair.far.get_extra_info(name)[1] for name in ("peername", "sockname")]
        assert established(*ports)
        proxy.silence()
        proxy.rate = 0
        assert len(await filled) == 8 << 20  # sent again, over another connection
        while established(*ports):
            await asyncio.sleep(0.05)


async def all_stuck(programs):
    await asyncio.gather(*(stuck(programs, provider) for provider in LISTENING))


def test_a_reader_that_takes_nothing_is_let_go(programs):
    run(all_stuck(programs))


# ---- processes that end ----


async def provider_killed(programs, folder, before, after):
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        address = await reached(await enter(serving(folder)))
        first = await enter(Process(provider_words(programs, before, address, "silent")))
        await first.line("ready")
        followers = await start_followers(enter, programs, dict.fromkeys(RUNTIMES, address))
        objects = await enter(held(address, followers))
        for name in followers:
            await first.line(f"push late-{name}")
            await first.line(f"mark late-{name}")
            await first.line(f"push {name}-0-9")
        second = Process(provider_words(programs, after, address))
        if after != "c":  # it takes its time: nobody would have the type meanwhile
            await enter(second)
            await second.line("ready")
        first.process.kill()
        if after == "c":
            await enter(second)
        for name in followers:  # they went on, and are where the first ones had not come yet
            await second.line(f"push {name}-")
            await second.line(f"mark late-{name}")
        for name, report in (await reports_of(objects, followers)).items():
            if before != "tab":
                await told(report, [first, second])
            check(report, [first, second], lives=2, heard=before != "tab")
            assert report["outcomes"][f"push late-{name}"] == "outcome_unknown"
            assert report["outcomes"][f"mark late-{name}"] == "ok"
            assert runs_of([second], f"push late-{name}") == 0


@pytest.mark.parametrize("before, after", [("python", "c"), ("c", "node"), ("node", "tab"), ("tab", "python")])
def test_a_provider_killed_and_started_without_memory(programs, folder, before, after):
    run(provider_killed(programs, folder, before, after))


LIVES = 3


async def worker_killed(programs, folder, placing, worker):
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        address = await reached(await enter(serving(folder)))
        words = [*programs[placing], "place", address, *programs[worker], "work"]
        server = await enter(Process(words))
        await server.line("ready")
        followers = await start_followers(enter, programs, dict.fromkeys(RUNTIMES, address))
        objects = await enter(held(address, followers))
        working = await server.line("working")
        for _ in range(1, LIVES):
            await asyncio.sleep(0.3)
            os.kill(int(working.split()[1]), signal.SIGKILL)
            working = await server.line("working", server.lines.index(working) + 1)
            for name in followers:  # they are where it is
                await server.line(f"push {name}-", server.lines.index(working))
        for report in (await reports_of(objects, followers)).values():
            check(report, [server], lives=LIVES)


@pytest.mark.parametrize("placing, worker", [("c", "node"), ("python", "c"), ("node", "python")])
def test_a_worker_killed_under_its_holders(programs, folder, placing, worker):
    run(worker_killed(programs, folder, placing, worker))


STOPS = (signal.SIGKILL, signal.SIGTERM)
"""Without a word, and with a bye: the sessions that pass through a host come back either way."""


async def relay_stopped(enter, programs, address, relay, again, runtimes, stop):
    """`again` makes the relay anew; the sessions go on through it."""
    providing = await enter(Process([*programs["node"], "provide", address[0]]))
    await providing.line("ready")
    followers = await start_followers(enter, programs, dict.fromkeys(runtimes, address[1]))
    objects = await enter(held(address[1], followers))
    for _ in range(2):
        await asyncio.sleep(0.3)
        relay.process.send_signal(stop)
        await relay.process.wait()
        relay = await enter(again())
        await relay.line("listening")
        seen = len(providing.lines)
        while len(providing.lines) < seen + 20:  # they have come through it
            await asyncio.sleep(0.01)
    for report in (await reports_of(objects, followers)).values():
        check(report, [providing])


async def server_stopped(programs, folder, stop):
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        name = str(uuid.uuid4())
        server = await enter(serving(folder, name=name))
        address = await reached(server)
        again = functools.partial(serving, folder, address, name)
        await relay_stopped(enter, programs, (address, address), server, again, RUNTIMES, stop)


@pytest.mark.parametrize("stop", STOPS)
def test_a_server_stopped_under_its_sessions(programs, folder, stop):
    run(server_stopped(programs, folder, stop))


async def node_stopped(programs, stop):
    async with contextlib.AsyncExitStack() as stack:
        words = [*NODE, "relay", "ws://127.0.0.1:0", str(uuid.uuid4())]
        relay = await stack.enter_async_context(Process(words))
        address = words[-2] = await reached(relay)
        addresses = (address, address)
        await relay_stopped(
            stack.enter_async_context, programs, addresses, relay, lambda: Process(words), LISTENING, stop
        )


@pytest.mark.parametrize("stop", STOPS)
def test_a_relay_in_node_stopped_under_its_sessions(programs, stop):
    run(node_stopped(programs, stop))


async def hop_stopped(programs, stopped, stop):
    """Two relays in a row, known to each other by lasting names."""
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        names = [str(uuid.uuid4()) for _ in range(2)]
        words = [*PYTHON, "relay", "ws://127.0.0.1:0", names[0]]
        far = await enter(Process(words))
        words[-2] = await reached(far)
        words_near = [*PYTHON, "relay", "ws://127.0.0.1:0", names[1], words[-2]]
        near = await enter(Process(words_near))
        words_near[-3] = await reached(near)
        relay, again = (near, words_near) if stopped == "near" else (far, words)
        address = (words[-2], words_near[-3])
        await relay_stopped(enter, programs, address, relay, lambda: Process(again), LISTENING, stop)


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("stopped", ["near", "far"])
def test_a_relay_stopped_under_its_sessions(programs, stopped, stop):
    run(hop_stopped(programs, stopped, stop))


async def server_ended(programs, folder):
    """One that is told to end says bye."""
    addresses = [f"ipc:{folder}/socket", "ws://127.0.0.1:0"]
    waits = {"backoff_first": 3_600_000, "backoff_limit": 3_600_000}
    async with Process([*programs["c"], "listen", ",".join(addresses)]) as server, chordal.Host(**waits) as host:
        links = [await host.connect(await reached(server, number)).up() for number in range(2)]
        server.process.terminate()
        await server.process.wait()
        while any(link.state == "up" for link in links):
            await asyncio.sleep(0.01)
        assert [link.error.name for link in links] == ["bye", "bye"]


def test_a_program_in_c_says_bye(programs, tmp_path):
    run(server_ended(programs, tmp_path))


# ---- a tab without network ----


async def tab_offline(programs, folder):
    """The tab would wait for an hour, if it were not told that the network is there again."""
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        address = await reached(await enter(serving(folder)))
        providing = await enter(Process([*programs["node"], "provide", address]))
        await providing.line("ready")
        proxy = await enter(Proxy(place_of(address)))
        tab = await enter(Process([*programs["tab"], "wait", f"ws://{proxy.place}", "tab"]))
        await tab.line("live")
        objects = await enter(held(address, ["tab"]))
        for _ in range(3):
            await asyncio.sleep(0.3)
            await tab.say("offline")
            await asyncio.sleep(0.2)
            proxy.cut()
            before = proxy.made
            await asyncio.sleep(0.3)
            assert proxy.made == before
            await tab.say("online")
            await proxy.connected(before + 1)
        report = (await reports_of(objects, {"tab": tab}))["tab"]
        check(report, [providing])
        assert report["reconnects"] == 3


def test_a_tab_offline_and_back(programs, folder):
    run(tab_offline(programs, folder))
