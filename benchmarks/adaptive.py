"""How large a pool and how low a minimum mnemo needs as the store grows.

    python benchmarks/adaptive.py sweep                                          # every pool and minimum at every size
    python benchmarks/adaptive.py check --splits held-out beam                   # fixed against adaptive, as they ship
    python benchmarks/adaptive.py check --splits held-out --sizes 100000 --texts FILE

Figures go to adaptive.json; adaptive_fit.py makes formulas and a plot of them, and docs/explanation/adaptive.md tells
what came of it. A question's own conversation is cut, or filled up with turns of others, to the wanted number of texts;
what answers it stays. FILE holds a text a line, to fill up further. A first run also embeds the questions: take the
work of a second.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import floor
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import Any

import numpy as np
from common import EVAL, options

from memorist.model import Candidate, Found, Memory
from memorist.models import embedders, rerankers
from memorist.ports import Reranker
from memorist.stages import MMR, RECIPES, Draft, Env, Noise, Pipeline, ReciprocalRank, Search, Stage, with_settings
from memorist_bench import datasets
from memorist_bench.cache import StoredEmbedder, default_folder
from memorist_bench.measures import Figures, judge
from memorist_bench.model import Answer, Dataset, Document, Group, Question
from memorist_bench.runner import narrow_dataset
from memorist_bench.space import Setup, Space
from memorist_bench.statistics import compare

ROOT = Path(__file__).parents[1]
MNEMO = RECIPES["mnemo"]
RESULTS = ROOT / "benchmarks" / "adaptive.json"
SIZES = (100, 300, 1_000, 3_000)
POOLS = (10, 15, 20, 30, 45, 60)
"""Candidates after fusion, which the reranker reads."""
HITS = (0, 100)
"""Hits of each search; 0 for as many as the pool."""
MINIMA = (0.0, 0.2, 0.25, 0.3, 0.4, 0.5)
GOLD_LOST = 0.01
"""The share of the gold in a pool that a minimum may cost."""
LIMIT = 10
"""Items asked for: what a caller gets who asks for no other number."""
QUESTIONS = {"locomo": 40, "realtalk": 20, "beam": 30}
"""Questions of a set in each half of its conversations."""
TEXTS_A_CONVERSATION = 1_000
"""A space of so many texts or more holds a further conversation whose questions are asked."""
SEED = 5


# Spaces of a wanted size


@dataclass(frozen=True)
class Split:
    """Conversations whose questions are asked: those to fit on, those held out, and those of another kind."""

    name: str
    groups: tuple[Group, ...]


def splits(sets: dict[str, Dataset]) -> Iterator[Split]:
    """Every other conversation to fit on, the others held out; LoCoMo and RealTalk are people, BEAM's are chats."""
    for name, first in (("fit", 0), ("held-out", 1)):
        for kind, members in (("people", ("locomo", "realtalk")), ("chats", ("beam",))):
            yield Split(f"{kind}-{name}", tuple(group for member in members for group in half(sets[member], first)))


def half(dataset: Dataset, first: int) -> tuple[Group, ...]:
    """Every other conversation, with some of its questions."""
    names = [group.name for group in dataset.groups][first::2]
    return narrow_dataset(dataset, groups=names, questions=QUESTIONS[dataset.name]).groups


