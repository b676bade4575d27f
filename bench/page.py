"""The page of the report: docs/benchmarks.md, with two plots beside it."""

import html
import pathlib

import cases
import ratios
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
                    entry["instructions"],
                    counts.get("entries"),
                    counts.get("allocations"),
                ]
                rows.append([self.who(entry), cell(entry), *map(number, columns)])
            yield from table(["", "µs", "processor", "bytes", "instructions", "entries", "allocations"], rows)

    def values(self):
        rows = []
        names = list(dict.fromkeys(entry["case"] for entry in self.find("value")))
        for entry in sorted(self.find("value"), key=lambda entry: names.index(entry["case"])):
            name = entry["case"].removeprefix("value, ")
            who = "" if entry["system"] == "chordal" else self.who(entry)
            rows.append([name, who, cell(entry), number(entry["instructions"])])
        yield from table(["", "", "µs", "instructions"], rows)

    def beside(self):
        head = ["", "", "ours, µs", "best peer, µs", "ratio", "our bytes", "fewest bytes of a peer"]
        yield from table(head, ratios.peer_rows(self.entries))

    def limits(self):
        yield from table(["", "", "ours, µs", "limit", "its µs", "ratio"], ratios.limit_rows(self.entries))

    def memory(self):
        rows = []
        for entry in self.ordered(self.find("bytes kept")):
            counts = entry["counts"] or {}
            parts = [counts.get(name) for name in ("core", "native", "provider")]
            rows.append([self.who(entry), number(entry["median"]), *map(number, parts)])
        yield from table(["", "bytes", "of them in the core", "native", "and at the provider, for the hold"], rows)

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
        names = "timed beside limits times values memory sizes code".split()
        parts = {name: "\n".join(getattr(self, name)()) for name in names}
        return TEMPLATE.read_text().format(**parts, **versions)


# ---- plots ----

BAR, LEFT, WIDTH = 20, 400, 900
CUT = 4  # times the longest of ours in a group
COLOURS = {"chordal": "#3566a8", "limit": "#b8b8b8", "peer": "#c8813a"}


def colour(system):
    return COLOURS["chordal" if system == "chordal" else "limit" if system.startswith("limit") else "peer"]


def svg(height, body):
    style = "font:13px sans-serif;background:#fff"
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" style="{style}">'
    yield f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
    yield from body
    yield "</svg>\n"


def bar(top, label, share, fill, note):
    width = max(1, round((WIDTH - LEFT - 100) * share))
    yield f'<text x="{LEFT - 8}" y="{top + 14}" text-anchor="end">{html.escape(label)}</text>'
    yield f'<rect x="{LEFT}" y="{top + 2}" width="{width}" height="{BAR - 5}" fill="{fill}"/>'
    yield f'<text x="{LEFT + width + 6}" y="{top + 14}" fill="#555">{html.escape(note)}</text>'


def groups_plot(groups):
    """(title, [(label, value, colour, note)]): bars from the left, each group with its own scale; what is several
    times the longest of ours is cut, so that the others are seen."""
    top, body = 8, []
    for title, bars in groups:
        body.append(f'<text x="{LEFT}" y="{top + 15}" font-weight="bold">{html.escape(title)}</text>')
        top += 24
        ours = max(value for _, value, fill, _ in bars if fill == COLOURS["chordal"])
        most = min(max(value for _, value, _, _ in bars), CUT * ours)
        for label, value, fill, note in bars:
            body += bar(top, label, min(1, value / most), fill, note if value <= most else f"{note}, cut")
            top += BAR
        top += 12
    return "\n".join(svg(top, body))


def time_plot(page):
    wanted = ["call round trip, binary", "commit to frame, token appended, binary", "hold to live, 1,000 notes, binary"]
    for case in wanted:
        found = page.ordered([entry for entry in page.find(case, "us") if entry["case"] == case])
        bars = [(page.who(e), e["median"], colour(e["system"]), f"{number(e['median'])} µs") for e in found]
        yield case, bars


def bytes_plot(page):
    for codec in ("binary", "text"):
        bars = []
        for entry in page.find("wire size"):
            name, budget = entry["case"].removeprefix("wire size, "), entry["counts"]["budget"]
            if not name.endswith(codec) or budget is None or budget > 1000:
                continue
            bars.append((name, entry["median"], COLOURS["chordal"], f"{number(entry['median'])} of {budget}"))
        if bars:
            yield f"bytes of a message, {codec}", bars


def write(entries, folder, versions):
    page = Page(entries)
    (folder / "benchmarks-time.svg").write_text(groups_plot(time_plot(page)))
    (folder / "benchmarks-bytes.svg").write_text(groups_plot(bytes_plot(page)))
    (folder / "benchmarks.md").write_text(page.text(versions))
