"""Sentences and passages of texts, and estimates of their token counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from memorist.text.patterns import lazy
from memorist.text.words import EMOJI, UNSPACED, idf, language, query_words, stem_all, words

_PIECE = lazy(
    rf"(?P<latin>[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+)|(?P<digits>\d+)|(?P<unspaced>[{UNSPACED}]+)"
    rf"|(?P<letters>[^\W\d_]+)|(?P<emoji>[{EMOJI}])|(?P<line>\n\s*)|\S"
)
_ASCII_TOKEN = lazy(r"(?<![A-Za-z])[A-Za-z]{1,6}|[A-Za-z]{1,4}|[0-9]{1,3}|\n\s*|\S")
"""Each match is one token; the same count for text whose letters and digits are ASCII, apart from emoji."""
_OTHER_LETTER = lazy(rf"[^\W\x00-\x7f]|[\u00c0-\u024f\u1e00-\u1eff{UNSPACED}]")
_EMOJI = lazy(rf"[{EMOJI}]")


def count_tokens(text: str) -> int:
    """An estimate of the number of tokens that is rarely too low: the sum over the pieces, each rounded up.

    A word in Latin letters counts 1 for up to six letters and 1 for every four more; three digits count 1;
    four characters of a script without spaces 5; two letters of any other script 1; an emoji 2;
    a line break or any other sign 1.
    """
    if text.isascii():
        return len(_ASCII_TOKEN.findall(text))
    if _OTHER_LETTER.search(text) is None:
        return len(_ASCII_TOKEN.findall(text)) + len(_EMOJI.findall(text))
    return sum(_tokens(piece.lastgroup, len(piece[0])) for piece in _PIECE.finditer(text))


def _tokens(kind: str | None, length: int) -> int:
    match kind:
        case "latin":
            return 1 + max(0, _ceil(length - 6, 4))
        case "digits":
            return _ceil(length, 3)
        case "unspaced":
            return _ceil(length * 5, 4)
        case "letters":
            return _ceil(length, 2)
        case "emoji":
            return 2
        case _:
            return 1


def _ceil(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


# A full stop after these does not end a sentence: titles, abbreviations, months, hours and initials.
_ABBREVIATION = lazy(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|sr|jr|vs|etc|approx|no|vol|fig|dept|inc|ltd|jan|feb|mar|apr|jun|jul|aug|sept?|oct"
    r"|nov|dec)|\b[a-z]|\be\.g|\bi\.e|\b[ap]\.m)\.$",
    re.IGNORECASE,
)
# Each run of signs is found by its first one and tried once, so that a text is mostly skipped and takes linear time.
_SIGNS = lazy(r"[.!?…。！？｡\n][.!?…。！？｡\n\"'”’)\]」』）]*+")
_END = lazy(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|[。！？｡]+[」』”’）]*|\n+")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, stripped; a line break ends a sentence too."""
    return [one for start, end in _sentence_spans(text) if (one := text[start:end].strip())]


def _sentence_spans(text: str) -> Iterator[Span]:
    start = 0
    for signs in _SIGNS.finditer(text):
        for end in _END.finditer(text, signs.start(), signs.end() + 1):
            if end[0] == "." and _ABBREVIATION.search(text, max(start, end.end() - 12), end.end()):
                continue
            yield start, end.end()
            start = end.end()
    yield start, len(text)


Span = tuple[int, int]
Judge = Callable[[Sequence[str]], Sequence[float]]
"""How well each of several sentences answers a question; larger is better."""
LONGEST_READ = 50_000
"""Characters of a text in which a passage is looked for."""
MOST_JUDGED = 30
"""A judge reads no more sentences than this of one text."""


def best_passage(text: str, query: str, most: int, judge: Judge | None = None) -> str:
    """The text, or if it has more than `most` tokens, its sentences that fit the query best, with … for all others.

    The first sentence is the one with the largest sum of log((n - df + 0.5) / (df + 0.5) + 1) over the query's stems in
    it, where df of n sentences have a stem, plus the judge's score. The sentence after it follows, and then those that
    add a stem, as long as they fit. A sentence with more than `most` tokens counts as several, parted between words.
    """
    if len(text) <= LONGEST_READ and count_tokens(text) <= most:
        return text
    read = text[:LONGEST_READ]
    spans = [part for span in _sentence_spans(read) for part in _parts(read, span, most - 2)]
    pieces = [read[start:end] for start, end in spans]
    asked = query_words(query)
    spoken = language(asked)
    stems = set(stem_all(asked, spoken))
    held = [stems.intersection(stem_all(words(piece), spoken)) for piece in pieces]
    known = Counter(stem for some in held for stem in some)
    weights = {stem: idf(len(pieces), count) for stem, count in known.items()}
    chosen = _chosen(pieces, held, weights, most - 1, _judged(pieces, judge))
    return _with_gaps(text, [spans[place] for place in sorted(chosen)])


