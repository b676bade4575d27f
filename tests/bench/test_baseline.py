"""Instruction counts of the C cases against bench/baseline.json; to keep new ones: ./dev bench --baseline."""

import json
import pathlib
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import baseline  # noqa: E402


def test_what_differs_is_told():
    kept = {"same": 1000, "dearer": 1000, "cheaper": 1000, "gone": 5}
    found = {"same": 1050, "dearer": 1051, "cheaper": 949, "new": 5}
    told = sorted(line.split(":")[0] for line in baseline.differences(kept, found))
    assert told == ["cheaper", "dearer", "gone", "new"]


def test_instruction_counts():
    kept = json.loads(baseline.FILE.read_text())
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not here")
    if kept["compiler"] != f"gcc {baseline.compiler()}":
        pytest.skip(f"the baseline is of {kept['compiler']}")
    baseline.build()
    moved = list(baseline.differences(kept["instructions"], baseline.counts()))
    assert not moved, "\n".join([*moved, "if that is meant: ./dev bench --baseline"])
