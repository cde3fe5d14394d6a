"""What the rules that understand a question are worth, on a dataset in BEIR's layout.

    python benchmarks/understanding.py FOLDER    # such as ../shared/data/eval/locomo

Prints the modes found per type of question; BM25's recall@10 and any@5 with the words of `expand_query` at several
weights; and the share of the answers' words that `extractive_summary` finds in the first 20 texts of BM25.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import about, judged, options, rows
from numpy.typing import NDArray

from memorist.recall.understand import expand_query, extractive_summary, query_mode
from memorist.text.words import idf, length_norm, query_words, stem_all, weight, words

WEIGHTS = (0.0, 0.3, 0.5, 1.0)


def stems(text: str) -> list[str]:
    return stem_all(query_words(text), "en")


class Texts:
    """The texts that one group of questions is asked of, ranked by BM25."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.ids, self.texts = list(texts), list(texts.values())
        counts = [Counter(stem_all(words(text), "en")) for text in self.texts]
        lengths = np.array([float(count.total()) for count in counts])
        self.norms = length_norm(lengths, float(lengths.mean()))
        postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, count in enumerate(counts):
            for word, times in count.items():
                postings[word].append((at, times))
        self.postings = {word: np.array(found) for word, found in postings.items()}

    def rank(self, query: Mapping[str, float], limit: int) -> list[int]:
        scores: NDArray[np.float64] = np.zeros(len(self.ids))
        for word, share in query.items():
            if (found := self.postings.get(word)) is not None:
                at, times = found.T
                scores[at] += share * idf(len(self.ids), len(at)) * weight(times.astype(float), self.norms[at])
        best = np.argsort(-scores, kind="stable")[:limit]
        return [at for at in best.tolist() if scores[at] > 0]


@dataclass(frozen=True)
class Question:
    text: str
    type: str
    answer: str
    gold: frozenset[str]
    texts: Texts


def load(folder: Path) -> list[Question]:
    groups: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in rows(folder / "corpus.jsonl"):
        stamp = f"[{about(row, 'date')}] " if about(row, "date") else ""
        groups[about(row, "group")][row["_id"]] = f"{stamp}{row['text']}"
    gold = judged(folder)
    texts = {name: Texts(found) for name, found in groups.items()}
    return [
        Question(
            row["text"],
            about(row, "type"),
            about(row, "answer"),
            frozenset(gold[row["_id"]]),
            texts[about(row, "group")],
        )
        for row in rows(folder / "queries.jsonl")
        if gold[row["_id"]]
    ]


def modes(questions: list[Question]) -> None:
    table: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for question in questions:
        table[question.type][query_mode(question.text)] += 1
    for name, found in table.items():
        print(f"{name or 'all'}: {', '.join(f'{mode} {count}' for mode, count in found.most_common())}")


def expansion(questions: list[Question], share: float) -> None:
    found: list[float] = []
    hits: list[bool] = []
    for question in questions:
        query = dict.fromkeys(stem_all(list(expand_query(question.text)), "en"), share) | dict.fromkeys(
            stems(question.text), 1.0
        )
        ids = [question.texts.ids[at] for at in question.texts.rank(query, 10)]
        found.append(len(question.gold.intersection(ids)) / len(question.gold))
        hits.append(not question.gold.isdisjoint(ids[:5]))
    print(f"expansion × {share:g}: recall@10 {np.mean(found):.1%}, any@5 {np.mean(hits):.1%}")


def summaries(questions: list[Question]) -> None:
    shares: list[float] = []
    for question in questions[::3]:
        wanted = set(stems(question.answer)) - set(stems(question.text))
        if wanted:
            first = [
                question.texts.texts[at] for at in question.texts.rank(dict.fromkeys(stems(question.text), 1.0), 20)
            ]
            said = extractive_summary(question.text, first) or ""
            shares.append(len(wanted.intersection(stems(said))) / len(wanted))
    if shares:
        print(f"three sentences hold {np.mean(shares):.1%} of the answers' words ({len(shares)} questions)")


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    questions = load(arguments.parse_args().folder)
    modes(questions)
    for share in WEIGHTS:
        expansion(questions, share)
    summaries(questions)


if __name__ == "__main__":
    main()
