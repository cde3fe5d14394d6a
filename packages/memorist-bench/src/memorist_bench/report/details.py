"""Details of a report: the worst questions with explanations, times per stage, and the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memorist.model import Item, Recall, fingerprint
from memorist.recall.pipeline import Pipeline
from memorist_bench.measures import QuestionFigures, Summary
from memorist_bench.model import Dataset, Group, Ingest, Question
from memorist_bench.report.plots import Markup, Series, section, stack_plot, table_of, tag
from memorist_bench.results import Conditions, Result, Results
from memorist_bench.space import Setup, Space

MANY = 20
FOUND_SHOWN = 5


@dataclass(frozen=True, slots=True)
class JudgedTurn:
    """A document that answers the question, or an item that was returned: its rank or None, and the explanation.

    `right` if it is evidence.
    """

    document: str
    text: str
    rank: int | None
    right: bool
    reason: str


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question whose evidence was not found, or ranked low: the evidence, and the first items returned."""

    group: str
    question: Question
    wanted: tuple[JudgedTurn, ...]
    found: tuple[JudgedTurn, ...]


def worst(
    dataset: Dataset, summary: Summary, pipeline: Pipeline, setup: Setup, many: int = MANY
) -> list[FailedQuestion]:
    """The worst questions by recall@10, then by the rank of the first hit, with explanations."""
    rows = sorted(
        (row for row in summary.rows if row.question.answerable and row.turns["recall@10"] < 1), key=_badness
    )[:many]
    asked = [row.key for row in rows]
    failed: dict[tuple[str, str], FailedQuestion] = {}
    for group in dataset.groups:
        questions = [question for question in group.questions if (group.name, question.id) in asked]
        if questions:
            with Space(group, [pipeline], setup) as space:
                failed |= {
                    (group.name, question.id): _failed(group, question, space, pipeline.name) for question in questions
                }
    return [failed[key] for key in asked]


def _badness(row: QuestionFigures) -> tuple[float, float, str]:
    # Ties are broken by a hash, or all examples would come from the first group.
    return row.turns["recall@10"], row.turns["mrr@50"], fingerprint(*row.key)


def _failed(group: Group, question: Question, space: Space, recipe: str) -> FailedQuestion:
    recall = space.recall(question, recipe)
    texts = {document.id: document.text for document in group.documents}
    gold = [document for document, grade in question.gold.items() if grade > 0]
    places = {document: item for item in reversed(recall.items) for document in space.documents(item.memory)}

    def wanted(document: str) -> JudgedTurn:
        item = places.get(document)
        reason = space.absence(question, recipe, document) if item is None else _reason(space, recall, item)
        return JudgedTurn(document, texts.get(document, ""), item and item.rank, True, reason)

    def found(item: Item) -> JudgedTurn:
        own = space.documents(item.memory)
        right = not set(gold).isdisjoint(own)
        return JudgedTurn(", ".join(own), item.memory.text, item.rank, right, _reason(space, recall, item))

    return FailedQuestion(group.name, question, tuple(map(wanted, gold)), tuple(map(found, recall.items[:FOUND_SHOWN])))


def _reason(space: Space, recall: Recall, item: Item) -> str:
    """The explanation of an item without the first line, which repeats the text."""
    explanation = space.engine.explain(recall, item.memory.id)
    return "\n".join([f"score {item.score:.4g}", *map(str, explanation.details)])


KINDS_OF_WORK: Mapping[str, tuple[str, ...]] = {
    "embed the query": ("embed",),
    "search": ("search", "cascade", "nodes", "hops"),
    "rerank": ("rerank", "rerank_blend"),
    "other": (),
}
LONGEST_TEXT = 400


def stages_section(results: Results) -> Markup:
    """Median times as stacked bars, and a collapsible table of every stage."""
    bars = [Series(recipe.name, _by_kind(recipe)) for recipe in results.recipes]
    plot = stack_plot(bars, list(KINDS_OF_WORK), "milliseconds, sum of the stages' medians")
    note = (
        "Questions are embedded, and candidates reranked, for each recall."
        if results.conditions.live_queries
        else "Vectors of questions and scores of the reranker came from the cache, so these times include neither."
    )
    return section(
        "Where the time goes",
        f"Time per recall of {results.conditions.limit} items, on this machine. {note}",
        tag(
            "div",
            tag("figure", tag("h3", "Latency by stage"), plot),
            tag("div", *map(_stage_table, results.recipes)),
            class_="plots",
        ),
    )


