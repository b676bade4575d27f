"""The page of the report: docs/benchmarks.md, with plots beside it."""

import pathlib

import cases
import plots
import ratios
from aims import Aims
from cells import LABELS, cell, number, table

TEMPLATE = pathlib.Path(__file__).with_name("page.md")

RUNTIMES = list(LABELS)


class Page:
    def __init__(self, entries):
        self.entries = entries

    def find(self, start="", unit=None, runtime=None):
        for entry in self.entries:
            if (
                entry["case"].startswith(start)
                and unit in (None, entry["unit"])
                and runtime in (None, entry["runtime"])
            ):
                yield entry

    def who(self, entry):
        runtime = LABELS[entry["runtime"]]
        if entry["system"] == "chordal":
            return runtime
        return f"{runtime.split(',')[0]}: {entry['system']} {entry['version'] or ''}".rstrip()

    def ordered(self, entries):
        return sorted(entries, key=lambda entry: (RUNTIMES.index(entry["runtime"]), entry["system"] != "chordal"))

    def times(self):
        for case in dict.fromkeys(entry["case"] for entry in self.find(unit="us")):
            if case.startswith(("value", "growth", "message", "frame")):
                continue
            yield f"**{case}** ({cases.words(case)[0]})\n"
            rows = []
            for entry in self.ordered([e for e in self.find(unit="us") if e["case"] == case]):
                counts = entry["counts"] or {}
                columns = [
                    counts.get("processor"),
                    entry["bytes"],
                    counts.get("messages"),
                    counts.get("encodes"),
                    entry["instructions"],
                    counts.get("entries"),
                    counts.get("allocations"),
                ]
                rows.append([self.who(entry), cell(entry), *map(number, columns)])
            head = ["", "µs", "processor", "bytes", "messages", "encodes", "instructions", "entries", "allocations"]
            yield from table(head, rows)

    def values(self):
        rows = []
        names = list(dict.fromkeys(entry["case"] for entry in self.find("value")))
        for entry in sorted(self.find("value"), key=lambda entry: names.index(entry["case"])):
            name = entry["case"].removeprefix("value, ")
            who = "" if entry["system"] == "chordal" else self.who(entry)
            counts = entry["counts"] or {}
            told = [entry["instructions"], counts.get("allocations"), counts.get("allocated")]
            rows.append([name, who, cell(entry), *map(number, told)])
        yield from table(["", "", "µs", "instructions", "allocations", "bytes allocated"], rows)

    def beside(self):
        head = ["", "", "ours, µs", "best peer, µs", "ratio", "our bytes", "fewest bytes of a peer"]
        yield from table(head, ratios.peer_rows(self.entries))

    def limits(self):
        yield from table(["", "", "ours, µs", "limit", "its µs", "ratio"], ratios.limit_rows(self.entries))

    def memory(self):
        for case in dict.fromkeys(entry["case"] for entry in self.find("bytes kept")):
            yield f"**{case}** ({cases.payload(case)})\n"
            rows = []
            for entry in self.ordered(e for e in self.find("bytes kept") if e["case"] == case):
                counts = dict(entry["counts"] or {})
                parts = [counts.pop(name, None) for name in ("core", "native", "provider")]
                others = ", ".join(f"{name} {number(value)}" for name, value in counts.items())
                rows.append([self.who(entry), number(entry["median"]), *map(number, parts), others])
            yield from table(
                ["", "bytes", "of them in the core", "native", "and at the provider, for the hold", ""], rows
            )

    def growth(self):
        rows = []
        for entry in self.find("growth"):
            _, name, size = entry["case"].split(", ", 2)
            counts = entry["counts"]
            told = [entry["instructions"], counts["allocations"], counts["allocated"]]
            rows.append([name, size, cell(entry), *map(number, told)])
        yield from table(["", "size", "µs", "instructions", "allocations", "bytes allocated"], rows)

    def parsed(self):
        rows = []
        for entry in self.find("memory of a parsed document"):
            counts = entry["counts"]
            told = [entry["bytes"], counts["nodes"], entry["median"], counts["aim"]]
            share = f"{entry['median'] / counts['aim']:.2f}"
            rows.append([cases.payload(entry["case"]), *map(number, told), share])
        yield from table(["", "bytes of JSON", "values", "bytes in memory", "1.3 text + 16 values", "of it"], rows)

    def frames(self):
        """A table for each runtime: time, and bytes of the language's heap."""
        for runtime, label in LABELS.items():
            found = {entry["case"]: entry for entry in self.find("frame", runtime=runtime)}
            ways = list(dict.fromkeys(case.rsplit(", ", 1)[1] for case in found))
            rows = []
            for payload in dict.fromkeys(case.removeprefix("frame, ").rsplit(", ", 1)[0] for case in found):
                entries = [found[f"frame, {payload}, {way}"] for way in ways]
                told = [text for e in entries for text in (number(e["median"]), number(e["counts"]["heap"]))]
                rows.append([payload, *told])
            if rows:
                yield f"**{label}**\n"
                yield from table(["", *(f"{way}, {unit}" for way in ways for unit in ("µs", "bytes"))], rows)

    def messages(self):
        rows = []
        for entry in self.find("message encode"):
            name = entry["case"].removeprefix("message encode, ")
            decoded = next(self.find(f"message decode, {name}"))
            told = [entry["bytes"], entry["counts"]["kept"]]
            for one in (entry, decoded):
                told += [one["median"], one["instructions"], one["counts"]["allocations"]]
            rows.append([name, *map(number, told)])
        ways = [f"{way}: {what}" for way in ("encode", "decode") for what in ("µs", "instructions", "allocations")]
        yield from table(["message", "bytes", "kept while it waits", *ways], rows)

    def deltas(self, by_value):
        entries = [e for e in self.find("delta size") if e["case"].endswith(", by value") == by_value]
        systems = dict.fromkeys(entry["system"] for entry in entries)
        versions = {entry["system"]: entry["version"] for entry in entries}
        head = [f"{system} {versions[system]}" if system != "chordal" else "ours" for system in systems]
        rows = []
        for case in dict.fromkeys(entry["case"] for entry in entries):
            told = {entry["system"]: number(entry["bytes"]) for entry in entries if entry["case"] == case}
            name = case.removeprefix("delta size, ").removesuffix(", by value")
            rows.append([name, *(told.get(system, "-") for system in systems)])
        yield from table(["", *head], rows)

    def drafted(self):
        return self.deltas(False)

    def assigned(self):
        return self.deltas(True)

    def sizes(self):
        rows = []
        for binary in self.find("wire size"):
            name, codec = binary["case"].removeprefix("wire size, ").rsplit(", ", 1)
            text = next((e for e in self.find("wire size") if e["case"] == f"wire size, {name}, text"), None)
            if codec != "binary" or text is None:
                continue
            budgets = (binary["counts"]["budget"], text["counts"]["budget"])
            rows.append([name, number(binary["median"]), number(text["median"]), *map(number, budgets)])
        yield from table(["message", "binary", "text", "budget, binary", "text"], rows)

    def code(self):
        rows = []
        for entry in self.find("code"):
            counts = ", ".join(f"{name} {number(value)}" for name, value in (entry["counts"] or {}).items())
            rows.append([entry["case"].removeprefix("code, "), number(entry["median"]), entry["unit"], counts])
        yield from table(["", "", "", ""], rows)

    def timed(self):
        for start, (_, timed, _) in cases.CASES.items():
            yield f"* {start}: {timed}"

    def text(self, versions):
        names = "timed beside limits times values growth parsed frames messages drafted assigned memory sizes code"
        parts = {name: "\n".join(getattr(self, name)()) for name in names.split()}
        return TEMPLATE.read_text().format(**parts, **Aims(self.entries).stands(), **versions)


def write(entries, folder, versions):
    page = Page(entries)
    plots.write(page, folder)
    (folder / "benchmarks.md").write_text(page.text(versions))
