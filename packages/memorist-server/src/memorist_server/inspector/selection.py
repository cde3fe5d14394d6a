"""Which memories a page shows: the filters of the API, as the query of an address states them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from memorist.errors import InvalidInput
from memorist.model import Filters

EVER = "9999-12-31"
LABELS = ("topic", "since", "until", "as_of", "known_at")
ORIGIN = ("speaker", "session", "source")
How = Literal["words", "recall"]


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked for, as it was written, and the filters that it states."""

    query: str
    how: How
    given: dict[str, str]
    kinds: tuple[str, ...]
    ended: bool
    """Whether old versions, and what is no longer true or was taken back, show too."""
    cursor: str | None
    filters: Filters

    @property
    def filtered(self) -> bool:
        """Whether a filter is in use."""
        return bool(self.stated)

    @property
    def stated(self) -> list[tuple[str, str]]:
        """Each filter in use, by its name in an address."""
        return [
            *(("kind", kind) for kind in self.kinds),
            *self.given.items(),
            *([("ended", "1")] if self.ended else []),
        ]

    @property
    def chips(self) -> list[tuple[str, str, str]]:
        """Each filter in use as people read it, with the query of an address without it."""
        asked = [("q", self.query)] if self.query else []
        how = [("how", self.how)] if self.how != "words" else []
        found: list[tuple[str, str, str]] = []
        for condition in self.stated:
            rest = urlencode([*asked, *how, *(other for other in self.stated if other != condition)])
            name, value = (
                ("also ended", "") if condition[0] == "ended" else (condition[0].replace("_", " "), condition[1])
            )
            found.append((name, value, rest))
        return found


def selection(params: QueryParams) -> Selection:
    """The selection that an address states; empty fields count as left out."""
    given = {name: value for name, value in params.items() if name in FIELDS and value.strip()}
    kinds = tuple(dict.fromkeys(given_value for given_value in params.getlist("kind") if given_value))
    how: How = "recall" if params.get("how") == "recall" else "words"
    ended = params.get("ended") == "1"
    cursor = params.get("cursor") or None
    return Selection(params.get("q", "").strip(), how, given, kinds, ended, cursor, _filters(given, kinds, ended))


FIELDS = ("tier", "scope", *LABELS, *ORIGIN, "max_classification", "where")


def _filters(given: dict[str, str], kinds: tuple[str, ...], ended: bool) -> Filters:
    found: dict[str, Any] = {name: given[name] for name in ("tier", *LABELS) if name in given}
    found["max_classification"] = _number(given.get("max_classification", "3"))
    if kinds:
        found["kinds"] = kinds
    if "scope" in given:
        found["scope"] = [scope.strip() for scope in given["scope"].split(",") if scope.strip()]
    if ended:
        found = {"as_of": EVER, "known_at": EVER, **found, "include_expired": True}
    if conditions := _conditions(given):
        found["where"] = {"and": conditions}
    return cast("Filters", found)


def _conditions(given: dict[str, str]) -> list[dict[str, Any]]:
    conditions: list[dict[str, Any]] = [{name: given[name]} for name in ORIGIN if name in given]
    if "where" not in given:
        return conditions
    try:
        stated: object = json.loads(given["where"])
    except (ValueError, RecursionError):
        raise InvalidInput(
            "The condition is not JSON", remedy='Write it as {"metadata.project": "atlas"}, or leave it empty.'
        ) from None
    if not isinstance(stated, dict):
        raise InvalidInput("The condition is not a JSON object", remedy='Write it as {"metadata.project": "atlas"}.')
    return [*conditions, cast("dict[str, Any]", stated)] if stated else conditions


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 2:
        raise InvalidInput("max_classification is not a number", remedy="Give a number from 0 to 3.")
    return int(text)
