"""The command line: serve, watch and call against each other, convert against the vectors."""

import json
import os
import subprocess

import pytest
import square
from run import joining

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
    lost, late = error.splitlines()
    assert (status, out) == (1, "") and lost.startswith("chordal: no link: ") and late.startswith("deadline: ")


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


def test_a_store_is_there_after_a_kill(tmp_path):
    store = ["--store", str(tmp_path / "board.db")]
    for number in range(1, 4):
        process = subprocess.Popen(
            [TOOL, "serve", "--listen", "ws://127.0.0.1:0", *store], stdout=subprocess.PIPE, text=True
        )
        address = process.stdout.readline().split()[1]
        assert run("call", address, *BOARD, "add", f'"note {number}"') == (0, f'"n{number}"\n', "")
        status, _, error = run("serve", "--listen", "ws://127.0.0.1:0", *store)
        assert status == 1 and "owned" in error
        process.kill()
        process.communicate()
    with square.running([TOOL, "serve", "--listen", "ws://127.0.0.1:0", *store], "the server") as listening:
        address = listening.removeprefix("listening ")
        assert run("call", address, *BOARD, "remove", '"n2"') == (0, "null\n", "")


def test_address_in_use(address):
    status, _, error = run("serve", "--listen", address)
    assert status == 1 and "(exists)" in error


@pytest.mark.parametrize("words", [[], ["nothing"], ["call"], ["watch", "a"], ["serve"], ["convert", "value"]])
def test_usage(words):
    status, out, error = run(*words)
    assert status == 2 and out == "" and error.startswith("usage: ")


@pytest.mark.parametrize("words, option", [(["serve", "--x", "1"], "--x"), (["serve", "--listen"], "--listen")])
def test_unknown_options(words, option):
    status, out, error = run(*words)
    first, second = error.splitlines()[:2]
    assert (status, out) == (2, "") and first.startswith("chordal: no such option") and first.endswith(f" {option}")
    assert second.startswith("usage: chordal serve ")


@pytest.mark.parametrize(
    "words, option",
    [(["call", "a", *BOARD, "add"], "--timeout"), (["dump", "a.db"], "--at"), (["check-holder"], "--adds")],
)
def test_options_that_are_no_numbers(words, option):
    assert run(*words, option, "5s") == (1, "", f"chordal: {option} is a number\n")


def test_durability_without_a_store():
    status, out, error = run("serve", "--listen", "ws://127.0.0.1:0", "--durability", "full")
    assert (status, out, error) == (1, "", "chordal: --durability is that of a --store\n")


def test_version():
    assert run("--version") == run("version") and '"abi":' in run("--version")[1]


# ---- convert ----


def vectors(family):
    for path in sorted((ROOT / "tests" / "vectors" / family).glob("accept_*.json")):
        yield from json.loads(path.read_text())["cases"]


def converted(kind, form, lines):
    status, out, error = run("convert", kind, form, text="".join(f"{line}\n" for line in lines))
    assert status == 0, error
    return out.removesuffix("\n").split("\n")


def forms(cases, binary, text):
    """Pairs of a binary form and its text, and of a text on one line and its binary, of all forms of the cases."""
    from_binary = [(one, case[text]) for case in cases for one in [case[binary], *case.get(f"also_{binary}", [])]]
    from_text = [(one, case[binary]) for case in cases for one in [case[text], *case.get(f"also_{text}", [])]]
    return from_binary, [pair for pair in from_text if "\n" not in pair[0]]


@pytest.mark.parametrize("family, kind, binary", [("values", "value", "packed"), ("ops", "ops", "binary")])
def test_convert(family, kind, binary):
    from_binary, from_text = forms([case for case in vectors(family) if "json" in case], binary, "json")
    assert len(from_binary) > 10 and len(from_text) > 10
    assert converted(kind, "binary", [one for one, _ in from_binary]) == [text for _, text in from_binary]
    assert converted(kind, "json", [one for one, _ in from_text]) == [data for _, data in from_text]


def test_convert_messages():
    cases = [case for case in vectors("messages") if "text" in case and not case.get("unknown")]
    assert len(cases) > 20
    for case in cases:  # each on a link of its own: an origin is named when it changes
        current = case.get("current", 0)
        before = [f'[{current},"lost"]'] if current else []
        binary = converted("message", "json", before) if current else []
        frames = [case["text"], *case.get("frames", [])]
        assert converted("message", "binary", [*binary, case["binary"]]) == [*before, *frames]
        others = [text for text in case.get("also_text", []) if text.startswith("[") and "\n" not in text]
        for text in [case["text"], *others]:
            assert converted("message", "json", [*before, text, *frames[1:]]) == [*binary, case["binary"]]


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


@pytest.mark.parametrize("language", ["Python", "Node"])
def test_joining_by_the_lines_that_the_demo_prints(language):
    with square.running([TOOL, "serve", "--listen", "ws://127.0.0.1:0"], "the server") as listening:
        lines = joining(listening.removeprefix("listening ")).splitlines()
        (line,) = [line.split(maxsplit=1)[1] for line in lines if language in line]
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(line.split(), input="typed\n", capture_output=True, text=True, timeout=30, env=plain)
        assert (done.returncode, done.stderr) == (0, "") and f"hello from {language}, typed]" in done.stdout
