"""Phrases, name candidates and salient sentences of texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby

from memorist.text.patterns import lazy
from memorist.text.tokens import sentences
from memorist.text.words import STOP_WORDS, UNSPACED, fold, language, query_words, stem_all, words

MOST_NAME_WORDS = 4
TOKEN = lazy(r"[^\W_]+(?:[-'’.&@_][^\W_]+)*")
HAN = lazy(r"[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]+")
LONGEST_HAN = 8


def name_candidates(text: str) -> list[str]:
    """Every run of up to four words and of two to eight CJK characters, in reading order, longest first."""
    tokens = [match.group() for match in TOKEN.finditer(text[:2000])]
    runs = [
        " ".join(tokens[start : start + size])
        for start in range(len(tokens))
        for size in range(min(MOST_NAME_WORDS, len(tokens) - start), 0, -1)
    ]
    return list(dict.fromkeys([*runs, *(_POSSESSIVE.sub("", run) for run in runs), *_han_runs(text[:2000])]))


def _han_runs(text: str) -> list[str]:
    return [
        run[start : start + size]
        for run in HAN.findall(text)
        for start in range(len(run))
        for size in range(min(LONGEST_HAN, len(run) - start), 1, -1)
    ]


MOST_WORDS = 3
"""Longer runs are cut into phrases of this many words."""
LONGEST_SEGMENT = 12
"""Longer runs of a script without spaces are cut into segments of this many characters."""

# Words that carry little meaning of their own and would match everything.
_LIGHT_WORDS = """
    make made take took taken use go went gone come came see saw seen know knew think thought say said tell told ask
    give gave find found keep try feel felt want need happen happened mean seem look start talk discuss mention describe
    summarise explain show help let put thing time way lot kind sort type something anything everything nothing someone
    anyone everyone last next ago today yesterday tomorrow recently recent currently usually often ever never together
    many one two first new good better best great main different another really maybe sure yeah yes okay ok
    hi hey hello wow thanks thank please sorry nice cool awesome amazing wonderful glad happy lol haha"""
_TOKEN = lazy(rf"[{UNSPACED}]+|(?:(?![{UNSPACED}])[^\W_])+(?:[-'’.&@_+#](?:(?![{UNSPACED}])[^\W_])+)*(?:\+\+|\#)?")
_IS_UNSPACED = lazy(f"[{UNSPACED}]")
_LETTER = lazy(r"[^\W\d_]")
_POSSESSIVE = lazy(r"['’]s?$", re.IGNORECASE)
_LINE_LABEL = lazy(r"^[ \t]*[^\W\d_]+(?: [^\W\d_]+)?:[ \t]+", re.MULTILINE)
_SENTENCE_END = lazy(r"[.!?…:。！？：\n]")

# Chinese function words, longest first; Hiragana separates the words of Japanese.
_CHINESE_GRAMMAR = lazy(
    r"什么时候|什么样|为什么|怎么样|有没有|是不是|会不会|我们|你们|他们|她们|什么|甚麼|怎么|怎样|如何|哪里|哪儿|哪个|哪些"
    r"|多少|几个|这个|那个|这些|那些|关于|告诉|一下|可以|没有|应该|需要|已经|还是|曾经|以前|之前|发生|属于|对于|由于|现在|上次|昨天|今天|明天|去年|最近"
    r"|[的了吗呢吧啊呀嘛谁哪我你您他她它是在和与跟或把被给请很也都就]|[\u3041-\u309f]+"
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """One to three adjacent words; a name if they are capitalised."""

    words: tuple[str, ...]
    name: bool = False

    @property
    def text(self) -> str:
        """The phrase in lower case."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    run: int
    name: bool


def phrases(text: str) -> list[Phrase]:
    """The phrases of a text in reading order, with repeats; a number belongs to the words before it."""
    tokens = _content_tokens(text, language(words(text)))
    found: list[Phrase] = []
    for (_, name), run in groupby(tokens, key=lambda token: (token.run, token.name)):
        said = [token.text for token in run]
        cuts = (tuple(said[start : start + MOST_WORDS]) for start in range(0, len(said), MOST_WORDS))
        found.extend(Phrase(cut, name) for cut in cuts if _LETTER.search("".join(cut)))
    return found


def without_labels(text: str) -> str:
    """A text without the labels at the start of its lines, such as a speaker or "Action:"."""
    return _LINE_LABEL.sub("", text)


