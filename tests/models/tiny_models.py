"""Packages of models small enough to be written by a test: real ONNX files, a row of numbers per word."""

from __future__ import annotations

import hashlib
import json
import random
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from memorist.models.folder import SETS, Kind

WORDS = ("[UNK]", "ann", "ben", "keeps", "a", "lamp", "fox", "where", "does", "keep", "Ann", "Ben", "Where", ".", "?")
DIM = 16
_FLOAT, _INT64, _INT, _INTS = 1, 7, 2, 7
"""Numbers of types in ONNX: of tensors, then of attributes."""


def install(monkeypatch: pytest.MonkeyPatch, site: Path, *names: str) -> None:
    """Install the packages of these sets in a folder, and hide those that are really installed."""
    for seed, (name, chosen) in enumerate(SETS.items()):
        package = package_of(site, name)
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        if name in names:
            write_model(package / chosen.embedder, "embedder", seed)
            write_model(package / chosen.reranker, "reranker", seed)
        monkeypatch.delitem(sys.modules, package.name, raising=False)
    monkeypatch.syspath_prepend(site)


def package_of(site: Path, name: str) -> Path:
    """The folder of a set's package."""
    return site / SETS[name].package.replace("-", "_")


def write_model(folder: Path, kind: Kind, seed: int) -> None:
    """A model whose output is the mean of its words' rows: a vector, or a single number for a reranker."""
    dice, width = random.Random(seed), DIM if kind == "embedder" else 1
    rows = [dice.gauss(0, 1) for _ in range(len(WORDS) * width)]
    output = "embedding" if kind == "embedder" else "score"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(_model(rows, width, output))
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer.save(str(folder / "tokenizer.json"))
    checksums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    manifest = {"name": folder.name, "kind": kind, "outputs": {output: output}, "sha256": checksums}
    (folder / "model.json").write_text(json.dumps(manifest | ({"dim": width} if kind == "embedder" else {})))


# The wire format of protocol buffers, as far as an ONNX file needs it.


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _model(rows: list[float], width: int, output: str) -> bytes:
    """Gather the row of each token, and take the mean over the tokens; over the row too where it is one number."""
    table = (
        b"".join(_number(1, size) for size in (len(rows) // width, width))
        + _number(2, _FLOAT)
        + _bytes(8, "table")
        + _bytes(9, struct.pack(f"<{len(rows)}f", *rows))
    )
    axes = [1] if width > 1 else [1, 2]
    mean = [_ints("axes", axes), _bytes(1, "keepdims") + _number(3, 0) + _number(20, _INT)]
    graph = (
        _bytes(1, _node("Gather", ["table", "input_ids"], "states"))
        + _bytes(1, _node("ReduceMean", ["states"], output, mean))
        + _bytes(2, "tiny")
        + _bytes(5, table)
        + _bytes(11, _tensor("input_ids", _INT64, ["batch", "length"]))
        + _bytes(12, _tensor(output, _FLOAT, ["batch"] if width == 1 else ["batch", "width"]))
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13))


def _node(kind: str, inputs: Iterable[str], output: str, attributes: Iterable[bytes] = ()) -> bytes:
    named = b"".join(_bytes(1, value) for value in inputs) + _bytes(2, output) + _bytes(3, output) + _bytes(4, kind)
    return named + b"".join(_bytes(5, attribute) for attribute in attributes)


def _ints(name: str, values: Iterable[int]) -> bytes:
    return _bytes(1, name) + b"".join(_number(8, value) for value in values) + _number(20, _INTS)


def _tensor(name: str, kind: int, sizes: Iterable[str]) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, size)) for size in sizes)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))
