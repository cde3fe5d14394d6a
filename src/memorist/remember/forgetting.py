"""Forgetting: erasing memories together with the facts, lessons, entities and journal entries that rest on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from memorist.errors import Remedy, UnreadableMemory, VerbCall
from memorist.model import HIERARCHY, MEMBERSHIP, PROVENANCE, Entity, Kind, Link, Memory, mark_name
from memorist.models.embedding_text import CONTEXT, text_without_speaker, turns_after
from memorist.ports import Batch, Embedded, Entry, Job, Reader, Store, Vectors
from memorist.remember.derived import DERIVED, STEP_FINDINGS, content_stems, counterpart, session_key
from memorist.remember.entities import MENTIONS, OBJECT, SUBJECT
from memorist.remember.fact_rows import claims_in
from memorist.remember.fact_updates import FactChange, facts_stated_by, settle, slots_of
from memorist.remember.gates import VERB as GATE
from memorist.remember.jobs import COMMIT_TASK, FACTS_TASK
from memorist.remember.journal import EVERY_ENTRY, FINAL, WITHHELD, withheld_from_data
from memorist.remember.timeline import Claim
from memorist.text.chatter import bare
from memorist.text.sameness import canonical


def refuse_damaged(store: Store) -> None:
    """Refuse to select memories by filters while some cannot be read: they might be among those to forget."""
    damaged: Callable[[], list[str]] = getattr(store, "damaged", list[str])
    if problems := damaged():
        raise UnreadableMemory(
            f"{problems[0]} Nothing was forgotten",
            remedy=Remedy("Repair it with ", VerbCall("audit", {"fix": True}), ", then forget again."),
        )


def erase(store: Store, ids: Sequence[str], withheld: Sequence[Entry] = ()) -> list[str]:
    """Erase memories and everything that only they support: facts, lessons, entities and jobs; returns the erased ids.

    `withheld` are journal entries that hold texts which a gate withheld; those texts are erased too.
    """
    beside = Batch(journal=[without_text(entry) for entry in withheld])
    gone = erase_chosen(store, lambda reader: (ids, beside))
    return sorted({*gone, *(entry.subjects[0] for entry in withheld)})


def erase_chosen(store: Store, choose: Callable[[Reader], tuple[Sequence[str], Batch]]) -> dict[str, Memory]:
    """`erase` the memories that are chosen inside the write, and write what else belongs to it; returns the erased."""
    gone: dict[str, Memory] = {}

    def plan(reader: Reader) -> Batch:
        ids, beside = choose(reader)
        gone.clear()
        gone.update(dependents(ids, reader))
        change = _facts_without(set(gone), reader)
        gone.update(dependents([*gone, *change.erased], reader))
        return _erasure(gone, change.batch(reader), beside, reader)

    store.update(plan)
    remove_from_noise_bank(
        store, [said for memory in gone.values() for said in (memory.text, text_without_speaker(memory))]
    )
    return gone


def _facts_without(erased: set[str], reader: Reader) -> FactChange:
    """The facts as they are without the claims of erased memories."""
    facts = facts_stated_by(erased, reader)
    slots = dict.fromkeys(slots_of(facts), ())
    dropped = set(claims_in(row for row in facts if row.id in erased))
    for slot in slots:
        claims = claims_in(row for row in reader.by_key([slot.key]) if slot.holds(row))
        dropped |= without_basis(claims, {stated for stated in claims if stated in dropped or stated.source in erased})
    return settle(slots, reader, amend=lambda claim: None if claim in dropped else claim)


def _erasure(gone: Mapping[str, Memory], batch: Batch, beside: Batch, reader: Reader) -> Batch:
    """A batch that settles facts, with everything else that erasing memories takes, and what is written beside it."""
    unmentioned, fewer = unmentioned_entities(gone, batch.links, reader)
    jobs, done = jobs_without(gone, reader)
    after, vectors = without_context_vectors(gone, reader)
    changed = {memory.id: memory for memory in (*after, *without_lost_words(gone, reader))}
    return replace(
        batch,
        erased=[*gone, *unmentioned],
        entities=[*(entity for entity in batch.entities if entity.id not in unmentioned), *fewer],
        revised=[*batch.revised, *changed.values(), *beside.revised],
        vectors={**batch.vectors, **vectors},
        jobs=jobs,
        done=[*done, *beside.done],
        journal=beside.journal,
    )


def unmentioned_entities(
    gone: Collection[str], added: Sequence[Link], reader: Reader
) -> tuple[list[str], list[Entity]]:
    """The ids of entities to erase, and those of them to add again with fewer names.

    An entity is erased if only forgotten memories mention it, and loses the names that only they gave it. `added`
    are the links that the same write makes.
    """
    ours = {entry.id: entry for id in gone for entry in reader.journal(FACTS_TASK, id)}
    read = reader.entities(_names(ours.values())) if ours else []
    others = [entry for entry in reader.journal(FACTS_TASK, limit=EVERY_ENTRY) if entry.id not in ours] if read else []
    linked = {link.target for link in _entity_links(gone, reader) if link.source in gone}
    links = _entity_links([*linked, *(entity.id for entity in read)], reader)
    kept = {link.target for link in (*links, *added) if link.source not in gone}
    kept |= {entity.id for entity in reader.entities(_names(others))}
    lost = set(_names(ours.values())).difference(_names(others))
    left = [entity for entity in read if entity.id in kept]
    fewer = [_without(entity, lost) for entity in left if lost.intersection(entity.aliases)]
    return sorted((linked | {entity.id for entity in read}) - kept | {entity.id for entity in fewer}), fewer


def _entity_links(ids: Collection[str], reader: Reader) -> list[Link]:
    """The links from memories to the entities that they mention."""
    return [link for link in reader.links(sorted(ids)) if link.relation in (SUBJECT, OBJECT, MENTIONS)]


def _names(entries: Iterable[Entry]) -> list[str]:
    """Every name and alias that a model read."""
    read = [named for entry in entries for named in cast("list[Any]", entry.data.get("entities", ()))]
    return list(dict.fromkeys(name for main, _, aliases in read for name in (main, *aliases)))


def _without(entity: Entity, names: Collection[str]) -> Entity:
    return replace(entity, aliases=tuple(alias for alias in entity.aliases if alias not in names))


Chosen = Callable[[Memory], bool]
Known = Mapping[str, Memory]


def dependents(ids: Sequence[str], reader: Reader) -> dict[str, Memory]:
    """These memories in all versions, with everything that sessions derived from them alone.

    A derived memory that has other sources stays if those sources, or the goal of its session, contain every word
    that it shares with the forgotten ones.
    """
    gone = _with_counterparts({row.id: row for id in ids for row in reader.history(id)} | reader.get(ids), reader)
    front: Known = {**gone, **_steps(gone, reader)}
    while front:
        derived = {id: one for id, one in _derived_from(front, reader).items() if id not in gone}
        bases = _bases(derived, reader)
        front = {id: one for id, one in derived.items() if not _is_still_supported(one, bases[id], gone, reader)}
        gone |= front
    return gone


def _with_counterparts(gone: Known, reader: Reader) -> dict[str, Memory]:
    """These memories with the sources of the steps among them, and the steps of the sources."""
    lost = {
        (counterpart(memory.origin.key), memory.worth.classification) for memory in gone.values() if memory.origin.key
    }
    found = reader.by_key(sorted(key for key, _ in lost))
    return {
        **gone,
        **{memory.id: memory for memory in found if (memory.origin.key, memory.worth.classification) in lost},
    }


def _steps(gone: Known, reader: Reader) -> dict[str, Memory]:
    """The steps of every session that loses a step or its goal."""
    lost = [memory for memory in gone.values() if _of_a_session(memory)]
    sessions = {(memory.origin.session or "", memory.worth.classification) for memory in lost}
    return {
        step.id: step
        for session, classification in sorted(sessions)
        for step in reader.turns(session, 1, EVERY_ENTRY)
        if step.worth.classification == classification
    }


def _of_a_session(memory: Memory) -> bool:
    origin = memory.origin
    return origin.session is not None and session_key(origin.session) in (origin.key, origin.source)


def _derived_from(sources: Known, reader: Reader) -> dict[str, Memory]:
    """The memories that sessions derived from any of these."""
    found = reader.get([one for one, base in _pairs(sources, reader) if base in sources])
    return {id: one for id, one in found.items() if one.kind in DERIVED}


def _bases(derived: Known, reader: Reader) -> defaultdict[str, set[str]]:
    """The ids of everything that each of these was derived from."""
    rests = defaultdict[str, set[str]](set)
    for one, base in _pairs(derived, reader):
        rests[one].add(base)
    return rests


def _pairs(ids: Collection[str], reader: Reader) -> Iterator[tuple[str, str]]:
    """Pairs of a derived memory and its source: lessons and steps, subgoals and steps, tags and lessons."""
    for link in reader.links(list(ids)):
        if link.relation == PROVENANCE:
            yield link.source, link.target
        elif link.relation in (HIERARCHY, MEMBERSHIP):
            yield link.target, link.source


def _is_still_supported(memory: Memory, rests: Collection[str], gone: Known, reader: Reader) -> bool:
    """Whether its remaining sources are enough to keep it."""
    left = reader.get([id for id in rests if id not in gone])
    keyed = reader.by_key([memory.origin.source]) if memory.origin.source else []
    goals = [goal for goal in keyed if goal.worth.classification == memory.worth.classification]
    lost = [gone[id] for id in rests if id in gone] + [goal for goal in goals if goal.id in gone]
    remaining = [*left.values(), *(goal for goal in goals if goal.id not in gone)]
    return bool(left) and not content_stems(memory.text) & (_words(lost) - _words(remaining))


def _words(memories: Iterable[Memory]) -> set[str]:
    return {word for memory in memories for word in content_stems(memory.text)}


def without_basis(claims: Iterable[Claim], dropped: Collection[Claim]) -> set[Claim]:
    """The dropped claims of a slot, and the denials of values that nobody claims any more."""
    left = [claim for claim in claims if claim not in dropped]
    said = {claim.same for claim in left if not claim.negated}
    return {
        *dropped,
        *(stated for stated in left if stated.negated and stated.source is None and stated.same not in said),
    }


def without_lost_words(gone: Known, reader: Reader) -> list[Memory]:
    """Remaining memories that change because they lose words which only the forgotten ones contained."""
    classes = sorted({memory.worth.classification for memory in gone.values()})
    alike = [{id: one for id, one in gone.items() if one.worth.classification == each} for each in classes]
    return [memory for each, some in zip(classes, alike, strict=True) for memory in _without_words(some, each, reader)]


def _without_words(gone: Known, classification: int, reader: Reader) -> list[Memory]:
    steps = {id: one for id, one in _steps(gone, reader).items() if id not in gone}
    keyed = reader.by_key([session_key(step.origin.session) for step in steps.values() if step.origin.session])
    goals = [goal for goal in keyed if goal.worth.classification == classification]
    lost = _words(gone.values()) - _words([*steps.values(), *(goal for goal in goals if goal.id not in gone)])
    bases = reader.get([one for one, base in _pairs(gone, reader) if base in gone and one not in gone])
    intents = {id: one for id, one in bases.items() if one.kind is Kind.INTENT}
    changed = [
        *(_without_findings(step, lost) for step in steps.values()),
        *_without_lost_aliases(intents, gone, reader),
    ]
    return [memory for memory in changed if memory not in (steps.get(memory.id), intents.get(memory.id))]


def _without_findings(step: Memory, lost: Collection[str]) -> Memory:
    def kept(name: str, value: Any) -> bool:
        return name not in STEP_FINDINGS or value is None or content_stems(value).isdisjoint(lost)

    return replace(step, metadata={name: value for name, value in step.metadata.items() if kept(name, value)})


def _without_lost_aliases(intents: Known, gone: Known, reader: Reader) -> Iterator[Memory]:
    """Intents with only those aliases that a remaining procedure still uses."""
    rests = _bases(intents, reader)
    for id, intent in intents.items():
        left = reader.get([base for base in rests[id] if base not in gone]).values()
        wordings = {canonical(memory.metadata.get("intent") or "") for memory in left}
        aliases = [alias for alias in intent.metadata.get("aliases", ()) if canonical(alias) in wordings]
        rest = {name: value for name, value in intent.metadata.items() if name != "aliases"}
        yield replace(intent, metadata={**rest, "aliases": aliases} if aliases else rest)


def without_context_vectors(gone: Known, reader: Reader) -> tuple[list[Memory], dict[str, Vectors]]:
    """Turns that were embedded together with a forgotten one, and their remaining vectors."""
    after = {turn.id: turn for turn in turns_after(list(gone.values()), reader)}
    together = {id: views for id, views in reader.vectors(list(after)).items() if CONTEXT in views}
    vectors = {id: _without_view(views, CONTEXT) for id, views in together.items()}
    return [after[id] for id in vectors], vectors


def _without_view(vectors: Vectors, view: str) -> Vectors:
    """A memory's vectors without one view."""
    left = {name: vector for name, vector in vectors.items() if name != view}
    return Embedded(vectors.generation, left) if isinstance(vectors, Embedded) else left


