"""The documentation site: every page can be reached, and every link leads somewhere."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.shape.scripts import loaded

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site() -> ModuleType:
    return loaded("site")


def listed(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for target in entry.values():
            yield from [target] if isinstance(target, str) else listed(target)


def test_the_menu_has_every_page_once(site: ModuleType) -> None:
    menu = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    pages = [place for place in site.places().values() if place.endswith(".md")]
    assert Counter(listed(menu)) == Counter(pages)


def test_links_follow_the_pages_and_links_to_sources_become_text(site: ModuleType, tmp_path: Path) -> None:
    site.gather(tmp_path)
    architecture = (tmp_path / "architecture.md").read_text(encoding="utf-8")
    assert "](src/" not in architecture
    assert "`Engine.recall` checks the options" in architecture
    home = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "](tutorial.md)" in home and "](docs/" not in home


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "how-to").glob("*.md")), ids=lambda page: page.stem)
def test_a_how_to_leads_to_its_concept_and_its_reference(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "](../concepts/" in text or "](../explanation/" in text
    assert "](../reference/" in text


def test_code_is_left_alone(site: ModuleType) -> None:
    pieces = list(site._pieces("[a](b)\n```\n[c](d)\n```\n[e](f)"))
    assert pieces == [("[a](b)\n", False), ("```\n[c](d)\n```", True), ("\n[e](f)", False)]


def test_the_diagrams_are_current() -> None:
    check = subprocess.run([sys.executable, ROOT / "docs" / "diagrams.py", "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stderr
