"""Which memories are visible: labels, event time, the two clocks, and conditions on fields.

A caller states conditions as a mapping, the same on every surface:

    {"metadata.project": "atlas"}                                    short for {"eq": "atlas"}
    {"metadata.priority": {"gte": 3, "lt": 5}, "speaker": {"in": ["Ann", "Ben"]}}   all must hold
    {"or": [{…}, {…}]}, {"and": [{…}, {…}]}, {"not": {…}}

A condition never fails on a memory. A field that the memory lacks, or that is null, meets only `ne` and
`{"exists": false}`. Metadata may have any type: a value of another type equals nothing and is neither larger nor
smaller. The other fields have one type, and a condition that none of their values can meet is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from functools import lru_cache
from math import isfinite
from typing import Annotated, Any, Literal, TypedDict, cast

from memorist.errors import InvalidInput
from memorist.model.arguments import When, check_text, instant
from memorist.model.fields import Default, Doc, Range, keywords_for
from memorist.model.memory import Kind, Memory, Tier, Times

TEXT, METADATA, CREATED = "text", "metadata.", "created"
ID = "id"
"""A field that callers cannot name: only `Filter.without` does."""
ORIGIN = ("speaker", "session", "source")
"""The fields of a memory's origin that conditions may name."""
FELT = ("emotion", "emotion_tags")
"""The fields of its worth that conditions may name; no tags count as a missing value."""
ORDERED = ("gt", "gte", "lt", "lte")
OPERATORS = ("eq", "ne", *ORDERED, "in", "contains", "exists")
TYPES = {**dict.fromkeys((*ORIGIN, "emotion_tags"), "text"), "emotion": "number"}
"""The only type that a field can be compared with."""
OPERATORS_OF = {
    **dict.fromkeys((CREATED, "emotion"), tuple(name for name in OPERATORS if name != "contains")),
    "emotion_tags": ("contains", "exists"),
}
"""The operators of fields that do not have all of them."""
DEEPEST = 8
"""How many levels of and, or and not may lie inside each other."""
MOST_CHECKS = 100
"""The most operators in one `where`."""
MOST_VALUES = 1000
"""The most values of one `in`."""
LONGEST_TIME = 40
EXAMPLE = '{"metadata.project": "atlas"}'
Value = tuple[str, bool | float | str]
"""A value and its type; a text that is a time in ISO 8601 is written in one way, which sorts by time."""


