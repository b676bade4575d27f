"""Parts of 1 MiB between runtimes, that shrink and that do not, in both codecs; through a host in the middle."""

import json
import subprocess
import sys

import pytest
import square

PROGRAMS = {"python": [sys.executable, square.HERE / "large.py"], "node": ["node", square.HERE / "large.mjs"]}
MEGABYTE = 1 << 20


def report(*command):
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=60, cwd=square.ROOT, env=square.ENVIRONMENT)
    return json.loads(done.stdout)


@pytest.mark.parametrize("codec", ["binary", "text"])
@pytest.mark.parametrize("holder", PROGRAMS)
@pytest.mark.parametrize("provider", PROGRAMS)
def test_large_parts(provider, holder, codec):
    with square.running([*PROGRAMS[provider], "provide"], "the provider") as address:
        told = report(*PROGRAMS[holder], "hold", address, codec)
    assert told["same"]
    assert told["deflates"] == 3  # a text, and bytes that shrink and that do not
    assert told["inflates"] == 2  # the text, and the bytes that shrink
    for way in ("bytes_in", "bytes_out"):
        assert MEGABYTE < told[way] < MEGABYTE * 1.05  # those that do not


@pytest.mark.parametrize("holder", PROGRAMS)
def test_from_c_through_a_host_in_the_middle(holder):
    serve = [square.TOOL, "serve", "--listen", "ws://127.0.0.1:0"]
    with square.running(serve, "the server") as listening:
        address = listening.removeprefix("listening ")
        with square.running([square.TOOL, "provide", address], "the provider in C"):
            told = report(*PROGRAMS[holder], "say", address)
    assert told["same"]
    assert (told["deflates"], told["inflates"]) == (1, 1)
    assert told["bytes_in"] + told["bytes_out"] < MEGABYTE / 10
