"""Questions: recall, explain, why not, recipes and feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.responses import Response

from memorist.surfaces.rest.calls import Call, Reading, Writing
from memorist.surfaces.rest.routes import SPACE
from memorist.surfaces.rest.schemas.memories import MemoryData
from memorist.surfaces.rest.schemas.recalls import (
    AbsenceData,
    ExplainBody,
    ExplanationData,
    FeedbackBody,
    RecallBody,
    RecallData,
    RecipeData,
)
from memorist.wire import absence_to_data, explanation_to_data, memory_to_data, recall_to_data

if TYPE_CHECKING:
    from memorist.engine import Engine
    from memorist.model import Recall

router = APIRouter(prefix=SPACE, tags=["recall"])


@router.post("/recall", response_model=RecallData)
async def recall(call: Reading, body: RecallBody) -> Response:
    """Find what matters for a question, with a context ready for a prompt."""
    options = call.capped(body.given("query", "details"))
    return await call.answer(lambda engine: recalled(engine, engine.recall(body.query, **options), body.details))


@router.post("/explain", response_model=ExplanationData)
async def explain(call: Reading, body: ExplainBody) -> Response:
    """How an item got its place: asks again without counting it, and reads the trace."""
    options = call.capped(body.given("query", "id")) | {"track": False}
    return await call.answer(
        lambda engine: explanation_to_data(engine.explain(engine.recall(body.query, **options), body.id))
    )


@router.post("/why-not", response_model=AbsenceData)
async def why_not(call: Reading, body: ExplainBody) -> Response:
    """Which stage dropped a memory, and what would have kept it."""
    options = call.capped(body.given("query", "id"))
    return await call.answer(lambda engine: _absence(call, engine, body, options))


@router.get("/recipes", response_model=list[RecipeData])
async def recipes(call: Reading) -> Response:
    """The recipes this space can recall by, as their stages and parameters."""
    from memorist.recall.data import to_data

    return await call.answer(lambda engine: [to_data(one) for one in engine.recipes.values()])


@router.post("/feedback", response_model=MemoryData)
async def feedback(call: Writing, body: FeedbackBody) -> Response:
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
