"""The recipe of `memorist-rerank-2`: a teacher of twelve layers, and the students that learn from it together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import base
import mining
import onnx
import torch
from base import CONFIG
from encoder import Encoder, EncoderConfig, PairScorer, SentenceEncoder
from fit import Settings, fit_rerankers
from onnx import numpy_helper
from recipe import SHORT, Workshop, save_weights

E5 = "e5-small.safetensors"
PREFIXES = "query: ", "passage: "  # as e5 was trained; for mining alone
LISTS, UNANSWERED = 40_000, 0.12  # of our own in an epoch; share of the others
LAYERS = 12
STUDENTS: dict[str, tuple[int, ...]] = {"rerank-5": (0, 3, 6, 9, 11)}


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long each part learns."""

    teacher: Settings = field(
        default_factory=lambda: Settings(epochs=3, rate=1e-4, binary=1.0, seconds=430, seed=401)
    )
    student: Settings = field(
        default_factory=lambda: Settings(epochs=6, rate=3e-4, binary=1.0, distilled=0.7, seconds=720, seed=402)
    )


def learn_rerankers(shop: Workshop, lengths: Lengths) -> None:
    """All of them, in `made`."""
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
    save_weights(teacher, shop.made / "teacher-12.safetensors")
    shop.say("learnt the teacher")

    plan = replace(plan, dress=replace(dress, short=SHORT))
    students = {name: cut(teacher, layers).to(shop.device) for name, layers in STUDENTS.items()}
    students["rerank-3"] = finished(shop.model.parents[1] / "memorist-rerank-1/model.onnx").to(shop.device)
    fit_rerankers(list(students.values()), shop.feed(pools, plan), lengths.student, shop.device, teacher)
    for name, student in students.items():
        save_weights(student, shop.made / f"{name}.safetensors")
    shop.say("learnt all")


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


def finished(file: Path, layers: int = 3) -> PairScorer:
    """The weights of a finished reranker, as far as its integers tell them."""
    held = {one.name: torch.from_numpy(numpy_helper.to_array(one).copy()) for one in onnx.load(str(file)).graph.initializer}
    model = PairScorer(Encoder(config(layers)))
    state = model.state_dict()
    for name in state:
        if name == "encoder.words.weight":
            state[name] = torch.from_numpy(base.word_table(file))
        elif name == "encoder.positions.weight":
            state[name][: len(held["places"])] = held["places"]
        elif name == "encoder.types.weight":
            state[name] = held["kinds"]
        elif f"{name}_int8" in held:
            module = name.removesuffix(".weight")
            shared = module.replace(".key", ".query").replace(".value", ".query")
            factor = held.get(f"{module}.input_factor", held.get(f"{shared}.input_factor"))
            if f"{module}.input_factor" not in held and ".value" in module and f"{shared}.input_factor" in held:
                last = module.replace(".value", ".key")
                factor = held.get(f"{last}.input_factor", factor)
            state[name] = (held[f"{name}_int8"].float() * held[f"{name}_scale"] * factor[:, None]).T
        else:
            state[name] = held[name]
    model.load_state_dict(state)
    return model
