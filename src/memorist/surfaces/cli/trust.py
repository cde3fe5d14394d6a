"""The trust command: which settings files of projects may set everything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from memorist import trust as trusting
from memorist.config import (
    FILE_NAME,
    content_of,
    functions,
    is_trusted,
    project_file,
    trusted_content,
    untrusted_settings,
)
from memorist.errors import InvalidInput, NotFound
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.doctor import without_password
from memorist.surfaces.cli.options import argument, command, flag
from memorist.surfaces.cli.output import count, one_line, say, say_table

app = typer.Typer()


@command(app)
def trust(
    target: Target,
    file: Annotated[
        str | None, argument("FILE", f"The settings file. Default: {FILE_NAME} in this folder or a parent.")
    ] = None,
    remove: Annotated[bool, flag("--remove", "Trust it no longer.")] = False,
    list_: Annotated[bool, flag("--list", "Print the trusted files.")] = False,
) -> Iterator[object]:
    """Let a project's settings file set everything: URLs, keys, models, gates, folders and functions to run.

    A file that is edited must be trusted again, also after an edit of a module beside it that it names. Your own
    settings file, and one that you name with --config, are always trusted.
    """
    if target.config is not None:
        raise InvalidInput("A file given with --config is trusted", remedy="Give FILE after the command.")
    if list_:
        yield from _list()
    elif remove:
        yield from _remove(_chosen(file))
    else:
        yield from _trust(_chosen(file))


def _trust(file: Path) -> Iterator[object]:
    content = content_of(file)
    sets = {name: _written(value) for name, value in untrusted_settings(file, content).items()}
    if named := functions(file, content):
        sets["functions"] = one_line(", ".join(named))
    trusting.trust(file, trusted_content(file, content))
    yield {"file": str(file), "trusted": True, "sets": sets}
    say(("✓ ", "green"), f"{one_line(str(file))} is trusted until it changes.")
    say_table((((one_line(name), "bold"), one_line(value)) for name, value in sets.items()), indent=2)


def _remove(file: Path) -> Iterator[object]:
    if not trusting.distrust(file):
        raise NotFound(f"{file} is not trusted", remedy="Look it up with `memorist trust --list`.")
    yield {"file": str(file), "trusted": False}
    say(("✓ ", "green"), f"{one_line(str(file))} is no longer trusted.")


def _list() -> Iterator[object]:
    files = [{"file": path, "state": _state(Path(path))} for path in sorted(trusting.trusted_hashes())]
    yield files
    say_table((one_line(file["file"]), (file["state"], "dim")) for file in files)
    say(f"{count(len(files), 'file', 'files')}.")


def _state(file: Path) -> str:
    if not file.is_file():
        return "missing"
    try:
        same = is_trusted(file, content_of(file))
    except InvalidInput:  # it cannot be read any more
        same = False
    return "trusted" if same else "changed since, not trusted"


def _chosen(file: str | None) -> Path:
    """The file to trust, by its real path."""
    found = Path(file).expanduser() if file is not None else project_file()
    if found is None:
        raise NotFound(f"There is no {FILE_NAME} in this folder or a parent", remedy="Give its path.")
    return found.resolve()


def _written(value: Any) -> str:
    """A value as a person reads it, without passwords."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else str(value)
    return without_password(text) or ""
