"""The statements, entities and dates found in conversations, and the time per turn.

    python benchmarks/extraction.py FOLDER [SAMPLE]   # a folder with corpus.jsonl, such as ../shared/data/eval/locomo

Prints the processor time per turn (median, 95th percentile, mean) for statements, entities and mentions, alone and
together, and the number of each by kind. With SAMPLE, it also prints that many random statements to check.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from common import options, rows

from memorist.remember.extract import Statement, entities, mentions, statements
from memorist.remember.extract.names import date_spans

SEED = 42


@dataclass(frozen=True, slots=True)
class Turn:
    text: str
    speaker: str | None
    at: datetime


def turns(folder: Path) -> list[Turn]:
    read = [(row["text"], row["metadata"]) for row in rows(folder / "corpus.jsonl")]
    return [
        Turn(text, meta.get("speaker"), datetime.fromisoformat(meta.get("at", "2024-01-01"))) for text, meta in read
    ]


def together(turn: Turn) -> None:
    dates = date_spans(turn.text, turn.at)
    mentions(turn.text, turn.at, dates=dates)
    entities(turn.text, dates=dates)
    said(turn)


def said(turn: Turn) -> list[Statement]:
    return statements(turn.text, speaker=turn.speaker, at=turn.at)


def timed(name: str, talk: list[Turn], work: Callable[[Turn], object]) -> None:
    taken: list[float] = []
    for turn in talk:
        start = time.thread_time()
        work(turn)
        taken.append(time.thread_time() - start)
    median, high = np.percentile(np.array(taken) * 1000, [50, 95])
    print(f"{name:12} median {median:.3f} ms, p95 {high:.3f} ms, mean {np.mean(taken) * 1000:.3f} ms")


def counts(title: str, found: Counter[str]) -> None:
    print(f"{title} {found.total()}: {', '.join(f'{kind} {count}' for kind, count in found.most_common(25))}")


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    arguments.add_argument("sample", type=int, nargs="?", default=0, metavar="SAMPLE")
    given = arguments.parse_args()
    talk = turns(given.folder)
    together(talk[0])  # the first text builds the date grammars
    timed("statements", talk, said)
    timed("entities", talk, lambda turn: entities(turn.text))
    timed("mentions", talk, lambda turn: mentions(turn.text, turn.at))
    timed("together", talk, together)
    stated = [one for turn in talk for one in said(turn)]
    print(f"{len(talk)} turns")
    counts("statements", Counter(one.fact.relation.split("_")[0] for one in stated))
    counts("entities", Counter(one.kind for turn in talk for one in entities(turn.text)))
    counts("mentions", Counter("dates" for turn in talk for _ in mentions(turn.text, turn.at)))
    for one in random.Random(SEED).sample(stated, min(len(stated), given.sample)):
        triple = f"{one.fact.subject} | {one.fact.relation} | {one.fact.object}"
        print(f"{'not ' if one.negated else ''}{triple}  <- {one.quote}")


if __name__ == "__main__":
    main()
