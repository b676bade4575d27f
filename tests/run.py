"""Run the tests, stage by stage in order of cost, and end with the line `N passed, N failed`.

A stage names what must be built and which programs it has; a program says itself how many tests it ran, in the words
of tests/check.h, pytest, or Node's test runner. A name on the command line picks the programs whose stage/name
contains it.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "logs" / "tests"
QUICK, FULL, DEEP = 0, 1, 2
PYTHON_TESTS = ("python/tests/test_*.py", "tests/python/test_*.py")


@dataclass
class Program:
    name: str
    command: list
    timeout: int = 300


@dataclass
class Stage:
    name: str
    depth: int
    builds: list
    programs: Callable  # after the builds
    together: bool = True  # may run beside another


def files(pattern):
    return sorted(ROOT.glob(pattern))


def c_programs(build, *folders, before=(), but=()):
    """The C test programs of some folders, known by their sources so that they can be named before they are built. A
    driver.c is one that a Python test asks."""

    def programs():
        for folder in folders:
            for source in files(f"tests/{folder}/*.c"):
                name = f"{folder}_{source.stem}"
                if source.stem == "driver" or name in but:
                    continue
                yield Program(name, [*before, ROOT / "build" / build / "tests" / name])

    return programs


def python_programs(*patterns, command=("-m", "pytest", "-q")):
    def programs():
        for pattern in patterns:
            for path in files(pattern):
                yield Program(path.stem, [sys.executable, *command, path])

    return programs


def sanitized_python():
    """The Python tests over the module with the sanitizers, and with the C library's allocator, which they watch. The
    interpreter itself is without them: it keeps what it has until it ends, so leaks are not looked for."""
    asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    settings = {
        "LD_PRELOAD": asan,
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": ROOT / "build" / "sanitize-python" / "python",
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    environment = ["env", *(f"{name}={value}" for name, value in settings.items())]
    for program in python_programs(*PYTHON_TESTS)():
        yield Program(program.name, [*environment, *program.command], 1200)


def node_programs(*patterns):
    def programs():
        for pattern in patterns:
            for path in files(pattern):
                yield Program(path.name.split(".")[0], ["node", "--test", "--test-reporter=tap", path])

    return programs


def checks(*patterns):
    def programs():
        for pattern in patterns:
            for path in files(pattern):
                yield Program(path.stem, [sys.executable, path])

    return programs


def twins():
    """The twin against the core as it is delivered, and in fewer rounds with the sanitizers."""
    twin = ROOT / "tests" / "model" / "twin.py"
    yield Program("twin", [sys.executable, twin], 1200)
    driver = ROOT / "build" / "sanitize" / "tests" / "model_driver"
    yield Program("twin-sanitize", [sys.executable, twin, "--driver", driver, "--rounds", 6])


def simulations():
    """Seeds of the simulator, a part of them with the sanitizers; the deep tier has others, and larger plans."""
    quick = ["--seeds", 5000]
    programs = {
        "sim": ("release", quick),
        "sim-places": ("release", ["--places", *quick]),
        "sim-sanitize": ("sanitize", ["--seeds", 500, "--from", 100001]),
        "sim-places-sanitize": ("sanitize", ["--places", "--seeds", 300, "--from", 100001]),
        "sim-stores": ("release", ["--stores", "--seeds", 1000]),
        "sim-stores-sanitize": ("sanitize", ["--stores", "--seeds", 100, "--from", 100001]),
    }
    if os.environ.get("CHORDAL_TEST_DEEP"):
        seeds = os.environ.get("CHORDAL_SIM_SEEDS", "20000")
        programs["sim-deep"] = ("release", ["--deep", "--seeds", seeds, "--from", 200001])
        programs["sim-deep-places"] = ("release", ["--deep", "--places", "--seeds", seeds, "--from", 200001])
        stores = ["--deep", "--stores", "--places", "--seeds", seeds, "--from", 200001]
        programs["sim-deep-stores"] = ("release", stores)
        programs["sim-deep-sanitize"] = ("sanitize", ["--deep", "--seeds", 1000, "--from", 300001])
    for name, (build, options) in programs.items():
        yield Program(name, [ROOT / "build" / build / "tests" / "sim", *options], 3600)


# Leaks are the address sanitizer's; this finds what is read before it was written.
VALGRIND = ("valgrind", "-q", "--error-exitcode=9", "--leak-check=no")
# The first computes with long doubles, which valgrind narrows; the second starts a thousand processes that die.
NOT_FOR_VALGRIND = ("unit_base_number", "fault_store_death")
STAGES = [
    Stage("tidy", QUICK, [], checks("tests/tidy/check_*.py", "tests/abi/check_*.py")),
    Stage("built", QUICK, ["native"], checks("tests/tidy/built_*.py")),
    Stage("unit", QUICK, ["tests"], c_programs("release", "unit", "vectors", "abi")),
    Stage("python", QUICK, ["bindings"], python_programs(*PYTHON_TESTS)),
    Stage("node", QUICK, ["bindings"], node_programs("node/tests/*.test.mjs", "tests/node/*.test.mjs")),
    Stage("wasm", FULL, ["wasm"], node_programs("tests/wasm/*.test.mjs")),
    Stage("model", FULL, ["tests"], c_programs("release", "model")),
    Stage("twin", FULL, ["tests", "sanitize"], twins),
    Stage("sanitize", FULL, ["sanitize"], c_programs("sanitize", "unit", "vectors", "model", "fault", "fuzz", "uv")),
    Stage("sim", FULL, ["tests", "sanitize"], simulations, False),
    Stage("browser", FULL, ["native", "bindings", "wasm"], node_programs("tests/browser/*.test.mjs"), False),
    Stage("bench", FULL, ["native", "bindings", "wasm"], python_programs("tests/bench/test_*.py"), False),
    Stage("interop", FULL, ["native", "bindings", "wasm"], python_programs("tests/interop/test_*.py"), False),
    Stage(
        "packages", FULL, ["native", "bindings", "wasm", "packages"], python_programs("tests/packages/test_*.py"), False
    ),
    Stage("valgrind", DEEP, ["tests"], c_programs("release", "unit", "fault", before=VALGRIND, but=NOT_FOR_VALGRIND)),
    Stage("sanitize-python", DEEP, ["sanitize-python"], sanitized_python),
]

PLAIN = re.compile(r"^(?:.*\s)?(\d+) passed, (\d+) failed", re.M)
PYTEST = re.compile(r"^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s", re.M)
TAP = re.compile(r"^# (pass|fail|cancelled) (\d+)$", re.M)


def count(output, code):
    """How many tests passed and failed. A program that fails without saying so, or runs none, is a failed test."""
    passed = failed = 0
    if plain := PLAIN.findall(output):
        passed, failed = map(int, plain[-1])
    elif pytest := PYTEST.findall(output):
        words = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", pytest[-1])}
        passed = words.get("passed", 0)
        failed = words.get("failed", 0) + words.get("error", 0) + words.get("errors", 0)
    elif tap := dict(TAP.findall(output)):
        passed, failed = int(tap["pass"]), int(tap["fail"]) + int(tap.get("cancelled", 0))
    if failed == 0 and (code != 0 or passed == 0):
        failed = 1
    return passed, failed


def execute(stage, program):
    """Run one program with its output in a log; its group is ended when it takes too long."""
    log = LOGS / f"{stage.name}-{program.name}.log"
    with open(log, "w+") as out:
        process = subprocess.Popen(
            [str(word) for word in program.command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(program.timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
            out.write(f"\nstopped after {program.timeout} s\n")
        out.seek(0)
        passed, failed = count(out.read(), code)
    return program, log, passed, failed


def run_stage(stage, programs):
    began, passed, failed = time.monotonic(), 0, 0
    workers = os.cpu_count() if stage.together else 1
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for program, log, good, bad in pool.map(lambda p: execute(stage, p), programs):
            passed, failed = passed + good, failed + bad
            if bad:
                tail = log.read_text(errors="replace").splitlines()[-40:]
                print(f"FAILED {stage.name}/{program.name}", *tail, sep="\n    ", flush=True)
    print(f"{stage.name:18}{passed} ok, {failed} not, {time.monotonic() - began:.0f}s", flush=True)
    return passed, failed


def wanted(stage, names):
    programs = list(stage.programs())
    if names:
        programs = [p for p in programs if any(name in f"{stage.name}/{p.name}" for name in names)]
    return programs


def main():
    parser = argparse.ArgumentParser(prog="./dev test")
    parser.add_argument("--quick", action="store_true", help="under three minutes")
    parser.add_argument("--deep", action="store_true", help="longer searches, valgrind, sanitizers under Python")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    depth = DEEP if options.deep or options.names else QUICK if options.quick else FULL
    if options.deep:
        os.environ["CHORDAL_TEST_DEEP"] = "1"
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    LOGS.mkdir(parents=True, exist_ok=True)
    passed = failed = 0
    built = set()
    for stage in STAGES:
        programs = wanted(stage, options.names) if stage.depth <= depth else []
        if not programs:
            continue
        needed = [name for name in stage.builds if name not in built]
        built.update(needed)
        if needed and subprocess.run(["./dev", "build", *needed], cwd=ROOT).returncode != 0:
            failed += 1
            print(f"{stage.name:18}not run", flush=True)
            continue
        good, bad = run_stage(stage, programs)
        passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
