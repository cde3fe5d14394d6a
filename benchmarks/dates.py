"""How many of the date cases of the Recognizers are understood, by kind, and which are not.

    python benchmarks/dates.py FOLDER [--all]    # english.jsonl and chinese.jsonl, such as ../shared/data/dates

The expected dates and ranges of each case are counted; times of day, durations and sets are out of scope.
A date is right if a span over its text has the start (and, for ranges, the end) of one of its values;
the open side of "before" and "since" is not compared. Each is counted twice: as `find_dates` reads it
(a range includes its last day), and with `edges="point"`, the convention of the cases (it does not).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memorist.text.dates.numbers import iso
from memorist.text.dates.reader import read
from memorist.text.dates.values import Context, DateSpan

SCOPE = {"date", "daterange", "datetime", "datetimerange"}
Edges = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True)
class Expected:
    """One date of a case: its place, and the values of which any is right."""

    input: str
    reference: datetime
    text: str
    begin: int
    stop: int
    values: list[Edges]

    def is_met(self, spans: list[DateSpan]) -> bool:
        return any(_same(span, value) for span in self.over(spans) for value in self.values)

    def over(self, spans: list[DateSpan]) -> list[DateSpan]:
        return [span for span in spans if span.begin < self.stop and span.stop > self.begin]


def _same(span: DateSpan, value: Edges) -> bool:
    start, end = value
    return (start is None or span.start == start) and (end is None or span.end == end)


def expected(path: Path, skipped: Counter[str]) -> Iterator[Expected]:
    """The dates of a file of cases; `skipped` counts what is out of scope or has no value."""
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for result in case["results"]:
            kind = result["TypeName"].removeprefix("datetimeV2.")
            values = _values(result)
            if kind not in SCOPE or not values:
                skipped[kind if kind not in SCOPE else "without a value"] += 1
                continue
            reference = datetime.fromisoformat(case["reference"] or "2020-01-01")
            begin, stop = result["Start"], result["End"] + 1
            yield Expected(case["input"], reference, result["Text"], begin, stop, values)


def _values(result: dict[str, Any]) -> list[Edges]:
    listed = (result.get("Resolution") or {}).get("values") or []
    pairs = [(_moment(v.get("value") or v.get("start")), _moment(v.get("end"))) for v in listed if v]
    return [pair for pair in pairs if pair != (None, None)]


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None
    except ValueError:  # "not resolved"
        return None


def kind_of_miss(case: Expected, context: Context) -> str | None:
    """Why an expected date is not met, or None if it is."""
    found = read(case.input, context)
    if case.is_met(found):
        return None
    if context.edges == "whole" and case.is_met(read(case.input, replace(context, edges="point"))):
        return "range: the data stops where its last day, month or year begins"
    for prefer in ("future", "nearest"):
        if case.is_met(read(case.input, replace(context, prefer=prefer, edges="point"))):
            return "the data means the future only; right with prefer='future'"
    return "read as another time" if case.over(found) else "not read as a date"


@dataclass(frozen=True, slots=True)
class Score:
    """How many expected dates of a file were met, under one reading of ranges."""

    total: int
    misses: list[tuple[str, Expected]]
    skipped: Counter[str]

    @property
    def share(self) -> float:
        return 1 - len(self.misses) / self.total


def score(path: Path, edges: str) -> Score:
    """Measure one file of cases."""
    skipped: Counter[str] = Counter()
    cases = list(expected(path, skipped))
    misses: list[tuple[str, Expected]] = []
    for case in cases:
        kind = kind_of_miss(case, Context(case.reference, edges=edges))  # pyright: ignore[reportArgumentType]
        if kind:
            misses.append((kind, case))
    return Score(len(cases), misses, skipped)


def report(folder: Path, *, everything: bool) -> None:
    for language in ("english", "chinese"):
        path = folder / f"{language}.jsonl"
        print(f"\n{language}")
        for edges in ("whole", "point"):
            result = score(path, edges)
            print(f"  edges={edges}: {result.total - len(result.misses)} of {result.total} = {result.share:.3f}")
            for kind, count in Counter(kind for kind, _ in result.misses).most_common():
                print(f"    {count:3}  {kind}")
            if edges == "point" or everything:
                _print_misses(result, edges)
        print("  out of scope:", ", ".join(f"{count} {kind}" for kind, count in result.skipped.most_common()))


def _print_misses(result: Score, edges: str) -> None:
    for kind, case in sorted(result.misses, key=lambda miss: miss[0]):
        found = read(case.input, Context(case.reference, edges=edges))  # pyright: ignore[reportArgumentType]
        ours = ", ".join(f"{span.text!r} = {iso(span.start, span.end)}" for span in case.over(found))
        print(f"      {kind} | {case.text!r} at {case.reference.date()} | ours: {ours or '-'}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    arguments.add_argument("--all", action="store_true", help="show the misses of `whole`, too")
    given = arguments.parse_args()
    report(given.folder, everything=given.all)


if __name__ == "__main__":
    main()
