"""What the demo does, scene by scene; each scene gives plain data of what really happened."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from memorist.errors import MissingService
from memorist.model import Recall
from memorist.ports import Progress
from memorist.surfaces.cli.story import BEFORE_THE_MOVE, QUESTIONS, THE_QUESTION, TURNS
from memorist.wire import explanation_to_data, item_to_data, stats_to_data

if TYPE_CHECKING:
    from memorist.engine import Engine


class Play:
    """The scenes, over one engine; remembers how long every recall took."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._ms: list[float] = []

    def remember(self, progress: Progress) -> dict[str, Any]:
        """Keep the whole story."""
        started = perf_counter()
        kept = self._engine.remember_many(TURNS, progress=progress)
        return {
            "moments": [{"at": turn["at"], "text": turn["text"]} for turn in TURNS],
            "memories": len({memory.id for memory in kept}),
            "seconds": round(perf_counter() - started, 3),
        }

    def recall(self) -> list[dict[str, Any]]:
        """Ask a few questions, each hard in its own way."""
        return [{"how": how, **self._ask(question)} for question, how in QUESTIONS]

    def context(self) -> dict[str, Any]:
        """Ask for what goes into a prompt."""
        found = self._engine.recall(THE_QUESTION, limit=3)
        self._ms.append(found.trace.total_ms)
        return {"query": found.query, "context": found.context, "tokens": found.tokens}

    def recipes(self) -> list[dict[str, Any]]:
        """Ask one question by every recipe."""
        return [self._ask_by(name) for name in self._engine.recipes]

    def time_travel(self) -> list[dict[str, Any]]:
        """Ask the same question before and after the answer changed."""
        return [{"as_of": moment, **self._ask(THE_QUESTION, as_of=moment)} for moment in (BEFORE_THE_MOVE, None)]

    def explain(self) -> dict[str, Any]:
        """Take the first answer apart."""
        found = self._engine.recall(THE_QUESTION, track=False)
        return explanation_to_data(self._engine.explain(found, found.items[0].memory.id))

    def stats(self) -> dict[str, Any]:
        """Count what there is now."""
        return stats_to_data(self._engine.stats()) | {"ms_per_recall": round(median(self._ms), 3)}

    def _ask_by(self, recipe: str) -> dict[str, Any]:
        try:
            return {**self._ask(THE_QUESTION, recipe=recipe), "skipped": None}
        except MissingService as error:
            return {"query": THE_QUESTION, "recipe": recipe, "skipped": error.problem}

    def _ask(self, question: str, **options: Any) -> dict[str, Any]:
        found = self._engine.recall(question, **options)
        self._ms.append(found.trace.total_ms)
        return _summary(found)


def _summary(found: Recall) -> dict[str, Any]:
    return {
        "query": found.query,
        "recipe": found.recipe,
        "ms": round(found.trace.total_ms, 3),
        "tokens": found.tokens,
        "found": len(found.items),
        "first": item_to_data(found.items[0]) if found.items else None,
    }
