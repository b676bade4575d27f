"""./dev bench: every case in every runtime, beside its peers, in rounds A B … A B …; writes bench/report.json and
docs/benchmarks.md. --quick: one short round, no peers, no instruction counts, into build/bench (a look whether it
works). --baseline: only the instruction counts of the C cases, into bench/baseline.json."""

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

import baseline
import cases
import figures
import limit
import nats
import page

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH, WORK = ROOT / "bench", ROOT / "build" / "bench"
VENV = WORK / "venv"
PEERS = "chord yjs automerge loro json1 immer patch call crowd rooms store".split()
ENVIRONMENT = {**os.environ, "NODE_ENV": "production", "PYTHONPATH": str(ROOT / "python")}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, cwd=ROOT, env=ENVIRONMENT, **options)


def rows_of(command):
    """The rows that a program prints."""
    done = run(*command, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def install_peers():
    run(
        "npm",
        "ci",
        "--prefix",
        BENCH / "peers",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        stdout=subprocess.DEVNULL,
    )
    build = ["npm", "rebuild", "--prefix", BENCH / "peers", "better-sqlite3"]  # of all packages it alone is built
    if subprocess.run([str(word) for word in build], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        print("better-sqlite3 cannot be built: without its rows", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)  # without our own packages on its path
    run(VENV / "bin" / "python", "-m", "pip", "install", "-q", "-r", BENCH / "peers" / "requirements.txt")


def programs(batches, peers):
    """(runtime, command) of all that takes part in a round."""
    for name in (*baseline.PROGRAMS, *baseline.MEASURED):
        yield "c", (WORK / name, WORK, batches)
    for script in ("node", "frames", "kept"):
        node = ("node", "--expose-gc", BENCH / f"{script}.mjs", WORK, batches)
        yield "node", (*node, "addon")
        yield "wasm", (*node, "wasm")
    for script in ("crowd", "processes", "store"):
        yield "node", ("node", "--expose-gc", BENCH / f"{script}.mjs", WORK, batches, "addon")
    for script in ("python", "frames", "kept", "store"):
        yield "python", (sys.executable, BENCH / f"{script}.py", WORK, batches)
    if peers:
        if (WORK / "limit").exists():
            yield "c", (WORK / "limit", WORK, batches)
        for peer in PEERS:
            yield "node", ("node", BENCH / "peers" / f"{peer}.mjs", WORK, batches)
        yield "python", (VENV / "bin" / "python", BENCH / "peers" / "crdt.py", WORK, batches)


def sizes(peers):
    """(runtime, command) of what counts bytes, which are the same in every round."""
    yield "c", (WORK / "wire", WORK)
    yield "c", (WORK / "edits", WORK)
    if peers:
        yield "node", ("node", BENCH / "peers" / "edits.mjs", WORK)
        yield "python", (VENV / "bin" / "python", BENCH / "peers" / "edits.py", WORK)


def label(command):
    """The program's own name, or its script's."""
    names = [pathlib.Path(str(word)).name for word in command]
    return next((name for name in names if name.endswith((".mjs", ".py"))), names[0])


def versions():
    node = run("node", "--version", stdout=subprocess.PIPE, text=True).stdout.strip().removeprefix("v")
    return {"node": node, "python": platform.python_version()}


class Report:
    def __init__(self):
        self.rows = {}
        header = (ROOT / "core" / "include" / "chordal" / "version.h").read_text()
        self.version = re.search(r'CHORDAL_VERSION "([^"]+)"', header).group(1)

    def add(self, runtime, row):
        key = row["case"], runtime, row["system"]
        kept = self.rows.setdefault(key, {**row, "samples": [], "processor": []})
        kept["samples"] += row["samples"]
        kept["processor"] += row.get("processor", [])
        kept["counts"] = row.get("counts")

    def entry(self, runtime, row):
        samples = row["samples"]
        counts = dict(row.get("counts") or {})
        if row["processor"]:
            counts["processor"] = round(statistics.median(row["processor"]), 3)
        if row["case"].startswith("wire size"):
            counts["budget"] = cases.budget(row["case"], counts["inside"])
        return {
            "case": row["case"],
            "runtime": runtime,
            "system": row["system"],
            "version": row.get("version") or (self.version if row["system"] == "chordal" else None),
            "payload": cases.payload(row["case"]),
            "unit": row["unit"],
            "direction": "less",
            "median": round(statistics.median(samples), 3),
            "min": round(min(samples), 3),
            "max": round(max(samples), 3),
            "bytes": row.get("bytes"),
            "instructions": row.get("instructions"),
            "counts": counts or None,
        }

    def entries(self):
        return [self.entry(runtime, row) for (_, runtime, _), row in self.rows.items()]


def measure(rounds, batches, full):
    report = Report()
    for number in range(rounds):
        for runtime, command in programs(batches, full):
            print(f"round {number + 1} of {rounds}: {runtime} {label(command)}", flush=True)
            for row in rows_of(command):
                report.add(runtime, row)
    if full:
        for case, count in baseline.counts().items():
            report.rows[case, "c", "chordal"]["instructions"] = count
    for runtime, command in sizes(full):
        for row in rows_of(command):
            report.add(runtime, row)
    for row in figures.rows():
        report.add(None, row)
    return report.entries()


def main():
    parser = argparse.ArgumentParser(prog="./dev bench")
    parser.add_argument("--quick", action="store_true", help="one short round, written to build/bench")
    parser.add_argument("--baseline", action="store_true", help="only count instructions, into bench/baseline.json")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    baseline.build()
    if options.baseline:
        return baseline.write()
    if not options.quick:
        install_peers()
        limit.build()
        nats.build()
    entries = measure(*((1, 1, False) if options.quick else (options.rounds, 5, True)))
    reports, pages = (WORK, WORK) if options.quick else (BENCH, ROOT / "docs")
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    (reports / "report.json").write_text(f"[\n{lines}\n]\n")
    page.write(entries, pages, versions())
    print(f"written: {reports / 'report.json'}, {pages / 'benchmarks.md'}")


if __name__ == "__main__":
    main()
