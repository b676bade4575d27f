"""The bench still works: one short round of every program of ours, its report and its page. No time is asserted."""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "bench"
sys.path.insert(0, str(ROOT / "bench"))
import cases  # noqa: E402
import edits  # noqa: E402

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
    for op in ("append 6 to a string", "push to an array", "splice in an array", "set a key of an object"):
        for size in ("1,000", "10,000", "100,000"):
            assert ours[f"growth, {op}, {size}", "c"]["counts"]["allocations"] > 0
    for runtime in ("node", "wasm", "python"):
        for payload in ("list of 100", "list of 100,000", "object of 10,000"):
            ways = {way: ours[f"frame, {payload}, {way}", runtime] for way in ("shared", "in place", "ops alone")}
            assert all(entry["counts"]["heap"] > 0 for entry in ways.values())
        assert ours["frame, list of 100,000, shared", runtime]["counts"]["heap"] > 700_000
        assert ours["frame, list of 100,000, in place", runtime]["counts"]["heap"] < 100_000
    assert sum(case.startswith("delta size") for case, _ in ours) == 2 * len(list(edits.edits()))
    page = (WORK / "benchmarks.md").read_text()
    plotted = re.findall(r"\((benchmarks-\w+\.svg)\)", page)
    assert len(plotted) == 5 and all((WORK / name).read_text().startswith("<svg") for name in plotted)
    assert all(case in page for case, _ in ours if case.startswith("commit")) and "{" not in page
