"""The command that checks an installation, a memory and its settings."""

from __future__ import annotations

from dataclasses import asdict

import typer

from memorist.errors import Error
from memorist.surfaces.cli.checks import Check, checks
from memorist.surfaces.cli.options import Json
from memorist.surfaces.cli.origins import Origin, origins
from memorist.surfaces.cli.output import one_line, print_json, say
from memorist.surfaces.cli.target import target


def doctor(context: typer.Context, as_json: Json = False) -> None:
    """Check the installation, the memory and the settings; say how to mend what is wrong."""
    results = list[Check]()
    for check in checks(target(context)):
        results.append(check)
        if not as_json:
            _print(check)
    settings = origins(target(context)) if results[0].ok else []
    if as_json:
        checked = [asdict(check) for check in results]
        sound = all(check.ok for check in results)
        print_json({"ok": sound, "checks": checked, "settings": [asdict(one) for one in settings]})
    else:
        _print_settings(settings)
    wrong = sum(not check.ok for check in results)
    if wrong:
        raise Error(f"{wrong} of {len(results)} checks failed", remedy="Follow the remedies given above.")


def _print(check: Check) -> None:
    mark = ("✓ ", "green") if check.ok else ("✗ ", "red")
    say(mark, (f"{check.name:<10}", "bold"), one_line(check.found))
    if check.remedy:
        say(one_line(check.remedy), indent=12)


def _print_settings(settings: list[Origin]) -> None:
    for one in settings:
        say((f"{one.name:<10}", "bold"), one.value or "none", (f"  from {one.origin}", "dim"), indent=2)
