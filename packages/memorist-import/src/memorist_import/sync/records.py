"""What travels between replicas: texts, claims about facts, marks on facts, and the keys of what was forgotten.

Facts do not travel: each replica settles them from the claims, and the same claims always give the same facts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from memorist.errors import InvalidInput
from memorist.model import (
    CITES,
    DENIES,
    STATES,
    Entity,
    Kind,
    Link,
    Memory,
    Tier,
    Usage,
    Worth,
    fingerprint,
    from_data,
    to_data,
)
from memorist.ports import Kept, Vectors
from memorist.remember.fact_rows import CLAIMS, Slot, claim_to_data, claims_in, settle_claims, slot_of_row
from memorist.remember.timeline import Claim, fold_value
from memorist.text.facts import sentence
from memorist.upkeep.export_format import pack_vectors, record_from_data, record_to_data, to_line, unpack_vectors
from memorist.validate import validate

if TYPE_CHECKING:
    from memorist.ports import Vector

LATEST = 2**53
"""The bound of every number in a stamp."""
LONGEST_KEY = 300
"""Characters of a key; ids have 32, unless somebody imported others."""
OWN_LINKS = (STATES, DENIES, CITES)
"""Relations of links that do not travel: those to facts are made with the facts, those of notes with the notes."""
Names = tuple[tuple[str, ...], ...]
"""The names that a language model read in a text: each with its kind, perhaps empty, and its aliases."""


class Stamp(NamedTuple):
    """What decides between two states of a record: the larger stamp wins on every replica.

    A record that is forgotten ends its life; one that is written again begins the next. So a forget wins over every
    change by a replica that did not know of it, whatever the clocks say. Within a life, the higher version wins, then
    the later change.
    """

    life: int
    gone: bool
    version: int
    at: int
    """Microseconds since 1970 when it was changed; later than every state that the writer knew."""
    by: str
    """The replica that wrote it, and keeps it in its files."""


@dataclass(frozen=True, slots=True)
class Text:
    """A memory that was told or derived, with its links, the names they lead to, and its vectors."""

    memory: Memory
    links: tuple[Link, ...] = ()
    entities: tuple[Entity, ...] = ()
    names: Names = ()
    vectors: Vectors = field(default_factory=dict[str, "Vector"])

    @property
    def key(self) -> str:
        """Its key among all records."""
        return text_key(self.memory.id)

    @property
    def digest(self) -> str:
        """Equal for equal content; vectors and usage do not count."""
        return text_digest(base_digest(self.memory), self.links, self.names)


@dataclass(frozen=True, slots=True)
class StatedClaim:
    """A claim about a fact, with its slot, and the vectors of its sentence."""

    slot: Slot
    claim: Claim
    vectors: Vectors = field(default_factory=dict[str, "Vector"])

    @property
    def key(self) -> str:
        """Its key among all records, which stands for its content."""
        return claim_key(self.slot, self.claim)

    @property
    def digest(self) -> str:
        """Its content is its key."""
        return HELD

    @property
    def sentence(self) -> str:
        """The text of the fact that it makes."""
        return self.claim.text or sentence(self.slot.subject, self.slot.relation, self.claim.value)


@dataclass(frozen=True, slots=True)
class Mark:
    """What was decided about a fact besides its claims: pins, feedback, and whether it was hidden."""

    id: str
    scope: str
    classification: int
    tier: Tier = Tier.WORKING
    relevance: float = 0.0
    confidence: float = 1.0
    flags: tuple[str, ...] = ()
    retracted_at: datetime | None = None

    @property
    def key(self) -> str:
        """Its key among all records."""
        return mark_key(self.id)

    @property
    def digest(self) -> str:
        """Equal for equal content."""
        return _short(to_line(to_data(self)))


@dataclass(frozen=True, slots=True)
class Gone:
    """The key of a record that was forgotten."""

    key: str

    @property
    def digest(self) -> str:
        """Nothing is held."""
        return ""


Change = Text | StatedClaim | Mark | Gone
"""One line of a change file."""
HELD = "held"
"""The digest of a claim."""


def text_key(id: str) -> str:
    """The key of a memory."""
    return f"memory:{id}"


def mark_key(id: str) -> str:
    """The key of the marks on a fact."""
    return f"mark:{id}"


def claim_key(slot: Slot, claim: Claim) -> str:
    """The key of a claim: equal claims about the same slot are one record."""
    return f"claim:{fingerprint(slot.scope, slot.key, slot.classification, claim_to_data(claim))}"


def is_settled(memory: Memory) -> bool:
    """Whether a memory is a fact that was settled from claims."""
    return memory.fact is not None and CLAIMS in memory.metadata


def is_own(memory: Memory) -> bool:
    """Whether a memory stays on its replica: notes are written anew from what they sum up."""
    return memory.kind is Kind.NOTE and CITES in memory.metadata


def mark_of(row: Memory) -> Mark:
    """The marks on a fact."""
    worth = row.worth
    hidden = row.times.retracted_at if row.version_of is None else None
    return Mark(
        row.id, row.scope, worth.classification, row.tier, worth.relevance, worth.confidence, worth.flags, hidden
    )


def is_unmarked(row: Memory) -> Mark:
    """The marks on a fact about which nothing was decided besides its claims."""
    claims = claims_in([row])
    flags = tuple(flag for flag in row.worth.flags if all(flag in claim.flags for claim in claims))
    confidence = max(claim.confidence for claim in claims)
    return Mark(row.id, row.scope, row.worth.classification, confidence=confidence, flags=flags)


def place_of(change: Text | StatedClaim | Mark) -> tuple[str, int]:
    """The scope and the classification of a change."""
    match change:
        case Text():
            return change.memory.scope, change.memory.worth.classification
        case StatedClaim():
            return change.slot.scope, change.slot.classification
        case Mark():
            return change.scope, change.classification


def slot_of_fact(row: Memory) -> Slot:
    """The slot of a settled fact."""
    assert row.fact is not None
    return slot_of_row(row, row.fact)


# Digests


def base_digest(memory: Memory) -> tuple[str, bytes]:
    """The part of a text's digest that is its memory: of its words, and of everything."""
    words = _short(memory.text.encode("utf-8", "surrogatepass"))
    return words, hashlib.sha256(to_line(to_data(replace(memory, usage=Usage())))).digest()


