"""What is reported: tables, the JSON document, comparisons, and a page that is safe and whole."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_talks import TALKS, asked, talk
from memorist.config import Config
from memorist.errors import InvalidInput
from memorist.models.rerankers import build
from memorist_bench.model import Dataset, Question
from memorist_bench.report.details import worst
from memorist_bench.report.page import page
from memorist_bench.report.page import table as page_table
from memorist_bench.report.plots import (
    Estimate,
    Markup,
    Series,
    _apart,
    concat,
    curve_plot,
    interval_plot,
    stack_plot,
    tag,
)
from memorist_bench.report.table import ReportTable, abstention, by_type, chance, overall, points, tables
from memorist_bench.results import Results, against, read_baseline, results_to_data
from memorist_bench.runner import Experiment, narrow_dataset, prepare

HOSTILE = '<script>alert("1")</script> & \' "'


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    return prepare(Config(embedder="none"), tmp_path_factory.mktemp("cache"), recipes=["bm25", "memorist"])


@pytest.fixture(scope="module")
def results(session: Experiment) -> Results:
    return session.measure(TALKS)


def measured(session: Experiment, dataset: Dataset) -> str:
    results = session.measure(dataset)
    return page(results, worst(dataset, results.recipes[0].summary, session.pipelines[0], session.setup))


# Tables


def test_the_table_has_a_row_for_each_recipe_and_figures_in_per_cent(results: Results) -> None:
    table = overall(results)
    assert table.heading == "talks: 4 questions, 6 texts, 2 groups; reranking documented, ingest replayed"
    assert [row[:2] for row in table.rows] == [("bm25", "no"), ("memorist", "yes")]
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    # Three of four questions find their only turn first; the fourth shares no word with its turn.
    assert cells["recall@5"] == cells["any@5"] == cells["all@5"] == cells["mrr@10"] == cells["session any@5"] == "75.0"
    assert re.fullmatch(r"\d+\.\d–\d+\.\d", cells["95 %"])


def test_types_are_reported_apart(results: Results) -> None:
    (table,) = by_type(results)
    assert table.columns[:7] == ("type", "recipe", "questions", "any@1", "any@5", "all@10", "recall@10")
    assert table.rows[0][:7] == ("place", "bm25", "2", "100.0", "100.0", "100.0", "100.0")
    assert table.rows[2][:7] == ("thing", "bm25", "2", "50.0", "50.0", "50.0", "50.0")
    assert [row[:2] for row in table.rows[1::2]] == [("place", "memorist"), ("thing", "memorist")]


def test_questions_without_an_answer_are_also_left_out(session: Experiment) -> None:
    home, work = TALKS.groups
    unanswerable = replace(home.questions[2], answerable=False)
    mixed = replace(TALKS, groups=(replace(home, questions=(*home.questions[:2], unanswerable)), work))
    results = session.measure(mixed)
    (types,), (unknown,) = by_type(results), abstention(results)
    # All three that have an answer are found; the one that has none finds nothing: it abstains. No reader judges them.
    assert types.rows[-2][:4] == ("answerable", "bm25", "3", "100.0")
    assert unknown.columns == ("recipe", "wrongly abstained", "rightly abstained", "AUROC")
    assert unknown.rows[0] == ("bm25", "0.0", "100.0", "")


def test_the_best_is_marked_among_the_recipes_of_one_type() -> None:
    rows = (("a", "x", "50.0"), ("a", "y", "40.0"), ("b", "x", "10.0"), ("b", "y", "20.0"))
    html = page_table(ReportTable("", ("type", "recipe", "recall@10"), rows, block=1))
    assert re.findall(r'class="best">([^<]+)<', html) == ["50.0", "20.0"]


def test_columns_are_aligned_and_the_least_important_leave_a_narrow_terminal(results: Results) -> None:
    table = ReportTable("", ("recipe", "n"), (("a", "1"), ("longer", "23")))
    assert table.lines() == ["recipe   n", "a        1", "longer  23"]
    wide, narrow = overall(results), tables(results, width=85)[0]
    assert narrow.width <= 85 < wide.width
    assert "mrr@10" not in narrow.columns and "recall@10" in narrow.columns


def test_differences_and_chances_are_short() -> None:
    assert (points(-0.0312), points(0.005)) == ("−3.1", "+0.5")
    assert (chance(0.0002), chance(0.04)) == ("< 0.001", "0.040")


# The document


def test_the_document_has_the_shape_that_is_promised(results: Results) -> None:
    data = json.loads(json.dumps(results_to_data(results), allow_nan=False))
    assert data["dataset"] == "talks" and data["checksum"] == TALKS.checksum
    assert data["models"] == {"embedder": None, "reranker": getattr(build("auto"), "generation", "")}
    assert (data["reranking"], data["ingest"]) == ("documented", "replayed")
    assert data["machine"].keys() == {"cpus", "processor", "python", "platform"}
    bm25 = data["recipes"]["bm25"]
    assert bm25["queries"] == 4
    assert bm25["recall@5"] == bm25["recall@10"] == bm25["any@5"] == bm25["all@5"] == bm25["ndcg@10"] == 0.75
    assert bm25.keys() >= {"mrr@10", "p50_ms", "p95_ms", "tokens", "intervals", "by_type", "by_stage", "at_tokens"}
    assert bm25["by_type"]["thing"]["recall@10"] == 0.5
    for measure in ("recall@5", "recall@10", "ndcg@10"):
        low, high = bm25["intervals"][measure]
        assert 0 <= low <= 0.75 <= high <= 1
    assert "answers" not in bm25
    assert data["recipes"]["memorist"]["skipped"] == ["embed (no embedder)", "vector (no embedder)"]
    assert {comparison["against"] for comparison in data["comparisons"]} == {"bm25"}
    assert {comparison["measure"] for comparison in data["comparisons"]} >= {"recall@5", "recall@10", "ndcg@10"}
    assert all(
        comparison["low"] <= comparison["difference"] <= comparison["high"] for comparison in data["comparisons"]
    )


def test_a_document_with_answers_is_a_baseline(results: Results, tmp_path: Path) -> None:
    file = tmp_path / "before.json"
    file.write_text(json.dumps(results_to_data(results, answers=True)))
    compared = against(results, read_baseline(file, TALKS)).comparisons[len(results.comparisons) :]
    assert {(difference.recipe, difference.against) for difference in compared} == {
        ("bm25", "bm25 of before.json"),
        ("memorist", "memorist of before.json"),
    }
    assert {
        (difference.difference, difference.low, difference.high, difference.p, difference.questions)
        for difference in compared
    } == {(0, 0, 0, 1, 4)}


def test_a_baseline_is_compared_on_the_questions_both_answered(session: Experiment, tmp_path: Path) -> None:
    some, whole = session.measure(narrow_dataset(TALKS, questions=2)), session.measure(TALKS)
    file = tmp_path / "some.json"
    file.write_text(json.dumps(results_to_data(some, answers=True)))
    assert against(whole, read_baseline(file, TALKS)).comparisons[-1].questions == 2


def test_a_difference_is_this_run_less_the_baseline(results: Results, tmp_path: Path) -> None:
    data = results_to_data(results, answers=True)
    for answer in data["recipes"]["bm25"]["answers"]:
        answer["ranked"] = []
    file = tmp_path / "nothing.json"
    file.write_text(json.dumps(data))
    (found,) = [
        comparison
        for comparison in against(results, read_baseline(file, TALKS)).comparisons
        if comparison.recipe == "bm25" and comparison.measure == "recall@10"
    ]
    assert found.difference == 0.75


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not what `memorist bench` writes"),
        ('{"dataset": "x", "checksum": "9", "recipes": {}}', "another dataset: x with checksum 9"),
        ('{"dataset": "x", "checksum": "0123456789abcdef", "recipes": {}}', "no recipe"),
        ('{"dataset": "x", "checksum": "0123456789abcdef", "recipes": {"a": {}}}', "no answers"),
    ],
)
def test_a_baseline_that_does_not_fit_is_refused(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "before.json"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=told):
        read_baseline(file, TALKS)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_baseline(tmp_path / "absent.json", TALKS)


# The worst questions


def test_the_worst_questions_say_what_was_wanted_and_why_it_did_not_come(session: Experiment, results: Results) -> None:
    (failure,) = worst(TALKS, results.recipes[0].summary, session.pipelines[0], session.setup)
    assert failure.question.id == "home/q2"
    (wanted,) = failure.wanted
    assert (wanted.document, wanted.rank) == ("home/3", None)
    assert "no signal matches it" in wanted.reason


def test_what_came_instead_is_explained(session: Experiment) -> None:
    deep = asked("pets", 0, "Which dog barks?", 1, 2)
    pets = replace(
        TALKS, groups=(talk("pets", "A: The dog, a dog.", "B: A parrot.", "A: It barks.", questions=(deep,)),)
    )
    summary = session.measure(pets).recipes[0].summary
    (failure,) = worst(pets, summary, session.pipelines[0], session.setup)
    assert [(turn.document, turn.right) for turn in failure.found] == [("pets/0", False), ("pets/2", True)]
    assert [turn.rank for turn in failure.wanted] == [None, 2]
    assert "from keyword: rank 1" in failure.found[0].reason
    assert "from keyword: rank 2" in failure.wanted[1].reason


def test_no_more_are_explained_than_wanted(session: Experiment, results: Results) -> None:
    assert worst(TALKS, results.recipes[0].summary, session.pipelines[0], session.setup, many=0) == []


# The page


class Reader(HTMLParser):
    """Checks that every element is closed, and collects tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_and_fetches_nothing(session: Experiment) -> None:
    html = measured(session, TALKS)
    read = Reader(html)
    assert not read.tags & {"script", "link", "img", "iframe", "object"}
    assert not {name for name, _ in read.attributes} & {"src", "href", "style", "onload", "onclick"}
    assert not re.search(r"https?:|url\(|@import", html)
    assert "prefers-color-scheme: dark" in html and "width=device-width" in html
    for shown in ("Overview", "Recipes side by side", "More items", "token budget", "Latency by stage", "fails"):
        assert shown in read.text
    assert html.count("<svg") == 5


