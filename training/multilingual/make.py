"""Make `memorist-embed-2-multilingual`.

    python training/multilingual/make.py [STAGE …] [--data FOLDER] [--work FOLDER] [--small]

Stages, all of them where none is named: `fetch` brings the packages from their registries, `texts` makes the pairs of
translations and the dictionary, `learn` trains, and `write` writes the int8 model. Only `learn` wants a GPU: a minute
of one, or some hours of a processor.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

import corpus  # noqa: E402
import numpy as np  # noqa: E402
import pairs  # noqa: E402
import torch  # noqa: E402
from blocks import QUERY, Blocks  # noqa: E402
from fetch import fetch  # noqa: E402
from learn import STEPS, Reader, Translations, fit, mine  # noqa: E402
from package import INSIDE, Package  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from student import Student  # noqa: E402
from switch import Switch  # noqa: E402
from table import four_bits, unpacked  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

ROOT = HERE.parents[1]
NAME = "memorist-embed-2-multilingual"
MODELS = ROOT / "packages/memorist-models-multilingual/src/memorist_models_multilingual"
STAGES = ("fetch", "texts", "learn", "write")
WEIGHTS = "weights.safetensors"
CLOZE_SEED, SEED = 5, 3
SMALL_PAIRS = 40


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"of {', '.join(STAGES)}")
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared/data/train", help="folder with train.json.xz"
    )
    parser.add_argument("--work", type=Path, default=ROOT / "build/multilingual", help="where packages and weights go")
    parser.add_argument("--models", type=Path, default=MODELS, help="where the finished model goes")
    parser.add_argument("--small", action="store_true", help="a small cut of everything, for a processor")
    options = parser.parse_args(arguments)
    if unknown := set(options.stages) - set(STAGES):
        parser.error(f"no stage {', '.join(sorted(unknown))}; there is {', '.join(STAGES)}")
    run = {"fetch": lambda given: fetch(given.work / "fetched"), "texts": texts, "learn": learn, "write": write}
    for stage in options.stages or STAGES:
        run[stage](options)


def texts(options: argparse.Namespace) -> None:
    """Pairs of translations, and the dictionary."""
    from dictionary import dictionary
    from translations import translations

    fetched = options.work / "fetched"
    _save(options.work / "translations.json.xz", translations(fetched))
    package = Package(fetched / "base" / INSIDE)
    reader, model = _reader(package, torch.device("cpu")), base(package)

    def embed(words: Sequence[str]) -> np.ndarray:
        return reader.embed(model, reader.encode(words, QUERY)).numpy()

    _save(options.work / "dictionary.json.xz", dictionary(fetched, corpus.read(options.data / "train.json.xz"), embed))


def learn(options: argparse.Namespace) -> None:
    """Train the student, and keep its weights in half precision."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(1)
    package = Package(options.work / "fetched/base" / INSIDE)
    reader, model = _reader(package, device), base(package).to(device)
    sources = corpus.read(options.data / "train.json.xz")
    sources = corpus.small(sources) if options.small else sources
    sources += [pairs.cloze(sources, CLOZE_SEED), pairs.told(sources)]
    training = [pairs.with_turns(source) for source in corpus.split(sources)[0]]
    told = _load(options.work / "translations.json.xz")
    if options.small:
        told = {
            language: {kind: rows[:SMALL_PAIRS] for kind, rows in parts.items()} for language, parts in told.items()
        }
    sizes: dict[str, Any] = {"size": 8, "everyday": 8} if options.small else {}
    blocks = Blocks(
        training,
        mine(reader, model, training),
        reader.encode,
        Switch(_load(options.work / "dictionary.json.xz")),
        workers=max(2, (os.cpu_count() or 4) - 2) if device.type == "cuda" else 0,
        **sizes,
    )
    fit(reader, model, blocks, Translations(told, reader, SEED), 2 if options.small else STEPS)
    state = {name: weight.half().cpu().contiguous() for name, weight in model.state_dict().items()}
    save_file(state, str(options.work / WEIGHTS))


def write(options: argparse.Namespace) -> None:
    """The finished model in its folder."""
    from write import write_model

    model = Student()
    model.load_state_dict({name: weight.float() for name, weight in load_file(str(options.work / WEIGHTS)).items()})
    package = Package(options.work / "fetched/base" / INSIDE)
    sources = corpus.read(options.data / "train.json.xz")
    write_model(model.eval(), package, sources, _load(options.work / "translations.json.xz"), options.models / NAME)


def base(package: Package) -> Student:
    """The untuned model."""
    model = Student()
    state = {name: torch.from_numpy(np.array(array)) for name, array in package.state().items()}
    model.load_state_dict({**model.state_dict(), **state})
    return model.eval()


def _reader(package: Package, device: torch.device) -> Reader:
    tokenizer = Tokenizer.from_str(json.dumps(package.tokenizer()))
    tokenizer.encode_special_tokens = True
    return Reader(tokenizer, unpacked(*four_bits(package.table())), device)


def _save(file: Path, data: object) -> None:
    with lzma.open(file, "wt", encoding="utf-8") as stream:
        json.dump(data, stream, ensure_ascii=False)


def _load(file: Path) -> dict[str, Any]:
    with lzma.open(file, "rt", encoding="utf-8") as stream:
        return json.load(stream)


if __name__ == "__main__":
    main()
