"""Vectors of changes with the path dictionary, and of snapshots."""

import protocol as p
from make_common import native, native_op, op, refused, vectors


def run(name, before, script, limit=1024):
    """script: lists of ops are commits; pairs (from, to) and "snapshot" are what is sent then."""
    stream, values, commits, steps = p.Stream(limit), [before], [], []
    for one in script:
        if isinstance(one, list):
            stream.commit(one)
            commits.append(one)
            values.append(p.apply(values[-1], one))
            steps.append({"commit": [native_op(o) for o in one]})
        elif one == "snapshot":
            members = [{"value": value} for value in values[-1]]
            steps.append(
                {
                    "snapshot": stream.cut,
                    "binary": p.snapshot_binary(stream.paths(), members).hex(),
                    "json": p.snapshot_json(stream.paths(), members),
                }
            )
        else:
            begin, ops = one
            ops = ops if ops is not None else [o for commit in commits[begin:] for o in commit]
            definitions = stream.definitions(begin, stream.cut)
            steps.append(
                {
                    "change": [begin, stream.cut],
                    "binary": p.ops_binary(definitions + ops, stream.paths()).hex(),
                    "json": p.ops_json(definitions + ops, stream.paths()),
                }
            )
    case = {"name": name, "before": native(before), "steps": steps}
    return case if limit == 1024 else case | {"limit": limit}


def token(text, key="title"):
    return op("append", [0, key], text=text)


def put(key, value):
    return op("set", [0, key], value=value)


doc = {"title": "", "entries": [], "n": 0}
tokens = [
    run(
        "each commit to a reader that keeps up",
        [doc],
        [[token("a")], (0, None), [token("b")], (1, None), [token("c")], (2, None)],
    )
]
entry = op("splice", [0, "entries"], index=0, remove=0, values=[1])
tokens.append(
    run(
        "two uses in one commit",
        [doc],
        [[token("a"), entry, token("b")], (0, [token("ab"), entry]), [token("c")], (1, None)],
    )
)
vectors("changes/accept_defined", "A path gets a number in the commit that uses it for the second time.", tokens)
gap = [[token("a")], (0, None), [token("b")], [put("n", 1)], [token("c")], [put("n", 2)]]
folded = [token("bc"), put("n", 2)]
late_fold = [token("bc"), put("n", 1)]
vectors(
    "changes/accept_gap",
    "A reader that was behind gets one folded change with all definitions made since.",
    [
        run("from cut 1", [doc], gap + [(1, folded), [token("d")], (5, None)]),
        run("from the beginning", [doc], gap + [(0, [token("abc"), put("n", 2)])]),
        run(
            "readers at different cuts",
            [doc],
            [
                [token("a")],
                (0, None),
                [token("b")],
                (1, None),
                "snapshot",
                [put("n", 1)],
                [token("c")],
                (1, late_fold),
            ]
            + ["snapshot", [put("n", 2)], (1, folded), (2, [put("n", 2), token("c")]), (4, None), [put("n", 3)]]
            + [(5, None), (4, [put("n", 3)])],
        ),
    ],
)
late = [
    [token("a")],
    [token("b")],
    [put("n", 1)],
    "snapshot",
    [put("n", 2)],
    (3, None),
    [token("c"), put("n", 3)],
    (4, None),
    "snapshot",
]
vectors(
    "changes/accept_late",
    "A late joiner gets a snapshot with the whole dictionary.",
    [run("a snapshot between", [doc], late)],
)
new = [[token("a")], [token("b")], "snapshot", [put("n", 1)], "snapshot", [put("n", 2)], (3, None)]
new += [[put("x", 1)], (4, None), [put("x", 2)], (5, None)]
vectors(
    "changes/accept_generation",
    "A full dictionary begins a new generation.",
    [
        run(
            "each commit",
            [doc],
            [[token("a")], (0, None), [token("b")], (1, None), [put("n", 1)], (2, None), [put("n", 2)], (3, None)],
            limit=1,
        ),
        run(
            "with a limit of 2",
            [doc],
            new + [[token("c")], (6, None), [token("d")], (7, None), "snapshot"],
            limit=2,
        ),
        run("a fold over its beginning", [doc], new + [(2, [put("n", 2), put("x", 2)]), (4, [put("x", 2)])], limit=2),
    ],
)
many = [[op("set", [0, f"k{i}"], value=0), op("set", [0, f"k{i}"], value=1)] for i in range(64)]
uses = [[op("set", [0, f"k{i}"], value=2)] for i in (0, 29, 30, 31, 63)]
script = many + ["snapshot"]
for index, use in enumerate(uses):
    script += [use, (64 + index, None)]
vectors("changes/accept_numbers", "Numbers beyond 29 take another byte.", [run("64 paths", [{}], script)])


def case(name, paths, members):
    told = [None if m is None else {key: native(value) for key, value in m.items()} for m in members]
    return {
        "name": name,
        "paths": paths,
        "members": told,
        "binary": p.snapshot_binary(paths, members).hex(),
        "json": p.snapshot_json(paths, members),
        "packed": [ops.hex() for ops in p.snapshot_packed(members)],
    }


