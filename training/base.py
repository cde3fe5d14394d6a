"""The weights that training starts from: all-MiniLM-L6-v2, compact enough to travel.

The word table comes from the finished int8 model and never changes, so every model here is trained with the
very rows that it will read, and all of them have the same ones. The layers are rounded to half precision.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from encoder import Encoder, EncoderConfig, load_encoder
from onnx import numpy_helper
from quantise import quantise_rows
from safetensors.torch import load_file, save_file
from torch import Tensor

WORDS = "words.weight"
INTEGERS, SCALES = "_int8", "_scale"
CONFIG = EncoderConfig(
    vocab_size=30522,
    hidden_size=384,
    intermediate_size=1536,
    num_hidden_layers=6,
    num_attention_heads=12,
    max_position_embeddings=512,
    type_vocab_size=2,
    layer_norm_eps=1e-12,
)


def pack(checkpoint: dict[str, Tensor], config: EncoderConfig, file: Path) -> None:
    """Write all of a BERT checkpoint but its word table, in half precision."""
    file.parent.mkdir(parents=True, exist_ok=True)
    state = load_encoder(config, checkpoint).state_dict()
    save_file({name: one.half() for name, one in state.items() if name != WORDS}, str(file))


def load(layers: Path, words: Path, config: EncoderConfig = CONFIG) -> Encoder:
    """The encoder from packed layers and the word table of an int8 model."""
    encoder = Encoder(config)
    state = {name: one.float() for name, one in load_file(str(layers)).items()}
    encoder.load_state_dict({**state, WORDS: torch.from_numpy(word_table(words))})
    return encoder


def pack_int8(checkpoint: dict[str, Tensor], config: EncoderConfig, file: Path) -> None:
    """Write a BERT checkpoint in 8 bits, a scale for each row; vectors stay in half precision."""
    file.parent.mkdir(parents=True, exist_ok=True)
    save_int8(load_encoder(config, checkpoint).state_dict(), file)


def save_int8(state: dict[str, Tensor], file: Path) -> None:
    packed: dict[str, Tensor] = {}
    for name, one in state.items():
        if one.ndim < 2:
            packed[name] = one.half().cpu().contiguous()
            continue
        integers, scales = quantise_rows(one.detach().float().cpu().numpy())
        packed |= {f"{name}{INTEGERS}": torch.from_numpy(integers), f"{name}{SCALES}": torch.from_numpy(scales)}
    save_file(packed, str(file))


def load_int8(file: Path) -> dict[str, Tensor]:
    packed = load_file(str(file))
    state = {name: one.float() for name, one in packed.items() if not name.endswith((INTEGERS, SCALES))}
    for name in (one.removesuffix(INTEGERS) for one in packed if one.endswith(INTEGERS)):
        state[name] = packed[f"{name}{INTEGERS}"].float() * packed[f"{name}{SCALES}"].float()
    return state


def word_table(model: Path) -> np.ndarray:
    """The word embeddings as the int8 model has them, in float."""
    tensors = {one.name: one for one in onnx.load(str(model)).graph.initializer}
    name = next(one for one in tensors if one.endswith(f"{WORDS}_int8"))
    integers = numpy_helper.to_array(tensors[name]).astype(np.float32)
    return integers * numpy_helper.to_array(tensors[name.removesuffix("int8") + "scale"])


def picked(encoder: Encoder, layers: tuple[int, ...]) -> Encoder:
    """A copy with some of the layers."""
    config = EncoderConfig(**{**_fields(encoder), "num_hidden_layers": len(layers)})
    smaller = Encoder(config)
    state = encoder.state_dict()
    renamed = {name: one for name, one in state.items() if not name.startswith("layers.")}
    for place, layer in enumerate(layers):
        prefix = f"layers.{layer}."
        renamed |= {
            f"layers.{place}.{name.removeprefix(prefix)}": one for name, one in state.items() if name.startswith(prefix)
        }
    smaller.load_state_dict(renamed)
    return smaller


def _fields(encoder: Encoder) -> dict[str, object]:
    config = encoder.config
    return {name: getattr(config, name) for name in config.__dataclass_fields__}
