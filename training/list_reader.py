"""The list reader: a question and its first candidates read together, oldest first.

It reads `[CLS] question [SEP] memory [SEP] memory …` and gives three logits for each memory (how well it fits, whether
it answers, whether it did so once) and one for the question: whether any of the memories answers it.
"""

from __future__ import annotations

import multiprocessing
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from encoder import Encoder, Head
from fit import LARGEST_GRADIENT, adam, compile_layers, warmed
from lists import ListMaker
from read_lists import ChainLists, ReadList, WorldLists, of_public
from render import NAMES
from tokenizers import Tokenizer
from tokens import END, QUERY_TOKENS, START, tokenise
from torch import Tensor, nn
from torch.nn import functional

MOST_TOKENS = 512
MULTIPLE = 32  # a padded length
CHAINS, PUBLIC = 0.12, 0.25  # shares of the lists; the others are of worlds
LISTS = 64  # of a step
POSITIVE_WEIGHT, OUTDATED_WEIGHT, KNOWN_WEIGHT = 2.0, 0.7, 0.5


class ListScorer(nn.Module):
    """Three logits for each memory, from its last state and the mean of its states, and one from the first state."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.norm.normalized_shape[0]
        self.ranking, self.answering, self.outdating = (Head(2 * width, width) for _ in range(3))
        self.knowing = Head(width, width)

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor, ends: Tensor, means: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of (lists, memories, 3) and (lists,); `ends` and `means` have a row of weights for each memory."""
        states = self.encoder(ids, mask, types)
        read = torch.cat([weights.to(states.dtype) @ states for weights in (ends, means)], dim=-1)
        logits = torch.stack((self.ranking(read), self.answering(read), self.outdating(read)), dim=-1)
        return logits, self.knowing(states[:, 0])


@dataclass(slots=True)
class Batch:
    """Lists in tensors; `there` says which memories are not padding."""

    ids: Tensor
    mask: Tensor
    types: Tensor
    ends: Tensor
    means: Tensor
    there: Tensor
    answers: Tensor
    outdated: Tensor

    def to(self, device: torch.device) -> Batch:
        """The same on a device."""
        return Batch(*(getattr(self, name).to(device, non_blocking=True) for name in self.__slots__))

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """What the model reads."""
        return self.ids, self.mask, self.types, self.ends, self.means


