"""The recipe: from the data and the base models to the weights of embedders and rerankers.

Twelve layers of e5-small become a finder (an embedder) and a teacher (a cross-encoder). The finder ships as the
embedder of `best`. The small models learn from both, on from what `memorist-models` has.
"""

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
import torch
import validation
from base import CONFIG
from corpus import Source
from encoder import Encoder, EncoderConfig, PairScorer, SentenceEncoder
from feed import Feed, Plan
from fit import Settings, fit_embedder, fit_rerankers
from lists import Dress, Pools
from safetensors.torch import load_file, save_file
from tokens import open_tokenizer
from torch import nn

DATA = "train.json.xz"
E5, TEACHER = "e5-small.safetensors", "teacher.safetensors"
EMBEDDER, RERANKER = "embedder.safetensors", "reranker.safetensors"
TOKENIZER = "tokenizer.json"
PREFIXES = "query: ", "passage: "  # as e5 was trained; for its mining alone
CLOZE_SEED = 5
E5_LAYERS, EMBEDDER_LAYERS, RERANKER_LAYERS = 12, 6, 3
CUT = (0, 2, 4, 7, 9, 11)  # of the teacher, for the six layers of `best`
SHORT = 0.5  # of a small reranker's lists have little of the turns around
EVERYDAY_LISTS, WORLD_ROUNDS = 12_000, 3  # of our own, in an epoch
UNANSWERED, MISLEADING = 0.1, 0.2  # shares of a reranker's lists


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long each part learns."""

    finder: Settings = field(default_factory=lambda: Settings(epochs=2, rate=8e-5, negatives=4, seed=501))
    teacher: Settings = field(default_factory=lambda: Settings(epochs=2, rate=6e-5, seconds=240, seed=502))
    taught: Settings = field(
        default_factory=lambda: Settings(epochs=1, rate=3e-5, distilled=0.5, negatives=5, seconds=120, seed=503)
    )
    embedder: Settings = field(
        default_factory=lambda: Settings(epochs=5, rate=1e-4, distilled=0.7, negatives=4, seconds=330, seed=504)
    )
    reranker: Settings = field(
        default_factory=lambda: Settings(epochs=6, rate=2e-4, distilled=0.7, seconds=900, seed=505)
    )


SMALL_PLAN = Plan(block=6, negatives=3, most_blocks=2, turns=5, everyday=4, worlds=1)
SMALL_LENGTHS = Lengths(
    finder=Settings(epochs=1, rate=6e-5, negatives=3),
    teacher=Settings(epochs=1, rate=1e-4, seconds=60),
    taught=Settings(epochs=1, rate=3e-5, distilled=0.5, negatives=3),
    embedder=Settings(epochs=1, rate=1e-4, distilled=0.7, negatives=3),
    reranker=Settings(epochs=1, rate=3e-4, distilled=0.7, seconds=60),
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
        return [pairs.with_turns(one) for one in training], [pairs.with_turns(one) for one in held]

    @cached_property
    def tokenizer(self):
        return open_tokenizer(self.given / TOKENIZER)

    @cached_property
    def held(self) -> list[validation.HeldOut]:
        return validation.tasks(self.split[1])

    def encoder(self, name: str, layers: int) -> Encoder:
        """The encoder of a file in `given`."""
        encoder = Encoder(config(layers))
        encoder.load_state_dict(base.of_encoder(base.load_int8(self.given / name)))
        return encoder

    def finder(self) -> SentenceEncoder:
        """e5-small as an embedder, on the device."""
        return SentenceEncoder(self.encoder(E5, E5_LAYERS)).to(self.device).eval()

    def teacher(self) -> PairScorer:
        """e5-small as a cross-encoder, or the teacher of an earlier run; on the device."""
        model = PairScorer(self.encoder(E5, E5_LAYERS), mean=True)
        if (self.given / TEACHER).is_file():
            words = {f"encoder.{base.WORDS}": model.encoder.words.weight.detach()}
            model.load_state_dict({**base.with_both_heads(base.load_int8(self.given / TEACHER)), **words})
        return model.to(self.device).eval()

    def embedder(self) -> SentenceEncoder:
        """The small embedder as it was, on the device."""
        return SentenceEncoder(self.encoder(EMBEDDER, EMBEDDER_LAYERS)).to(self.device).eval()

    def reranker(self) -> PairScorer:
        """The small reranker as it was, on the device; a head that it has not is the one it has."""
        words = f"encoder.{base.WORDS}"  # one table for both small models
        state = base.load_int8(self.given / RERANKER) | {words: base.load_int8(self.given / EMBEDDER)[words]}
        model = PairScorer(Encoder(config(RERANKER_LAYERS)))
        model.load_state_dict(base.with_both_heads(state))
        return model.to(self.device).eval()

    def mine(self, model: SentenceEncoder, prefixes: tuple[str, str] = ("", "")) -> list[list[Pools]]:
        pools = mining.mine(model, self.split[0], self.tokenizer, self.device, prefixes)
        self.say("mined negatives")
        return pools

    def feed(self, pools: Sequence[Sequence[Pools]], **changes: object) -> Feed:
        return Feed(self.split[0], pools, self.tokenizer, replace(self.plan, **changes))

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
    state = {name: one.half().cpu().contiguous() for name, one in model.state_dict().items() if not _is_words(name)}
    part = file.with_suffix(".part")
    save_file(state, str(part))
    part.replace(file)


def load_weights(model: nn.Module, file: Path) -> None:
    """Fill a model, whose word table stays as it is."""
    state = {name: one.float() for name, one in load_file(str(file)).items()}
    words = {name: one for name, one in model.state_dict().items() if _is_words(name)}
    model.load_state_dict({**state, **words})


def _is_words(name: str) -> bool:
    return name.endswith(base.WORDS)


def learn(shop: Workshop) -> None:
    """All models, each in `made`; a run that was stopped goes on where it was."""
    finder = shop.finder()
    first = shop.mine(finder, PREFIXES)
    shop.kept("first", finder, lambda: learn_finder(shop, finder, first))
    hard = shop.mine(finder)

    teacher = shop.teacher()
    shop.kept("teacher", teacher, lambda: learn_teacher(shop, teacher, hard))
    shop.kept("finder", finder, lambda: learn_taught(shop, finder, teacher, hard))

    embedder = shop.embedder()
    shop.kept("embedder", embedder, lambda: learn_embedder(shop, embedder, finder, hard))
    learn_rerankers(shop, teacher, hard)
    shop.say("learnt all")


def learn_finder(shop: Workshop, finder: SentenceEncoder, pools: Sequence[Sequence[Pools]]) -> None:
    """By contrast alone."""
    settings = shop.lengths.finder
    fit_embedder(finder, shop.feed(pools, negatives=settings.negatives), settings, shop.device)


def learn_teacher(shop: Workshop, teacher: PairScorer, pools: Sequence[Sequence[Pools]]) -> None:
    """The large cross-encoder."""
    feed = shop.feed(pools, pairs=True, dress=_judging(shop.plan.dress))
    fit_rerankers([teacher], feed, shop.lengths.teacher, shop.device)


def learn_taught(
    shop: Workshop, finder: SentenceEncoder, teacher: PairScorer, pools: Sequence[Sequence[Pools]]
) -> None:
    """The finder goes on with negatives of its own and the teacher's order of them."""
    settings = shop.lengths.taught
    feed = shop.feed(pools, pairs=True, negatives=settings.negatives)
    fit_embedder(finder, feed, settings, shop.device, teacher)


