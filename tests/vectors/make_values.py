"""Vectors of values."""

import json

import protocol as p
from make_common import native, nest, refused, vectors


def value_case(name, value, **more):
    case = {"name": name, "value": native(value), "packed": p.pack(value).hex(), "json": p.json(value)}
    return case | {"digest": p.digest(value)} | more


integers = [0, 1, 31, 32, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**53 - 1, 2**53, 2**53 + 1]
integers += [2**63 - 1, 2**63, 2**64 - 1]
integers += [-1, -32, -33, -128, -129, -32768, -32769, -(2**31), -(2**31) - 1, -(2**53), -(2**53) - 1, -(2**63)]
vectors(
    "values/accept_integers",
    "Integers are exact from -2^63 to 2^64-1, each in its shortest form.",
    [value_case(str(number), number) for number in integers],
)
vectors(
    "values/accept_integer_forms",
    "Other forms of the same integer: longer packed forms, floats, exponents and fractions.",
    [
        value_case(
            "zero",
            0,
            also_json=["-0", "0.0", "-0.0", "0e9", "0E-5", " \t\r\n0 "],
            also_packed=[
                "cc00",
                "cd0000",
                "ce00000000",
                "cf0000000000000000",
                "d000",
                "d3" + "00" * 8,
                "ca00000000",
                "ca80000000",
                "cb0000000000000000",
                "cb8000000000000000",
            ],
        ),
        value_case(
            "one hundred",
            100,
            also_json=["1e2", "100.0", "1E+2", "1000e-1", "100.000"],
            also_packed=["cc64", "d064", "d10064", "ca42c80000", "cb4059000000000000"],
        ),
        value_case(
            "minus one",
            -1,
            also_json=["-1.0", "-10e-1"],
            also_packed=["d0ff", "d1ffff", "d2ffffffff", "d3ffffffffffffffff", "cabf800000"],
        ),
        value_case(
            "a double of 2^53 is an integer",
            2**53,
            also_json=["9007199254740992.0", "9.007199254740992e15"],
            also_packed=["cb4340000000000000"],
        ),
        value_case("2^63 in the signed and the unsigned family", 2**63, also_json=[" 9223372036854775808"]),
    ],
)
doubles = [0.5, -0.5, 0.1, 1.5, 1e-6, 1e-7, 123456.789, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308]
doubles += [
    3.141592653589793,
    -1e-300,
    1 / 3,
    4.35,
    0.000001234,
    2.0**53 + 2,
    1e17,
    -(2.0**60),
    2.0**64,
    1e22,
    1e300,
]
cases = [value_case(p.json_double(number), number) for number in doubles]
cases += [
    value_case(
        "an integer literal beyond the range is a double",
        2.0**64,
        also_json=["18446744073709551616", "18446744073709551616.0", "184467440737095516160e-1"],
        also_packed=["ca5f800000"],
    ),
    value_case("just below the range", -(2.0**63) * 2, also_json=["-18446744073709551616"]),
    value_case("a double beyond 2^53 stays one, though it is whole", 1e17, also_json=["100000000000000000.0", "1E17"]),
    value_case("half way: to the even one", 9007199254740996.0, also_json=["9007199254740995.0"]),
    value_case("float 32", 0.5, also_packed=["ca3f000000"]),
    value_case("too small is nothing", 0, also_json=["1e-400", "-1e-9999999999"]),
]
vectors("values/accept_doubles", "All other numbers are IEEE doubles, written with the fewest digits.", cases)
long = ["a" * size for size in (31, 32, 255, 256, 65536)]
texts = [
    "",
    "a",
    "\u0000",
    "\u0000\u0001\u001f\u007f",
    '"\\/',
    "\b\f\n\r\t",
    "ä",
    "€",
    "😀",
    "\u2028\u2029",
    "\ufeff",
]
lone = ["\ud83d", "\ude00", "a\udfffb", "\ud800\ud800", "\udc00\ud800", "\ud83dx\ude00"]
cases = [value_case(f"text {index}", text) for index, text in enumerate(texts)]
cases += [value_case(f"{len(text)} bytes", text) for text in long]
cases += [value_case(f"lone surrogates {index}", text) for index, text in enumerate(lone)]
cases += [
    value_case("escapes", "/é€😀A", also_json=['"\\/\\u00e9\\u20AC\\ud83d\\ude00\\u0041"']),
    value_case(
        "a pair is one code point",
        "😀",
        also_json=['"\\ud83d\\ude00"', '"\\uD83D\\uDE00"'],
        also_json_hex=["22eda0bdedb88022", b'"\\ud83d\xed\xb8\x80"'.hex(), b'"\xed\xa0\xbd\\ude00"'.hex()],
    ),
    value_case("a lone surrogate in three bytes", "\ud83d", also_json_hex=["22eda0bd22"]),
    value_case("longer packed forms", "ab", also_packed=["d9026162", "da00026162", "db000000026162"]),
]
vectors("values/accept_text", "Text is a sequence of UTF-16 units; lone surrogates survive.", cases)
cases = [
    value_case("null", None),
    value_case("false", False),
    value_case("true", True),
    value_case("no elements", []),
    value_case("no members", {}),
    value_case("an array of all", [None, True, 1, 0.5, "x", [], {}]),
    value_case("an object of all", {"a": None, "b": False, "c": -1, "d": [1, [2, [3]]], "e": {"f": {"g": "h"}}}),
    value_case("white space", [1, {"a": 2}], also_json=[' [ 1 ,\t{ "a"\r\n: 2 } ] ']),
    value_case("keys", {"": 1, "\u0000": 2, "a\u0000b": 3, "__proto__": 4, "constructor": 5, "toString": 6}),
    value_case("keys that are no UTF-16", dict.fromkeys(["\ud83d", "\ude00", "😀"], 1)),
    value_case("__proto__ that is an object", {"__proto__": {"__proto__": {"x": 1}}, "hasOwnProperty": None}),
    value_case("__proto__ alone", {"__proto__": None}),
    value_case("the digest sorts keys by their bytes", {"b": 1, "a": 2, "ä": 3, "Z": 4, "aa": 5, "": 6}),
    value_case("keys that look like indexes", {"10": 1, "9": 2, "a": 3, "1": 4, "-1": 5, "01": 6}, reordered=True),
    value_case("15 elements", list(range(15))),
    value_case("16 elements", list(range(16))),
    value_case("15 members", {f"k{i}": i for i in range(15)}),
    value_case("16 members", {f"k{i}": i for i in range(16)}),
    value_case(
        "longer packed forms",
        [{"a": 1}],
        also_packed=["dc000181a16101", "dd0000000181a16101", "91de0001a16101", "91df00000001d9016101"],
    ),
    value_case("512 deep", json.loads(nest(512))),
]
vectors("values/accept_trees", "Constants, arrays, objects; keys are any text.", cases)
vectors(
    "values/accept_arguments",
    "The packed array of a call's arguments: bytes may be elements of it, and stand nowhere else.",
    [
        {"name": name, "arguments": True, "value": native(value), "packed": p.pack(value).hex()}
        for name, value in [
            ("none", []),
            ("one string", ["milk"]),
            ("no bytes", [b""]),
            ("bytes", [b"\x00\xff\x80"]),
            ("bytes among values", [1, b"abc", None, {"a": "b"}, b"\x00" * 256]),
        ]
    ],
)


