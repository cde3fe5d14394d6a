"""The results as tables of text: recipes, then types of questions, abstention, and differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memorist_bench.measures import MeasurePart, Summary
from memorist_bench.results import Difference, Result, Results

OPTIONAL = ("mrr@10", "all@5", "reranks", "ndcg@10", "any@5", "tokens", "p95 ms")
"""Columns that are dropped on a narrow terminal, in this order."""
SHOWN = "recall@10"
BY_TYPE = ("any@1", "any@5", "all@10", SHOWN, "mrr@10")
ANSWERABLE = "answerable"
OUTDATED_FIRST = "outdated first"
"""The column for updates whose outdated answer precedes the current one."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A heading, column names, and cells; rows whose first `block` cells are the same are compared with each other."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    block: int = 0

    @property
    def width(self) -> int:
        """The width of its longest line, in characters."""
        return sum(self._widths()) + 2 * (len(self.columns) - 1)

    def lines(self) -> list[str]:
        """The column names and the rows, aligned: the first column to the left, the others to the right."""
        widths = self._widths()
        return [_line(row, widths) for row in (self.columns, *self.rows)]

    def without(self, column: str) -> ReportTable:
        """This table without a column."""
        place = self.columns.index(column)
        columns, *rows = [row[:place] + row[place + 1 :] for row in (self.columns, *self.rows)]
        return ReportTable(self.heading, columns, tuple(rows), self.block)

    def _widths(self) -> list[int]:
        return [max(map(len, cells)) for cells in zip(self.columns, *self.rows, strict=True)]


def tables(results: Results, width: int | None = None) -> list[ReportTable]:
    """All tables; those wider than `width` lose their least important columns."""
    made = [overall(results), *by_type(results), *abstention(results), *differences(results.comparisons)]
    return [_fitting(table, width) for table in made]


def overall(results: Results) -> ReportTable:
    """The headline figures of every recipe: quality in per cent, latency in milliseconds."""
    sessions = any(recipe.summary.overall.sessions for recipe in results.recipes)
    columns: dict[str, Callable[[Result], str]] = {
        "recipe": lambda one: one.name,
        "reranks": lambda one: "yes" if one.reranked else "no",
        "recall@5": lambda one: percent(one.summary.overall.turns["recall@5"]),
        "recall@10": lambda one: percent(one.summary.overall.turns["recall@10"]),
        "95 %": lambda one: interval_text(one.intervals["recall@10"]),
        "any@1": lambda one: percent(one.summary.overall.turns["any@1"]),
        "any@5": lambda one: percent(one.summary.overall.turns["any@5"]),
        "all@5": lambda one: percent(one.summary.overall.turns["all@5"]),
        "ndcg@10": lambda one: percent(one.summary.overall.turns["ndcg@10"]),
        "mrr@10": lambda one: percent(one.summary.overall.turns["mrr@10"]),
        **({"session any@5": _session_any} if sessions else {}),
        "p50 ms": lambda one: f"{one.summary.latency['p50_ms']:.1f}",
        "p95 ms": lambda one: f"{one.summary.latency['p95_ms']:.1f}",
        "tokens": lambda one: f"{one.summary.tokens:,.0f}",
        "context": lambda one: f"{one.summary.overall.context_tokens:,.0f}",
    }
    rows = tuple(tuple(cell(recipe) for cell in columns.values()) for recipe in results.recipes)
    return ReportTable(f"{results.dataset.name}: {measured(results)}", tuple(columns), rows)


def by_type(results: Results) -> list[ReportTable]:
    """The figures of every recipe per type of question, if the dataset has types, and over the answerable questions."""
    summaries = [recipe.summary for recipe in results.recipes]
    if not summaries[0].types:
        return []
    rows = [
        _type_row(name, summary.recipe, summary.types[name]) for name in summaries[0].types for summary in summaries
    ]
    rows += [
        _type_row(ANSWERABLE, summary.recipe, summary.answerable)
        for summary in summaries
        if summary.answerable is not None
    ]
    columns = ("type", "recipe", "questions", *BY_TYPE, "abstained", "context")
    return [ReportTable("By type of question", columns, tuple(rows), block=1)]


def _type_row(name: str, recipe: str, part: MeasurePart) -> tuple[str, ...]:
    cells = (percent(part.turns[measure]) if part.turns else "" for measure in BY_TYPE)
    return name, recipe, f"{part.queries:,}", *cells, percent(part.abstained), f"{part.context_tokens:,.0f}"


def abstention(results: Results) -> list[ReportTable]:
    """How well a recipe knows what it does not know, and what is outdated, if the dataset has such questions."""
    columns: dict[str, Callable[[Summary], str]] = {}
    if any(recipe.summary.abstention for recipe in results.recipes):
        columns["wrongly abstained"] = lambda one: percent(one.abstention.of_answerable) if one.abstention else ""
        columns["rightly abstained"] = lambda one: percent(one.abstention.of_unanswerable) if one.abstention else ""
        columns["AUROC"] = lambda one: (
            f"{one.abstention.auroc:.3f}" if one.abstention and one.abstention.auroc is not None else ""
        )
    if any(recipe.summary.outdated is not None for recipe in results.recipes):
        columns[OUTDATED_FIRST] = lambda one: "" if one.outdated is None else percent(one.outdated)
    if not columns:
        return []
    rows = tuple((recipe.name, *(cell(recipe.summary) for cell in columns.values())) for recipe in results.recipes)
    return [ReportTable("Abstention and outdated answers", ("recipe", *columns), rows)]


def differences(comparisons: Sequence[Difference]) -> list[ReportTable]:
    """Paired differences, in percentage points."""
    if not comparisons:
        return []
    single = len({(comparison.recipe, comparison.against) for comparison in comparisons}) == 1
    rows = tuple(
        (
            comparison.recipe,
            comparison.against,
            comparison.measure,
            points(comparison.difference),
            f"{points(comparison.low)} to {points(comparison.high)}",
            chance(comparison.p),
            f"{comparison.questions:,}",
        )
        for comparison in comparisons
        if single or comparison.measure == SHOWN
    )
    columns = ("recipe", "minus", "measure", "points", "95 %", "p", "questions")
    return [ReportTable("Paired differences, question by question", columns, rows)]


def percent(share: float) -> str:
    """A share in per cent."""
    return f"{100 * share:.1f}"


def interval_text(interval: tuple[float, float]) -> str:
    """An interval of shares, in per cent."""
    return f"{percent(interval[0])}–{percent(interval[1])}"


def points(difference: float) -> str:
    """A difference of two shares in percentage points, with its sign."""
    return f"{100 * difference:+.1f}".replace("-", "−")


def chance(p: float) -> str:
    """A p-value; below 0.001 only that bound."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _session_any(one: Result) -> str:
    sessions = one.summary.overall.sessions
    return percent(sessions["any@5"]) if sessions else ""


def measured(results: Results) -> str:
    """How many questions and texts were measured, and how."""
    groups = [group for group in results.dataset.groups if group.questions]
    texts = sum(len(group.documents) for group in groups)
    questions = results.recipes[0].summary.overall.queries
    ways = f"reranking {results.conditions.reranking}, ingest {results.conditions.ingest}"
    return f"{questions:,} questions, {texts:,} texts, {_groups(len(groups))}; {ways}"


def _groups(number: int) -> str:
    return "1 group" if number == 1 else f"{number:,} groups"


def _fitting(table: ReportTable, width: int | None) -> ReportTable:
    for column in [known for known in OPTIONAL if known in table.columns]:
        if width is None or table.width <= width:
            break
        table = table.without(column)
    return table


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = [
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join([first, *others]).rstrip()
