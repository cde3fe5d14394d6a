"""Commands about recipes: recipes prints them, bench measures them on judged data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack, cast, get_type_hints

import typer

from memorist.bench.model import Ingest, Reranking
from memorist.errors import InvalidInput, NotFound
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import argument, command, option, recipe_names
from memorist.surfaces.cli.output import Part, one_line, progress, readable, say, say_table, terminal

if TYPE_CHECKING:
    from memorist.bench.model import Dataset
    from memorist.bench.results import Results
    from memorist.bench.runner import Experiment
    from memorist.recall.pipeline import Pipeline


app = typer.Typer()
ROLES = ("stage", "signal", "factor")


@command(app)
def recipes(
    target: Target,
    name: Annotated[str | None, argument("NAME", "The recipe to print in detail.", autocompletion=recipe_names)] = None,
) -> Iterator[object]:
    """Print the recipes, or the stages and parameters of one of them."""
    from memorist.engine.vocabulary import recipe_to_data
    from memorist.recall.recipes import RECIPES, as_used, custom_recipes

    settings = target.settings()
    known = {**RECIPES, **custom_recipes(settings.recipes, shipped_parts=settings.untrusted_recipes)}
    if name is None:
        yield [recipe_to_data(recipe) for recipe in known.values()]
        say_table(((one_line(recipe.name), "bold"), one_line(_purpose(recipe))) for recipe in known.values())
        return
    if name not in known:
        raise NotFound(f"There is no recipe {name!r}", remedy=f"Choose one of {', '.join(known)}.")
    data = recipe_to_data(as_used(known[name]))
    yield data
    say((name, "bold"), ": ", _purpose(known[name]))
    say_table(_part_rows(data["stages"]), indent=2)
    for given, parameters in known[name].names.items():
        say("Its document calls ", ", ".join(parameters), ": ", (given, "cyan"))


def _purpose(recipe: Pipeline) -> str:
    """The first line of a recipe's description; a custom recipe is described by its stages."""
    return recipe.about.partition("\n")[0] or " → ".join(stage.kind for stage in recipe.stages)


def _part_rows(parts: list[dict[str, Any]], indent: int = 0) -> Iterator[tuple[Part, Part]]:
    """A row for each part, and for those inside it, further in: its name and its plain parameters."""
    for part in parts:
        role = next(role for role in ROLES if role in part)
        inner = {name: value for name, value in part.items() if name != role}
        nested = [one for value in inner.values() for one in _nested(value)]
        plain = readable({name: value for name, value in inner.items() if not _nested(value)})
        yield (f"{' ' * indent}{one_line(part[role])}", "cyan"), (one_line(plain), "dim")
        yield from _part_rows(nested, indent + 2)


def _nested(value: object) -> list[dict[str, Any]]:
    """The parts that a parameter holds, if any."""
    ones = cast("list[object]", value) if isinstance(value, list) else [value]
    mappings = [cast("dict[str, Any]", one) for one in ones if isinstance(one, dict)]
    return [one for one in mappings if any(role in one for role in ROLES)]


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
    from memorist.bench.results import against, read_baseline, results_to_data
    from memorist.bench.runner import work

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
    from memorist.bench.cache import default_folder
    from memorist.bench.runner import prepare
    from memorist.bench.space import LIMIT

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
    from memorist.bench import datasets
    from memorist.bench.runner import narrowed

    whole = datasets.load(name, qrels=options.get("qrels"))
    return narrowed(whole, groups=options.get("group", ()), questions=options.get("limit_queries"))


def _check_writable(*files: Path | None) -> None:
    """Refuse a file that cannot be written, before measuring rather than after."""
    for file in files:
        if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
            raise InvalidInput(f"{file} cannot be written", remedy="Name a file in a folder that exists.")


def _write_files(results: Results, session: Experiment, options: BenchOptions, *, page: bool) -> list[Path]:
    from memorist.bench.results import results_to_data

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


def _print_tables(results: Results, written: list[Path]) -> None:
    from memorist.bench.report.table import tables

    shown = terminal()
    for table in tables(results, shown and shown.width):
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
