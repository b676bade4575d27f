"""How the page says a number, a row, a table."""

LABELS = {"c": "C", "node": "Node, addon", "wasm": "Node, WebAssembly", "python": "Python"}


def number(value):
    if value is None:
        return "-"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def cell(entry):
    return f"{number(entry['median'])} ({number(entry['min'])} to {number(entry['max'])})"


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""
