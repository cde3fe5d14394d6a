"""Stages that ask a language model if one is configured, and use rules otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from memorist.asking import query
from memorist.errors import ModelUnavailable
from memorist.recall.prepare import parts, whole, with_goal
from memorist.recall.stage import Draft, Env, Stage
from memorist.recall.understand import expand_query, key_phrases_of, query_mode

if TYPE_CHECKING:
    from memorist.asking import LLMAsker

Method = Literal["auto", "rules", "llm"]
"""`auto`: the model if one is configured, else the rules. `llm`: the same, but a recall without a model is refused."""
T = TypeVar("T")


class LlmOrRules(Stage):
    """A stage that a language model or rules can do. If the model gives no answer, the rules decide."""

    __slots__ = ()
    by: Method

    def required(self) -> tuple[str, ...]:
        """Its needs, and a language model if `by` is `llm`."""
        return (*self.needs, "llm") if self.by == "llm" else self.needs

    def decide(self, step: str, env: Env, ask: Callable[[LLMAsker], T], rule: Callable[[], T]) -> tuple[T, str]:
        """The answer and, for the trace, its author: the model's name, or `rules` and why the model did not answer."""
        asker = None if self.by == "rules" else env.llm
        model = None if asker is None else asker.model_for(step)
        if asker is None or model is None:
            return rule(), "rules"
        try:
            return ask(asker), model
        except ModelUnavailable as error:
            return rule(), f"rules: {error.problem}"


@dataclass(frozen=True, slots=True)
class ClassifyMode(LlmOrRules):
    """Classify the question by the type of memory it asks for: semantic, procedural, episodic or mixed.

    Rules read the question with the goal of the session: its steps report and do not ask.
    """

    kind = "mode"
    takes = ("question",)
    by: Method = "auto"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its mode."""
        text = whole(draft)
        mode, author = self.decide(
            "mode", env, lambda asker: query.mode(asker, text), lambda: query_mode(with_goal(draft))
        )
        return replace(draft, query=replace(draft.query, mode=mode)).noting(f"mode {mode} by {author}")


@dataclass(frozen=True, slots=True)
class Tags(LlmOrRules):
    """Name the concepts of the query in 2 to 5 short phrases; by rules, the key phrases of its parts in turn."""

    kind = "tags"
    takes = ("question",)
    by: Method = "auto"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its tags."""
        text = whole(draft)
        tags, author = self.decide(
            "tags", env, lambda asker: query.tags(asker, text), lambda: key_phrases_of(parts(draft))
        )
        return replace(draft, query=replace(draft.query, tags=tags)).noting(f"tags by {author}")


@dataclass(frozen=True, slots=True)
class Expand(LlmOrRules):
    """Add synonyms for the keyword search; by rules, from a small table of everyday synonyms.

    The default is `rules`, so that a search does not wait for a model.
    """

    kind = "expand"
    takes = ("question",)
    by: Method = "rules"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its expansion; the query text does not change."""
        words, author = self.decide(
            "expand",
            env,
            lambda asker: query.expansion(asker, whole(draft)),
            lambda: expand_query(draft.query.text),
        )
        expanded = replace(draft, query=replace(draft.query, expansion=words))
        return expanded if self.by == "rules" else expanded.noting(f"expanded by {author}")
