"""pycrdt: a change made, encoded as an update, applied to a replica in the same process; without commit, link or watch.
python bench/peers/crdt.py FOLDER BATCHES"""

import importlib.metadata
import json
import pathlib
import sys
import time

from pycrdt import Array, Doc, Map, Text

NOTES = json.loads((pathlib.Path(sys.argv[1]) / "notes.json").read_text())
BATCHES = int(sys.argv[2])
ITEM = json.loads((pathlib.Path(sys.argv[1]) / "item.json").read_text())
WARM = 3 if BATCHES > 1 else 1


def shared(note):
    return Map({**note, "text": Text(note["text"])})


def field(entries):
    field.number += 1
    entries[500]["author"] = f"name-{field.number % 1000:03}"


field.number = 0


def token(entries):
    text = entries[999]["text"]
    text += " tok"


def restore_token(entries, batch):
    del entries[999]["text"][80:]


def restore_appended(entries, batch):
    del entries[1000 : 1000 + batch]


def restore_removed(entries, batch):
    entries.extend([shared(ITEM) for _ in range(batch)])


class Pair:
    """A document and its replica."""

    def __init__(self):
        self.doc, self.replica = Doc(), Doc()
        self.doc["entries"] = Array([shared(note) for note in NOTES["entries"]])
        self.entries = self.doc["entries"]
        self.copy = self.replica["entries"] = Array()
        self.replica.apply_update(self.doc.get_update())
        self.updates = []
        self.seen = 0
        self.following = self.doc.observe(lambda event: self.updates.append(event.update))
        self.watching = self.copy.observe_deep(self.notice)

    def notice(self, events):
        self.seen += 1

    def once(self, change):
        with self.doc.transaction():
            change(self.entries)
        size = 0
        for update in self.updates:
            self.replica.apply_update(update)
            size += len(update)
        self.updates.clear()
        return size


def measure(name, batch, change, restore=None):
    pair = Pair()
    samples, processor = [], []
    for number in range(-WARM, BATCHES):
        start, worked = time.perf_counter(), time.process_time()
        for _ in range(batch):
            size = pair.once(change)
        if number >= 0:
            samples.append((time.perf_counter() - start) * 1e6 / batch)
            processor.append((time.process_time() - worked) * 1e6 / batch)
        if restore:
            pair.once(lambda entries: restore(entries, batch))
    assert pair.seen >= (WARM + BATCHES) * batch
    row = {
        "case": f"commit to frame, {name}, binary",
        "system": "pycrdt",
        "version": importlib.metadata.version("pycrdt"),
    }
    print(json.dumps({**row, "unit": "us", "samples": samples, "processor": processor, "bytes": size}), flush=True)


measure("token appended", 200, token, restore_token)
measure("changed field", 200, field)
measure("appended item", 100, lambda entries: entries.append(shared(ITEM)), restore_appended)
measure("removed item", 100, lambda entries: entries.pop(400), restore_removed)
