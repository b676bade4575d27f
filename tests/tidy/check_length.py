"""Functions, files and lines stay short; what the core measures by room is reported."""

import ast
import statistics

from tidy import ROOMS, c_functions, check, core_files, generated, main, place, repository

FUNCTION_LINES, FILE_LINES, LINE_WIDTH = 70, 800, 120
SOURCES = (".c", ".h", ".cc", ".py", ".ts", ".mjs", ".js", ".css", ".sh", "dev", "CMakeLists.txt", ".cmake")


@check
def c_function_length():
    """A C function has at most 70 lines."""
    for path in repository(".c", ".h", ".cc"):
        if generated(path):
            continue
        for name, line, lines in c_functions(path.read_text()):
            if lines > FUNCTION_LINES:
                yield f"{place(path, line)}: {name} has {lines} lines"


def is_table(function):
    """Whether a function is nothing but a list of rows: calls and yields, one after the other."""
    return all(isinstance(statement, ast.Expr) for statement in function.body)


@check
def python_function_length():
    """A Python function has at most 70 lines."""
    for path in repository(".py"):
        if generated(path):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not is_table(node):
                lines = node.end_lineno - node.lineno + 1
                if lines > FUNCTION_LINES:
                    yield f"{place(path, node.lineno)}: {node.name} has {lines} lines"


@check
def file_length():
    """A source file has at most 800 lines."""
    for path in repository(*SOURCES):
        if not generated(path) and (lines := len(path.read_text().splitlines())) > FILE_LINES:
            yield f"{place(path)}: {lines} lines"


@check
def line_width():
    """A line has at most 120 columns."""
    for path in repository(*SOURCES):
        if generated(path):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if len(line) > LINE_WIDTH:
                yield f"{place(path, number)}: {len(line)} columns"


def report():
    """Lines, functions, and their median and 90th percentile length, by room."""
    print(f"{'room':8}{'files':>6}{'lines':>7}{'functions':>10}{'median':>7}{'90%':>5}{'longest':>8}")
    for room in ROOMS:
        texts = [path.read_text() for r, path in core_files(".c", ".h") if r == room]
        lengths = sorted(lines for text in texts for _, _, lines in c_functions(text))
        if lengths:
            lines = sum(len(text.splitlines()) for text in texts)
            ninth = lengths[len(lengths) * 9 // 10]
            median = int(statistics.median(lengths))
            print(f"{room:8}{len(texts):6}{lines:7}{len(lengths):10}{median:7}{ninth:5}{lengths[-1]:8}")


if __name__ == "__main__":
    report()
    main()