def text(name, json, code, position, **more):
    return refused(name, code, position, json=json, **more)


def raw(name, data, code, position, **more):
    return refused(name, code, position, json_hex=data.hex(), **more)


cases = [
    text(f"cut off: {t}", t, "truncated", len(t))
    for t in [
        "",
        " ",
        "[",
        "[1",
        "[1,",
        "{",
        '{"',
        '{"a',
        '{"a"',
        '{"a":',
        '{"a":1',
        '{"a":1,',
        '"',
        '"a',
        '"\\',
        '"\\u',
        '"\\u12',
        "t",
        "tru",
        "fals",
        "n",
        "-",
        "1.",
        "1e",
        "1e+",
        "-1.5e-",
    ]
]
cases += [
    text("no value", "x", "syntax", 0),
    text("a word too long", "nulls", "trailing", 4),
    text("a wrong word", "trve", "syntax", 2),
    text("capitals", "True", "syntax", 0),
    text("NaN", "NaN", "syntax", 0),
    text("infinity", "-Infinity", "syntax", 0),
    text("a plus", "+1", "syntax", 0),
    text("a point first", ".5", "syntax", 0),
    text("leading zero", "01", "trailing", 1),
    text("leading zero inside", "[01]", "syntax", 2),
    text("minus and leading zero", "-012", "trailing", 2),
    text("no digits behind the point", "[1.]", "syntax", 1),
    text("no digits in the exponent", "[1e]", "syntax", 1),
    text("minus alone", "[-]", "syntax", 1),
    text("a point in the exponent, cut off", "1e.4", "syntax", 0),
    text("two minuses, cut off", "[--", "syntax", 1),
    text("hexadecimal", "0x10", "trailing", 1),
    text("no comma", "[1 2]", "syntax", 3),
    text("a comma too many", "[1,]", "syntax", 3),
    text("a comma first", "[,1]", "syntax", 1),
    text("a comma too many in an object", '{"a":1,}', "syntax", 7),
    text("a key that is no string", "{a:1}", "syntax", 1),
    text("no colon", '{"a" 1}', "syntax", 5),
    text("the wrong bracket", "[1}", "syntax", 2),
    text("the wrong brace", '{"a":1]', "syntax", 6),
    text("data behind", "1 2", "trailing", 2),
    text("a bracket behind", "[]]", "trailing", 2),
    text("single quotes", "'a'", "syntax", 0),
    text("a comment", "[1/**/]", "syntax", 2),
    text("a wrong escape", '"a\\x"', "syntax", 3),
    text("a wrong digit", '"\\u12g4"', "syntax", 5),
    text("a control character", '"a\nb"', "syntax", 2),
    text("NUL", '"\u0000"', "syntax", 1),
    text("NUL between tokens", "[\u0000]", "syntax", 1),
    text("no white space", "[1,\u00a02]", "syntax", 3),
    text("byte order mark", "\ufeff1", "syntax", 0),
]
vectors("values/refuse_json_syntax", "JSON that is no JSON.", cases)
vectors(
    "values/refuse_numbers",
    "Numbers beyond the doubles, and what native numbers have too much.",
    [
        text("beyond the doubles", "[1e309]", "number", 1),
        text("minus", "-1e400", "number", 0),
        text("an integer beyond the doubles", "1" + "0" * 309, "number", 0),
        refused("packed infinity", "number", 0, packed="cb7ff0000000000000"),
        refused("packed NaN", "number", 1, packed="91cb7ff8000000000000"),
        refused("packed float infinity", "number", 0, packed="caff800000"),
        {"name": "native NaN", "value": {"$double": "nan"}, "code": "number"},
        {"name": "native infinity", "value": [{"$double": "inf"}], "code": "number"},
        {"name": "native minus infinity", "value": {"a": {"$double": "-inf"}}, "code": "number"},
        {"name": "native 2^64", "value": {"$integer": str(2**64)}, "code": "number"},
        {"name": "native -2^63-1", "value": {"$integer": str(-(2**63) - 1)}, "code": "number"},
    ],
)
vectors(
    "values/refuse_utf8",
    "Bytes that are no text.",
    [
        raw("a continuation alone", b'"a\x80"', "utf8", 2),
        raw("a lead alone", b'"\xc3"', "utf8", 1),
        raw("a lead before ASCII", b'"\xe2\x82x"', "utf8", 1),
        raw("overlong", b'"\xc0\x80"', "utf8", 1),
        raw("overlong in three", b'"\xe0\x80\x80"', "utf8", 1),
        raw("beyond the end", b'"\xf4\x90\x80\x80"', "utf8", 1),
        raw("five bytes", b'"\xf8\x88\x80\x80\x80"', "utf8", 1),
        raw("overlong and cut off", b'"\xe0\x80', "utf8", 1),
        raw("beyond the end and cut off", b'"\xf4\x90', "utf8", 1),
        raw("in a key", b'{"\xff":1}', "utf8", 2),
        refused("packed", "utf8", 2, packed="a261ff"),
        refused("in a packed key", "utf8", 2, packed="81a18001"),
        refused("a packed pair that is not joined", "utf8", 4, packed="a6eda0bdedb880"),
    ],
)
vectors(
    "values/refuse_trees",
    "Keys twice, and nesting over the limit.",
    [
        text("a key twice", '{"a":1,"a":2}', "duplicate_key", 7),
        text("by an escape", '{"a":1, "\\u0061":2}', "duplicate_key", 8),
        text("the empty key", '{"":1,"":2}', "duplicate_key", 6),
        text("__proto__ twice", '{"__proto__":1,"__proto__":1}', "duplicate_key", 15),
        text("deep inside", '[{"x":{"k":1,"l":2,"k":3}}]', "duplicate_key", 19),
        text("among many", "{" + ",".join(f'"k{i}":{i}' for i in range(40)) + ',"k7":0}', "duplicate_key", 341),
        refused("packed", "duplicate_key", 4, packed="82a16101a16102"),
        text("513 arrays", nest(513), "depth", 512),
        text("513 objects", nest(513, "1", '{"a":', "}"), "depth", 512 * 5),
        text("never closed", "[" * 2000, "depth", 512),
        text("a limit of 2", '[{"a":[]}]', "depth", 6, depth=2),
        refused("packed, 513 arrays", "depth", 512, packed="91" * 513 + "c0"),
        refused("packed, a limit of 2", "depth", 4, packed="9181a16190", depth=2),
    ],
)
whole = p.pack({"ab": [1, -200, 0.5, "x" * 40, {"c": None}], "de": 2**40}).hex()
cases = [refused(f"cut off at {at // 2}", "truncated", at // 2, packed=whole[:at]) for at in range(0, len(whole), 2)]
cases += [
    refused("data behind", "trailing", 1, packed="c0c0"),
    refused("never used", "syntax", 0, packed="c1"),
    refused("bin", "syntax", 0, packed="c40100"),
    refused("bin in an array", "syntax", 1, packed="91c40100"),
    refused("ext", "syntax", 0, packed="d40100"),
    refused("ext 8", "syntax", 0, packed="c7010100"),
    refused("a timestamp", "syntax", 0, packed="d6ff00000000"),
    refused("a key that is a number", "syntax", 1, packed="810102"),
    refused("a key that is nil", "syntax", 1, packed="81c001"),
    refused("a key that is bin", "syntax", 1, packed="81c4016101"),
    refused("a count that cannot be", "truncated", 5, packed="ddffffffff"),
    refused("a length that cannot be", "truncated", 6, packed="dbffffffff61"),
]
vectors("values/refuse_packed", "Packed bytes that are cut off, or of types that values do not have.", cases)