vectors(
    "snapshots/accept_contents",
    "Values, errors, methods, and the dictionary.",
    [
        case("no members", [], []),
        case("only methods", [], [None, None]),
        case("one document", [], [{"value": {"entries": []}}]),
        case("a value that is null", [], [{"value": None}]),
        case("no value", [], [{}]),
        case("an error", [], [{"error": ["broken", "it broke"]}]),
        case("a value and an error", [], [{"value": 5, "error": ["deadline", ""]}]),
        case(
            "all of them",
            [[0, "entries"], [0, "title"], [4, 3, "ä"]],
            [
                {"value": {"title": "x", "entries": [1, 2]}},
                None,
                {"value": 2},
                {},
                {"value": None, "error": ["c", "m"]},
                None,
                {"error": ["d", "ü\ud83d"]},
            ],
        ),
        case("200 members", [], [{"value": i} for i in range(200)]),
    ],
)


def binary(name, state, data, code, position, **more):
    return refused(name, code, position, state=state, binary=data.replace(" ", ""), **more)


def text(name, state, json, code, position, **more):
    return refused(f"JSON: {name}", code, position, state=state, json=json, **more)


members = [{"value": {"a": [1, "x"]}}, None, {"value": 300, "error": ["code", "m"]}, {}, {"error": ["d", ""]}]
paths, state = [[0, "a"], [2, 5, "long key"]], [True, False, True, True, True]
whole, json = p.snapshot_binary(paths, members).hex(), p.snapshot_json(paths, members)
cases = [binary(f"cut off at {at // 2}", state, whole[:at], "truncated", at // 2) for at in range(0, len(whole), 2)]
cases += [text(f"cut off at {at}", state, json[:at], "truncated", at) for at in range(len(json))]
vectors("snapshots/refuse_truncated", "Snapshots cut off at each byte.", cases)
one = [True]
vectors(
    "snapshots/refuse_malformed",
    "Malformed snapshots.",
    [
        binary("data behind", one, "00 01c0 00", "trailing", 3),
        binary("a wrong mark", one, "00 04", "syntax", 1),
        binary("a wrong value", one, "00 01c1", "syntax", 2),
        binary("a path that is empty", one, "01 00 01c0", "syntax", 1),
        binary("more paths than the data", one, "7f 01", "truncated", 2),
        binary("more paths than the dictionary takes", one, "02 020000 020002 01c0", "range", 4, limit=1),
        binary("an overlong count", one, "8000 01c0", "syntax", 0),
        binary("an error without a code", one, "00 02 00 00", "syntax", 2),
        binary("a code that is no text", one, "00 02 01ff 00", "utf8", 3),
        binary("a member too many", [], "00 01c0", "trailing", 1),
        binary("too deep", one, "00 01 919190", "depth", 4, depth=2),
        text("data behind", one, "[[],[1],[]] 1", "trailing", 12),
        text("no array", one, "{}", "syntax", 0),
        text("two lists", one, "[[],[1]]", "syntax", 7),
        text("four lists", one, "[[],[1],[],[]]", "syntax", 10),
        text("a value too few", one, "[[],[],[]]", "syntax", 5),
        text("a value too many", one, "[[],[1,2],[]]", "syntax", 6),
        text("values in an object", one, '[[],{"0":1},[]]', "syntax", 4),
        text("a path that is a number", one, "[[0],[1],[]]", "syntax", 2),
        text("a path that is empty", one, "[[[]],[1],[]]", "syntax", 2),
        text("more paths than the dictionary takes", one, "[[[0,0],[0,1]],[1],[]]", "range", 8, limit=1),
        text("an error of a member that is not there", one, '[[],[1],[[1,1,"c","m"]]]', "range", 10),
        text("an error of a method", [True, False], '[[],[1],[[1,1,"c","m"]]]', "range", 10),
        text("a member twice", one, '[[],[1],[[0,1,"c","m"],[0,1,"c","m"]]]', "syntax", 24),
        text("members that descend", [True, True], '[[],[1,1],[[1,1,"c","m"],[0,1,"c","m"]]]', "syntax", 26),
        text("nothing said", one, '[[],[1],[[0,1,"",""]]]', "syntax", 10),
        text("hasValue 2", one, '[[],[1],[[0,2,"c","m"]]]', "syntax", 10),
        text("a message without a code", one, '[[],[null],[[0,0,"","m"]]]', "syntax", 13),
        text("a value that should not be there", one, '[[],[1],[[0,0,"",""]]]', "syntax", 5),
        text("an error that is too short", one, '[[],[1],[[0,1,"c"]]]', "syntax", 17),
        text("an error that is too long", one, '[[],[1],[[0,1,"c","m",1]]]', "syntax", 21),
        text("too deep", one, "[[],[[[[]]]],[]]", "depth", 7, depth=2),
    ],
)
