"""A hook never stops the program that calls it: it answers, or says nothing, and leaves with status 0 in time.

Agents read another status as an objection: with 2, some discard what the user typed. What went wrong is one line in a
log of the user's own, which holds no text of a memory, a prompt or a command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Timer
from time import monotonic, strftime
from types import TracebackType

LIMIT = 5.0
"""Seconds after which a hook gives up. What it was writing is rolled back by the database."""
LONGEST_LIMIT = 600.0
LIMIT_VARIABLE = "MEMORIST_HOOK_SECONDS"
LARGEST_LOG = 128 * 1024
"""Bytes of the log; the log before that is kept too."""


class _Call:
    """The event that this process handles, as the log names it, and when it began."""

    def __init__(self) -> None:
        self.begin(())

    def begin(self, arguments: Sequence[str]) -> None:
        """Name the event."""
        words = list(arguments)
        rest = words[words.index("hook") + 1 :] if "hook" in words else []
        self.name = " ".join(word for word in rest if word.isascii() and word.isprintable())[:60]
        self.began = monotonic()


CALL = _Call()
_ANSWERING = Lock()
"""Held while an answer is written, so that no limit cuts it in two."""


def is_hook(arguments: Sequence[str]) -> bool:
    """Whether the command is `hook`, and not its help; each option before a command has a value."""
    place = 0
    while place < len(arguments) and arguments[place].startswith("-"):
        place += 1 if "=" in arguments[place] else 2
    rest = list(arguments[place:])
    return rest[:1] == ["hook"] and not {"--help", "-h"} & {*rest}


def run_guarded(arguments: Sequence[str], run: Callable[[Sequence[str]], int]) -> int:
    """Run a hook; its status is always 0."""
    CALL.begin(arguments)
    _replace_closed_streams()
    watch = Timer(_limit(), _give_up)
    watch.daemon = True
    watch.start()
    with noting():
        if (status := run(arguments)) != 0:
            log(f"it was called wrongly, status {status}")
    watch.cancel()
    return 0


def _replace_closed_streams() -> None:
    """Let nothing be written to a stream that was closed before we started: the database could get its number."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  # open to the end


@contextmanager
def noting() -> Generator[None]:
    """Log whatever is raised, and go on."""
    try:
        yield
    except BaseException as error:  # also an interrupt, or too little memory
        log(_what(error))


def answer(text: str) -> None:
    """Write the answer of a hook, all of it and past the buffer, which nobody could empty if the reader is gone."""
    rest = f"{text}\n".encode()
    with _ANSWERING:
        while rest:
            rest = rest[os.write(sys.stdout.fileno(), rest) :]


def _give_up() -> None:
    log("it took too long")
    _ANSWERING.acquire(timeout=1)  # an answer that nobody reads is not waited for
    os._exit(0)


def _limit() -> float:
    try:
        given = float(os.environ.get(LIMIT_VARIABLE, LIMIT))
    except ValueError:
        return LIMIT
    return given if 0 < given <= LONGEST_LIMIT else LIMIT


def _what(error: BaseException) -> str:
    """The kind of an error and where it was raised, without its message, which may quote a text."""
    frame: TracebackType | None = error.__traceback__
    place = ""
    while frame is not None:
        path, _, inner = frame.tb_frame.f_code.co_filename.rpartition(f"{os.sep}memorist{os.sep}")
        place = f" in {inner}:{frame.tb_lineno}" if path else place
        frame = frame.tb_next
    number = f" {error.errno}" if isinstance(error, OSError) and error.errno else ""
    return f"{type(error).__name__}{number}{place}"


def log(what: str) -> None:
    """Add a line to the log: when, which event, how long it took and what went wrong. Nothing if that fails too."""
    line = f"{strftime('%Y-%m-%dT%H:%M:%S%z')} {CALL.name} after {monotonic() - CALL.began:.2f} s: {what}\n"
    with suppress(Exception):
        _append(line.encode("ascii", "replace"))


def _append(line: bytes) -> None:
    from memorist.files import PRIVATE, make_folder

    file = log_file()
    make_folder(file.parent)
    with suppress(FileNotFoundError):
        if file.lstat().st_size > LARGEST_LOG:
            file.replace(file.with_name(f"{file.name}.1"))
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, PRIVATE)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def log_file() -> Path:
    """Where problems with hooks are logged."""
    from platformdirs import user_state_path

    return user_state_path("memorist", appauthor=False) / "hooks.log"
