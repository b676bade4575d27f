"""Workers: real processes that serve placed objects, and what becomes of them."""

import asyncio
import os
import pathlib
import signal
import sys
import tempfile

import chordal
import pytest
from conftest import until
from worker_program import Board

PROGRAM = str(pathlib.Path(__file__).with_name("worker_program.py"))


def command(mode):
    return [sys.executable, PROGRAM, mode]


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


class World:
    """A server that places boards, and one who holds them there."""

    def __init__(self, mode="serve", **options):
        self.mode, self.options = mode, {"backoff_first": 0.01, **options}
        self.questions = []
        self.worker = None

    def place(self, params, host):
        self.questions.append(params["name"])
        if self.worker is None or self.worker.gone:
            self.worker = host.worker(command(self.mode), **self.options)
        return self.worker

    async def __aenter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = chordal.Host(backoff_first=20, backoff_limit=100)
        self.server.place(Board, self.place)
        address = f"ipc:{self.folder.name}/socket"
        await self.server.listen(address)
        self.holder = chordal.connect(address, backoff_first=20, backoff_limit=100)
        return self

    async def __aexit__(self, *_):
        pid = self.worker.pid if self.worker is not None else None
        await self.holder.close()
        await self.server.close()
        self.folder.cleanup()
        assert pid is None or is_gone(pid)


async def test_a_worker_serves_and_stops():
    async with World(types=[Board]) as world:
        board = world.holder.get(Board, name="a")
        await board.live()
        assert [await board.add("x") for _ in range(20)] == list(range(1, 21))
        worker = await world.worker.ready()
        assert board.list.value == {"text": "x" * 20, "process": worker.pid}
        other = world.server.get(Board, name="b")  # the server's own
        await other.live()
        assert await other.add("y") == 1
        counters = world.server.counters
        assert world.questions == ["a", "b"]
        assert counters["questions"] == 2
        assert counters["live_objects"] == 0
        assert counters["parts_forwarded"] > 40
        pid = worker.pid
        await worker.stop()
        assert (worker.state, worker.exit_code, worker.error, worker.pid) == ("ended", 0, None, None)
        assert is_gone(pid)
        await board.live()  # another was started
        assert board.list.value["process"] == world.worker.pid != pid


@pytest.mark.parametrize("mode", ["serve", "named"])
async def test_it_is_killed_under_its_holders(mode):
    async with World(mode) as world:
        board = world.holder.get(Board, name="a")
        await board.live()
        await board.add("before")
        first = world.worker.pid
        hung, repeated = asyncio.ensure_future(board.hang()), asyncio.ensure_future(board.slowly(0.2))
        await asyncio.sleep(0.1)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(chordal.OutcomeUnknown):
            await hung
        assert await repeated == world.worker.pid != first  # it ran again, in the next process
        assert board.list.value == {"text": "", "process": world.worker.pid}
        assert world.worker.exit_code == -signal.SIGKILL
        assert len(world.questions) == 2
        assert await board.add("after") == 5


async def test_it_leaves_and_another_comes():
    async with World() as world:
        board = world.holder.get(Board, name="a")
        await board.live()
        first = world.worker
        await board.leave()
        await first.ended()
        assert (first.exit_code, first.error) == (0, None)
        await until(lambda: world.worker is not first)
        await board.live()
        assert board.list.value["process"] == world.worker.pid


async def test_it_vanishes():
    """Without a bye it may only have lost its parent: it is started again."""
    async with World() as world:
        board = world.holder.get(Board, name="a")
        await board.live()
        first, pid = world.worker, world.worker.pid
        await board.vanish()
        await until(lambda: first.pid not in (pid, None))
        await board.live()
        assert world.worker is first
        assert (first.exit_code, first.error, first._failures) == (0, None, 1)
        assert board.list.value["process"] == first.pid


async def test_it_loses_its_parent():
    """It is silent for too long, and ends with 0 when it hears that its parent let it go."""
    async with World() as world:
        await world.server.close()
        world.server = chordal.Host(backoff_first=20, backoff_limit=100, ping_interval=300, ping_timeout=300)
        world.server.place(Board, world.place)
        await world.server.listen(f"ipc:{world.folder.name}/socket")
        board = world.holder.get(Board, name="a")
        await board.live()
        first, pid = world.worker, world.worker.pid
        os.kill(pid, signal.SIGSTOP)
        await until(lambda: first.state == "starting")
        os.kill(pid, signal.SIGCONT)
        await until(lambda: first.pid not in (pid, None))
        await board.live()
        assert world.worker is first
        assert (first.exit_code, first.error, first._failures) == (0, None, 1)


