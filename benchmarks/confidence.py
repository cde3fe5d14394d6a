"""Is the confidence of a recall what it says? Questions with their answers, recorded once and judged.

    python benchmarks/confidence.py fit FOLDER [DATA...]     record what is not in FOLDER yet, fit, and report
    python benchmarks/confidence.py report FOLDER [DATA...]  the same without a fit, with the constants as they are
    python benchmarks/confidence.py diagram FOLDER           stated and true shares of worlds that were not fitted on

The constants of `judge` and `confidence` are fitted on the worlds of `training/everyday/worlds` that no model was
trained on; what is said of them comes from constants fitted on other worlds. DATA are datasets of the bench, which are
only measured. Every store is also asked questions of others, and some that have nothing to do with it: neither has an
answer there. A line of a record is a question with what was found of its first 60 candidates, so a fit takes seconds.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
from common import options
from numpy.typing import NDArray

from memorist.model import Evidence
from memorist.models import embedders, rerankers
from memorist.recall.persons import asked_about, of_others
from memorist.recall.recipes import RECIPES
from memorist.recall.rerank import ANSWERS
from memorist.recall.select import FIRST, Confidence, Judge, confidence_of
from memorist.recall.stage import Candidate
from memorist.text.chatter import question_in
from memorist_bench.datasets import load
from memorist_bench.measures import abstention_auroc
from memorist_bench.model import Dataset, Document, Group, Question
from memorist_bench.space import Setup, Space

RECIPE = RECIPES["memorist"]
[JUDGE] = [stage for stage in RECIPE.stages if isinstance(stage, Judge)]
[CONFIDENCE] = [stage for stage in RECIPE.stages if isinstance(stage, Confidence)]
HELD = "worlds"
MOST, DEPTH, OWN, ELSEWHERE, UNRELATED = 60, 60, "own", "elsewhere", "unrelated"
AWAY = 5
"""How many questions of others a store is asked."""
GENERAL = (
    "What is the boiling point of tungsten?",
    "Who won the 1966 World Cup?",
    "How do I reverse a list in Python?",
    "What is the capital of Mongolia?",
    "When was the Treaty of Westphalia signed?",
    "Explain how photosynthesis works",
    "Which protein folds the hemoglobin?",
    "What port does PostgreSQL listen on by default?",
    "Who painted the ceiling of the Sistine Chapel?",
    "How deep is the Mariana Trench?",
)
FOLDS, CLASSES, ITEMS = 5, 10, 10
WRONGLY = 0.02
"""The share of the answerable questions of the worlds that may be refused."""
Row = dict[str, Any]
Floats = NDArray[np.float64]


def main() -> None:
    """Record, then fit, report or draw."""
    arguments = options(__doc__)
    arguments.add_argument("step", choices=("fit", "report", "diagram"))
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    arguments.add_argument("data", nargs="*", metavar="DATA")
    arguments.add_argument("--worlds", type=int, default=None, metavar="N", help="only the first worlds")
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    worlds, *sets = (recorded(given.folder, name, given.worlds) for name in (HELD, *given.data))
    if given.step == "diagram":
        return diagram(crossed(worlds))
    judge, confidence = fit(worlds) if given.step == "fit" else (JUDGE, CONFIDENCE)
    said = {Path(name).name: stated(rows, judge, confidence) for name, rows in zip(given.data, sets, strict=True)}
    said = {HELD: crossed(worlds), **said}
    return report(said, confidence.least)


# Recording


def held(most: int | None) -> Dataset:
    """The worlds in `training/everyday/worlds` that no model was trained on."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
    import worlds

    found = [(world, day) for file in sorted(worlds.FOLDER.glob("*.txt")) for world, day in dated(worlds, file)]
    return Dataset(HELD, tuple(group_of(world, day) for world, day in found if world.held)[:most], "")


def dated(worlds: Any, file: Path) -> Iterator[tuple[Any, str]]:
    """The worlds of a file, each with the day of its questions."""
    return zip(worlds.read(file), re.findall(r"^now (\S+)", file.read_text("utf-8"), re.MULTILINE), strict=True)


def group_of(world: Any, day: str) -> Group:
    """A world as the bench knows them; each wording is a question."""
    documents = tuple(
        Document(str(place), one.turn.text, noon(one.day.isoformat()), one.turn.speaker)
        for place, one in enumerate(world.memories)
    )
    questions = tuple(
        Question(f"{number}/{place}", text, dict.fromkeys(map(str, one.answers), 1.0), at=noon(day), type=one.kind)
        for number, one in enumerate(world.questions)
        for place, text in enumerate(one.wordings)
    )
    return Group(world.name, documents, questions, conversation=False)


def noon(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)


def recorded(folder: Path, source: str, most: int | None) -> list[Row]:
    """The lines of a record that a reader judged; made if there is none."""
    file = folder / f"{Path(source).name}.jsonl"
    if not file.exists():
        part = file.with_suffix(".part")
        dataset = held(most) if source == HELD else load(source)
        part.write_text("".join(f"{json.dumps(row)}\n" for row in answers(dataset)), "utf-8")
        part.rename(file)
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [row for row in rows if any(ANSWERS in item["found"] for item in row["items"])]


