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

from tests.attacks.kill_points import KillPoints
from tests.attacks.kill_world import IN_PARTS, OF_FILES, OPERATIONS, World, build, hour, lines_of, state

STEPS = 3
SOMETIMES = 0.2
"""The share of kills that come from outside at any time, rather than at a counted moment."""
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
        dice = random.Random(self.seed)
        names = [name for name in OPERATIONS if name != "open" and (self.server is None or name not in OF_FILES)]
        some = [dice.choice([name for name in names if name != "upgrade"]) for _ in range(STEPS)]
        last = self.operation or dice.choice(names)
        return ["open", *some[: dice.randrange(STEPS)], last, *some[-1:]]


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
    template = case.folder / "template"
    if not template.exists():
        build(template)  # in this process, so that its children find everything loaded
    steps = case.steps()
    name = "pg" if case.server else "file"
    reference = case.folder / f"{name}-{case.seed}-reference"
    world = _world(case, reference)
    states, moments, seconds, loaded = _result(forked(lambda pipe: _undisturbed(world, steps, pipe)))
    for module in loaded:
        with suppress(ImportError):
            importlib.import_module(module)
    shutil.rmtree(reference)
    dice = random.Random(case.seed)
    return [_killed(case, steps, states, moments, seconds, number, dice) for number in range(case.kills)]


def _result(ended: tuple[bytes, int]) -> Any:
    told, status = ended
    assert status == 0, told.decode("utf-8", "replace")
    return pickle.loads(told)


def _world(case: Case, folder: Path) -> World:
    shutil.copytree(case.folder / "template", folder)
    file = "old.db" if case.seed % 4 == 0 else "agent.db"
    world = World(folder, case.seed, file=file, server=case.server)
    if case.server is not None:
        def fill(pipe: int) -> None:
            world.engine.import_(folder / "agent.jsonl")
            os.write(pipe, pickle.dumps(None))

        _result(forked(fill))
    return world


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
    if world.file == "agent.db":
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


def _killed(
    case: Case,
    steps: list[str],
    states: list[Any],
    moments: list[list[int]],
    seconds: float,
    number: int,
    dice: random.Random,
) -> Outcome:
    folder = case.folder / f"{'pg' if case.server else 'file'}-{case.seed}-{number}"
    world = _world(case, folder)
    at, after = _moment(case, steps, moments, dice), None
    if dice.random() < SOMETIMES:
        at, after = None, dice.uniform(0, seconds)
    told, _ = forked(lambda pipe: _doing(world, steps, at, pipe), kill_after=after)
    if b"\0" in told:
        raise AssertionError(f"seed {case.seed}, {steps}: {told.decode('utf-8', 'replace')}")
    acknowledged = len(told)
    when = f"moment {at}" if after is None else f"{after:.3f} s"
    under_way = steps[acknowledged] if acknowledged < len(steps) else "nothing"
    outcome = Outcome(case.seed, steps, when, under_way, acknowledged)
    told, status = forked(lambda pipe: _looking(world, steps, states, acknowledged, pipe))
    outcome.problems = _result((told, status)) if status == 0 else [("cannot be opened", told.decode()[-3000:])]
    shutil.rmtree(folder)
    return outcome


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


def _compared(
    world: World, steps: list[str], states: list[Any], done: int, problems: list[tuple[str, str]]
) -> int:
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
    ids = {one["memory"]["id"] for one in data if "memory" in one} | {one["entity"][0] for one in data if "entity" in one}
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
