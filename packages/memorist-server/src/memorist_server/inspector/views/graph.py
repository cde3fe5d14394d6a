"""Graph: names and relations around one or several names, and where the PageRank of a recall went.

The names that were grown from are in the address, so that a picture can be shared. The table shows what the picture
shows; the script only draws it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from memorist.engine.engine import Engine
from memorist.errors import InvalidInput
from memorist.model import MOST_CLASSIFIED, Entity
from memorist.upkeep.walk import TOGETHER
from memorist_server.inspector.calls import Reading
from memorist_server.inspector.graph import Lit, kinds_of, lighting_recipes, lit, names_lately, names_like
from memorist_server.inspector.pages import cut, show

router = APIRouter(prefix="/inspect/{space}/graph")
MOST_CENTRES = 12
"""Names that a picture grows from."""
MOST_NODES = 300
"""Names that a picture shows."""
HOPS = (1, 2, 3)
LIMITS = (25, 50, 100, 200)
SUGGESTED = 24
MOST_LIT = 100
LABEL = 60


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """What an address asks for."""

    centres: tuple[str, ...]
    start: str
    hops: int
    limit: int
    question: str
    recipe: str


@dataclass(frozen=True, slots=True)
class Ground:
    """A memory or fact that a relation rests on."""

    id: str
    text: str
    at: datetime


@dataclass(slots=True)
class Relation:
    """A relation of two names: what it rests on, and its share of a recall's PageRank if it has one."""

    source: str
    relation: str
    target: str
    count: int = 0
    grounds: tuple[Ground, ...] = ()
    score: float | None = None

    @property
    def loose(self) -> bool:
        """Whether memories only mention both names."""
        return self.relation == TOGETHER

    @property
    def words(self) -> str:
        """The relation as people read it."""
        return cut(self.relation.replace("_", " "), LABEL)

    @property
    def key(self) -> str:
        """A name for it in an address."""
        told = "\0".join((self.source, self.relation, self.target))
        return f"r-{hashlib.sha256(told.encode(errors='replace')).hexdigest()[:12]}"


@dataclass(slots=True)
class Picture:
    """Names, by what they are, and the relations between them; each pair and relation once."""

    kinds: dict[str, str | None] = field(default_factory=dict[str, str | None])
    relations: dict[tuple[str, str, str], Relation] = field(default_factory=dict[tuple[str, str, str], Relation])
    left_out: bool = False
    centres: list[str] = field(default_factory=list[str])
    """The names that it grew from, as their entities are called."""
    unknown: list[str] = field(default_factory=list[str])

    def relation(self, source: str, name: str, target: str) -> Relation | None:
        """The relation of two names, which the picture then has; None if it has no room for them."""
        if len(self.kinds.keys() | {source, target}) > MOST_NODES:
            self.left_out = True
            return None
        for end in (source, target):
            self.kinds.setdefault(end, None)
        return self.relations.setdefault((source, name, target), Relation(source, name, target))

    def settle(self) -> None:
        """Tell a pair that a fact relates once: not also as mentioned together."""
        related = {
            frozenset((relation.source, relation.target)): relation
            for relation in self.relations.values()
            if not relation.loose
        }
        for key, one in list(self.relations.items()):
            if one.loose and (fact := related.get(frozenset((one.source, one.target)))) is not None:
                del self.relations[key]
                if one.score is not None:
                    fact.score = max(one.score, fact.score or 0.0)

    def ranked(self) -> list[Relation]:
        """The relations, those that a recall lit up first."""
        return sorted(self.relations.values(), key=lambda one: -(one.score or 0.0))

    def drawing(self) -> dict[str, Any]:
        """What the script draws; nothing that does not show."""
        told = {name: cut(name, LABEL) for name in self.kinds}
        most = max((relation.score or 0.0 for relation in self.relations.values()), default=0.0)
        return {
            "nodes": [
                {"id": name, "label": told[name], "kind": kind or "", "centre": name in self.centres}
                for name, kind in self.kinds.items()
            ],
            "links": [
                {
                    "key": relation.key,
                    "source": relation.source,
                    "target": relation.target,
                    "label": relation.words,
                    "loose": relation.loose,
                    "lit": round(relation.score / most, 3) if relation.score and most else 0,
                }
                for relation in self.relations.values()
            ],
        }


