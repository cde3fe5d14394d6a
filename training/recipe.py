"""The recipe: from the data and the base model to the weights of an embedder and its rerankers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import base
import corpus
import mining
import pairs
import soup
import torch
import validation
from corpus import Source
from encoder import Encoder, PairScorer, SentenceEncoder
from feed import Feed, Plan
from fit import Settings, fit_embedder, fit_rerankers
from lists import Pools
from safetensors.torch import load_file, save_file
from tokens import open_tokenizer
from torch import nn

SEEDS = (1, 2, 3)
CLOZE_SEED = 5
ALPHA = 0.9  # the share of the trained weights in the finished embedder; best on held-out data
SHORT = 0.5  # of a student's lists have little of the turns around
NEGATIVES = 4  # of a list, for the embedder; the other lists of a block are negatives too
BASE, DATA = "base.safetensors", "train.json.xz"
STUDENTS: dict[str, tuple[int, ...]] = {"rerank-4": (0, 2, 4, 5), "rerank-3": (0, 2, 5), "rerank-2": (0, 5)}
STUDENT_SEEDS = (301, 302)  # of its rounds


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long each part learns."""

    first: Settings = field(default_factory=lambda: Settings(epochs=2, rate=6e-5, negatives=NEGATIVES))
    taught: Settings = field(default_factory=lambda: Settings(epochs=1, rate=3e-5, distilled=0.5, negatives=5))
    teacher: Settings = field(default_factory=lambda: Settings(epochs=3, rate=1.5e-4))
    student: Settings = field(default_factory=lambda: Settings(epochs=4, rate=3e-4, distilled=0.8))


@dataclass
class Workshop:
    """Data, base model and device of a run; what it makes stays in `made` and is not made again."""

    given: Path
    made: Path
    model: Path
    device: torch.device
    plan: Plan = field(default_factory=Plan)
    lengths: Lengths = field(default_factory=Lengths)
    small: bool = False
    seeds: Sequence[int] = SEEDS
    students: Sequence[str] = tuple(STUDENTS)
    context_mark: int | None = None
    started: float = field(default_factory=time.monotonic)

    @cached_property
    def split(self) -> tuple[list[Source], list[Source]]:
        sources = corpus.read(self.given / DATA)
        sources = corpus.small(sources) if self.small else sources
        sources += [pairs.cloze(sources, CLOZE_SEED), pairs.told(sources)]
        training, held = corpus.split(sources)
        return [pairs.with_turns(one) for one in training], [pairs.with_turns(one) for one in held]

    @cached_property
    def tokenizer(self):
        return open_tokenizer(self.model.parent / "tokenizer.json")

    @cached_property
    def held(self) -> list[validation.HeldOut]:
        return validation.tasks(self.split[1])

    def base_encoder(self) -> Encoder:
        return base.load(self.given / BASE, self.model)

    def embedder(self) -> SentenceEncoder:
        """The base model as an embedder, on the device."""
        return SentenceEncoder(self.base_encoder(), self.context_mark).to(self.device).eval()

    def mine(self, model: SentenceEncoder) -> list[list[Pools]]:
        pools = mining.mine(model, self.split[0], self.tokenizer, self.device)
        self.say("mined negatives")
        return pools

    def feed(self, pools: Sequence[Sequence[Pools]], plan: Plan) -> Feed:
        return Feed(self.split[0], pools, self.tokenizer, plan)

    def search(self, model: SentenceEncoder) -> validation.Outcomes:
        return validation.search(model, self.held, self.tokenizer, self.device)

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self.started:5.0f} s] {text}", flush=True)

    def kept(self, name: str, model: nn.Module, learn: Callable[[], nn.Module]) -> nn.Module:
        """The model with the weights in `made`, or with what `learn` gives, which are then written there."""
        file = self.made / f"{name}.safetensors"
        if file.is_file():
            load_weights(model, file)
        else:
            self.say(f"learning {name}")
            model = learn()
            save_weights(model, file)
        return model.to(self.device).eval()


def save_weights(model: nn.Module, file: Path) -> None:
    """All weights but the word table, in half precision."""
    file.parent.mkdir(parents=True, exist_ok=True)
    state = {name: one.half().cpu().contiguous() for name, one in model.state_dict().items() if not _is_words(name)}
    save_file(state, str(file))


