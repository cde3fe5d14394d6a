"""The bench command: measure recipes on judged data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack, get_type_hints

import typer

from memorist.errors import InvalidInput
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import argument, command, option, recipe_names
from memorist.surfaces.cli.output import progress, say, terminal
from memorist_bench.model import Ingest, Reranking

if TYPE_CHECKING:
    from memorist_bench.model import Dataset
    from memorist_bench.results import Results
    from memorist_bench.runner import Experiment


app = typer.Typer()

_what, _which, _output, _work = (
    partial(option, panel=panel) for panel in ("What to measure", "Which questions", "Output", "How to work")
)


class BenchOptions(TypedDict, total=False):
    """The options of `bench`; those that were not given are missing."""

    recipe: Annotated[
        list[str],
        _what(
            "NAME",
            "A recipe, or bm25, cosine or rrf, or all; may be repeated. The others are compared with the first.",
            autocompletion=recipe_names,
        ),
    ]
    set: Annotated[
        list[str],
        _what("STAGE.PARAMETER=VALUE", "Change a parameter for this run, such as rrf.k=20; may be repeated."),
    ]
    embedder: Annotated[str, _what("EMBEDDER", "The embedder; none measures without vectors.")]
    reranker: Annotated[str, _what("RERANKER", "The reranker, for recipes that use one.")]
    reranking: Annotated[
        Reranking,
        _what("WHO", "Who reranks: documented (recipes whose document says so), none, or all. Default: documented."),
    ]
    ingest: Annotated[
        Ingest,
        _what(
            "HOW",
            "How texts are stored: replayed (each at its own time; default), used (and recalled) or bulk (at once).",
        ),
    ]
    limit: Annotated[int, _what("NUMBER", "The number of items to ask each recall for. Default: 50.", min=1)]
    group: Annotated[list[str], _which("NAME", "Only this group of the dataset; may be repeated.")]
    limit_queries: Annotated[int, _which("NUMBER", "Only this many questions, spread evenly over the groups.", min=1)]
    qrels: Annotated[str, _which("FILE", "Another file of judgements in the dataset's folder.")]
    compare: Annotated[Path, _output("FILE", "Compare with a run that --out wrote.")]
    html: Annotated[Path, _output("FILE", "Where to write the HTML page. Default: in the cache; with --json, nowhere.")]
    no_html: Annotated[bool, _output(None, "Write no HTML page.", "--no-html")]
    out: Annotated[Path, _output("FILE", "Write the figures and rankings as JSON, for --compare.")]
    cache: Annotated[
        Path,
        _work(
            "FOLDER",
            "Where vectors and scores are kept between runs. Default: the user's cache. Also MEMORIST_CACHE.",
            envvar="MEMORIST_CACHE",
            show_envvar=False,
        ),
    ]
    cached_queries: Annotated[
        bool,
        _work(
            None,
            "Cache the vectors of questions and the scores of the reranker too; times then exclude these models.",
            "--cached-queries",
        ),
    ]
    fresh: Annotated[bool, _work(None, "Start again instead of continuing an interrupted run.", "--fresh")]


@command(app, options=lambda: get_type_hints(BenchOptions, include_extras=True))
def bench(
    target: Target,
    dataset: Annotated[
        str,
        argument(
            "DATASET",
            "A folder in BEIR layout or of worlds, a LoCoMo, LongMemEval or world file, or a known dataset's name.",
        ),
    ],
    as_json: bool,
    **options: Unpack[BenchOptions],
) -> Iterator[object]:
    """Measure recipes on a dataset: quality, speed and tokens."""
    from memorist_bench.results import against, read_baseline, results_to_data
    from memorist_bench.runner import work

    _check_writable(options.get("html"), options.get("out"))
    session = _session(target, options)
    data = _dataset(dataset, options)
    baseline = read_baseline(options["compare"], data) if "compare" in options else None
    with progress("Measuring", lambda: work(data, session.pipelines, session.setup), quiet=as_json) as more:
        results = session.measure(data, fresh=options.get("fresh", False), progress=more)
    if baseline is not None:
        results = against(results, baseline)
    written = _write_files(results, session, options, page=not as_json)
    yield results_to_data(results)
    _print_tables(results, written)


def _session(target: Target, options: BenchOptions) -> Experiment:
    from memorist_bench.cache import default_folder
    from memorist_bench.runner import prepare
    from memorist_bench.space import LIMIT

    settings = target.settings()
    return prepare(
        replace(
            settings,
            embedder=options.get("embedder", settings.embedder),
            reranker=options.get("reranker", settings.reranker),
        ),
        options.get("cache") or default_folder(),
        recipes=options.get("recipe", ()),
        changes=options.get("set", ()),
        limit=options.get("limit", LIMIT),
        reranking=options.get("reranking", "documented"),
        ingest=options.get("ingest", "replayed"),
        cached_queries=options.get("cached_queries", False),
    )


def _dataset(name: str, options: BenchOptions) -> Dataset:
    from memorist_bench import datasets
    from memorist_bench.runner import narrow_dataset

    whole = datasets.load(name, qrels=options.get("qrels"))
    return narrow_dataset(whole, groups=options.get("group", ()), questions=options.get("limit_queries"))


def _check_writable(*files: Path | None) -> None:
    """Refuse a file that cannot be written, before measuring rather than after."""
    for file in files:
        if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
            raise InvalidInput(f"{file} cannot be written", remedy="Name a file in a folder that exists.")


def _write_files(results: Results, session: Experiment, options: BenchOptions, *, page: bool) -> list[Path]:
    from memorist_bench.results import results_to_data

    written: list[Path] = []
    if out := options.get("out"):
        _write(out, json.dumps(results_to_data(results, answers=True), ensure_ascii=False) + "\n")
        written.append(out)
    usual = session.cache / "pages" / f"{results.dataset.name}.html" if page else None
    if (html := options.get("html") or usual) and not options.get("no_html"):
        _write(html, _page(results, session))
        written.append(html)
    return written


def _page(results: Results, session: Experiment) -> str:
    from memorist_bench.report.details import worst
    from memorist_bench.report.page import page

    first = results.recipes[0].summary
    return page(results, worst(results.dataset, first, session.pipelines[0], session.setup))


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}", remedy="Name another file.") from None


def _print_tables(results: Results, written: list[Path]) -> None:
    from memorist_bench.report.table import tables

    shown = terminal()
    for table in tables(results, shown and shown.width):
        say((table.heading, "bold"))
        head, *rows = table.lines()
        say((head, "dim"))
        for row in rows:
            say(row)
        say()
    for recipe in results.recipes:
        if recipe.skipped:
            say((f"{recipe.name} ran without {', '.join(recipe.skipped)}", "dim"))
    for file in written:
        say((f"Written: {file}", "dim"))
