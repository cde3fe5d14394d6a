"""The recipe of `memorist-rerank-2`: a teacher of twelve layers, and the students that learn from it together.

It needs the e5-small of `pack` and the three layers of `learn`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import base
import choose
import mining
import torch
from base import CONFIG
from encoder import Encoder, EncoderConfig, PairScorer, SentenceEncoder
from fit import Settings, fit_rerankers
from recipe import SHORT, STUDENTS, Workshop, load_weights, save_weights

E5, UPSTREAM = "e5-small.safetensors", "intfloat/e5-small"
PREFIXES = "query: ", "passage: "  # as e5 was trained; for mining alone
LISTS, UNANSWERED = 40_000, 0.12  # of our own in an epoch; share of the others
LAYERS = 12
TEACHER = "teacher-12"
CUT: dict[str, tuple[int, ...]] = {"everyday-5": (0, 3, 6, 9, 11)}
STARTED_FROM, FURTHER = "rerank-3", "everyday-3"  # three layers that learn on


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long each part learns."""

    teacher: Settings = field(default_factory=lambda: Settings(epochs=3, rate=1e-4, binary=1.0, seconds=430, seed=401))
    student: Settings = field(
        default_factory=lambda: Settings(epochs=6, rate=3e-4, binary=1.0, distilled=0.7, seconds=720, seed=402)
    )


SMALL_LENGTHS = Lengths(
    Settings(1, 1e-4, binary=1.0, seconds=20), Settings(1, 3e-4, binary=1.0, distilled=0.7, seconds=20)
)


def learn_rerankers(shop: Workshop, lengths: Lengths | None = None) -> None:
    """All of them, in `made`."""
    lengths = lengths or (SMALL_LENGTHS if shop.small else Lengths())
    encoder = e5(shop.given / E5)
    finder = SentenceEncoder(encoder).to(shop.device).eval()
    pools = mining.mine(finder, shop.split[0], shop.tokenizer, shop.device, PREFIXES)
    shop.say("mined negatives")
    dress = replace(shop.plan.dress, unanswered=UNANSWERED)
    lists = 8 if shop.small else LISTS
    plan = replace(shop.plan, pairs=True, everyday=lists, dress=dress)
    teacher = PairScorer(encoder, mean=True).to(shop.device)
    fit_rerankers([teacher], shop.feed(pools, plan), lengths.teacher, shop.device)
    teacher.eval()
    save_weights(teacher, shop.made / f"{TEACHER}.safetensors")
    shop.say("learnt the teacher")

    plan = replace(plan, dress=replace(dress, short=SHORT))
    students = {name: cut(teacher, layers).to(shop.device) for name, layers in CUT.items()}
    students[FURTHER] = choose.reranker(shop, STARTED_FROM)
    fit_rerankers(list(students.values()), shop.feed(pools, plan), lengths.student, shop.device, teacher)
    for name, student in students.items():
        save_weights(student, shop.made / f"{name}.safetensors")
    shop.say("learnt all")


def trained(shop: Workshop) -> PairScorer:
    """The reranker that ships, with the weights in `made`."""
    model = PairScorer(Encoder(config(len(STUDENTS[STARTED_FROM]))))
    model.encoder.words.weight.data = torch.from_numpy(base.word_table(shop.model))
    load_weights(model, shop.made / f"{FURTHER}.safetensors")
    return model.eval()


def e5(file: Path) -> Encoder:
    """The encoder of e5-small; its word table is what an int8 model has."""
    encoder = Encoder(config(LAYERS))
    encoder.load_state_dict(base.load_int8(file))
    return encoder


def config(layers: int) -> EncoderConfig:
    return EncoderConfig(
        **{name: getattr(CONFIG, name) for name in CONFIG.__dataclass_fields__} | {"num_hidden_layers": layers}
    )


def cut(teacher: PairScorer, layers: tuple[int, ...]) -> PairScorer:
    """A scorer that starts from some layers of its teacher."""
    model = PairScorer(base.picked(teacher.encoder, layers))
    model.start_from(teacher)
    return model
