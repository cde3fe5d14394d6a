"""The arguments and results of the tools, as schemas that derive from the model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from functools import wraps
from types import GenericAlias
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, Field, create_model

from memorist.asking.wording import clip
from memorist.model import MOST, FieldInfo, Item, Memory, Recall, Remembered, fields_of, keywords_of, to_data
from memorist.model.fields import members
from memorist.results.finding import EntitySummary, Neighbourhood, Support
from memorist.results.records import Receipt, StoreStats

F = TypeVar("F", bound=Callable[..., Any])
Trust = Literal["untrusted", "peer", "self", "owner"]
TRUST: tuple[Trust, ...] = get_args(Trust)
"""The name of each number of `trust`."""
UNKNOWN = "unknown"
"""The confidence of a recall whose items no reader judged."""
LONGEST = 1200
"""Characters of a text that a recall shows; the memory's resource has all of it."""

# Arguments


def with_keywords(keywords: type, *names: str, bare: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Add some keywords of a verb to a tool with `**keywords`; it receives those that are not None.

    Types, limits, descriptions and defaults come from the model; `bare` keywords have no description, to save tokens.
    """
    known = keywords_of(keywords)
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=known[name].default,
            annotation=_annotation(known[name], described=name not in bare),
        )
        for name in (*names, *bare)
    ]

    def extend(tool: F) -> F:
        @wraps(tool)
        def run(*positional: Any, **given: Any) -> Any:
            return tool(*positional, **{name: value for name, value in given.items() if value is not None})

        signature = inspect.signature(tool, eval_str=True)
        kept = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        run.__signature__ = signature.replace(parameters=[*kept, *added])  # pyright: ignore[reportAttributeAccessIssue]  # read by the SDK
        return cast("F", run)

    return extend


def _annotation(field: FieldInfo, *, described: bool) -> Any:
    most = field.range.high if field.range and field.range.high < MOST else None
    limits = [Field(ge=field.range.low, le=most)] if field.range else []
    parts = [field.description.rstrip(".")] if described else []
    parts += ["ISO 8601"] if field.is_time else []
    return Annotated[_argument_type(field) | None, Field(description="; ".join(parts) or None), *limits]


def _argument_type(field: FieldInfo) -> Any:
    """The type of an argument: a dataclass is given as an object, and several values as a list."""
    first: Any = next(member for member in members(field.type) if member is not type(None))
    if is_dataclass(first):
        return dict[str, Any]
    return list[str] if get_origin(first) is Iterable else _json_type(field)


def slim(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without what a model can do without: titles, null types of optional arguments, empty defaults."""
    return cast("dict[str, Any]", _slim(schema))


def _slim(node: object, *, names: bool = False) -> object:
    if isinstance(node, list):
        return [_slim(member) for member in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    given = cast("dict[str, object]", node)
    if names:  # a mapping by property name: a property may be called title
        return {name: _slim(one) for name, one in given.items()}
    kept = {
        word: _slim(value, names=word in ("properties", "$defs"))
        for word, value in given.items()
        if not (word == "title" or (word == "default" and _is_empty(value)))
    }
    return _without_null(kept)


def _is_empty(value: object) -> bool:
    return value is None or value is False or value == []


def _without_null(schema: dict[str, object]) -> dict[str, object]:
    options = cast("list[object]", schema.get("anyOf", []))
    real = [option for option in options if option != {"type": "null"}]
    if len(real) == 1 and len(options) == 2 and isinstance(real[0], dict):
        rest = {word: value for word, value in schema.items() if word != "anyOf"}
        return {**cast("dict[str, object]", real[0]), **rest}
    return schema


# Results

_MEMORY = {
    **{name: name for name in ("id", "text", "kind", "source", "speaker", "topic", "flags", "fact")},
    **{"at": "valid_from", "until": "valid_to"},
}
_VERSION = {**_MEMORY, "version": "version", "known_from": "ingested_at", "known_until": "expired_at"}
_STORED = {
    "outcome": "outcome",
    **{"id": "id", "version": "version", "at": "valid_from", "kind": "kind", "flags": "flags"},
}
_RATED = {"id": "id", "relevance": "relevance"}
_ERASED = {"forgotten": "forgotten", "at": "at", "run": "run"}
_COUNTED = {name: name for name in ("space", "memories", "versions", "entities", "kinds")}
"""The name of each field in a tool's result, and its name in the model."""


def _model(name: str, doc: str, kind: type, names: Mapping[str, str], **own: Any) -> type[BaseModel]:
    """A result with some fields of a dataclass, and some of its own."""
    known = fields_of(kind)
    derived = {shown: _result_type(known[source]) for shown, source in names.items()}
    return create_model(name, __doc__=doc, **{**derived, **own})


def _list_of(item: type[BaseModel]) -> Any:
    return GenericAlias(list, (item,))


def _perhaps_list_of(item: type[BaseModel]) -> Any:
    return GenericAlias(list, (item,)) | None


def _result_type(field: FieldInfo) -> Any:
    """The type and default of a field in a result; a field that is empty by default is left out when it is."""
    kind = _json_type(field)
    return (kind | None, None) if field.default in (None, ()) else (kind, ...)


def _json_type(field: FieldInfo) -> Any:
    """The type of a field's JSON form; of several types that an argument may have, the first."""
    first: Any = next(member for member in members(field.type) if member is not type(None))
    if field.is_time or (inspect.isclass(first) and issubclass(first, Enum)):
        return str
    return list[str] if get_origin(first) is tuple else first


RecalledMemory = _model(
    "RecalledMemory",
    "A memory, with who said it and where it comes from; its text unless the context has it.",
    Memory,
    _MEMORY,
    text=(str | None, None),
    trust=(Trust, ...),
    notes=(list[str] | None, None),
    probability=(float | None, None),
)
MemoryVersion = _model("MemoryVersion", "A memory as it was once known.", Memory, _VERSION, trust=(Trust, ...))
_GATES: Any = (list[str] | None, Field(None, description="What was masked, marked or not stored, and why"))
RememberResult = _model(
    "RememberResult",
    "What became of the text, and the memory that answers for it; its text only if it differs from the given one.",
    Remembered,
    _STORED,
    text=(str | None, None),
    gates=_GATES,
)
RelateResult = _model(
    "RelateResult",
    "The stored fact; its text only if it differs.",
    Remembered,
    _STORED,
    text=(str | None, None),
    gates=_GATES,
)
FeedbackResult = _model("FeedbackResult", "A memory after feedback.", Memory, _RATED, verdict=(str, ...))
ForgetResult = _model("ForgetResult", "The ids of the forgotten memories.", Receipt, _ERASED)
StatusResult = _model(
    "StatusResult",
    "The size of the space, and what the caller may do.",
    StoreStats,
    _COUNTED,
    max_classification=(int, ...),
    may_write=(bool, ...),
    notice=(str | None, None),
    pinned=(list[dict[str, Any]] | None, Field(None, description="The newest pinned memories")),
)
RecallResult = create_model(
    "RecallResult",
    __doc__="The memories that were found, best first, and what the recipe made of them.",
    notice=(str, ...),
    memories=(_list_of(RecalledMemory), ...),
    standing=(_perhaps_list_of(RecalledMemory), Field(None, description="Pinned memories and wishes to respect")),
    abstained=(bool, ...),
    context=(
        str | None,
        Field(None, description="Facts with numbered sources, if the recipe cites; all memories at the start"),
    ),
    reasoned=(dict[str, str] | None, Field(None, description="A summary per kind, if the recipe makes one")),
    confidence=(
        float | Literal["unknown"],
        Field(..., description="The probability that the first five memories contain an answer"),
    ),
    shown_before=(list[str] | None, Field(None, description="Ids of answers that you were shown before")),
    notes=(list[str] | None, None),
)
SessionResult = create_model(
    "SessionResult",
    __doc__="A session, the id of the step that was kept, and how many memories of each kind it taught.",
    session=(str, ...),
    goal=(str | None, None),
    id=(str | None, None),
    step=(int | None, None),
    state=(str | None, None),
    learnt=(dict[str, int] | None, None),
    gates=_GATES,
)
HistoryResult = create_model(
    "HistoryResult",
    __doc__="Every version that was ever known, newest knowledge first.",
    notice=(str, ...),
    versions=(_list_of(MemoryVersion), ...),
)

EntitiesResult = create_model(
    "EntitiesResult",
    __doc__="Names, most mentioned or nearest first, and how they are related.",
    notice=(str, ...),
    known=(bool | None, Field(None, description="Whether any memory mentions the name")),
    names=(list[dict[str, Any]], ...),
    relations=(list[dict[str, Any]] | None, Field(None, description="Each with the newest memory it rests on")),
    more=(bool | None, None),
)


def listed_names(found: Sequence[EntitySummary]) -> dict[str, Any]:
    """Names, with how often and when they were mentioned."""
    return {"names": [_filled(to_data(entity)) for entity in found]}


def related_names(found: Neighbourhood) -> dict[str, Any]:
    """The names and relations reached from one; the text of each is that of the first memory it rests on."""
    relations = [
        {**{name: value for name, value in to_data(edge).items() if name != "support"}, **_told(edge.support[0])}
        for edge in found.edges
    ]
    names = [_filled(to_data(entity)) for entity in found.entities]
    return {"known": found.known, "names": names, "relations": relations, "more": found.more}


def _told(support: Support) -> dict[str, Any]:
    return {"id": support.id, "text": clip(support.text, LONGEST), "at": to_data(support.at)}


def _filled(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value not in (None, [])}


def recall_content(found: Recall) -> dict[str, Any]:
    """What a recall found and its recipe made of it; a text is told once, in a context that cites or by its memory."""
    whole = not found.cites_sources
    pins = [standing_memory(memory, found.now, whole=whole) for memory in found.standing]
    standing = {"standing": pins} if pins else {}
    sure = {"confidence": UNKNOWN if found.confidence is None else found.confidence}
    seen = {"shown_before": list(found.shown_before)} if found.shown_before else {}
    if found.abstained:
        return {"memories": [], **standing, **sure, **seen}
    made = {
        "context": found.context if found.cites_sources else None,
        "reasoned": {kind: text for kind, text in to_data(found.reasoned).items() if text is not None},
        **sure,
        **seen,
        "notes": [f"{step.stage}: {note}" for step in found.trace.steps for note in step.notes],
    }
    told = {memory.id for memory in found.standing}
    memories = [_recalled_memory(item, found.now, whole=whole) for item in found.items if item.memory.id not in told]
    return {
        **standing,
        "memories": memories,
        **{name: value for name, value in made.items() if value not in (None, {}, [])},
    }


def _recalled_memory(item: Item, now: datetime, *, whole: bool) -> dict[str, Any]:
    """A memory as a recall shows it, with a long text cut."""
    notes = {"notes": list(item.notes)} if item.notes else {}
    likely = {} if item.probability is None else {"probability": item.probability}
    return {**standing_memory(item.memory, now, whole=whole), **notes, **likely}


def standing_memory(memory: Memory, now: datetime, *, whole: bool = True) -> dict[str, Any]:
    """A pinned memory or standing wish, with a long text cut, and a note if it is still to happen."""
    shown = {**_selected(memory, _MEMORY), "text": clip(memory.text, LONGEST)}
    if not whole:
        del shown["text"]
    notes = {"notes": [ahead]} if (ahead := memory.times.planned(now)) else {}
    return {**shown, "trust": TRUST[memory.worth.trust], **notes}


def memory_version(memory: Memory) -> dict[str, Any]:
    """A whole memory, with the time during which it was known."""
    return _selected(memory, _VERSION) | {"trust": TRUST[memory.worth.trust]}


def stored_memory(memory: Remembered, given: str | None) -> dict[str, Any]:
    """The memory that answers for a text, and what gates did with it; its own text is shown if it differs."""
    told = {"gates": [str(gate) for gate in memory.gates]} if memory.gates else {}
    return _selected(memory, _STORED) | ({} if memory.text == given else {"text": memory.text}) | told


def rated_memory(memory: Memory, verdict: str) -> dict[str, Any]:
    """A memory after feedback."""
    return _selected(memory, _RATED) | {"verdict": verdict}


def erased_ids(receipt: Receipt) -> dict[str, Any]:
    """The ids of the forgotten memories."""
    return _selected(receipt, _ERASED)


def space_size(stats: StoreStats) -> dict[str, Any]:
    """The size of a space."""
    return _selected(stats, _COUNTED)


def _selected(value: object, names: Mapping[str, str]) -> dict[str, Any]:
    data = to_data(value)
    return {name: data[source] for name, source in names.items() if data[source] not in (None, [])}