def _judged(pieces: Sequence[str], judge: Judge | None) -> Sequence[float]:
    return judge(pieces) if judge is not None and len(pieces) <= MOST_JUDGED else [0.0] * len(pieces)


def _chosen(
    pieces: Sequence[str], held: Sequence[set[str]], weights: Mapping[str, float], room: int, judged: Sequence[float]
) -> set[int]:
    """The places of the best piece, the one after it, and those with further stems, within a number of tokens."""
    gains = [sum(map(weights.__getitem__, stems)) for stems in held]
    first = max(range(len(pieces)), key=lambda place: gains[place] + judged[place])
    by_gain = sorted(range(len(pieces)), key=lambda place: -gains[place])  # stable: ties keep their order
    chosen, covered = set[int](), set[str]()
    for place in (first, first + 1, *by_gain):
        new = place < len(pieces) and place not in chosen
        if not new or (len(chosen) > 1 and held[place] <= covered):
            continue
        cost = count_tokens(pieces[place]) + 1
        if cost <= room:
            chosen.add(place)
            covered |= held[place]
            room -= cost
    return chosen


def _with_gaps(text: str, spans: Sequence[Span]) -> str:
    """The stretches of a text, with … wherever something but white space is left out."""
    ends = [(0, 0), *spans, (len(text), len(text))]
    found = ""
    for (_, left), (start, end) in pairwise(ends):
        gap = text[left:start]
        found += (gap if gap.isspace() or not gap else " … ") + text[start:end]
    return found.strip()


def pieces(text: str, most: int) -> list[str]:
    """A text in pieces of at most `most` tokens, each of whole sentences if they are short enough."""
    found: list[Span] = []
    for part in (part for span in _sentence_spans(text) for part in _parts(text, span, most)):
        longer = (found[-1][0], part[1]) if found else part
        if found and count_tokens(text[slice(*longer)]) <= most:
            found[-1] = longer
        else:
            found.append(part)
    return [text[start:end] for start, end in found]


_CLAUSE = lazy(r"(?:[^，、；：,;:]|[,;:](?!\s))++(?:[，、；：]|[,;:](?=\s))*+|[，、；：,;:]++")
_UNIT = lazy(rf"[^\s{UNSPACED}]*[{UNSPACED}][^\w\s]*|[^\s{UNSPACED}]+")
"""A word, a number or a code; one letter of a script without spaces."""


def _parts(text: str, span: Span, most: int) -> Iterator[Span]:
    """A stretch without the white space around it; if it has too many tokens, parts of at most half as many."""
    said = text[slice(*span)].strip()
    if not said:
        return
    start = text.index(said, span[0])
    end = start + len(said)
    if count_tokens(said) <= most:
        yield start, end
        return
    begin, tokens, last = start, 0, start
    for left, right in _units(text, start, end, most // 2):
        cost = count_tokens(text[left:right])
        if tokens and tokens + cost > most // 2:
            yield begin, last
            begin, tokens = left, 0
        tokens, last = tokens + cost, right
    yield begin, last


def _units(text: str, start: int, end: int, most: int) -> Iterator[Span]:
    """The clauses of a sentence; the words of a clause with too many tokens, and pieces of a word with too many."""
    for clause in _CLAUSE.finditer(text, start, end):
        if count_tokens(clause[0]) <= most:
            yield clause.span()
            continue
        for unit in _UNIT.finditer(text, *clause.span()):
            step = len(unit[0]) if count_tokens(unit[0]) <= most else max(1, most // 2)
            yield from ((at, min(at + step, unit.end())) for at in range(unit.start(), unit.end(), step))


def holds_any(text: str, hints: tuple[str, ...]) -> bool:
    """Whether a text contains one of the hints; a plain loop, because it runs some forty times per text."""
    for hint in hints:  # noqa: SIM110
        if hint in text:
            return True
    return False
