"""Vectors of ops, and of applying them."""

import protocol as p
from make_common import native, native_op, op, refused, vectors


def ops_case(name, ops, **more):
    case = {"name": name, "ops": [native_op(one) for one in ops]}
    return case | {"binary": p.ops_binary(ops).hex(), "json": p.ops_json(ops)} | more


each = [
    op("replace", [0], value={"entries": []}),
    op("set", [0, "a"], value=1),
    op("delete", [0, "a"]),
    op("append", [0, "title"], text=" tok"),
    op("truncate", [0, "title"], count=3),
    op("splice", [0, "entries"], index=1, remove=2, values=["x", {"y": 1}]),
    op("splice", [0, "entries"], index=300, remove=1, values=[]),
    op("permute", [0, "entries"], indexes=[2, 0, 1]),
    op("permute", [3], indexes=list(range(199, -1, -1))),
    op("error", member=1, code="broken", message="it broke"),
    op("error", member=200, code="", message=""),
    op("assign", [0, "deep", 1], value=[1, 2]),
    op("assign", [5], value=None),
]
cases = [ops_case("nothing", [])]
cases += [ops_case(f"{one['op']} {index}", [one]) for index, one in enumerate(each)]
cases.append(ops_case("all of them", each))
vectors("ops/accept_kinds", "Every op.", cases)
paths = [
    [0],
    [127],
    [16384],
    [0, 0],
    [0, 2**32],
    [0, 2**53 - 1],
    [0, ""],
    [0, "\u0000"],
    [0, "__proto__"],
    [0, "0"],
    [0, 0, "0", 0],
    [0, "ä/~€😀"],
    [0, "\ud83d"],
    [0, "k" * 63],
    [0, "k" * 64],
    [0, '"\\\n'],
    [0, *["d", 1] * 100],
]
cases = [ops_case(f"path {index}", [op("delete", path)]) for index, path in enumerate(paths) if len(path) > 1]
cases += [ops_case(f"member {path[0]}", [op("replace", path, value=index)]) for index, path in enumerate(paths[:3])]
cases.append(ops_case("a path of 512 segments", [op("append", [0, *["k"] * 511], text="")]))
vectors("ops/accept_paths", "Paths: indexes and keys, of any text.", cases)
texts = ["", "a" * 127, "a" * 128, "\u0000", "ä€😀", "\ud83d", "\ude00", '"\\\n\u001f\u007f']
cases = [ops_case(f"text {index}", [op("append", [0], text=text)]) for index, text in enumerate(texts)]
cases += [ops_case("error texts", [op("error", member=0, code="method:ä", message="\u0000\ud83d\n")])]
numbers = [0, 2**63, 2**64 - 1, -(2**63), 0.1, 1e17, 2.0**53]
cases += [ops_case(f"value {number}", [op("set", [0, "n"], value=number)]) for number in numbers]
cases += [ops_case("values", [op("splice", [0], index=0, remove=0, values=[None, True, [], {}, "x", *range(40)])])]
vectors("ops/accept_arguments", "Texts and values in ops.", cases)
vectors(
    "ops/accept_forms",
    "Other forms of the same ops.",
    [
        ops_case(
            "white space",
            [op("set", [0, "a"], value=[1]), op("truncate", [1], count=2)],
            also_json=[' [ "s" , [ 0 , "a" ] , [ 1 ] , "t" , [ 1 ] , 2 ] ', '["s",[0,"\\u0061"],[1.0],"t",[1],2]'],
            also_binary=["f9020003" + "61" + "91cc01" + "fc010202"],
        ),
        ops_case("an escaped pair in a key", [op("delete", [0, "😀"])], also_json=['["d",[0,"\\ud83d\\ude00"]]']),
        ops_case(
            "two escaped keys",
            [op("delete", [0, "a", "b", 1, ""])],
            also_json=['["d",[0,"\\u0061","\\u0062",1,""]]'],
        ),
    ],
)


def binary(name, data, code, position, **more):
    return refused(name, code, position, binary=data.replace(" ", ""), **more)


def text(name, json, code, position, **more):
    return refused(name, code, position, json=json, **more)


