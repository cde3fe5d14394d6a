"""From weights to the finished int8 models in their folders."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import corpus
import numpy as np
import onnx
import onnxruntime
import soup
import torch
from choose import MEAN, reranker
from encoder import PairScorer, SentenceEncoder
from export_minilm import (
    INPUTS,
    MAX_TOKENS,
    OPSET,
    OUTPUTS,
    SENTENCES,
    TOKENS_PER_BATCH,
    UPSTREAM,
    WEIGHTS_SHA256,
    export,
    load_tokenizer,
    padded,
    report,
    sha256,
)
from quantise import quantise
from recipe import ALPHA, Workshop, load_weights
from render import CONTEXT_MARK
from torch import nn

EMBEDDER, RERANKER = "recollect-embed-1", "recollect-rerank-1"
STUDENT = "rerank-3"
RECIPE = 2
LEAST_CORRELATION = 0.98
LICENCE = "Apache-2.0"

TEMPLATE = {
    "alone": "[date] Speaker: text",
    "context": f"[date] Speaker: text {CONTEXT_MARK} before: Speaker: text {CONTEXT_MARK} after: Speaker: text",
}


def finish(shop: Workshop, models: Path, alpha: float = ALPHA) -> None:
    """Mix, export, quantise, compare and write both models."""
    torch.set_num_threads(1)
    tokenizer = (shop.model.parent / "tokenizer.json").read_bytes()
    embedder = _mixed(shop, alpha)
    file = _quantised(embedder, OUTPUTS)
    report(embedder, file, load_tokenizer(tokenizer))
    facts = {"kind": "embedder", "dim": 384, "outputs": {name: name for name in OUTPUTS}}
    _write(models / EMBEDDER, file, tokenizer, {**facts, "alpha": alpha})

    scorer = reranker(shop, STUDENT).cpu()
    file = _quantised(scorer, ("score",))
    compare(scorer, file, tokenizer)
    _write(models / RERANKER, file, tokenizer, {"kind": "reranker", "outputs": {"score": "score"}})


def _mixed(shop: Workshop, alpha: float) -> SentenceEncoder:
    mean = shop.embedder()
    load_weights(mean, shop.made / f"{MEAN}.safetensors")
    return soup.between(shop.embedder(), mean, alpha).cpu()


def _quantised(model: SentenceEncoder | PairScorer, outputs: tuple[str, ...]) -> bytes:
    model.encoder.positions = nn.Embedding.from_pretrained(model.encoder.positions.weight[:MAX_TOKENS])
    graph = quantise(export(model, outputs))
    onnx.checker.check_model(graph, full_check=True)
    return graph.SerializeToString(deterministic=True)


def compare(scorer: PairScorer, file: bytes, tokenizer: bytes) -> None:
    """Print how near the int8 scores are to the original's, and stop when they are not near enough."""
    reader = load_tokenizer(tokenizer)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    ours, theirs = [], []
    for query in SENTENCES:
        for text in SENTENCES:
            encoded = reader.encode(query[:200], text)
            inputs = padded([encoded.ids])
            inputs["token_type_ids"][0] = encoded.type_ids
            with torch.inference_mode():
                theirs.append(scorer(*(torch.from_numpy(inputs[name]) for name in INPUTS)).item())
            ours.append(float(session.run(["score"], inputs)[0][0]))
    correlation = float(np.corrcoef(ours, theirs)[0, 1])
    largest = float(np.abs(np.array(ours) - np.array(theirs)).max())
    print(f"scores: correlation with float {correlation:.4f}, largest difference {largest:.3f}")
    if correlation < LEAST_CORRELATION:
        sys.exit(f"the quantised reranker is too far from the original: {correlation:.4f} < {LEAST_CORRELATION}")


def _write(folder: Path, model: bytes, tokenizer: bytes, facts: dict[str, object]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = {"model.onnx": model, "tokenizer.json": tokenizer}
    for name, data in files.items():
        _replace(folder / name, data)
        print(f"{sha256(data)}  {folder.name}/{name}  {len(data):,} bytes")
    manifest = {
        "name": folder.name,
        "max_tokens": MAX_TOKENS,
        "tokens_per_batch": TOKENS_PER_BATCH,
        **facts,
        "template": TEMPLATE,
        "licence": LICENCE,
        "source": {
            "upstream": UPSTREAM,
            "weights_sha256": WEIGHTS_SHA256,
            "data": sorted(set(corpus.LICENCES.values())),
        },
        "recipe": {"script": "training/train.py", "version": RECIPE, "opset": OPSET},
        "sha256": {name: sha256(data) for name, data in files.items()},
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    _replace(folder / "model.json", f"{text}\n".encode())


def _replace(file: Path, data: bytes) -> None:
    """Whoever reads the file meanwhile has the old one or the new one, whole."""
    part = file.with_name(f".{file.name}.part")
    part.write_bytes(data)
    part.replace(file)
