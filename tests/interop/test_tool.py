"""The command line: serve, watch and call against each other, convert against the vectors."""

import json
import subprocess

import pytest
import square

ROOT, TOOL = square.ROOT, str(square.TOOL)
BOARD = ["board", "name=lunch"]


def run(*words, text=""):
    """Exit code, standard output and standard error."""
    done = subprocess.run([TOOL, *words], input=text, capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def pipe(tmp_path_factory):
    return f"ipc:{tmp_path_factory.mktemp('pipe')}/socket"


@pytest.fixture(scope="module", params=["ws", "pipe"])
def address(request, pipe):
    where = "ws://127.0.0.1:0" if request.param == "ws" else pipe
    with square.running([TOOL, "serve", "--listen", where], "the server") as listening:
        yield listening.removeprefix("listening ")


def test_call(address):
    assert run("call", address, "board", "name=calls", "add", '"milk"') == (0, '"n1"\n', "")
    assert run("call", address, "board", 'name:="calls"', "edit", '"n1"', '"oat \\u00e9"') == (0, "null\n", "")
    code, out, error = run("call", address, "board", "name=calls", "remove", '"n9"')
    assert (code, out, error) == (1, "", "no_note: there is no note with this id\n")


@pytest.mark.parametrize(
    "words, code",
    [
        (["board", "name=x", "nothing"], "no_member"),
        (["board", "other=x", "add", '"a"'], "params"),
        (["nothing", "name=x", "add"], "no_type"),
        (["board", "name=x", "add"], "arguments"),
        (["board", "name=x", "add", "5"], "arguments"),
        (["board", "name=x", "add", '"a'], "truncated"),
        (["board", "name:={", "add", '"a"'], "truncated"),
    ],
)
def test_refused_calls(address, words, code):
    status, out, error = run("call", address, *words)
    assert status == 1 and out == "" and code in error


def test_nobody_there():
    status, out, error = run("call", "ws://127.0.0.1:1", *BOARD, "add", '"a"', "--timeout", "200")
    assert (status, out) == (1, "") and error.startswith("deadline")


def test_watch(address):
    watcher = subprocess.Popen(
        [TOOL, "watch", address, *BOARD], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lines = [json.loads(watcher.stdout.readline()) for _ in range(2)]
    assert lines == [{"board": {"notes": [], "text": ""}}, {"count": 0}]
    assert run("call", address, *BOARD, "add", '"milk"')[0] == 0
    lines = [json.loads(watcher.stdout.readline()) for _ in range(2)]
    assert lines == [{"board": {"notes": [{"id": "n1", "text": "milk"}], "text": ""}}, {"count": 1}]
    watcher.terminate()
    assert watcher.wait(10) == 0
    assert watcher.stderr.read() == "live\n"
    watcher.stdout.close()
    watcher.stderr.close()


def test_address_in_use(address):
    status, _, error = run("serve", "--listen", address)
    assert status == 1 and "(exists)" in error


@pytest.mark.parametrize(
    "words", [[], ["nothing"], ["call"], ["watch", "a"], ["serve"], ["convert", "value"], ["serve", "--x"]]
)
def test_usage(words):
    status, out, error = run(*words)
    assert status == 2 and out == "" and error.startswith("usage: ")


# ---- convert ----


def vectors(family):
    for path in sorted((ROOT / "tests" / "vectors" / family).glob("accept_*.json")):
        yield from json.loads(path.read_text())["cases"]


def converted(kind, form, lines):
    status, out, error = run("convert", kind, form, text="".join(f"{line}\n" for line in lines))
    assert status == 0, error
    return out.removesuffix("\n").split("\n")


def test_convert_values():
    cases = [case for case in vectors("values") if "json" in case and "\n" not in case["json"]]
    assert len(cases) > 20
    packed = [case["packed"] for case in cases]
    assert converted("value", "binary", packed) == [case["json"] for case in cases]
    assert converted("value", "json", [case["json"] for case in cases]) == packed


def test_convert_ops():
    cases = [case for case in vectors("ops") if "json" in case]
    assert len(cases) > 10
    assert converted("ops", "binary", [case["binary"] for case in cases]) == [case["json"] for case in cases]
    assert converted("ops", "json", [case["json"] for case in cases]) == [case["binary"] for case in cases]


def test_convert_messages():
    cases = [case for case in vectors("messages") if "text" in case and not case.get("current")]
    cases = [case for case in cases if not case.get("unknown")]
    assert len(cases) > 20
    for case in cases:  # each on a link of its own: an origin is named when it changes
        frames = [case["text"], *case.get("frames", [])]
        assert converted("message", "binary", [case["binary"]]) == frames
        assert converted("message", "json", frames) == [case["binary"]]


@pytest.mark.parametrize(
    "kind, form, line",
    [
        ("value", "json", "{"),
        ("value", "binary", "c1"),
        ("value", "binary", "zz"),
        ("value", "json", "1 2"),
        ("ops", "binary", "ff"),
        ("message", "binary", "ff"),
        ("message", "json", "[]"),
    ],
)
def test_convert_faults(kind, form, line):
    status, out, error = run("convert", kind, form, text=f"{line}\n")
    assert status == 1 and out == "" and error