def spaces(split: Split, size: int, others: Sequence[Group], texts: Sequence[str]) -> Iterator[Group]:
    """The split's conversations in spaces of `size` texts, as many to a space as there is room for."""
    together = max(1, size // TEXTS_A_CONVERSATION)
    for start in range(0, len(split.groups), together):
        yield space_of(split.groups[start : start + together], size, others, texts)


def space_of(own: Sequence[Group], size: int, others: Sequence[Group], texts: Sequence[str]) -> Group:
    """Some conversations as one group, cut or filled up to `size` texts; gold is never cut."""
    draw = random.Random(SEED)
    names = {group.name for group in own}
    documents = [document for group in own for document in group.documents]
    questions = tuple(question for group in own for question in group.questions)
    gold = {id for question in questions for id in question.gold}
    strangers = [document for group in others if group.name not in names for document in group.documents]
    kept = some([document for document in documents if document.id not in gold], size - len(gold), draw)
    filled = some(strangers, size - len(documents), draw)
    more = [Document(f"text/{place}", text) for place, text in enumerate(texts)]
    rest = more[: max(0, size - len(documents) - len(filled))]
    chosen = {document.id for document in kept} | gold
    return Group(
        "+".join(sorted(names)),
        (*rest, *filled, *(document for document in documents if document.id in chosen)),
        questions,
    )


def some(documents: Sequence[Document], wanted: int, draw: random.Random) -> list[Document]:
    """So many of them, drawn without order and kept in theirs."""
    places = draw.sample(range(len(documents)), min(len(documents), max(0, wanted)))
    return [documents[place] for place in sorted(places)]


# Every pool and minimum at once


@dataclass(frozen=True)
class Trial:
    """What one pool made of a question: the candidates best first, and the items that each minimum leaves."""

    hits: int
    pool: int
    candidates: tuple[Candidate, ...]
    items: dict[float, list[Memory]]


class Remembering:
    """A reranker that reads a pair once, however many pools it is in."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._known: dict[tuple[str, str], float] = {}

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """A logit per text."""
        new = [text for text in dict.fromkeys(texts) if (query, text) not in self._known]
        read = self._reranker.score(query, new) if new else []
        self._known |= {(query, text): logit for text, logit in zip(new, read, strict=True)}
        return [self._known[query, text] for text in texts]


@dataclass(frozen=True, slots=True)
class Sweep(Stage):
    """What follows the search, once for every pool and minimum: a search for fewer is the head of a wider one."""

    kind = "sweep"
    fusion: ReciprocalRank
    scoring: tuple[Stage, ...]
    mmr: MMR
    noise: Noise
    trials: list[Trial] = field(default_factory=list[Trial])

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft as it came; the trials are in the list."""
        self.trials.clear()
        for hits, pool in product(HITS, POOLS):
            cut = {name: Found(found.hits[: hits or pool]) for name, found in draft.found.items()}
            stages = (replace(self.fusion, keep=pool, adaptive=False), *self.scoring)
            pooled = through(stages, replace(draft, found=cut), env)
            telling = {candidate.memory.id for candidate in self.noise(pooled, env).candidates}
            items = dict(self._items(pooled.candidates, telling, env))
            self.trials.append(Trial(hits, pool, pooled.candidates, items))
        return draft

    def _items(self, candidates: Sequence[Candidate], telling: set[str], env: Env) -> Iterator[Any]:
        ids = [candidate.memory.id for candidate in candidates]
        vectors = env.view.vectors(ids)
        assert env.embedder is not None
        rows = np.stack([vectors.get(id, np.zeros(env.embedder.dim, np.float32)) for id in ids])
        cosines, quiet = rows @ rows.T, [id not in telling for id in ids]
        for minimum in MINIMA:
            scores = np.array([candidate.score for candidate in candidates if candidate.score >= minimum])
            order = first_diverse(scores, cosines, quiet, self.mmr.balance)
            yield minimum, [candidates[number].memory for number in order]


def first_diverse(scores: Any, cosines: Any, quiet: Sequence[bool], balance: float) -> list[int]:
    """The head of `diverse_order`, whose whole costs a second over all pools and minima; noise leaves after it."""
    worth = balance * scores / max(scores, default=1.0)
    nearest, order = np.zeros(len(scores)), list[int]()
    while len(order) < LIMIT and np.isfinite(worth).any():
        chosen = int(np.argmax(worth - (1 - balance) * nearest))
        nearest = np.maximum(nearest, cosines[chosen, : len(scores)])
        worth[chosen] = -np.inf
        if not quiet[chosen]:
            order.append(chosen)
    return order


def through(stages: Sequence[Stage], draft: Draft, env: Env) -> Draft:
    """The draft after all of the stages."""
    for stage in stages:
        draft = stage(draft, env)
    return draft


def sweeping() -> tuple[Pipeline, Sweep]:
    """mnemo as it ships up to its search, then every pool and minimum."""
    stages = {stage.kind: stage for stage in MNEMO.stages}
    search, fusion, mmr, noise = (stages[kind] for kind in ("search", "rrf", "mmr", "noise"))
    assert isinstance(search, Search)
    assert isinstance(fusion, ReciprocalRank)
    assert isinstance(mmr, MMR)
    assert isinstance(noise, Noise)
    before = MNEMO.stages[: list(stages).index("search")]
    wide = replace(search, limit=max(*POOLS, *HITS), adaptive=False)
    sweep = Sweep(fusion, (stages["weigh"], stages["normalise"], stages["rerank"]), mmr, noise)
    return Pipeline("sweep", (*before, wide, sweep)), sweep


@dataclass
class Tally:
    """The figures of one pool at one size, question by question; figures by minimum where it matters."""

    recall: dict[float, list[float]] = field(default_factory=lambda: {minimum: [] for minimum in MINIMA})
    any5: list[float] = field(default_factory=list[float])
    pooled: list[float] = field(default_factory=list[float])
    gold: list[float] = field(default_factory=list[float])
    noise: list[float] = field(default_factory=list[float])
    read: list[float] = field(default_factory=list[float])

    def add(self, trial: Trial, question: Question, documents: Documents) -> None:
        """Count one question."""
        wanted = {id for id, grade in question.gold.items() if grade > 0}
        found: set[str] = set()
        for candidate in trial.candidates:
            right = wanted.intersection(documents.of(candidate.memory))
            (self.gold if right else self.noise).append(candidate.score)
            if right and "reranker" in candidate.parts:
                self.read.append(candidate.parts["reranker"])
            found |= right
        self.pooled.append(len(found) / len(wanted))
        for minimum, items in trial.items.items():
            figures = judge([id for memory in items for id in documents.of(memory)], question.gold)
            self.recall[minimum].append(figures["recall@10"])
            if not minimum:
                self.any5.append(figures["any@5"])

    def point(self) -> dict[str, Any]:
        """Means over the questions, and what minima drop of the candidates that are gold and of those that are not."""
        gold, noise = np.array(self.gold), np.array(self.noise)
        highest = floor(100 * float(np.quantile(gold, GOLD_LOST, method="lower"))) / 100
        return {
            "recall@10": round(fmean(self.recall[0.0]), 4),
            "any@5": round(fmean(self.any5), 4),
            "gold_in_pool": round(fmean(self.pooled), 4),
            "candidates": round((len(gold) + len(noise)) / len(self.pooled), 1),
            "highest_minimum": highest,
            "noise_below_it": round(float((noise < highest).mean()), 4),
            "gold_read_below_03": round(fmean(value < 0.3 for value in self.read), 4) if self.read else None,
            "by_minimum": {
                "recall@10": [round(fmean(self.recall[minimum]), 4) for minimum in MINIMA],
                "gold_dropped": [round(float((gold < minimum).mean()), 4) for minimum in MINIMA],
                "noise_dropped": [round(float((noise < minimum).mean()), 4) for minimum in MINIMA],
            },
        }


class Documents:
    """The documents a memory stands for, looked up once."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._known: dict[str, list[str]] = {}

    def of(self, memory: Memory) -> list[str]:
        """Those it is or comes from."""
        if memory.id not in self._known:
            self._known[memory.id] = self._space.documents(memory)
        return self._known[memory.id]


def swept(split: Split, size: int, world: World) -> Iterator[dict[str, Any]]:
    """A point for every pool."""
    pipeline, sweep = sweeping()
    tallies: defaultdict[tuple[int, int], Tally] = defaultdict(Tally)
    memories: list[int] = []
    for group in spaces(split, size, world.others, world.texts):
        with Space(group, [pipeline], world.setup) as space:
            documents = Documents(space)
            for question in group.questions:
                space.recall(question, pipeline.name)
                for trial in sweep.trials:
                    tallies[trial.hits, trial.pool].add(trial, question, documents)
            memories.append(space.engine.store.view().size)
    for (hits, pool), tally in tallies.items():
        shared = {"split": split.name, "texts": size, "memories": round(fmean(memories)), "queries": len(tally.pooled)}
        yield {**shared, "hits": hits, "pool": pool, **tally.point()}


@dataclass(frozen=True)
class World:
    """What every space is made of."""

    splits: tuple[Split, ...]
    others: tuple[Group, ...]
    texts: tuple[str, ...]
    setup: Setup


def world(data: Path, texts: Path | None, cache: Path) -> World:
    """The datasets, the model and what else to fill up with."""
    sets = {name: datasets.load(data / name) for name in QUESTIONS}
    others = tuple(group for chosen_set in sets.values() for group in chosen_set.groups)
    lines = tuple(texts.read_text(encoding="utf-8").splitlines()) if texts else ()
    local, reranker = embedders.build("local"), rerankers.build("auto")
    assert local is not None
    embedder = StoredEmbedder(local, cache, queries=True)
    setup = Setup(embedder, Remembering(reranker) if reranker else None, limit=LIMIT)
    return World(tuple(splits(sets)), others, lines, setup)


# Fixed against adaptive


def fixed() -> Pipeline:
    """mnemo with the page's Core sizes: pool 30, minimum 0.3."""
    return replace(
        with_settings(MNEMO, {f"{stage}.adaptive": False for stage in ("search", "rrf", "minimum_score")}), name="fixed"
    )


def checked(split: Split, size: int, world: World) -> dict[str, Any]:
    """Both recipes as they ship, over the same questions."""
    recipes = (fixed(), MNEMO)
    runs: dict[str, list[Answer]] = {recipe.name: [] for recipe in recipes}
    gold: dict[tuple[str, str], Mapping[str, float]] = {}
    memories, worked = list[int](), dict.fromkeys(runs, 0.0)
    for group in spaces(split, size, world.others, world.texts):
        gold |= {(group.name, question.id): question.gold for question in group.questions}
        with Space(group, recipes, world.setup) as space:
            for name in runs:
                started = process_time()
                runs[name] += space.answers(name, lambda _more: None)
                worked[name] += process_time() - started
            memories.append(space.engine.store.view().size)
    figures = {name: [judge(run.ranked, gold[run.group, run.question]) for run in runs[name]] for name in runs}
    return {
        **{"split": split.name, "texts": size, "memories": round(fmean(memories)), "queries": len(gold)},
        **{name: summed(runs[name], figures[name], worked[name]) for name in runs},
        **{name: compared(name, figures["fixed"], figures[MNEMO.name]) for name in ("recall@10", "any@5")},
    }


def summed(answers: Sequence[Answer], figures: Sequence[Figures], worked: float) -> dict[str, float]:
    """What a recipe found, and what it cost: time on the clock, and time that processors worked."""
    return {
        **{name: round(fmean(figure[name] for figure in figures), 4) for name in ("recall@10", "any@5")},
        "items": round(fmean(len(answer.ranked) for answer in answers), 2),
        "tokens": round(fmean(answer.tokens for answer in answers)),
        "p50_ms": round(median(answer.ms for answer in answers), 1),
        "work_ms": round(1000 * worked / len(answers), 1),
    }


def compared(
    name: str, first: Sequence[Mapping[str, float]], second: Sequence[Mapping[str, float]]
) -> dict[str, float]:
    """What the second has more, with its 95 % interval and the p value of a paired test."""
    found = compare([record[name] for record in first], [record[name] for record in second])
    difference = found.difference
    return {
        **{"difference": round(difference.mean, 4), "low": round(difference.low, 4), "high": round(difference.high, 4)},
        "p": round(found.p, 4),
    }


# Results


def recorded(file: Path, part: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Put rows in the place of those that were measured alike."""
    results = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    new = {(row["split"], row["texts"]) for row in rows}
    kept = [row for row in results.get(part, []) if (row["split"], row["texts"]) not in new]
    results[part] = sorted([*kept, *rows], key=lambda row: (row["split"], row["texts"], row.get("pool", 0)))
    results["minima"] = MINIMA
    parts = [f"{json.dumps(name)}: [\n{_lines(rows)}\n]" for name, rows in sorted(results.items())]
    file.write_text(f"{{{', '.join(parts)}}}\n", encoding="utf-8")


def _lines(rows: Sequence[Any]) -> str:
    return ",\n".join(json.dumps(row) for row in rows)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("task", choices=("sweep", "check"))
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="texts in a space")
    parser.add_argument(
        "--splits", nargs="+", default=["people-fit", "chats-fit"], help="people or chats, -fit or -held-out"
    )
    parser.add_argument("--texts", type=Path, help="a text a line, to fill up beyond the conversations")
    parser.add_argument("--data", type=Path, default=EVAL, help="the datasets")
    parser.add_argument("--cache", type=Path, default=default_folder(), help="where vectors are kept")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of figures")
    given = parser.parse_args()
    everything = world(given.data, given.texts, given.cache)
    wanted = [part for part in everything.splits if part.name in given.splits]
    for size, split in product(given.sizes, wanted):
        measured = swept(split, size, everything) if given.task == "sweep" else [checked(split, size, everything)]
        rows = list(measured)
        recorded(given.results, given.task, rows)
        print(*map(json.dumps, rows), sep="\n", flush=True)


if __name__ == "__main__":
    main()
