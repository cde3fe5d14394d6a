"""Ids, stable in every process and store and apart for each classification; the names of spaces; whose a claim is."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memorist.errors import InvalidInput

USUAL_CLASSIFICATION = 1
"""The classification of a memory that is given none."""
MOST_CLASSIFIED = 3
"""The highest classification."""
_MARK = "~"


def isoformat(moment: datetime) -> str:
    """A UTC moment as ISO 8601 text ending in Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def fingerprint(*parts: object) -> str:
    """A stable 128-bit id of its parts, the same in every process and store."""
    return hashlib.sha256(_as_json(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def is_memory_id(text: str | None) -> bool:
    """Whether a text has the form of an id of ours."""
    return text is not None and len(text) == 32 and not set(text) - _HEX


_HEX = frozenset("0123456789abcdef")


def memory_id(
    text: str,
    *,
    scope: str,
    key: str | None = None,
    source: str | None = None,
    session: str | None = None,
    position: int | None = None,
    at: datetime | None = None,
    classification: int = USUAL_CLASSIFICATION,
) -> str:
    """The id of a memory: from its scope and key, else from its scope, text, origin and time.

    The same memory under two classifications is two memories: neither replaces the other, or tells of it.
    """
    apart = beside_the_usual(classification)
    if key is not None:
        return fingerprint("key", scope, key, *apart)
    return fingerprint("text", scope, source, session, position, text, isoformat(at) if at else None, *apart)


def beside_the_usual(classification: int) -> tuple[int, ...]:
    """What a classification adds to an id: nothing if it is the usual one."""
    return () if classification == USUAL_CLASSIFICATION else (classification,)


def mark_name(name: str, classification: int) -> str:
    """The name that something without a classification of its own has within one: an entity, a task or an entry."""
    return name if classification == USUAL_CLASSIFICATION else f"{bare_name(name)}{_MARK}{classification}"


def bare_name(name: str) -> str:
    """A name without the mark of its classification."""
    return name[:-2] if name[-2:-1] == _MARK else name


def classification_of_name(name: str) -> int:
    """The classification that a name is marked with; the usual one if it has no mark."""
    return int(name[-1]) if name[-2:-1] == _MARK and name[-1].isdecimal() else USUAL_CLASSIFICATION


CLAIMS = "claims"
"""The field of a fact's metadata that holds the claims it rests on."""


def read_by_rules(claims: Sequence[Mapping[str, Any]]) -> bool:
    """Whether rules read a fact in every text that states it: recall shows those texts, never the fact beside them.

    A language model that reads the same in such a text only confirms it. A claim stored before its reader was noted is
    one of rules if it names a memory and has no words of its own.
    """
    stating = [claim for claim in claims if not claim.get("negated")] or claims
    plain = [claim.get("source") for claim in stating if _is_of_rules(claim)]
    confirmed = [claim for claim in stating if claim.get("by") == "model" and claim.get("source") in plain]
    return bool(stating) and len(plain) + len(confirmed) == len(stating)


def _is_of_rules(claim: Mapping[str, Any]) -> bool:
    by = claim.get("by")
    return by == "rules" or (by is None and claim.get("text") is None and is_memory_id(claim.get("source")))


SPACE_PATTERN = r"\w[\w.@-]{0,99}"
LONGEST_SPACE = 200
"""The longest name of a space in bytes: with its ending it is a file name, which may have 255."""
DEFAULT_SPACE = "default"


def is_space_name(name: str) -> bool:
    """Whether a space may have this name; none of them leads out of a folder."""
    return re.fullmatch(SPACE_PATTERN, name) is not None and len(name.encode("utf-8", "replace")) <= LONGEST_SPACE


def check_space(name: str | None) -> str:
    """The name of a space; `default` if none is given."""
    chosen = DEFAULT_SPACE if name is None else name
    check_space_length(chosen)
    if re.fullmatch(SPACE_PATTERN, chosen) is None:
        raise InvalidInput(
            f"{chosen[:120]!r} is not a valid space name",
            remedy="Use up to 100 letters, digits, and . @ - _, starting with a letter, digit or underscore.",
        )
    return chosen


def check_space_length(name: str) -> None:
    """Refuse a name that is too long for a file name or a server, wherever the space is to be kept."""
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
        raise InvalidInput(f"The name of a space is a {type(name).__name__}", remedy="Give a string.")
    if (size := len(name.encode("utf-8", "replace"))) > LONGEST_SPACE:
        raise InvalidInput(
            f"The name of the space has {size} bytes in UTF-8, more than {LONGEST_SPACE}",
            remedy=f"Use at most {LONGEST_SPACE} bytes, such as {LONGEST_SPACE // 3} Chinese characters.",
        )