def stems(phrase: str) -> frozenset[str]:
    """The stems of the words of a phrase, used to compare phrases."""
    found = words(phrase)
    return frozenset(stem_all(found, language(found)))


def _content_tokens(text: str, spoken: str) -> Iterator[_Token]:
    """The content words, each with the number of the unbroken run it is in."""
    run, end, opening, name = 0, 0, True, False
    for found in _TOKEN.finditer(text):
        gap = text[end : found.start()]
        opening = opening or bool(_SENTENCE_END.search(gap))
        end = found.end()
        if gap.strip():
            run += 1
        if _IS_UNSPACED.match(found[0]):
            for segment in _segments(found[0]):
                run += 1
                yield _Token(segment, run, name=False)
            run += 1
        else:
            word = _POSSESSIVE.sub("", found[0])
            name = name if word.isdecimal() else _is_name(word, opening=opening)
            if has_content := _has_content(word, spoken):
                yield _Token(word.lower(), run, name)
            if word != found[0] or not has_content:
                run, name = run + 1, False
        opening = False


@cache
def _light_stems() -> frozenset[str]:
    return frozenset(stem_all(_LIGHT_WORDS.split(), "en"))


@lru_cache(maxsize=8192)
def _has_content(word: str, spoken: str) -> bool:
    common = STOP_WORDS.get(spoken, frozenset())
    parts = [part for part in words(word) if part not in common]
    return bool(parts) and not _light_stems().issuperset(stem_all(parts, "en"))


def _is_name(word: str, *, opening: bool) -> bool:
    """Whether a word is capitalised inside a sentence, or has capitals inside it."""
    return word[1:] != word[1:].lower() or (word[0].isupper() and not opening)


def _segments(run: str) -> Iterator[str]:
    for piece in _CHINESE_GRAMMAR.split(run):
        for start in range(0, len(piece), LONGEST_SEGMENT):
            segment = piece[start : start + LONGEST_SEGMENT]
            if len(segment) > 1:
                yield segment


SAID_BEFORE = 0.5
"""The weight of a stem that an earlier sentence contains."""
LONGEST = 300
"""Longer sentences are cut to this many characters."""


@dataclass(frozen=True, slots=True)
class Salient:
    """A sentence and the indexes of the texts that contain it."""

    text: str
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    stems: frozenset[str]
    sources: tuple[int, ...]
    place: int
    weight: float


def salient(texts: Sequence[str], most: int, weights: Sequence[float] | None = None) -> list[Salient]:
    """Up to `most` sentences that cover most of the content of the texts, in their order.

    Greedy coverage of concepts (Filatova and Hatzivassiloglou 2004): the score of a sentence is the number of its
    stems, where stems of earlier sentences count half, times the weight of its text, halved for a question. On
    LoCoMo with 12 lines per day, 46 % of the chosen turns are evidence for a question (24 % of all turns are), and
    they contain 70 % of the evidence.
    """
    left = _distinct(texts, weights)
    chosen: list[_Sentence] = []
    said: set[str] = set()
    while left and len(chosen) < most:
        best = max(left, key=lambda one: (_score(one, said), -one.place))
        chosen.append(best)
        left.remove(best)
        said |= best.stems
    return [
        Salient(_cut(sentence.text), sentence.sources)
        for sentence in sorted(chosen, key=lambda one: one.place)
        if sentence.stems
    ]


def _distinct(texts: Sequence[str], weights: Sequence[float] | None) -> list[_Sentence]:
    """Each distinct sentence with all the texts that contain it and their greatest weight."""
    found: dict[str, _Sentence] = {}
    for source, text in enumerate(texts):
        weight = 1.0 if weights is None else weights[source]
        for sentence in sentences(text):
            same = " ".join(fold(sentence).split()).rstrip(" .!。！")
            known = found.get(same)
            if known is None:
                words = query_words(sentence)
                stems = frozenset(stem_all(words, language(words)))
                found[same] = _Sentence(sentence, stems, (source,), len(found), weight)
            else:
                sources = tuple(dict.fromkeys((*known.sources, source)))
                found[same] = _Sentence(known.text, known.stems, sources, known.place, max(known.weight, weight))
    return list(found.values())


def _score(sentence: _Sentence, said: set[str]) -> float:
    answering = 0.5 if sentence.text.endswith(("?", "？")) else 1.0
    new = len(sentence.stems - said)
    return sentence.weight * answering * (new + SAID_BEFORE * (len(sentence.stems) - new))


def _cut(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1].rstrip() + "…"
