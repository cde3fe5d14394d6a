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
from safetensors.torch import load_file, save_file
from torch import Tensor

WORDS = "words.weight"
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
