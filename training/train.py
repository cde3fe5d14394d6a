"""Train the embedders and the rerankers of Memorist's model packages.

    python training/train.py [STAGE …] [--data FOLDER] [--made FOLDER] [--small]

Stages, all of them where none is named: `pack` brings the shipped weights and the data together, `learn` trains the
embedders and the rerankers, `lists` the list reader, `choose` measures the results on held-out data, `finish` writes
the int8 models. `learn` and `lists` want a GPU. What is made is not made again.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from recipe import DATA, SMALL_LENGTHS, SMALL_PLAN, Lengths, Workshop, learn, learn_list_reader

ROOT = Path(__file__).parents[1]
PACKAGES = ROOT / "packages"
STAGES = ("pack", "learn", "lists", "choose", "finish")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"of {', '.join(STAGES)}")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/train", help=f"folder with {DATA}")
    parser.add_argument("--given", type=Path, default=ROOT / "build/given", help="where `pack` puts its files")
    parser.add_argument("--made", type=Path, default=ROOT / "build/made", help="where weights and figures go")
    parser.add_argument("--packages", type=Path, default=PACKAGES, help="where the finished models go")
    parser.add_argument("--small", action="store_true", help="a small cut of everything, for a processor")
    options = parser.parse_args(arguments)
    if unknown := set(options.stages) - set(STAGES):
        parser.error(f"no stage {', '.join(sorted(unknown))}; there is {', '.join(STAGES)}")
    for stage in options.stages or STAGES:
        run(stage, options)


def run(stage: str, options: argparse.Namespace) -> None:
    if stage == "pack":
        from pack import pack

        pack(options.data, options.given)
    elif stage == "learn":
        learn(workshop(options))
    elif stage == "lists":
        learn_list_reader(workshop(options))
    elif stage == "choose":
        from choose import choose

        choose(workshop(options))
    else:
        from finish import finish

        finish(workshop(options), options.packages)


def workshop(options: argparse.Namespace) -> Workshop:
    """The place where a run works: a GPU where there is one."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = True
    if options.small:
        return Workshop(options.given, options.made, device, SMALL_PLAN, SMALL_LENGTHS, small=True)
    shop = Workshop(options.given, options.made, device, lengths=Lengths())
    shop.plan = replace(shop.plan, workers=max(0, (os.cpu_count() or 1) - 2))
    return shop


if __name__ == "__main__":
    main()
