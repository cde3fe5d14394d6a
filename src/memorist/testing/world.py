"""A small world: the memories of two people over half a year, with something for every feature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from memorist.model import Fact, Kind, Memory, Mention, Origin, Tier, Times, Usage, Worth, instant, memory_id

NOON = datetime(2024, 6, 1, 12, tzinfo=UTC)


def memory(text: str, *, at: str | datetime = NOON, id: str | None = None, **fields: Any) -> Memory:
    """A memory with its usual id; `fields` are other fields of `Memory`."""
    moment = instant(at)
    times = fields.pop("times", Times(valid_from=moment, ingested_at=moment))
    scope = fields.get("scope", "global")
    origin = fields.get("origin", Origin())
    id = id or memory_id(text, scope=scope, key=origin.key, session=origin.session, position=origin.position, at=moment)
    return Memory(id=id, text=text, times=times, **fields)


def sample_world() -> list[Memory]:
    """Alice moves from Oslo to Stockholm and joins a project; Bo, in Tokyo, works with her."""
    return [*_alice_at_home(), *_alice(), *_bo(), *_work(), *_conversation()]


def _alice_at_home() -> Iterator[Memory]:
    mine: dict[str, Any] = {"scope": "user:alice"}
    oslo = memory(
        "Alice lives in Oslo.",
        at="2024-01-10",
        kind=Kind.SEMANTIC,
        fact=Fact("Alice", "lives_in", "Oslo"),
        **mine,
    )
    stockholm = memory(
        "Alice moved to Stockholm.",
        at="2024-06-03T09:30:00Z",
        kind=Kind.SEMANTIC,
        tier=Tier.CORE,
        topic="home",
        fact=Fact("Alice", "lives_in", "Stockholm"),
        worth=Worth(importance=0.9),
        **mine,
    )
    moved = replace(oslo.times, valid_to=stockholm.times.valid_from, expired_at=stockholm.times.ingested_at)
    yield replace(oslo, times=moved, superseded_by=stockholm.id)
    yield stockholm
    yield memory(
        "Alice's door code is on the fridge.",
        at="2024-06-04",
        kind=Kind.NOTE,
        topic="home",
        worth=Worth(classification=3),
        **mine,
    )
    yield memory(
        "The parking permit for Alice's car is valid this week.",
        times=Times(instant("2024-05-01"), instant("2024-05-01"), expires_at=instant("2024-05-08")),
        **mine,
    )


def _alice() -> Iterator[Memory]:
    mine: dict[str, Any] = {"scope": "user:alice"}
    recalls = (instant("2024-05-20"), instant("2024-06-01"))
    yield memory(
        "Alice is allergic to peanuts and carries an adrenaline pen.",
        at="2024-01-12",
        kind=Kind.SEMANTIC,
        tier=Tier.CORE,
        topic="health",
        worth=Worth(importance=1.0, classification=2, flags=("health",)),
        **mine,
    )
    yield memory(
        "Alice started as a data engineer at Fjordkraft.",
        at="2024-02-01",
        topic="work",
        keywords=("job", "employer"),
        fact=Fact("Alice", "works_at", "Fjordkraft"),
        **mine,
    )
    yield memory(
        "Alice was delighted: she ran her first half marathon in under two hours.",
        at="2024-05-18T15:00:00Z",
        topic="sport",
        worth=Worth(emotion=4.0, emotion_tags=("joy", "pride"), salience=0.7),
        **mine,
    )
    yield memory(
        "Alice will visit the dentist on 20 June.",
        at="2024-06-10",
        kind=Kind.INTENT,
        mentions=(Mention("20 June", instant("2024-06-20"), instant("2024-06-21")),),
        **mine,
    )
    yield memory(
        "Alice's grandmother's recipe for cardamom buns uses twice the butter.",
        at="2024-03-24",
        original="Mormors recept på kardemummabullar tar dubbelt så mycket smör.",
        usage=Usage(2, recalls[-1], recalls),
        **mine,
    )


def _bo() -> Iterator[Memory]:
    his: dict[str, Any] = {"scope": "user:bo"}
    yield memory("Bo lives in Tokyo with two cats, Miso and Panko.", at="2024-01-15", topic="home", **his)
    yield memory("Bo never eats shellfish.", at="2024-01-16", kind=Kind.SEMANTIC, topic="health", **his)
    yield memory("博在东京学习人工智能,每周三上课。", at="2024-04-03", topic="study", **his)
    yield memory("ボーは毎朝、皇居のまわりを走ります。", at="2024-04-10", topic="sport", **his)
    yield memory(
        "Bo thinks the office in Shibuya is too loud.",
        at="2024-05-06",
        worth=Worth(confidence=0.6, trust=1, credibility=3, emotion=-2.0, emotion_tags=("annoyance",)),
        usage=None,
        **his,
    )


def _work() -> Iterator[Memory]:
    here: dict[str, Any] = {"scope": "project:heron", "topic": "work"}
    yield memory("Heron replaces the billing system Pelican.", at="2024-02-12", kind=Kind.SEMANTIC, **here)
    yield memory(
        "Invoice INV-2024-0117 was paid twice; the refund is pending.",
        at="2024-03-05T08:12:00Z",
        origin=Origin(source="mail:billing"),
        metadata={"amount": 1240.5, "currency": "NOK", "paid": [True, True]},
        **here,
    )
    yield memory(
        "To roll back a release of Heron: stop the importer, run `heron rollback`, check the dashboard.",
        at="2024-03-20",
        kind=Kind.PROCEDURAL,
        worth=Worth(importance=0.8),
        **here,
    )
    yield memory("Finish migrating to Heron before the summer.", at="2024-04-01", kind=Kind.SUBGOAL, **here)
    yield memory("billing", at="2024-02-12", kind=Kind.TAG, **here)
    yield memory("The handbook of Heron, third edition.", at="2024-02-14", kind=Kind.SOURCE, **here)


def _conversation() -> Iterator[Memory]:
    turns = (
        ("alice", "Did the importer fail again last night?"),
        ("bo", "Yes, at 02:00, with error E_TIMEOUT in module heron.sync_worker."),
        ("alice", "I will raise the timeout from 30 to 90 seconds."),
        ("bo", "Thanks. Let us meet on Friday to look at the logs."),
        ("alice", "Friday works, at ten."),
    )
    for position, (speaker, text) in enumerate(turns):
        origin = Origin(source="chat", session="heron-standup", position=position, speaker=speaker)
        yield memory(text, at="2024-06-12T07:00:00Z", scope="project:heron", origin=origin)
