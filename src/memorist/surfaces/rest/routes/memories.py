"""Routes of memories and recalls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from memorist.errors import InvalidInput, NotFound
from memorist.serialize import (
    absence_to_data,
    explanation_to_data,
    memory_to_data,
    page_to_data,
    recall_to_data,
    receipt_to_data,
)
from memorist.surfaces.rest.calls import Call, ReadCall, WriteCall
from memorist.surfaces.rest.routes import SPACE
from memorist.surfaces.rest.schemas.memories import (
    ForgetBody,
    InvalidateBody,
    ListQuery,
    MemoriesData,
    MemoryData,
    PageData,
    ReceiptData,
    RelateBody,
    RememberBody,
    RememberManyBody,
)
from memorist.surfaces.rest.schemas.recalls import (
    AbsenceData,
    ExplainBody,
    ExplanationData,
    FeedbackBody,
    RecallBody,
    RecallData,
    RecipeData,
)

if TYPE_CHECKING:
    from memorist.engine.engine import Engine
    from memorist.model import Memory, Recall


router = APIRouter(prefix=SPACE, tags=["memories"])


@router.post("/memories", status_code=201, response_model=MemoryData)
async def remember(call: WriteCall, body: RememberBody) -> Response:
    """Keep one memory, word for word; it can be found at once."""
    call.check_keeps(body.classification)
    return await call.answer(
        lambda engine: memory_to_data(call.kept(engine.remember(**body.given()))), status=201, makes=True
    )


@router.post("/memories/batch", status_code=201, response_model=MemoriesData)
async def remember_many(call: WriteCall, body: RememberManyBody) -> Response:
    """Keep many; what is refused is refused before its batch is written."""
    given = [one.given() for one in body.memories]
    call.check_keeps(max((one.classification for one in body.memories), default=0))
    return await call.answer(
        lambda engine: _items(list(map(call.kept, engine.remember_many(given)))), status=201, makes=True
    )


@router.get("/memories", response_model=PageData)
async def list_memories(call: ReadCall, query: Annotated[ListQuery, Query()]) -> Response:
    """Memories in the order they were written, page by page."""
    options = call.capped(query.given())
    return await call.answer(lambda engine: page_to_data(engine.list(**options)))


@router.get("/memories/{id}", response_model=MemoryData)
async def get_memory(call: ReadCall, id: str) -> Response:
    """One memory."""
    return await call.answer(lambda engine: memory_to_data(call.seen(engine, id)))


@router.get("/memories/{id}/history", response_model=MemoriesData)
async def memory_history(call: ReadCall, id: str) -> Response:
    """All versions of a memory, the newest knowledge first."""
    return await call.answer(lambda engine: _items(_history(call, engine, id)))


@router.get("/entities/{name:path}/history", response_model=MemoriesData)
async def entity_history(call: ReadCall, name: str) -> Response:
    """Every fact about somebody or something, or all versions of a memory; the newest knowledge first."""
    return await call.answer(lambda engine: _items(_history(call, engine, name)))


@router.delete("/memories/{id}", response_model=ReceiptData)
async def forget(call: WriteCall, id: str) -> Response:
    """Erase a memory for good, with the facts that rest on nothing else."""
    return await call.answer(
        lambda engine: receipt_to_data(engine.forget(call.seen(engine, id).id)), erases=True, long=True
    )


@router.post("/forget", response_model=ReceiptData)
async def forget_by_filter(call: WriteCall, body: ForgetBody) -> Response:
    """Erase all memories that the filters choose, for good; at least one filter must be given.

    A filter that is null counts as left out: a caller that sends every field must not erase everything.
    """
    given = {name: value for name, value in body.given().items() if value is not None}
    if not given.keys() - {"include_expired"}:
        raise InvalidInput("forget was given no filter", remedy="Say which memories to forget.")
    filters = call.capped(given, usual=3)
    return await call.answer(lambda engine: receipt_to_data(engine.forget(**filters)), erases=True, long=True)


@router.post("/memories/{id}/invalidate", response_model=MemoryData)
async def invalidate(call: WriteCall, id: str, body: InvalidateBody) -> Response:
    """End a memory's truth at a moment; it stays in its history."""
    return await call.answer(lambda engine: memory_to_data(engine.invalidate(call.seen(engine, id).id, **body.given())))


@router.post("/facts", status_code=201, response_model=MemoryData)
async def relate(call: WriteCall, body: RelateBody) -> Response:
    """Write a fact; a new value of a one-valued relation supersedes the old one."""
    return await call.answer(
        lambda engine: memory_to_data(call.kept(engine.relate(**body.given()))), status=201, makes=True
    )


def _items(memories: list[Memory]) -> dict[str, Any]:
    return {"items": [memory_to_data(memory) for memory in memories]}


def _history(call: Call, engine: Engine, name: str) -> list[Memory]:
    seen = [memory for memory in engine.history(name) if call.may_see(memory)]
    if not seen:
        raise NotFound(f"Nothing is known about {name!r}", remedy="Give a memory's id or the name of an entity.")
    return seen


recall_router = APIRouter(prefix=SPACE, tags=["recall"])


@recall_router.post("/recall", response_model=RecallData)
async def recall(call: ReadCall, body: RecallBody) -> Response:
    """Find what matters for a question, with a context ready for a prompt."""
    options = call.capped(body.given("query", "details"))
    return await call.answer(lambda engine: recalled(engine, engine.recall(body.query, **options), body.details))


@recall_router.post("/explain", response_model=ExplanationData)
async def explain(call: ReadCall, body: ExplainBody) -> Response:
    """How an item got its place: asks again without counting it, and reads the trace."""
    options = call.capped(body.given("query", "id")) | {"track": False}
    return await call.answer(
        lambda engine: explanation_to_data(engine.explain(engine.recall(body.query, **options), body.id))
    )


@recall_router.post("/why-not", response_model=AbsenceData)
async def why_not(call: ReadCall, body: ExplainBody) -> Response:
    """Which stage dropped a memory, and what would have kept it."""
    options = call.capped(body.given("query", "id"))
    return await call.answer(lambda engine: _absence(call, engine, body, options))


@recall_router.get("/recipes", response_model=list[RecipeData])
async def recipes(call: ReadCall) -> Response:
    """The recipes this space can recall by, as their stages and parameters."""
    from memorist.recall.data import to_data

    return await call.answer(lambda engine: [to_data(one) for one in engine.recipes.values()])


@recall_router.post("/feedback", response_model=MemoryData)
async def feedback(call: WriteCall, body: FeedbackBody) -> Response:
    """Tell what a memory was worth; that moves its ranking within bounds."""
    given = None if body.recall is None else body.recall.model_dump()
    return await call.answer(
        lambda engine: memory_to_data(engine.feedback(call.seen(engine, body.id).id, body.verdict, given))
    )


def recalled(engine: Engine, found: Recall, details: bool) -> dict[str, Any]:
    """A recall as JSON; with details, each item has its whole memory and its explanation."""
    data = recall_to_data(found)
    if details:
        for item, told in zip(found.items, data["items"], strict=True):
            told["memory"] = memory_to_data(item.memory)
            told["explanation"] = explanation_to_data(engine.explain(found, item.memory.id))
    return data


def _absence(call: Call, engine: Engine, body: ExplainBody, options: Any) -> dict[str, Any]:
    return absence_to_data(engine.why_not(body.query, call.seen(engine, body.id).id, **options))
