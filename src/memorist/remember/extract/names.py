"""Names that the spelling shows: runs of capitalised words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memorist.remember.extract.clauses import LONGEST_TEXT
from memorist.remember.extract.lexicon import NOT_NAMES, word_set
from memorist.remember.extract.spans import CAPITALISED

_RUN = re.compile(
    rf"(?<![\w@#/\\]){CAPITALISED}(?:[ \t]+(?:(?:of|de|del|la|le|van|von|der|da|di)[ \t]+(?:the[ \t]+)?)?{CAPITALISED}"
    r"|[ \t]+\d{1,4}\b(?![.,]?\d))*"
)
_WORD = re.compile(r"\S+")
_OPENS = re.compile(r"(?:^|[.!?:;…\n\"“”(\[*•\u2600-\u27bf\U0001f000-\U0001faff]\s*|\n\s*[->]\s*)$")
_TITLE = re.compile(r"\b(?:mr|mrs|ms|dr|prof|st)\.\s+$", re.IGNORECASE)
_CONTRACTED = re.compile(r"['’](?:m|re|ve|ll|d|t)$|n['’]t$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_JOINERS = word_set("of de del la le van von der da di the")


@dataclass(frozen=True, slots=True)
class NameRun:
    """A run of capitalised words; `opens` if it is one word at the beginning of a sentence, which may be anything."""

    text: str
    begin: int
    stop: int
    opens: bool


@lru_cache(maxsize=1024)  # a text that is kept is looked through several times
def name_runs(text: str) -> tuple[NameRun, ...]:
    """The names of a text in order, without words of grammar, greetings, days and possessive endings."""
    return tuple(_runs(text[:LONGEST_TEXT]))


def _runs(head: str) -> Iterator[NameRun]:
    for found in _RUN.finditer(head):
        before = head[max(0, found.start() - 8) : found.start()]
        opens = bool(_OPENS.search(before)) and not _TITLE.search(before)
        for words in _parted(found):
            begin, stop = words[0][0], words[-1][1]
            if stop - begin > 1:
                first = opens and begin == found.start() and len(words) == 1
                yield NameRun(" ".join(head[start:end] for start, end in words), begin, stop, first)


def _parted(run: re.Match[str]) -> Iterator[list[tuple[int, int]]]:
    """The words of a run as spans, parted at words that name nobody and after a possessive."""
    part: list[tuple[int, int]] = []
    for found in _WORD.finditer(run.string, run.start(), run.end()):
        word = _POSSESSIVE.sub("", found[0])
        span = (found.start(), found.start() + len(word))
        if word in _JOINERS:
            part = [*part, span] if part else []
            continue
        if _names_nobody(word) or (word.isdigit() and not part):
            yield from _named(part, run.string)
            part = []
            continue
        part = [*part, span]
        if word != found[0]:
            yield from _named(part, run.string)
            part = []
    yield from _named(part, run.string)


def _names_nobody(word: str) -> bool:
    lower = word.lower().replace("’", "'")
    return not word or lower in NOT_NAMES or bool(_CONTRACTED.search(lower))


def _named(part: list[tuple[int, int]], text: str) -> Iterator[list[tuple[int, int]]]:
    while part and text[part[-1][0] : part[-1][1]] in _JOINERS:
        part = part[:-1]
    if part:
        yield part
