"""Attacks that a pattern suggests: what it repeats, after what it wants before, and without a proper end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.attacks.matcher import Matcher

SIGNS = " \n\ta1A.-_,'\"[]()<>/\\:@`*#年一我"
MANY = 20
"""Bounds below this are not worth an attack."""
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def own_attacks(matcher: Matcher) -> list[tuple[str, str, str]]:
    """What to put before, to repeat and to put after."""
    found = [(before, unit) for before, unit in _pumps(matcher, list(matcher.tree), "") if unit]
    units = list(dict.fromkeys(unit for _, unit in found))
    attacks = [(start, unit, end) for before, unit in found for start in {before, ""} for end in ("", "\0")]
    pairs = [("", first + other, "\0") for first in units for other in units if first != other]
    return list(dict.fromkeys([*attacks, *pairs, *(("", before + unit, "\0") for before, unit in found)]))


def _pumps(matcher: Matcher, nodes: list[Any], before: str) -> Iterator[tuple[str, str]]:
    for op, value in nodes:
        if str(op) in _REPEATS:
            _, most, inner = value
            if most >= MANY:
                yield from ((before, unit) for unit in _units(matcher, list(inner)))
            yield from _pumps(matcher, list(inner), before)
        else:
            for inner in _inside(op, value):
                yield from _pumps(matcher, list(inner), before)
        before += _sample(matcher, [(op, value)])


def _units(matcher: Matcher, nodes: list[Any]) -> list[str]:
    sample = _sample(matcher, nodes)
    if len(sample) != 1:
        return [sample]
    fits = matcher.compiled(nodes).fullmatch
    return [sign for sign in SIGNS if fits(sign)][:4] or [sample]


def _inside(op: Any, value: Any) -> list[Any]:
    match str(op):
        case "SUBPATTERN":
            return [value[3]]
        case "ATOMIC_GROUP":
            return [value]
        case "BRANCH":
            return value[1]
        case "ASSERT" | "ASSERT_NOT":
            return [value[1]]
        case _:
            return []


def _sample(matcher: Matcher, nodes: list[Any]) -> str:
    """A short text that some operations match."""
    made = ""
    for op, value in nodes:
        match str(op):
            case "LITERAL":
                made += chr(value)
            case "NOT_LITERAL" | "ANY" | "IN":
                fits = matcher.compiled([(op, value)]).match
                made += next((sign for sign in (*SIGNS, *map(chr, range(33, 0x3000))) if fits(sign)), "")
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                made += _sample(matcher, list(value[2])) * value[0]
            case "SUBPATTERN" | "ATOMIC_GROUP" | "BRANCH":
                made += _sample(matcher, list(_inside(op, value)[0]))
            case _:
                pass
    return made