def test_nothing_in_the_data_can_become_markup(session: Experiment) -> None:
    question = Question("q", f"{HOSTILE} who?", {"a": 1.0}, type=HOSTILE)
    group = talk(HOSTILE, f"x {HOSTILE} who", questions=(replace(question, gold={f"{HOSTILE}/0": 1.0}),))
    other = replace(group.documents[0], id=f"{HOSTILE}/gold", text=f"unrelated {HOSTILE[:8]}")
    missed = replace(question, gold={f"{HOSTILE}/gold": 1.0}, text="who?")
    hostile = replace(
        TALKS, name=HOSTILE, groups=(replace(group, documents=(*group.documents, other), questions=(missed,)),)
    )
    html = measured(session, hostile)
    assert "script" not in Reader(html).tags
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 4  # name, type, group, texts


def test_the_page_is_the_same_for_the_same_results(session: Experiment, results: Results) -> None:
    assert page(results) == page(results)


def test_markup_escapes_text_and_attributes_but_not_itself() -> None:
    assert (
        tag("p", "a < b", tag("b", "&"), class_='"x"', data=None) == '<p class="&quot;x&quot;">a &lt; b<b>&amp;</b></p>'
    )
    assert concat("<", Markup("<")) == "&lt;<"
    assert tag("line", x1=1.0, y1=2.345, stroke_width=2) == '<line x1="1" y1="2.35" stroke-width="2"></line>'


