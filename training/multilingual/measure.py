"""Measure embedders across languages, on sets that nothing was trained on.

    python training/multilingual/measure.py FOLDER … [--data FOLDER]

Dense search alone: questions of one language over passages of the same or another language (XQuAD in English and
Chinese, JaQuAD), and the cross-lingual questions of the everyday worlds. Needs `memorist` installed and no torch.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memorist.models.embedders.local import OnnxEmbedder

ROOT = Path(__file__).parents[2]
EVERY = {"jaquad": 8}  # of so many questions, one is asked
PLACES = (1, 5, 10)
Gold = list[frozenset[int]]


@dataclass(frozen=True, slots=True)
class Passages:
    texts: list[str]
    questions: list[str]
    gold: Gold


def passages(folder: Path) -> Passages:
    texts = _rows(folder / "corpus.jsonl")
    places = {row["_id"]: place for place, row in enumerate(texts)}
    wanted: dict[str, set[int]] = {}
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        for question, text, gain in list(csv.reader(file, delimiter="\t"))[1:]:
            if float(gain) > 0:
                wanted.setdefault(question, set()).add(places[text])
    asked = _rows(folder / "queries.jsonl")[:: EVERY.get(folder.name, 1)]
    gold = [frozenset(wanted[row["_id"]]) for row in asked]
    return Passages([row["text"] for row in texts], [row["text"] for row in asked], gold)


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def measure(embedder: OnnxEmbedder, data: Path) -> Iterator[tuple[str, int, NDArray[np.float64]]]:
    """The name of a task, its questions, and for each of `PLACES` the share of the wanted texts in per cent."""
    vectors: dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]] = {}
    for name in ("xquad-en", "xquad-zh", "jaquad"):
        given = passages(data / "eval" / name)
        vectors[name] = embedder.embed(given.texts, purpose="memory"), embedder.embed(given.questions, purpose="query")
        yield name, len(given.gold), shares(vectors[name][1] @ vectors[name][0].T, given.gold)
    gold = passages(data / "eval/xquad-en").gold  # the same in both
    for asked, told in (("en", "zh"), ("zh", "en")):
        (own, questions), (other, _) = vectors[f"xquad-{asked}"], vectors[f"xquad-{told}"]
        yield f"{asked} asks, {told} answers", len(gold), shares(questions @ other.T, gold)
        moved = [frozenset(place + len(own) for place in places) for places in gold]
        both = np.concatenate([own, other])
        yield f"the same beside the passages in {asked}", len(gold), shares(questions @ both.T, moved)
    yield from everyday(embedder, sorted((data / "everyday").glob("world-*.json")))


def everyday(embedder: OnnxEmbedder, worlds: Sequence[Path]) -> Iterator[tuple[str, int, NDArray[np.float64]]]:
    found: dict[str, list[NDArray[np.float64]]] = {"all": [], "cross-lingual": []}
    for file in worlds:
        world = json.loads(file.read_text(encoding="utf-8"))
        told = embedder.embed([_turn(memory) for memory in world["memories"]], purpose="memory")
        places = {memory["id"]: place for place, memory in enumerate(world["memories"])}
        for question in world["questions"]:
            if question["gold"]:
                wanted = [frozenset(places[document] for document in question["gold"])]
                share = shares(embedder.embed([question["text"]], purpose="query") @ told.T, wanted)
                for name in {"all", question["type"]} & found.keys():
                    found[name].append(share)
    yield from ((f"everyday, {name}", len(rows), np.mean(rows, axis=0)) for name, rows in found.items())


def _turn(memory: dict[str, Any]) -> str:
    day = datetime.fromisoformat(memory["at"])
    return f"[{day.day} {day:%B} {day.year}] {memory['speaker']}: {memory['text']}"


def shares(cosines: NDArray[np.float32], gold: Gold) -> NDArray[np.float64]:
    order = np.argsort(-cosines, axis=1, kind="stable")
    rows = [
        [len(wanted & {*row[:count].tolist()}) / len(wanted) for count in PLACES]
        for row, wanted in zip(order, gold, strict=True)
    ]
    return 100 * np.mean(rows, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    options = parser.parse_args()
    for folder in options.folders:
        print(f"{folder.resolve().name}: {', '.join(f'recall@{count}' for count in PLACES)}")
        for name, questions, share in measure(OnnxEmbedder.from_folder(folder), options.data):
            print(f"  {name:40} {questions:5} {' '.join(f'{value:6.1f}' for value in share)}", flush=True)


if __name__ == "__main__":
    main()
