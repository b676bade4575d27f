"""The test vectors are as the protocol's second implementation writes them."""

import sys

from tidy import ROOT, check, main, run


@check
def written_anew():
    """tests/vectors/make.py would change nothing."""
    said, code = run(sys.executable, ROOT / "tests/vectors/make.py", "--check")
    if code:
        yield said


if __name__ == "__main__":
    main()
