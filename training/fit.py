"""Learning: the losses and the loop for the embedder and for the cross-encoders."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from encoder import Encoder, Layer, PairScorer, SentenceEncoder
from feed import Block, Feed
from lists import ANSWER, JUDGED, OUTDATED, RANKED_FIRST
from tokens import Ragged, run_rows
from torch import Tensor, nn
from torch.nn import functional

Model = TypeVar("Model", bound=nn.Module)

WARM_UP = 0.06
WEIGHT_DECAY = 0.01
LARGEST_GRADIENT = 1.0
SAME_TEXT = -1e4  # the logit of a positive that answers this query too
POSITIVE_WEIGHT = 3.0
LISTS_PER_STEP = 256  # of a cross-encoder


@dataclass(frozen=True, slots=True)
class Settings:
    """How long and how fast a model learns."""

    epochs: int
    rate: float
    seed: int = 1
    scale: float = 20.0  # of the cosines; the inverse of the temperature
    distilled: float = 0.0  # share of the loss that comes from the teacher
    negatives: int | None = None  # of each list; all where nothing is said
    judging: float = 1.0  # weight of the loss of `answering` beside that of `ranking`
    seconds: float | None = None  # at most; the rate falls in time for it


def fit_embedder(
    model: SentenceEncoder,
    feed: Feed,
    settings: Settings,
    device: torch.device,
    teacher: SentenceEncoder | None = None,
) -> SentenceEncoder:
    """InfoNCE over the block's positives and hard negatives, and a teacher's cosines with all texts of the block."""
    if teacher is not None:
        compile_layers(teacher, device)

    def losses(block: Block) -> Iterator[Callable[[], Tensor]]:
        yield lambda: _embedder_loss(model, block, settings, device, teacher)

    return _fit(model, feed, settings, losses, 1, device)


def _embedder_loss(
    model: SentenceEncoder, block: Block, settings: Settings, device: torch.device, teacher: SentenceEncoder | None
) -> Tensor:
    width = block.width if settings.negatives is None else settings.negatives + 1
    texts = _narrowed(block.texts, block.width, width)
    logits = _cosines(model, block.queries, texts, device) * settings.scale
    truth = torch.from_numpy(block.truth[:, :width]).to(device)
    same = torch.from_numpy(block.same).to(device)
    loss = info_nce(logits, same, truth)
    if teacher is None:
        return loss
    with torch.no_grad():
        wanted = _cosines(teacher, block.queries, texts, device) * settings.scale
    return (1 - settings.distilled) * loss + settings.distilled * divergence(logits, wanted)


def _cosines(model: SentenceEncoder, queries: Ragged, texts: Ragged, device: torch.device) -> Tensor:
    one, other = (_run(lambda *inputs: model(*inputs)[0], rows, device) for rows in (queries, texts))
    return one @ other.T


def info_nce(logits: Tensor, same: Tensor, truth: Tensor) -> Tensor:
    """−log softmax of each query's own positive among all texts (van den Oord et al. 2018).

    `logits` has a row a query and as many columns a list as `truth`, the first of them its positive. The positives of
    other lists with the same number in `same` are no negatives, nor is what was true once; a list without a positive
    has only texts to give.
    """
    count, width = truth.shape
    own = torch.arange(count, device=logits.device)
    alike = (same[:, None] == same[None, :]) & (own[:, None] != own[None, :])
    hidden = torch.zeros(count, count, width, dtype=torch.bool, device=logits.device)
    hidden[:, :, 0] = alike
    hidden[own, own] = truth == OUTDATED
    ranked = is_one_of(truth[:, 0], RANKED_FIRST)
    losses = functional.cross_entropy(
        logits.masked_fill(hidden.view(count, -1), SAME_TEXT), own * width, reduction="none"
    )
    return (losses * ranked).sum() / ranked.sum().clamp(min=1)


def is_one_of(truth: Tensor, kinds: Sequence[int]) -> Tensor:
    """1 where the truth is of these kinds, 0 elsewhere."""
    return torch.isin(truth, torch.tensor(kinds, dtype=truth.dtype, device=truth.device)).float()


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
    shape = (*truth.shape, 2)
    logits = _run(together, pairs, device)
    wanted = None
    if teacher is not None:
        with torch.no_grad():
            wanted = _run(teacher, pairs, device).view(shape)
    losses = [list_loss(logit.reshape(shape), truth, settings, wanted) for logit in logits.unbind(-1)]
    return torch.stack(losses).sum()


def list_loss(logits: Tensor, truth: Tensor, settings: Settings, wanted: Tensor | None = None) -> Tensor:
    """Of one scorer: −log softmax of what a list is after, and the chance of each of its texts to answer."""
    scores, answers = logits.unbind(-1)
    first = torch.zeros(len(scores), dtype=torch.long, device=scores.device)
    ranked = is_one_of(truth[:, 0], RANKED_FIRST)
    ranking = (functional.cross_entropy(scores, first, reduction="none") * ranked).mean()
    judging = _judgement(answers, (truth == ANSWER).float(), is_one_of(truth, JUDGED))
    loss = ranking + settings.judging * judging
    if wanted is None:
        return loss
    near = divergence(scores, wanted[..., 0]) + 0.05 * functional.mse_loss(scores, wanted[..., 0])
    near = near + settings.judging * _judgement(answers, wanted[..., 1].sigmoid(), torch.ones_like(answers))
    return (1 - settings.distilled) * loss + settings.distilled * near


def _judgement(answers: Tensor, chances: Tensor, weight: Tensor) -> Tensor:
    more = torch.tensor(POSITIVE_WEIGHT, device=answers.device)
    return functional.binary_cross_entropy_with_logits(answers, chances, weight=weight, pos_weight=more)


def _fit(
    model: Model,
    feed: Feed,
    settings: Settings,
    losses: Callable[[Block], Iterator[Callable[[], Tensor]]],
    steps_per_block: int,
    device: torch.device,
) -> Model:
    torch.manual_seed(settings.seed)
    compile_layers(model, device)
    model.train()
    optimiser = adam(model, device)
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


def compile_layers(model: nn.Module, device: torch.device) -> None:
    """Fuse what a layer does on a GPU: its small products alone leave most of one idle. All layers share the code."""
    if device.type == "cuda":
        for part in model.modules():
            if isinstance(part, Layer):
                part.compile(dynamic=True)


def warmed(step: int, total: int) -> float:
    """The learning rate's share: up for the first 6 %, then down to nothing in a line."""
    rise = max(1.0, WARM_UP * total)
    return (step + 1) / rise if step < rise else max(0.0, (total - step) / max(1.0, total - rise))


def adam(model: nn.Module, device: torch.device) -> torch.optim.Optimizer:
    """AdamW for what a model learns; its word table stays as it is."""
    for part in model.modules():
        if isinstance(part, Encoder):
            part.words.weight.requires_grad_(False)  # the table that the finished model has
    learnt = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [weight for weight in learnt if weight.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [weight for weight in learnt if weight.ndim < 2], "weight_decay": 0.0},
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
