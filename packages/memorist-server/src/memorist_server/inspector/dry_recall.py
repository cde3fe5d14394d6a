"""Recalls to look at: by any recipe, with numbers of it moved, and without anything written, counted or told.

They take an engine, so that its cap holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memorist.engine.engine import Engine
from memorist.model import Recall, RecallOptions, RecallRequest
from memorist.recall.data import settings_to_toml
from memorist.recall.dials import Dial, dials_of, moved_settings, with_moved
from memorist.recall.pipeline import Pipeline

if TYPE_CHECKING:
    from memorist.recall.stage import Env
    from memorist.results.finding import Absence


@dataclass(frozen=True, slots=True)
class Trial:
    """A question with its options, asked by one recipe as it is or with numbers moved."""

    engine: Engine
    query: str
    options: RecallOptions
    recipe: str
    moved: Mapping[str, str]

    def recall(self) -> Recall:
        """The answer."""
        return self._pipeline.run(self._request("recall"), self._env)

    def why_not(self, id: str) -> Absence:
        """Why the answer lacks a memory."""
        from memorist.recall.explain import why_not
        from memorist_server.inspector.browse import known

        return why_not(self._pipeline, self._request("why_not"), self._env, known(self.engine, id))

    @property
    def dials(self) -> tuple[Dial, ...]:
        """The numbers that may be moved, with their values in the recipe as it is."""
        return dials_of(self._whole)

    @property
    def settings(self) -> dict[str, Any]:
        """The moved numbers, as a settings file states them."""
        return moved_settings(self._whole, self.moved)

    @property
    def toml(self) -> str:
        """What belongs into memorist.toml to recall in this way."""
        return settings_to_toml(self.recipe, self.settings)

    @property
    def _whole(self) -> Pipeline:
        return self.engine._pipeline(self.recipe)  # pyright: ignore[reportPrivateUsage]

    @property
    def _pipeline(self) -> Pipeline:
        return with_moved(self._whole, self.moved)

    @property
    def _env(self) -> Env:
        return self.engine._env()  # pyright: ignore[reportPrivateUsage]

    def _request(self, verb: str) -> RecallRequest:
        options: RecallOptions = {**self.options, "track": False}
        return self.engine._request(self.query, options, verb)  # pyright: ignore[reportPrivateUsage]


def usual_recipe(engine: Engine) -> str:
    """The recipe that an engine recalls by unless another is named."""
    return engine._recipe  # pyright: ignore[reportPrivateUsage]
