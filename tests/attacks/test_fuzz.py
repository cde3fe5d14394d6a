"""A hundred thousand hostile inputs: every verb, importer, route and tool refuses them in our words, or takes them.

A failure tells its seed and the smallest input that still fails. `pytest -s` shows how many inputs each target took.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import memorist
from memorist.errors import Error
from tests.attacks.fuzz_rest import Rest
from tests.attacks.fuzz_targets import (
    CANARY,
    CLASSIFIED,
    KEPT_APART,
    PLAIN,
    SECRET,
    call_of_a_verb,
    do,
    file_of,
    fresh,
    import_lines,
    parse,
    still_works,
    tool_call,
)
from tests.attacks.hostile import Hostile, shown, smallest

SHARES = {"verbs": 40_000, "importers": 30_000, "rest": 20_000, "mcp": 10_000}
"""The hundred thousand, by target."""
FEW = {"verbs": 150, "importers": 150, "rest": 100, "mcp": 50}
AT_ONCE = 250
"""Inputs for one memory, after which it must still work."""


@dataclass
class Found:
    """The failures of a run, one of each sort."""

    target: str
    inputs: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def add(
        self,
        seed: str,
        problem: str | BaseException,
        given: Any,
        fails: Callable[[Any], bool] | None = None,
        hostile: Hostile | None = None,
    ) -> None:
        """Keep a failure, with a small reproducer, unless its sort is known."""
        kind = f"{self.target}, wrong types" if hostile is not None and hostile.wrong else self.target
        sort = f"{kind}: {problem if isinstance(problem, str) else _sort(problem)}"
        if sort not in self.failures:
            least = given if fails is None else smallest(given, fails)
            detail = "" if isinstance(problem, str) else "".join(traceback.format_exception(problem)[-4:])
            self.failures[sort] = f"{sort}\n  seed {seed}\n  input {shown(least)}\n{detail}"

    def check(self) -> None:
        """Print how many there were, and fail if any failed."""
        seconds = time.monotonic() - self.began
        sys.stdout.write(f"\n{self.target}: {self.inputs:,} inputs, {self.inputs / seconds:,.0f} a second, ")
        sys.stdout.write(f"{len(self.failures)} sorts of failure\n")
        assert not self.failures, "\n\n".join(self.failures.values())


def _sort(error: BaseException) -> str:
    """The error and the last place of ours that it passed."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "/src/memorist" in frame.filename]
    place = ours[-1].filename.rpartition("/src/")[2] if ours else "the caller"
    return f"{type(error).__name__} in {place}"


def inputs(target: str, count: int, shard: str) -> Iterator[tuple[str, Hostile]]:
    """The seed of each input, and its dice."""
    for number in range(count):
        seed = f"{target}/{shard}/{number}"
        yield seed, Hostile(random.Random(seed))


def failure_of(work: Callable[[], Any]) -> BaseException | None:
    """What a piece of work raised that is none of our errors."""
    try:
        told = repr(work())
    except Error:
        return None
    except Exception as error:
        return error
    assert CANARY not in told
    return None


def verbs(count: int, shard: str, folder: Path, found: Found) -> None:
    engine = None
    for number, (seed, hostile) in enumerate(inputs("verbs", count, shard)):
        if number % AT_ONCE == 0:
            if engine is not None:
                still_works(engine)
                engine.close()
            vault = fresh(str(folder / f"vault-{number}.db"))
            vault.remember(KEPT_APART)
            vault.close()
            engine = fresh(":memory:" if number % (2 * AT_ONCE) else str(folder / f"agent-{number}.db"))
        assert engine is not None
        call = call_of_a_verb(engine, hostile, folder)
        error = failure_of(partial(do, engine, call))
        found.inputs += 1
        if error is not None:
            name, sort = call[0], _sort(error)

            def again(given: Any, name: str = name, sort: str = sort) -> bool:
                with fresh(":memory:") as other:
                    raised = failure_of(lambda: do(other, (name, given)))
                return raised is not None and _sort(raised) == sort

            found.add(f"{seed} {name}", error, call[1], again, hostile)
    assert engine is not None
    still_works(engine)
    engine.close()


