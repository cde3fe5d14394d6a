"""The command that reads what users bring."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memorist.remember.ingest import FORMATS, IngestReport
from memorist.surfaces.cli.lines import count
from memorist.surfaces.cli.options import Json
from memorist.surfaces.cli.output import print_json, progress, say
from memorist.surfaces.cli.target import opened
from memorist.wire import report_to_data

NAMED = 5
"""Reasons and places shown; `--json` has more."""


def ingest(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Files, folders or exports to read.")],
    session: Annotated[str | None, typer.Option(metavar="NAME", help="The session the texts belong to.")] = None,
    format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help=f"How to read them, where it is not seen: {', '.join(FORMATS)}."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Keep chats, notes, logs and exports; run twice, the second time adds nothing."""
    with opened(context) as engine, progress("Reading", None, quiet=as_json) as more:
        reports = {str(path): engine.ingest(path, session=session, format=format, progress=more) for path in paths}
    if as_json:
        print_json({path: report_to_data(report) for path, report in reports.items()})
        return
    for path, report in reports.items():
        _tell(path, report)


def _tell(path: str, report: IngestReport) -> None:
    kept = count(report.kept, "memory", "memories")
    facts = count(report.facts, "fact", "facts")
    say(f"{path}: kept {kept} with {facts}, {report.known} known already, from {count(report.files, 'file', 'files')}.")
    for what, reasons in (("skipped", report.skipped_by_reason), ("cleaned", report.cleaned_by_reason)):
        for reason, times in sorted(reasons.items(), key=lambda pair: -pair[1])[:NAMED]:
            say((f"  {what} {times}: {reason}", "dim"))
