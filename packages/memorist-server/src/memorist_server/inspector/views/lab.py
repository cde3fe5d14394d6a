"""The recall lab: ask, see what each stage did and why each item has its rank, and move the numbers of a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from fastapi import APIRouter
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from memorist.engine.engine import Engine
from memorist.errors import InvalidInput, MissingService
from memorist.model import Kind, Memory, Recall, RecallOptions, Tier
from memorist_server.inspector.browse import known, with_words
from memorist_server.inspector.calls import Reading
from memorist_server.inspector.dry_recall import Trial, usual_recipe
from memorist_server.inspector.facts import names_lately
from memorist_server.inspector.pages import show
from memorist_server.inspector.selection import EVER, Selection, selection
from memorist_server.inspector.trace import funnel, moves, slope, turn

router = APIRouter(prefix="/inspect/{space}")
USUAL, MOST_ITEMS, MOST_TOKENS = 10, 50, 20_000
"""Items that are asked for unless said otherwise, and the most items and tokens: what a person can look through."""
CHOICES = 8
"""Memories to choose from when somebody asks why one is missing."""
SUGGESTED = 4


@dataclass(frozen=True, slots=True)
class LabQuery:
    """What an address asks for."""

    query: str
    recipe: str | None
    other: str | None
    """A second recipe, to compare with."""
    limit: int
    max_tokens: int | None
    chosen: Selection
    item: str | None
    """The item to explain; the first one if none is named."""
    missing: str | None
    """A memory that is not in the answer, to be told why."""
    find: str
    """Words of memories that may be missing."""
    params: QueryParams

    @property
    def options(self) -> RecallOptions:
        """The options of the recall; by default it sees what an agent would."""
        found: dict[str, Any] = {**self.chosen.filters, "limit": self.limit, "max_tokens": self.max_tokens}
        if "max_classification" not in self.chosen.given:
            del found["max_classification"]
        return cast("RecallOptions", found)

    def moved(self, recipe: str) -> dict[str, str]:
        """The numbers of a recipe that the address gives, by their labels."""
        start = f"{recipe}."
        return {name.removeprefix(start): value for name, value in self.params.items() if name.startswith(start)}


def asked(params: QueryParams) -> LabQuery:
    """What an address asks for; empty fields count as left out."""
    return LabQuery(
        params.get("q", "").strip(),
        params.get("recipe") or None,
        params.get("with") or None,
        _number(params, "limit", 1, MOST_ITEMS) or USUAL,
        _number(params, "max_tokens", 0, MOST_TOKENS),
        selection(params),
        params.get("item") or None,
        params.get("missing") or None,
        params.get("find", "").strip(),
        params,
    )


def _number(params: QueryParams, name: str, low: int, high: int) -> int | None:
    text = params.get(name, "").strip()
    if not text:
        return None
    if not text.isdecimal() or len(text) > len(str(high)) or not low <= int(text) <= high:
        raise InvalidInput(f"{name} is out of range", remedy=f"Give a number from {low} to {high:,}.")
    return int(text)


@router.get("/lab")
async def lab(request: Request, call: Reading) -> Response:
    """The page."""
    given = asked(request.query_params)
    found = await call.run(lambda engine: _found(engine, given))
    return show(
        request,
        "lab.html",
        view="lab",
        asked=given,
        chosen=given.chosen,
        kinds=[str(kind) for kind in Kind],
        tiers=[str(tier) for tier in Tier],
        most=MOST_ITEMS,
        **found,
    )


@router.get("/lab/absence")
async def absence(request: Request, call: Reading) -> Response:
    """Why a memory is missing, for the page to load after the rest: it takes searches without limits."""
    given = asked(request.query_params)
    id = given.missing or ""
    told, memory = await call.run(lambda engine: (_trial(engine, given).why_not(id), known(engine, id)))
    return show(request, "absence.html", absence=told, memory=memory)


def _trial(engine: Engine, given: LabQuery) -> Trial:
    recipe = given.recipe or usual_recipe(engine)
    return Trial(engine, given.query, given.options, recipe, given.moved(recipe))


def _found(engine: Engine, given: LabQuery) -> dict[str, Any]:
    trial = _trial(engine, given)
    common: dict[str, Any] = {
        "recipes": list(engine.recipes),
        "recipe": trial.recipe,
        "dials": trial.dials,
        "moved": trial.moved,
        "settings": trial.settings,
        "toml": trial.toml if trial.settings else None,
        "answer": None,
        "suggested": [],
    }
    if not given.query:
        return common | {"suggested": questions(engine, SUGGESTED)}
    return common | _answered(engine, trial, given)


def questions(engine: Engine, most: int) -> list[str]:
    """Questions to begin with, about names that were mentioned lately."""
    return [f"What do you know about {name}?" for name in names_lately(engine, most)]


@dataclass(frozen=True, slots=True)
class Other:
    """The answer of another recipe, or why it has none."""

    recipe: str
    recall: Recall | None
    problem: str | None = None


def _answered(engine: Engine, trial: Trial, given: LabQuery) -> dict[str, Any]:
    answer = trial.recall()
    other = _other(engine, trial, given)
    compared = None if other is None or other.recall is None else other.recall
    ids = [item.memory.id for item in answer.items]
    item = given.item if given.item in ids else (ids[0] if ids else None)
    return {
        "answer": answer,
        "moves": None if compared is None else moves(answer.items, compared.items),
        "other": other if given.other else None,
        "funnel": funnel(answer),
        "slope": slope(answer),
        "turn": None if item is None else turn(answer, item),
        "item": item,
        "explanation": None if item is None else engine.explain(answer, item),
        "choices": _choices(engine, given.find, ids) if given.find else [],
    }


def _other(engine: Engine, trial: Trial, given: LabQuery) -> Other | None:
    """The answer to compare with: by the second recipe, or by the same one before its numbers were moved."""
    if given.other is None and not trial.settings:
        return None
    recipe = given.other or trial.recipe
    try:
        recall = Trial(engine, given.query, given.options, recipe, {}).recall()
    except MissingService as error:
        return Other(recipe, None, error.problem)
    return Other(recipe, recall)


def _choices(engine: Engine, text: str, ids: list[str]) -> list[Memory]:
    """Memories outside the answer with an id or with words, whatever their time."""
    exact = engine.get(text)
    filters: dict[str, Any] = {"as_of": EVER, "known_at": EVER, "include_expired": True, "max_classification": 3}
    page = with_words(engine, text, CHOICES + len(ids), **filters)
    found = {memory.id: memory for memory in (*([] if exact is None else [exact]), *page.items)}
    return [one for id, one in found.items() if id not in ids][:CHOICES]
