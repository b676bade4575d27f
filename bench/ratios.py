"""What the report's figures are as ratios: ours to the best peer of the same runtime, ours to the limit."""

import re

from cells import LABELS, number

OURS = re.compile("chordal$|limit")

# Runtimes of ours, and whose peers they are beside.
BESIDE = {"c": "node", "node": "node", "wasm": "node", "python": "python"}
CHANGES = ["token appended", "changed field", "appended item", "removed item"]
WAYS = ["delta to replica", "commit to frame"]  # of ours; the peers have one
IN_C = {"delta to replica, token appended, binary": "value, token watched"}  # the same there
CALL = "call round trip, binary"
SNAPSHOT = ["snapshot encode, 1,000 notes", "snapshot decode, 1,000 notes"]
SOCKET = "call over a loopback WebSocket"
PROCESSES = "call to frame between processes"
HOLD = "hold to live, 1,000 notes, binary"

STORE = [
    "store, one delta a commit, 10 characters",
    "store, one delta a commit, 10,000 characters",
    "store, 1,000 commits at once, 10 characters",
    "store, one row a commit",
    "store, query page of 100 rows",
    "store, update of 10,000 rows",
    "store, open with 1,000 documents",
    "store, read at one of 10,000 commits",
]

JSON = ["json read, notes", "json write, notes", "json read, document", "json write, document"]
TEXT = ["read 500 KB string", "write 500 KB string"]

# (runtime, our case, the limit's cases, the limit): their times are added.
LIMITS = [
    *(("c", f"value, {name}", [f"value, {name}"], "limit: yyjson") for name in JSON + TEXT),
    ("c", "value, snapshot write, notes", ["value, json write, notes"], "limit: yyjson"),
    ("c", "value, snapshot read, notes", ["value, json read, notes"], "limit: yyjson"),
    ("c", "value, write 500 KB string", ["value, write 500 KB string"], "limit: memcpy"),
    *(("node", case, [case], "limit: JSON") for case in SNAPSHOT),
    *(("python", case, [case], "limit: json") for case in SNAPSHOT),
    ("node", HOLD, SNAPSHOT, "limit: JSON"),
    ("c", SOCKET, [SOCKET], "limit: libwebsockets echo"),
    *(("c", case, [case], "limit: sqlite") for case in STORE),
    ("c", f"{PROCESSES}: worker", [f"{PROCESSES}: worker"], "limit: libuv pipe echo"),
    ("c", f"{PROCESSES}: WebSocket", [SOCKET], "limit: libwebsockets echo"),
]


def found(entries, case, runtime, system):
    return next((e for e in entries if (e["case"], e["runtime"], e["system"]) == (case, runtime, system)), None)


def peers(entries, case, runtime):
    """Those that do the same; a change made, sent and applied is one case for them, by whatever way of ours."""
    change = next((way for way in WAYS if case.startswith(way)), None)
    same = {f"{way}{case.removeprefix(change)}" for way in WAYS} if change else {case}
    for entry in entries:
        if entry["case"] in same and entry["runtime"] == runtime and not OURS.match(entry["system"]):
            yield entry


def compared(entries):
    """(case, runtime, ours, the fastest peer, the one with the fewest bytes)."""
    changes = [f"{way}, {change}, binary" for way in WAYS for change in CHANGES]
    for case in [*changes, CALL, *SNAPSHOT]:
        for runtime, other in BESIDE.items():
            name = IN_C.get(case, case) if runtime == "c" else case
            ours, others = found(entries, name, runtime, "chordal"), list(peers(entries, case, other))
            if ours and others:
                best = min(others, key=lambda peer: peer["median"])
                least = min(others, key=lambda peer: peer["bytes"])
                yield case.removesuffix(", binary"), runtime, ours, best, least


def peer_rows(entries):
    for case, runtime, ours, best, least in compared(entries):
        yield [
            case,
            LABELS[runtime],
            number(ours["median"]),
            f"{number(best['median'])} ({best['system']})",
            f"{ours['median'] / best['median']:.2f}",
            number(ours["bytes"]),
            f"{number(least['bytes'])} ({least['system']})",
        ]


def limit_rows(entries):
    for runtime, case, others, system in LIMITS:
        ours = found(entries, case, runtime, "chordal")
        limits = [found(entries, other, runtime, system) for other in others]
        if ours and all(limits):
            limit = sum(entry["median"] for entry in limits)
            against = system.removeprefix("limit: ") + ("" if others == [case] else f": {' + '.join(others)}")
            ratio = f"{ours['median'] / limit:.2f}"
            yield [case, LABELS[runtime], number(ours["median"]), against, number(limit), ratio]
