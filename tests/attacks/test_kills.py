"""A thousand kills: what was acknowledged is there, nothing is half there, and what was begun can be done again.

Each case does some operations undisturbed and notes every state on the way. Then the same operations run again in
processes that are killed at a chosen moment: at a write, torn in half, at a change of a folder, at a statement to the
server, or from outside at any time. Whatever is left must be the state before or after the operation under way, or lead
there when the operation is repeated. `pytest -s` shows the table.
"""

from __future__ import annotations

import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.attacks.kill_cases import Case, Outcome, run, run_beside_a_crash
from tests.attacks.kill_world import OF_FILES, OPERATIONS
from tests.stores.postgres_server import GIVEN, running

KILLS_OF_FILES, KILLS_OF_CLIENTS, CRASHES = 800, 170, 30
"""A thousand: processes on files, processes on a server, and the server itself or its connections."""
FEW = 4
PER_CASE = 5


def cases(kills: int, folder: Path, server: str | None = None, per_case: int = PER_CASE) -> list[Case]:
    """Cases that kill every operation in turn."""
    names = [name for name in OPERATIONS if server is None or name not in OF_FILES]
    random.Random(len(names)).shuffle(names)
    count = -(-kills // per_case)
    shares = [per_case] * (count - 1) + [kills - per_case * (count - 1)]
    return [Case(seed, share, folder, server, names[seed % len(names)]) for seed, share in enumerate(shares)]


COLUMNS = ("kills", "acknowledged", "lost", "half-written", "unclean")


def table(outcomes: Iterable[Outcome]) -> str:
    """What came of the kills, by the operation that was under way."""
    rows: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        row = rows.setdefault(outcome.operation, Counter())
        row.update(kills=1, acknowledged=outcome.acknowledged)
        row.update({kind if kind in COLUMNS else "unclean" for kind, _ in outcome.problems})
    rows["together"] = sum(rows.values(), Counter[str]())
    head = f"{'killed during':<18}" + "".join(f"{name:>14}" for name in COLUMNS)
    lines = [f"{name:<18}" + "".join(f"{row[column]:>14}" for column in COLUMNS) for name, row in rows.items()]
    return "\n".join([head, *lines])


def check(outcomes: list[Outcome], kills: int) -> None:
    sys.stdout.write(f"\n{table(outcomes)}\n")
    told = [
        f"seed {outcome.seed}, {outcome.steps}, {outcome.at}, during {outcome.operation}: {kind}: {text}"
        for outcome in outcomes
        for kind, text in outcome.problems
    ]
    assert len(outcomes) == kills
    assert not told, "\n\n".join(told[:20])


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes that fork have one thread each."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")


def together(all_cases: list[Case]) -> list[Outcome]:
    """Run cases, two at a time, each in a folder of its process."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return [outcome for some in pool.imap_unordered(run, all_cases) for outcome in some]


@contextmanager
def durable_server() -> Iterator[str]:
    """A server that keeps what it acknowledged when it crashes; a given one is left as it is."""
    with running() as url:
        if GIVEN:
            yield url
            return
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_commit = on")
            connection.execute("SELECT pg_reload_conf()")
        yield url


@pytest.mark.usefixtures("one_thread")
def test_a_killed_process_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    older, newer = Case(0, FEW, tmp_path, operation="remember"), Case(1, FEW, tmp_path, operation="forget")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        outcomes = [outcome for some in pool.map(run, (older, newer)) for outcome in some]
    check(outcomes, 2 * FEW)


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
def test_eight_hundred_kills_beside_a_file(tmp_path: Path) -> None:
    check(together(cases(KILLS_OF_FILES, tmp_path)), KILLS_OF_FILES)


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
def test_two_hundred_kills_beside_a_server(tmp_path: Path) -> None:
    with durable_server() as url:
        outcomes = together(cases(KILLS_OF_CLIENTS, tmp_path, url))
        crashes = [Case(seed, 1, tmp_path, url) for seed in range(CRASHES)]
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            outcomes += [outcome for some in pool.map(run_beside_a_crash, crashes) for outcome in some]
    check(outcomes, KILLS_OF_CLIENTS + CRASHES)
