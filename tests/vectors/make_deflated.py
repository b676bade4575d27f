"""Vectors of deflated parts. Their bytes are written down, since libraries differ in how they deflate."""

import protocol as p
from make_common import refused, vectors

LIMIT = 64 << 20
NOTES = b"".join(b"%d milk and bread, " % (i * i % 97) for i in range(60))
DYNAMIC = (
    "8d91b91103310c035b51010ef4925439e79103cf3d81fb0f5cc022508a21486099d3fdbdce743c2bbd7f9f63bd5281d2a14c"
    "ba0c521d901aa73a77190f0653351ea4af3b24af347239ef19a7a668c8589e498bbb068d53d012bf100f13bb681ccc156ccd"
    "8a954c83c6c18395ad437c5fbc9a210aa782b84c1064d4c65c45902053620e2675567431d5b6a4adf52284886a3ba5051a01"
    "506016cff803"
)
FIXED = "cb48cdc9c957c8409000"  # "hello hello hello"
STORED = "010500faff68656c6c6f"  # "hello"
ZEROS = (  # 20,480 of them
    "edc13101000000c2a0f54f6d0a3fa00000000000000000000000000000000000000080b701"
)


def accepted(name, data, whole, **more):
    assert p.inflate(bytes.fromhex(data), more.get("limit", LIMIT)) == whole, name
    return {"name": name, "deflated": data, "bytes": whole.hex()} | more


def bad(name, code, position, data, **more):
    told = p.inflate(bytes.fromhex(data), more.get("limit", LIMIT))
    assert told == (code, position), (name, told)
    return refused(name, code, position, deflated=data, **more)


def bomb(blocks):
    """A ratio beyond 1,024: one long block of copies of one zero, in codes of one bit each."""
    bits = []

    def put(value, count):
        bits.extend(value >> at & 1 for at in range(count))

    head = [(1, 1), (2, 2), (29, 5), (0, 5), (14, 4)]  # the last one, codes of its own: 286, 1 and 18 of them
    for value, count in head:
        put(value, count)
    lengths = {18: 1, 1: 2, 2: 2}  # of the codes of lengths: 18 is 0, 1 is 10, 2 is 11
    for code in (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1):
        put(lengths.get(code, 0), 3)
    put(0b11, 2)  # literal 0: two bits
    for run in (138, 117):
        put((run - 11) << 1, 8)
    put(0b11, 2)  # 256: two bits
    put((28 - 11) << 1, 8)
    put(0b01, 2)  # 285, the longest copy: one bit
    put(0b01, 2)  # distance 1: one bit
    put(0b01, 2)  # literal 0 is 10
    for _ in range(blocks):
        put(0, 2)
    put(0b11, 2)  # 256 is 11
    bits.extend([0] * (-len(bits) % 8))
    return bytes(sum(bits[at + i] << i for i in range(8)) for at in range(0, len(bits), 8))


vectors(
    "deflated/accept_parts",
    "Deflated parts (`deflated`) and what they inflate to (`bytes`), with a `limit` on it where that is not 64 MiB.",
    [
        accepted("nothing, inflated", "0300", b""),
        accepted("a stored block", STORED, b"hello"),
        accepted("no bytes stored", "010000ffff", b""),
        accepted("stored in two blocks", "000100feff68" + "010400fbff656c6c6f", b"hello"),
        accepted("fixed codes", FIXED, b"hello hello hello"),
        accepted("codes of its own", DYNAMIC, NOTES),
        accepted("as large as the limit", DYNAMIC, NOTES, limit=len(NOTES)),
        accepted("zeros", ZEROS, bytes(20480)),
        accepted("copies of one byte in single bits", bomb(7).hex(), bytes(7 * 258 + 1)),
    ],
)
vectors(
    "deflated/refuse_parts",
    "Deflated parts that are refused. A position is told for what is cut off or too long; else it is 0.",
    [
        bad("nothing", "truncated", 0, ""),
        *[bad(f"stored, cut off at {at}", "truncated", at, STORED[: at * 2]) for at in range(1, len(STORED) // 2)],
        *[bad(f"fixed, cut off at {at}", "truncated", at, FIXED[: at * 2]) for at in range(1, len(FIXED) // 2)],
        *[
            bad(f"codes of its own, cut off at {at}", "truncated", at, DYNAMIC[: at * 2])
            for at in range(1, len(DYNAMIC) // 2, 7)
        ],
        bad("no last block", "truncated", 6, "000100feff61"),
        bad("stored, a byte behind", "trailing", len(STORED) // 2, STORED + "00"),
        bad("fixed, a byte behind", "trailing", len(FIXED) // 2, FIXED + "00"),
        bad("codes of its own, bytes behind", "trailing", len(DYNAMIC) // 2, DYNAMIC + "ab" * 40),
        bad("twice", "trailing", len(FIXED) // 2, FIXED * 2),
        bad("a block of kind 3", "syntax", 0, "07"),
        bad("stored with a wrong check", "syntax", 0, "01010000" + "0061"),
        bad("287 literals", "syntax", 0, "f501" + "00" * 6),
        bad("31 distances", "syntax", 0, "051e" + "00" * 6),
        bad("codes of lengths that overlap", "syntax", 0, "05e02449922449922400"),
        bad("a distance before the start", "syntax", 0, "63004200"),
        bad("a zlib header", "syntax", 0, "789ccb48cdc9c907000000"),
        bad("a gzip header", "syntax", 0, "1f8b0800000000000003"),
        bad("a byte over the limit", "too_large", 0, DYNAMIC, limit=len(NOTES) - 1),
        bad("over a limit of nothing", "too_large", 0, STORED, limit=0),
        bad("a ratio over 1,024", "too_large", 0, bomb(8000).hex()),
    ],
)