def jobs_without(gone: Known, reader: Reader) -> tuple[list[Job], list[tuple[str, str]]]:
    """The jobs that lose some of their memories, and the jobs to drop."""
    sessions = {
        (mark_name(COMMIT_TASK, memory.worth.classification), memory.origin.session)
        for memory in gone.values()
        if memory.origin.session is not None and memory.origin.key == session_key(memory.origin.session)
    }
    left: list[Job] = []
    dropped: list[tuple[str, str]] = []
    for job in reader.jobs(limit=EVERY_ENTRY):
        subjects = job.subject.split()
        staying = [id for id in subjects if id not in gone]
        if (job.task, job.subject) in sessions or len(staying) < len(subjects):
            dropped.append((job.task, job.subject))
        if staying and len(staying) < len(subjects):
            left.append(replace(job, subject=" ".join(staying), error=None))
    return left, dropped


def withheld_entries(chosen: Chosen, reader: Reader, subject: str | None = None) -> list[Entry]:
    """The journal's entries that hold a withheld memory which `chosen` selects."""
    entries = reader.journal(GATE, subject, EVERY_ENTRY)
    return [entry for entry in entries if WITHHELD in entry.data and chosen(withheld_from_data(entry.data[WITHHELD]))]


def without_text(entry: Entry) -> Entry:
    """The entry without the text that it held; the decision stays."""
    data = {name: value for name, value in entry.data.items() if name != WITHHELD}
    return replace(entry, data={**data, FINAL: "its text was forgotten"})


def remove_from_noise_bank(store: Store, texts: Iterable[str]) -> None:
    """Remove texts from the noise bank."""
    known, gone = store.noise(), {bare(text) for text in texts}
    left = [text for text in known if bare(text) not in gone]
    if left != known:
        store.learn_noise((), keep=0)
        store.learn_noise(left, keep=len(left))
