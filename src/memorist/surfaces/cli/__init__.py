"""The command line: `memorist COMMAND`, one command per verb.

`main` runs a command and turns any failure into one line and an exit status; `run` does so for a process of its own.
To read on: `app` (the commands and the options before them), `options`, `output`, then the commands: `demo`, `write`,
`find`, `recipes`, `tune`, `upkeep`, `doctor`, `trust`, `move`, `serve`, `agents`.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, cast

import memorist

DEBUG = "MEMORIST_DEBUG"
FAILED, MISUSED, INTERRUPTED = 1, 2, 130
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
COLLECT_AFTER = 50_000
"""New objects after which Python looks for garbage. Its 700 would mean hundreds of looks while modules are imported."""


def run() -> NoReturn:
    """Run the command of this process, and leave at once.

    Hooks start a process per question. A command has closed what it opened when it returns; taking the interpreter
    down object by object would take a tenth of such a process. So would the threads that the BLAS of numpy starts for
    each further core: they spin when they begin, and the products of a recall are too small for them.
    """
    gc.set_threshold(COLLECT_AFTER)
    os.environ.setdefault(BLAS_THREADS, "1")
    status = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # nobody reads it, the disk is full, or it was closed
            status = status or FAILED
    os._exit(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 1 for a problem, 2 for wrong usage, 130 if interrupted."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given == ["--version"]:  # by far the quickest answer: it needs no part of the command line
        return _say_version()
    from memorist.surfaces.cli.output import survive_any_text

    try:
        survive_any_text()
        if "hook" in given:
            from memorist.surfaces.cli.guard import is_hook, run_guarded

            return run_guarded(given, _run) if is_hook(given) else _run(given)
        return _run(given)
    except BrokenPipeError:
        _close_quietly()
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _say_version() -> int:
    try:
        print(f"memorist {memorist.__version__}")  # noqa: T201  # unlike `write`, it does not mind a closed output
    except OSError:  # the disk is full, or nobody reads it
        return FAILED
    return 0


def _run(arguments: Sequence[str]) -> int:
    import typer

    from memorist.errors import Error
    from memorist.surfaces.cli.app import app

    usage_error = cast("type[Exception]", typer.BadParameter.__bases__[0])  # the one kind Typer exports
    try:
        status = app(arguments, prog_name="memorist", standalone_mode=False) or 0
        sys.stdout.flush()
        return status
    except typer.Abort:
        return INTERRUPTED
    except usage_error as error:
        return _complain(_misuse(error), MISUSED)
    except Error as error:
        from memorist.surfaces.remedies import as_command, in_words

        remedy = in_words(error.remedy, as_command)
        return _complain(f"{error.problem.rstrip('.')}. {remedy}", FAILED)
    except BrokenPipeError:
        raise
    except Exception as error:
        problem = f"Unexpected {type(error).__name__}: {error}".rstrip(": .")
        return _complain(f"{problem}. Set {DEBUG}=1 to see the traceback.", FAILED)


def _misuse(error: Any) -> str:
    from memorist.surfaces.cli.app import GLOBAL_OPTIONS

    problem = str(error.format_message()).rstrip(".")
    if getattr(error, "option_name", None) in GLOBAL_OPTIONS:
        return f"{problem} here. Give it before the command."
    command = error.ctx.command_path if error.ctx is not None else "memorist"
    if told := _advice(error):
        return f"No such option: {error.option_name}. {told} Try '{command} --help'."
    end = "" if problem.endswith("?") else "."
    return f"{problem}{end} Try '{command} --help'."


def _advice(error: Any) -> str:
    """What to give instead of an unknown option; empty for every other misuse, and if nothing is like it."""
    from memorist.model.spellings import advice

    if error.ctx is None or type(error).__name__ != "NoSuchOption":
        return ""
    options = {
        name: param.opts[0] for param in error.ctx.command.params if (name := param.name) and param.opts[0][:1] == "-"
    }
    return advice(error.option_name.lstrip("-").replace("-", "_"), options, options.__getitem__)


def _complain(message: str, status: int) -> int:
    from memorist.surfaces.cli.output import complain

    if os.environ.get(DEBUG) and status == FAILED:
        import traceback

        traceback.print_exc()
    complain(message)
    return status


def _close_quietly() -> None:
    """Discard buffered output whose reader is gone; otherwise Python reports an error at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
