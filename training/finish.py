"""From weights to the finished int8 models in their packages."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import calibrate
import corpus
import soup
import torch
from base import GRAPHS
from compare import compare_embedder, compare_lists, compare_reranker
from encoder import PairScorer, SentenceEncoder
from graph import ANSWERS, EMBEDDING, OPSET, SCORE, TOKENS, embedder_graph, lists_graph, scorer_graphs
from list_reader import MOST_TOKENS as LIST_TOKENS
from list_reader import ListScorer
from recipe import DATA, TOKENIZER, Workshop, load_weights
from render import CONTEXT_MARK
from tokenizers import Tokenizer

FAST, BEST = "memorist-models/src/memorist_models", "memorist-models-best/src/memorist_models_best"
RECIPE = 7  # raised when the same commands would give another file
LISTS = "lists.onnx"
MAX_TOKENS = 256
TOKENS_PER_BATCH = 256  # larger batches leave the processor's cache and are slower
KEPT = {"finder": 0.5, "embedder": 0.6}  # the share of the trained weights; the rest are those it started from
LICENCE = "Apache-2.0"
MINILM, E5 = "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0", "intfloat/e5-small, MIT"
EMBEDDERS = {"embedder": (f"{FAST}/memorist-embed-3", MINILM), "finder": (f"{BEST}/memorist-embed-3-best", E5)}
RERANKERS = {"reranker": (f"{FAST}/memorist-rerank-4", MINILM), "reranker-best": (f"{BEST}/memorist-rerank-4-best", E5)}

TEMPLATE = {
    "alone": "[date] Speaker: text",
    "context": f"[date] Speaker: text {CONTEXT_MARK} before: Speaker: text {CONTEXT_MARK} after: Speaker: text",
}


def finish(shop: Workshop, packages: Path) -> None:
    """Export, quantise, compare and write those that were learnt."""
    torch.set_num_threads(1)  # sums in one order
    writer = _Writer(shop)
    learnt = {file.stem for file in shop.made.glob("*.safetensors")}
    for name, (folder, upstream) in EMBEDDERS.items():
        if name in learnt:
            writer.embedder(_mixed(shop, name), packages / folder, upstream)
    for name, (folder, upstream) in RERANKERS.items():
        if name in learnt:
            model = shop.reranker(name)
            load_weights(model, shop.made / f"{name}.safetensors")
            writer.reranker(model.cpu().eval(), packages / folder, upstream)
    if "lists" in learnt:
        lists = ListScorer(shop.reranker("reranker-best").encoder)
        load_weights(lists, shop.made / "lists.safetensors")
        writer.list_reader(lists.cpu().eval(), [packages / folder for folder, _ in RERANKERS.values()])


def _mixed(shop: Workshop, name: str) -> SentenceEncoder:
    start = shop.embedder(name).cpu()
    trained = copy.deepcopy(start)
    load_weights(trained, shop.made / f"{name}.safetensors")
    return soup.between(start, trained, KEPT[name])


class _Writer:
    """Makes and writes the files of a model."""

    def __init__(self, shop: Workshop) -> None:
        self.tokenizer = (shop.given / TOKENIZER).read_bytes()
        self.reader = Tokenizer.from_buffer(self.tokenizer)
        self.reader.no_padding()
        self.reader.enable_truncation(MAX_TOKENS)
        self.sources = corpus.read(shop.given / DATA)

    def embedder(self, model: SentenceEncoder, folder: Path, upstream: str) -> None:
        seen = calibrate.spans(model, calibrate.sample_texts(self.sources, self.reader))
        file = embedder_graph(model, seen, MAX_TOKENS).SerializeToString(deterministic=True)
        compare_embedder(model, file, self.reader)
        facts = {"kind": "embedder", "dim": 384, "outputs": {name: name for name in (EMBEDDING, TOKENS)}}
        self._write(folder, [file], facts, upstream)

    def reranker(self, model: PairScorer, folder: Path, upstream: str) -> None:
        pairs = calibrate.sample_pairs(self.sources, self.reader) + calibrate.everyday_pairs(self.reader)
        graphs = scorer_graphs(model, calibrate.spans(model, pairs), MAX_TOKENS)
        files = [graph.SerializeToString(deterministic=True) for graph in graphs]
        compare_reranker(model, files, self.reader)
        facts = {"kind": "reranker", "outputs": {name: name for name in (SCORE, ANSWERS)}}
        self._write(folder, files, facts, upstream)

    def list_reader(self, model: ListScorer, folders: Sequence[Path]) -> None:
        """One graph, beside the graphs of each reranker."""
        lists = calibrate.sample_lists(self.reader)
        file = lists_graph(model, calibrate.spans_of_lists(model, lists), LIST_TOKENS).SerializeToString(
            deterministic=True
        )
        compare_lists(model, file, self.reader)
        for folder in folders:
            _replace(folder / LISTS, file)
            manifest = json.loads((folder / "model.json").read_text("utf-8"))
            manifest["sha256"][LISTS] = _sha256(file)
            _replace(folder / "model.json", _as_json(manifest))
        print(f"{_sha256(file)}  {LISTS}  {len(file):,} bytes")

    def _write(self, folder: Path, graphs: Sequence[bytes], facts: Mapping[str, object], upstream: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        files = {**dict(zip(GRAPHS, graphs, strict=False)), TOKENIZER: self.tokenizer}
        for name, data in files.items():
            _replace(folder / name, data)
            print(f"{_sha256(data)}  {folder.name}/{name}  {len(data):,} bytes")
        manifest = {
            "name": folder.name,
            "max_tokens": MAX_TOKENS,
            "tokens_per_batch": TOKENS_PER_BATCH,
            **facts,
            "template": TEMPLATE,
            "licence": LICENCE,
            "source": {"upstream": upstream, "teacher": E5, "data": sorted(set(corpus.LICENCES.values()))},
            "recipe": {"script": "training/train.py", "version": RECIPE, "opset": OPSET},
            "sha256": {name: _sha256(data) for name, data in files.items()},
        }
        _replace(folder / "model.json", _as_json(manifest))


def _as_json(manifest: Mapping[str, object]) -> bytes:
    return f"{json.dumps(manifest, indent=2, ensure_ascii=False)}\n".encode()


def _replace(file: Path, data: bytes) -> None:
    """Whoever reads the file meanwhile has the old one or the new one, whole."""
    part = file.with_name(f".{file.name}.part")
    part.write_bytes(data)
    part.replace(file)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
