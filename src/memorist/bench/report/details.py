"""Details of a report: the worst questions with explanations, times per stage, and the method."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memorist.bench.measures import Row, Summary
from memorist.bench.model import Dataset, Group, Question
from memorist.bench.report.plots import Markup, Stack, concat, stack_plot, table_of, tag
from memorist.bench.results import Conditions, Result, Results
from memorist.bench.space import Setup, Space
from memorist.model import Item, Recall, fingerprint
from memorist.recall.pipeline import Pipeline

MANY = 20
FOUND_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document that answers the question: its rank or None, and the explanation of that."""

    document: str
    text: str
    rank: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """An item that was returned; `right` if it is evidence."""

    document: str
    text: str
    right: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A question whose evidence was not found, or ranked low."""

    group: str
    question: Question
    wanted: tuple[Wanted, ...]
    found: tuple[FoundTurn, ...]


def worst(dataset: Dataset, summary: Summary, pipeline: Pipeline, setup: Setup, many: int = MANY) -> list[Failure]:
    """The worst questions by recall@10, then by the rank of the first hit, with explanations."""
    rows = sorted((row for row in summary.rows if row.answerable and row.turns["recall@10"] < 1), key=_badness)[:many]
    groups = {group.name: group for group in dataset.groups}
    asked: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        asked[row.group].append(row)
    failures: dict[tuple[str, str], Failure] = {}
    for name, some in asked.items():
        failures |= _explained(groups[name], some, pipeline, setup)
    return [failures[row.group, row.question] for row in rows]


def _badness(row: Row) -> tuple[float, float, str]:
    # Ties are broken by a hash, or all examples would come from the first group.
    return row.turns["recall@10"], row.turns["mrr@50"], fingerprint(row.group, row.question)


def _explained(group: Group, rows: Sequence[Row], pipeline: Pipeline, setup: Setup) -> dict[tuple[str, str], Failure]:
    questions = {question.id: question for question in group.questions}
    texts = {document.id: document.text for document in group.documents}
    with Space(group, [pipeline], setup) as space:
        return {
            (group.name, row.question): _worst_failure(group.name, questions[row.question], texts, space, pipeline.name)
            for row in rows
        }


def _worst_failure(group: str, question: Question, texts: dict[str, str], space: Space, recipe: str) -> Failure:
    recall = space.recall(question, recipe)
    gold = [document for document, grade in question.gold.items() if grade > 0]
    places = {document: item for item in reversed(recall.items) for document in space.documents(item.memory)}
    wanted = [
        Wanted(
            document,
            texts.get(document, ""),
            places[document].rank if document in places else None,
            _reason(space, recall, places[document])
            if document in places
            else space.absence(question, recipe, document),
        )
        for document in gold
    ]
    found = [
        FoundTurn(
            ", ".join(own := space.documents(item.memory)),
            item.memory.text,
            not set(gold).isdisjoint(own),
            _reason(space, recall, item),
        )
        for item in recall.items[:FOUND_SHOWN]
    ]
    return Failure(group, question, tuple(wanted), tuple(found))


def _reason(space: Space, recall: Recall, item: Item) -> str:
    """The explanation of an item without the first line, which repeats the text."""
    explanation = space.engine.explain(recall, item.memory.id)
    return "\n".join([f"score {item.score:.4g}", *map(str, explanation.details)])


KINDS_OF_WORK: Mapping[str, tuple[str, ...]] = {
    "embed the query": ("embed",),
    "search": ("search", "cascade", "nodes", "hops"),
    "rerank": ("rerank",),
    "other": (),
}
LONGEST_TEXT = 400


def stages_section(results: Results) -> Markup:
    """Median times as stacked bars, and a collapsible table of every stage."""
    bars = [Stack(one.name, _by_kind(one)) for one in results.recipes]
    plot = stack_plot(bars, list(KINDS_OF_WORK), "milliseconds, sum of the stages' medians")
    note = (
        "Questions are embedded for each recall."
        if results.conditions.live_queries
        else "Vectors of questions came from the cache, so these times do not include their embedding."
    )
    return concat(
        tag("h2", "Where the time goes"),
        tag("p", f"Time per recall of {results.conditions.limit} items, on this machine. {note}", class_="soft"),
        tag(
            "div",
            tag("figure", tag("h3", "Latency by stage"), plot),
            tag("div", *map(_stage_table, results.recipes)),
            class_="plots",
        ),
    )


def failures_section(results: Results, failures: Sequence[Failure]) -> Markup:
    """The worst questions of the first recipe, each collapsible."""
    if not failures:
        return Markup()
    return concat(
        tag("h2", f"Where {results.recipes[0].name} fails"),
        tag(
            "p",
            f"The {len(failures)} worst questions: open one to see the evidence, what was returned instead, and "
            "how each item got its rank.",
            class_="soft",
        ),
        *map(_failure, failures),
    )


def method_section(results: Results) -> Markup:
    """Everything that the figures depend on."""
    rows = [*_facts(results.conditions), ("dataset checksum", results.dataset.checksum)]
    for one in results.recipes:
        if one.skipped:
            rows.append((f"skipped in {one.name}", ", ".join(one.skipped)))
    pairs = [part for name, value in rows for part in (tag("dt", name), tag("dd", value))]
    return concat(
        tag("h2", "How it was measured"),
        tag(
            "p",
            "Each group of the dataset is a separate memory. Its texts are remembered in order, at their own "
            "times; then its questions are asked, at their own times or a day after the last text. Recalls are "
            "not tracked, so the order of the questions does not matter. Context tokens are an estimate for the first "
            "10 items.",
            class_="soft",
        ),
        tag("div", tag("dl", *pairs), class_="card"),
    )


def _by_kind(one: Result) -> list[float]:
    stages = {stage: times["p50_ms"] for stage, times in one.summary.stages.items() if "." not in stage}
    named = {stage for kinds in KINDS_OF_WORK.values() for stage in kinds}
    known = [sum(stages.get(stage, 0.0) for stage in kinds) for kinds in KINDS_OF_WORK.values()]
    return [*known[:-1], sum(ms for stage, ms in stages.items() if stage not in named)]


def _stage_table(one: Result) -> Markup:
    rows = [
        tag(
            "tr",
            tag("th", stage if "." not in stage else f"· {stage.partition('.')[2]}"),
            *(tag("td", f"{times[name]:.2f}") for name in ("p50_ms", "p95_ms", "p99_ms")),
        )
        for stage, times in one.summary.stages.items()
    ]
    total = f"{one.summary.latency['p50_ms']:.1f} ms, p95 {one.summary.latency['p95_ms']:.1f} ms"
    return tag(
        "details",
        tag("summary", one.name, tag("span", f"median {total}", class_="tag")),
        table_of(("stage", "p50 ms", "p95 ms", "p99 ms"), rows),
    )


def _failure(one: Failure) -> Markup:
    ranks = [wanted.rank for wanted in one.wanted if wanted.rank is not None]
    first = f"first evidence at rank {min(ranks)}" if ranks else "no evidence found"
    tags = [tag("span", text, class_="tag") for text in (one.question.type, one.group, first) if text]
    return tag(
        "details",
        tag("summary", one.question.text, *tags),
        tag(
            "div",
            tag("h3", "Wanted"),
            tag("ul", *map(_wanted, one.wanted)),
            tag("h3", "Found"),
            tag("ol", *map(_found, one.found)) if one.found else tag("p", "Nothing."),
            class_="inside",
        ),
    )


def _wanted(one: Wanted) -> Markup:
    place = "not found" if one.rank is None else f"rank {one.rank}"
    reason = one.reason if one.rank is None else ""
    why = tag("pre", reason) if reason else tag("details", tag("summary", "explanation"), tag("pre", one.reason))
    colour = "place none" if one.rank is None else "place hit"
    return tag("li", tag("span", place, class_=colour), f"  {_cut(one.text)} ", tag("small", one.document), why)


def _found(one: FoundTurn) -> Markup:
    mark = [tag("span", "evidence  ", class_="place hit")] if one.right else []
    why = tag("details", tag("summary", "explanation"), tag("pre", one.reason))
    return tag("li", *mark, f"{_cut(one.text)} ", tag("small", one.document), why)


def _facts(conditions: Conditions) -> list[tuple[str, str]]:
    machine = conditions.machine
    settings = ", ".join(f"{name} = {value}" for name, value in conditions.settings.items())
    return [
        ("version", f"memorist {conditions.version}"),
        ("embedder", conditions.embedder or "none"),
        ("reranker", conditions.reranker or "none"),
        *([("settings changed", settings)] if settings else []),
        ("items per recall", str(conditions.limit)),
        ("extraction", conditions.extract),
        ("machine", ", ".join(f"{value} {name}" if name == "cpus" else str(value) for name, value in machine.items())),
    ]


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]} …"