@dataclass(frozen=True, slots=True)
class Ways:
    """Addresses of this picture with other names."""

    request: Request
    centres: tuple[str, ...]

    def to(self, *names: str) -> str:
        """The picture around these names; what was asked for otherwise stays."""
        kept = [
            item for item in self.request.query_params.multi_items() if item[0] in ("hops", "limit", "ask", "recipe")
        ]
        return f"{self.request.url.path}?{urlencode([*kept, *(('name', name) for name in names)])}"

    def grown(self, name: str) -> str:
        """The picture with one more name; if it has as many as it may, with this one instead of the first."""
        others = [centre for centre in self.centres if centre != name]
        return self.to(*others[-(MOST_CENTRES - 1) :], name)

    def without(self, name: str) -> str:
        """The picture without a name."""
        return self.to(*(centre for centre in self.centres if centre != name))


@router.get("")
async def graph(request: Request, call: Reading) -> Response:
    """The names and relations around those asked for, as a picture and as a table."""
    asked = _asked(request.query_params)
    found = await call.run(lambda engine: _found(engine, asked))
    ways = Ways(request, tuple(found["picture"].centres))
    return show(request, "graph.html", view="graph", asked=asked, ways=ways, hops=HOPS, limits=LIMITS, **found)


def _asked(params: QueryParams) -> GraphQuery:
    centres = tuple(dict.fromkeys(value for value in params.getlist("name") if value.strip()))
    if len(centres) > MOST_CENTRES:
        raise InvalidInput(
            f"A picture grows from at most {MOST_CENTRES} names", remedy="Take some out, or begin with another name."
        )
    return GraphQuery(
        centres,
        params.get("q", "").strip(),
        _one_of("hops", params.get("hops"), HOPS, 1),
        _one_of("limit", params.get("limit"), LIMITS, 50),
        params.get("ask", "").strip(),
        params.get("recipe", "").strip(),
    )


def _one_of(name: str, given: str | None, known: Sequence[int], usual: int) -> int:
    numbers = {str(number): number for number in known}
    if not given:
        return usual
    if given not in numbers:
        raise InvalidInput(f"{name} is not valid", remedy=f"Give one of {', '.join(numbers)}.")
    return numbers[given]


def _found(engine: Engine, asked: GraphQuery) -> dict[str, Any]:
    recipes = lighting_recipes(engine)
    matches = names_like(engine, asked.start, SUGGESTED) if asked.start else []
    lately = names_lately(engine, SUGGESTED)
    centres = _centres(asked, matches, lately)
    picture = Picture()
    recipe = asked.recipe if asked.recipe in recipes else next(iter(recipes), "")
    reached = lit(engine, asked.question, recipe, MOST_LIT) if asked.question and recipe else []
    _light(picture, reached)
    _grow(picture, engine, centres, asked)
    picture.settle()
    picture.kinds |= {name: kind for name, kind in kinds_of(engine, [*picture.kinds]).items() if name in picture.kinds}
    return {
        "matches": matches,
        "lately": lately,
        "picture": picture,
        "recipes": recipes,
        "recipe": recipe,
        "reached": len(reached),
    }


def _centres(asked: GraphQuery, matches: Sequence[Entity], lately: Sequence[Entity]) -> Sequence[str]:
    """The names to grow from: the best match, those of the address, or the one that was mentioned most lately."""
    if asked.start:
        return [match.name for match in matches[:1]]
    return asked.centres or ([] if asked.question else [entity.name for entity in lately[:1]])


def _light(picture: Picture, reached: Iterable[Lit]) -> None:
    for literal in reached:
        relation = picture.relation(literal.source, literal.relation, literal.target)
        if relation is None:
            return
        relation.score = max(literal.score, relation.score or 0.0)
        relation.grounds = (
            *relation.grounds,
            Ground(literal.memory.id, literal.memory.text, literal.memory.times.valid_from),
        )
        relation.count = len(relation.grounds)


def _grow(picture: Picture, engine: Engine, centres: Iterable[str], asked: GraphQuery) -> None:
    for centre in centres:
        around = engine.neighbours(centre, asked.hops, asked.limit, max_classification=MOST_CLASSIFIED)
        if not around.known:
            picture.unknown.append(centre)
            continue
        picture.left_out |= around.more
        picture.centres.append(around.entity)
        picture.kinds.setdefault(around.entity, None)
        for edge in around.edges:
            relation = picture.relation(edge.source, edge.relation, edge.target)
            if relation is not None:
                relation.count = edge.count
                relation.grounds = tuple(Ground(support.id, support.text, support.at) for support in edge.support)
