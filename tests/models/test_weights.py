"""The weights of a model stay in its file: the graph that is loaded is small, says where they are, and runs alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.models.folder import INPUTS, SETS, Kind, OnnxGraph, of_set, onnx_runtime
from memorist.models.weights import LEAST, without_weights

INT8, FLOAT = b"\x10\x03", b"\x10\x01"
"""Field 2 of a tensor, its data type."""
FROM_ELSEWHERE = b"\x70\x01"
"""Field 14 of a tensor: its numbers lie in another file."""


def varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def tensor(name: bytes, kind: bytes, numbers: bytes) -> bytes:
    return field(5, kind + field(8, name) + field(9, numbers))


def test_a_large_tensor_is_replaced_by_its_place() -> None:
    large, small = b"\x07" * LEAST, tensor(b"small", INT8, b"\x05" * 9)
    model = b"\x08\x09" + field(7, small + tensor(b"large", INT8, large))
    place = [(b"location", b"model.onnx"), (b"offset", str(model.index(large)).encode()), (b"length", b"65536")]
    entries = b"".join(field(13, field(1, key) + field(2, value)) for key, value in place)
    moved = field(5, INT8 + field(8, b"large") + entries + FROM_ELSEWHERE)
    assert without_weights(memoryview(model), "model.onnx") == b"\x08\x09" + field(7, small + moved)


@pytest.mark.parametrize(("kind", "size"), [(FLOAT, LEAST), (INT8, LEAST - 1)])
def test_a_file_is_read_whole_if_its_tensors_are_wide_or_small(kind: bytes, size: int) -> None:
    model = field(7, tensor(b"one", kind, b"\x07" * size))
    assert without_weights(memoryview(model), "model.onnx") is None


@given(st.binary(max_size=200), st.integers(0, 200))
def test_what_is_not_a_model_is_refused_or_copied(noise: bytes, cut: int) -> None:
    model = field(7, tensor(b"large", INT8, b"\x07" * LEAST) + noise)
    for data in (noise, model, model[: len(model) - cut]):
        try:
            light = without_weights(memoryview(data), "model.onnx")
        except (ValueError, IndexError):
            continue
        assert light is None or len(light) < len(data)


@pytest.mark.parametrize("kind", ["embedder", "reranker"])
@pytest.mark.parametrize("models", SETS)
def test_a_shipped_model_runs_the_same_to_the_last_bit(models: str, kind: Kind, tmp_path: Path) -> None:
    file = of_set(models, kind) / "model.onnx"
    light = without_weights(memoryview(file.read_bytes()), file.name)
    assert light is not None and len(light) < file.stat().st_size / 10
    runtime = onnx_runtime()
    options: Any = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    whole: Any = runtime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    (tmp_path / "model.onnx").symlink_to(file)
    mapped = OnnxGraph(tmp_path / "model.onnx")
    ids = np.random.default_rng(5).integers(0, 30_000, (2, 33))
    inputs = dict(zip(INPUTS, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True))
    expected = whole.run(list(mapped.outputs), {name: inputs[name] for name in mapped.inputs})
    for one, other in zip(mapped.run_all(mapped.outputs, inputs), expected, strict=True):
        assert one.tobytes() == other.tobytes()
