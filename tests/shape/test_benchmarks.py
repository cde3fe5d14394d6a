"""The benchmarks still run: each at its smallest, on data made here; and each says what it measures."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
HELPERS = {"citus_cluster", "common", "labelled"}
SCRIPTS = {path.stem: path for path in BENCHMARKS.glob("*.py") if path.stem not in HELPERS} | {
    path.parent.name: path for path in BENCHMARKS.glob("*/__main__.py")
}
NOT_RUN = {
    "check": "packages/memorist-bench/tests/test_expected.py runs it",
    "citus": "needs a PostgreSQL with Citus",
    "real_model": "needs a language model",
    "rivals": "needs other stores; packages/memorist-bench/tests/test_rivals.py runs its parts",
    "size": "needs the package index",
    "table": "packages/memorist-bench/tests/test_table.py runs it",
}


@dataclass(frozen=True)
class Run:
    """A script with options, and what it prints; {data} is the folder of `talks`, {out} one to write to."""

    command: str
    prints: Sequence[str]

    @property
    def script(self) -> str:
        return self.command.split(" ", 1)[0]


RUNS = (
    Run(
        "adaptive sweep --data {data} --sizes 20 --cache {out} --results {out}/a.json",
        ['"pool": 60', '"split": "chats-'],
    ),
    Run("adaptive check --data {data} --sizes 20 --cache {out} --results {out}/a.json", ['"split": "people-fit"']),
    Run("adaptive_fit --plot {out}/plot.svg", ["quality first more", "people-fit"]),
    Run("audit {data}/talk", ["| instructions | 3 |", "Undone: "]),
    Run("cold --memories 20 --runs 1", ["recall, words only", "hook prompt, a command"]),
    Run("confidence fit {out}/record {data}/talk --worlds 2", ["judge: bias ", "| worlds | ", "| talk | 45 | "]),
    Run("dates {data}", ["edges=point: 1 of 1 = 1.000", "chinese"]),
    Run("engine --sizes 20 --views 2 --questions 2", ["20 memories, 2 vectors each", "peak memory of the process"]),
    Run("extraction {data} --time {data}/talk", ["60 turns", "together"]),
    Run("fleet --spaces 20 --memories 2000 --requests 400 --rate 2", ["| in turn | 1 |", "| by space | 1 |"]),
    Run(
        "inspector --folder {out}/inspector --size 999 --times 1 --stores SQLite",
        ["| Graph | … two hops |", "0 pages failed"],
    ),
    Run("keyword_index --sizes 1000 --words 5 --vocabulary 31000", ["1,000 texts of 5 words", "add and ask, ms"]),
    Run("loop {data}/talk --questions 2", ["a question first", "again"]),
    Run("opening --sizes 2500", ["| 2,500 | no |", "| 2,500 | yes |"]),
    Run("pagerank --nodes 300 --links 900 --questions 2", ["| ours, tolerance 1e-06 |", "keeping 80 %"]),
    Run("postgres agree --data {data}/talk --recipes memorist nearest --questions 6", ["nearest", "6 of 6 the same"]),
    Run("postgres crowd --memories 500 --questions 5", ["500 memories in 50 spaces", "SQLite      vector signal"]),
    Run("recall_latency {data}/talk --questions 5", ["with the reranker, 5 questions", "without, 5 questions"]),
    Run("serve --clients 2 --turns 1 --spaces 1 --embedder none --reranker none", ['"errors": 0', '"lost": 0']),
    Run("server_index agree --data {data}/talk", ["60 turns, 45 questions, from server", "search_substring: 1.0000"]),
    Run("signature {data}/talk", ["| stems without stop words, with trigrams (ours) |"]),
    Run("spaces --spaces 3 --questions 2", ["| every space once | 3 |", "| a question, one space | 2 |"]),
    Run("threshold {data}/talk --models fast", ["| memorist-embed-3 | talk | 0.50 |"]),
    Run("tuning {data}/talk --cache {out}", ["45 questions", "written: "]),
    Run("understanding {data}/talk", ["expansion × 0.5", "three sentences hold"]),
    Run("vector_scan --count 5000", ["5,000 vectors of 384 dimensions", "signs, best 4,000"]),
    Run(
        "writing --data {data}/talk --sizes 0 --count 16 --postgres", ["| a plain table with FTS5 |", "| PostgreSQL |"]
    ),
)


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three talks of twenty turns with fifteen questions each, under every name that is asked for; and a date."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("talk", "locomo", "realtalk", "beam"):
        (folder / name).mkdir()
        write_talks(folder / name)
    date = {"Text": "3 May 2019", "Start": 6, "End": 15, "TypeName": "datetimeV2.date"}
    values = {"Resolution": {"values": [{"value": "2019-05-03"}]}}
    case = {"input": "It is 3 May 2019.", "reference": "2016-11-07T00:00:00", "results": [{**date, **values}]}
    for language in ("english", "chinese"):
        (folder / f"{language}.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    return folder


def write_talks(folder: Path) -> None:
    things = ("kayak", "cello", "lamp", "bicycle", "kettle", "ladder", "violin", "carpet", "hammer", "mirror")
    texts, questions, judged = list[object](), list[object](), ["query-id\tcorpus-id\tscore"]
    for group, (owner, town) in enumerate((("Ann", "Oslo"), ("Bob", "Turin"), ("Eve", "Riga"))):
        for turn in range(20):
            thing, day = things[turn % 10], datetime(2024, 1, 1) + timedelta(days=turn)
            about = {"group": owner, "session": f"{owner}/{turn // 5}", "speaker": owner, "at": day.isoformat()}
            said = f"I bought a {thing} for {group * 20 + turn + 3} euros in {town} and put it beside door {turn}."
            texts.append({"_id": f"{owner}/{turn}", "title": "", "text": said, "metadata": about})
        for number in range(15):
            asked = {"group": owner, "type": "place", "answer": f"in {town}, beside door {number}"}
            text = f"Where did {owner} put the {things[number % 10]} for {group * 20 + number + 3} euros?"
            questions.append({"_id": f"{owner}/q{number}", "text": text, "metadata": asked})
            judged.append(f"{owner}/q{number}\t{owner}/{number}\t1")
    for name, rows in (("corpus", texts), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (folder / "qrels.tsv").write_text("\n".join(judged) + "\n", encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS, ids=lambda run: " ".join(run.command.split()[:2]))
def test_a_benchmark_runs_and_prints_its_table(run: Run, talks: Path, tmp_path: Path) -> None:
    script, *options = run.command.format(data=talks, out=tmp_path).split(" ")
    command = [sys.executable, str(SCRIPTS[script]), *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [line for line in run.prints if line not in done.stdout] == [], done.stdout


def test_every_benchmark_is_run_or_says_why_not() -> None:
    assert sorted({run.script for run in RUNS} | NOT_RUN.keys()) == sorted(SCRIPTS)


ASK_ALL = """
import contextlib, io, json, runpy, sys
told = {}
for path in sys.argv[1:]:
    sys.argv = [path, "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        runpy.run_path(path, run_name="__main__")
    told[path] = said.getvalue()
print(json.dumps(told))
"""


def test_every_benchmark_tells_what_it_measures() -> None:
    """All in one process: they share what they import."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (BENCHMARKS, ROOT)))}
    command = [sys.executable, "-c", ASK_ALL, *map(str, SCRIPTS.values())]
    told = json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout)
    for path in SCRIPTS.values():
        about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        first, *_ = about.splitlines()
        assert first in told[str(path)] and "usage:" in told[str(path)], path


def test_the_page_lists_every_benchmark_and_no_other() -> None:
    page = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`(?:benchmarks/)?(\w+)\.py\b", page)) | set(re.findall(r"-m benchmarks\.(\w+)", page))
    assert listed == SCRIPTS.keys() | HELPERS
