"""How an item of a LangGraph store is kept: as one memory, or as several if several texts of it are indexed.

| of the item | of the memory |
|---|---|
| namespace `("users", "ann")` | scope `users.ann`, so `scope="users.*"` finds it in any recall |
| key | key, after `langgraph/`: the next put is the next version of the same memory |
| value | metadata `langgraph.value`, as JSON; its simple top-level values also by their names, for `where` |
| indexed texts | the text; each further one is the text of a part, a memory beside the item's own |
| time to live | `expires_at` |

The memory is `exact`: it comes back as it was put, or the put is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, cast
from urllib.parse import quote, unquote
from uuid import uuid4

from langgraph.store.base import Item, PutOp, SearchItem
from memorist.errors import InvalidInput
from memorist.model import EXACT, Kind, Memory, isoformat, memory_id

SOURCE = "langgraph"
OWN = "langgraph."
"""How the names of our own metadata begin."""
VALUE, CREATED, UPDATED, TTL = f"{OWN}value", f"{OWN}created_at", f"{OWN}updated_at", f"{OWN}ttl"
TEXTS = f"{OWN}texts"
"""How many texts of the item are indexed; 0 if a search with a query cannot find it."""
PUT, PART_OF = f"{OWN}put", f"{OWN}part_of"
"""The put that wrote a memory, and the id of the item that a part belongs to."""
Namespace = tuple[str, ...]
Place = tuple[Namespace, str]
"""A namespace and a key."""


def scope_of(namespace: Namespace) -> str:
    """The scope of a namespace: its labels, which have no full stop, joined by one."""
    return ".".join(map(_as_label, namespace))


def _as_label(label: str) -> str:
    """A label in a scope: a star would stand for any ending, and a scope needs a visible character."""
    return label.replace("%", "%25").replace("*", "%2A") if label.strip() else quote(label, safe="")


def namespace_of(scope: str) -> Namespace:
    """The namespace of a scope."""
    return tuple(map(unquote, scope.split(".")))


def scopes_under(prefix: Namespace) -> list[str] | None:
    """The filter `scope` for the namespaces that begin with a prefix; None for all of them."""
    return [scope_of(prefix), f"{scope_of(prefix)}.*"] if prefix else None


def id_of(place: Place, part: int = 0) -> str:
    """The id of the memory that keeps an item, or of one of its parts."""
    namespace, key = place
    return memory_id("", scope=scope_of(namespace), key=_key(key, part))


def _key(key: str, part: int) -> str:
    return f"{SOURCE}/{key}" if part == 0 else f"{SOURCE}+{part}/{key}"


def ids_of(memory: Memory) -> list[str]:
    """The ids of an item's memory and of its parts."""
    place = place_of(memory)
    return [id_of(place, part) for part in range(max(1, memory.metadata.get(TEXTS, 1)))]


def place_of(memory: Memory) -> Place:
    """The namespace and key of an item's memory."""
    return namespace_of(memory.scope), (memory.origin.key or "").removeprefix(f"{SOURCE}/")


class Put(NamedTuple):
    """An item to be put, and the texts of it that are indexed."""

    place: Place
    value: Mapping[str, Any]
    texts: Sequence[str]
    ttl: float | None = None

    @classmethod
    def of(cls, op: PutOp, texts: Sequence[str]) -> Put:
        """A put that an operation asks for."""
        assert op.value is not None
        return cls(
            (tuple(op.namespace), op.key), dict(op.value), [text for text in texts if clean(text).strip()], op.ttl
        )

    def memories(self, now: datetime, known: Memory | None) -> Iterator[dict[str, Any]]:
        """The keywords of `remember` for the item and its parts, given the item as it is known so far."""
        namespace, key = self.place
        first = None if known is None else known.metadata.get(CREATED)
        value = _as_json(self.value, self.place)
        data = {
            **_filterable(self.value),
            VALUE: value,
            CREATED: first or isoformat(now),
            UPDATED: isoformat(now),
            TEXTS: len(self.texts),
            PUT: uuid4().hex,
        }
        if self.ttl is not None:
            data[TTL] = self.ttl
        shared = {
            "scope": scope_of(namespace),
            "source": SOURCE,
            "kind": Kind.SEMANTIC,
            "flags": [EXACT],
            "expires_at": None if self.ttl is None else now + life_of(self.ttl),
        }
        for part, text in enumerate(self.texts or [f"{'/'.join(namespace)}: {key}"]):
            whole = data if part == 0 else {**_without_value(data), PART_OF: id_of(self.place)}
            yield {"text": clean(text), "key": _key(key, part), "metadata": whole, **shared}


