"""From the fields that a caller gives to a memory: checked, with defaults and an id."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack, cast

from memorist.errors import InvalidInput, Remedy, VerbCall
from memorist.model import (
    AGENT_TRUST,
    Changes,
    Fields,
    Kind,
    Memory,
    Origin,
    Tier,
    Times,
    Worth,
    instant,
    isoformat,
    keywords_of,
    member,
    memory_id,
    refuse_unknown,
)
from memorist.model.arguments import check_nesting, check_text, within
from memorist.models.embedding_text import LAST_POSITION

WORTH = tuple(name for name, one in keywords_of(Fields).items() if one.group == "worth" and not one.repeated)
"""The keywords of `remember` that are numbers of a memory's worth."""


def record(text: str, now: datetime, **fields: Unpack[Fields]) -> Memory:
    """The memory that `remember(text, **fields)` keeps."""
    refuse_unknown(fields, Fields, "remember")
    at, expires_at = fields.get("at"), fields.get("expires_at")
    said_at = instant(at) if at is not None else None
    ingested_at = fields.get("ingested_at")
    origin = Origin(
        source=_label("source", fields.get("source")),
        session=_label("session", fields.get("session")),
        position=_position(fields.get("position")),
        speaker=_label("speaker", fields.get("speaker")),
        key=_label("key", fields.get("key")),
    )
    scope = _label("scope", fields.get("scope")) or "global"
    checked = check_memory_text(text)
    original = fields.get("original")
    worth = Worth(
        **{name: value for name, value in cast("dict[str, Any]", fields).items() if name in WORTH},
        emotion_tags=_labels("emotion_tags", fields.get("emotion_tags", ())),
        flags=_labels("flags", fields.get("flags", ())),
    )
    return Memory(
        id=memory_id(
            checked,
            scope=scope,
            key=origin.key,
            source=origin.source,
            session=origin.session,
            position=origin.position,
            at=said_at,
            classification=worth.classification,
        ),
        text=checked,
        times=Times(
            valid_from=said_at or now,
            ingested_at=instant(ingested_at) if ingested_at is not None else now,
            expires_at=instant(expires_at) if expires_at is not None else None,
        ),
        kind=member(Kind, "kind", fields.get("kind", Kind.EPISODIC)),
        scope=scope,
        tier=_tier(fields, worth),
        topic=_label("topic", fields.get("topic")),
        original=check_memory_text(original) if original is not None else None,
        keywords=_labels("keywords", fields.get("keywords", ())),
        worth=worth,
        origin=origin,
        metadata=_checked_metadata(fields.get("metadata")),
    )


def _position(value: int | None) -> int | None:
    if value is not None:
        within("position", value, -LAST_POSITION, LAST_POSITION)
    return value


def _tier(fields: Fields, worth: Worth) -> Tier:
    """The tier of a new memory; only what the owner or the agent says can be pinned."""
    given = fields.get("tier")
    tier = Tier.WORKING if given is None else member(Tier, "tier", given)
    if fields.get("pinned"):
        if given is not None and tier is not Tier.PINNED:
            raise InvalidInput(f"A memory of the tier {tier} is not pinned", remedy="Give either pinned or tier.")
        tier = Tier.PINNED
    if tier is Tier.PINNED and worth.trust < AGENT_TRUST:
        raise InvalidInput(
            f"A text of trust {worth.trust} cannot be pinned unread",
            remedy="Remember it unpinned, read it, and pin it by its id.",
        )
    return tier


EDITABLE = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL)
CLEARABLE = ("topic", "original", "speaker", "expires_at", "keywords", "emotion_tags", "flags", "metadata")


def edit_memory(memory: Memory, now: datetime, text: str | None = None, **changes: Unpack[Changes]) -> Memory:
    """The next version of a memory, for `update`; another text is true from now on unless `at` is given."""
    refuse_unknown(changes, Changes, "update")
    _check_editable(memory)
    given = {**cast("dict[str, Any]", changes)}
    cleared = _labels("clear", given.pop("clear", ()))
    for name in cleared:
        if name not in CLEARABLE:
            raise InvalidInput(f"{name!r} cannot be emptied", remedy=f"Choose some of {', '.join(CLEARABLE)}.")
    said = memory.text if text is None else check_memory_text(text)
    kept = {name: value for name, value in _fields_of(memory).items() if name not in cleared}
    if said == memory.text:
        kept["at"] = memory.times.valid_from
    made = record(said, now, **cast("Fields", kept | given))
    return replace(
        made,
        id=memory.id,
        worth=replace(made.worth, relevance=memory.worth.relevance),
        usage=memory.usage,
        mentions=memory.mentions,
        version=memory.version + 1,
    )


def is_unchanged(before: Memory, after: Memory) -> bool:
    """Whether an edit changes nothing."""
    times = replace(after.times, ingested_at=before.times.ingested_at)
    return replace(after, times=times, version=before.version) == before


def _check_editable(memory: Memory) -> None:
    id, times = memory.id, memory.times
    if memory.version_of is not None:
        raise InvalidInput(f"{id!r} is an old version", remedy=f"Update the memory itself, {memory.version_of!r}.")
    if memory.fact is not None:
        raise InvalidInput(
            f"{id!r} is a fact",
            remedy=Remedy("Write its new value with ", VerbCall("relate"), ", or update what it rests on."),
        )
    if memory.kind not in EDITABLE:
        raise InvalidInput(f"{id!r} is a {memory.kind}", remedy="It is derived: update the memory that it comes from.")
    if end := times.retracted_at or times.valid_to:
        raise InvalidInput(f"{id!r} ended on {isoformat(end)}", remedy="Remember the new text as a memory of its own.")


def _fields_of(memory: Memory) -> dict[str, Any]:
    """The keywords of `remember` that make a memory, without its times."""
    parts = (memory.origin, memory.worth, memory.times, memory)
    found = ((name, getattr(part, name)) for name in keywords_of(Fields) for part in parts if hasattr(part, name))
    return {name: value for name, value in found if value is not None and name != "ingested_at"}


def check_memory_text(text: object) -> str:
    """The text, if every store can keep it exactly; anything else is refused."""
    if not isinstance(text, str):
        raise InvalidInput(f"A memory's text is a {type(text).__name__}", remedy="Give a string.")
    if not text.strip():
        raise InvalidInput("A memory's text is empty", remedy="Give it at least one visible character.")
    return _storable("text", text)


def _storable(name: str, text: str) -> str:
    check_text(name, text)
    if "\0" in text:
        raise InvalidInput(f"{name} contains a NUL character", remedy="Remove it, as with text.replace('\\0', '').")
    return text


def _label(name: str, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name} is {value!r}", remedy=f"Give {name} a string with a visible character.")
    return _storable(name, value)


def _labels(name: str, values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise InvalidInput(f"{name} is one string", remedy=f"Give {name} as a list of strings.")
    return tuple(label for value in values if (label := _label(name, value)))


def _checked_metadata(metadata: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if not metadata:
        return {}
    check_nesting("metadata", metadata)
    try:
        text = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"metadata is not JSON: {error}", remedy="Use strings, numbers, lists and mappings."
        ) from None
    if "\\u0000" in text:  # a NUL, or the text of its escape
        for string in _strings(metadata):
            _storable("metadata", string)
    return json.loads(_storable("metadata", text))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for pair in cast("Mapping[object, object]", value).items() for text in _strings(pair))
    elif isinstance(value, list | tuple):
        yield from (text for member in cast("Sequence[object]", value) for text in _strings(member))