def batch(lists: Sequence[ReadList], tokenizer: Tokenizer, multiple: int = MULTIPLE) -> Batch:
    """Lists in tensors, padded to a multiple."""
    queries = tokenise(tokenizer, [read_list.query for read_list in lists])
    texts = iter(tokenise(tokenizer, [text for read_list in lists for text in read_list.texts]))
    rows = [
        _row(query, [next(texts) for _ in read_list.texts]) for read_list, query in zip(lists, queries, strict=True)
    ]
    width = max(len(read_list.texts) for read_list in lists)
    length = -(-max(len(ids) for ids, _ in rows) // multiple) * multiple
    ids, mask, types = (np.zeros((len(lists), length), np.int64) for _ in range(3))
    ends, means = (np.zeros((len(lists), width, length), np.float32) for _ in range(2))
    there, answers, outdated = (np.zeros((len(lists), width), np.float32) for _ in range(3))
    for place, ((own, begins), read_list) in enumerate(zip(rows, lists, strict=True)):
        ids[place, : len(own)], mask[place, : len(own)] = own, 1
        types[place, begins[0] : len(own)] = 1
        for number, (start, stop) in enumerate(pairwise(begins)):
            ends[place, number, stop - 1] = 1
            means[place, number, start:stop] = 1 / (stop - start)
        count = len(read_list.texts)
        there[place, :count], answers[place, :count], outdated[place, :count] = 1, read_list.answers, read_list.outdated
    return Batch(*map(torch.from_numpy, (ids, mask, types, ends, means, there, answers, outdated)))


def _row(query: Sequence[int], texts: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """The ids of a list, and where its memories begin, with the end of the last."""
    ids = [START, *query[: QUERY_TOKENS - 2], END]
    begins = [len(ids)]
    for text, length in zip(texts, fitting([len(tokens) + 1 for tokens in texts], MOST_TOKENS - len(ids)), strict=True):
        ids += [*text[: length - 1], END]
        begins.append(len(ids))
    return ids, begins


def fitting(lengths: Sequence[int], room: int) -> list[int]:
    """The lengths, with the longest ones cut to one length if the sum is more than `room`."""
    most, left = room, len(lengths)
    for length in sorted(lengths):
        if length * left > most:
            return [min(size, most // left) for size in lengths]
        most, left = most - length, left - 1
    return list(lengths)


def loss_of(logits: Tensor, known: Tensor, one: Batch) -> Tensor:
    """−log Σ softmax of the answers, and the chances of answering, of being outdated, and of any answer at all."""
    ranking, answering, outdating = logits.unbind(-1)
    ranking = ranking.masked_fill(one.there == 0, -1e4)
    anything = one.answers.amax(1)
    chosen = torch.logsumexp(ranking.masked_fill(one.answers == 0, -1e4), 1) - torch.logsumexp(ranking, 1)
    more = torch.tensor(POSITIVE_WEIGHT, device=logits.device)

    def judged(given: Tensor, wanted: Tensor) -> Tensor:
        each = functional.binary_cross_entropy_with_logits(given, wanted, pos_weight=more, reduction="none")
        return (each * one.there).sum() / one.there.sum()

    return (
        -(chosen * anything).mean()
        + judged(answering, one.answers)
        + OUTDATED_WEIGHT * judged(outdating, one.outdated)
        + KNOWN_WEIGHT * functional.binary_cross_entropy_with_logits(known, anything)
    )


@dataclass(frozen=True, slots=True)
class ListFeed:
    """Batches of lists of worlds, chains and public data, in an order that depends on the seed alone."""

    worlds: WorldLists
    chains: ChainLists
    public: Sequence[ListMaker]
    weights: Sequence[float]
    tokenizer: Tokenizer
    workers: int = 0

    def __call__(self, steps: int, seed: int) -> Iterator[Batch]:
        tasks = list(self._tasks(steps, random.Random(seed)))
        if not self.workers:
            yield from map(self.make, tasks)
            return
        context = multiprocessing.get_context("fork")  # workers read the lists where they lie
        with context.Pool(self.workers, _remember, (self,)) as pool:
            yield from pool.imap(_make, tasks, chunksize=4)

    def _tasks(self, steps: int, draw: random.Random) -> Iterator[tuple[list[int], int]]:
        places: list[int] = []
        for _ in range(steps):
            while len(places) < LISTS:
                places += draw.sample(range(len(self.worlds.asked)), len(self.worlds.asked))
            yield places[:LISTS], draw.randrange(2**31)
            places = places[LISTS:]

    def make(self, task: tuple[Sequence[int], int]) -> Batch:
        """A step's lists; some places give way to a chain or to public data."""
        places, seed = task
        draw = random.Random(seed)
        return batch([self._list(place, draw) for place in places], self.tokenizer)

    def _list(self, place: int, draw: random.Random) -> ReadList:
        chance = draw.random()
        if chance < CHAINS:
            return self.chains.make(draw)
        if chance < CHAINS + PUBLIC:
            maker = draw.choices(self.public, self.weights)[0]
            listed = maker.make(draw.randrange(len(maker.source.questions)), draw.sample(NAMES, 3), draw)
            return of_public(listed, draw)
        return self.worlds.make(place, draw)


_inherited: list[ListFeed] = []  # what a forked worker makes batches of


def _remember(feed: ListFeed) -> None:
    _inherited[:] = [feed]
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)


def _make(task: tuple[Sequence[int], int]) -> Batch:
    return _inherited[0].make(task)


def fit_list_reader(
    model: ListScorer,
    feed: ListFeed,
    steps: int,
    rate: float,
    seed: int,
    device: torch.device,
    say: Callable[[str], None] = print,
) -> ListScorer:
    """Learn from so many batches; the rate rises and falls as for the other models."""
    torch.manual_seed(seed)
    compile_layers(model, device)
    model.train()
    optimiser = adam(model, device)
    for step, given in enumerate(feed(steps, seed)):
        one = given.to(device)
        for group in optimiser.param_groups:
            group["lr"] = rate * warmed(step, steps)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            logits, known = model(*one.inputs)
        loss = loss_of(logits.float(), known.float(), one)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        if step % max(1, steps // 5) == 0:
            say(f"  step {step}/{steps}, loss {loss.item():.3f}")
    return model.eval()


def read(
    model: ListScorer, lists: Sequence[ReadList], tokenizer: Tokenizer, device: torch.device
) -> list[tuple[np.ndarray, float]]:
    """For each list, a row of three logits for each memory, and the logit of the question."""
    order = sorted(range(len(lists)), key=lambda place: sum(map(len, lists[place].texts)))
    found: list[tuple[np.ndarray, float]] = [(np.zeros((0, 3)), 0.0)] * len(lists)
    size = 128 if device.type == "cuda" else 8
    with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        for start in range(0, len(order), size):
            part = order[start : start + size]
            logits, known = model(*batch([lists[place] for place in part], tokenizer).to(device).inputs)
            for place, row, sure in zip(part, logits.float().cpu().numpy(), known.float().tolist(), strict=True):
                found[place] = row[: len(lists[place].texts)], sure
    return found
