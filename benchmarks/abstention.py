"""Is the confidence of a recall worth anything? Questions put to their own conversation and to a wrong one.

    python benchmarks/abstention.py PATH/locomo [QUESTIONS]

Prints the AUROC (1 tells them apart, 0.5 does not), what abstaining costs and saves, and how far the stated chances
are from what happened, in ten classes. Vectors come from the cache of `memorist bench`.
"""

from __future__ import annotations

import random
from pathlib import Path

from common import options

from memorist.bench.cache import StoredEmbedder, default_folder
from memorist.bench.datasets import load
from memorist.bench.measures import abstention_auroc
from memorist.bench.model import Dataset, Question
from memorist.bench.space import Setup, Space
from memorist.models import embedders, rerankers
from memorist.recall.recipes import RECIPES

RECIPE = RECIPES["memorist"]


def main() -> None:
    """Ask, and print what came of it."""
    arguments = options(__doc__)
    arguments.add_argument("path", type=Path, metavar="PATH")
    arguments.add_argument(
        "questions", type=int, nargs="?", default=40, metavar="QUESTIONS", help="of each conversation"
    )
    given = arguments.parse_args()
    dataset = load(given.path)
    embedder = embedders.build("local")
    assert embedder is not None
    vectors = StoredEmbedder(embedder, default_folder(), queries=True)
    own, wrong = asked(dataset, given.questions, Setup(vectors, reranker=rerankers.build("auto"), limit=10))
    print(f"{dataset.name}: {len(own)} questions each way")
    print(f"AUROC {abstention_auroc([sure for sure, _ in own], [sure for sure, _ in wrong]):.3f}")
    for name, answers in (("own", own), ("wrong", wrong)):
        print(f"abstained, {name} conversation: {sum(gone for _, gone in answers) / len(answers):.1%}")
    calibration([sure for sure, _ in own], [sure for sure, _ in wrong])


def asked(dataset: Dataset, each: int, setup: Setup) -> tuple[list[tuple[float, bool]], list[tuple[float, bool]]]:
    """Confidence and abstention of as many questions a conversation, put to it and put to another one."""
    draw = random.Random(7)
    own: list[tuple[float, bool]] = []
    wrong: list[tuple[float, bool]] = []
    for group in dataset.groups:
        others = [one for other in dataset.groups if other is not group for one in other.questions]
        with Space(group, [RECIPE], setup) as space:
            own += [answered(space, one) for one in draw.sample(group.questions, min(each, len(group.questions)))]
            wrong += [answered(space, one) for one in draw.sample(others, min(each, len(group.questions)))]
    return own, wrong


def answered(space: Space, question: Question) -> tuple[float, bool]:
    found = space.recall(question, RECIPE.name)
    return found.confidence or 0.0, found.abstained


def calibration(own: list[float], wrong: list[float]) -> None:
    """Of the questions with about the same confidence, how many were put to their own conversation."""
    for low in range(10):
        inside = [
            (sure, is_own) for sures, is_own in ((own, 1), (wrong, 0)) for sure in sures if low <= sure * 10 < low + 1
        ]
        if inside:
            stated, true = (sum(pair[side] for pair in inside) / len(inside) for side in (0, 1))
            print(f"stated {stated:.2f}: true {true:.2f} ({len(inside)})")


if __name__ == "__main__":
    main()