ops = [
    op("replace", [0], value=[1, "x"]),
    op("set", [0, "key", 5], value=300),
    op("append", [1], text="tok"),
    op("splice", [0, 0], index=1, remove=200, values=["a", 0.5]),
    op("permute", [0], indexes=[1, 0]),
    op("error", member=3, code="c", message="m"),
    op("assign", [0, "z"], value=None),
]
cases = []
for one in ops:
    whole, json = p.op_bytes(one).hex(), p.ops_json([one])
    cases += [
        binary(f"{one['op']}, cut off at {at // 2}", whole[:at], "truncated", at // 2) for at in range(2, len(whole), 2)
    ]
    cases += [text(f"{one['op']}, JSON cut off at {at}", json[:at], "truncated", at) for at in range(len(json))]
vectors("ops/refuse_truncated", "Ops cut off at each byte.", cases)
vectors(
    "ops/refuse_binary",
    "Malformed binary ops.",
    [
        binary("an unknown op", "27", "syntax", 0),
        binary("the last unknown op", "ff", "syntax", 0),
        binary("an empty path", "fa00", "syntax", 1),
        binary("a path that begins with a key", "fa020361 00".replace(" ", ""), "syntax", 1),
        binary("an overlong count of segments", "fa8100", "syntax", 1),
        binary("an overlong index", "fa020080 00", "syntax", 3),
        binary("a varint over 64 bits", "fa0200ffffffffffffffffff02", "syntax", 3),
        binary("a varint of eleven bytes", "fa0200ffffffffffffffffffff01", "syntax", 3),
        binary("an index of 2^53", "fa0200 8080808080808020", "range", 3),
        binary("a key that is no text", "fa020003ff", "utf8", 4),
        binary("a key longer than the data", "fa02000561", "truncated", 5),
        binary("more segments than the data", "fa0500", "truncated", 3),
        binary("replace below a member", "f8020000c0", "path", 0),
        binary("a text that is no text", "fb010002c328", "utf8", 4),
        binary("a pair that is not joined", "fb010006eda0bdedb880", "utf8", 7),
        binary("a wrong value", "f80100c1", "syntax", 3),
        binary("bin as a value", "f80100c40100", "syntax", 3),
        binary("a wrong value deep inside", "f8010092c081a161c1", "syntax", 8),
        binary("NaN", "f80100cb7ff8000000000000", "number", 3),
        binary("a key twice in a value", "f8010082a16101a16102", "duplicate_key", 7),
        binary("a value too deep", "f8010091919090", "depth", 5, depth=2),
        binary("a path too deep", "fa0400000000", "depth", 1, depth=2),
        binary("more values than the data", "fd01000000 05c0", "truncated", 7),
        binary("a count of 2^53", "fc0100 8080808080808010", "range", 3),
        binary("an index that is not below the count", "fe0100020002", "permutation", 5),
        binary("more indexes than the data", "fe010003 0001", "truncated", 6),
        binary("a dictionary number without a stream", "02", "range", 0),
        binary("one behind 30", "f200", "range", 0),
        binary("define without a stream", "07 020000", "syntax", 0),
        binary("generation without a stream", "1f", "syntax", 0),
        binary("a code that is empty and a message that is not", "0f000001 6d", "syntax", 2),
        binary("the second op", "fa020000 fa00", "syntax", 5),
        binary("assign in a stream", "17 0100c0", "syntax", 0, dictionary=True),
        binary("a number that is not defined", "02", "range", 0, dictionary=True),
        binary("a number just beyond those defined", "07020000 020a", "range", 5, dictionary=True),
        binary("a number of before the generation", "07020000 02 1f 02", "range", 6, dictionary=True),
    ],
)
vectors(
    "ops/refuse_json",
    "Malformed JSON ops.",
    [
        text("no array", '{"a":1}', "syntax", 0),
        text("data behind", "[] []", "trailing", 3),
        text("no letter", "[1]", "syntax", 1),
        text("an unknown letter", '["z",[0]]', "syntax", 1),
        text("two letters", '["dd",[0,0]]', "syntax", 1),
        text("no letter at all", '["",[0]]', "syntax", 1),
        text("an escaped letter", '["\\u0064",[0,0]]', "syntax", 1),
        text("a comma too many", '["d",[0,0],]', "syntax", 11),
        text("no comma", '["d" [0,0]]', "syntax", 5),
        text("no path", '["d"]', "syntax", 4),
        text("a path that is a string", '["d","a"]', "syntax", 5),
        text("an empty path", '["d",[]]', "syntax", 5),
        text("a path that begins with a key", '["d",["a",0]]', "syntax", 5),
        text("a segment that is null", '["d",[0,null]]', "syntax", 8),
        text("a segment that is negative", '["d",[0,-1]]', "syntax", 8),
        text("a segment with a fraction", '["d",[0,1.0]]', "syntax", 9),
        text("a segment with a leading zero", '["d",[0,01]]', "syntax", 9),
        text("a segment of 2^53", '["d",[0,9007199254740992]]', "range", 8),
        text("a path too deep", '["d",[0,0,0,0]]', "depth", 5, depth=2),
        text("replace below a member", '["r",[0,0],null]', "path", 1),
        text("append without a text", '["a",[0],1]', "syntax", 9),
        text("append null", '["a",[0],null]', "syntax", 9),
        text("splice with values that are no array", '["p",[0],0,0,"x"]', "syntax", 13),
        text("splice without values", '["p",[0],0,0]', "syntax", 12),
        text("truncate with a string", '["t",[0],"1"]', "syntax", 9),
        text("truncate with an exponent", '["t",[0],1e1]', "syntax", 10),
        text("permute with a number", '["m",[0],1]', "syntax", 9),
        text("an index that is not below the count", '["m",[0],[0,2]]', "permutation", 9),
        text("an index beyond 2^32", '["m",[0],[0,4294967296]]', "permutation", 12),
        text("a wrong value", '["s",[0,"a"],[1,]]', "syntax", 16),
        text("a key twice in a value", '["r",[0],{"k":1,"k":2}]', "duplicate_key", 16),
        text("a value too deep", '["r",[0],[[[]]]]', "depth", 11, depth=2),
        text("beyond the doubles", '["r",[0],1e999]', "number", 9),
        text("a dictionary number without a stream", '["d",0]', "range", 5),
        text("define without a stream", '["#",[0,0]]', "syntax", 1),
        text("generation without a stream", '["*"]', "syntax", 1),
        text("assign in a stream", '["=",[0],1]', "syntax", 1, dictionary=True),
        text("define with a number", '["#",0]', "syntax", 5, dictionary=True),
        text("error with a path", '["!",[0],"c","m"]', "syntax", 5),
        text("error with a code that is a number", '["!",0,1,"m"]', "syntax", 7),
        text("a code that is empty and a message that is not", '["!",0,"","m"]', "syntax", 7),
        text("a number that is not defined", '["d",0]', "range", 5, dictionary=True),
        text("a number of before the generation", '["#",[0,0],"d",0,"*","d",0]', "range", 25, dictionary=True),
        refused("a key that is no text", "utf8", 9, json_hex=b'["d",[0,"\xff"]]'.hex()),
        refused("a text that is no text", "utf8", 11, json_hex=b'["a",[0],"a\x80"]'.hex()),
    ],
)


def apply_case(name, before, *ops):
    after = p.apply(before, ops)
    return {"name": name, "before": native(before), "ops": [native_op(one) for one in ops], "after": native(after)}


notes = {"title": "Notes", "entries": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}, {"id": 3, "text": "c"}]}
vectors(
    "apply/accept_ops",
    "Ops applied.",
    [
        apply_case("replace", [notes, 1], op("replace", [0], value="new")),
        apply_case("replace another member", [notes, 1], op("replace", [1], value=notes)),
        apply_case("set a property", [notes], op("set", [0, "title"], value="x")),
        apply_case("set a new property", [notes], op("set", [0, "new"], value={"a": []})),
        apply_case("set deep inside", [notes], op("set", [0, "entries", 1, "text"], value="B")),
        apply_case("set an element", [[1, 2, 3]], op("set", [0, 1], value=None)),
        apply_case("set one past the end", [[1, 2, 3]], op("set", [0, 3], value=4)),
        apply_case("set into the empty", [[], {}], op("set", [0, 0], value=0), op("set", [1, ""], value=0)),
        apply_case(
            "set __proto__",
            [{}],
            op("set", [0, "__proto__"], value={"x": 1}),
            op("set", [0, "__proto__", "x"], value=2),
        ),
        apply_case("set a key with NUL", [{"a": 1}], op("set", [0, "a\u0000"], value=2), op("delete", [0, "a"])),
        apply_case("delete a property", [notes], op("delete", [0, "title"])),
        apply_case("delete an element", [[1, 2, 3]], op("delete", [0, 1])),
        apply_case("delete the last", [[1], {"a": 1}], op("delete", [0, 0]), op("delete", [1, "a"])),
        apply_case("append", [notes], op("append", [0, "title"], text=" tok"), op("append", [0, "title"], text="en")),
        apply_case("append to a member", ["a"], op("append", [0], text="b")),
        apply_case("append nothing", ["a"], op("append", [0], text="")),
        apply_case("append joins halves", ["x\ud83d"], op("append", [0], text="\ude00y")),
        apply_case("append does not join others", ["\ude00"], op("append", [0], text="\ud83d")),
        apply_case("append joins halves twice", [""], *[op("append", [0], text=h) for h in "\ud83d\ude00\ud83d\ude01"]),
        apply_case("truncate", [notes], op("truncate", [0, "title"], count=2)),
        apply_case(
            "truncate counts UTF-16 units", ["a😀b"], op("truncate", [0], count=1), op("truncate", [0], count=2)
        ),
        apply_case("truncate splits a pair", ["😀b"], op("truncate", [0], count=1)),
        apply_case(
            "truncate splits a pair and append joins another",
            ["😀\ud83d"],
            op("truncate", [0], count=1),
            op("append", [0], text="\ude01"),
        ),
        apply_case(
            "truncate everything, and nothing",
            ["äb", "ab"],
            op("truncate", [0], count=2),
            op("truncate", [1], count=0),
        ),
        apply_case("splice in", [notes], op("splice", [0, "entries"], index=1, remove=0, values=["x", "y"])),
        apply_case("splice out", [notes], op("splice", [0, "entries"], index=0, remove=2, values=[])),
        apply_case("splice at the end", [[1, 2]], op("splice", [0], index=2, remove=0, values=[3])),
        apply_case("splice all", [[1, 2]], op("splice", [0], index=0, remove=2, values=[3, 4, 5])),
        apply_case("splice into the empty", [[]], op("splice", [0], index=0, remove=0, values=[[]])),
        apply_case("permute", [notes], op("permute", [0, "entries"], indexes=[2, 0, 1])),
        apply_case("permute nothing", [[]], op("permute", [0], indexes=[])),
        apply_case("permute 100", [list(range(100))], op("permute", [0], indexes=[i * 37 % 100 for i in range(100)])),
        apply_case(
            "assign", [notes], op("assign", [0, "entries", 0], value={"id": 9}), op("assign", [0, "new"], value=1)
        ),
        apply_case(
            "a long list",
            [list(range(1000))],
            op("splice", [0], index=500, remove=400, values=["m"] * 50),
            op("set", [0, 649], value="end"),
            op("delete", [0, 0]),
            op("set", [0, 649], value="more"),
        ),
        apply_case("an error leaves the value", [1], op("error", member=0, code="c", message="m")),
    ],
)


