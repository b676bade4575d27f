"""The payloads, as files that the programs of all languages read: the same text for all."""

import json
import random

WORDS = """
able about after again air all along also and another any around ask away back because before below between both
bread but came change city close could country day different does door each earth end even every example eye far
father few find first follow food form found four from give good great green ground group grow half hand hard
""".split()[:64]


def prose(source, length):
    text = " ".join(source.choice(WORDS) for _ in range(length // 3))
    return text[:length]


def entries(count, length):
    source = random.Random(count)
    for i in range(count):
        yield {
            "id": f"n{i:04}",
            "text": prose(source, length),
            "author": f"name-{source.randrange(1000):03}",
            "at": 1790000 + i,
        }


def write(folder):
    """Make the files: 1,000 notes of 80 characters (137 bytes of JSON each), a document of 500 times 960, one note."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, count, length in (("notes", 1000, 80), ("document", 500, 960)):
        value = {"entries": list(entries(count, length))}
        (folder / f"{name}.json").write_text(json.dumps(value, separators=(",", ":")))
    item = next(entries(1, 80))
    (folder / "item.json").write_text(json.dumps(item, separators=(",", ":")))