def learn_embedder(
    shop: Workshop, embedder: SentenceEncoder, finder: SentenceEncoder, pools: Sequence[Sequence[Pools]]
) -> None:
    """The small embedder learns the cosines of the finder."""
    settings = shop.lengths.embedder
    fit_embedder(embedder, shop.feed(pools, negatives=settings.negatives), settings, shop.device, finder)


def learn_rerankers(shop: Workshop, teacher: PairScorer, pools: Sequence[Sequence[Pools]]) -> None:
    """Three and six layers together, from the teacher."""
    models = {"reranker": shop.reranker(), "reranker-best": cut(teacher).to(shop.device)}
    files = [shop.made / f"{name}.safetensors" for name in models]
    if not all(one.is_file() for one in files):
        shop.say("learning the rerankers")
        dress = replace(_judging(shop.plan.dress), short=SHORT)
        feed = shop.feed(pools, pairs=True, dress=dress)
        fit_rerankers(list(models.values()), feed, shop.lengths.reranker, shop.device, teacher)
        for file, model in zip(files, models.values(), strict=True):
            save_weights(model, file)


def cut(teacher: PairScorer) -> PairScorer:
    """A scorer that starts from some layers of its teacher."""
    model = PairScorer(base.picked(teacher.encoder, CUT))
    model.start_from(teacher)
    return model


def _judging(dress: Dress) -> Dress:
    return replace(dress, unanswered=UNANSWERED, misleading=MISLEADING)
