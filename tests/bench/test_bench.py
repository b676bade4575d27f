"""The bench still works: one short round of every program of ours, its report and its page. No time is asserted."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "bench"
sys.path.insert(0, str(ROOT / "bench"))
import cases  # noqa: E402

KEYS = "case runtime system version payload unit direction median min max bytes instructions counts".split()


def test_one_round():
    subprocess.run([sys.executable, ROOT / "bench" / "run.py", "--quick"], check=True, timeout=300)
    entries = json.loads((WORK / "report.json").read_text())
    assert all(list(entry) == KEYS for entry in entries)
    ours = {(entry["case"], entry["runtime"]): entry for entry in entries if entry["system"] == "chordal"}
    for case, (_, _, runtimes) in cases.CASES.items():
        for runtime in runtimes:
            assert any(name.startswith(case) for name, other in ours if other == runtime), (runtime, case)
    assert sum(case.startswith("value") for case, _ in ours) > 10
    for (case, _), entry in ours.items():
        assert entry["median"] > 0, case
        if case.startswith("commit to frame") or case.startswith("call round trip"):
            assert entry["bytes"] > 0 and entry["counts"]["entries"] > 0, case
    for name in cases.BUDGETS:
        assert {f"wire size, {name}, {codec}" for codec in ("binary", "text")} <= {case for case, _ in ours}, name
    page = (WORK / "benchmarks.md").read_text()
    assert all(case in page for case, _ in ours if case.startswith("commit")) and "{" not in page
