"""Instruction counts of the C cases, by callgrind: what bench/baseline.json keeps and tests/bench compares with.

They are counts, so that they say the same on a busy machine. ./dev bench --baseline writes them anew, after a change
that is meant to cost or to save something.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess

import edits
import payload

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH, WORK = ROOT / "bench", ROOT / "build" / "bench"
FILE = BENCH / "baseline.json"
PROGRAMS = ("core", "values", "growth", "messages")  # whose cases are counted
MEASURED = (
    "kept",
    "drops",
    "deflated",
    "fanout",
    "hops",
    "sockets",
    "processes",
    "store",
)  # and those that only are timed
EDGE = ("sockets", "processes")  # with sockets of their own
ITERATIONS = 50  # of a case
TOLERANCE = 0.05


def compile_program(name):
    """A C program of the bench, with the library as it is installed; some look inside."""
    release = ROOT / "build" / "release"
    flags = "-std=gnu11 -O2 -g -Wall -Wextra -Wconversion -Werror -I core/include -I core".split()
    edge = [release / "libchordal_uv.a", release / "libchordal.a", "-luv", "-lwebsockets"]
    libraries = [*(edge if name in EDGE else edge[1:2]), "-lsqlite3", "-lz", "-lm"]
    command = ["gcc", *flags, BENCH / f"{name}.c", *libraries, "-o", WORK / name]
    subprocess.run([str(word) for word in command], check=True, cwd=ROOT)


def build():
    """The payloads and the programs."""
    WORK.mkdir(parents=True, exist_ok=True)
    payload.write(WORK)
    edits.write(WORK)
    for name in (*PROGRAMS, *MEASURED, "wire", "edits"):
        compile_program(name)


def cases():
    """(case, program) of all cases, by one short round of each program."""
    for program in PROGRAMS:
        done = subprocess.run([WORK / program, WORK, "1"], check=True, stdout=subprocess.PIPE, text=True)
        for row in map(json.loads, done.stdout.splitlines()):
            if (row["system"], row["unit"]) == ("chordal", "us"):
                yield row["case"], program


def instructions(case, program):
    """How many one operation of a case takes."""
    name = case.removeprefix("value, ")
    callgrind = ["valgrind", "--tool=callgrind", "--toggle-collect=operations*", "--callgrind-out-file=/dev/null"]
    command = [*callgrind, WORK / program, WORK, "0", name, str(ITERATIONS)]
    done = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1)) // ITERATIONS


def counts():
    found = dict(cases())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(found, pool.map(instructions, found.keys(), found.values()), strict=True))


def compiler():
    return subprocess.run(["gcc", "-dumpfullversion"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def write():
    FILE.write_text(json.dumps({"compiler": f"gcc {compiler()}", "instructions": counts()}, indent=4) + "\n")
    print(f"written: {FILE}")


def differences(kept, found):
    """What a person is told, a line for each case that moved."""
    for case in kept.keys() - found.keys():
        yield f"{case}: gone"
    for case, count in found.items():
        before = kept.get(case)
        if before is None:
            yield f"{case}: new"
        elif abs(count - before) > before * TOLERANCE:
            yield f"{case}: {count:,} instructions, {count / before - 1:+.1%} of the baseline's {before:,}"
