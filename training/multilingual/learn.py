"""Learning: InfoNCE over lists in many languages, and over texts with their translations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from blocks import QUERY, Block, Blocks, Row
from corpus import Source
from fit import LARGEST_GRADIENT, WARM_UP, WEIGHT_DECAY, info_nce
from lists import ANSWER, WRONG, Pools, plain
from mining import candidates
from student import Student
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

START, END = 1, 2
SCALE = 20.0  # of the cosines; the inverse of the temperature
TRANSLATIONS, TRANSLATED = 1024, 0.5  # pairs of a step, and the weight of their loss
KINDS: Mapping[str, float] = {"catalogue": 0.35, "names": 0.15, "story": 0.5}
STEPS, RATE, NEW_RATE = 150, 3e-4, 6e-4
MINED_TOKENS = 96
MULTIPLE = 16  # a padded length
NEW = "weigh"  # parameters that the base does not have


class Reader:
    """The tokenizer and the word table, which is never trained."""

    def __init__(self, tokenizer: Tokenizer, table: np.ndarray, device: torch.device) -> None:
        self._tokenizer = tokenizer
        self._table = torch.from_numpy(table).to(device, torch.bfloat16 if device.type == "cuda" else torch.float32)
        self._device = device

    def encode(self, texts: Sequence[str], most: int) -> list[Row]:
        """Ids with both special tokens, at most so many."""
        rows = self._tokenizer.encode_batch_fast([text[: 12 * most] for text in texts], add_special_tokens=False)
        return [np.array([START, *row.ids[: most - 2], END], dtype=np.int32) for row in rows]

    def run(self, model: Student, rows: Sequence[Row], parts: int) -> Tensor:
        """Vectors of the rows in their order, in batches of similar length."""
        order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        found = [
            self._batch(model, [rows[place] for place in part]) for part in np.array_split(order, min(parts, len(rows)))
        ]
        return torch.cat(found)[torch.from_numpy(np.argsort(order, kind="stable")).to(self._device)]

    def _batch(self, model: Student, rows: Sequence[Row]) -> Tensor:
        longest = -(-max(map(len, rows)) // MULTIPLE) * MULTIPLE
        ids, mask = np.zeros((len(rows), longest), dtype=np.int64), np.zeros((len(rows), longest, 1), dtype=np.float32)
        for place, row in enumerate(rows):
            ids[place, : len(row)], mask[place, : len(row)] = row, 1
        shown = torch.from_numpy(mask).to(self._device, self._table.dtype)
        words = self._table[torch.from_numpy(ids).to(self._device)] * shown
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._device.type == "cuda"):
            return model(words, shown)

    @torch.no_grad()
    def embed(self, model: Student, rows: Sequence[Row], tokens: int = 100_000) -> Tensor:
        return self.run(model.eval(), rows, max(1, math.ceil(sum(map(len, rows)) / tokens)))


class Translations:
    """Pairs of an English text and its translation; every language and kind has its share of a step."""

    def __init__(self, pairs: Mapping[str, Mapping[str, Sequence[Sequence[str]]]], reader: Reader, seed: int) -> None:
        listed = [
            (row, KINDS[kind] / len(rows)) for parts in pairs.values() for kind, rows in parts.items() for row in rows
        ]
        weights = np.cumsum([weight for _, weight in listed])
        self._weights = weights / weights[-1]
        self._sides = [reader.encode([pair[side] for pair, _ in listed], QUERY) for side in (0, 1)]
        self._draw = np.random.default_rng(seed)

    def __call__(self, count: int) -> tuple[list[Row], list[Row]]:
        places = np.unique(np.searchsorted(self._weights, self._draw.random(count)))
        english, other = ([side[place] for place in places] for side in self._sides)
        return english, other


def mine(reader: Reader, model: Student, sources: Sequence[Source]) -> list[list[Pools]]:
    """For each question of each source the candidates for negatives."""
    return [_mine_source(reader, model, source) for source in sources]


def _mine_source(reader: Reader, model: Student, source: Source) -> list[Pools]:
    units = reader.embed(model, reader.encode(source.units, MINED_TOKENS))
    queries = reader.embed(model, reader.encode([plain(question, source) for question in source.questions], QUERY))
    return candidates(source, queries, units)


def fit(
    reader: Reader,
    model: Student,
    blocks: Blocks,
    translations: Translations,
    steps: int = STEPS,
    say: Callable[[str], None] = print,
) -> Student:
    """Train all weights of the model; the rate rises, then falls to nothing."""
    named = list(model.named_parameters())
    groups = [
        {"params": [parameter for name, parameter in named if name.startswith(NEW) == new], "lr": 0.0, "top": top}
        for new, top in ((False, RATE), (True, NEW_RATE))
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=WEIGHT_DECAY, betas=(0.9, 0.98))
    model.train()
    for step, block in zip(range(steps), blocks(1), strict=False):
        done = step / steps
        for group in optimizer.param_groups:
            group["lr"] = group["top"] * min(1.0, done / WARM_UP + 0.02) * min(1.0, (1 - done) / (1 - WARM_UP))
        lists = _listed_loss(reader, model, block, blocks.negatives + 1)
        translated = _translated_loss(reader, model, *translations(min(TRANSLATIONS, 2 * blocks.size)))
        (lists + TRANSLATED * translated).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 25 == 0:
            say(f"step {step}: lists {lists.item():.3f}, translations {translated.item():.3f}")
    return model.eval()


def _listed_loss(reader: Reader, model: Student, block: Block, width: int) -> Tensor:
    logits = reader.run(model, block.queries, 3) @ reader.run(model, block.texts, 6).T * SCALE
    truth = torch.full((len(block.same), width), WRONG, device=logits.device)
    truth[:, 0] = ANSWER
    return info_nce(logits, torch.from_numpy(block.same).to(logits.device), truth)


def _translated_loss(reader: Reader, model: Student, english: list[Row], other: list[Row]) -> Tensor:
    vectors = reader.run(model, [*english, *other], 3)
    logits = vectors[: len(english)] @ vectors[len(english) :].T * SCALE
    own = torch.arange(len(english), device=logits.device)
    return (functional.cross_entropy(logits, own) + functional.cross_entropy(logits.T, own)) / 2
