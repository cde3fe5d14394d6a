"""Routes of memories and recalls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import ConfigDict, Field, Json

from memorist.engine.engine import Engine
from memorist.engine.vocabulary import Verdict, recipe_to_data
from memorist.errors import InvalidInput, no_memory
from memorist.model import Filters, Memory, Recall, keywords_of, to_data
from memorist.verbs import Verbs
from memorist_server.rest.calls import ReadCall, WriteCall
from memorist_server.rest.routes import SPACE
from memorist_server.rest.schemas import RequestModel, ResponseModel, Text, answer_of, body_of, example, items_of

MOST_LISTED = 1000
MOST_TOGETHER = 10_000
router = APIRouter(prefix=SPACE, tags=["memories"])
Classification = Annotated[int, Field(ge=0, le=3)]
Limit = Annotated[int, Field(ge=1, le=MOST_LISTED)]
_WHERE: dict[str, Any] = {
    "where": (
        Json[dict[str, Any]] | None,
        Field(None, description=f"{keywords_of(Filters)['where'].description} As JSON."),
    )
}
"""Conditions, as the query of an address has them."""


class RememberBody(body_of(Verbs.remember)):
    """A text to keep, word for word, and what is known about it."""

    model_config = example(text="Alice moved to Stockholm.", at="2024-06-03", speaker="Alice")


class RememberManyBody(RequestModel):
    """Texts to keep together."""

    model_config = example(memories=[{"text": "Alice lives in Oslo."}, {"text": "Bob rows."}])

    memories: Annotated[list[RememberBody], Field(max_length=MOST_TOGETHER)]


class RelateBody(body_of(Verbs.relate)):
    """A fact."""

    model_config = example(subject="Alice", relation="lives_in", object="Stockholm")


class ListQuery(body_of(Verbs.list, **_WHERE)):
    """Which memories to list, and where to continue."""

    limit: Limit = 100
    cursor: str | None = Field(None, description="Where the previous page ended.")


class PinnedQuery(body_of(Verbs.pinned, **_WHERE)):
    """Which pinned memories to list."""

    limit: Limit = 100


class WakeUpBody(body_of(Verbs.wake_up)):
    """How much to tell, and which memories count."""

    model_config = example(scope=["user:ann"])

    max_tokens: Annotated[int, Field(ge=0)] = Field(800, description="The longest context, in tokens.")
    speaker: Text | None = Field(None, description="Who will ask: memories by and about them come first.")


SOFT = "Erase nothing: they end now and stay in their history; undo takes the run of the receipt back."


class ForgetBody(body_of(Verbs.forget, "id")):
    """Which memories to forget: those with these ids, or those that meet every filter, whatever their time."""

    model_config = example(scope=["user:ann"])

    ids: Annotated[list[Text] | None, Field(max_length=MOST_TOGETHER)] = Field(
        None, description="These memories, without any filter; if one is unknown, nothing is erased."
    )
    max_classification: Classification = Field(3, description="Only memories no more secret than this.")
    soft: bool = Field(False, description=SOFT)


class ForgetQuery(RequestModel):
    """How to forget."""

    soft: bool = Field(False, description=SOFT)


class GetBody(RequestModel):
    """The memories to look up."""

    model_config = example(ids=["5f…", "a0…"])

    ids: Annotated[list[Text], Field(max_length=MOST_LISTED)]


class FoundMemories(items_of(Memory)):
    """The memories that were found, in the order of their ids, and the ids of the others."""

    missing: list[str]


class UpdateBody(body_of(Verbs.update, "id")):
    """What changes; fields that are left out stay as they are."""

    model_config = example(text="Alice moved to Bergen.", importance=0.8)


class EntitiesQuery(body_of(Verbs.entities, **_WHERE)):
    """Which names to list."""

    limit: Limit = 100


class NeighboursQuery(body_of(Verbs.neighbours, "entity", **_WHERE)):
    """How far to walk, and which memories count."""

    limit: Limit = 50


class InvalidateBody(body_of(Verbs.invalidate, "id")):
    """When a memory ceased to be true."""

    superseded_by: Text | None = Field(None, description="The id of the memory that replaced it.")


@router.post("/memories", status_code=201, response_model=answer_of(Verbs.remember))
async def remember(call: WriteCall, body: RememberBody) -> Any:
    """Keep one memory, word for word; it can be found at once."""
    fields = body.given()
    return await call.answer(lambda engine: engine.remember(**fields), makes=True)


@router.post("/memories/batch", status_code=201, response_model=answer_of(Verbs.remember_many))
async def remember_many(call: WriteCall, body: RememberManyBody) -> Any:
    """Keep many memories. An invalid one is refused before its batch is written."""
    given = [memory.given() for memory in body.memories]
    return await call.answer(lambda engine: _items(engine.remember_many(given)), makes=True)


@router.get("/memories", response_model=answer_of(Verbs.list))
async def list_memories(call: ReadCall, query: Annotated[ListQuery, Query()]) -> Any:
    """Memories in the order they were written, page by page."""
    return await call.answer(lambda engine: engine.list(**query.given()))


@router.post("/memories/get", response_model=FoundMemories)
async def get_memories(call: ReadCall, body: GetBody) -> Any:
    """Several memories, by their ids."""
    return await call.answer(lambda engine: _looked_up(engine, body.ids))


@router.patch("/memories/{id}", response_model=answer_of(Verbs.update))
async def update(call: WriteCall, id: str, body: UpdateBody) -> Any:
    """Change a memory as a new version; the old one stays in its history."""
    return await call.answer(lambda engine: engine.update(id, **body.given()), adds=True)


@router.get("/memories/{id}", response_model=answer_of(Verbs.get))
async def get_memory(call: ReadCall, id: str) -> Any:
    """One memory."""
    return await call.answer(lambda engine: _known(engine, id))


@router.get("/memories/{id}/history", response_model=answer_of(Verbs.history))
async def memory_history(call: ReadCall, id: str) -> Any:
    """All versions of a memory, newest knowledge first."""
    return await call.answer(lambda engine: _items(engine.history(id)))


@router.get("/entities/{name:path}/history", response_model=answer_of(Verbs.history))
async def entity_history(call: ReadCall, name: str) -> Any:
    """Every fact about an entity, or all versions of a memory, newest knowledge first."""
    return await call.answer(lambda engine: _items(engine.history(name)))


@router.get("/entities", response_model=answer_of(Verbs.entities))
async def entities(call: ReadCall, query: Annotated[EntitiesQuery, Query()]) -> Any:
    """The names that memories mention, most mentioned first."""
    return await call.answer(lambda engine: {"items": engine.entities(**query.given())})


@router.get("/entities/{name:path}/neighbours", response_model=answer_of(Verbs.neighbours))
async def neighbours(call: ReadCall, name: str, query: Annotated[NeighboursQuery, Query()]) -> Any:
    """The names and relations reached from an entity, with what each relation rests on."""
    return await call.answer(lambda engine: engine.neighbours(name, **query.given()))


@router.delete("/memories/{id}", response_model=answer_of(Verbs.forget))
async def forget(call: WriteCall, id: str, query: Annotated[ForgetQuery, Query()]) -> Any:
    """Erase a memory for good, with the facts that rest on nothing else."""
    return await call.answer(lambda engine: engine.forget(id, soft=query.soft), erases=not query.soft, long=True)


@router.post("/forget", response_model=answer_of(Verbs.forget))
async def forget_by_filter(call: WriteCall, body: ForgetBody) -> Any:
    """Erase the memories with these ids, or all that the filters choose, for good; one of them is required.

    A filter that is null counts as left out, so that a caller that sends every field does not erase everything.
    """
    given = {name: value for name, value in body.given().items() if value is not None}
    if not given.keys() - {"include_expired", "soft"}:
        raise InvalidInput("No filter was given", remedy="Say which memories to forget.")
    ids = given.pop("ids", None)
    return await call.answer(lambda engine: engine.forget(ids, **given), erases=not body.soft, long=True)


@router.post("/memories/{id}/invalidate", response_model=answer_of(Verbs.invalidate))
async def invalidate(call: WriteCall, id: str, body: InvalidateBody) -> Any:
    """End a memory's truth at a moment; it stays in its history."""
    return await call.answer(lambda engine: engine.invalidate(id, **body.given()))


