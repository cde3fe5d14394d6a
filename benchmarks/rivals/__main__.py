"""Memorist beside other stores of texts and vectors, run by hand, in an environment of its own:

    python3 -m venv /tmp/rivals
    /tmp/rivals/bin/pip install -r benchmarks/rivals/requirements.txt -e packages/memorist-client \
        -e packages/memorist-models -e .
    /tmp/rivals/bin/python -m benchmarks.rivals SOURCES FOLDER [--sizes 10000 100000] [--stores Memorist Chroma]

SOURCES holds `eval/` and `train/` as `data.py` reads them. FOLDER keeps the texts and vectors, and the results: a store
that was measured at a size is not measured again. At the end, all results of FOLDER are printed as one table.
How well the same stores recall is measured by `benchmarks.rivals.quality`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.rivals.data import Data
from benchmarks.rivals.measure import measured, slug
from benchmarks.rivals.report import table
from benchmarks.rivals.stores import STORES


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sources", type=Path)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--sizes", type=int, nargs="*", default=(10_000, 100_000))
    arguments.add_argument("--stores", nargs="+", default=list(STORES), choices=list(STORES))
    arguments.add_argument("--minutes", type=float, default=30, help="processor time that one process may take")
    given = arguments.parse_args()
    results = given.folder / "results"
    results.mkdir(parents=True, exist_ok=True)
    data = Data(given.folder)
    for size in given.sizes:
        data.make(size, given.sources)
        data.answers(size)
        for name in given.stores:
            kept = results / f"{size:08}-{slug(name)}.json"
            if not kept.exists():
                figures = measured(name, size, given.folder, given.minutes * 60)
                kept.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
                print(json.dumps(figures), flush=True)
    print(table([json.loads(path.read_text(encoding="utf-8")) for path in results.glob("*.json")], list(STORES)))


if __name__ == "__main__":
    main()
