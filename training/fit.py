"""Learning: the losses and the loop for the embedder and for the cross-encoders."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from encoder import Encoder, PairScorer, SentenceEncoder
from feed import Block, Feed
from lists import ANSWER, OUTDATED
from tokens import Ragged, run_rows
from torch import Tensor, nn
from torch.nn import functional

Model = TypeVar("Model", bound=nn.Module)

WARM_UP = 0.06
WEIGHT_DECAY = 0.01
LARGEST_GRADIENT = 1.0
SAME_TEXT = -1e4  # the logit of a positive that answers this query too
POSITIVE_WEIGHT = 3.0
LISTS_PER_STEP = 128  # of a cross-encoder


@dataclass(frozen=True, slots=True)
class Settings:
    """How long and how fast a model learns."""

    epochs: int
    rate: float
    seed: int = 1
    scale: float = 20.0  # of the cosines; the inverse of the temperature
    distilled: float = 0.0  # share of the loss that comes from the teacher
    negatives: int | None = None  # of each list; all where nothing is said
    binary: float = 0.2  # weight of the loss that makes a logit say whether its text answers
    seconds: float | None = None  # at most; the rate falls in time for it


def fit_embedder(
    model: SentenceEncoder, feed: Feed, settings: Settings, device: torch.device, teacher: PairScorer | None = None
) -> SentenceEncoder:
    """InfoNCE over the block's positives and hard negatives; with a teacher, also its order within each list."""

    def losses(block: Block) -> Iterator[Callable[[], Tensor]]:
        yield lambda: _embedder_loss(model, block, settings, device, teacher)

    return _fit(model, feed, settings, losses, 1, device)


def _embedder_loss(
    model: SentenceEncoder, block: Block, settings: Settings, device: torch.device, teacher: PairScorer | None
) -> Tensor:
    width = block.width if settings.negatives is None else settings.negatives + 1
    count = len(block.queries)
    queries = _run(lambda *inputs: model(*inputs)[0], block.queries, device)
    texts = _run(lambda *inputs: model(*inputs)[0], _narrowed(block.texts, block.width, width), device)
    logits = queries @ texts.T * settings.scale
    loss = info_nce(logits, torch.from_numpy(block.same).to(device), width)
    if teacher is None or block.pairs is None:
        return loss
    with torch.no_grad():
        wanted = _run(teacher, block.pairs, device).view(count, block.width)
    given = logits.view(count, count, width)[torch.arange(count), torch.arange(count)]
    return (1 - settings.distilled) * loss + settings.distilled * divergence(given, wanted[:, :width])


def info_nce(logits: Tensor, same: Tensor, width: int) -> Tensor:
    """−log softmax of each query's own positive among all texts (van den Oord et al. 2018).

    `logits` has a row a query and `width` columns a list, the first of them its positive; the positives of other
    lists with the same number in `same` are no negatives.
    """
    count = len(same)
    own = torch.arange(count, device=logits.device)
    alike = (same[:, None] == same[None, :]) & (own[:, None] != own[None, :])
    hidden = torch.zeros(count, count, width, dtype=torch.bool, device=logits.device)
    hidden[:, :, 0] = alike
    return functional.cross_entropy(logits.masked_fill(hidden.view(count, -1), SAME_TEXT), own * width)


def divergence(given: Tensor, wanted: Tensor) -> Tensor:
    """KL(teacher ‖ student) of the distributions over each list (Hinton et al. 2015)."""
    return functional.kl_div(given.log_softmax(-1), wanted.softmax(-1), reduction="batchmean")


class Together(nn.Module):
    """Scorers that learn from the same lists; they share nothing but the work of making and judging them."""

    def __init__(self, models: Sequence[PairScorer]) -> None:
        super().__init__()
        self.models = nn.ModuleList(models)

    def forward(self, *inputs: Tensor) -> Tensor:
        return torch.stack([model(*inputs) for model in self.models], dim=-1)