def text_digest(base: tuple[str, bytes], links: Sequence[Link], names: Names) -> str:
    """The digest of a text, from its memory's, its links and its names; `words_of` finds that of its words in it."""
    lines = sorted(to_line(record_to_data(link)) for link in links)
    words, whole = base
    return f"{words} {_short(whole, *lines, *([to_line({'names': names})] if names else []))}"


def words_of(digest: str) -> str:
    """The digest of a text's words, from that of the text."""
    return digest.partition(" ")[0]


def _short(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


# JSON


def change_to_data(change: Change, stamp: Stamp) -> dict[str, Any]:
    """A change as JSON: as in an export where an export has it, with its stamp."""
    return {**_content(change), **({"life": stamp.life} if stamp.life else {}), "at": stamp.at}


def _content(change: Change) -> dict[str, Any]:
    match change:
        case Text():
            bare = replace(change.memory, usage=Usage())
            return {
                **record_to_data(Kept(bare, change.vectors)),
                **_unless_empty("links", [record_to_data(link)["link"] for link in change.links]),
                **_unless_empty("entities", [record_to_data(entity)["entity"] for entity in change.entities]),
                **_unless_empty("names", list(map(list, change.names))),
            }
        case StatedClaim():
            told = {"slot": asdict(change.slot), **claim_to_data(change.claim)}
            return {"claim": told, **_unless_empty("vectors", pack_vectors(change.vectors))}
        case Mark():
            return {"mark": to_data(change)}
        case Gone():
            return {"forgotten": change.key}


def change_from_data(data: Mapping[str, Any], by: str, embedding: str | None) -> tuple[Change, Stamp]:
    """A change from JSON, and its stamp; everything in it is checked, because anybody may have written it."""
    kind = next((name for name in _READERS if name in data), None)
    if kind is None:
        raise InvalidInput(f"unknown kind of change ({', '.join(data)[:80]})", remedy="Upgrade Memorist.")
    change = _READERS[kind](data, embedding)
    version = change.memory.version if isinstance(change, Text) else 0
    life, at = _number(data.get("life", 0)), _number(data.get("at", 0))
    return change, Stamp(life, isinstance(change, Gone), _number(version), at, by)


def check_strings(value: object) -> None:
    """Refuse data with a string that some store cannot keep: with half a surrogate, or a NUL character."""
    if isinstance(value, str):
        value.encode()  # raises a ValueError
        if "\0" in value:
            raise ValueError("it has a NUL character")
    elif isinstance(value, Mapping):
        for pair in cast("Mapping[object, object]", value).items():
            check_strings(pair)
    elif isinstance(value, list | tuple):
        for part in cast("Sequence[object]", value):
            check_strings(part)


def _text(data: Mapping[str, Any], embedding: str | None) -> Text:
    kept = record_from_data({name: data[name] for name in ("memory", "vectors") if name in data}, embedding)
    assert isinstance(kept, Kept)
    memory = kept.memory
    if is_settled(memory) or is_own(memory):
        raise InvalidInput("it is a fact or a note, which do not travel", remedy="Sync with the same version.")
    links = [record_from_data({"link": link}, None) for link in data.get("links", ())]
    entities = [record_from_data({"entity": entity}, None) for entity in data.get("entities", ())]
    names = validate(data.get("names", ()), tuple[tuple[str, ...], ...], "names")
    own = [link for link in links if isinstance(link, Link) and link.source == memory.id]
    if len(own) < len(links) or any(link.relation in OWN_LINKS for link in own):
        raise InvalidInput("it has links of another memory", remedy="Sync with the same version.")
    return Text(
        memory, tuple(own), tuple(entity for entity in entities if isinstance(entity, Entity)), names, kept.vectors
    )


def _told(data: Mapping[str, Any], embedding: str | None) -> StatedClaim:
    fields = dict(validate(data["claim"], Mapping[str, Any], "claim"))
    slot = from_data(Slot, fields.pop("slot"))
    claim = from_data(Claim, fields)
    Worth(confidence=claim.confidence, trust=claim.trust, classification=slot.classification)  # checks the ranges
    if slot.value is not None and fold_value(slot.value) != claim.same:
        raise InvalidInput("its claim is about another value", remedy="Sync with the same version.")
    if claim.classification != slot.classification:
        raise InvalidInput("its claim has another classification", remedy="Sync with the same version.")
    if not all(part.strip() for part in (slot.subject, slot.relation, slot.scope, claim.value)):
        raise InvalidInput("it says nothing", remedy="Sync with the same version.")
    row = settle_claims(slot, [claim])[0]
    from_data(Memory, to_data(row))  # every replica could keep, send and read the fact
    return StatedClaim(slot, claim, unpack_vectors(data.get("vectors", {}), embedding))


def _mark(data: Mapping[str, Any], _: str | None) -> Mark:
    mark = from_data(Mark, data["mark"])
    Worth(confidence=mark.confidence, relevance=mark.relevance, classification=mark.classification)
    return mark


def _gone(data: Mapping[str, Any], _: str | None) -> Gone:
    key = validate(data["forgotten"], str, "forgotten")
    if not key.startswith(("memory:", "claim:", "mark:")) or len(key) > LONGEST_KEY:
        raise InvalidInput("it forgets what is no record", remedy="Sync with the same version.")
    return Gone(key)


_READERS: Mapping[str, Callable[[Mapping[str, Any], str | None], Change]] = {
    "memory": _text,
    "claim": _told,
    "mark": _mark,
    "forgotten": _gone,
}


def _number(value: object) -> int:
    number = validate(value, int, "a number of a stamp")
    if not 0 <= number <= LATEST:
        raise InvalidInput(f"the number {number} of a stamp is out of range", remedy="Sync it again.")
    return number


def _unless_empty(name: str, value: Any) -> dict[str, Any]:
    return {name: value} if value else {}
