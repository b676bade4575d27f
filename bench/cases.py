"""What the cases are: the words of the report and the page."""

NOTES = "1,000 notes of 80 characters"
DOCUMENT = "500 entries of 960 characters"

# The beginning of a case's name: its payload, and what is timed or counted.
CASES = {
    "local call": ("one argument of 4 characters", "a method of the same host called, answered, its result handled"),
    "commit without a watch": (
        f"4 characters appended in {NOTES}",
        "a transaction made, committed, its ticket handled",
    ),
    "commit with a watch": (
        f"4 characters appended in {NOTES}",
        "the same, until the watch of the same host was called",
    ),
    "call round trip": (
        "one argument of 4 characters",
        "a method called over a memory link until its result is handled",
    ),
    "commit to frame, token appended": (
        f"4 characters appended to the last of {NOTES}",
        "a transaction made, committed, sent over a memory link, applied to the replica, its watch called",
    ),
    "commit to frame, changed field": (f"8 characters set in {NOTES}", "the same"),
    "commit to frame, appended item": (f"137 bytes of JSON behind {NOTES}", "the same"),
    "commit to frame, removed item": (f"the 400th of {NOTES}", "the same"),
    "hold to live, 1,000 notes": (
        NOTES,
        "a reference made over a memory link until its values are there, then released",
    ),
    "hold to live, 500 x 960 document": (DOCUMENT, "the same"),
    "bytes kept per replica": (NOTES, "memory of a holder for each further object, in the core and in the language"),
    "snapshot encode": (NOTES, "native values to bytes, without a host"),
    "snapshot decode": (NOTES, "bytes to native values, without a host"),
    "value": (f"{NOTES} or {DOCUMENT}", "in C, one part alone: no host, no link"),
    "growth": (None, "in C, one change of a large value while the revision before it is kept"),
    "memory of a parsed document": (None, "in C, what the core's value takes"),
    "wire size": (NOTES, "bytes of one real message, without the transport's own framing"),
    "code": (None, "lines of the sources; bytes of what a page loads"),
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
    """(payload, what is timed) of a case."""
    return next(found for start, found in CASES.items() if case.startswith(start))


def budget(case, inside):
    """What a message may have, or None."""
    name, codec = case.removeprefix("wire size, ").rsplit(", ", 1)
    return BUDGETS[name][codec == "text"] + inside if name in BUDGETS else None
