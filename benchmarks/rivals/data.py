"""The texts, vectors and questions that every store gets, and the true answers; made once and kept in a folder.

The first 20,000 texts are real: turns of LoCoMo, REALTALK and BEAM and first-person sentences of the training set, at
most 500 characters of each, with vectors by the packaged embedder. Every further text is one of them with two in five
of its longer words replaced, and its vector is that text's, moved by half the difference of two other real vectors, so
that its directions are spread as those of real vectors are. No text occurs twice, and none holds a secret, which
Memorist would mask. The memories of a smaller size are the first of a larger one.
"""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
REAL, QUESTIONS, BEST, DIM = 20_000, 100, 10, 384
TURNS = ("locomo", "realtalk", "beam")
FIRST_PERSON = ("reddit", "amazon", "tweet")
SHORTEST, LONGEST = 20, 500
REPLACED, MOVED = 0.4, 0.5
PAGE = 10_000


@dataclass(frozen=True)
class Page:
    """Some memories in a row, the first of them with the number `start`."""

    start: int
    texts: Sequence[str]
    vectors: Vectors


class Data:
    """The kept texts, vectors and questions; `make` makes as many as are missing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._texts = folder / "texts.jsonl"

    @property
    def questions(self) -> list[str]:
        return json.loads((self._folder / "questions.json").read_text(encoding="utf-8"))

    @property
    def probes(self) -> Vectors:
        """The vectors of the questions."""
        return np.load(self._folder / "probes.npy")

    def pages(self, size: int, rows: int = PAGE) -> Iterator[Page]:
        vectors = np.load(self._folder / "vectors.npy", mmap_mode="r")
        with self._texts.open(encoding="utf-8") as lines:
            for start in range(0, size, rows):
                some = [json.loads(line) for line in islice(lines, min(rows, size - start))]
                yield Page(start, some, np.array(vectors[start : start + len(some)]))

    def answers(self, size: int) -> list[list[str]]:
        """The texts of the true best ten for each question."""
        kept = self._folder / f"best-{size}.json"
        if not kept.exists():
            places = best_ten(self.probes, self.pages(size))
            wanted = set(places.ravel().tolist())
            with self._texts.open(encoding="utf-8") as lines:
                texts = {place: json.loads(line) for place, line in enumerate(lines) if place in wanted}
            kept.write_text(json.dumps([[texts[place] for place in row] for row in places.tolist()]), encoding="utf-8")
        return json.loads(kept.read_text(encoding="utf-8"))

    def make(self, size: int, sources: Path) -> None:
        """Make the texts and vectors of a size, unless they are there."""
        real = self._folder / "real.npz"
        if not real.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._embed(sources, real)
        with np.load(real) as kept:
            texts, vectors = kept["texts"].tolist(), kept["vectors"]
        have = len(np.load(self._folder / "vectors.npy", mmap_mode="r")) if self._texts.exists() else 0
        if have >= size:
            return
        rows = np.lib.format.open_memmap(self._folder / "vectors.npy", "w+", np.float32, (size, vectors.shape[1]))
        with self._texts.open("w", encoding="utf-8") as lines:
            for place, (text, vector) in enumerate(islice(varied(texts, vectors), size)):
                rows[place] = vector
                lines.write(json.dumps(text) + "\n")
        rows.flush()

    def _embed(self, sources: Path, real: Path) -> None:
        from memorist.models.embedders import build

        embedder = build("local")
        assert embedder is not None
        texts, questions = read(sources)
        done: list[Vectors] = []
        for start in range(0, len(texts), 500):
            done.append(embedder.embed(texts[start : start + 500], purpose="memory"))
            print(f"embedded {start + len(done[-1]):,} of {len(texts):,} texts", flush=True)
        np.save(self._folder / "probes.npy", embedder.embed(questions, purpose="query"))
        (self._folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
        np.savez(real, texts=np.array(texts), vectors=np.concatenate(done))


def read(sources: Path) -> tuple[list[str], list[str]]:
    """The real texts in a fixed, mixed order, and questions about the conversations among them."""
    from memorist.text.secrets import secrets_in

    turns = [line["text"] for name in TURNS for line in _lines(sources / "eval" / name / "corpus.jsonl")]
    with lzma.open(sources / "train" / "train.json.xz") as file:
        more = [
            text for source in json.load(file)["sources"] if source["name"] in FIRST_PERSON for text in source["units"]
        ]
    draw = random.Random(5)
    draw.shuffle(more)
    cut = (" ".join(text[:LONGEST].split()) for text in [*turns, *more])
    distinct = {plain(text): text for text in cut if len(text) >= SHORTEST and not secrets_in(text)}
    texts = list(islice(distinct.values(), REAL))
    draw.shuffle(texts)
    asked = [line["text"] for name in TURNS[:2] for line in _lines(sources / "eval" / name / "queries.jsonl")]
    return texts, draw.sample(asked, QUESTIONS)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def varied(texts: Sequence[str], vectors: Vectors, seed: int = 7) -> Iterator[tuple[str, Vectors]]:
    """The real texts with their vectors, and then changed ones without end."""
    yield from zip(texts, vectors, strict=True)
    draw, places = random.Random(seed), np.random.default_rng(seed)
    words = sorted({word for text in texts for word in text.split() if _replaceable(word)})
    seen = {hash(plain(text)) for text in texts}
    while True:
        drawn: list[tuple[int, int, int]] = places.integers(0, len(texts), (PAGE, 3)).tolist()
        for base, one, other in drawn:
            text = " ".join(
                draw.choice(words) if _replaceable(word) and draw.random() < REPLACED else word
                for word in texts[base].split(" ")
            )
            if (mark := hash(plain(text))) not in seen:
                seen.add(mark)
                yield text, unit(vectors[base] + MOVED * (vectors[one] - vectors[other]))


def plain(text: str) -> str:
    """A text without what does not tell two of them apart: case and the end of a sentence."""
    return text.casefold().rstrip(".! ")


def _replaceable(word: str) -> bool:
    return len(word) > 3 and word.isalpha() and word.islower()


def unit(vector: NDArray[np.floating[Any]]) -> Vectors:
    return (vector / np.linalg.norm(vector)).astype(np.float32, copy=False)


def best_ten(probes: Vectors, pages: Iterator[Page], count: int = BEST) -> NDArray[np.int64]:
    """The numbers of the nearest memories to each probe by the cosine of every one of them, the nearest first."""
    scores = np.empty((len(probes), 0), np.float32)
    numbers = np.empty((len(probes), 0), np.int64)
    for page in pages:
        own = np.arange(page.start, page.start + len(page.vectors))
        scores = np.hstack([scores, probes @ page.vectors.T])
        numbers = np.hstack([numbers, np.broadcast_to(own, (len(probes), len(own)))])
        order = np.argsort(-scores, axis=1, kind="stable")[:, :count]
        scores, numbers = np.take_along_axis(scores, order, 1), np.take_along_axis(numbers, order, 1)
    return numbers
