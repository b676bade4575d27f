"""Vectors of envelope messages."""

import protocol as p
from make_common import nest, op, refused, vectors

HOST = "000102030405060708090a0b0c0d0e0f"
RUN = "ffeeddccbbaa99887766554433221100"


def part(value):
    return {"json": p.json(value)}


def message_case(name, kind, fields, origin=None, flags=None, current=0, **more):
    message = {"kind": kind, "fields": fields}
    if flags:
        message["flags"] = flags
    link = kind in ("hello", "welcome", "ping", "pong", "bye", "offer")
    if not link:
        message["origin"] = origin or 1
    case = {"name": name, "message": message, "binary": p.message_binary(message, current).hex()}
    if current:
        case["current"] = current
    if not any("packed" in str(field) for field in fields):
        case["text"], frames = p.message_text(message, current)
        if frames:
            case["frames"] = [frame.hex() for frame in frames]
    return case | more


token, zeros = part(["a", 0, " tok"]), "0" * 32
info = part({"software": "chordal"})
case = message_case
cases = [
    case("hello", "hello", [1, 1, HOST, RUN, 64 << 20, info]),
    case("hello without info", "hello", [1, 3, HOST, RUN, 1, None]),
    case("welcome", "welcome", [1, HOST, RUN, 2**53 - 1, info]),
    case("origin", "origin", [1, HOST, 2, 0, "", zeros, 0, 0, 0, 0, None]),
    case(
        "origin to a route, to resume",
        "origin",
        [3, HOST, 2, 1, "worker-1", RUN, 12345, 70000, 300, 20000, part({"user": "x"})],
        origin=3,
    ),
    case("opened", "opened", [RUN, 0, 8]),
    case("back", "back", [300, 65536]),
    case("lost", "lost", []),
    case("ended", "ended", ["", ""], origin=2),
    case("ended with a reason", "ended", ["revoked", "the key is no longer valid"]),
    case("hold", "hold", [0, "notes", 1, 0, part({"board": "lunch"})], current=1),
    case("hold with params null", "hold", [64, "ünïcode", 0, 12346, part(None)]),
    case("bound with nothing", "bound", [0, 0, 0, 0, None, None]),
    case(
        "bound with a snapshot",
        "bound",
        [0, 12, 2, 5, part([["list", 1, 0], ["add", 3, 1]]), part([[], [{"entries": []}], []])],
    ),
    case("bound with a gap", "bound", [5, 2, 1, 300, None, token], current=1),
    case("moved", "moved", [1, "worker-1", 2]),
    case("failed", "failed", [1, "no_type", "no such type"]),
    case("retired", "retired", [1]),
    case("revoked", "revoked", [1, "expired"]),
    case("release", "release", [300]),
    case("released", "released", [300]),
    case("s", "s", [1, [[0, token]]], current=1),
    case("s of nothing", "s", [7, []]),
    case("s of three", "s", [1, [[0, token], [1, part([])], [200, token]]]),
    case("s with more", "s", [1, [[0, token]]], flags=["more"]),
    case("s, durable", "s", [1, [[0, token]]], flags=["durable"]),
    case("s with both", "s", [0, [[0, token]]], flags=["more", "durable"], current=7, origin=8),
    case("a", "a", [16, 3], current=1),
    case("c", "c", [0, 3, 2, [part("milk")]], current=1),
    case("c without arguments", "c", [0, 0, 0, []]),
    case("c with many arguments", "c", [0, 255, 100, [part(i) for i in range(40)]]),
    case("c with a key", "c", [0, 3, 2, [{"raw": RUN}, part("milk")]], flags=["durable"], current=1),
    case("c with nothing but a key", "c", [0, 3, 2, [{"raw": RUN}]], flags=["durable"]),
    case("r", "r", [3, part("n1")], current=1),
    case("r of null", "r", [3, part(None)], current=1),
    case("e", "e", [3, "method:full", "the board is full"]),
    case("x", "x", [3]),
    case("retry", "retry", [3]),
    case("ping", "ping", [0]),
    case("pong", "pong", [2**53 - 1]),
    case("ping between others", "ping", [1], current=5),
    case("bye", "bye", ["malformed", 'no "array" here\n']),
    case("bye without words", "bye", ["", ""]),
    case("offer", "offer", ["notes"]),
]
vectors("messages/accept_kinds", "Every kind of message in both codecs.", cases)
cases = [
    case("the same origin is not named", "x", [0], origin=5, current=5),
    case("another one is", "x", [0], origin=6, current=5),
    case("the link itself is not named", "pong", [1], current=5),
    case("a large origin", "x", [0], origin=2**53 - 1),
]
vectors("messages/accept_origins", "The origin of a session is named when it changes.", cases)
cases = [
    case("bytes as an argument", "c", [0, 3, 2, [{"raw": "00ff10"}]], current=1),
    case("no bytes", "c", [0, 3, 2, [{"raw": ""}]], current=1),
    case(
        "bytes among values",
        "c",
        [0, 3, 2, [part("a"), {"raw": "01"}, part(0), {"raw": ""}, part([0]), {"raw": "0203"}]],
    ),
    case("bytes as a result", "r", [3, {"raw": "c3"}], current=1),
    case("256 bytes", "r", [3, {"raw": "ab" * 256}]),
    case("257 bytes", "r", [3, {"raw": "ab" * 257}]),
]
vectors("messages/accept_raw", "Raw bytes; in text they follow in frames of their own.", cases)
cases = [
    case("binary parts", "s", [1, [[0, {"packed": p.ops_binary([op("append", [0, "t"], text="x")]).hex()}]]]),
    case("a part of 256 bytes", "r", [0, part("x" * 254)]),
    case("a part of 257 bytes", "r", [0, part("x" * 255)]),
    case("long parts", "c", [0, 0, 0, [part("x" * 300), part("y"), part("z" * 20000), part("w" * 300)]]),
    case(
        "brackets and quotes in strings",
        "c",
        [0, 0, 0, [part('],["x",{"'), part('\\"]'), part("\\"), part(["}"]), part({'["': "]"})]],
    ),
    case("a part with white space", "r", [0, {"json": '{ "a" : [ 1 , 2 ] }'}]),
    case("a part that is not checked for keys", "r", [0, {"json": '{"a":1,"a":2}'}]),
    case("numbers beyond the doubles are not looked at", "r", [0, {"json": "1e999"}]),
    case("a part with escapes", "r", [0, {"json": '"\\u0022\\\\\\"]\\ud83d"'}]),
    case(
        "every kind of value",
        "c",
        [0, 0, 0, [part(v) for v in [None, True, False, 0, -1.5e-9, "", [], {}, [[]], {"": {}}]]],
    ),
    case("510 deep", "r", [0, {"json": nest(510)}]),
    case("516 deep: what surrounds a value may come on top", "r", [0, {"json": nest(516)}]),
]
vectors("messages/accept_parts", "Parts go through as they are.", cases)
cases = [
    case(
        "white space",
        "c",
        [0, 3, 2, [part("milk"), part([1])]],
        also_text=[' [ 1 ,\n"c"\t, 0 ,3,\r\n2 , "milk" , [1] ] '],
    ),
    case(
        "escapes in texts",
        "failed",
        [0, "no_type", "ä😀\ud83d"],
        also_text=['[1,"failed",0,"no\\u005ftype","\\u00e4\\ud83d\\ude00\\ud83d"]'],
    ),
    case("white space in an announcement", "r", [3, {"raw": "c3"}], also_text=['[1,"r#", [ 0 , 1 , 1 ] ,3, 0 ]']),
]
vectors("messages/accept_text_forms", "Other forms of the same text.", cases)


