"""The naive twin: random cases for the core (driver.c) and for a second implementation in Python, compared.

    python tests/model/twin.py                       the rounds of ./dev test
    python tests/model/twin.py --seed 17             one round again
    python tests/model/twin.py --seed 1 --rounds 500 as many as wanted
    python tests/model/twin.py --sizes               how large deltas are, as JSON

A round is a seed: it draws its cases and has the driver answer all of them at once.
"""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys

import twin_cases
import twin_sizes
import twin_wire
from twin_values import p

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEEP = bool(os.environ.get("CHORDAL_TEST_DEEP"))
# How many cases of a kind there are in a round.
CASES = [
    (twin_cases.value_case, 150),
    (twin_cases.broken_case, 300),
    (twin_cases.depth_case, 10),
    (twin_cases.number_case, 30),
    (twin_cases.equal_case, 50),
    (twin_cases.apply_case, 200),
    (twin_cases.draft_case, 150),
    (twin_cases.diff_case, 150),
    (twin_cases.fold_case, 100),
    (twin_cases.append_case, 20),
    (twin_cases.large_draft_case, 3),
    (twin_cases.large_diff_case, 3),
    (twin_cases.large_fold_case, 3),
    (twin_cases.stream_case, 15),
    (twin_wire.ops_case, 100),
    (twin_wire.broken_ops_case, 200),
    (twin_wire.snapshot_case, 50),
    (twin_wire.broken_snapshot_case, 100),
    (twin_wire.message_case, 150),
    (twin_wire.broken_message_case, 300),
]


def ask(driver, requests):
    """The driver's answers, a line each, as far as it came, its exit code, and what it said."""
    lines = "".join(p.json(request) + "\n" for request in requests)
    done = subprocess.run([driver], input=lines.encode(), capture_output=True)
    answers = done.stdout.decode().split("\n")[:-1]
    return answers, done.returncode, done.stderr.decode(errors="replace")


def run_round(driver, seed):
    """Complaints about a round, and how many cases it had."""
    r = random.Random(seed)
    cases = [(case.__name__, *case(r)) for case, count in CASES for _ in range(count)]
    answers, ended, errors = ask(driver, [request for _, request, _ in cases])
    for (name, request, check), answer in zip(cases, answers, strict=False):
        try:
            check(json.loads(answer))
        except Exception as fault:
            yield f"{name}: {type(fault).__name__}: {fault}", request, answer
    if ended:
        told = re.search(r"request (\d+)", errors)
        name, request, _ = cases[int(told[1]) - 1 if told else len(answers)]
        yield f"{name}: the driver ended with {ended}: {errors}", request, ""


def complain(seed, what, request, answer):
    print(f"FAILED seed {seed}: {what[:4000]}")
    print(f"    asked    {p.json(request)[:2000]}")
    print(f"    answered {answer[:2000]}")


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, help="the first; alone: this one only")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--driver", default=ROOT / "build" / "release" / "tests" / "model_driver")
    parser.add_argument("--sizes", action="store_true")
    found = parser.parse_args()
    found.rounds = found.rounds or (1 if found.seed is not None else 150 if DEEP else 12)
    if found.seed is None:
        found.seed = random.randrange(2**32) if DEEP else 1
    return found


def main():
    told = options()
    sizes = twin_sizes.table(lambda requests: map(json.loads, ask(told.driver, requests)[0]))
    if told.sizes:
        print(json.dumps(sizes, indent=1))
        return 0
    cases = sum(count for _, count in CASES)
    print(f"seeds {told.seed} to {told.seed + told.rounds - 1}, {cases} cases each", flush=True)
    failed = 0
    for complaint in twin_sizes.complaints(sizes):
        failed += 1
        print(f"FAILED {complaint}")
    for seed in range(told.seed, told.seed + told.rounds):
        complaints = {complaint[0].partition(":")[0]: complaint for complaint in run_round(told.driver, seed)}
        failed += bool(complaints)
        for complaint in complaints.values():
            complain(seed, *complaint)
    print(f"{told.rounds + len(sizes) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