def importers(count: int, shard: str, folder: Path, found: Found) -> None:
    engine = fresh(str(folder / "agent.db"))
    for number, (seed, hostile) in enumerate(inputs("importers", count, shard)):
        found.inputs += 1
        if number % 10:
            given = file_of(hostile)
            error = failure_of(partial(parse, folder, given))
            fails = None if error is None else _parser_fails(folder, given, _sort(error))
            if number % 20 == 1:
                error = error or failure_of(partial(engine.ingest, folder / given[0], format=given[2]))
            if error is not None:
                found.add(f"{seed} {given[0]} {given[2]}", error, given[1], fails)
        else:
            lines = import_lines(fresh(":memory:"), hostile)
            file = folder / "import.jsonl"
            file.write_bytes(lines)
            with fresh(":memory:") as other:
                error = failure_of(partial(other.import_, file))
            if error is not None:
                found.add(seed, error, lines)
        if number % AT_ONCE == AT_ONCE - 1:
            still_works(engine)
            engine.close()
            engine = fresh(str(folder / f"agent-{number}.db"))
    still_works(engine)
    engine.close()


def _parser_fails(folder: Path, given: tuple[str, bytes, str | None], sort: str) -> Callable[[Any], bool]:
    def fails(data: Any) -> bool:
        raised = failure_of(lambda: parse(folder, (given[0], bytes(data), given[2])))
        return raised is not None and _sort(raised) == sort

    return fails


def rest(count: int, shard: str, folder: Path, found: Found) -> None:
    server = Rest(folder)

    async def ask() -> None:
        for seed, hostile in inputs("rest", count, shard):
            request = server.request(hostile)
            found.inputs += 1
            try:
                problem: Any = server.problem(request, await server.ask(request))
            except Exception as error:
                problem = error
            if problem is not None:
                found.add(seed, problem, request)

    asyncio.run(ask())
    server.close()
    with memorist.open(f"{server.folder}/", space="agent", embedder="none", config={}) as engine:
        still_works(engine)


def mcp(count: int, shard: str, folder: Path, found: Found) -> None:
    from mcp import Client, MCPError

    from memorist_server.mcp.server import MemoryServer

    engine = fresh(":memory:")
    engine.remember(CLASSIFIED, classification=3)
    ids = [item.id for item in engine.list(max_classification=3).items]

    async def ask() -> None:
        server = MemoryServer(engine)
        tools = {tool.name: tool.input_schema for tool in await server.list_tools()}
        async with Client(server) as client:
            for seed, hostile in inputs("mcp", count, shard):
                name, given = tool_call(tools, ids, hostile)
                found.inputs += 1
                try:
                    answer = await client.call_tool(name, given)
                except MCPError:
                    continue
                except Exception as error:
                    if _sort(error).endswith("the caller"):  # the client cannot say it
                        continue
                    found.add(f"{seed} {name}", error, given)
                    continue
                text = repr(answer.content)
                if "Internal error" in text or "Traceback" in text:
                    found.add(f"{seed} {name}", text[:300], given)
                if SECRET in text:
                    found.add(f"{seed} {name}", "it tells what the caller may not see", given)

    asyncio.run(ask())
    still_works(engine)
    engine.close()


TARGETS = {"verbs": verbs, "importers": importers, "rest": rest, "mcp": mcp}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, because `ingest(".")` reads all that is there."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.mark.parametrize("target", TARGETS)
def test_hostile_input_is_refused_or_kept(target: str, tmp_path: Path) -> None:
    found = Found(target)
    TARGETS[target](FEW[target], "few", tmp_path, found)
    found.check()
    assert found.inputs == FEW[target] and PLAIN


@pytest.mark.slow
@pytest.mark.parametrize("shard", "ab")
@pytest.mark.parametrize("target", TARGETS)
def test_a_hundred_thousand_hostile_inputs_are_refused_or_kept(target: str, shard: str, tmp_path: Path) -> None:
    found = Found(target)
    TARGETS[target](SHARES[target] // 2, shard, tmp_path, found)
    found.check()