DEFLATED = {"deflated": "abcdef"}  # nobody on the way looks into it
cases = [
    case("a change", "s", [1, [[0, DEFLATED]]], current=1),
    case("changes, one of them deflated", "s", [1, [[0, token], [1, DEFLATED], [2, token]]], current=1),
    case("content", "bound", [0, 12, 2, 0, part([["list", 1, 0]]), DEFLATED], current=1),
    case("content alone", "bound", [0, 12, 1, 0, None, {"deflated": "ab" * 300}], current=1),
    case("an argument", "c", [0, 3, 2, [DEFLATED]], current=1),
    case(
        "arguments of all kinds",
        "c",
        [0, 3, 2, [DEFLATED, part(1), {"deflated_raw": "cd"}, {"raw": "ef"}, {"deflated": "01" * 257}]],
        current=1,
    ),
    case("a result", "r", [3, DEFLATED], current=1),
    case("bytes as a result", "r", [3, {"deflated_raw": "00" * 300}], current=1),
    case("no bytes at all", "r", [3, {"deflated": ""}], current=1),
]
vectors("messages/accept_deflated", "Deflated parts; in text they follow in frames of their own.", cases)


def unknown(name, origin=0, current=0, **frames):
    return {"name": name, "unknown": True, "message": {"origin": origin}, "current": current} | frames


