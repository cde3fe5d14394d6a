"""Gathers the pages of the documentation site in one folder, which `zensical build` reads.

Pages outside `docs/`, such as README.md, get a place on the site; links follow them. A link to a source file, which the
site does not have, becomes plain text.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

ROOT = Path(__file__).parents[1]
PAGES, SITE = ROOT / "build" / "pages", ROOT / "build" / "site"
ELSEWHERE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
    "benchmarks/README.md": "benchmarks.md",
    "training/TRAINING.md": "training.md",
    "changelog.d/README.md": "news-fragments.md",
}
"""The place on the site of each page that is not in `docs/`."""
FIRST_OF_FOLDER = "README.md"
LINK = re.compile(r"(?<!\\)(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?:|#|mailto:)([^)\s#]*)(#[^)\s]*)?\)")
LOADED = re.compile(r'<(?:script|img|iframe|link(?! rel="canonical"))[^>]*? (?:src|href)="(https?://[^"]+)"')
CODE = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)


def places() -> dict[str, str]:
    """Each file of the site: its path in the repository, and its place on the site."""
    own = (path.relative_to(ROOT / "docs") for path in sorted((ROOT / "docs").rglob("*")))
    wanted = [path for path in own if path.suffix in (".md", ".svg", ".png")]
    inside = {f"docs/{path.as_posix()}": _place(path) for path in wanted}
    return {page: place for page, place in ELSEWHERE.items() if (ROOT / page).exists()} | inside


def _place(path: Path) -> str:
    return path.with_name("index.md").as_posix() if path.name == FIRST_OF_FOLDER else path.as_posix()


def page(path: str, all_places: dict[str, str]) -> str:
    """A page of the repository as it reads on the site."""
    here = PurePosixPath(path).parent
    text = (ROOT / path).read_text(encoding="utf-8")

    def followed(link: re.Match[str]) -> str:
        picture, label, target, part = link.groups()
        wanted = normpath((here / target).as_posix())
        place = all_places.get(wanted) or all_places.get(f"{wanted}/{FIRST_OF_FOLDER}")
        if place is None:
            if not (ROOT / wanted).exists():
                raise SystemExit(f"{path} links to {target}, which does not exist")
            return label
        start = PurePosixPath(all_places[path]).parent.as_posix()
        return f"{picture}[{label}]({relpath(place, start)}{part or ''})"

    return "".join(piece if code else LINK.sub(followed, piece) for piece, code in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it is code, in which nothing is a link."""
    end = 0
    for code in CODE.finditer(text):
        yield text[end : code.start()], False
        yield code[0], True
        end = code.end()
    yield text[end:], False


def gather(folder: Path = PAGES) -> int:
    """Write all pages into a folder, which is emptied first; returns how many there are."""
    shutil.rmtree(folder, ignore_errors=True)
    known = places()
    for path, place in known.items():
        to = folder / place
        to.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md"):
            to.write_text(page(path, known), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / path, to)
    return len(known)


def loaded_from_elsewhere(folder: Path = SITE) -> list[str]:
    """What the pages of the built site load from other hosts: nothing, or the site could not be read offline."""
    return sorted({found for path in folder.rglob("*.html") for found in LOADED.findall(path.read_text("utf-8"))})


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if foreign := loaded_from_elsewhere():
            sys.exit(f"The site loads {', '.join(foreign)}")
    else:
        gather()