@dataclass(frozen=True, slots=True)
class FieldCheck:
    """One operator on one field; `part` is a text as it was given, and `words` are those that a text must have."""

    field: str
    operator: str
    values: frozenset[Value] = frozenset()
    part: str | None = None
    words: frozenset[str] = frozenset()

    def admits(self, value: Any) -> bool:
        """Whether a value of the field meets it; None if there is none. The value of `text` is its set of words."""
        if self.field == TEXT:
            return self.words <= value
        if self.operator == "exists":
            return ("boolean", value is not None) in self.values
        if self.operator == "contains":
            return self._is_in(value)
        known = _value(value)
        if self.operator in ("eq", "in"):
            return known in self.values
        if self.operator == "ne":
            return known not in self.values
        ((kind, bound),) = self.values
        return known is not None and known[0] == kind and _in_order(self.operator, known[1], bound)

    def _is_in(self, value: Any) -> bool:
        if isinstance(value, str):
            return self.part is not None and self.part in value
        several = cast("Iterable[object]", value) if isinstance(value, list | tuple) else ()
        return any(_value(member) in self.values for member in several)


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions of which all, any, or (there is then one) none must hold."""

    how: Literal["and", "or", "not"]
    parts: tuple[Condition, ...]


Condition = FieldCheck | Joined


def holds(condition: Condition, look: Callable[[str], Any]) -> bool:
    """Whether a condition holds for a memory whose fields `look` finds by name."""
    if isinstance(condition, FieldCheck):
        return condition.admits(look(condition.field))
    met = (holds(part, look) for part in condition.parts)
    return any(met) if condition.how == "or" else all(met) if condition.how == "and" else not any(met)


def field_of(memory: Memory, name: str) -> Any:
    """The value of a field that a condition names; None if the memory has none."""
    if name == TEXT:
        from memorist.text.words import words

        return frozenset(word for text in (*memory.worded, memory.original or "") for word in words(text))
    if name in ORIGIN:
        return getattr(memory.origin, name)
    if name == CREATED:
        return memory.times.ingested_at.isoformat()
    if name == ID:
        return memory.id
    if name in FELT:
        felt = getattr(memory.worth, name)
        return None if felt == () else felt
    return memory.metadata.get(name.removeprefix(METADATA))


def _value(given: object) -> Value | None:
    if isinstance(given, bool):
        return "boolean", given
    if isinstance(given, int | float):
        return "number", given
    return ("text", _sortable(given)) if isinstance(given, str) else None


def _sortable(text: str) -> str:
    """A time in ISO 8601 as UTC with all its digits, so that equal times are equal texts; any other text as it is."""
    return _time(text) if _may_be_time(text) else text


def _may_be_time(text: str) -> bool:
    return text[4:5] == text[7:8] == "-" and len(text) <= LONGEST_TIME


@lru_cache(maxsize=4096)
def _time(text: str) -> str:
    try:
        return instant(text).isoformat(timespec="microseconds")
    except InvalidInput:
        return text


def _in_order(operator: str, known: Any, bound: Any) -> bool:
    if operator == "gt":
        return known > bound
    if operator == "gte":
        return known >= bound
    return known < bound if operator == "lt" else known <= bound


# The grammar


def condition_of(where: Mapping[str, Any]) -> Condition | None:
    """The condition that a mapping states; None if the mapping is empty."""
    if not where:
        return None
    condition = _all_of(where, 0)
    if sum(1 for _ in checks_of(condition)) > MOST_CHECKS:
        raise InvalidInput(f"where has more than {MOST_CHECKS} conditions", remedy="Use `in` for many values.")
    return condition


def checks_of(condition: Condition) -> Iterator[FieldCheck]:
    """Every check of a condition."""
    if isinstance(condition, FieldCheck):
        yield condition
    else:
        for part in condition.parts:
            yield from checks_of(part)


def _all_of(where: object, depth: int) -> Condition:
    if depth > DEEPEST:
        raise InvalidInput(f"where is nested more than {DEEPEST} levels deep", remedy="Flatten its conditions.")
    if not isinstance(where, Mapping) or not where:
        raise InvalidInput("A condition of where is not a mapping, or empty", remedy=f"Write it as {EXAMPLE}.")
    stated = cast("Mapping[object, object]", where)
    return _joined(
        "and", [condition for name, value in stated.items() for condition in _entry(str(name), value, depth)]
    )


def _joined(how: Literal["and", "or"], parts: list[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else Joined(how, tuple(parts))


def _entry(name: str, stated: object, depth: int) -> list[Condition]:
    """The conditions of one entry of a mapping: and, or, not, or the operators on a field."""
    if name == "not":
        return [Joined("not", (_all_of(stated, depth + 1),))]
    if name in ("and", "or"):
        if not isinstance(stated, list | tuple) or not stated:
            example = f'{{"{name}": [{{"speaker": "Ann"}}, {{"session": "s1"}}]}}'
            raise InvalidInput(f"{name!r} in where takes a list of conditions", remedy=f"Write it as {example}.")
        return [_joined(cast("Any", name), [_all_of(part, depth + 1) for part in cast("list[object]", stated)])]
    field = _field(name)
    operators = cast("Mapping[object, object]", stated) if isinstance(stated, Mapping) else {"eq": stated}
    if not operators:
        raise InvalidInput(f"{field} in where has no operator", remedy=f"Use one of {', '.join(OPERATORS)}.")
    return [_check(field, str(operator), given) for operator, given in operators.items()]


def _field(name: str) -> str:
    if name in (TEXT, CREATED, *ORIGIN, *FELT) or (name.startswith(METADATA) and name != METADATA):
        return name
    shown = name[:60]
    fields = ", ".join((*ORIGIN, *FELT, CREATED, TEXT, "and", "or", "not"))
    remedy = f"Write metadata.{shown}, or one of {fields}."
    if shown in OPERATORS:
        remedy = f'Name the field first, as in {{"metadata.priority": {{"{shown}": 3}}}}.'
    raise InvalidInput(f"where has no field {shown!r}", remedy=remedy)


def _check(field: str, operator: str, given: object) -> FieldCheck:
    allowed = OPERATORS_OF.get(field, OPERATORS)
    if field == TEXT:
        return _text_check(operator, given)
    if operator not in allowed:
        problem = f"{field} in where has no operator {operator[:60]!r}"
        raise InvalidInput(problem, remedy=f"Use one of {', '.join(allowed)}.")
    if operator == "exists":
        if not isinstance(given, bool):
            raise InvalidInput(f"exists on {field} is neither true nor false", remedy='Write {"exists": true}.')
        return FieldCheck(field, operator, frozenset((("boolean", given),)))
    if operator == "in":
        if not isinstance(given, list | tuple | set | frozenset):
            raise InvalidInput(f"in on {field} takes a list", remedy='Write it as {"in": ["Ann", "Ben"]}.')
        several = cast("list[object]", given)
        if len(several) > MOST_VALUES:
            raise InvalidInput(f"in on {field} has more than {MOST_VALUES:,} values", remedy="Split the call.")
        return FieldCheck(field, operator, frozenset(_operand(field, member) for member in several))
    value = _operand(field, given)
    if operator in ORDERED and value[0] == "boolean":
        raise InvalidInput(f"{operator} on {field} is {given}", remedy="Compare with a number, a text or a time.")
    return FieldCheck(field, operator, frozenset((value,)), given if isinstance(given, str) else None)


def _text_check(operator: str, given: object) -> FieldCheck:
    from memorist.text.words import words

    if operator != "contains" or not isinstance(given, str) or not words(given):
        raise InvalidInput(
            "text in where takes `contains` with at least one word", remedy='Write {"text": {"contains": "invoice"}}.'
        )
    return FieldCheck(TEXT, operator, words=frozenset(words(given)))


def _operand(field: str, given: object) -> Value:
    if isinstance(given, date) or (field == CREATED and isinstance(given, str)):
        given = instant(given).isoformat()
    elif field == CREATED:
        raise InvalidInput("created in where takes a time", remedy='Write {"created": {"gte": "2024-06-01"}}.')
    if isinstance(given, str):
        check_text(field, given)
    value = _value(given)
    if given is None:
        raise InvalidInput(f"{field} in where is null", remedy='Write {"exists": false} for memories without it.')
    if value is None or (isinstance(given, float) and not isfinite(given)):
        raise InvalidInput(
            f"{field} in where is neither a text nor a number, true or false",
            remedy='Give one value; for one of several, write {"in": [1, 2]}.',
        )
    if TYPES.get(field, value[0]) != value[0]:
        example = '{"emotion": {"gte": 2}}' if TYPES[field] == "number" else f'{{"{field}": {{"contains": "a"}}}}'
        raise InvalidInput(f"{field} in where is compared with a {TYPES[field]}", remedy=f"Write it as {example}.")
    return value


class Exclusion(StrEnum):
    """Why a filter does not admit a memory."""

    SCOPE = "another scope"
    KIND = "another kind"
    TOPIC = "another topic"
    TIER = "another tier"
    CLASSIFIED = "classified too high"
    CONDITION = "does not meet where"
    EARLIER = "before since"
    LATER = "after until"
    UNKNOWN = "not known yet"
    RETRACTED = "taken back"
    AHEAD = "not true yet"
    ENDED = "no longer true or expired"


@dataclass(frozen=True, slots=True)
class Filter:
    """The memories that a search may see; every signal applies it during its search.

    `as_of` and `known_at` are moments on the two clocks; None leaves that clock unbounded.
    `since` and `until` bound the event time, both inclusive.
    """

    scopes: Annotated[tuple[str, ...] | None, Doc("Only memories of one of these scopes.")] = None
    kinds: Annotated[tuple[Kind, ...] | None, Doc("Only memories of one of these kinds.")] = None
    topic: Annotated[str | None, Doc("Only memories about this topic.")] = None
    tier: Annotated[Tier | None, Doc("Only memories of this tier.")] = None
    since: Annotated[datetime | None, Doc("Only memories said or true from this moment on.")] = None
    until: Annotated[datetime | None, Doc("Only memories said or true up to this moment.")] = None
    max_classification: Annotated[int, Range(0, 3), Doc("Only memories no more secret than this, from 0 to 3.")] = 3
    as_of: Annotated[datetime | None, Doc("Only memories that were true at this moment.")] = None
    known_at: Annotated[datetime | None, Doc("Only memories that were known at this moment.")] = None
    include_expired: Annotated[bool, Doc("Include memories that are no longer true.")] = False
    planned: Annotated[
        bool, Doc("Include what was said to happen later: episodic memories that begin after `as_of`.")
    ] = False
    scope_prefixes: Annotated[tuple[str, ...], Doc("With `scopes`, also the scopes that begin with one of these.")] = ()
    conditions: Annotated[Condition | None, Doc("Only memories for which this holds.")] = None

    @property
    def visibility(self) -> Filter:
        """The part that decides what may be seen: scope, classification, conditions and the two clocks."""
        return replace(self, kinds=None, topic=None, tier=None, since=None, until=None)

    def without(self, ids: Collection[str]) -> Filter:
        """This filter, which admits none of these memories either."""
        if not ids:
            return self
        others = Joined("not", (FieldCheck(ID, "in", frozenset(("text", id) for id in ids)),))
        return replace(self, conditions=Joined("and", (self.conditions, others)) if self.conditions else others)

    @property
    def session(self) -> str | None:
        """The only session whose memories it admits, if its conditions name one; a store may look there alone."""
        stated = self.conditions
        parts = stated.parts if isinstance(stated, Joined) and stated.how == "and" else (stated,)
        named = (
            part for part in parts if isinstance(part, FieldCheck) and (part.field, part.operator) == ("session", "eq")
        )
        # A time equals other spellings of itself, which only the condition knows.
        return next((check.part for check in named if check.part and not _may_be_time(check.part)), None)

    def admits(self, memory: Memory) -> bool:
        """Whether a memory is visible: the reference that every store's own implementation must agree with."""
        return next(self._refusals(memory), None) is None

    def refusals(self, memory: Memory) -> list[Exclusion]:
        """Why a memory is not visible; empty if it is."""
        return list(self._refusals(memory))

    def _refusals(self, memory: Memory) -> Iterator[Exclusion]:
        if self.scopes is not None and memory.scope not in self.scopes:
            yield from () if memory.scope.startswith(self.scope_prefixes) else (Exclusion.SCOPE,)
        if self.kinds is not None and memory.kind not in self.kinds:
            yield Exclusion.KIND
        if self.topic is not None and memory.topic != self.topic:
            yield Exclusion.TOPIC
        if self.tier is not None and memory.tier != self.tier:
            yield Exclusion.TIER
        if memory.worth.classification > self.max_classification:
            yield Exclusion.CLASSIFIED
        if self.conditions is not None and not holds(self.conditions, lambda name: field_of(memory, name)):
            yield Exclusion.CONDITION
        yield from self._refusals_by_time(memory.times, planned=self.planned and memory.kind is Kind.EPISODIC)

    def _refusals_by_time(self, times: Times, *, planned: bool) -> Iterator[Exclusion]:
        if self.since is not None and times.valid_from < self.since:
            yield Exclusion.EARLIER
        if self.until is not None and times.valid_from > self.until:
            yield Exclusion.LATER
        if self.known_at is not None:
            if times.ingested_at > self.known_at:
                yield Exclusion.UNKNOWN
            if times.retracted_at is not None and times.retracted_at <= self.known_at:
                yield Exclusion.RETRACTED
        if self.as_of is not None:
            if times.valid_from > self.as_of and not planned:
                yield Exclusion.AHEAD
            if not self.include_expired and not self.still_valid(times):
                yield Exclusion.ENDED

    def still_valid(self, times: Times) -> bool:
        """Whether something with these times has neither ended nor expired at `as_of`; always without that moment."""
        if self.as_of is None:
            return True
        if times.expires_at is not None and times.expires_at <= self.as_of:
            return False
        end = times.end_known_at(self.known_at)
        return end is None or end > self.as_of


@keywords_for(Filter)
class Filters(TypedDict, total=False):
    """The keywords that choose memories, in `recall`, `list` and `forget`."""

    as_of: When | None
    known_at: When | None
    scope: Annotated[
        str | Iterable[str] | None,
        Doc("Only memories of one of these scopes; team/* stands for every scope that begins with team/."),
    ]
    kinds: str | Iterable[str] | None
    topic: str | None
    tier: str | None
    since: When | None
    until: When | None
    max_classification: Annotated[int, Default(2)]
    include_expired: bool
    where: Annotated[
        Mapping[str, Any] | None,
        Doc(
            "Conditions on metadata.KEY, speaker, session, source, created, emotion, emotion_tags or text, such as "
            '{"metadata.priority": {"gte": 3}}: eq, ne, gt, gte, lt, lte, in, contains, exists; and, or, not.'
        ),
    ]
