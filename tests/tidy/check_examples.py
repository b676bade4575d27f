"""The README shows the programs of examples/, letter for letter; the tests of the packages run them from there."""

import re

from tidy import ROOT, check, main

PROGRAMS = {"python": "examples/python/notes.py", "js": "examples/node/notes.mjs", "c": "examples/c/notes.c"}


@check
def the_readme_shows_the_examples():
    """Each program in README.md is the file of that name in examples/."""
    readme = (ROOT / "README.md").read_text()
    for language, path in PROGRAMS.items():
        shown = re.search(rf"^```{language}\n(.*?)^```", readme, re.M | re.S)
        if not shown or shown.group(1) != (ROOT / path).read_text():
            yield f"README.md:1: the {language} program is not {path}"


if __name__ == "__main__":
    main()
