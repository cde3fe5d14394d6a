"""What is left after a kill: opened, compared with what was acknowledged, checked, and led to the end."""

from __future__ import annotations

import json
import random
import re
import stat
from contextlib import suppress
from datetime import timedelta
from typing import Any

from memorist.ports import SCRUB
from tests.attacks.kill_world import IN_PARTS, OPERATIONS, World, hour, lines_of, state

ANOTHER = ("recall", "work")
"""Operations whose second run is another one: a recall counts again, and a claimed job is free after its lease."""
Problem = tuple[str, str]
"""Its sort, and what is wrong."""


def look(world: World, steps: list[str], states: list[Any], done: int) -> list[Problem]:
    """Open what is left, compare it with what it should be, and go on to the end."""
    problems = list[Problem]()
    world.clock.set(hour(done))
    if "upgrade" in steps[: done + 1]:
        _upgraded(world)
    after = _compared(world, steps, states, done, problems)
    _sound(world, problems, half_imported=after == done and steps[done : done + 1] == ["import"])
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
    if world.server is None and "restore" not in steps:
        _erased(world, states, first, problems)
    return problems


def _upgraded(world: World) -> None:
    """Open it with the version that was to open it."""
    with suppress(AssertionError):
        OPERATIONS["upgrade"](world, random.Random())


def _compared(world: World, steps: list[str], states: list[Any], done: int, problems: list[Problem]) -> int:
    """Compare with what was acknowledged; returns the operation to go on with."""
    now = state(world)
    if now == states[done]:
        return done
    if done < len(steps):
        if now == states[done + 1]:
            return done + 1
        if steps[done] in IN_PARTS:
            lost = _lost(states[done], states[done + 1], now)
            problems += [("lost", name) for name in lost]
            return len(steps) if steps[done] in ANOTHER else done
    kind = "half-written" if done < len(steps) and not _lost(states[done], states[done + 1], now) else "lost"
    problems += [(kind, text) for _, text in _unlike(states[done], now, "after the kill")]
    return len(steps)


def _lost(before: dict[str, Any], after: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What was there before and should be there after, and is not."""
    kept = set(before["memory"]) & set(after["memory"]) - set(now["memory"])
    return [line[:200] for line in sorted(kept)[:3]]


def _unlike(wanted: dict[str, Any], found: dict[str, Any], when: str) -> list[Problem]:
    problems: list[Problem] = []
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


def _sound(world: World, problems: list[Problem], *, half_imported: bool) -> None:
    """Nothing belongs to nothing; an import that leaves vectors out makes new ones when it has all texts."""
    engine = world.engine
    for finding in engine.audit(kinds=("orphan", "drift")).findings:
        if half_imported and "have no vectors" in finding.reason:
            continue
        problems.append(("audit", f"{finding.kind}: {finding.reason} {finding.ids}"))
    data = [json.loads(line) for line in lines_of(engine.store)]
    ids = {record["memory"]["id"] for record in data if "memory" in record} | {
        record["entity"][0] for record in data if "entity" in record
    }
    links = [record["link"] for record in data if "link" in record]
    problems += [("dangling", str(link)) for link in links if not {link[0], link[2]} <= ids]
    shown = [record["shown"] for record in data if "shown" in record]
    problems += [("dangling", str(link)) for link in shown if link[1] not in ids]
    named = {end for link in links for end in (link[0], link[2])}
    problems += [
        ("nameless", str(record)) for record in data if "entity" in record and record["entity"][0] not in named
    ]
    stats = engine.stats()
    counted = sum("memory" in record for record in data), len(links)
    if counted != (stats.memories + stats.versions, stats.links):
        problems.append(("counts", f"{counted} but {stats}"))


def _found(world: World, problems: list[Problem]) -> None:
    """A memory that is there can be found by its words."""
    engine = world.engine
    current = [
        memory for memory in engine.list(limit=1000).items if memory.kind.value == "episodic" and "note" in memory.text
    ]
    if current:
        wanted = current[-1]
        ids = [item.memory.id for item in engine.recall(wanted.text, limit=20, track=False).items]
        if wanted.id not in ids:
            problems.append(("recall", f"{wanted.text} is not found"))


def _jobs_done(world: World, problems: list[Problem]) -> None:
    world.clock.advance(timedelta(days=2))
    world.engine.work()
    problems += [("jobs", str(job)) for job in world.engine.jobs() if world.server is None or job.task != SCRUB]


def _files(world: World, problems: list[Problem]) -> None:
    for file in world.folder.rglob("*"):
        if file.is_file():
            name = str(file.relative_to(world.folder))
            if ".part" in name and world.server is not None:
                continue  # what a process wrote beside no database goes when the next one writes there
            if ".part" in name or "restoring" in name or name.endswith("-journal"):
                problems.append(("temporary files", name))
            elif stat.S_IMODE(file.stat().st_mode) & 0o077 and not name.endswith(".md"):
                problems.append(("private files", f"{name} {stat.S_IMODE(file.stat().st_mode):o}"))


def _erased(world: World, states: list[Any], now: dict[str, Any], problems: list[Problem]) -> None:
    """What was forgotten is in no byte of the memory, its log or its notes."""
    number = re.compile(r"note (\d+)")
    said = {match for before in states for line in before["memory"] for match in number.findall(line)}
    gone = said.difference(match for line in now["memory"] for match in number.findall(line))
    notes = (world.folder / "notes").rglob("*")
    for file in [*world.folder.glob(f"{world.file}*"), *notes]:
        if file.is_file() and ".before-" not in file.name:
            data = file.read_bytes()
            left = [note for note in sorted(gone) if note.encode() in data]
            problems += [("erased bytes", f"{file.name} still has note {note}") for note in left[:1]]