def failures_section(results: Results, failures: Sequence[FailedQuestion]) -> Markup:
    """The worst questions of the first recipe, each collapsible."""
    if not failures:
        return Markup()
    return section(
        f"Where {results.recipes[0].name} fails",
        f"The {len(failures)} worst questions: open one to see the evidence, what was returned instead, and "
        "how each item got its rank.",
        *map(_failure, failures),
    )


_STORED: Mapping[Ingest, str] = {
    "replayed": "each stored at its own time",
    "used": "each stored at its own time, after the recipe recalled those of the first speaker",
    "bulk": "all of them stored just before the first question",
}


def method_section(results: Results) -> Markup:
    """Everything that the figures depend on."""
    ingest = results.conditions.ingest
    rows = [*_facts(results.conditions), ("dataset checksum", results.dataset.checksum)]
    for recipe in results.recipes:
        if recipe.skipped:
            rows.append((f"skipped in {recipe.name}", ", ".join(recipe.skipped)))
    pairs = [part for name, value in rows for part in (tag("dt", name), tag("dd", value))]
    return section(
        "How it was measured",
        f"Each group of the dataset is a separate memory. Its texts are remembered in order, {_STORED[ingest]}; "
        "then its questions are asked, at their own times or a day after the last text. Recalls are "
        "not tracked, so the order of the questions does not matter. Context tokens are an estimate for the first "
        "10 items.",
        tag("div", tag("dl", *pairs), class_="card"),
    )


def _by_kind(one: Result) -> list[float]:
    stages = {stage: times["p50_ms"] for stage, times in one.summary.stages.items() if "." not in stage}
    named = {stage for kinds in KINDS_OF_WORK.values() for stage in kinds}
    known = [sum(stages.get(stage, 0.0) for stage in kinds) for kinds in KINDS_OF_WORK.values()]
    return [*known[:-1], sum(ms for stage, ms in stages.items() if stage not in named)]


def _stage_table(one: Result) -> Markup:
    rows = [
        [stage if "." not in stage else f"· {stage.partition('.')[2]}", *(f"{ms:.2f}" for ms in times.values())]
        for stage, times in one.summary.stages.items()
    ]
    total = f"{one.summary.latency['p50_ms']:.1f} ms, p95 {one.summary.latency['p95_ms']:.1f} ms"
    return tag(
        "details",
        tag("summary", one.name, tag("span", f"median {total}", class_="tag")),
        table_of(("stage", "p50 ms", "p95 ms", "p99 ms"), rows),
    )


def _failure(one: FailedQuestion) -> Markup:
    ranks = [wanted.rank for wanted in one.wanted if wanted.rank is not None]
    first = f"first evidence at rank {min(ranks)}" if ranks else "no evidence found"
    tags = [tag("span", text, class_="tag") for text in (one.question.type, one.group, first) if text]
    found = [_turn(turn, "evidence" if turn.right else "") for turn in one.found]
    return tag(
        "details",
        tag("summary", one.question.text, *tags),
        tag(
            "div",
            tag("h3", "Wanted"),
            tag("ul", *(_turn(turn, f"rank {turn.rank}" if turn.rank else "not found") for turn in one.wanted)),
            tag("h3", "Found"),
            tag("ol", *found) if found else tag("p", "Nothing."),
            class_="inside",
        ),
    )


def _turn(one: JudgedTurn, label: str) -> Markup:
    mark = [tag("span", f"{label}  ", class_="place none" if one.rank is None else "place hit")] if label else []
    why = tag("pre", one.reason)
    if one.rank is not None:
        why = tag("details", tag("summary", "explanation"), why)
    return tag("li", *mark, f"{_cut(one.text)} ", tag("small", one.document), why)


def _facts(conditions: Conditions) -> list[tuple[str, str]]:
    machine = conditions.machine
    settings = ", ".join(f"{name} = {value}" for name, value in conditions.settings.items())
    return [
        ("version", f"memorist {conditions.version}"),
        ("embedder", conditions.embedder or "none"),
        ("reranker", conditions.reranker or "none"),
        ("reranking", conditions.reranking),
        ("ingest", conditions.ingest),
        *([("settings changed", settings)] if settings else []),
        ("items per recall", str(conditions.limit)),
        ("extraction", conditions.extract),
        ("machine", ", ".join(f"{value} {name}" if name == "cpus" else str(value) for name, value in machine.items())),
    ]


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]} …"
