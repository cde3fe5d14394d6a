"""What goes with a memory that is forgotten: facts, lessons, names, journal entries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from memorist.model import Entity, Kind, Link, Memory
from memorist.models.embedding_text import CONTEXT, following
from memorist.ports import Embedded, Entry, Job, Reader, Store, Vectors
from memorist.remember.entities import MENTIONS, OBJECT, SUBJECT
from memorist.remember.fact_updates import FINAL
from memorist.remember.gates.gates import VERB as GATE
from memorist.remember.gates.verdict import released
from memorist.remember.sessions.lessons import same
from memorist.remember.sessions.run import HIERARCHY, MEMBERSHIP, PROVENANCE, session_key, telling
from memorist.remember.sessions.run import TASK as SESSION
from memorist.remember.timeline import Claim
from memorist.text.chatter import bare

READ = "facts"
"""The verb of the journal's entries about what a model read in a memory, and the task that has it read."""
EVERY = 1_000_000


def unnamed(gone: Collection[str], added: Sequence[Link], reader: Reader) -> tuple[list[str], list[Entity]]:
    """Entities to be taken out because nothing but the forgotten spoke of them, or because only some names are left.

    The latter are given as they are to be again. `added` are links that are made with the same write.
    """
    ours = {entry.id: entry for id in gone for entry in reader.journal(READ, id)}
    read = reader.entities(_names(ours.values())) if ours else []
    others = [one for one in reader.journal(READ, limit=EVERY) if one.id not in ours] if read else []
    linked = {link.target for link in _speaking(gone, reader) if link.source in gone}
    held = {link.target for link in _speaking([*linked, *(one.id for one in read)], reader) if link.source not in gone}
    held |= {link.target for link in added}
    held |= {one.id for one in reader.entities(_names(others))}
    lost = set(_names(ours.values())).difference(_names(others))
    left = [one for one in read if one.id in held]
    fewer = [_without(one, lost) for one in left if lost.intersection(one.aliases)]
    return sorted((linked | {one.id for one in read}) - held | {one.id for one in fewer}), fewer


def _speaking(ids: Collection[str], reader: Reader) -> list[Link]:
    """Links by which memories speak of entities."""
    return [link for link in reader.links(sorted(ids)) if link.relation in (SUBJECT, OBJECT, MENTIONS)]


def _names(entries: Iterable[Entry]) -> list[str]:
    """Every name and alias that a model read."""
    read = [named for entry in entries for named in cast("list[Any]", entry.data.get("entities", ()))]
    return list(dict.fromkeys(name for main, _, aliases in read for name in (main, *aliases)))


def _without(entity: Entity, names: Collection[str]) -> Entity:
    return replace(entity, aliases=tuple(alias for alias in entity.aliases if alias not in names))


DERIVED = (Kind.SEMANTIC, Kind.PROCEDURAL, Kind.SUBGOAL, Kind.TAG, Kind.INTENT)
"""Kinds of what sessions leave besides what was said in them."""
READ_IN = ("state", "subgoal")
"""What a commit adds to a step that was read, in its metadata."""
HELD = "memory"
"""Where an entry of the journal holds a memory that was not kept."""

Chosen = Callable[[Memory], bool]
Known = Mapping[str, Memory]


def bound(ids: Sequence[str], reader: Reader) -> dict[str, Memory]:
    """Memories in all versions, and what sessions derived from them and from nothing that is left.

    What rests on others too stays if those others, and the goal of its session, hold each of its words that the
    forgotten ones hold.
    """
    gone = {row.id: row for id in ids for row in reader.history(id)} | reader.get(ids)
    front: Known = {**gone, **_steps(gone, reader)}
    while front:
        resting = {id: one for id, one in _resting(front, reader).items() if id not in gone}
        rests = _rests(resting, reader)
        front = {id: one for id, one in resting.items() if not _stands(one, rests[id], gone, reader)}
        gone |= front
    return gone


def _steps(gone: Known, reader: Reader) -> dict[str, Memory]:
    """The steps of every session of which a step or the goal goes."""
    sessions = {one.origin.session for one in gone.values() if one.origin.session and _of_a_session(one)}
    return {step.id: step for session in sorted(sessions) for step in reader.turns(session, 1, EVERY)}


def _of_a_session(memory: Memory) -> bool:
    origin = memory.origin
    return origin.session is not None and session_key(origin.session) in (origin.key, origin.source)


def _resting(on: Known, reader: Reader) -> dict[str, Memory]:
    """What sessions derived that rests on any of these."""
    found = reader.get([one for one, base in _pairs(on, reader) if base in on])
    return {id: one for id, one in found.items() if one.kind in DERIVED}


def _rests(derived: Known, reader: Reader) -> defaultdict[str, set[str]]:
    """All that each of these rests on."""
    rests = defaultdict[str, set[str]](set)
    for one, base in _pairs(derived, reader):
        rests[one].add(base)
    return rests


def _pairs(ids: Collection[str], reader: Reader) -> Iterator[tuple[str, str]]:
    """What rests on what: lessons on their steps; subgoals on steps, labels on lessons, which lead to them."""
    for link in reader.links(list(ids)):
        if link.relation == PROVENANCE:
            yield link.source, link.target
        elif link.relation in (HIERARCHY, MEMBERSHIP):
            yield link.target, link.source


