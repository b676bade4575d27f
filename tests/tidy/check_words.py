"""Words that have no place in the repository."""

import re

from tidy import check, main, place, repository

MINE = "tests/tidy/check_words.py"
TEXT = re.compile(r"\.(c|h|cc|py|ts|mjs|js|json|md|txt|toml|cmake|in|map|css|html|i|yml|yaml)$|/[^./]+$")
# A path that only one machine has, or one that a program should ask for.
PATHS = re.compile(r"""(?<![\w.\-}:/])/(?:work|home|root|Users|tmp|var/tmp|mnt)/[\w.]|(?<![\w.\-}/:])/tmp\b""")
HOSTS = re.compile(r"\b(?:registry\.npmjs\.org|pypi\.org|pythonhosted\.org|crates\.io|deb\.debian\.org)\b")
LATER = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")


def lines():
    for path in repository():
        if place(path).startswith(MINE) or not TEXT.search("/" + path.name):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            yield path, number, line


def search(pattern, what):
    for path, number, line in lines():
        if found := pattern.search(line):
            yield f"{place(path, number)}: {found.group()}: {what}"


@check
def absolute_paths():
    """No path of one machine, and no fixed place for temporary files."""
    yield from search(PATHS, "ask for a temporary folder, or stay relative to the root")


@check
def registry_hosts():
    """No registry is named by its host: the clients know theirs."""
    yield from search(HOSTS, "name the package only")


@check
def unfinished():
    """Nothing is left for later in the text: open an issue."""
    yield from search(LATER, "do it or leave it")


if __name__ == "__main__":
    main()
