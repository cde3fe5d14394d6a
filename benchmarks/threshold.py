"""The cosine from which on a memory counts as found by its meaning, per packaged embedder: abmind's threshold for Se.

    python benchmarks/threshold.py CHOOSE CHECK…    # datasets: conversations, then a folder of everyday worlds

A question makes a pair with each text that answers it, and with `OTHERS` texts of the same memory at random. The
threshold is the cosine that one of ten pairs with others reaches, rounded to two decimals, chosen on the first dataset.
The other datasets check it; the document's 0.5 stands beside it. That share was taken because it transfers: the cosine
that separates best (Youden 1950) is far lower among everyday worlds than in conversations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from common import options, print_head, print_row
from numpy.typing import NDArray

from memorist.models.embedders import build
from memorist.models.folder import SETS
from memorist.ports import Embedder
from memorist.recall.recipes import RECIPES
from memorist_bench.datasets import load
from memorist_bench.model import Dataset
from memorist_bench.space import Setup, Space

OTHERS = 20
DOCUMENTED = 0.5
PASSING = 0.1
"""The share of pairs with others that reach the threshold."""
Pairs = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The cosines of questions with answers, and with others."""


def pairs(dataset: Dataset, embedder: Embedder) -> Pairs:
    """The cosines that the signal `vector` gives the pairs of a dataset."""
    rng, answers, others = np.random.default_rng(0), list[float](), list[float]()
    for group in dataset.groups:
        asked = [question for question in group.questions if question.answerable and question.gold]
        if not asked:
            continue
        with Space(group, [RECIPES["nearest"]], Setup(embedder, extract="off")) as space:
            known = {document: id for id, document in space.ids.items()}
            ids, view = sorted(known.values()), space.engine.store.view()
            vectors = embedder.embed([other.text for other in asked], purpose="query")
            for question, vector in zip(asked, vectors, strict=True):
                gold = [known[id] for id in question.gold if id in known]
                drawn = [ids[at] for at in rng.integers(0, len(ids), OTHERS) if ids[at] not in gold]
                found = view.cosines(vector, [*gold, *drawn])
                answers += [found[id] for id in gold if id in found]
                others += [found[id] for id in drawn if id in found]
    return np.array(answers), np.array(others)


def chosen(found: Pairs) -> float:
    """The cosine that the tenth of the pairs with others reaches."""
    return round(float(np.quantile(found[1], 1 - PASSING)), 2)


def share(cosines: NDArray[np.float64], least: float) -> float:
    """The share of pairs that reach a cosine."""
    return float((cosines >= least).mean())


def measured(models: str, datasets: list[Dataset]) -> Iterator[tuple[object, ...]]:
    """The rows of one set of models."""
    embedder = build("local", models=models)
    assert embedder is not None
    found = {dataset.name: pairs(dataset, embedder) for dataset in datasets}
    least = chosen(found[datasets[0].name])
    for name, (answers, others) in found.items():
        for threshold in (least, DOCUMENTED):
            shares = (f"{share(cosines, threshold):.1%}" for cosines in (answers, others))
            yield embedder.generation.partition(":")[0], name, f"{threshold:.2f}", *shares


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("datasets", nargs="+", type=Path, metavar="DATASET")
    arguments.add_argument("--models", nargs="+", default=[*SETS], choices=[*SETS])
    given = arguments.parse_args()
    datasets = [load(path) for path in given.datasets]
    print_head("embedder", "dataset", "threshold", "answers", "others")
    for models in given.models:
        for row in measured(models, datasets):
            print_row(*row)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
