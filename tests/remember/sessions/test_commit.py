"""Learning from a session: the nodes, links and rewards of a recorded run, once, together, and not lost by failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorist.errors import ModelUnavailable
from memorist.model import HIERARCHY, SIBLING, Kind, Link, Memory
from memorist.ports import Completion, Store
from memorist.remember.jobs import retry_after
from memorist.remember.sessions.commit import MOST_ATTEMPTS
from memorist.remember.sessions.session import IDLE
from memorist.stores.memory import MemoryStore
from memorist.stores.sql import bookkeeping
from memorist.stores.sqlite import SqliteStore
from tests.recorded_run import (
    FAILURE,
    FIND,
    FIRST_OF_RAISE,
    RAISE,
    REWARDS_BY_MODEL,
    REWARDS_BY_RULES,
    STEPS,
    RecordedModel,
    RecordedStep,
)
from tests.remember.sessions.worlds import World

AWAY = ModelUnavailable("the model is away", remedy="Wait.")
FIRST, SECOND = slice(0, FIRST_OF_RAISE - 1), slice(FIRST_OF_RAISE - 1, 20)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    kept: Store = MemoryStore() if request.param == "memory" else SqliteStore.open(tmp_path / "agent.db")
    yield kept
    kept.close()


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def rewards(memories: Sequence[Memory]) -> list[tuple[int, float | None]]:
    return [(memory.usage.reward_count, memory.usage.mean_reward) for memory in memories if memory.usage]


# The recorded run


@pytest.mark.parametrize("embedded", [True, False])
def test_by_rules_the_run_becomes_these_nodes_links_and_rewards(store: Store, embedded: bool) -> None:
    world = World(store) if embedded else World(store, embedder=None)
    done = world.play().commit()
    assert (done.state, done.steps, done.trajectories, done.by) == ("closed", 20, 2, "rules")
    assert done.counts == {"subgoal": 2, "semantic": 10, "tag": 18, "procedural": 2, "intent": 2}
    assert {**world.links()} == {
        ("episodic", "provenance", "source"): 20,
        ("episodic", "hierarchy", "subgoal"): 20,
        ("subgoal", "sibling", "subgoal"): 1,
        ("semantic", "provenance", "episodic"): 5 * 9 + 5 * 11,
        ("semantic", "membership", "tag"): 25,
        ("procedural", "provenance", "episodic"): 9 + 11,
        ("procedural", "hierarchy", "intent"): 2,
    }
    first, second = mean(REWARDS_BY_RULES[FIRST]), mean(REWARDS_BY_RULES[SECOND])
    assert rewards(world.all(Kind.EPISODIC)) == [(1, pytest.approx(reward)) for reward in REWARDS_BY_RULES]
    assert rewards(world.all(Kind.SEMANTIC)) == [(1, pytest.approx(first))] * 5 + [(1, pytest.approx(second))] * 5
    assert rewards(world.all(Kind.PROCEDURAL)) == [(1, pytest.approx(first)), (1, pytest.approx(second))]
    assert rewards(world.all(Kind.SUBGOAL, Kind.TAG, Kind.INTENT, Kind.SOURCE)) == [(0, None)] * (22 + 1 + 20)
    assert [memory.text for memory in world.all(Kind.SUBGOAL)] == [FIND, RAISE]


def test_with_a_model_the_run_becomes_these_nodes_links_and_rewards(store: Store) -> None:
    model = RecordedModel()
    world = World(store, llm=model)
    done = world.play().commit()
    assert (done.state, done.trajectories, done.by) == ("closed", 2, "recorded:run")
    assert model.calls == 2 + 2 * 2  # ten steps a call; two questions a trajectory
    assert done.counts == {"subgoal": 2, "semantic": 3, "tag": 6, "procedural": 3, "intent": 2}
    assert {**world.links()} == {
        ("episodic", "provenance", "source"): 20,
        ("episodic", "hierarchy", "subgoal"): 20,
        ("subgoal", "sibling", "subgoal"): 1,
        ("semantic", "provenance", "episodic"): 2 * 9 + 11,
        ("semantic", "membership", "tag"): 7,
        ("procedural", "provenance", "episodic"): 9 + 2 * 11,
        ("procedural", "hierarchy", "intent"): 3,
    }
    judged = [0.9 if number == 9 else 1.0 if number == 20 else REWARDS_BY_MODEL[number - 1] for number in range(1, 21)]
    assert rewards(world.all(Kind.EPISODIC)) == [(1, pytest.approx(reward)) for reward in judged]
    first, second = pytest.approx(mean(judged[FIRST])), pytest.approx(mean(judged[SECOND]))
    assert rewards(world.all(Kind.SEMANTIC)) == [(1, first), (1, first), (1, second)]
    assert rewards(world.all(Kind.PROCEDURAL)) == [(1, first), (1, second), (1, second)]
    assert Counter(memory.text for memory in world.all(Kind.TAG)) == Counter(
        ("sync log", "heron", "pelican", "invoices", "sync timeout", "deployment")
    )


def test_steps_keep_what_was_read_in_them() -> None:
    world = World(llm=RecordedModel())
    world.play().commit()
    step = world.all(Kind.EPISODIC)[FAILURE - 1]
    assert step.metadata["observation"] == STEPS[FAILURE - 1].observation
    assert step.metadata["state"] == f"It is known: {STEPS[FAILURE - 1].observation}"
    assert (step.metadata["subgoal"], step.metadata["reward"]) == (RAISE, 0.0)


def test_what_is_derived_cites_its_session_and_says_who_read_it() -> None:
    world = World(llm=RecordedModel())
    world.clock.advance(timedelta(hours=1))
    session = world.play()
    said = world.clock.now()
    world.clock.advance(timedelta(hours=1))
    session.commit()
    fact = world.one(Kind.SEMANTIC, "Pelican")
    assert (fact.origin.source, fact.origin.session, fact.metadata["by"]) == ("session/run", "run", "recorded:run")
    assert (fact.worth.confidence, fact.worth.trust) == (0.9, 2)
    assert (fact.times.valid_from, fact.times.ingested_at) == (said, world.clock.now())
    procedure = world.one(Kind.PROCEDURAL, "set sync.timeout")
    assert procedure.text.splitlines() == [
        "raise the sync timeout",
        "When: the source takes longer than the timeout",
        "Do: set sync.timeout in config/heron.toml, run heron check, open a review, merge it, deploy",
        "Then: the sync finishes",
    ]


# Once


def test_committing_again_changes_nothing(store: Store) -> None:
    world = World(store)
    session = world.play()
    session.commit()
    before = world.snapshot()
    again = session.commit()
    assert (again.steps, again.memories, again.state) == (0, (), "closed")
    assert world.snapshot() == before


def test_only_steps_taken_since_are_learnt_from_and_their_trajectory_is_a_new_one(store: Store) -> None:
    world = World(store)
    session = world.play()
    session.commit()
    session.step("The sync took 79 seconds the next night.", "close the ticket HER-12", 0.7)
    assert world.runs()[0].metadata["state"] == "open"
    assert len(world.store.jobs()) == 1
    done = session.commit()
    assert (done.steps, done.trajectories, world.store.jobs()) == (1, 1, [])
    subgoals = world.all(Kind.SUBGOAL)
    siblings = {link for link in world.store.links([subgoals[1].id]) if link.relation == SIBLING}
    assert siblings == {Link(one.id, SIBLING, other.id) for one, other in pairwise(subgoals)}
    assert all(count == 1 for count, _ in rewards(world.all(Kind.EPISODIC)))


def test_two_who_commit_at_once_write_it_once(tmp_path: Path) -> None:
    """Two engines on one file, as two processes are: each reads the steps before either has written."""
    one, other = World(SqliteStore.open(tmp_path / "a.db")), World(SqliteStore.open(tmp_path / "a.db"))
    one.play()
    late = other.store.update

    def after_the_other(plan: Any, draft: Any = None) -> list[Memory]:
        one.sessions.commit("run")
        return late(plan, draft)

    other.store.update = after_the_other  # pyright: ignore[reportAttributeAccessIssue]
    late_one = other.sessions.commit("run")
    assert (late_one.steps, late_one.memories, late_one.state) == (0, (), "closed")
    assert [len(world.told) for world in (one, other)] == [1, 0]
    assert len(one.all(Kind.SEMANTIC)) == 10
    assert all(count == 1 for count, _ in rewards(one.all(Kind.EPISODIC, Kind.SEMANTIC)))
    one.store.close()
    other.store.close()


def test_a_step_taken_during_a_commit_keeps_the_session_open(store: Store) -> None:
    world = World(store)
    session = world.play()
    real = store.update

    def with_one_more(plan: Any, draft: Any = None) -> list[Memory]:
        store.update = real  # pyright: ignore[reportAttributeAccessIssue]
        session.step("One more thing.")
        return real(plan, draft)

    store.update = with_one_more  # pyright: ignore[reportAttributeAccessIssue]
    assert session.commit().state == "open"
    assert [job.subject for job in store.jobs()] == ["run"]
    assert session.commit().steps == 1
    assert store.jobs() == []


# Together


def test_a_write_that_fails_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(SqliteStore.open(tmp_path / "agent.db"))
    session = world.play()
    before = world.snapshot()
    with monkeypatch.context() as broken:
        broken.setattr(bookkeeping, "count", divmod)
        with pytest.raises(TypeError):
            session.commit()
    assert world.snapshot() == before
    assert session.commit().counts["semantic"] == 10
    world.store.close()


def test_a_run_that_was_killed_is_committed_by_another_when_it_is_idle(tmp_path: Path) -> None:
    World(SqliteStore.open(tmp_path / "agent.db")).play(steps=STEPS[:12])  # and never heard of again
    world = World(SqliteStore.open(tmp_path / "agent.db"))
    assert world.worker.run_due() == 0
    world.clock.advance(IDLE)
    assert world.worker.run_due() == 1
    assert world.runs()[0].metadata["state"] == "closed"
    assert len(world.all(Kind.SUBGOAL)) == 2
    assert world.store.jobs() == []
    world.store.close()


def test_steps_that_were_forgotten_leave_no_links_behind() -> None:
    world = World()
    session = world.play()
    gone = world.all(Kind.EPISODIC)[2].id
    world.store.delete([gone])
    done = session.commit()
    assert done.steps == 19
    assert all(gone not in (link.source, link.target) for link in world.store.links([gone]))


def test_leaving_the_block_commits_also_after_an_error() -> None:
    world = World()
    with pytest.raises(KeyError), world.play():
        raise KeyError("stumble")
    assert world.runs()[0].metadata["state"] == "closed"


def test_an_error_in_the_block_is_not_hidden_by_one_in_the_commit(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    session = world.play()
    world.store.delete([world.runs()[0].id])
    with pytest.raises(KeyError), session:
        raise KeyError("stumble")
    assert "was not committed" in caplog.text


# Failures


def test_a_failing_model_is_tried_again_and_loses_nothing(store: Store) -> None:
    world = World(store, llm=RecordedModel([AWAY, AWAY]))
    session = world.play()
    done = session.commit()
    assert (done.state, done.memories) == ("failed", ())
    assert done.error is not None and "away" in done.error
    (run,) = world.runs()
    assert (run.metadata["state"], run.metadata["error"]) == ("failed", done.error)
    (job,) = store.jobs()
    assert (job.attempts, job.error, job.due) == (1, done.error, world.clock.now() + timedelta(minutes=1))
    assert len(world.all(Kind.EPISODIC)) == 20 and not world.all(Kind.SEMANTIC)
    world.clock.advance(timedelta(minutes=1))
    assert world.worker.run_due() == 1
    assert store.jobs()[0].attempts == 2
    world.clock.advance(timedelta(minutes=2))
    assert world.worker.run_due() == 1
    assert (store.jobs(), len(world.all(Kind.SEMANTIC))) == ([], 3)
    assert world.runs()[0].metadata["error"] is None
    kinds = [notice.kind for notice in world.told]
    assert kinds == ["extraction_failed", "extraction_failed", "commit"]


def test_after_five_failures_the_rules_read_the_session_and_say_so() -> None:
    model = RecordedModel([AWAY] * 100)
    world = World(llm=model)
    world.play()
    for attempt in range(1, MOST_ATTEMPTS + 1):
        assert world.sessions.commit("run").state == "failed"
        assert world.store.jobs()[0].attempts == attempt
    done = world.sessions.commit("run")
    assert (done.state, done.by, done.counts["semantic"]) == ("closed", "rules", 10)
    assert done.note is not None and "away" in done.note
    assert world.runs()[0].metadata["note"] == done.note


def test_a_failure_in_the_last_question_writes_nothing_either() -> None:
    class AwayLater(RecordedModel):
        def complete(self, *args: Any, **kwargs: Any) -> Completion:
            if self.calls == 5:
                raise AWAY
            return super().complete(*args, **kwargs)

    world = World(llm=AwayLater())
    session = world.play()
    assert session.commit().state == "failed"
    assert world.all(Kind.SEMANTIC, Kind.PROCEDURAL, Kind.SUBGOAL, Kind.TAG) == []


def test_a_new_step_after_a_failure_keeps_the_count_of_attempts() -> None:
    world = World(llm=RecordedModel([AWAY]))
    session = world.play()
    session.commit()
    session.step("And on.")
    (job,) = world.store.jobs()
    assert (job.attempts, job.due) == (1, world.clock.now() + IDLE)


@pytest.mark.parametrize(("attempts", "minutes"), [(0, 1), (1, 1), (2, 2), (4, 8), (9, 256), (10, 360), (10**6, 360)])
def test_waiting_doubles_up_to_six_hours(attempts: int, minutes: int) -> None:
    assert retry_after(attempts) == timedelta(minutes=minutes)


def test_what_a_model_says_can_always_be_stored() -> None:
    class Odd(RecordedModel):
        def complete(self, *args: Any, **kwargs: Any) -> Completion:
            said = super().complete(*args, **kwargs).text
            return Completion(said.replace("Heron", "He\\u0000ron\\ud800").replace(FIND, "\\u0000"))

    world = World(llm=Odd())
    done = world.play().commit()
    assert done.state == "closed"
    assert "He\0ron" not in "".join(memory.text for memory in world.all())


# Merging


def procedure(subgoal: str, action: str) -> list[RecordedStep]:
    return [
        RecordedStep("Ready.", f"Subgoal: {subgoal}"),
        RecordedStep("A shell.", action),
        RecordedStep("It is done."),
    ]


@pytest.mark.parametrize("embedded", [True, False])
@pytest.mark.parametrize(
    ("other", "intents", "aliases"),
    [
        ("Restart the red server!", 1, None),  # the same wording
        ("server the red restart", 1, None),  # cosine 1 ≥ 0.95: dropped
        ("restart the red server twice", 1, ["restart the red server twice"]),  # 0.80 ≤ cosine < 0.95: merged
        ("bake one cake", 2, None),
    ],
)
def test_intents_that_mean_the_same_become_one(
    embedded: bool, other: str, intents: int, aliases: list[str] | None
) -> None:
    world = World() if embedded else World(embedder=None)
    world.play("a", procedure("restart the red server", "one"), None).commit()
    world.play("b", procedure(other, "two"), None).commit()
    known = world.all(Kind.INTENT)
    assert len(known) == intents
    assert known[0].metadata.get("aliases") == aliases
    assert len(world.all(Kind.PROCEDURAL)) == 2
    linked = [
        link.target
        for memory in world.all(Kind.PROCEDURAL)
        for link in world.store.links([memory.id])
        if link.relation == HIERARCHY
    ]
    assert linked == [known[0].id, known[-1].id]


def test_equal_statements_become_one_with_both_sources_and_rewards(store: Store) -> None:
    world = World(store)
    for id, text, reward in (("a", "The port is 8080.", 0.2), ("b", "the PORT is 8080", 0.6)):
        world.play(id, [RecordedStep(text, "note it", reward)], None).commit()
    (fact,) = world.all(Kind.SEMANTIC)
    assert fact.text == "The port is 8080."
    assert fact.version == 1
    assert rewards([fact]) == [(2, pytest.approx(0.4))]
    sources = {link.target for link in store.links([fact.id]) if link.relation == "provenance"}
    assert sources == {step.id for step in world.all(Kind.EPISODIC)}
    assert len([tag for tag in world.all(Kind.TAG) if tag.text == "port"]) == 1


def test_scopes_do_not_share_what_they_learn() -> None:
    world = World()
    for scope in ("user:alice", "user:bo"):
        session = world.sessions.open(id=scope, scope=scope)
        session.step("The port is 8080.", "note it")
        session.commit()
    assert [fact.scope for fact in world.all(Kind.SEMANTIC)] == ["user:alice", "user:bo"]
    assert {memory.scope for memory in world.all()} == {"user:alice", "user:bo"}


# Many at once


def test_many_sessions_at_once_keep_apart(tmp_path: Path) -> None:
    world = World(SqliteStore.open(tmp_path / "agent.db"))

    def live(number: int) -> str:
        steps = [RecordedStep(f"Box {number} is in Oslo.", f"Subgoal: move box {number}"), RecordedStep("It is done.")]
        return world.play(f"s{number}", steps, None).commit().state

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(live, range(8))) == {"closed"}
    assert len(world.all(Kind.SEMANTIC)) == 8
    assert len(world.all(Kind.SUBGOAL)) == 8
    assert Counter(step.origin.session for step in world.all(Kind.EPISODIC)) == {f"s{n}": 2 for n in range(8)}
    assert world.store.jobs() == []
    world.store.close()


# Whatever is lived through

said = st.sampled_from(["The door is red.", "A lamp costs 5 crowns.", "Bo failed.", "It is done.", "Now rest", "wait"])
some_step = st.builds(RecordedStep, said, st.none() | said, st.none() | st.floats(0, 1))


@settings(max_examples=40)
@given(st.lists(st.lists(some_step, max_size=5), max_size=4))
def test_every_step_has_one_subgoal_and_one_reward_wherever_commits_fall(parts: list[list[RecordedStep]]) -> None:
    world = World()
    session = world.sessions.open("Live.", "life")
    for part in parts:
        for step in part:
            session.step(step.observation, step.action, step.reward)
        assert session.commit().steps == len(part)
    steps = world.all(Kind.EPISODIC)
    assert [step.origin.position for step in steps] == list(range(1, sum(map(len, parts)) + 1))
    assert all(count == 1 for count, _ in rewards(steps))
    subgoals = {memory.id: memory.metadata["steps"] for memory in world.all(Kind.SUBGOAL)}
    above = {link.source: link.target for link in world.store.links(list(subgoals)) if link.relation == HIERARCHY}
    assert above.keys() == {step.id for step in steps}
    for step in steps:
        first, last = subgoals[above[step.id]]
        assert first <= (step.origin.position or 0) <= last
    assert world.links().get(("subgoal", SIBLING, "subgoal"), 0) == max(0, len(subgoals) - 1)


def test_words_of_every_transcript_are_no_tags() -> None:
    world = World()
    session = world.sessions.open(id="run")
    session.step("Observation: The shelf in Oslo holds 5 red books.", "Action: note the shelf")
    session.step("Note: Pelican uses port 8080.", "Action: next step")
    session.step("Result of step 3: the step counter of Heron has 5 digits.")
    session.commit()
    assert [tag.text for tag in world.all(Kind.TAG)] == [
        *("oslo", "shelf", "red", "books"),
        *("pelican", "port"),
        *("heron", "step counter", "digits"),
    ]
