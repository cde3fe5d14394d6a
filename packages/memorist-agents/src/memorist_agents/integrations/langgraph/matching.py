"""Which items an operation means: the filters of a search, and the conditions on namespaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Any, cast

from langgraph.store.base import MatchCondition
from memorist.errors import InvalidInput
from memorist_agents.integrations.langgraph.items import OWN, Namespace, clean

ORDER: Mapping[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
OPERATORS = ("$eq", "$ne", *ORDER)
LARGEST = 2**53
"""Numbers below are the same as an integer and as a float."""
MOST_PUSHED = 20
"""How many conditions of a filter are also conditions of the memory's own search."""


def meets(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a value meets a filter; a name with full stops that it lacks is a path into it."""
    return all(_meets(_at(value, name), one) for name, one in wanted.items())


def _at(value: Mapping[str, Any], name: str) -> object:
    if name in value or "." not in name:
        return value.get(name)
    found: object = value
    for step in name.split("."):
        found = cast("Mapping[str, object]", found).get(step) if isinstance(found, Mapping) else None
    return found


def _meets(known: object, wanted: object) -> bool:
    if isinstance(wanted, Mapping):
        stated = cast("Mapping[str, object]", wanted)
        if any(name.startswith("$") for name in stated):
            return all(_holds(known, name, bound) for name, bound in stated.items())
        inner = cast("Mapping[str, object]", known)
        return isinstance(known, Mapping) and all(_meets(inner.get(name), one) for name, one in stated.items())
    if isinstance(wanted, list | tuple):
        if not isinstance(known, list | tuple):
            return False
        several, those = cast("Sequence[object]", known), cast("Sequence[object]", wanted)
        return len(several) == len(those) and all(map(_meets, several, those))
    return known == wanted


def _holds(known: object, operator: str, bound: object) -> bool:
    if operator == "$eq":
        return known == bound
    if operator == "$ne":
        return known != bound
    if operator not in ORDER:
        raise InvalidInput(f"A filter has the operator {operator!r}", remedy=f"Use one of {', '.join(OPERATORS)}.")
    return _is_number(known) and _is_number(bound) and ORDER[operator](known, bound)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_filter(wanted: Mapping[str, Any]) -> None:
    """Refuse an operator that there is not, even if no item is looked at."""
    meets({}, wanted)


def where_of(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Conditions of `where` that every item meets which meets a filter; others may meet them too."""
    found: dict[str, Any] = {}
    for name, one in list(wanted.items())[:MOST_PUSHED]:
        if name.startswith(OWN) or "." in name or clean(name) != name:
            continue
        if conditions := _conditions(one):
            found[f"metadata.{name}"] = conditions
    return found


def _conditions(wanted: object) -> dict[str, Any]:
    if not isinstance(wanted, Mapping):
        return _equal(wanted)
    stated = cast("Mapping[str, object]", wanted)
    found = _equal(stated["$eq"]) if "$eq" in stated else {}
    ordered = {name[1:]: bound for name, bound in stated.items() if name in ORDER and _is_storable(bound)}
    return {**found, **ordered}


def _equal(value: object) -> dict[str, Any]:
    """A condition that an equal value meets: in Python and JSON text, 1 equals true."""
    if isinstance(value, str):
        return {"eq": value} if clean(value) == value else {}
    if isinstance(value, bool) or value in (0, 1):
        return {"in": [int(cast("float", value)), bool(value)]}
    return {"eq": value} if _is_storable(value) else {}


def _is_storable(value: object) -> bool:
    """Whether a number fits a condition."""
    return _is_number(value) and abs(cast("float", value)) < LARGEST


def matches(namespace: Namespace, conditions: Iterable[MatchCondition]) -> bool:
    """Whether a namespace meets all conditions; a star is any one label."""
    return all(_matches(namespace, condition.match_type, tuple(condition.path)) for condition in conditions)


def _matches(namespace: Namespace, how: str, path: Namespace) -> bool:
    if how not in ("prefix", "suffix"):
        raise InvalidInput(f"A namespace cannot be matched by {how!r}", remedy="Choose prefix or suffix.")
    part = namespace[: len(path)] if how == "prefix" else namespace[-len(path) :] if path else ()
    return len(part) == len(path) and all(wanted in ("*", label) for label, wanted in zip(part, path, strict=True))


def literal_prefix(conditions: Iterable[MatchCondition]) -> Namespace:
    """The longest beginning that all matching namespaces share by the conditions alone."""
    prefixes = [tuple(condition.path) for condition in conditions if condition.match_type == "prefix"]
    literal = [path[: path.index("*")] if "*" in path else path for path in prefixes]
    return max(literal, key=len, default=())