cases = [
    unknown("a kind of later", binary="1f"),
    unknown("with fields", binary="1b0102030405"),
    unknown("with an origin", origin=7, binary="3d07ff"),
    unknown("with flags", binary="db00"),
    unknown("in text", text='["later"]'),
    unknown("in text with fields", origin=7, text='[7,"later",1,{"a":[]},null]'),
    unknown("in text, the same origin", origin=7, current=7, text='["later+!",1]'),
    unknown("in text with raw parts", text='["later#",[0,2,1,3,0,1],0,0]', frames=["0102", ""]),
]
vectors(
    "messages/accept_unknown",
    "Kinds that this version does not know: the link decides, by the peer's version.",
    cases,
)


def binary(name, data, code, position, **more):
    return refused(name, code, position, binary=data.replace(" ", ""), **more)


def text(name, json, code, position, **more):
    return refused(name, code, position, text=json, **more)


M = "malformed"
cases = []
for kind, fields in [
    ("hello", [1, 300, HOST, RUN, 1, part({"a": 1})]),
    ("bound", [0, 1, 2, 3, part([1]), part("content")]),
    ("failed", [1, "code", "ä"]),
    ("opened", [RUN, 1, 8]),
    ("origin", [1, HOST, 2, 0, "r", RUN, 5, 3, 1, 4, part(1)]),
    ("r", [300, part("result")]),
    ("retry", [200]),
    ("bye", ["c", "m"]),
]:
    message = {"kind": kind, "fields": fields} | ({} if kind in ("hello", "bye") else {"origin": 1})
    whole = p.message_binary(message, 0).hex()
    cases += [binary(f"{kind}, cut off at {at // 2}", whole[:at], M, at // 2) for at in range(0, len(whole), 2)]
    cases += [binary(f"{kind}, one byte more", whole + "00", M, len(whole) // 2)]
vectors("messages/refuse_binary_truncated", "Binary messages cut off at each byte, or a byte too long.", cases)
cases = []
for kind, fields in [
    ("hello", [1, 1, HOST, RUN, 1, part({"a": 1})]),
    ("failed", [1, "code", "ä"]),
    ("s", [1, [[0, part(["a", 0, "x\n"])]]]),
    ("c", [0, 1, 2, [part(-1.5e3), part([True, None])]]),
]:
    message = {"kind": kind, "fields": fields} | ({} if kind == "hello" else {"origin": 1})
    whole, _ = p.message_text(message, 0)
    data = whole.encode()
    for at in range(len(data)):
        try:
            cases.append(text(f"{kind}, cut off at {at}", data[:at].decode(), M, at))
        except UnicodeDecodeError:
            cases.append(refused(f"{kind}, cut off at {at}", M, at - 1, text_hex=data[:at].hex()))
    cases += [text(f"{kind}, data behind", whole + " 1", M, len(data) + 1)]
    cases += [text(f"{kind}, a field too many", whole[:-1] + ",{}]", M, len(data) - 1)] * (kind in ("hello", "failed"))
vectors("messages/refuse_text_truncated", "Text messages cut off at each byte, or too long.", cases)
vectors(
    "messages/refuse_binary",
    "Malformed binary messages.",
    [
        binary("kind 0", "00", M, 0),
        binary("kind 0 with flags", "c0", M, 0),
        binary("MORE on a call", "7101000000", M, 0),
        binary("DURABLE on an ack", "b0010500", M, 0),
        binary("both on a ping", "d600", M, 0),
        binary("the current origin named", "3405 00", M, 1, current=5),
        binary("origin 0 named at the start", "3600 00", M, 1),
        binary("an overlong origin", "3481 0000".replace(" ", ""), M, 1),
        binary("an origin of 2^53", "34 8080808080808010 00", M, 1),
        binary("a call about the link", "11000000", M, 0),
        binary("a ping in an origin", "36 05 00", M, 1),
        binary("origin 0 named", "3600 00", M, 1, current=5),
        binary("an overlong number", "14 8000", M, 1, current=1),
        binary("a number of 2^53", "14 8080808080808010", M, 1, current=1),
        binary("a number of 2^64", "14 80808080808080808002", M, 1, current=1),
        binary("a number without an end", "14 ffffffffffffffffffff", M, 1, current=1),
        binary("a text that is no text", "0a 00 02 c328 00", M, 3, current=1),
        binary("a text longer than the message", "18 00 05 6162", M, 5),
        binary("an argument that is absent", "11 000000 00", M, 4, current=1),
        binary("a result that is absent", "12 00 00", M, 2, current=1),
        binary("params that are absent", "07 00 00 00 00 00", M, 5, current=1),
        binary("a change that is absent", "0f 01 00 00", M, 3, current=1),
        binary("raw params", "07 00 00 00 00 05 61", M, 5, current=1),
        binary("a raw change", "0f 01 00 05 61", M, 3, current=1),
        binary("raw info", "01 01 01" + HOST + RUN + "01 05 61", M, 36),
        binary("deflated params", "07 00 00 00 00 06 61", M, 5, current=1),
        binary("deflated info", "01 01 01" + HOST + RUN + "01 06 61", M, 36),
        binary("a deflated authority", "03 01" + HOST + "02 01 00" + RUN + "00 00 00 00 06 61", M, 41, current=1),
        binary("a raw and deflated change", "0f 01 00 07 61", M, 3, current=1),
        binary("raw and deflated content", "08 00 01 02 00 00 07 61", M, 6, current=1),
        binary("a deflated part longer than the message", "12 00 0a 61", M, 4, current=1),
        binary("an overlong part", "12 00 8000", M, 2, current=1),
        binary("a part longer than the message", "12 00 28 6162", M, 5, current=1),
        binary("a part of 2^62-1 bytes", "12 00 fcffffffffffffffff01 61", M, 13, current=1),
        binary("a hold without a change", "0f 01 00", M, 3, current=1),
        binary("over the limit", "12 00 28" + "00" * 10, "too_large", 12, current=1, limit=12),
        refused("a text frame on a binary link", "order", 0, text='["x",0]', link="binary"),
    ],
)
vectors(
    "messages/refuse_text",
    "Malformed text messages.",
    [
        text("nothing", "", M, 0),
        text("no array", '{"a":1}', M, 0),
        text("an empty array", "[]", M, 1),
        text("no word", '[1,2,"x"]', M, 3),
        text("a word that is no word", '["Call",1]', M, 1),
        text("an empty word", '[""]', M, 1),
        text("suffixes alone", '["+#"]', M, 1),
        text("a word with an escape", '["\\u0078",0]', M, 1),
        text("a word of 33 letters", '["' + "a" * 33 + '"]', M, 1),
        text("suffixes in the wrong order", '["s!+",0]', M, 1, current=1),
        text("a suffix twice", '["s++",0]', M, 1, current=1),
        text("MORE on a call", '["c+",0,0,0]', M, 1, current=1),
        text("DURABLE on an ack", '["a!",1,0]', M, 1, current=1),
        text("the current origin named", '[5,"x",0]', M, 1, current=5),
        text("origin 0 named at the start", '[0,"ping",0]', M, 1),
        text("an origin of 2^53", '[9007199254740992,"x",0]', M, 1),
        text("an origin with a fraction", '[1.0,"x",0]', M, 2),
        text("an origin with an exponent", '[1e0,"x",0]', M, 2),
        text("a negative origin", '[-1,"x",0]', M, 1),
        text("an origin as text", '["1","x",0]', M, 1),
        text("a call about the link", '["c",0,0,0]', M, 1),
        text("a ping in an origin", '[5,"ping",0]', M, 3),
        text("origin 0 named", '[0,"pong",0]', M, 1, current=5),
        text("a text for a number", '["x","0"]', M, 5, current=1),
        text("null for a number", '["x",null]', M, 5, current=1),
        text("a negative number", '["x",-1]', M, 5, current=1),
        text("a number with a fraction", '["x",1.0]', M, 6, current=1),
        text("a number with an exponent", '["x",1e0]', M, 6, current=1),
        text("a leading zero", '["x",00]', M, 6, current=1),
        text("a number of 2^53", '["x",9007199254740992]', M, 5, current=1),
        text("a number without an end", '["x",' + "9" * 400 + "]", M, 5, current=1),
        text("a number for a text", '["moved",0,1]', M, 11, current=1),
        text("null for a text", '["moved",0,null]', M, 11, current=1),
        text("a wrong escape in a text", '["moved",0,"\\x"]', M, 13, current=1),
        text("a line in a text", '["moved",0,"\n"]', M, 12, current=1),
        text("an id too short", '["opened","AAAAAAAAAAAAAAAAAAAAA"]', M, 10, current=1),
        text("an id too long", '["opened","AAAAAAAAAAAAAAAAAAAAAAA"]', M, 10, current=1),
        text("an id with padding", '["opened","AAAAAAAAAAAAAAAAAAAAA="]', M, 10, current=1),
        text("an id of another alphabet", '["opened","AAAAAAAAAAAAAAAAAAAA+A"]', M, 10, current=1),
        text("an id with bits behind its end", '["opened","AAAAAAAAAAAAAAAAAAAAAB"]', M, 10, current=1),
        text("an id that is null", '["opened",null]', M, 10, current=1),
        text("an id with an escape", '["opened","\\u0041AAAAAAAAAAAAAAAA"]', M, 10, current=1),
        text("a field too few", '["c",0,1]', M, 8, current=1),
        text("a field too many", '["x",0,1]', M, 6, current=1),
        text("no result", '["r",0]', M, 6, current=1),
        text("a hold without a change", '["s",1,0]', M, 8, current=1),
        text("a hold that is a string", '["s",1,"0",[]]', M, 7, current=1),
        text("a comma too many", '["x",0,]', M, 6, current=1),
        text("a comma too many in a list", '["c",0,0,0,]', M, 11, current=1),
        text("no comma", '["x" 0]', M, 5, current=1),
        text("the wrong bracket", '["x",0}', M, 6, current=1),
        text("data behind", '["x",0] x', M, 8, current=1),
        text("two messages", '["x",0]["x",0]', M, 7, current=1),
        refused("a binary frame that nothing announced", "order", 0, frames=["00"]),
        text("over the limit", '["x",0]', "too_large", 6, current=1, limit=6),
        refused("a byte that is no text", M, 6, text_hex=b'["x",0\xff]'.hex(), current=1),
        refused("overlong", M, 12, text_hex=b'["moved",0,"\xc0\x80"]'.hex(), current=1),
        refused("a surrogate in bytes in a text", M, 12, text_hex=b'["moved",0,"\xed\xa0\xbd"]'.hex(), current=1),
        refused("a surrogate in bytes in a part", M, 8, text_hex=b'["r",0,"\xed\xb8\x80"]'.hex(), current=1),
    ],
)


def part_of(name, json, position, code=M, **more):
    return text(name, f'["r",0,{json}]', code, 7 + position, current=1, **more)


vectors(
    "messages/refuse_text_parts",
    "Parts of a text message that are no JSON value.",
    [
        part_of("a wrong word", "nul", 3),
        part_of("a word too long", "nulls", 4),
        part_of("another word", "trve", 2),
        part_of("no word", "x", 0),
        part_of("leading zero", "01", 1),
        part_of("minus", "-", 0),
        part_of("no digits behind the point", "1.", 0),
        part_of("no digits in the exponent", "1e+", 0),
        part_of("a plus", "+1", 0),
        part_of("the wrong bracket", "[}", 1),
        part_of("the wrong brace", "{]", 1),
        part_of("a bracket inside", '["a"}', 4),
        part_of("a comma too many", "[1,]", 3),
        part_of("a comma first", "[,1]", 1),
        part_of("no comma", "[1 2]", 3),
        part_of("a key without value", '{"a"}', 4),
        part_of("a key that is a number", "{1:2}", 1),
        part_of("a comma too many in an object", '{"a":1,}', 7),
        part_of("a colon in an array", '["a":1]', 4),
        part_of("a wrong escape", '"\\q"', 2),
        part_of("a short escape", '"\\u12"', 5),
        part_of("a control character", '"\t"', 1),
        part_of("single quotes", "'a'", 0),
        part_of("an escaped quote that does not end it", '"\\"', 4),
        part_of("517 deep", nest(517), 516, "depth"),
        part_of("never closed", "[" * 2000, 516, "depth"),
        part_of("a limit of 2", "[[[[[[[]]]]]]]", 6, "depth", depth=2),
    ],
)


def frames(name, json, follow, code, position):
    return text(name, json, code, position, current=1) | ({"frames": follow} if follow else {})


vectors(
    "messages/refuse_raw",
    "Raw parts that are announced wrongly, or do not come.",
    [
        frames("an empty announcement", '["r#",[],0,0]', [], M, 7),
        frames("no announcement", '["r#",0,0]', [], M, 6),
        frames("an announcement that is an object", '["r#",{},0,0]', [], M, 6),
        frames("only an index", '["r#",[0],0,0]', [], M, 8),
        frames("no bits", '["r#",[0,1],0,0]', [], M, 10),
        frames("bits 0", '["r#",[0,1,0],0,0]', [], M, 7),
        frames("bits 4", '["r#",[0,1,4],0,0]', [], M, 7),
        frames("a string", '["r#",["0",1,1],0,0]', [], M, 7),
        frames("a negative length", '["r#",[0,-1,1],0,0]', [], M, 9),
        frames("an index twice", '["c#",[0,1,1,0,1,1],0,0,0,0]', [], M, 13),
        frames("indexes that descend", '["c#",[1,1,1,0,1,1],0,0,0,0,0]', [], M, 13),
        frames("an index that is not there", '["r#",[1,1,1],0,0]', [], M, 17),
        frames("a place that holds a value", '["r#",[0,1,1],0,"x"]', [], M, 16),
        frames("a place that holds null", '["r#",[0,1,1],0,null]', [], M, 16),
        frames("a place that holds 1", '["r#",[0,1,1],0,1]', [], M, 16),
        frames("a place that holds 0.0", '["r#",[0,1,1],0,0.0]', [], M, 17),
        frames("a kind without raw parts", '["s#",[0,1,1],0,0,0]', [], M, 7),
        frames("a kind without raw parts, deflated", '["s#",[0,1,3],0,0,0]', [], M, 7),
        frames("a kind without deflated parts", '["hold#",[0,1,2],0,"notes",0,0,0]', [], M, 1),
        frames("deflated: more than the limit", '["r#",[0,67108864,2],0,0]', [], "too_large", 7),
        frames("deflated: a frame too short", '["r#",[0,3,2],0,0]', ["0102"], M, 2),
        frames("more than the limit", '["r#",[0,67108864,1],0,0]', [], "too_large", 7),
        frames("a frame too short", '["r#",[0,3,1],0,0]', ["0102"], M, 2),
        frames("a frame too long", '["r#",[0,1,1],0,0]', ["0102"], M, 1),
        frames("the second too short", '["c#",[0,1,1,1,1,1],0,0,0,0,0]', ["01", ""], M, 0),
        frames("one too many", '["r#",[0,1,1],0,0]', ["01", "02"], "order", 0),
        {
            "name": "a text frame where a binary one is due",
            "text": '["r#",[0,1,1],0,0]',
            "current": 1,
            "then": '["x",0]',
            "code": "order",
            "position": 0,
        },
    ],
)