@router.post("/memories/{id}/pin", response_model=answer_of(Verbs.pin))
async def pin(call: WriteCall, id: str) -> Any:
    """Keep a memory at the head of every context."""
    return await call.answer(lambda engine: engine.pin(id))


@router.post("/memories/{id}/unpin", response_model=answer_of(Verbs.unpin))
async def unpin(call: WriteCall, id: str) -> Any:
    """Keep a memory no longer at the head of every context."""
    return await call.answer(lambda engine: engine.unpin(id))


@router.get("/pinned", response_model=answer_of(Verbs.pinned))
async def pinned(call: ReadCall, query: Annotated[PinnedQuery, Query()]) -> Any:
    """The pinned memories, newest first."""
    return await call.answer(lambda engine: _items(engine.pinned(**query.given())))


@router.post("/wake-up", response_model=answer_of(Verbs.wake_up))
async def wake_up(call: ReadCall, body: WakeUpBody) -> Any:
    """What an agent should know at its start: pinned memories, then the most important and newest others."""
    return await call.answer(lambda engine: engine.wake_up(**body.given()))


@router.post("/facts", status_code=201, response_model=answer_of(Verbs.relate))
async def relate(call: WriteCall, body: RelateBody) -> Any:
    """Write a fact; a new value of a one-valued relation supersedes the old one."""
    return await call.answer(lambda engine: engine.relate(**body.given()), makes=True)