def answers(dataset: Dataset) -> Iterator[Row]:
    """Every store's own questions, at most 60 of each, those of others, and those that no store can answer."""
    setup = Setup(embedders.build("local"), reranker=rerankers.build("auto"), limit=DEPTH)
    draw = random.Random(7)
    for group in dataset.groups:
        own = group.questions if len(group.questions) <= MOST else draw.sample(group.questions, MOST)
        others = [
            question for away in dataset.groups if away is not group for question in away.questions if question.gold
        ]
        wrong = [
            replace(question, gold={}, at=None, as_of=None) for question in draw.sample(others, min(AWAY, len(others)))
        ]
        none = [Question(text, text, {}) for text in GENERAL]
        with Space(group, [RECIPE], setup) as space:
            for kind, asked in ((OWN, own), (ELSEWHERE, wrong), (UNRELATED, none)):
                for question in asked:
                    yield {"group": group.name, "kind": kind, **recalled(space, question)}


def recalled(space: Space, question: Question) -> Row:
    """A recall as a line of the record."""
    found = space.recall(question, RECIPE.name)
    gold = {id for id, grade in question.gold.items() if grade > 0} if question.answerable else set[str]()
    named = asked_about(question_in(question.text), [item.memory.origin.speaker for item in found.items])
    others = of_others([Candidate(item.memory, item.score) for item in found.items], named)
    items = [
        {
            "found": {name: (item.signals[name].score, item.signals[name].norm) for name in USED & set(item.signals)},
            "other": other,
            "right": not gold.isdisjoint(space.documents(item.memory)),
        }
        for item, other in zip(found.items, others, strict=True)
    ]
    return {"question": question.id, "answerable": bool(gold), "items": items}


USED = {"vector", *JUDGE.weights}


# Judging


def evidence(row: Row) -> list[Mapping[str, Evidence]]:
    found = [{name: Evidence(1, *pair) for name, pair in item["found"].items()} for item in row["items"]]
    return list(JUDGE.completed(found))


def stated(rows: Sequence[Row], judge: Judge, confidence: Confidence) -> list[Row]:
    """The lines with their probabilities and confidence."""
    said: list[Row] = []
    for row in rows:
        chances = judge.probabilities(evidence(row), [item["other"] for item in row["items"]])
        said.append(row | {"chances": chances, "confidence": confidence_of(chances[:FIRST], confidence.apart)})
    return said


def right(row: Row) -> bool:
    return any(item["right"] for item in row["items"][:FIRST])


# Fitting


def fit(rows: Sequence[Row]) -> tuple[Judge, Confidence]:
    """The stages with constants fitted on all worlds, printed."""
    judge, confidence = fitted(rows)
    weights = ", ".join(f"{name} = {value:.2f}" for name, value in judge.weights.items())
    print(f"judge: bias {judge.bias:.2f}, weights {{ {weights} }}, fall {judge.fall:.2f}, far {judge.far:.0f}")
    print(f"confidence: apart {confidence.apart:.1f}, least {confidence.least:.2f}\n")
    return judge, confidence


def crossed(rows: Sequence[Row]) -> list[Row]:
    """The lines with what constants say that were fitted on other worlds."""
    names = sorted({row["group"] for row in rows})
    said: list[Row] = []
    for fold in range(FOLDS):
        out = set(names[fold::FOLDS])
        stages = fitted([row for row in rows if row["group"] not in out])
        said += stated([row for row in rows if row["group"] in out], *stages)
    return said


def fitted(rows: Sequence[Row]) -> tuple[Judge, Confidence]:
    """The most likely probabilities, then the most likely confidence of own questions; speakers lose as before."""
    bias, weights, fall, far = regression(rows)
    judge = replace(JUDGE, bias=bias, weights=weights, fall=fall, far=far)
    judged = [row for row in stated(rows, judge, CONFIDENCE) if row["kind"] == OWN]
    best = min(np.arange(1.0, 4.05, 0.2), key=lambda apart: surprise(judged, float(apart)))
    confidence = replace(CONFIDENCE, apart=round(float(best), 1))
    sure = [row["confidence"] for row in stated(rows, judge, confidence) if row["answerable"]]
    return judge, replace(confidence, least=floor(100 * np.quantile(sure, WRONGLY)) / 100)


def regression(rows: Sequence[Row], steps: int = 30) -> tuple[float, dict[str, float], float, float]:
    """A logistic regression of right on the evidence of the first items, by Newton's method."""
    names = list(JUDGE.weights)
    inputs = np.vstack([features(row, names) for row in rows])
    lost = np.concatenate([np.full(len(row["items"][:ITEMS]), loss(row)) for row in rows])
    truth = np.array([float(item["right"]) for row in rows for item in row["items"][:ITEMS]])
    weights = np.zeros(inputs.shape[1])
    for _ in range(steps):
        chance = 1 / (1 + np.exp(lost - inputs @ weights))
        slope = inputs.T @ (chance - truth) + 1e-3 * weights
        bend = (inputs * (chance * (1 - chance))[:, None]).T @ inputs + 1e-3 * np.eye(len(weights))
        weights = weights - np.linalg.solve(bend, slope)
    bias, fall, far, *rest = (round(float(weight), 2) for weight in weights)
    return bias, dict(zip(names, rest, strict=True)), fall, far


