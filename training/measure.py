"""Measure a finished embedder, and a reranker after it, on sets that nothing was trained or chosen on.

    python training/measure.py FOLDER [--reranker FOLDER] [--every N] [--sets locomo …] [--eval FOLDER]

Dense search alone, without keywords or any other signal, each group by itself. Needs `memorist` installed and
no torch.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from render import Turn, memory

from memorist.models.embedders.local import OnnxEmbedder
from memorist.models.rerankers.local import CrossReranker

ROOT = Path(__file__).parents[1]
CHATS = ("locomo", "realtalk", "beam")
SETS = (*CHATS, "scifact", "nfcorpus")
RESAMPLES = 1000
CANDIDATES = 30
SEARCHED, READ = "larger of alone and before", "before"
WEIGHTS = (0.0, 0.3, 1.0)


@dataclass(frozen=True, slots=True)
class Group:
    """Texts that are searched together, in every view, with their queries."""

    views: dict[str, list[str]]
    queries: list[str]
    gains: list[dict[int, float]]


def read(folder: Path) -> list[Group]:
    documents: dict[str, list[dict[str, Any]]] = {}
    for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        documents.setdefault(row["metadata"].get("group", ""), []).append(row)
    gains: dict[str, dict[str, float]] = {}
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        for query, document, gain in list(csv.reader(file, delimiter="\t"))[1:]:
            if float(gain) > 0:
                gains.setdefault(query, {})[document] = float(gain)
    queries: dict[str, list[dict[str, Any]]] = {}
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["_id"] in gains:
            queries.setdefault(row["metadata"].get("group", ""), []).append(row)
    return [_group(documents[name], asked, gains, folder.name in CHATS) for name, asked in queries.items()]


def _group(
    documents: list[dict[str, Any]], asked: list[dict[str, Any]], gains: dict[str, dict[str, float]], chat: bool
) -> Group:
    places = {row["_id"]: place for place, row in enumerate(documents)}
    wanted = [{places[id]: gain for id, gain in gains[row["_id"]].items() if id in places} for row in asked]
    pairs = [(row["text"], gain) for row, gain in zip(asked, wanted, strict=True) if gain]
    return Group(_views(documents, chat), [text for text, _ in pairs], [gain for _, gain in pairs])


def _views(documents: list[dict[str, Any]], chat: bool) -> dict[str, list[str]]:
    turns = [Turn(f"{row['title']} {row['text']}".strip()) for row in documents]
    if not chat:
        return {"alone": [turn.text for turn in turns]}
    sessions = [row["metadata"].get("session") for row in documents]
    views: dict[str, list[str]] = {"alone": [], "before": [], "both": []}
    for place, turn in enumerate(turns):
        date = _date(documents[place]["metadata"].get("at"))
        before, after = (
            turns[other] if 0 <= other < len(turns) and sessions[other] == sessions[place] else None
            for other in (place - 1, place + 1)
        )
        views["alone"].append(memory(turn, date))
        views["before"].append(memory(turn, date, before))
        views["both"].append(memory(turn, date, before, after))
    return views


def _date(at: str | None) -> str | None:
    if at is None:
        return None
    day = datetime.fromisoformat(at)
    return f"{day.day} {day:%B} {day.year}"


def scores(embedder: OnnxEmbedder, group: Group) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """A row a query, by view; for two views also their larger cosine."""
    queries = embedder.embed(group.queries, purpose="query")
    cosines = {view: queries @ embedder.embed(texts, purpose="memory").T for view, texts in group.views.items()}
    yield from cosines.items()
    for view in list(cosines)[1:]:
        yield f"larger of alone and {view}", np.maximum(cosines["alone"], cosines[view])


def reranked(
    reranker: CrossReranker, group: Group, cosines: NDArray[np.float32]
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """The first thirty by z(reranker) + weight · z(cosine); the rest stay behind them."""
    texts = group.views.get(READ, group.views["alone"])
    results = {weight: cosines - 100 for weight in WEIGHTS}
    for place, query in enumerate(group.queries):
        best = np.argsort(-cosines[place], kind="stable")[:CANDIDATES]
        logits = np.array(reranker.score(query, [texts[unit] for unit in best]))
        for weight, rows in results.items():
            rows[place, best] = _standard(logits) + weight * _standard(cosines[place, best])
    yield from ((f"reranked, weight {weight}", rows) for weight, rows in results.items())


def _standard(values: NDArray[np.floating]) -> NDArray[np.floating]:
    return (values - values.mean()) / (values.std() + 1e-9)


def thinned(group: Group, every: int) -> Group:
    """Every nth query."""
    return Group(group.views, group.queries[::every], group.gains[::every])


def measures(row: NDArray[np.float32], gains: dict[int, float]) -> tuple[float, float, float, float]:
    """Recall@10, any@5, reciprocal rank, nDCG@10."""
    order = np.argsort(-row, kind="stable").tolist()
    places = [place for place, document in enumerate(order) if document in gains]
    gained = sum(gains[order[place]] / math.log2(place + 2) for place in places if place < 10)
    best = sum(gain / math.log2(place + 2) for place, gain in enumerate(sorted(gains.values(), reverse=True)[:10]))
    return sum(place < 10 for place in places) / len(gains), float(places[0] < 5), 1 / (places[0] + 1), gained / best


def interval(values: NDArray[np.float64]) -> float:
    """Half the width of the 95 % bootstrap interval of the mean."""
    draw = np.random.default_rng(7)
    means = values[draw.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    return float(np.subtract(*np.percentile(means, (97.5, 2.5)))) / 2


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reranker", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take every nth query")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--eval", type=Path, default=ROOT.parent / "shared/data/eval")
    options = parser.parse_args(arguments)
    embedder = OnnxEmbedder.from_folder(options.folder)
    reranker = CrossReranker.from_folder(options.reranker) if options.reranker else None
    print("| set | view | recall@10 | any@5 | MRR | nDCG@10 |\n|---|---|---|---|---|---|")
    for name in options.sets:
        started = time.monotonic()
        found: dict[str, list[tuple[float, ...]]] = {}
        for whole in read(options.eval / name):
            group = thinned(whole, options.every)
            views = dict(scores(embedder, group))
            if reranker is not None:
                views |= dict(reranked(reranker, group, views.get(SEARCHED, views["alone"])))
            for view, rows in views.items():
                found.setdefault(view, []).extend(map(measures, rows, group.gains))
        show(name, found)
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)


def show(name: str, found: dict[str, list[tuple[float, ...]]]) -> None:
    """A row a view."""
    for view, values in found.items():
        table = 100 * np.array(values)
        recall = f"{table[:, 0].mean():.1f} ± {interval(table[:, 0]):.1f}"
        rest = " | ".join(f"{value:.1f}" for value in table[:, 1:].mean(axis=0))
        print(f"| {name}, {len(values)} | {view} | {recall} | {rest} |", flush=True)


if __name__ == "__main__":
    main()
