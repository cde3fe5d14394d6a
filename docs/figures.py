"""Writes the tables of figures into the pages, from the results in `benchmarks/results`; `--check` only compares.

A results file holds tables by name, each with the command, commit and date that it came from. A page shows one between
`<!-- figures FILE/TABLE -->` and `<!-- end -->`, and a figure in a sentence names its cell in a comment behind it:
`85.6<!-- = FILE/TABLE: row | column -->`. A benchmark prints its table as Markdown, and this keeps it:

    python benchmarks/audit.py DATA | python docs/figures.py --keep FILE/TABLE "python benchmarks/audit.py DATA"
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(<!-- figures (\S+)/(\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
CELL = re.compile(r"(\S+?(?: (?:%|ms|MB|GB|µs|seconds))?)<!-- = (\S+)/(\S+): ([^|]+) \| (.+?) -->")
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`|\]\([^)]*\)|95 %\s(?:bootstrap\s)?interval", re.MULTILINE | re.DOTALL)
"""What is not prose: code, links, and the level of an interval, which is chosen and not measured."""
FIGURE = re.compile(r"(?<![\w.,–-])\d[\d,]*(?:\.\d+)?(?: ?%| (?:ms|MB|GB|µs|seconds)\b)|(?<![\w.,–-])\d+\.\d+(?![\w.])")
"""What looks like something measured: a number with decimals, or with a unit."""
Table = dict[str, Any]


def read(file: str, table: str) -> Table:
    """A table of the results."""
    return json.loads((RESULTS / f"{file}.json").read_text(encoding="utf-8"))[table]


def keep(file: str, table: str, command: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Keep a table of figures that was just measured, with the commit and the day."""
    path = RESULTS / f"{file}.json"
    kept: dict[str, Table] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    asked = ["git", "-C", str(ROOT), "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    day = date.today().isoformat()
    kept[table] = {"command": command, "commit": commit, "date": day, "columns": list(columns), "rows": list(rows)}
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def parsed(output: str) -> tuple[list[str], list[list[str]]]:
    """The columns and rows of the first Markdown table in the output of a benchmark."""
    lines = takewhile(lambda line: line.startswith("|"), dropwhile(lambda line: line[:1] != "|", output.splitlines()))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    if len(cells) < 3:
        sys.exit("no Markdown table in the input: pipe the output of a benchmark")
    return cells[0], cells[2:]


def drawn(table: Table) -> str:
    """A table as Markdown, with where it came from below."""
    head, rows = table["columns"], table["rows"]
    lines = [_line(head), f"|{'---|' * len(head)}", *map(_line, rows), ""]
    return "\n".join([*lines, f"*`{table['command']}`; commit `{table['commit']}`, {table['date']}.*", ""])


def _line(cells: Sequence[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def written(page: str) -> str:
    """A page with its tables as the results have them."""
    return BLOCK.sub(lambda block: f"{block[1]}{drawn(read(block[2], block[3]))}{block[4]}", page)


def wrong_cells(page: str) -> Iterator[str]:
    """The figures in sentences that are not what their cells say."""
    for shown, file, name, row, column in CELL.findall(page):
        table = read(file, name)
        [cells] = [cells for cells in table["rows"] if cells[0] == row]
        figure = cells[table["columns"].index(column)]
        words = re.split(r"[\s()]+", figure.replace("**", ""))
        if not set(shown.lstrip("*(").rstrip("*).,;").split()) <= set(words):
            yield f"{shown} is {figure} in {file}/{name}"


def unnamed(page: str) -> list[str]:
    """The figures in sentences that do not say which cell they come from."""
    prose = CODE.sub("", CELL.sub("", BLOCK.sub("", page)))
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "#"))]
    return FIGURE.findall("\n".join(lines))


def main() -> None:
    """Write the tables, or complain of pages that show something else."""
    if "--keep" in sys.argv:
        name, command = sys.argv[sys.argv.index("--keep") + 1 :]
        file, table = name.split("/")
        keep(file, table, command, *parsed(sys.stdin.read()))
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        current = written(page)
        if "--check" not in sys.argv:
            path.write_text(current, encoding="utf-8")
        elif current != page:
            sys.exit(f"{path.name} does not show the results: run `python docs/figures.py`")
        if wrong := list(wrong_cells(current)):
            sys.exit(f"{path.name}: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
