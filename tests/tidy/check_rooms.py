"""Who may include whom in the core."""

import re

from tidy import ROOMS, check, core_files, main, place

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.M)
# A library's header and the only room that may include it.
OWNERS = {"zlib.h": "wire", "sqlite3.h": "store"}
# Headers that a room without clock, thread, socket or stdio has no use for, and the files that may include them.
BANNED = (
    "stdio.h time.h unistd.h fcntl.h poll.h pthread.h threads.h locale.h signal.h errno.h uv.h libwebsockets.h".split()
)
FREE = {"base/fork.c", "base/entropy.c", "store/files.c"}


def includes():
    for room, path in core_files():
        text = path.read_text()
        for found in INCLUDE.finditer(text):
            line = text.count("\n", 0, found.start(1)) + 1
            yield room, path, line, found.group(1)


@check
def order_of_rooms():
    """A room includes only rooms above it in the table."""
    for room, path, line, name in includes():
        other = name.split("/")[0]
        if other in ROOMS and ROOMS.index(other) > ROOMS.index(room):
            yield f"{place(path, line)}: room {room} includes {name} of a later room"
        if "/" not in name and (path.parent / name).exists():
            yield f'{place(path, line)}: write "{room}/{name}": the room is part of the name'


@check
def libraries():
    """Only wire includes zlib, only store includes SQLite."""
    for room, path, line, name in includes():
        if OWNERS.get(name, room) != room:
            yield f"{place(path, line)}: {name} belongs to room {OWNERS[name]}"


@check
def headers_of_the_system():
    """No clock, thread, socket, locale or stdio in the core."""
    for room, path, line, name in includes():
        if (name in BANNED or name.startswith(("sys/", "netinet/"))) and f"{room}/{path.name}" not in FREE:
            yield f"{place(path, line)}: the core has no use for {name}"


if __name__ == "__main__":
    main()