def features(row: Row, names: Sequence[str]) -> Floats:
    """One line per item: 1, minus the logarithm of the rank, minus what the closest text misses, the evidence."""
    found = evidence(row)
    missed = replace(JUDGE, far=1.0).of_distance(found)
    alone = [replace(JUDGE, weights={name: 1.0}) for name in names]
    return np.array(
        [
            (1.0, -np.log(rank), -missed, *(stage.evidence(one) for stage in alone))
            for rank, one in enumerate(found[:ITEMS], 1)
        ]
    )


def loss(row: Row) -> float:
    return JUDGE.of_others(evidence(row), [item["other"] for item in row["items"]])


def surprise(rows: Sequence[Row], apart: float) -> float:
    """The mean −ln of the probability that was stated for what turned out."""
    sure = np.clip([confidence_of(row["chances"][:FIRST], apart) for row in rows], 1e-4, 1 - 1e-4)
    return float(np.mean(-np.log(np.where([right(row) for row in rows], sure, 1 - sure))))


# Reporting


def classes(said: Sequence[float], true: Sequence[bool]) -> Iterator[tuple[int, int, float, float]]:
    """Of each tenth: its place, how many there are, the mean stated probability, and the share that is true."""
    for low in range(CLASSES):
        inside = [n for n, one in enumerate(said) if min(CLASSES - 1, int(one * CLASSES)) == low]
        if inside:
            mean, share = (float(np.mean([row[n] for n in inside])) for row in (said, true))
            yield low, len(inside), mean, share


def error(said: Sequence[float], true: Sequence[bool]) -> float:
    """The expected calibration error: |stated − true| of ten classes, weighted by their size."""
    return sum(count * abs(mean - share) for _, count, mean, share in classes(said, true)) / len(said)


def items_of(rows: Sequence[Row]) -> tuple[list[float], list[bool]]:
    """The probabilities of the first ten items, and whether each is an answer."""
    pairs = [pair for row in rows for pair in zip(row["chances"][:ITEMS], row["items"][:ITEMS], strict=True)]
    return [chance for chance, _ in pairs], [item["right"] for _, item in pairs]


COLUMNS = (
    *("", "questions", "error: confidence", "error: items", "AUROC: answerable", "AUROC: right in five"),
    *("AUROC: right in five, all", "AUROC: first is right", "refused: answerable", "not answerable"),
    *("asked elsewhere", "unrelated"),
)


def report(sets: dict[str, list[Row]], least: float) -> None:
    """A table with one line per set; `all` includes the questions that the store cannot answer."""
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for name, rows in sets.items():
        own = [row for row in rows if row["kind"] == OWN]
        cells = [
            f"{len(own):,}",
            f"{error([row['confidence'] for row in own], [right(row) for row in own]):.3f}",
            f"{error(*items_of(own)):.3f}",
            separated([(row["confidence"], row["answerable"]) for row in own]),
            separated([(row["confidence"], right(row)) for row in own]),
            separated([(row["confidence"], right(row)) for row in rows]),
            separated([(row["chances"][0], row["items"][0]["right"]) for row in own]),
            refused([row for row in own if row["answerable"]], least),
            refused([row for row in own if not row["answerable"]], least),
            *(refused([row for row in rows if row["kind"] == kind], least) for kind in (ELSEWHERE, UNRELATED)),
        ]
        print(f"| {name} | {' | '.join(cells)} |")


def separated(rows: Sequence[tuple[float, bool]]) -> str:
    yes, no = ([sure for sure, true in rows if true is wanted] for wanted in (True, False))
    return f"{abstention_auroc(yes, no):.3f}" if yes and no else "–"


def refused(rows: Sequence[Row], least: float) -> str:
    return f"{np.mean([row['confidence'] < least for row in rows]):.1%}" if rows else "–"


def diagram(rows: Sequence[Row]) -> None:
    """What is stated and what is true, for recalls and for items."""
    recalls = [row["confidence"] for row in rows], [right(row) for row in rows]
    sure, each = ({low: rest for low, *rest in classes(*pair)} for pair in (recalls, items_of(rows)))
    print("| stated | recalls | an answer in the first five | items | answers |\n|---|---|---|---|---|")
    for low in range(CLASSES):
        cells = [*cell(sure.get(low)), *cell(each.get(low))]
        print(f"| {low / CLASSES:.1f} to {(low + 1) / CLASSES:.1f} | {' | '.join(cells)} |")
    print(f"\nexpected calibration error: {error(*recalls):.3f} of recalls, {error(*items_of(rows)):.3f} of items")


def cell(found: Sequence[float] | None) -> tuple[str, str]:
    return ("–", "–") if found is None else (f"{found[0]:,}", f"{found[2]:.0%} {'█' * round(10 * found[2])}")


if __name__ == "__main__":
    main()
