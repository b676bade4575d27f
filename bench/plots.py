"""The plots of the page: bars from the left, in groups that have a scale of their own each."""

import html

import ratios
from cells import LABELS, number

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


def rule(top, height, share):
    """Where 1 is."""
    x = LEFT + round((WIDTH - LEFT - 100) * share)
    yield f'<line x1="{x}" x2="{x}" y1="{top}" y2="{top + height}" stroke="#555" stroke-dasharray="3 3"/>'


def drawn(groups, one=False):
    """(title, [(label, value, colour, note)]). What is several times the longest of ours is cut, so that the others are
    seen. `one`: values are ratios, and a line is at 1."""
    top, body = 8, []
    for title, bars in groups:
        if not bars:
            continue
        body.append(f'<text x="{LEFT}" y="{top + 15}" font-weight="bold">{html.escape(title)}</text>')
        top += 24
        ours = max((value for _, value, fill, _ in bars if fill == COLOURS["chordal"]), default=0)
        most = max(value for _, value, _, _ in bars)
        most = max(min(most, CUT * ours or most), 1 if one else 0)
        if one:
            body += rule(top, BAR * len(bars), 1 / most)
        for label, value, fill, note in bars:
            body += bar(top, label, min(1, value / most), fill, note if value <= most else f"{note}, cut")
            top += BAR
        top += 12
    return "\n".join(svg(top, body))


def measured(page, cases, unit):
    for case in cases:
        found = page.ordered([entry for entry in page.find(case) if entry["case"] == case])
        bars = [(page.who(e), e["median"], colour(e["system"]), f"{number(e['median'])} {unit}") for e in found]
        yield case, bars


def time_plot(page):
    changes = ("delta to replica, token appended, binary", "commit to frame, token appended, binary")
    wanted = ["call round trip, binary", *changes, "hold to live, 1,000 notes, binary"]
    return drawn(measured(page, wanted, "µs"))


def memory_plot(page):
    cases = dict.fromkeys(entry["case"] for entry in page.find("bytes kept"))
    parsed = []
    for entry in page.find("memory of a parsed document"):
        bound = entry["counts"]["aim"]
        share = entry["median"] / bound
        parsed.append((entry["case"].split(", ", 1)[1], share, COLOURS["chordal"], f"{share:.2f}"))
    return drawn([*measured(page, cases, "B"), ("memory of a parsed document, of what it may be", parsed)])


def bytes_plot(page):
    def groups():
        for codec in ("binary", "text"):
            bars = []
            for entry in page.find("wire size"):
                name, budget = entry["case"].removeprefix("wire size, "), entry["counts"]["budget"]
                if not name.endswith(codec) or budget is None or budget > 1000:
                    continue
                bars.append((name, entry["median"], COLOURS["chordal"], f"{number(entry['median'])} of {budget}"))
            yield f"bytes of a message, {codec}", bars

    return drawn(groups())


def peers_plot(page):
    """Ours to the best peer, a group for each runtime."""
    rows = list(ratios.compared(page.entries))
    for_runtime = {
        label: [
            (case, ours["median"] / best["median"], COLOURS["chordal"], f"{ours['median'] / best['median']:.2f}")
            for case, other, ours, best, _ in rows
            if other == runtime
        ]
        for runtime, label in LABELS.items()
    }
    return drawn(((f"{label}: time, to the best peer's", bars) for label, bars in for_runtime.items()), one=True)


def limits_plot(page):
    bars = [
        (f"{case.removeprefix('value, ')}, {label}: {limit.split(':')[0]}", float(ratio), COLOURS["chordal"], ratio)
        for case, label, _, limit, _, ratio in ratios.limit_rows(page.entries)
    ]
    return drawn([("time, to the limit's", bars)], one=True)


PLOTS = {"time": time_plot, "bytes": bytes_plot, "memory": memory_plot, "peers": peers_plot, "limits": limits_plot}


def write(page, folder):
    for name, plot in PLOTS.items():
        (folder / f"benchmarks-{name}.svg").write_text(plot(page))
