"""The command that measures: quality, speed and tokens of recipes on judged data."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

import typer

from memorist.errors import InvalidInput
from memorist.surfaces.cli.options import Json, recipe_names, taking, target
from memorist.surfaces.cli.output import console, print_json, progress, say

if TYPE_CHECKING:
    from memorist.bench.model import Dataset
    from memorist.bench.results import Results
    from memorist.bench.runner import Experiment


class Options(TypedDict, total=False):
    """The options of the command, as far as they were given."""

    recipe: list[str]
    set: list[str]
    embedder: str
    reranker: str
    limit: int
    group: list[str]
    limit_queries: int
    qrels: str
    compare: Path
    html: Path
    no_html: bool
    out: Path
    cache: Path
    cached_queries: bool
    fresh: bool


def _option(panel: str, kind: Any, metavar: str | None, help: str, *names: str, **more: Any) -> Any:
    info = typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, show_default=False, **more)
    return Annotated[kind, info]


_what, _which, _output, _work = (
    partial(_option, panel) for panel in ("What to measure", "Which questions", "Output", "How to work")
)
OPTIONS = {
    "recipe": _what(
        list[str],
        "NAME",
        "A recipe, or bm25, cosine or rrf, or all; may be repeated. The others are compared with the first.",
        autocompletion=recipe_names,
    ),
    "set": _what(list[str], "STAGE.PARAMETER=VALUE", "Change a number for this run, as rrf.k=20; may be repeated."),
    "embedder": _what(str, "EMBEDDER", "Who turns texts into vectors; none measures without vectors."),
    "reranker": _what(str, "RERANKER", "Who rereads the best candidates, in recipes that have them reread."),
    "limit": _what(int, "NUMBER", "How many items a recall is asked for. Default: 50.", min=1),
    "group": _which(list[str], "NAME", "Only this group of the dataset; may be repeated."),
    "limit_queries": _which(int, "NUMBER", "Only so many questions, spread evenly over the groups.", min=1),
    "qrels": _which(str, "FILE", "Another file of judgements in the dataset's folder."),
    "compare": _output(Path, "FILE", "Compare with a run that --out wrote."),
    "html": _output(Path, "FILE", "Where to write the page. Default: in the cache, and with --json nowhere."),
    "no_html": _output(bool, None, "Write no page.", "--no-html"),
    "out": _output(Path, "FILE", "Write figures and rankings as JSON, to compare with later."),
    "cache": _work(
        Path,
        "FOLDER",
        "Where vectors are kept between runs. Default: the user's cache. Also MEMORIST_CACHE.",
        envvar="MEMORIST_CACHE",
        show_envvar=False,
    ),
    "cached_queries": _work(
        bool, None, "Keep vectors of questions too; times are then without embedding them.", "--cached-queries"
    ),
    "fresh": _work(bool, None, "Do not go on with an interrupted run.", "--fresh"),
}


@taking(OPTIONS)
def bench(
    context: typer.Context,
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="A folder in BEIR's layout, LoCoMo's or LongMemEval's own file, or the name of a known set.",
            show_default=False,
        ),
    ],
    as_json: Json = False,
    **options: Unpack[Options],
) -> None:
    """Measure recipes on a dataset: quality, speed and tokens."""
    from memorist.bench.results import against, read_baseline, to_data
    from memorist.bench.runner import work

    _check_places(options.get("html"), options.get("out"))
    session = _session(context, options)
    data = _dataset(dataset, options)
    baseline = read_baseline(options["compare"], data) if "compare" in options else None
    with progress("Measuring", work(data, len(session.pipelines)), quiet=as_json) as more:
        results = session.measure(data, fresh=options.get("fresh", False), progress=more)
    if baseline is not None:
        results = against(results, baseline)
    written = _write_files(results, session, options, page=not as_json)
    if as_json:
        print_json(to_data(results))
    else:
        _print(results, written)


def _session(context: typer.Context, options: Options) -> Experiment:
    from memorist.bench.cache import default_folder
    from memorist.bench.runner import prepare
    from memorist.bench.space import LIMIT

    settings = target(context).settings()
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
        cached_queries=options.get("cached_queries", False),
    )


def _dataset(name: str, options: Options) -> Dataset:
    from memorist.bench import datasets
    from memorist.bench.runner import narrowed

    whole = datasets.load(name, qrels=options.get("qrels"))
    return narrowed(whole, groups=options.get("group", ()), questions=options.get("limit_queries"))


def _check_places(*files: Path | None) -> None:
    """Refuse a file that cannot be written before the work, not after it."""
    for file in files:
        if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
            raise InvalidInput(f"{file} cannot be written", remedy="Name a file in a folder that exists.")


def _write_files(results: Results, session: Experiment, options: Options, *, page: bool) -> list[Path]:
    from memorist.bench.results import to_data

    written: list[Path] = []
    if out := options.get("out"):
        _write(out, json.dumps(to_data(results, answers=True), ensure_ascii=False) + "\n")
        written.append(out)
    usual = session.cache / "pages" / f"{results.dataset.name}.html" if page else None
    if (html := options.get("html") or usual) and not options.get("no_html"):
        _write(html, _page(results, session))
        written.append(html)
    return written


def _page(results: Results, session: Experiment) -> str:
    from memorist.bench.report.details import worst
    from memorist.bench.report.page import page

    first = results.recipes[0].summary
    return page(results, worst(results.dataset, first, session.pipelines[0], session.setup))


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}", remedy="Name another file.") from None


def _print(results: Results, written: list[Path]) -> None:
    from memorist.bench.report.table import tables

    for table in tables(results, console().width if console().is_terminal else None):
        say((table.heading, "bold"))
        head, *rows = table.lines()
        say((head, "dim"))
        for row in rows:
            say(row)
        say()
    for one in results.recipes:
        if one.skipped:
            say((f"{one.name} ran without {', '.join(one.skipped)}", "dim"))
    for file in written:
        say((f"Written: {file}", "dim"))
