"""The weights that training starts from, compact enough to travel.

Every model goes on from the shipped int8 file, read back. Its word table never changes, so it is trained with the very
rows that it will read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from encoder import EncoderConfig
from onnx import numpy_helper
from quantise import quantise_rows
from safetensors.torch import load_file, save_file
from torch import Tensor

WORDS = "words.weight"
INTEGERS, SCALES = "_int8", "_scale"
GRAPHS = ("model.onnx", "end.onnx")
"""The files of a finished model; a reranker has both."""
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


def save_int8(state: dict[str, Tensor], file: Path) -> None:
    """Write weights in 8 bits, a scale for each row; vectors stay in half precision."""
    file.parent.mkdir(parents=True, exist_ok=True)
    packed: dict[str, Tensor] = {}
    for name, weight in state.items():
        if weight.ndim < 2:
            packed[name] = weight.half().cpu().contiguous()
            continue
        integers, scales = quantise_rows(weight.detach().float().cpu().numpy())
        packed |= {f"{name}{INTEGERS}": torch.from_numpy(integers), f"{name}{SCALES}": torch.from_numpy(scales)}
    save_file(packed, str(file))


def load_int8(file: Path) -> dict[str, Tensor]:
    packed = load_file(str(file))
    state = {name: weight.float() for name, weight in packed.items() if not name.endswith((INTEGERS, SCALES))}
    for name in (key.removesuffix(INTEGERS) for key in packed if key.endswith(INTEGERS)):
        state[name] = packed[f"{name}{INTEGERS}"].float() * packed[f"{name}{SCALES}"].float()
    return state


def read_back(folder: Path) -> dict[str, Tensor]:
    """The weights of a finished int8 model, as near as its integers are (see `graph.py` for their names)."""
    files = [file for name in GRAPHS if (file := folder / name).is_file()]
    values = {
        tensor.name: numpy_helper.to_array(tensor)
        for file in files
        for tensor in onnx.load(str(file)).graph.initializer
    }
    state: dict[str, np.ndarray] = {
        name: array
        for name, array in values.items()
        if name.endswith((".bias", "norm.weight")) and array.dtype == np.float32
    }
    factor: np.ndarray | None = None
    for name in (value.removesuffix(INTEGERS) for value in values if value.endswith(INTEGERS)):
        weights = values[f"{name}{INTEGERS}"].astype(np.float32) * values[f"{name}{SCALES}"]
        if name == WORDS:
            state[f"encoder.{WORDS}"] = weights
            continue
        # Products that share an input are divided by the factors of the first of them: of the values, often the keys.
        own, key = (f"{weight.removesuffix('.weight')}.input_factor" for weight in (name, name.replace("value", "key")))
        factor = values.get(own, values.get(key, factor))
        assert factor is not None, f"nothing says by what the input of {name} is divided"
        state[name] = (weights * factor[:, None]).T
        state.setdefault(name.replace(".weight", ".bias"), np.zeros(weights.shape[1], np.float32))  # had no effect
    places, unused = values["places"], CONFIG.max_position_embeddings - len(values["places"])
    state["encoder.positions.weight"] = np.pad(places, ((0, unused), (0, 0)))
    state["encoder.types.weight"] = values.get("kinds", np.zeros((2, places.shape[1]), np.float32))
    return {name: torch.from_numpy(array.copy()) for name, array in state.items()}


def of_encoder(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The part of a state that belongs to the encoder, without its prefix."""
    return {
        name.removeprefix("encoder."): weight
        for name, weight in state.items()
        if not name.startswith(("ranking.", "answering."))
    }
