"""What ships with the inspector: known libraries, and pages that can run nothing."""

from __future__ import annotations

import hashlib
import re

import pytest

from memorist.surfaces.inspector.pages import HERE, STATIC, cut, visible

VENDOR = STATIC / "vendor"
TEMPLATES = sorted((HERE / "templates").glob("*.html"))


def test_vendored_files_are_those_of_the_table_each_with_its_licence() -> None:
    table = dict(re.findall(r"^\| (\S+) \|.*\| `([0-9a-f]{64})` \|$", (VENDOR / "README.md").read_text(), re.M))
    assert table == {
        one.name: hashlib.sha256(one.read_bytes()).hexdigest()
        for one in VENDOR.iterdir()
        if one.suffix in (".js", ".css")
    }
    for name in table:
        assert (VENDOR / f"{name.partition('.')[0]}.LICENSE").stat().st_size > 500


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda one: one.name)
def test_no_template_trusts_a_text_or_holds_a_script_or_a_style(template: str) -> None:
    source = template.read_text()  # pyright: ignore[reportAttributeAccessIssue]
    assert not re.search(r"\|\s*safe|Markup|autoescape|\{%\s*raw", source)
    assert not re.search(r"\sstyle=|\son[a-z]+=|<style|javascript:|hx-on|hx-vals=.js", source)
    assert not re.search(r"<script(?! src=\"\{\{ static)", source)
    assert not re.search(r"(?:href|src|action)=\"(?:https?:)?//", source)


@pytest.mark.parametrize("script", ["inspector.js", "theme.js", "graph.js"])
def test_our_scripts_make_no_code_or_markup_of_text(script: str) -> None:
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(", (STATIC / script).read_text()
    )


def test_characters_that_do_not_show_are_written_out() -> None:
    assert visible("a\u202eb\x00c\ufeff\n\td") == "a⟨U+202E⟩b⟨U+0000⟩c⟨U+FEFF⟩\n\td"
    family = "👨‍👩‍👧 می‌خواهم 日本"
    assert visible(family) == family


def test_a_long_text_is_cut_on_one_line() -> None:
    assert cut("one\n two  three", 100) == "one two three"
    assert cut("a" * 3_000_000, 5) == "aaaaa…"
