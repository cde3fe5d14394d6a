"""The installed size of the default: `python benchmarks/size.py`, or `make size`.

Installs Memorist and its default models into a fresh environment, as the README says, and prints what each package
adds to it, compiled files included: pip itself was there before. Fails above the limit. Takes a minute and wants the
package index.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from collections import Counter
from importlib.metadata import distributions
from pathlib import Path

from common import options, print_head, print_row

ROOT = Path(__file__).parents[1]
LIMIT = 300_000_000
SHOWN = 1_000_000
"""Packages below this are summed up."""


def main() -> None:
    options(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        pip = [Path(folder, "bin", "python"), "-m", "pip", "install", "--quiet"]
        (site,) = Path(folder, "lib").glob("python*/site-packages")
        before, there = size(site), by_package(site)
        subprocess.run([*pip, ROOT, ROOT / "packages/memorist-client", ROOT / "packages/memorist-models"], check=True)
        total, sizes = size(site) - before, by_package(site) - there
    print_head("package", "MB")
    for name, taken in sizes.most_common():
        if taken >= SHOWN:
            print_row(name, f"{taken / 1e6:.1f}")
    small = [taken for taken in sizes.values() if taken < SHOWN]
    print_row(f"{len(small)} smaller ones", f"{sum(small) / 1e6:.1f}")
    print_row("all", f"{total / 1e6:.1f}")
    if total > LIMIT:
        sys.exit(f"more than {LIMIT / 1e6:.0f} MB")


def by_package(site: Path) -> Counter[str]:
    """Bytes by package, of the files that each has recorded and those compiled from them."""
    sizes = Counter[str]()
    for package in distributions(path=[str(site)]):
        files = {Path(str(file.locate())).resolve() for file in package.files or ()}
        sizes[package.name] = sum(file.stat().st_size for file in files if file.is_file() and site in file.parents)
    return sizes


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
