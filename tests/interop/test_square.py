"""The interop square as a test: each cell is one."""

import sys

import pytest
import square


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return square.page_folder(tmp_path_factory.mktemp("page"))


@pytest.mark.parametrize("provider", square.PROGRAMS)
def test_row(provider, folder):
    wanted = square.digest(square.expected())
    faults = []
    for holder, report, why in square.row(provider, square.PROGRAMS, wanted, folder):
        print(square.line(provider, holder, report, why), file=sys.stderr)
        if why is not None:
            faults.append(f"{holder}: {why}")
    assert not faults


def test_unknown_runtimes():
    with pytest.raises(SystemExit, match="no such runtime: pyton; there are c, python"):
        square.main(["c", "pyton"])
