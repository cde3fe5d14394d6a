"""How well the stores recall: every one gets the same texts, vectors and questions, and `memorist bench` judges them.

    /tmp/rivals/bin/python -m benchmarks.rivals.quality DATASET FOLDER [--view context | --texts-alone] [--stores …]

DATASET is what `memorist bench` reads, such as a folder in BEIR's layout. Each of its groups, such as a conversation,
is a store of its own, and every question asks for as many texts as a bench does. FOLDER keeps the vectors, which the
packaged embedder makes once. They are those that Memorist keeps: it embeds a turn with its date and speaker, and a
second time together with the end of the turn before. Memorist searches both, and does not rerank here; the other stores
get the first (--view text) or the second (--view context). With --texts-alone, no store is told the time, speaker,
session or order of a text, and there is one vector of each. The figures are printed as one table.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from benchmarks.rivals.data import Page, Vectors
from benchmarks.rivals.measure import QUIET
from benchmarks.rivals.report import OURS
from benchmarks.rivals.stores import HYBRID, STORES, VECTOR, Memorist, Store
from memorist.models.embedders import build
from memorist.models.embedding_text import CONTEXT, TEXT
from memorist.ports import Embedder
from memorist.recall.recipes import RECIPES
from memorist_bench.cache import StoredEmbedder
from memorist_bench.datasets import load
from memorist_bench.measures import MeasurePart, summarise
from memorist_bench.model import Answer, BenchRun, Dataset, Document, Group
from memorist_bench.runner import run
from memorist_bench.space import LIMIT, Setup, Space

RIVALS: Mapping[str, type[Store]] = {name: one for name, one in STORES.items() if not issubclass(one, Memorist)}
RECIPE_OF = {VECTOR: "nearest", HYBRID: "memorist"}
HEADER = ("system", "recall@10", "any@5", "sessions any@5")


@dataclass(frozen=True)
class Talk:
    """A group of a dataset as another store gets it: documents with their vectors, and questions with theirs."""

    group: Group
    documents: Sequence[Document]
    vectors: Vectors
    probes: Vectors


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("dataset")
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--view", choices=(TEXT, CONTEXT), default=TEXT)
    arguments.add_argument("--texts-alone", action="store_true")
    arguments.add_argument("--stores", nargs="+", default=[OURS, *RIVALS], choices=[OURS, *RIVALS])
    given = arguments.parse_args()
    os.environ.update(QUIET)
    model = build("local")
    assert model is not None
    embedder = StoredEmbedder(model, given.folder, queries=True)
    judged = load(given.dataset)
    told = texts_alone(judged) if given.texts_alone else judged
    talks = [talk(group, embedder, given.view) for group in told.groups if group.questions]
    parts = dict[str, MeasurePart]()
    for name in given.stores:
        for answered in ours(told, embedder) if name == OURS else theirs(RIVALS[name], talks):
            parts[f"{name}, {answered.recipe}"] = summarise(judged, answered).overall
    print(table(parts))


def texts_alone(dataset: Dataset) -> Dataset:
    """The same texts, without what else is known of them: not even their order."""
    groups = (
        replace(
            group,
            documents=tuple(Document(document.id, document.text) for document in group.documents),
            conversation=False,
        )
        for group in dataset.groups
    )
    return replace(dataset, groups=tuple(groups))


def talk(group: Group, embedder: Embedder, view: str = TEXT) -> Talk:
    """The documents of a group, each with a vector that Memorist keeps of it; a first turn has no context."""
    with Space(group, [RECIPES[RECIPE_OF[VECTOR]]], Setup(embedder, extract="off")) as space:
        kept = space.engine.store.vectors(list(space.ids))
        rows = {space.ids[id]: views.get(view, views[TEXT]) for id, views in kept.items()}
    documents = [document for document in group.documents if document.id in rows]
    vectors = np.array([rows[document.id] for document in documents], np.float32)
    return Talk(
        group, documents, vectors, embedder.embed([question.text for question in group.questions], purpose="query")
    )


def ours(dataset: Dataset, embedder: Embedder) -> Iterator[BenchRun]:
    """The recipes of Memorist that search by vector alone, and by everything but a reranker."""
    answered = run(dataset, [RECIPES[recipe] for recipe in RECIPE_OF.values()], Setup(embedder))
    for mode, one in zip(RECIPE_OF, answered, strict=True):
        yield replace(one, recipe=mode)


def theirs(store: type[Store], talks: Iterable[Talk]) -> Iterator[BenchRun]:
    """The answers of another store, searched in each of its ways."""
    answers: dict[str, list[Answer]] = {mode: [] for mode in store.modes}
    for talk in talks:
        with TemporaryDirectory() as folder:
            place = Path(folder) / "store"
            with closing(store(place, None)) as filled:
                filled.fill([Page(0, [document.text for document in talk.documents], talk.vectors)])
            for mode in store.modes:
                with closing(store(place, mode)) as opened:
                    answers[mode] += asked(opened, talk)
    for mode in store.modes:
        yield BenchRun(mode, tuple(answers[mode]))


def asked(store: Store, talk: Talk) -> Iterator[Answer]:
    """The documents that a store finds for each question; of equal texts, the first found is the first said."""
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for document in talk.documents:
        ids[document.text].append(document.id)
    for question, probe in zip(talk.group.questions, talk.probes, strict=True):
        began = perf_counter()
        found = store.search(question.text, probe, LIMIT)
        ms = (perf_counter() - began) * 1000
        said = {text: iter(ids[text]) for text in found}
        yield Answer(talk.group.name, question.id, tuple(next(said[text]) for text in found), ms)


def table(parts: Mapping[str, MeasurePart]) -> str:
    """A row for each store and way to search, the best first."""
    best = sorted(parts, key=lambda name: -parts[name].turns["recall@10"])
    lines = [HEADER, ("---",) * len(HEADER), *((name, *figures(parts[name])) for name in best)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figures(part: MeasurePart) -> list[str]:
    """The cells of a row, in percent; the last is empty if the dataset has no sessions."""
    sessions = "" if part.sessions is None else f"{100 * part.sessions['any@5']:.1f}"
    return [*(f"{100 * part.turns[name]:.1f}" for name in HEADER[1:3]), sessions]


if __name__ == "__main__":
    main()