def fit_rerankers(
    models: Sequence[PairScorer],
    feed: Feed,
    settings: Settings,
    device: torch.device,
    teacher: PairScorer | None = None,
) -> Sequence[PairScorer]:
    """Softmax over each list plus a judgement of each pair; with a teacher, mostly its scores."""
    together = Together(models)

    def losses(block: Block) -> Iterator[Callable[[], Tensor]]:
        assert block.pairs is not None
        longest = block.pairs.lengths.reshape(-1, block.width).max(axis=1)
        order = np.argsort(longest, kind="stable")
        for places in np.array_split(order, max(1, len(order) // LISTS_PER_STEP)):
            part = _taken(block.pairs, (places[:, None] * block.width + np.arange(block.width)).ravel())
            truth = torch.from_numpy(block.truth[places]).to(device)
            yield lambda part=part, truth=truth: _reranker_loss(together, part, truth, settings, device, teacher)

    steps = max(1, feed.lists // LISTS_PER_STEP)
    _fit(together, feed, settings, losses, steps, device)
    return models


def _reranker_loss(
    together: Together,
    pairs: Ragged,
    truth: Tensor,
    settings: Settings,
    device: torch.device,
    teacher: PairScorer | None,
) -> Tensor:
    width = truth.shape[1]
    scores = _run(together, pairs, device)
    wanted = None
    if teacher is not None:
        with torch.no_grad():
            wanted = _run(teacher, pairs, device).view(-1, width)
    losses = [list_loss(one.view(-1, width), truth, settings, wanted) for one in scores.unbind(-1)]
    return torch.stack(losses).sum()


def list_loss(scores: Tensor, truth: Tensor, settings: Settings, wanted: Tensor | None = None) -> Tensor:
    """Of one scorer: −log softmax of the answer where there is one, and the chance of each text to be one."""
    first = torch.zeros(len(scores), dtype=torch.long, device=scores.device)
    answered = (truth[:, 0] == ANSWER).float()
    ranking = (functional.cross_entropy(scores, first, reduction="none") * answered).mean()
    weight = torch.tensor(POSITIVE_WEIGHT, device=scores.device)
    judged = functional.binary_cross_entropy_with_logits(
        scores, (truth == ANSWER).float(), weight=(truth != OUTDATED).float(), pos_weight=weight
    )
    loss = ranking + settings.binary * judged
    if wanted is None:
        return loss
    near = divergence(scores, wanted) + 0.05 * functional.mse_loss(scores, wanted)
    return (1 - settings.distilled) * loss + settings.distilled * near


def _fit(
    model: Model,
    feed: Feed,
    settings: Settings,
    losses: Callable[[Block], Iterator[Callable[[], Tensor]]],
    steps_per_block: int,
    device: torch.device,
) -> Model:
    torch.manual_seed(settings.seed)
    model.train()
    optimiser = _optimiser(model, device)
    total = feed.blocks(settings.epochs, settings.seed) * steps_per_block
    started, step = time.monotonic(), 0
    for block in feed(settings.epochs, settings.seed):
        spent = (time.monotonic() - started) / settings.seconds if settings.seconds else 0.0
        if spent >= 1:
            break
        for loss_of in losses(block):
            for group in optimiser.param_groups:
                group["lr"] = settings.rate * warmed(max(step, int(spent * total)), total)
            loss = loss_of()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            step += 1
            if step == 10 or step % max(1, total // 4) == 0:
                print(f"  step {step}/{total}, loss {loss.item():.3f}, {time.monotonic() - started:.0f} s", flush=True)
    return model.eval()


def warmed(step: int, total: int) -> float:
    """The learning rate's share: up for the first 6 %, then down to nothing in a line."""
    rise = max(1.0, WARM_UP * total)
    return (step + 1) / rise if step < rise else max(0.0, (total - step) / max(1.0, total - rise))


def _optimiser(model: nn.Module, device: torch.device) -> torch.optim.Optimizer:
    for part in model.modules():
        if isinstance(part, Encoder):
            part.words.weight.requires_grad_(False)  # the table that the finished model has
    learnt = [one for one in model.parameters() if one.requires_grad]
    groups = [
        {"params": [one for one in learnt if one.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [one for one in learnt if one.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=0.0, fused=device.type == "cuda")


def _run(model: Callable[..., Tensor], rows: Ragged, device: torch.device) -> Tensor:
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        return run_rows(lambda *inputs: model(*inputs).float(), rows, device)


def _narrowed(texts: Ragged, width: int, wanted: int) -> Ragged:
    if wanted == width:
        return texts
    return _taken(texts, np.arange(len(texts)).reshape(-1, width)[:, :wanted].ravel())


def _taken(rows: Ragged, places: np.ndarray) -> Ragged:
    starts = np.cumsum(rows.lengths, dtype=np.int64) - rows.lengths
    lengths = rows.lengths[places]
    # The place of every token: its row's start, and its distance from there.
    begin = np.repeat(starts[places] - (np.cumsum(lengths, dtype=np.int64) - lengths), lengths)
    flat = rows.flat[begin + np.arange(int(lengths.sum()))]
    return Ragged(flat, lengths, None if rows.seconds is None else rows.seconds[places])
