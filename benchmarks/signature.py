"""What a signature is best made of: agreement of questions with the texts that answer them, and with others.

    python benchmarks/signature.py FOLDER    # a dataset in BEIR's layout, such as ../shared/data/eval/locomo

Per weighting: mean agreement and share of pairs at 0.65 or more, for answers and for others of the same group; then
what Ss returns (0.65 or more, at most 5): texts per question, how many of them answer it, share of answers found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from common import about, judged, options, print_head, print_row, rows
from numpy.typing import NDArray

from memorist.text.signature import content_stems, packed, signature, similarities
from memorist.text.words import words

Signer = Callable[[str], bytes]
THRESHOLD = 0.65
CAP = 5
OTHERS = 5
COLUMNS = ("weighting", "answers", "≥ 0.65", "others", "≥ 0.65", "texts per question", "right", "answers found")


def plain(found: Sequence[str]) -> bytes:
    """SimHash with one vector of signs per word, and no trigrams."""
    sums = np.zeros(256, np.int32)
    for word, count in Counter(found).items():
        bits = np.unpackbits(np.frombuffer(blake2b(word.encode(), digest_size=32).digest(), np.uint8))
        sums += count * (2 * bits.astype(np.int32) - 1)
    return packed(sums).tobytes()


SIGNERS: dict[str, Signer] = {
    "all words, plain counts": lambda text: plain(words(text)),
    "stems without stop words, plain counts": lambda text: plain(content_stems(words(text))),
    "the same, each stem once": lambda text: plain(list(dict.fromkeys(content_stems(words(text))))),
    "stems without stop words, with trigrams (ours)": lambda text: signature(content_stems(words(text))),
}


class Results:
    """Agreements seen, and what a search at the threshold gave."""

    def __init__(self) -> None:
        self.answers: list[float] = []
        self.others: list[float] = []
        self.returned = self.right = self.asked = 0
        self.found = 0.0

    def add(self, shares: NDArray[np.float32], gold: list[int], rng: np.random.Generator) -> None:
        self.answers += shares[gold].tolist()
        self.others += shares[rng.integers(0, len(shares), OTHERS)].tolist()
        best = [at for at in np.argsort(-shares, kind="stable")[:CAP].tolist() if shares[at] >= THRESHOLD]
        self.asked += 1
        self.returned += len(best)
        self.right += len(set(best) & set(gold))
        self.found += len(set(best) & set(gold)) / len(gold)

    def cells(self) -> Iterator[str]:
        for shares in map(np.array, (self.answers, self.others)):
            yield f"{shares.mean():.3f}"
            yield f"{(shares >= THRESHOLD).mean():.1%}"
        yield f"{self.returned / self.asked:.1f}"
        yield f"{self.right / max(1, self.returned):.0%}"
        yield f"{self.found / self.asked:.1%}"


def measure(sign: Signer, folder: Path) -> Results:
    corpus: defaultdict[str, dict[str, bytes]] = defaultdict(dict)
    for row in rows(folder / "corpus.jsonl"):
        corpus[about(row, "group")][row["_id"]] = sign(row["text"])
    gold, results, rng = judged(folder), Results(), np.random.default_rng(0)
    matrices = {
        name: np.frombuffer(b"".join(texts.values()), np.uint8).reshape(len(texts), -1)
        for name, texts in corpus.items()
    }
    for row in rows(folder / "queries.jsonl"):
        group = about(row, "group")
        ids = {id: at for at, id in enumerate(corpus[group])}
        wanted = [ids[id] for id in gold[row["_id"]] if id in ids]
        if wanted:
            results.add(similarities(sign(row["text"]), matrices[group]), wanted, rng)
    return results


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    given = arguments.parse_args()
    print_head(*COLUMNS)
    for name, sign in SIGNERS.items():
        print_row(name, *measure(sign, given.folder).cells())


if __name__ == "__main__":
    main()
