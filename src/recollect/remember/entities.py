"""Whom and what a memory speaks of: entities found by rules and by the store's own dictionary of names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from recollect.model import Entity, Link, Memory, fingerprint
from recollect.text.stop_words import STOP_WORDS

SUBJECT, OBJECT, MENTIONS = "subject", "object", "mentions"
"""Relations of the links from a memory to the entities it speaks of."""

Known = Callable[[Sequence[str]], Iterable[Entity]]
"""The store's dictionary: entities by name or alias."""

LONGEST_TEXT = 20_000
"""Names are looked for in this many characters; a whole book would name everybody."""
NOT_NAMES = STOP_WORDS["en"] | frozenset(
    [
        "hey",
        "hi",
        "hello",
        "wow",
        "thanks",
        "thank",
        "yeah",
        "yep",
        "yes",
        "no",
        "oh",
        "well",
        "okay",
        "ok",
        "sure",
        "great",
        "good",
        "nice",
        "cool",
        "awesome",
        "congrats",
        "sorry",
        "please",
        "dear",
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ]
)
"""Capitalised words that name nobody: function words, greetings, titles, days and months."""
_WORD = r"[A-Z][\w’'&-]*"
_NAME = re.compile(rf"{_WORD}(?:\s+(?:of|de|van|von|der|la|the)\s+{_WORD}|\s+{_WORD})*")
_SENTENCE_END = re.compile(r"(?:^|[.!?:;\n\"“(]\s*)$")
_POSSESSIVE = re.compile(r"[’']s?$")


@dataclass(frozen=True, slots=True)
class Names:
    """Names in a text: those that the spelling shows, and capitalised first words, which may be anything."""

    sure: tuple[str, ...]
    perhaps: tuple[str, ...]


def names_in(text: str) -> Names:
    """Runs of capitalised words; a single one at the beginning of a sentence is only perhaps a name."""
    sure, perhaps = dict[str, None](), dict[str, None]()
    head = text[:LONGEST_TEXT]
    for match in _NAME.finditer(head):
        words = [_POSSESSIVE.sub("", word) for word in match.group().split()]
        first = bool(_SENTENCE_END.search(head[max(0, match.start() - 3) : match.start()]))
        while words and words[0].lower() in NOT_NAMES:
            words, first = words[1:], False
        if not words or len("".join(words)) < 2:
            continue
        (perhaps if first and len(words) == 1 else sure)[" ".join(words)] = None
    return Names(tuple(sure), tuple(name for name in perhaps if name not in sure))


def entity_named(name: str) -> Entity:
    """The entity of a name; the same name, case and spaces aside, is the same entity."""
    shown = " ".join(name.split())
    return Entity(fingerprint("entity", shown.casefold()), shown)


def about(memories: Sequence[Memory], known: Known) -> tuple[list[Entity], list[Link]]:
    """The entities that memories speak of, and the links to them."""
    names = {memory.id: names_in(memory.text) for memory in memories}
    asked = [name for found in names.values() for name in (*found.sure, *found.perhaps)]
    spoken = [name for memory in memories for _, name in _ends(memory)]
    fresh = [entity_named(name) for found in names.values() for name in found.sure]
    fresh += [entity_named(name) for name in spoken]
    dictionary = _dictionary([*fresh, *known(list(dict.fromkeys([*asked, *spoken])))])
    entities: dict[str, Entity] = {}
    links: dict[Link, None] = {}
    for memory in memories:
        found = names[memory.id]
        mentioned = [*found.sure, *(name for name in found.perhaps if name.casefold() in dictionary)]
        for role, name in [*_ends(memory), *((MENTIONS, name) for name in mentioned)]:
            entity = dictionary.get(name.casefold()) or entity_named(name)
            entities[entity.id] = entity
            links[Link(memory.id, role, entity.id)] = None
    return list(entities.values()), list(links)


def _ends(memory: Memory) -> list[tuple[str, str]]:
    """A fact's subject and object; else the speaker, as memoria's page counts a memory without a triple."""
    if memory.fact is not None:
        return [(SUBJECT, memory.fact.subject), (OBJECT, memory.fact.object)]
    return [(SUBJECT, memory.origin.speaker)] if memory.origin.speaker else []


def _dictionary(entities: Iterable[Entity]) -> dict[str, Entity]:
    return {name.casefold(): entity for entity in entities for name in (*entity.aliases, entity.name)}