@pytest.mark.parametrize(("mode", "exit_code"), [("silent", -signal.SIGTERM), ("crash", 3), ("bare", None)])
async def test_it_never_gets_ready(mode, exit_code):
    options = {"start_timeout": 1.5} if mode != "crash" else {}
    async with World(mode, types=["board"], restarts=0, **options) as world:
        worker = world.server.worker(command(mode), **{**world.options, "restarts": 0})
        with pytest.raises(chordal.ChordalError) as caught:
            await worker.ready()
        assert caught.value.name == "limit"
        await worker.ended()
        if exit_code is not None:
            assert worker.exit_code == exit_code
        assert worker.pid is None


async def test_a_crash_is_tried_again_and_told():
    async with World("crash", restarts=2) as world:
        board = world.holder.get(Board, name="a")
        with pytest.raises(chordal.ChordalError) as caught:
            await board.live()
        assert caught.value.name == "no_route"
        await world.worker.ended()
        assert (world.worker._failures, world.worker.error.name) == (3, "limit")


async def test_there_is_no_such_program():
    async with chordal.Host() as host:
        worker = host.worker(["/no/such/program"])
        with pytest.raises(chordal.ChordalError) as caught:
            await worker.ready()
        assert caught.value.name == "invalid"
        with pytest.raises(chordal.ChordalError):
            host.worker("a line for a shell")


async def test_one_that_is_stubborn_is_killed():
    async with chordal.Host() as host:
        worker = host.worker(command("stubborn"), stop_timeout=0.1, kill_timeout=0.1, stdout=asyncio.subprocess.PIPE)
        await until(lambda: worker._process is not None)
        await worker._process.stdout.readline()
        pid = worker.pid
        await worker.stop()
        assert worker.exit_code == -signal.SIGKILL
        assert is_gone(pid)


async def test_a_host_that_closes_leaves_nobody_behind():
    pids = []
    async with chordal.Host() as host:
        ready = await host.worker(command("serve")).ready()
        pids.append(ready.pid)
        early = host.worker(command("silent"), stop_timeout=0.1)
        await until(lambda: early.pid is not None)
        pids.append(early.pid)
        host.worker(command("serve"))
    assert all(is_gone(pid) for pid in pids)


async def test_a_placement_that_fails_is_told():
    answers = iter([chordal.MethodError("full", "no room"), ValueError("secret"), "no link"])

    async def place(params, host):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    class Elsewhere(chordal.Object, placement=place):
        pass

    async with chordal.Host(types=[Elsewhere]) as host:
        assert host.counters["live_objects"] == 0
        reference = host.get(Elsewhere)
        with pytest.raises(chordal.ChordalError) as caught:
            await reference.live()
        assert caught.value.detail == "no room"
        for _ in range(2):
            reference.retry()
            with pytest.raises(chordal.ChordalError) as caught:
                await reference.live()
            assert caught.value.detail == "the provider failed"
        with pytest.raises(chordal.ChordalError) as caught:
            host.place(Elsewhere)
        assert caught.value.name == "exists"
        with pytest.raises(chordal.ChordalError) as caught:
            host.place("unplaced")
        assert caught.value.name == "invalid"


async def test_an_object_behind_another_host():
    """A placement may answer any link."""
    with tempfile.TemporaryDirectory() as folder:
        async with chordal.Host(types=[Board], placed=False) as far, chordal.Host() as server:
            await far.listen(f"ipc:{folder}/far")
            link = server.connect(f"ipc:{folder}/far", route_offers=True)
            server.place(Board, lambda params, host: link)
            await server.listen(f"ipc:{folder}/near")
            async with chordal.connect(f"ipc:{folder}/near") as holder:
                board = holder.get(Board, name="a")
                await board.live()
                assert await board.add("x") == 1


async def test_no_host_started_this_process():
    for number in ("", "x", "-1", "999999"):
        os.environ["CHORDAL_PARENT"] = number
        try:
            with pytest.raises(chordal.ChordalError) as caught:
                chordal.parent()
            assert caught.value.name == "state"
        finally:
            os.environ.pop("CHORDAL_PARENT", None)
