"""Replay: the stages that a number can change run again on recorded signals, so that a trial needs no search.

The stages are those of the recipe itself, not a model of them. A replay of unchanged settings is therefore the recall.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from memorist.model import Memory, RecallRequest
from memorist.ports import ListReading, Reading, Reranker, Store, View, list_reading_of, readings_of
from memorist.recall.pipeline import Pipeline, first_draft, run_stage
from memorist.recall.stage import Draft, Env, Stage
from memorist_bench.measures import judge
from memorist_bench.space import documents_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEPTH = 10
MEASURE = f"ndcg@{DEPTH}"
"""The figure that is fitted: nDCG of the first ten items, which a recall returns by default."""
READS = (
    "history",
    "links",
    "entities",
    "entities_by_id",
    "entities_by_prefix",
    "by_key",
    "turns",
    "neighbours",
    "noise",
    "shown",
    "scan",
)
SEARCHES = ("search_text", "search_trigram", "search_substring", "search_signature", "search_time")
OTHER_SEARCHES = ("generation", "embedding", "size", "search_vector", "graph", "vectors", "cosines")
"""Reads of a view whose arguments are no keys, or that cost nothing."""


class Once:
    """Answers each call of some methods once, so that every trial sees the same; other names are `open` or refused."""

    def __init__(self, asked: object, once: Collection[str], open: Collection[str] = ()) -> None:
        self._asked = asked
        self._once = once
        self._open = open
        self._answers: dict[tuple[Any, ...], Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name in self._open:
            return getattr(self._asked, name)
        if name not in self._once:
            raise AttributeError(name)

        def answer(*arguments: Any, **keywords: Any) -> Any:
            given = (name, *map(_hashable, arguments), *((key, _hashable(one)) for key, one in keywords.items()))
            if given not in self._answers:
                self._answers[given] = getattr(self._asked, name)(*arguments, **keywords)
            return self._answers[given]

        return answer


def _hashable(argument: Any) -> Any:
    return tuple(cast("list[Any]", argument)) if isinstance(argument, list) else argument


class ReplayStore(Once):
    """A store that is asked everything once. It cannot write."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, READS)
        self._store = store
        self._memories: dict[str, Memory | None] = {}

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """The memories with these ids."""
        new = [id for id in ids if id not in self._memories]
        if new:
            found = self._store.get(new)
            self._memories |= {id: found.get(id) for id in new}
        return {id: memory for id in ids if (memory := self._memories[id]) is not None}


class Searches(Once):
    """A view that is searched once for the same words or times."""

    def __init__(self, view: View) -> None:
        super().__init__(view, SEARCHES, OTHER_SEARCHES)
        self._view = view
        self._texts: Searches | None = None

    def without_facts(self) -> Searches:
        """The same view, always, that leaves out facts."""
        if self._texts is None:
            self._texts = Searches(self._view.without_facts())
        return self._texts


class Readings:
    """A reranker that reads every text once per question."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._known: dict[tuple[str, str], Reading] = {}
        self._lists: dict[tuple[str, tuple[str, ...]], ListReading | None] = {}
        self.generation: str = getattr(reranker, "generation", "")

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text."""
        return [reading.score for reading in self.read(query, texts)]

    def read(self, query: str, texts: Sequence[str]) -> list[Reading]:
        """One reading per text."""
        if new := [text for text in texts if (query, text) not in self._known]:
            readings = readings_of(self._reranker, query, new)
            self._known |= {(query, text): one for text, one in zip(new, readings, strict=True)}
        return [self._known[query, text] for text in texts]

    def read_list(self, query: str, texts: Sequence[str]) -> ListReading | None:
        """What the reranker says of texts together, once per list."""
        key = query, tuple(texts)
        if key not in self._lists:
            self._lists[key] = list_reading_of(self._reranker, query, texts)
        return self._lists[key]


@dataclass(frozen=True, slots=True)
class ReplaySpace:
    """A memory that is asked: its services, and the judged document that each of its memories is."""

    env: Env
    documents: Mapping[str, str]

    def ranked(self, draft: Draft) -> list[str]:
        """The documents that the candidates of a draft stand for, best first."""
        return [
            id
            for candidate in draft.candidates
            for id in documents_of(candidate.memory, self.documents, self.env.store)
        ]


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A judged question: the request it is, the grades of the documents that answer it, and where it is asked."""

    request: RecallRequest
    gold: Mapping[str, float]
    place: ReplaySpace


@dataclass(frozen=True, slots=True)
class Signals:
    """What is recorded for a question: the draft before the first stage that changes, and after every later one."""

    asked: JudgedQuestion
    before: Draft
    after: tuple[Draft, ...]
    figure: float


class Replay:
    """The questions, recorded once under the current recipe; `first` is the place of the first stage that changes."""

    def __init__(self, recipe: Pipeline, first: int) -> None:
        self._first = first
        self._recipe = recipe
        self._stages = self._replayed(recipe)
        self._signals: list[Signals] = []

    def record(self, asked: JudgedQuestion) -> None:
        """Ask a question once."""
        draft, env = first_draft(asked.request), asked.place.env
        for stage in self._recipe.stages[: self._first]:
            draft, _ = run_stage(stage, draft, env)
        before, after = draft, list[Draft]()
        for stage in self._stages:
            draft, _ = run_stage(stage, draft, env)
            after.append(draft)
        self._signals.append(Signals(asked, before, tuple(after), _figure(asked, draft)))

    def figures(self, recipe: Pipeline) -> NDArray[Any]:
        """The figure of every question under a recipe that differs from the current one in numbers alone."""
        import numpy as np

        stages = self._replayed(recipe)
        changed = [place for place, old in enumerate(self._stages) if stages[place] != old]
        return np.array([self._figure(signal, stages, changed) for signal in self._signals])

    def rankings(self) -> list[list[str]]:
        """The documents that each question finds under the current recipe, best first."""
        return [signal.asked.place.ranked(signal.after[-1]) for signal in self._signals]

    def _replayed(self, recipe: Pipeline) -> tuple[Stage, ...]:
        """The stages between the recorded signals and the context; later ones do not order candidates."""
        stages = recipe.stages[self._first :]
        ends = next((place for place, stage in enumerate(stages) if stage.gives == "context"), len(stages))
        return stages[:ends]

    def _figure(self, signals: Signals, stages: Sequence[Stage], changed: Sequence[int]) -> float:
        """The figure of one question: runs from each changed stage until the candidates are those recorded there."""
        draft, place = signals.before, 0
        for start in changed:
            if start < place:
                continue  # it ran already
            draft, place, same = signals.after[start - 1] if start else signals.before, start, False
            while place < len(stages) and not same:
                draft, _ = run_stage(stages[place], draft, signals.asked.place.env)
                same = draft.candidates == signals.after[place].candidates
                place += 1
            if not same:
                return _figure(signals.asked, draft)
        return signals.figure


def _figure(asked: JudgedQuestion, draft: Draft) -> float:
    return judge(asked.place.ranked(draft), asked.gold, (DEPTH,))[MEASURE]