def _stands(memory: Memory, rests: Collection[str], gone: Known, reader: Reader) -> bool:
    """Whether what is left of its sources carries it."""
    left = reader.get([id for id in rests if id not in gone])
    goals = reader.keyed([memory.origin.source]) if memory.origin.source else []
    lost = [gone[id] for id in rests if id in gone] + [goal for goal in goals if goal.id in gone]
    told = [*left.values(), *(goal for goal in goals if goal.id not in gone)]
    return bool(left) and not telling(memory.text) & (_words(lost) - _words(told))


def _words(memories: Iterable[Memory]) -> set[str]:
    return {word for one in memories for word in telling(one.text)}


def without_basis(claims: Iterable[Claim], dropped: Collection[Claim]) -> set[Claim]:
    """Claims of a slot that are dropped, and those by which somebody ended a value that nobody claims any more."""
    left = [claim for claim in claims if claim not in dropped]
    said = {claim.same for claim in left if not claim.negated}
    return {*dropped, *(one for one in left if one.negated and one.source is None and one.same not in said)}


def reread(gone: Known, reader: Reader) -> list[Memory]:
    """Memories that stay, without the words that only the forgotten ones had given them."""
    steps = {id: one for id, one in _steps(gone, reader).items() if id not in gone}
    goals = reader.keyed([session_key(one.origin.session) for one in steps.values() if one.origin.session])
    lost = _words(gone.values()) - _words([*steps.values(), *(goal for goal in goals if goal.id not in gone)])
    bases = reader.get([one for one, base in _pairs(gone, reader) if base in gone and one not in gone])
    intents = {id: one for id, one in bases.items() if one.kind is Kind.INTENT}
    changed = [*(_unread(step, lost) for step in steps.values()), *_unworded(intents, gone, reader)]
    return [one for one in changed if one not in (steps.get(one.id), intents.get(one.id))]


def _unread(step: Memory, lost: Collection[str]) -> Memory:
    def kept(name: str, value: Any) -> bool:
        return name not in READ_IN or value is None or telling(value).isdisjoint(lost)

    return replace(step, metadata={name: value for name, value in step.metadata.items() if kept(name, value)})


def _unworded(intents: Known, gone: Known, reader: Reader) -> Iterator[Memory]:
    """Intents with those other wordings that a procedure still has."""
    rests = _rests(intents, reader)
    for id, intent in intents.items():
        left = reader.get([base for base in rests[id] if base not in gone]).values()
        wordings = {same(one.metadata.get("intent") or "") for one in left}
        aliases = [alias for alias in intent.metadata.get("aliases", ()) if same(alias) in wordings]
        rest = {name: value for name, value in intent.metadata.items() if name != "aliases"}
        yield replace(intent, metadata={**rest, "aliases": aliases} if aliases else rest)


def read_alone(gone: Known, reader: Reader) -> tuple[list[Memory], dict[str, Vectors]]:
    """Turns that were embedded together with one that goes, and the vectors of what they say alone."""
    after = {one.id: one for one in following(list(gone.values()), reader)}
    together = {id: views for id, views in reader.vectors(list(after)).items() if CONTEXT in views}
    vectors = {id: _without_view(views, CONTEXT) for id, views in together.items()}
    return [after[id] for id in vectors], vectors


def _without_view(vectors: Vectors, view: str) -> Vectors:
    """A memory's other vectors, by the same embedder."""
    left = {name: vector for name, vector in vectors.items() if name != view}
    return Embedded(vectors.generation, left) if isinstance(vectors, Embedded) else left


def jobs_without(gone: Known, reader: Reader) -> tuple[list[Job], list[tuple[str, str]]]:
    """Jobs about several memories of which some are left, and the jobs to be dropped."""
    sessions = {(SESSION, one.origin.session) for one in gone.values() if one.kind is Kind.SOURCE}
    left: list[Job] = []
    dropped: list[tuple[str, str]] = []
    for job in reader.jobs(limit=EVERY):
        subjects = job.subject.split()
        staying = [id for id in subjects if id not in gone]
        if (job.task, job.subject) in sessions or len(staying) < len(subjects):
            dropped.append((job.task, job.subject))
        if staying and len(staying) < len(subjects):
            left.append(replace(job, subject=" ".join(staying), error=None))
    return left, dropped


def held_back(chosen: Chosen, reader: Reader, subject: str | None = None) -> list[Entry]:
    """Entries of the journal with a text that a gate kept back and that is to be forgotten."""
    entries = reader.journal(GATE, subject, EVERY)
    return [entry for entry in entries if HELD in entry.data and chosen(released(entry.data[HELD]))]


def emptied(entry: Entry) -> Entry:
    """The entry without the text it held: what was decided stays, what it was about does not."""
    data = {name: value for name, value in entry.data.items() if name != HELD}
    return replace(entry, data={**data, FINAL: "its text was forgotten"})


def unlearn(store: Store, texts: Iterable[str]) -> None:
    """Take texts out of the noise bank."""
    known, gone = store.noise(), {bare(text) for text in texts}
    left = [text for text in known if bare(text) not in gone]
    if left != known:
        store.learn_noise((), keep=0)
        store.learn_noise(left, keep=len(left))