def _items(memories: Sequence[Memory]) -> dict[str, Any]:
    return {"items": memories}


def _looked_up(engine: Engine, ids: list[str]) -> dict[str, Any]:
    found = engine.get(ids)
    missing = [id for id, one in zip(ids, found, strict=True) if one is None]
    return {"items": [memory for memory in found if memory is not None], "missing": missing}


def _known(engine: Engine, id: str) -> Memory:
    memory = engine.get(id)
    if memory is None:
        raise no_memory(id)
    return memory


recall_router = APIRouter(prefix=SPACE, tags=["recall"])


class RecallOptionsBody(body_of(Verbs.recall)):
    """A question, with every keyword of `recall`."""

    query: str
    limit: Limit = 10


class RecallBody(RecallOptionsBody):
    """A question."""

    model_config = example(query="Where does Alice live?", limit=5)

    details: bool = Field(False, description="Add the whole memory and the explanation of each item.")


class ExplainBody(RecallOptionsBody):
    """A question, and the memory to explain."""

    model_config = example(query="Where does Alice live?", id="5f…")

    id: Text


class FeedbackItem(ResponseModel):
    """An item of a recall, by its id."""

    model_config = ConfigDict(extra="ignore")

    id: str


class FeedbackRecall(ResponseModel):
    """The recall that feedback is about, as it was answered; other fields are ignored."""

    model_config = ConfigDict(extra="ignore")

    id: str
    query: str
    now: str
    items: list[FeedbackItem]


class FeedbackBody(RequestModel):
    """How useful a memory was."""

    model_config = example(id="5f…", verdict="useful")

    id: Text
    verdict: Verdict
    recall: FeedbackRecall | None = None


class RecipeData(ResponseModel):
    """A recipe as data."""

    model_config = ConfigDict(extra="allow")

    name: str
    stages: list[dict[str, Any]]


@recall_router.post("/recall", response_model=answer_of(Verbs.recall), response_model_exclude_unset=True)
async def recall(call: ReadCall, body: RecallBody) -> Any:
    """Find what matters for a question, with a context ready for a prompt."""
    options = body.given("query", "details")
    query, details = body.query, body.details
    return await call.answer(lambda engine: recall_json(engine, engine.recall(query, **options), details))


@recall_router.post("/explain", response_model=answer_of(Verbs.explain))
async def explain(call: ReadCall, body: ExplainBody) -> Any:
    """How an item got its place. The recall is repeated without counting it."""
    options = body.given("query", "id") | {"track": False}
    return await call.answer(lambda engine: engine.explain(engine.recall(body.query, **options), body.id))


@recall_router.post("/why-not", response_model=answer_of(Verbs.why_not))
async def why_not(call: ReadCall, body: ExplainBody) -> Any:
    """Which stage dropped a memory, and what would have kept it."""
    options = body.given("query", "id")
    return await call.answer(lambda engine: engine.why_not(body.query, body.id, **options))


@recall_router.get("/recipes", response_model=list[RecipeData])
async def recipes(call: ReadCall) -> Any:
    """The recipes of this space, as their stages and parameters."""
    return await call.answer(lambda engine: [recipe_to_data(recipe) for recipe in engine.recipes.values()])


@recall_router.post("/feedback", response_model=answer_of(Verbs.feedback))
async def feedback(call: WriteCall, body: FeedbackBody) -> Any:
    """Say how useful a memory was; this moves its ranking within bounds."""
    given = None if body.recall is None else body.recall.model_dump()
    return await call.answer(lambda engine: engine.feedback(body.id, body.verdict, given))


def recall_json(engine: Engine, found: Recall, details: bool) -> dict[str, Any]:
    """A recall as JSON; with details, each item has its whole memory and its explanation."""
    data: dict[str, Any] = to_data(found)
    if details:
        for item, shown in zip(found.items, data["items"], strict=True):
            shown["memory"] = to_data(item.memory)
            shown["explanation"] = to_data(engine.explain(found, item.memory.id))
    return data
