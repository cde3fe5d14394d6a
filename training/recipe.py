"""The recipe: from the data and the shipped models to the weights of the next ones.

The large embedder, called the finder here, becomes a teacher (a cross-encoder) and a better finder. The small models
and the reranker of `best` learn from both. All of them go on from what the packages have.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import cast

import base
import corpus
import mining
import pairs
import soup
import torch
import validation
from base import CONFIG
from corpus import Source
from encoder import Encoder, EncoderConfig, PairScorer, SentenceEncoder
from feed import SHARES, Feed, Plan
from fit import Settings, fit_embedder, fit_rerankers
from list_reader import ListFeed, ListScorer, fit_list_reader
from lists import Dress, ListMaker, Pools
from read_lists import ChainLists, WorldLists
from safetensors.torch import load_file, save_file
from tokens import open_tokenizer
from torch import Tensor, nn
from worlds import WorldMaker

DATA = "train.json.xz"
TOKENIZER = "tokenizer.json"
LAYERS = {"finder": 12, "embedder": 6, "reranker": 3, "reranker-best": 6}
"""The models that go on, and how large they are."""
WORDS_OF = {"reranker": "embedder", "reranker-best": "finder"}
"""Whose word table a reranker reads: a set of models has one."""
CLOZE_SEED = 5
HALF = 0.5  # of the finder that teaches is what it was before
SHORT = 0.5  # of a small reranker's lists have little of the turns around
EVERYDAY_LISTS, WORLD_ROUNDS = 12_000, 3  # of our own, in an epoch
UNANSWERED, MISLEADING = 0.1, 0.3  # shares of a reranker's lists


@dataclass(frozen=True, slots=True)
class ListSettings:
    """How long and how fast the list reader learns, once with each seed."""

    steps: int
    rate: float
    seeds: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long each part learns."""

    teacher: Settings = field(default_factory=lambda: Settings(epochs=5, rate=1e-4, seconds=540, seed=602))
    finder: Settings = field(default_factory=lambda: Settings(epochs=3, rate=8e-5, negatives=4, seconds=280, seed=601))
    embedder: Settings = field(
        default_factory=lambda: Settings(epochs=12, rate=1e-4, distilled=0.7, negatives=4, seconds=1200, seed=604)
    )
    reranker: Settings = field(
        default_factory=lambda: Settings(epochs=9, rate=2e-4, distilled=0.7, seconds=1020, seed=605)
    )
    lists: ListSettings = field(default_factory=lambda: ListSettings(steps=2_500, rate=8e-5, seeds=(611, 612)))


SMALL_PLAN = Plan(block=6, negatives=3, most_blocks=2, turns=5, everyday=4, worlds=1)
SMALL_LENGTHS = Lengths(
    teacher=Settings(epochs=1, rate=1e-4, seconds=60),
    finder=Settings(epochs=1, rate=6e-5, negatives=3),
    embedder=Settings(epochs=1, rate=1e-4, distilled=0.7, negatives=3),
    reranker=Settings(epochs=1, rate=3e-4, distilled=0.7, seconds=60),
    lists=ListSettings(steps=1, rate=8e-5, seeds=(1, 2)),
)


@dataclass
class Workshop:
    """Data, base models and device of a run; what it makes stays in `made` and is not made again."""

    given: Path
    made: Path
    device: torch.device
    plan: Plan = field(default_factory=lambda: Plan(everyday=EVERYDAY_LISTS, worlds=WORLD_ROUNDS))
    lengths: Lengths = field(default_factory=Lengths)
    small: bool = False
    started: float = field(default_factory=time.monotonic)

    @cached_property
    def split(self) -> tuple[list[Source], list[Source]]:
        sources = corpus.read(self.given / DATA)
        sources = corpus.small(sources) if self.small else sources
        sources += [pairs.cloze(sources, CLOZE_SEED), pairs.told(sources)]
        training, held = corpus.split(sources)
        return [pairs.with_turns(source) for source in training], [pairs.with_turns(source) for source in held]

    @cached_property
    def tokenizer(self):
        return open_tokenizer(self.given / TOKENIZER)

    @cached_property
    def held(self) -> list[validation.HeldOut]:
        return validation.tasks(self.split[1])

    def embedder(self, name: str) -> SentenceEncoder:
        """An embedder as its package has it, on the device."""
        return SentenceEncoder(self._encoder(name)).to(self.device).eval()

    def reranker(self, name: str) -> PairScorer:
        """A reranker as its package has it, on the device."""
        words = {f"encoder.{base.WORDS}": self._given(WORDS_OF[name])[f"encoder.{base.WORDS}"]}
        model = PairScorer(Encoder(config(LAYERS[name])))
        model.load_state_dict(self._given(name) | words)
        return model.to(self.device).eval()

    def teacher(self) -> PairScorer:
        """The finder as a cross-encoder that knows nothing of pairs yet, on the device."""
        return PairScorer(self._encoder("finder"), mean=True).to(self.device).eval()

    def _encoder(self, name: str) -> Encoder:
        encoder = Encoder(config(LAYERS[name]))
        encoder.load_state_dict(base.of_encoder(self._given(name)))
        return encoder

    def _given(self, name: str) -> dict[str, Tensor]:
        return base.load_int8(self.given / f"{name}.safetensors")

    def mine(self, model: SentenceEncoder) -> list[list[Pools]]:
        pools = mining.mine(model, self.split[0], self.tokenizer, self.device)
        self.say("mined negatives")
        return pools

    def feed(self, pools: Sequence[Sequence[Pools]], **changes: object) -> Feed:
        return Feed(self.split[0], pools, self.tokenizer, replace(self.plan, **changes))

    def list_feed(self, finder: SentenceEncoder) -> ListFeed:
        """Lists of the worlds that are not held out, of chains and of public data."""
        known = [world for world in WorldMaker().worlds if not world.held]
        found = mining.found_in_worlds(finder, known, self.tokenizer, self.device)
        sources, dress = self.split[0], _judging(self.plan.dress)
        public = [ListMaker(*pair, dress) for pair in zip(sources, self.mine(finder), strict=True)]
        asked = [sum(question.form != "turn" for question in source.questions) for source in sources]
        weights = [SHARES.get(source.name, 1.0) * count for source, count in zip(sources, asked, strict=True)]
        worlds = WorldLists(known, found)
        return ListFeed(worlds, ChainLists(), public, weights, self.tokenizer, self.plan.workers)

    def search(self, model: SentenceEncoder) -> validation.Outcomes:
        return validation.search(model, self.held, self.tokenizer, self.device)

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self.started:5.0f} s] {text}", flush=True)

    def kept(self, name: str, model: nn.Module, learn: Callable[[], object]) -> nn.Module:
        """The model with the weights in `made`, or after `learn`, with weights that are then written there."""
        file = self.made / f"{name}.safetensors"
        if file.is_file():
            load_weights(model, file)
        else:
            self.say(f"learning {name}")
            learn()
            save_weights(model, file)
            self.say(f"learnt {name}")
        return model.to(self.device).eval()


