"""What the tests share: types to provide, and a loop for each test with a bound on its time."""

import asyncio
import contextlib
import gc
import inspect

import chordal
import pytest


class Notes(chordal.Object, version=1):
    board: str
    list = chordal.document({"entries": []})
    title = chordal.document("")

    @chordal.derive("list", "title")
    def summary(self):
        return f"{self.title}: {len(self.list['entries'])}"

    @chordal.derive("summary")
    def loud(self):
        return self.summary.upper() + "!"

    @chordal.method
    def add(self, call, text):
        with call.transaction() as t:
            number = len(t.list["entries"]) + 1
            t.list["entries"].append({"id": number, "text": text})
        return number

    @chordal.method
    async def later(self, call, text, seconds=0.01):
        await asyncio.sleep(seconds)
        return self.add(call, text)

    @chordal.method
    def rename(self, call, title):
        with call.transaction() as t:
            t.title = title

    @chordal.method
    def say(self, call, token):
        with call.transaction() as t:
            t.title += token

    @chordal.method
    def echo(self, call, *values):
        return list(values) if len(values) != 1 else values[0]

    @chordal.method
    def refuse(self, call, name, message):
        raise chordal.MethodError(name, message)

    @chordal.method
    def crash(self, call):
        raise ZeroDivisionError("secret words")

    @chordal.method
    def half(self, call):
        with call.transaction() as t:
            t.title = "half"
            raise chordal.MethodError("half", "done")

    @chordal.method
    async def never(self, call):
        await call.cancelled.wait()
        raise chordal.MethodError("told", "that nobody waits")

    @chordal.method
    async def forever(self, call):
        await asyncio.Event().wait()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """An async test runs in a loop of its own, for 20 seconds at most; what a loop reports is a failure."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    reported = []

    async def run():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))
        await asyncio.wait_for(pyfuncitem.obj(**arguments), 20)

    asyncio.run(run())
    gc.collect()
    expected = [mark.args[0] for mark in pyfuncitem.iter_markers("reports")]
    assert [str(context.get("exception")) for context in reported] == expected
    return True


def pytest_configure(config):
    config.addinivalue_line("markers", "reports(text): an exception that the test's loop is to be told of")


async def turns(count=5):
    """Let the loop go round."""
    for _ in range(count):
        await asyncio.sleep(0)


async def until(condition, seconds=5):
    """Wait until something is so."""
    async with asyncio.timeout(seconds) if hasattr(asyncio, "timeout") else contextlib.nullcontext():
        while not condition():
            await asyncio.sleep(0.001)
