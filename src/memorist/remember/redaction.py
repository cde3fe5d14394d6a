"""Redaction: secrets masked in every text field of a memory, or of anything else that a store holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, cast

from memorist.model import Entity, Link, Memory, Showing, Times, Usage
from memorist.ports import Entry, Job, Kept
from memorist.remember.fact_rows import CLAIMS, slot_of
from memorist.text.secrets import mask_secrets, secrets_in

SHORTEST = 7
"""A shorter text has no room for a secret and the word that introduces it."""
LABEL = 100
"""The longest text that is taken for a label, which other records have too."""
MOST = 1000
"""Secrets that are looked for in every field; what holds more is refused."""
LONG = 10
"""A secret of fewer characters may occur inside other words and numbers by chance."""
_NAMING = ("name", "key", "field", "label")
"""The keys under which a form names the value beside it."""
_QUOTES = "'\"`“”‘’"
_AFTER = ".,;:?"
"""Punctuation that ends a sentence and may have been read as the end of a secret."""
T = TypeVar("T")


_UNTOUCHED: Mapping[type, tuple[str, ...]] = {
    Memory: ("id", "version_of", "superseded_by"),
    Kept: ("vectors",),
    Entity: ("id",),
    Link: ("source", "target"),
    Job: ("task",),
    Entry: ("id",),
    Showing: ("id",),
}
"""Fields that are not texts. Ids stay, so that links still lead to a redacted record."""


def kinds_in(memory: Memory) -> list[str]:
    """The kinds of secrets in any text field of a memory."""
    return list(dict.fromkeys(secrets_of(memory).values()))


def without_secrets(memory: Memory) -> Memory:
    """The memory with its secrets masked in every field; a secret found in one field is masked in all of them."""
    found = secrets_of(memory)
    return redact(memory, found) if found else memory


def text_without_secrets(text: str) -> str:
    """A text with its secrets masked."""
    return redact(text, secrets_of(text))


def secrets_of(value: object) -> dict[str, str]:
    """The secrets in anything that a store holds, with their kinds: each as it stands, and without punctuation."""
    return secrets_in_texts(texts_of(value), set())


def secrets_in_texts(texts: Iterable[str], plain: set[str]) -> dict[str, str]:
    """The secrets in texts; `plain` collects labels without one, such as scopes, which are not read again."""
    found: dict[str, str] = {}
    for text in texts:
        if len(text) < SHORTEST or text in plain:
            continue
        secrets = secrets_in(text)
        if not secrets and len(text) <= LABEL:
            plain.add(text)
        for span in secrets:
            secret = text[span.start : span.end]
            for form in (secret, secret.strip(_QUOTES).rstrip(_AFTER)):
                found.setdefault(form, span.kind)
    return found


def redact(value: T, found: Mapping[str, str]) -> T:
    """Anything that a store holds with every secret in it masked, whether a pattern or another field shows it."""
    return cast("T", _mask(value, found))


@cache
def _text_fields(record: type[Any]) -> tuple[str, ...]:
    untouched = _UNTOUCHED.get(record, ())
    return tuple(field.name for field in fields(record) if field.name not in untouched) if is_dataclass(record) else ()


@cache
def _texts_getter(record: type[Any]) -> Callable[[object], tuple[object, ...]] | None:
    """Reads the values of a record's text fields."""
    names = _text_fields(record)
    return (attrgetter(*names) if len(names) > 1 else _values(names)) if names else None


def _values(names: Sequence[str]) -> Callable[[object], tuple[object, ...]]:
    return lambda value: tuple(getattr(value, name) for name in names)


def texts_of(value: object) -> list[str]:
    """Every text in anything that a store holds."""
    found: list[str] = []
    _collect(value, found)
    return found


_WITHOUT_TEXT = frozenset((type(None), bool, int, float, datetime, Times, Usage))
"""Types of which no value holds a text."""


def _collect(value: object, found: list[str]) -> None:
    kind = type(value)
    if kind in _WITHOUT_TEXT:
        return
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, list | tuple):
        several = cast("Sequence[object]", value)
        for member in several:
            _collect(member, found)
        if isinstance(value, list) and len(several) == 2 and all(isinstance(member, str) for member in several):
            found.append(f"{several[0]}: {several[1]}")
    elif get := _texts_getter(kind):
        for inner in get(value):
            if type(inner) is str:
                found.append(inner)
            elif type(inner) not in _WITHOUT_TEXT:
                _collect(inner, found)
        found.extend(_stated(value))
    elif isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value)
        for name, one in pairs.items():
            _collect_named(name, one, found)
        found.extend(f"{pairs[name]}: {pairs.get('value')}" for name in _NAMING if isinstance(pairs.get(name), str))


def _collect_named(name: str, value: object, found: list[str]) -> None:
    """A named value as text, so that `{"password": "…"}` is recognised; `key` alone names our own keys."""
    if isinstance(value, str) and name != "key":
        found.append(f"{name}: {value}")
    else:
        found.append(name)
        _collect(value, found)
        if name == "fact" and isinstance(value, list) and len(cast("list[object]", value)) == 3:
            found.append(f"{value[1]}: {value[2]}")


def _stated(value: object) -> Iterator[str]:
    """Facts as text, so that `relate(…, "password", …)` is recognised."""
    if isinstance(value, Memory):
        if (fact := value.fact) is None:
            return
        claims = cast("Sequence[Mapping[str, Any]]", value.metadata.get(CLAIMS, ()))
        for stated in (fact.object, *(claim.get("value") for claim in claims)):
            yield f"{fact.relation}: {stated}"
            yield f"{fact.subject}: {stated}"
    elif isinstance(value, Entry):
        slot, claim = (cast("Mapping[str, Any]", value.data.get(name) or {}) for name in ("slot", "claim"))
        yield f"{slot.get('relation')}: {claim.get('value')}"


def _mask(value: object, found: Mapping[str, str]) -> object:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        text = mask_secrets(value)
        for secret in sorted([piece for piece in found if piece in text], key=len, reverse=True):
            text = _without(text, secret, f"[secret: {found[secret]}]")
        return text
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return {cast("str", _mask(name, found)): _mask(one, found) for name, one in pairs}
    if isinstance(value, list | tuple):
        items = [_mask(item, found) for item in cast("Sequence[object]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    names = _text_fields(type(value))
    made = (
        replace(cast("Any", value), **{name: _mask(getattr(value, name), found) for name in names}) if names else value
    )
    return _with_its_key(value, made) if isinstance(value, Memory) and isinstance(made, Memory) else made


def _without(text: str, secret: str, mark: str) -> str:
    """A text with a mark in place of a secret; a short one, such as a PIN, only where it is no part of a date or id."""
    if len(secret) >= LONG:
        return text.replace(secret, mark)
    return re.sub(rf"(?<![\w.:-]){re.escape(secret)}(?![\w:-]|\.\d)", mark, text)


def _with_its_key(memory: Memory, clean: Memory) -> Memory:
    """A redacted fact under its own key, which holds the value without case: no pattern would find a secret there."""
    if memory.fact is None or clean.fact is None or memory.origin.key != slot_of(memory.fact, memory.scope).key:
        return clean
    return replace(clean, origin=replace(clean.origin, key=slot_of(clean.fact, clean.scope).key))