def load_weights(model: nn.Module, file: Path) -> None:
    """Fill a model, whose word table stays as it is."""
    state = {name: one.float() for name, one in load_file(str(file)).items()}
    words = {name: one for name, one in model.state_dict().items() if _is_words(name)}
    model.load_state_dict({**state, **words})


def _is_words(name: str) -> bool:
    return name.endswith(base.WORDS)


def learn_first(shop: Workshop, seed: int, pools: Sequence[Sequence[Pools]]) -> SentenceEncoder:
    """An embedder by contrast alone."""
    model = shop.embedder()
    feed = shop.feed(pools, replace(shop.plan, negatives=shop.lengths.first.negatives or NEGATIVES))
    settings = replace(shop.lengths.first, seed=seed)
    return shop.kept(f"first-{seed}", model, lambda: fit_embedder(model, feed, settings, shop.device))


def learn_teacher(shop: Workshop, pools: Sequence[Sequence[Pools]]) -> PairScorer:
    """The large cross-encoder that the others learn from."""
    model = PairScorer(shop.base_encoder(), mean=True).to(shop.device)
    feed = shop.feed(pools, replace(shop.plan, pairs=True))
    return shop.kept("teacher", model, lambda: fit_rerankers([model], feed, shop.lengths.teacher, shop.device)[0])


def learn_taught(
    shop: Workshop, seed: int, first: SentenceEncoder, teacher: PairScorer, pools: Sequence[Sequence[Pools]]
) -> SentenceEncoder:
    """The embedder after more learning with negatives of its own and the teacher's order of them."""
    model = shop.embedder()
    model.load_state_dict(first.state_dict())
    settings = replace(shop.lengths.taught, seed=100 + seed)
    feed = shop.feed(pools, replace(shop.plan, pairs=True, negatives=settings.negatives or NEGATIVES))
    return shop.kept(f"taught-{seed}", model, lambda: fit_embedder(model, feed, settings, shop.device, teacher))


def learn_student(shop: Workshop, name: str, teacher: PairScorer, pools: Sequence[Sequence[Pools]]) -> PairScorer:
    """A smaller cross-encoder that starts from layers of its teacher."""
    model = PairScorer(base.picked(teacher.encoder, STUDENTS[name]))
    model.start_from(teacher)
    model = model.to(shop.device)
    # Recall may show it little of the turn before, to have it read faster.
    feed = shop.feed(pools, replace(shop.plan, pairs=True, dress=replace(shop.plan.dress, short=SHORT)))
    return shop.kept(name, model, lambda: _in_rounds(shop, model, feed, teacher))


def _in_rounds(shop: Workshop, model: PairScorer, feed: Feed, teacher: PairScorer) -> PairScorer:
    """Each round starts from the weights of the one before and the full rate again (Loshchilov & Hutter 2017)."""
    for seed in STUDENT_SEEDS:
        fit_rerankers([model], feed, replace(shop.lengths.student, seed=seed), shop.device, teacher)
    return model


def learn(shop: Workshop) -> None:
    """All models, each in `made`; a run that was stopped goes on where it was."""
    if all((shop.made / f"first-{seed}.safetensors").is_file() for seed in shop.seeds):
        plain_pools: Sequence[Sequence[Pools]] = [[([], [], [])] * len(one.questions) for one in shop.split[0]]
    else:
        plain_pools = shop.mine(shop.embedder())
    firsts = [learn_first(shop, seed, plain_pools) for seed in shop.seeds]
    hard_pools = shop.mine(firsts[0])
    teacher = learn_teacher(shop, hard_pools)
    taught = [
        learn_taught(shop, seed, first, teacher, hard_pools) for seed, first in zip(shop.seeds, firsts, strict=True)
    ]
    # A reranker reads what the finished embedder finds, so its negatives come from there.
    found_pools = shop.mine(soup.between(shop.embedder(), soup.mean([*firsts, *taught]), ALPHA))
    for name in shop.students:
        learn_student(shop, name, teacher, found_pools)
    shop.say("learnt all")
