"""Bring what training starts from into one folder: the shipped models, read back from int8, and the data."""

from __future__ import annotations

import shutil
from pathlib import Path

import base
from recipe import DATA, LAYERS, TOKENIZER, WORDS_OF

PACKAGES = Path(__file__).parents[1] / "packages"
SHIPPED = {
    "finder": "memorist-models-best/src/memorist_models_best/memorist-embed-*",
    "embedder": "memorist-models/src/memorist_models/memorist-embed-*",
    "reranker": "memorist-models/src/memorist_models/memorist-rerank-*",
    "reranker-best": "memorist-models-best/src/memorist_models_best/memorist-rerank-*",
}


def pack(data: Path, given: Path, packages: Path = PACKAGES) -> None:
    """Everything that `learn` reads; what is there already stays."""
    given.mkdir(parents=True, exist_ok=True)
    for name in LAYERS:
        folder = next(packages.glob(SHIPPED[name]))
        if not (given / f"{name}.safetensors").is_file():
            base.save_int8(_own(name, base.read_back(folder)), given / f"{name}.safetensors")
        shutil.copyfile(folder / TOKENIZER, given / TOKENIZER)
    if not (given / DATA).is_file():
        shutil.copyfile(data / DATA, given / DATA)


def _own(name: str, state: dict[str, base.Tensor]) -> dict[str, base.Tensor]:
    """Without the word table where an embedder has the same."""
    return {key: value for key, value in state.items() if name not in WORDS_OF or not key.endswith(base.WORDS)}
