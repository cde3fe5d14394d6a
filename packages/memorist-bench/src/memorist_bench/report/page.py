"""The HTML page of a report: self-contained, without scripts or downloads, light or dark like the system."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from itertools import groupby
from string import Template

from memorist_bench.report.details import FailedQuestion, failures_section, method_section, stages_section
from memorist_bench.report.plots import (
    Estimate,
    Markup,
    Series,
    concat,
    curve_plot,
    interval_plot,
    section,
    table_of,
    tag,
)
from memorist_bench.report.table import (
    OUTDATED_FIRST,
    ReportTable,
    abstention,
    by_type,
    chance,
    measured,
    overall,
    percent,
    points,
)
from memorist_bench.results import Difference, Result, Results

MEASURE = "recall@10"
LEAST_IS_BEST = ("p50 ms", "p95 ms", "tokens", "context", "wrongly abstained", OUTDATED_FIRST)
NEITHER_IS_BEST = ("questions", "abstained")


def page(results: Results, failures: Sequence[FailedQuestion] = ()) -> str:
    """The complete page."""
    body = concat(
        _head(results),
        _overview_section(results),
        _plots_section(results),
        _types_section(results),
        _abstention_section(results),
        _differences_section(results.comparisons),
        stages_section(results),
        failures_section(results, failures),
        method_section(results),
    )
    folder = files(__package__ or __name__)
    skeleton = Template((folder / "page.html").read_text(encoding="utf-8"))
    style = (folder / "page.css").read_text(encoding="utf-8").rstrip()
    title = concat(f"{results.dataset.name} · memorist bench")
    return skeleton.substitute(title=title, style=style, body=body)


def table(one: ReportTable) -> Markup:
    """A table with the best figure of each column highlighted, among the rows that are compared with each other."""
    rows: list[list[str]] = []
    for _, block in groupby(one.rows, key=lambda row: row[: one.block]):
        compared = list(block)
        best = [_best(name, cells) for name, cells in zip(one.columns, zip(*compared, strict=True), strict=True)]
        rows += [[row[0], *map(_figure_cell, row[1:], best[1:])] for row in compared]
    return table_of(one.columns, rows)


def _figure_cell(cell: str, best: str | None) -> Markup:
    return tag("td", cell, class_="best" if cell == best else None)


def _head(results: Results) -> Markup:
    first = results.recipes[0]
    share, (low, high) = first.summary.overall.turns[MEASURE], first.intervals[MEASURE]
    sentence = (
        f"{first.name} finds {percent(share)} % of the evidence in its first 10 items "
        f"(95 % interval {percent(low)} to {percent(high)})"
    )
    return concat(
        tag("h1", f"How well does it remember? {results.dataset.name}"),
        tag("p", measured(results), ".", class_="soft"),
        tag("p", sentence, _standing(results), ".", class_="lead"),
    )


def _standing(results: Results) -> str:
    if len(results.recipes) == 1:
        return ""
    best = max(results.recipes, key=lambda one: one.summary.overall.turns[MEASURE])
    if best is results.recipes[0]:
        return f", the most of the {len(results.recipes)} recipes measured"
    return f"; the most is {percent(best.summary.overall.turns[MEASURE])} % by {best.name}"


def _overview_section(results: Results) -> Markup:
    return section(
        "Overview",
        "recall@k: the share of a question's evidence among the first k items. any@5, all@5: the share "
        "of questions with any, or all, of their evidence among the first five. ndcg and mrr: how high the "
        "evidence ranks. Quality is in per cent, higher is better; for times and context tokens, lower is better. "
        "The best value of each column is bold.",
        table(overall(results)),
    )


def _plots_section(results: Results) -> Markup:
    ks = [name.partition("@")[2] for name in results.recipes[0].summary.overall.turns if name.startswith("recall@")]
    shares = [
        Series(recipe.name, [recipe.summary.overall.turns[f"recall@{k}"] for k in ks]) for recipe in results.recipes
    ]
    budgets = list(results.recipes[0].summary.overall.at_tokens)
    figures = [
        _figure(
            "Recipes side by side",
            "Evidence among the first 10 items; the bar is the 95 % interval.",
            interval_plot([_estimate(recipe, MEASURE) for recipe in results.recipes], "recall@10, per cent"),
        ),
        _figure(
            "At least something",
            "Questions with any evidence among the first 5 items.",
            interval_plot([_estimate(recipe, "any@5") for recipe in results.recipes], "any@5, per cent"),
        ),
        _figure(
            "More items, more evidence",
            "Evidence found by number of items.",
            curve_plot(shares, ks, "Share of the evidence found by number of items", "items read"),
        ),
    ]
    if budgets:
        against = [Series(recipe.name, _at_tokens(recipe, budgets)) for recipe in results.recipes]
        names = [f"{budget:,}" for budget in budgets]
        plot = curve_plot(against, names, "Share of the evidence found by context tokens", "tokens of context")
        figures.append(_figure("Evidence per token budget", "Evidence within a context of this many tokens.", plot))
    return concat(tag("h2", "Quality"), tag("div", *figures, class_="plots"))


def _estimate(one: Result, measure: str) -> Estimate:
    return Estimate(one.name, one.summary.overall.turns[measure], *one.intervals[measure])


def _at_tokens(one: Result, budgets: Sequence[int]) -> list[float]:
    return [one.summary.overall.at_tokens.get(budget, 0.0) for budget in budgets]


def _figure(title: str, caption: str, plot: Markup) -> Markup:
    return tag("figure", tag("h3", title), tag("figcaption", caption), plot)


def _types_section(results: Results) -> Markup:
    note = (
        "Measures and abstentions in per cent; context: mean tokens of the context that the recipe wrote. any@1: the "
        "first item is evidence."
    )
    return concat(*(section(kind.heading, note, table(kind)) for kind in by_type(results)))


def _abstention_section(results: Results) -> Markup:
    note = (
        "Answerable questions wrongly abstained from, unanswerable ones rightly, in per cent. AUROC: how well the "
        "confidence separates the two; 0.5 is chance. Outdated first: updates whose outdated answer precedes the "
        "current one."
    )
    return concat(*(section(kind.heading, note, table(kind)) for kind in abstention(results)))


def _differences_section(comparisons: Sequence[Difference]) -> Markup:
    if not comparisons:
        return Markup()
    return section(
        "Is the difference real?",
        "Two runs on the same questions are compared question by question: points of recall@10 gained or lost, the "
        "bootstrap interval, and p, the probability of a difference at least this large by chance alone. "
        "Coloured if the interval excludes zero.",
        *(
            _differences_from(name, comparisons)
            for name in dict.fromkeys(comparison.against for comparison in comparisons)
        ),
    )


def _differences_from(against: str, comparisons: Sequence[Difference]) -> Markup:
    columns = (f"compared with {against}", "points", "95 % interval", "p")
    return table_of(
        columns,
        [
            _difference_row(comparison)
            for comparison in comparisons
            if comparison.against == against and comparison.measure == MEASURE
        ],
    )


def _difference_row(one: Difference) -> list[str]:
    gained = tag("td", points(one.difference), class_=one.verdict)
    return [one.recipe, gained, f"{points(one.low)} to {points(one.high)}", chance(one.p)]


def _best(column: str, cells: Sequence[str]) -> str | None:
    if column in NEITHER_IS_BEST:
        return None
    numbers = [_number(cell) for cell in cells]
    known = [number for number in numbers if number is not None]
    if len(known) < len(cells) or len(set(known)) < 2:
        return None
    return cells[numbers.index(min(known) if column in LEAST_IS_BEST else max(known))]


def _number(cell: str) -> float | None:
    try:
        return float(cell.replace(",", ""))
    except ValueError:
        return None