def life_of(minutes: float) -> timedelta:
    """How long an item lives after it was put or read."""
    if not 0 <= minutes <= LONGEST_LIFE:
        raise InvalidInput(f"ttl is {minutes}", remedy=f"Give minutes, at most {LONGEST_LIFE:,}; None for no end.")
    return timedelta(minutes=minutes)


LONGEST_LIFE = 100 * 365 * 24 * 60


def _without_value(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in data.items() if name != VALUE}


def _as_json(value: Mapping[str, Any], place: Place) -> str:
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
        exact = json.loads(text) == value
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"The value of {place} is not JSON: {error}", remedy=_JSON) from None
    if not exact:
        raise InvalidInput(f"The value of {place} would not come back as it is", remedy=_JSON)
    return text


_JSON = "Use dictionaries with strings as keys, lists, strings, finite numbers, booleans and None."


def _filterable(value: Mapping[str, Any]) -> dict[str, Any]:
    """The simple top-level values, by which `where` filters."""
    return {
        name: one
        for name, one in value.items()
        if is_simple(one) and not name.startswith(OWN) and clean(name) == name and (one == clean(one, one))
    }


def is_simple(value: object) -> bool:
    """Whether a condition of `where` can name this value."""
    return isinstance(value, str | int | float)


def clean(text: object, other: Any = "") -> Any:
    """A text that every store can keep: without NUL and half characters; another value as it is."""
    if not isinstance(text, str):
        return other
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def text_of(value: object, name: str = "") -> str:
    """A whole value as text: its only text alone, or a line per value with its name."""
    lines = list(_lines(value, name))
    return lines[0][1] if len(lines) == 1 else "\n".join(f"{name}: {said}" if name else said for name, said in lines)


def _lines(value: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, member in cast("Mapping[str, object]", value).items():
            yield from _lines(member, f"{name}.{key}" if name else key)
    elif isinstance(value, list | tuple):
        simple = [member for member in cast("Sequence[object]", value) if is_simple(member)]
        if simple:
            yield name, ", ".join(map(str, simple))
        for member in cast("Sequence[object]", value):
            if not is_simple(member):
                yield from _lines(member, name)
    elif value is not None:
        yield name, str(value)


def value_of(memory: Memory) -> dict[str, Any]:
    """The value of an item's memory."""
    return json.loads(memory.metadata[VALUE])


def item_of(memory: Memory) -> Item:
    """The item that a memory keeps."""
    return Item(**_fields(memory))


def search_item(memory: Memory, score: float | None) -> SearchItem:
    """The item that a memory keeps, as a search returns it."""
    return SearchItem(**_fields(memory), score=score)


def _fields(memory: Memory) -> dict[str, Any]:
    namespace, key = place_of(memory)
    created, updated = (datetime.fromisoformat(memory.metadata[name]) for name in (CREATED, UPDATED))
    value = value_of(memory)
    return {"namespace": namespace, "key": key, "value": value, "created_at": created, "updated_at": updated}


def is_item(memory: Memory | None, now: datetime | None = None) -> bool:
    """Whether a memory keeps an item that has not expired."""
    if memory is None or memory.origin.source != SOURCE or VALUE not in memory.metadata:
        return False
    end = memory.times.expires_at
    return memory.version_of is None and (end is None or end > (now or datetime.now(UTC)))
