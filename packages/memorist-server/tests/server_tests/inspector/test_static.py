"""What ships with the inspector: known libraries, and pages that can run nothing."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime

import pytest

from memorist.recall.catalogue import parts
from memorist.stages import RECIPES
from memorist_server.inspector import wording
from memorist_server.inspector.pages import HERE, STATIC, cut, moment, number, prose, visible

VENDOR = STATIC / "vendor"
TEMPLATES = sorted((HERE / "templates").glob("*.html"))


def test_vendored_files_are_those_of_the_table_each_with_its_licence() -> None:
    table = dict(re.findall(r"^\| (\S+) \|.*\| `([0-9a-f]{64})` \|$", (VENDOR / "README.md").read_text(), re.M))
    assert table == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.iterdir()
        if path.suffix in (".js", ".css")
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


@pytest.mark.parametrize("script", sorted(path.name for path in STATIC.glob("*.js")))
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


def test_a_sentence_of_ours_shows_code_and_short_ids_and_trusts_no_text_in_it() -> None:
    id = "70fa73992b818202b80d34312bad52d5"
    assert prose(f"Retire {id}.") == f'Retire <code title="{id}">70fa7399</code>.'
    assert prose("Run `memorist bench --out <b>`.") == "Run <code>memorist bench --out &lt;b&gt;</code>."
    assert prose("There is no memory '<img src=x onerror=`a`>'") == (
        "There is no memory &#39;&lt;img src=x onerror=<code>a</code>&gt;&#39;"
    )


def test_numbers_and_moments_are_as_short_as_they_can_be() -> None:
    assert [number(value) for value in (0.7000000000000001, 1.0, 12_345, 0.000123456)] == [
        "0.7",
        "1",
        "12,345",
        "0.0001235",
    ]
    assert moment(datetime(2024, 6, 3, tzinfo=UTC)) == "2024-06-03"
    assert moment(datetime(2024, 6, 3, 9, 5, 7, tzinfo=UTC)) == "2024-06-03 09:05"
    assert moment(datetime(2024, 6, 3, tzinfo=UTC), seconds=True) == "2024-06-03 00:00:00"


def test_every_stage_and_signal_that_ships_has_words_and_no_word_is_left_over() -> None:
    assert wording.STAGES.keys() == parts("stage").keys()
    assert {stage.kind for recipe in RECIPES.values() for stage in recipe.stages} <= wording.STAGES.keys()
    computed = {"reranker", "answers", "together", "known"}  # by the stages `rerank_blend` and `read_together`
    assert wording.SIGNALS.keys() == parts("signal").keys() | computed
    assert wording.RANKED.keys() <= wording.SIGNALS.keys()
    assert [wording.ordinal(rank) for rank in (1, 2, 3, 4, 11, 12, 13, 21, 112, 1022)] == (
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th", "1,022nd"]
    )
