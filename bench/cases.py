"""What the cases are: the words of the report and the page."""

NOTES = "1,000 notes of 80 characters"
DOCUMENT = "500 entries of 960 characters"

ALL = ("c", "node", "wasm", "python")
C = ("c",)

# The beginning of a case's name: its payload, what is timed or counted, and where.
CASES = {
    "local call": (
        "one argument of 4 characters",
        "a method of the same host called, answered, its result handled",
        ALL,
    ),
    "commit without a watch": (
        f"4 characters appended in {NOTES}",
        "a transaction made, committed, its ticket handled",
        ALL,
    ),
    "commit with a watch": (
        f"4 characters appended in {NOTES}",
        "the same, until the watch of the same host was called",
        ALL,
    ),
    "commit with a watched derive": (
        f"4 characters appended in {NOTES}",
        "the same, until the watch of a derive was called, which is another value each time",
        ALL,
    ),
    "commit of the same value": (NOTES, "a field set to what it is; a watch is there, and is not called", ALL),
    "read of a held value": (NOTES, "the value of a reference's member", ALL),
    "activation, hold and release": (
        "an object with a param",
        "a reference to an object of the same host, which is made for it and goes with it",
        ALL,
    ),
    "call round trip": (
        "one argument of 4 characters",
        "a method called over a memory link until its result is handled",
        ALL,
    ),
    "call round trip, 1 MiB of bytes": ("1 MiB of bytes as the argument", "the same", ALL),
    "streamed reply, 2,000 tokens": (
        f"4 characters appended to the last of {NOTES}",
        "one token of 2,000 that follow each other, each a commit in a turn of its own, until the replica has them all",
        ALL,
    ),
    "delta to replica, token appended": (
        f"4 characters appended to the last of {NOTES}",
        "native values: a draft changed, its ops as bytes, applied to a replica, a frame handed over; no host, no link",
        ALL[1:],
    ),
    "delta to replica, changed field": (f"8 characters set in {NOTES}", "the same", ALL[1:]),
    "delta to replica, appended item": (f"137 bytes of JSON behind {NOTES}", "the same", ALL[1:]),
    "delta to replica, removed item": (f"the 400th of {NOTES}", "the same", ALL[1:]),
    "commit to frame, token appended": (
        f"4 characters appended to the last of {NOTES}",
        "a transaction made, committed, sent over a memory link, applied to the replica, its watch called",
        ALL,
    ),
    "commit to frame, changed field": (f"8 characters set in {NOTES}", "the same", ALL),
    "commit to frame, appended item": (f"137 bytes of JSON behind {NOTES}", "the same", ALL),
    "commit to frame, removed item": (f"the 400th of {NOTES}", "the same", ALL),
    "first hold to live": (
        f"{NOTES} or {DOCUMENT}",
        "the first reference between two new hosts, made over their memory link until its values are there",
        ALL,
    ),
    "hold to live, 1,000 notes": (
        NOTES,
        "a reference made over a memory link until its values are there, then released",
        ALL,
    ),
    "hold to live, deflated, 1,000 notes": (
        NOTES,
        "the same over a link whose consumer asks for deflated parts: deflated each time, since nobody else holds it",
        C,
    ),
    "hold to live, 500 x 960 document": (DOCUMENT, "as before", ALL),
    "hold to live, deflated, 500 x 960 document": (DOCUMENT, "as before, deflated each time", C),
    "deflate": (f"{DOCUMENT}, or 1 MiB of such text", "one part alone made smaller", C),
    "inflate": (f"{DOCUMENT}, or 1 MiB of such text", "and whole again, within its limits", C),
    "call to result": (
        "1 MiB of text as the result",
        "a method called over a memory link until its result is handled; deflated where the consumer asks for it",
        C,
    ),
    "first hold to live, placed": (
        NOTES,
        "a hold of a placed type over a host in the middle, whose program makes a host for it, links with it and says "
        "so, until its values are there; all in one process",
        C,
    ),
    "bytes kept per replica": (
        NOTES,
        "memory of a holder for each further object, in the core and in the language",
        ALL,
    ),
    "bytes kept per further hold": (
        NOTES,
        "memory of the provider for each further host that holds the same object, over a link that held something",
        ALL,
    ),
    "bytes kept per live object": (
        "objects with a param and no content",
        "memory of a host for each object of its own that it holds, in the core and in the language",
        ALL,
    ),
    "snapshot encode": (f"{NOTES} or {DOCUMENT}", "native values to bytes, without a host", ALL[1:]),
    "snapshot decode": (f"{NOTES} or {DOCUMENT}", "bytes to native values, without a host", ALL[1:]),
    "frame": (
        "one element changes in a list or an object of numbers",
        "its op taken by the provider's core, sent over a memory link, applied to the holder's value, its watch called",
        ALL[1:],
    ),
    "value": (f"{NOTES} or {DOCUMENT}", "one part alone: no host, no link", C),
    "message": (NOTES, "one message through its codec alone: part and envelope", C),
    "call over a loopback WebSocket": (
        "one argument of 4 characters",
        "a method called over a loopback WebSocket in another process, until its result is handled; beside it an echo "
        "of 10 bytes by the same library on the same loop",
        C,
    ),
    "reconnect": (
        NOTES,
        "a new transport in place of one that broke, until every reference is live and has what it missed (tokens); "
        "bytes both ways, the handshake's among them",
        C,
    ),
    "1,000 calls parked while down": ("one argument of 4 characters", "the same, until the last result", C),
    "one commit to 100 WebSockets": (
        "4 characters appended in a short text",
        "a change sent to 100 readers over loopback WebSockets in the same process, until the last one has it; ours is "
        "a commit with acks, frames and watches; `ws`, Socket.IO and NATS send bytes alone",
        ("node",),
    ),
    "one commit to": (
        "4 characters appended in a short text",
        "a transaction made, committed, encoded and queued for all who follow; readers are not timed",
        C,
    ),
    "a healthy reader": (
        "2 KB set in a short list, 50 times a second of a minute's virtual time",
        "a commit's turn at the provider and at the one who reads",
        C,
    ),
    "call to frame": (
        f"4 characters appended in {NOTES}",
        "a call that commits, made over so many hosts in the middle, until its result and its frame are there",
        C,
    ),
    "call to frame between processes": (
        f"4 characters appended in {NOTES}",
        "the same, provided by another process: over a loopback WebSocket, by a worker of the holder over its pipe, by "
        "a worker of a server that the tab is linked with, in the same process or over a WebSocket; beside it an echo "
        "of 10 bytes over such a pipe",
        ALL[:2],
    ),
    "hold to live between processes": (NOTES, "there, a further reference made until its values are there", ALL[:2]),
    "first hold to live between processes": (NOTES, "there, the start of the worker's process included", ALL[:2]),
    "caught up after": (
        "100 tokens a second into 500 entries of 960 characters, over a line of 64 KiB/s",
        "virtual time from the end of the pause until the reader has it all; bytes until then",
        C,
    ),
    "a commit before a stall": (
        f"4 characters appended in {DOCUMENT}, 100 times a second",
        "a transaction made, committed and told at the provider of a reader that takes what comes",
        C,
    ),
    "a commit during a stall": (
        f"4 characters appended in {DOCUMENT}, 100 times a second",
        "the same while the reader takes nothing",
        C,
    ),
    "the provider's longest message after": (
        f"4 characters appended in {DOCUMENT}, 100 times a second",
        "the longest time that a message took at the provider until the reader has caught up; over a host in the "
        "middle, with that one's part",
        C,
    ),
    "10,000 calls at once": (
        "one argument of 4 characters, over one host in the middle",
        "calls of one tab, all started before the first is answered, until the last result",
        C,
    ),
    "a tab's call": (
        "one argument of 4 characters, over one host in the middle",
        "a call among those of one session, one after the other; least, median and most of them",
        C,
    ),
    "store, one delta a commit, 10 characters": (
        "10 characters set in a document",
        "a commit alone until its ticket is handled: it is in the store then. `sqlite`: the same statements on like "
        "tables with the same pragmas, by SQLite alone; better-sqlite3 and sqlite3: by hand, the change as JSON",
        ("c", "node", "python"),
    ),
    "store, one delta a commit, 10,000 characters": (
        "10,000 characters set in a document",
        "the same",
        ("c", "node", "python"),
    ),
    "store, 100 commits at once": ("10 characters set in a document", "as 1,000, with 100", C),
    "store, 1,000 commits at once": (
        "10 characters set in a document",
        "1,000 commits before the first turn, until all tickets are handled; one of them. `sqlite`: as many insertions "
        "in one transaction; better-sqlite3 and sqlite3: by hand, one transaction each",
        ("c", "node", "python"),
    ),
    "store, one delta a commit, with the outbox": (
        "10 characters set in a document",
        "as a commit alone, of a host that keeps an outbox. `sqlite`: two insertions, into a table each",
        C,
    ),
    "store, one row a commit": (
        "a row of 3 columns put",
        "a commit alone until its ticket is handled",
        ("c", "node", "python"),
    ),
    "store, query page": (
        "10,000 rows of 3 columns",
        "100 of them by a range of the key, packed, in Node and Python native. `sqlite`: the rows stepped, their cells "
        "read and kept",
        ("c", "node", "python"),
    ),
    "store, a row patched": (
        "rows of 3 columns, the title of one changed",
        "a commit alone until its ticket, and the frame of a live query over all rows, are handled",
        C,
    ),
    "store, update of 10,000 rows": (
        "10,000 rows of 3 columns",
        "one column of all rows set in one commit. `sqlite` and the others: one UPDATE in a transaction",
        ("c", "node", "python"),
    ),
    "store, migration of 10,000 rows": (
        "10,000 rows of 3 columns",
        "the host opened with a newer version of their table, until each row is put anew, 100 in a commit. By hand: as "
        "many read, changed and written in a transaction",
        ("node", "python"),
    ),
    "store, open": (
        "1,000 documents",
        "a host opened with its store, its closing apart. `sqlite`: the file opened and its schema read",
        C,
    ),
    "store, read at": (
        "a small document of 10,000 revisions",
        "its value at one commit read. `sqlite`: the base and the rows behind it stepped over",
        C,
    ),
    "growth": (None, "one change of a large value while the revision before it is kept", C),
    "memory of a parsed document": (None, "what the core's value takes", C),
    "delta size": (None, "bytes of a change's ops, or of what a peer sends", C),
    "wire size": (NOTES, "bytes of one real message, without the transport's own framing", C),
    "code": (None, "lines of the sources; bytes of what a page loads", (None,)),
}

# What docs/protocol.md promises, in bytes: binary, text; each on top of what is inside.
BUDGETS = {
    "streamed token": (12, 28),
    "removed item": (12, 28),
    "changed field": (18, 34),
    "appended item": (12, 28),
    "small call": (12, 22),
    "its result": (8, 14),
    "hold again in a new run": (32, 60),
    "1 MiB of bytes as an argument": ((1 << 20) + 16, (1 << 20) + 32),
}


def words(case):
    """(payload, what is timed, where) of a case."""
    return CASES[max((start for start in CASES if case.startswith(start)), key=len)]


def payload(case):
    """What is there, and what changes."""
    if case.startswith(("growth", "memory of", "delta size")):
        return case.split(", ", 1)[1]
    return words(case)[0]


def budget(case, inside):
    """What a message may have, or None."""
    name, codec = case.removeprefix("wire size, ").rsplit(", ", 1)
    return BUDGETS[name][codec == "text"] + inside if name in BUDGETS else None
