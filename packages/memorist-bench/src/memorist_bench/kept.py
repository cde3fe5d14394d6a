"""Results as `--out` wrote them, read from a folder and compared without their dataset.

The files may come from anywhere: they are bounded, each value is checked, and nothing in them is followed or run.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, cast

from memorist.errors import InvalidInput, NotFound
from memorist_bench.measures import Figures
from memorist_bench.results import WITH_INTERVALS, Difference, Key, paired_differences

ENDING = ".json"
MOST_FILES = 100
MOST_BYTES = 64 * 1024 * 1024
MOST_RECIPES = 50
MOST_TYPES = 50
MOST_TEXT = 1000
MOST_COMPARED = 64
"""Comparisons that are kept; computing one reads two files."""
COSTS = ("p50_ms", "p95_ms", "context_tokens")
REPEAT = "Write it again with `memorist bench --out`."
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True)
class KeptRecipe:
    """The figures of one recipe; `questions` are those of each question, which only some files have."""

    name: str
    queries: int
    figures: Figures
    intervals: Mapping[str, tuple[float, float]]
    types: Mapping[str, Figures]
    reranked: bool
    questions: Mapping[Key, Figures]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A file that `--out` wrote: what was measured, on what, and how."""

    file: str
    written: datetime
    dataset: str
    checksum: str
    conditions: Mapping[str, str]
    recipes: tuple[KeptRecipe, ...]

    def recipe(self, name: str) -> KeptRecipe:
        """The recipe with a name."""
        found = next((named for named in self.recipes if named.name == name), None)
        if found is None:
            raise NotFound(f"{self.file} has no recipe {name!r}", remedy="Choose one of its recipes.")
        return found


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is not what `--out` writes, and why."""

    file: str
    why: str


class BenchFolder:
    """A folder of results. Figures are read once per version of a file; nothing outside the folder is read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._known: dict[str, tuple[Stamp, KeptRun | Unread]] = {}
        self._compared: dict[tuple[object, ...], list[Difference]] = {}

    def runs(self) -> list[KeptRun | Unread]:
        """The files, newest first, without the figures of each question."""
        with self._lock:
            stamps = self._stamps()
            self._known = {file: one for file, one in self._known.items() if file in stamps}
            return [self._head(file, stamp) for file, stamp in stamps.items()]

    def compare(self, one: tuple[str, str], other: tuple[str, str]) -> list[Difference]:
        """A recipe of a file minus one of another, question by question, as `memorist bench --compare` has it."""
        with self._lock:
            stamps = self._stamps()
            for file, _ in (one, other):
                if file not in stamps:
                    raise NotFound(f"There is no run {file!r}", remedy="Choose one of the list.")
            key = (one, stamps[one[0]], other, stamps[other[0]])
            if key not in self._compared:
                found = self._differences(one, other)
                self._compared = dict([*self._compared.items()][1 - MOST_COMPARED :]) | {key: found}
            return self._compared[key]

    def _differences(self, one: tuple[str, str], other: tuple[str, str]) -> list[Difference]:
        first, second = (read_run(self._folder / file) for file, _ in (one, other))
        if first.checksum != second.checksum:
            raise InvalidInput(
                f"{first.file} and {second.file} were measured on different datasets",
                remedy="Compare runs on the same dataset.",
            )
        mine, theirs = first.recipe(one[1]), second.recipe(other[1])
        for run, recipe in ((first, mine), (second, theirs)):
            if not recipe.questions:
                raise InvalidInput(f"{run.file} holds no figures of single questions", remedy=REPEAT)
        if not mine.questions.keys() & theirs.questions.keys():
            raise InvalidInput(f"{first.file} and {second.file} share no question", remedy="Compare other runs.")
        return paired_differences(mine.name, theirs.name, mine.questions, theirs.questions)

    def _head(self, file: str, stamp: Stamp) -> KeptRun | Unread:
        if self._known.get(file, (None,))[0] != stamp:
            try:
                run = read_run(self._folder / file)
                bare = tuple(replace(recipe, questions={}) for recipe in run.recipes)
                self._known[file] = stamp, replace(run, recipes=bare)
            except InvalidInput as error:
                self._known[file] = stamp, Unread(file, str(error))
        return self._known[file][1]

    def _stamps(self) -> dict[str, Stamp]:
        """The files of the folder itself, newest first; links and hidden files do not count."""
        try:
            with os.scandir(self._folder) as entries:
                found = {
                    entry.name: entry.stat(follow_symlinks=False)
                    for entry in entries
                    if entry.name.endswith(ENDING)
                    and not entry.name.startswith(".")
                    and entry.is_file(follow_symlinks=False)
                }
        except OSError as error:
            raise InvalidInput(
                f"The folder of results cannot be read: {error.strerror}",
                remedy="Start the server with --bench FOLDER.",
            ) from None
        stamps = {name: (one.st_mtime_ns, one.st_size) for name, one in found.items()}
        return dict(sorted(stamps.items(), key=lambda one: (-one[1][0], one[0]))[:MOST_FILES])