def refuse(name, before, one, code, **more):
    return {"name": name, "before": native(before), "ops": [native_op(one)], "code": code} | more


vectors(
    "apply/refuse_ops",
    "Ops that do not fit the value.",
    [
        refuse("no such property", [{"a": 1}], op("append", [0, "b"], text="x"), "path"),
        refuse("no such property on the way", [{"a": 1}], op("set", [0, "b", "c"], value=1), "path"),
        refuse("no such element on the way", [[1]], op("set", [0, 1, "c"], value=1), "path"),
        refuse("through a scalar", [{"a": 1}], op("set", [0, "a", "b"], value=1), "path"),
        refuse("an index into an object", [{"0": 1}], op("set", [0, 0], value=1), "type"),
        refuse("a key into an array", [[1]], op("set", [0, "0"], value=1), "type"),
        refuse("delete what is not there", [{"a": 1}], op("delete", [0, "b"]), "path"),
        refuse("delete beyond the end", [[1]], op("delete", [0, 1]), "range"),
        refuse("set beyond the end", [[1]], op("set", [0, 2], value=1), "range"),
        refuse("set far beyond the end", [[1]], op("set", [0, 2**32], value=1), "range"),
        refuse("append to a number", [{"a": 1}], op("append", [0, "a"], text="x"), "type"),
        refuse("append to an array", [[]], op("append", [0], text="x"), "type"),
        refuse("truncate an array", [[1]], op("truncate", [0], count=1), "type"),
        refuse("truncate too much", ["a😀"], op("truncate", [0], count=4), "range"),
        refuse("splice a string", ["abc"], op("splice", [0], index=0, remove=1, values=[]), "type"),
        refuse("splice beyond the end", [[1, 2]], op("splice", [0], index=3, remove=0, values=[]), "range"),
        refuse("splice out too many", [[1, 2]], op("splice", [0], index=1, remove=2, values=[]), "range"),
        refuse("splice out 2^53-1", [[1, 2]], op("splice", [0], index=2, remove=2**53 - 1, values=[]), "range"),
        refuse("permute an object", [{}], op("permute", [0], indexes=[]), "type"),
        refuse("permute too few", [[1, 2]], op("permute", [0], indexes=[0]), "permutation"),
        refuse("permute too many", [[1]], op("permute", [0], indexes=[0, 1]), "permutation"),
        refuse("permute one twice", [[1, 2]], op("permute", [0], indexes=[1, 1]), "permutation"),
        refuse("delete a member", [1], op("delete", [0]), "path"),
        refuse("a result too deep", [{"a": {}}], op("set", [0, "a", "b"], value=[[]]), "depth", depth=3),
    ],
)