def config(layers: int) -> EncoderConfig:
    return replace(CONFIG, num_hidden_layers=layers)


def save_weights(model: nn.Module, file: Path) -> None:
    """All weights but the word table, in half precision; whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    state = {
        name: weight.half().cpu().contiguous() for name, weight in model.state_dict().items() if not _is_words(name)
    }
    part = file.with_suffix(".part")
    save_file(state, str(part))
    part.replace(file)


def load_weights(model: nn.Module, file: Path) -> None:
    """Fill a model, whose word table stays as it is."""
    state = {name: weight.float() for name, weight in load_file(str(file)).items()}
    words = {name: weight for name, weight in model.state_dict().items() if _is_words(name)}
    model.load_state_dict({**state, **words})


def _is_words(name: str) -> bool:
    return name.endswith(base.WORDS)


def learn(shop: Workshop) -> None:
    """All models, each in `made`; a run that was stopped goes on where it was."""
    before = shop.embedder("finder")
    pools = shop.mine(before)

    teacher = shop.teacher()
    shop.kept("teacher", teacher, lambda: learn_teacher(shop, teacher, pools))
    finder = shop.embedder("finder")
    shop.kept("finder", finder, lambda: learn_finder(shop, finder, pools))

    embedder = shop.embedder("embedder")
    halfway = soup.between(before, finder, HALF)
    shop.kept("embedder", embedder, lambda: learn_embedder(shop, embedder, halfway, pools))
    learn_rerankers(shop, teacher, pools)
    shop.say("learnt all")


def learn_teacher(shop: Workshop, teacher: PairScorer, pools: Sequence[Sequence[Pools]]) -> None:
    """The large cross-encoder."""
    feed = shop.feed(pools, pairs=True, dress=_judging(shop.plan.dress))
    fit_rerankers([teacher], feed, shop.lengths.teacher, shop.device)


def learn_finder(shop: Workshop, finder: SentenceEncoder, pools: Sequence[Sequence[Pools]]) -> None:
    """By contrast alone."""
    settings = shop.lengths.finder
    fit_embedder(finder, shop.feed(pools, negatives=settings.negatives), settings, shop.device)


def learn_list_reader(shop: Workshop) -> ListScorer:
    """Goes on from the reranker of `best`, with two seeds, and is the mean of both."""
    model = ListScorer(shop.reranker("reranker-best").encoder).to(shop.device)

    def learn() -> None:
        settings, feed = shop.lengths.lists, shop.list_feed(shop.embedder("finder"))
        one, other = (
            fit_list_reader(
                copy.deepcopy(model), feed, settings.steps, settings.rate, seed, shop.device, shop.say
            ).state_dict()
            for seed in settings.seeds
        )
        model.load_state_dict({name: (one[name] + other[name]) / 2 for name in one})

    return cast("ListScorer", shop.kept("lists", model, learn))


def learn_embedder(
    shop: Workshop, embedder: SentenceEncoder, finder: SentenceEncoder, pools: Sequence[Sequence[Pools]]
) -> None:
    """The small embedder learns the cosines of the finder."""
    settings = shop.lengths.embedder
    fit_embedder(embedder, shop.feed(pools, negatives=settings.negatives), settings, shop.device, finder)


def learn_rerankers(shop: Workshop, teacher: PairScorer, pools: Sequence[Sequence[Pools]]) -> None:
    """Three and six layers together, from the teacher."""
    models = {name: shop.reranker(name) for name in WORDS_OF}
    files = [shop.made / f"{name}.safetensors" for name in models]
    if not all(file.is_file() for file in files):
        shop.say("learning the rerankers")
        feed = shop.feed(pools, pairs=True, dress=replace(_judging(shop.plan.dress), short=SHORT))
        fit_rerankers(list(models.values()), feed, shop.lengths.reranker, shop.device, teacher)
        for file, model in zip(files, models.values(), strict=True):
            save_weights(model, file)


def _judging(dress: Dress) -> Dress:
    return replace(dress, unanswered=UNANSWERED, misleading=MISLEADING)