Stamp = tuple[int, int]
"""When a file was written, and its size: another version of it has another stamp."""


def read_run(file: Path) -> KeptRun:
    """A file that `--out` wrote, with every value checked; InvalidInput if it is anything else."""
    written, text = _content(file)
    try:
        data = _mapping(json.loads(text, parse_constant=_no_number))
        models = _mapping(data.get("models", {}))
        said = {**{name: models.get(name) for name in ("embedder", "reranker")}, **data}
        names = ("version", "embedder", "reranker", "reranking", "ingest", "extract")
        return KeptRun(
            file=file.name,
            written=written,
            dataset=_text(data["dataset"]),
            checksum=_text(data["checksum"]),
            conditions={name: _text(said[name]) for name in names if said.get(name) is not None},
            recipes=tuple(_recipe(_text(name), _mapping(one)) for name, one in _few(data["recipes"], MOST_RECIPES)),
        )
    except (KeyError, TypeError, ValueError, RecursionError):
        raise InvalidInput(f"{file.name} is not what `memorist bench --out` writes", remedy=REPEAT) from None


def _content(file: Path) -> tuple[datetime, bytes]:
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | _PLAIN), "rb") as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InvalidInput(f"{file.name} is not a file", remedy=REPEAT)
            text = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"{file.name} cannot be read: {error.strerror}", remedy=REPEAT) from None
    if len(text) > MOST_BYTES:
        raise InvalidInput(
            f"{file.name} is larger than {MOST_BYTES >> 20} MiB", remedy="Measure fewer recipes at once."
        )
    return datetime.fromtimestamp(status.st_mtime, UTC), text


def _recipe(name: str, data: Mapping[str, Any]) -> KeptRecipe:
    measured = [*WITH_INTERVALS, *(cost for cost in COSTS if cost in data)]
    intervals = _mapping(data["intervals"])
    return KeptRecipe(
        name=name,
        queries=int(_number(data["queries"])),
        figures={measure: _number(data[measure]) for measure in measured},
        intervals={measure: _interval(intervals[measure]) for measure in WITH_INTERVALS if measure in intervals},
        types={_text(kind): _figures(_mapping(one)) for kind, one in _few(data.get("by_type") or {}, MOST_TYPES)},
        reranked=data.get("reranked") is True,
        questions=_questions(data),
    )


def _figures(data: Mapping[str, Any]) -> Figures:
    return {measure: _number(data[measure]) for measure in ("queries", *WITH_INTERVALS) if measure in data}


def _questions(data: Mapping[str, Any]) -> dict[Key, Figures]:
    """The figures of each question; empty if the file has none."""
    columns = {name: _list(one) for name, one in _mapping(data.get("measures", {})).items() if name in WITH_INTERVALS}
    if len(columns) < len(WITH_INTERVALS):
        return {}
    answers = [_mapping(answer) for answer in _list(data["answers"])]
    found: dict[Key, Figures] = {}
    for answer, *values in zip(answers, *columns.values(), strict=True):
        if None not in values:
            key = _text(answer["group"]), _text(answer["question"])
            found[key] = {name: _number(value) for name, value in zip(columns, values, strict=True)}
    return found


def _mapping(data: object) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise TypeError
    return cast("dict[str, Any]", data)


def _few(data: object, most: int) -> list[tuple[str, object]]:
    return list(_mapping(data).items())[:most]


def _list(data: object) -> Sequence[Any]:
    if not isinstance(data, list):
        raise TypeError
    return cast("list[Any]", data)


def _text(data: object) -> str:
    if not isinstance(data, str) or len(data) > MOST_TEXT:
        raise TypeError
    return data


def _number(data: object) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float) or not math.isfinite(data):
        raise TypeError
    return float(data)


def _interval(data: object) -> tuple[float, float]:
    low, high = map(_number, _list(data))
    return low, high


def _no_number(name: str) -> float:
    raise ValueError(name)