def numbers(svg: str, element: str, attribute: str) -> list[float]:
    return [float(match) for match in re.findall(rf'<{element} [^>]*?\b{attribute}="([^"]+)"', svg)]


def test_intervals_are_drawn_to_scale() -> None:
    svg = interval_plot([Estimate("a", 0.4, 0.3, 0.5), Estimate("b", 0.0, 0.0, 0.1)], "recall")
    # The scale ends at 50 %, 140 to 428 wide: 40 % is at 140 + 288 · 0.8, 30 % and 50 % at 312.8 and 428.
    assert numbers(svg, "circle", "cx") == [370.4, 140]
    assert re.search(r'x1="312.8" x2="428"', svg)
    assert "95 % interval 30.0 to 50.0" in svg


def test_curves_rise_with_their_values_and_bear_their_names() -> None:
    svg = curve_plot([Series("up", [0.0, 0.5]), Series("flat", [0.25, 0.25])], ["1", "5"], "title", "items")
    heights = numbers(svg, "circle", "cy")
    assert heights == [260, 12, 136, 136]
    assert ">up</text>" in svg and ">flat</text>" in svg


def test_stacks_add_up() -> None:
    svg = stack_plot([Series("a", [1.0, 3.0]), Series("b", [2.0, 0.0])], ["first", "second"], "ms")
    widths = numbers(svg, "rect", "width")[2:]  # after the keys of the legend
    assert widths == [69.5, 208.5, 139, 0]  # 278 for the four milliseconds of a
    assert "4.0 ms" in svg


@given(st.lists(st.floats(12, 260), max_size=14).map(sorted))
def test_names_of_curves_never_overlap(wanted: list[float]) -> None:
    places = _apart(wanted, 12, 260)
    assert all(later - earlier >= 15 - 1e-6 for earlier, later in pairwise(places))
    assert all(place <= 260 for place in places)
