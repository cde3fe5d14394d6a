"""No line of a shared folder stops a replica: what cannot be used is skipped and named, and nothing waits for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from import_tests.replicas import Replica
from import_tests.test_shared_folder import plant, row
from memorist.stores.memory import MemoryStore
from memorist.stores.sqlite import SqliteStore

GOOD = row("good", "The oak is old.")
CLAIM = {
    "slot": {"subject": "Bo", "relation": "lives_in", "scope": "global", "classification": 1, "value": None},
    "value": "Oslo",
    "since": "2024-01-01T00:00:00Z",
    "known": "2024-01-01T00:00:00Z",
    "source": "said",
}
HALF = "\ud800"


def changed(line: dict[str, Any], path: tuple[Any, ...], value: object) -> dict[str, Any]:
    """A line with another value at a place."""
    made = deepcopy(line)
    at: Any = made
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    return made


BROKEN = {
    "an empty source": (("claim", "source"), ""),
    "a blank source": (("claim", "source"), " "),
    "an empty scope": (("claim", "slot", "scope"), ""),
    "half a surrogate in a subject": (("claim", "slot", "subject"), HALF),
    "half a surrogate in a relation": (("claim", "slot", "relation"), HALF),
    "half a surrogate in a value": (("claim", "value"), HALF),
    "half a surrogate in a source": (("claim", "source"), HALF),
    "a NUL character in a value": (("claim", "value"), "Os\0lo"),
    "an empty value": (("claim", "value"), ""),
    "an empty subject": (("claim", "slot", "subject"), ""),
}


@pytest.mark.parametrize("path_and_value", BROKEN.values(), ids=list(BROKEN))
def test_a_claim_that_cannot_be_used_is_named_and_nothing_waits_for_it(
    tmp_path: Path, path_and_value: tuple[tuple[str, ...], str]
) -> None:
    line = changed({"claim": CLAIM, "at": 1}, *path_and_value)
    file = plant(tmp_path / "shared", [GOOD, line, {"claim": CLAIM, "at": 1}])
    replica = Replica(tmp_path / "shared", store=SqliteStore.open(tmp_path / "a.db"))
    replica.engine.remember("It rained.")
    done = replica.sync()
    assert [(skip.name, skip.reason) for skip in done.skipped] == [(file.name, "line 3 cannot be used")]
    assert (done.came.memories, done.came.facts, done.went.memories, done.refused) == (1, 1, 1, 0)
    assert not replica.sync().went
    replica.engine.close()


def test_a_file_of_nothing_but_invalid_lines_makes_a_short_report(tmp_path: Path) -> None:
    plant(tmp_path / "shared", [b"x"] * 5000)
    skipped = Replica(tmp_path / "shared").sync().skipped
    assert len(skipped) == 101 and skipped[-1].reason == "4,900 more lines cannot be used"


# Every field of every record


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """One line of every kind, as a replica writes it."""
    with TemporaryDirectory() as folder:
        replica = Replica(Path(folder) / "shared")
        engine = replica.engine
        gone = engine.remember("It snowed.")
        replica.sync()
        kept = engine.remember("Ann met Carl in Rome.", session="s", speaker="Bo", position=1, metadata={"n": [1]})
        engine.update(kept.id, "Ann met Carl Berg in Rome.", topic="travel", expires_at="2030-01-01")
        fact = engine.relate("Bo", "lives_in", "Oslo", "Bo moved to Oslo.")
        engine.feedback(fact.id, "wrong")
        with engine.session("Open the door") as session:
            session.step("It is locked", "look under the mat", reward=1.0)
        engine.forget(gone.id)
        replica.sync()
        files = sorted((Path(folder) / "shared").glob("*.jsonl"))
        found = [json.loads(line) for file in files for line in file.read_bytes().splitlines()[1:]]
    assert {kind for kinds in found for kind in kinds} >= {"memory", "claim", "mark", "forgotten", "links", "entities"}
    return found


def paths(value: object, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in items:
        yield (*at, name)
        yield from paths(part, (*at, name))


HOSTILE = st.one_of(
    st.sampled_from(["", " ", "\0", HALF, "a" * 400, "2024-13-01", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]),
    st.sampled_from([None, True, -1, 0, 2**31, 2**53, 2**63, 2**70, -(2**63) - 1, 1e308, [], {}, [[]], [{}], {"": 1}]),
    st.sampled_from(["-inf", "nan"]).map(float),
    st.text(max_size=4),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=2), lambda more: st.lists(more, max_size=2), max_leaves=3
    ),
)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("kind", ["memory", "claim", "mark", "forgotten"])
def test_no_field_makes_a_sync_raise(lines: list[dict[str, Any]], kind: str, data: st.DataObject) -> None:
    sync_all(lines, kind, data, in_a_file=False)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("kind", ["memory", "claim", "mark", "forgotten"])
def test_no_field_makes_a_sync_of_a_file_raise(lines: list[dict[str, Any]], kind: str, data: st.DataObject) -> None:
    sync_all(lines, kind, data, in_a_file=True)


def sync_all(lines: list[dict[str, Any]], kind: str, data: st.DataObject, *, in_a_file: bool) -> None:
    """A replica takes over a line with up to two hostile fields, among good ones, and sends its own."""
    line = data.draw(st.sampled_from([row for row in lines if kind in row]))
    for _ in range(data.draw(st.integers(1, 2))):
        line = changed(line, data.draw(st.sampled_from(list(paths(line)))), data.draw(HOSTILE))
    others = [row for row in lines if kind not in row] if data.draw(st.booleans()) else []
    with TemporaryDirectory() as folder:
        plant(Path(folder) / "shared", [*others, line, GOOD])
        store = SqliteStore.open(Path(folder) / "a.db") if in_a_file else MemoryStore()
        replica = Replica(Path(folder) / "shared", store=store)
        replica.engine.remember("It rained.")
        assert replica.sync().went.memories == 1
        assert replica.engine.get("good") is not None
        assert not replica.sync().went
        replica.engine.close()
