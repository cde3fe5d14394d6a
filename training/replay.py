"""Judge a list reader on recorded recalls: the first candidates of the recipe, read again.

    python training/replay.py record FILE.jsonl SET…      `held` (our held-out worlds) or datasets of the bench
    python training/replay.py judge FILE.jsonl MODEL …     `packaged`, or the files of list readers

A line of a record is a question with its first candidates as the stage `read_together` would meet them, so that a model
is judged in seconds. SET may end with a number of questions: `…/locomo:400`.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import render
from read_lists import ReadList
from render import Turn

DEPTHS, WEIGHTS = (5,), (1.5,)  # those of the recipe; more to choose among them
KEPT = 14  # candidates of a line
SHORT = 60  # characters of a turn that is read with the turn before
WRONGLY = 0.02  # answerable questions that may be refused
KINDS = ("update", "preference", "temporal", "history", "paraphrase", "direct", "multi")
Row = dict[str, Any]


# Recording


def record(file: Path, sets: Sequence[str]) -> None:
    """Ask every question of the sets, without the stage, and write what it would be given."""
    with file.open("w", encoding="utf-8") as out:
        for name in sets:
            for row in asked(name):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


def asked(name: str) -> Iterator[Row]:
    from memorist.models import embedders, rerankers
    from memorist.recall.recipes import RECIPES
    from memorist_bench.datasets import load
    from memorist_bench.runner import narrow_dataset
    from memorist_bench.space import Setup, Space

    path, _, most = name.partition(":")
    dataset = held() if path == "held" else load(path)
    dataset = narrow_dataset(dataset, questions=int(most)) if most else dataset
    recipe = RECIPES["memorist"].without("read_together")
    setup = Setup(embedders.build("local"), reranker=rerankers.build("auto"), limit=KEPT)
    stale = stale_of(Path(path))
    for group in dataset.groups:
        with Space(group, [recipe], setup) as space:
            for question in group.questions:
                found = space.recall(question, recipe.name)
                items = [item for item in found.items if space.documents(item.memory)]
                before = space.engine.store.neighbours([item.memory.id for item in items], 1, 0)
                yield {
                    "set": Path(path).stem,
                    "query": question.text,
                    "now": space.moment(question).isoformat(),
                    "type": question.type,
                    "gold": sorted(question.gold) if question.answerable else [],
                    "stale": stale.get(question.id, []),
                    "confidence": found.confidence or 0.0,
                    "candidates": [_candidate(space, item, before.get(item.memory.id, ())[:-1]) for item in items],
                }


def _candidate(space: Any, item: Any, before: Sequence[Any]) -> Row:
    memory = item.memory
    return {
        "ids": sorted(space.documents(memory)),
        "score": item.score,
        "at": memory.times.valid_from.isoformat(),
        "text": memory.text,
        "speaker": memory.origin.speaker,
        "before": [before[0].text, before[0].origin.speaker] if before else None,
    }


def held() -> Any:
    """The held-out worlds as a dataset, as the fit of the confidence asks them."""
    import sys

    sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
    import confidence

    return confidence.held(None)


def stale_of(folder: Path) -> dict[str, list[str]]:
    """The outdated answers that a dataset names, by question."""
    file = folder / "queries.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    return {query["_id"]: query.get("metadata", {}).get("outdated", []) for query in map(json.loads, lines)}


# Judging


def rows(file: Path) -> list[Row]:
    """The lines of a record that have candidates."""
    found = map(json.loads, file.read_text("utf-8").splitlines())
    return [row for row in found if row["candidates"]]


def day(text: str) -> str:
    at = datetime.fromisoformat(text)
    return f"{at.day} {at:%B} {at.year}"


def shown(candidate: Row) -> str:
    """A candidate as the engine writes it for the reader."""
    before = Turn(*candidate["before"]) if candidate["before"] and len(candidate["text"]) <= SHORT else None
    return render.memory(Turn(candidate["text"], candidate["speaker"]), day(candidate["at"]), before)


def listed(row: Row, depth: int) -> tuple[ReadList, list[Row]]:
    """The first candidates, oldest first, as a list to read."""
    some = sorted(row["candidates"][:depth], key=lambda candidate: candidate["at"])
    unknown = [False] * len(some)
    return ReadList(f"[{day(row['now'])}] {row['query']}", list(map(shown, some)), unknown, unknown), some


def measures(records: Sequence[Row], orders: Sequence[Sequence[Row]], sure: Sequence[float]) -> dict[str, float]:
    """How often the first is right, among five, by kind; how often an outdated one comes first; and how sure it is."""
    known = [(row, order) for row, order in zip(records, orders, strict=True) if row["gold"]]
    ranks = [_first(order, row["gold"]) for row, order in known]
    found = {
        "n": len(known),
        "right@1": np.mean([rank == 1 for rank in ranks]),
        "right@5": np.mean([rank <= 5 for rank in ranks]),
        "MRR": np.mean([1 / rank for rank in ranks]),
    }
    for kind in KINDS:
        of_kind = [rank == 1 for (row, _), rank in zip(known, ranks, strict=True) if row["type"] == kind]
        found |= {kind: np.mean(of_kind)} if of_kind else {}
    stale = [(row, order) for row, order in known if _first(order, row["stale"]) < np.inf]
    if stale:
        found["outdated first"] = np.mean([_first(o, row["stale"]) < _first(o, row["gold"]) for row, o in stale])
    yes, no = ([s for row, s in zip(records, sure, strict=True) if bool(row["gold"]) is side] for side in (True, False))
    if no:
        high, low = np.array(yes)[:, None], np.array(no)[None]
        found["AUROC"] = ((high > low) + (high == low) / 2).mean()
        found["refused"] = np.mean(np.array(no) < np.quantile(yes, WRONGLY))
    return {name: round(float(value), 3) for name, value in found.items()}


def _first(order: Sequence[Row], wanted: Sequence[str]) -> float:
    """The rank of the first candidate that is one of the wanted documents; infinite if none is."""
    return next((n for n, candidate in enumerate(order, 1) if not set(candidate["ids"]).isdisjoint(wanted)), np.inf)


Read = Callable[[Sequence[ReadList]], Sequence[tuple[np.ndarray, float] | None]]
"""For each list, a row of three logits for each memory and the logit of the question; None where it is not read."""


def judge(name: str, read: Read, records: Sequence[Row]) -> None:
    """Print the measures of every set, at several depths and weights of the score before."""
    places = defaultdict[str, list[int]](list)
    for place, row in enumerate(records):
        places[row["set"]].append(place)

    def show(title: str, orders: Sequence[Sequence[Row]], sure: Sequence[float]) -> None:
        for set_, some in places.items():
            found = measures([records[p] for p in some], [orders[p] for p in some], [sure[p] for p in some])
            print(f"{title} {set_}: {json.dumps(found)}", flush=True)

    show("before", [row["candidates"] for row in records], [row["confidence"] for row in records])
    for depth in DEPTHS:
        made = [listed(row, depth) for row in records]
        said = read([read_list for read_list, _ in made])
        known = [
            row["confidence"] if reading is None else reading[1] for row, reading in zip(records, said, strict=True)
        ]
        for weight in WEIGHTS:
            orders = [
                row["candidates"]
                if reading is None
                else [*_order(some, reading[0], weight), *row["candidates"][depth:]]
                for row, (_, some), reading in zip(records, made, said, strict=True)
            ]
            show(f"{name} depth {depth} weight {weight}", orders, known)


def _order(some: Sequence[Row], logits: np.ndarray, weight: float) -> list[Row]:
    """As the stage orders them."""
    scores = np.array([candidate["score"] for candidate in some])
    fits = logits[:, 0] - np.logaddexp.reduce(logits[:, 0]) - 1 / (1 + np.exp(-logits[:, 2]))
    values = fits + weight * (scores - scores.mean()) / (scores.std() + 0.05)
    return [some[place] for place in np.argsort(-values, kind="stable")]


def packaged(lists: Sequence[ReadList]) -> list[tuple[np.ndarray, float] | None]:
    """What the packaged reader says."""
    from memorist.errors import ModelUnavailable
    from memorist.models.rerankers import build
    from memorist.ports import list_reading_of

    reranker, found = build("auto"), []
    assert reranker is not None
    for read_list in lists:
        try:
            said = list_reading_of(reranker, read_list.query, read_list.texts)
        except ModelUnavailable:  # another language
            said = None
        found.append(None if said is None else (np.array(said.texts), said.known))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("record", "judge"))
    parser.add_argument("file", type=Path)
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--given", type=Path, default=Path(__file__).parents[1] / "build/given")
    options = parser.parse_args()
    if options.step == "record":
        return record(options.file, options.names)
    for name in options.names:
        judge(
            Path(name).stem, packaged if name == "packaged" else learnt(Path(name), options.given), rows(options.file)
        )


def learnt(file: Path, given: Path) -> Read:
    """What a list reader in a file of weights says."""
    import torch
    from list_reader import ListScorer, read
    from recipe import Workshop, load_weights

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    shop = Workshop(given, given, device)
    model = ListScorer(shop.reranker("reranker-best").encoder)
    load_weights(model, file)
    model.to(device).eval()
    return lambda lists: read(model, lists, shop.tokenizer, device)


if __name__ == "__main__":
    main()
