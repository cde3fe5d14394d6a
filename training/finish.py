"""From weights to the finished int8 models in their folders."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import calibrate
import corpus
import numpy as np
import reranking
import soup
import torch
from choose import MEAN
from encoder import PairScorer, SentenceEncoder
from export_minilm import (
    MAX_TOKENS,
    OUTPUTS,
    SENTENCES,
    TOKENS_PER_BATCH,
    UPSTREAM,
    WEIGHTS_SHA256,
    load_tokenizer,
    report,
    sha256,
)
from graph import IDS, OPSET, SCORE, TYPES, embedder_graph, scorer_graph
from recipe import ALPHA, DATA, Workshop, load_weights
from render import CONTEXT_MARK
from tokenizers import Tokenizer

from memorist.models.folder import onnx_runtime

EMBEDDER, RERANKER = "memorist-embed-1", "memorist-rerank-2"
RECIPE = 4
LEAST_CORRELATION = 0.98
LICENCE = "Apache-2.0"

TEMPLATE = {
    "alone": "[date] Speaker: text",
    "context": f"[date] Speaker: text {CONTEXT_MARK} before: Speaker: text {CONTEXT_MARK} after: Speaker: text",
}


def finish(shop: Workshop, models: Path, alpha: float = ALPHA) -> None:
    """Mix, export, quantise, compare and write the embedder."""
    tokenizer, reader, texts = _given(shop)
    embedder = _mixed(shop, alpha)
    seen = calibrate.spans(embedder, calibrate.sample_texts(texts, reader))
    file = embedder_graph(embedder, seen, MAX_TOKENS).SerializeToString(deterministic=True)
    report(embedder, file, reader)
    facts = {"kind": "embedder", "dim": 384, "outputs": {name: name for name in OUTPUTS}}
    _write(models / EMBEDDER, file, tokenizer, {**facts, "alpha": alpha})


def finish_reranker(shop: Workshop, models: Path) -> None:
    """Export, quantise, compare and write the reranker."""
    tokenizer, reader, texts = _given(shop)
    scorer = reranking.trained(shop)
    seen = calibrate.spans(scorer, calibrate.sample_pairs(texts, reader) + calibrate.everyday_pairs(reader))
    file = scorer_graph(scorer, seen, MAX_TOKENS).SerializeToString(deterministic=True)
    compare(scorer, file, reader)
    facts = {"kind": "reranker", "outputs": {SCORE: SCORE}}
    _write(models / RERANKER, file, tokenizer, facts, teacher=reranking.UPSTREAM)


def _given(shop: Workshop) -> tuple[bytes, Tokenizer, list[corpus.Source]]:
    torch.set_num_threads(1)  # sums in one order
    tokenizer = (shop.model.parent / "tokenizer.json").read_bytes()
    return tokenizer, load_tokenizer(tokenizer), corpus.read(shop.given / DATA)


def _mixed(shop: Workshop, alpha: float) -> SentenceEncoder:
    mean = shop.embedder()
    load_weights(mean, shop.made / f"{MEAN}.safetensors")
    return soup.between(shop.embedder(), mean, alpha).cpu()


def compare(scorer: PairScorer, file: bytes, reader: Tokenizer) -> None:
    """Print how near the int8 scores are to the original's, and stop when they are not near enough."""
    session = onnx_runtime().InferenceSession(file, providers=["CPUExecutionProvider"])
    ours, theirs = [], []
    for query in SENTENCES:
        for text in SENTENCES:
            encoded = reader.encode(query[:200], text)
            ids, types = (np.array([one], dtype=np.int64) for one in (encoded.ids, encoded.type_ids))
            with torch.inference_mode():
                theirs.append(scorer(torch.from_numpy(ids), torch.ones(ids.shape), torch.from_numpy(types)).item())
            ours.append(float(session.run([SCORE], {IDS: ids, TYPES: types})[0][0]))
    correlation = float(np.corrcoef(ours, theirs)[0, 1])
    largest = float(np.abs(np.array(ours) - np.array(theirs)).max())
    print(f"scores: correlation with float {correlation:.4f}, largest difference {largest:.3f}")
    if correlation < LEAST_CORRELATION:
        sys.exit(f"the quantised reranker is too far from the original: {correlation:.4f} < {LEAST_CORRELATION}")


def _write(folder: Path, model: bytes, tokenizer: bytes, facts: dict[str, object], **source: str) -> None:
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
            **source,
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
