"""Whether texts repeat, contradict or copy each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memorist.text.labels import unframe
from memorist.text.patterns import lazy
from memorist.text.sameness import canonical, signs
from memorist.text.tokens import sentences
from memorist.text.words import UNSPACED, fold, stem_all

MOST_ADDED = 0.2
"""The largest share of the longer text that a repeat may lack."""
MOST_WORDS_ADDED = 3
"""The most words that a repeat may lack; a fifth of a long text is a whole sentence."""
FEWEST_WORDS = 3
"""Shorter statements are too short for a contradiction."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORD = lazy(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?|\w+")
_TAILS = {"n't": "not", "'ll": "will", "'d": "would", "'ve": "have", "'re": "", "'m": "", "'s": ""}
_IRREGULAR = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not"}
FILLERS = _set(
    """a an the am is are oh ah well so just really very quite also too please hey hi yes yeah ok okay um uh actually
    literally basically simply indeed anyway btw lol haha wow"""
)
"""Words that a repeat may add or omit."""
NEGATIONS = _set(
    """not no never none nobody nothing nowhere neither nor without hardly longer anymore dont doesnt didnt isnt arent
    wasnt werent wont cant couldnt shouldnt wouldnt havent hasnt hadnt stopped quit"""
)
_AUXILIARIES = _set("do does did any some")
_GUARDS = NEGATIONS | _set(
    """was were will would had has have could should might may must can used going before after until since only all
    if unless except than more less most least first last next new old yesterday today tomorrow tonight now then
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december"""
)
"""Words whose presence changes the meaning of a statement."""
_NUMBERS = _set(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half
    double twice once second third fourth fifth"""
)
_HYPOTHETICAL = _set("if unless would could might wish imagine suppose maybe perhaps")


@dataclass(frozen=True, slots=True)
class Gist:
    """The words of a text in order, folded and without fillers, and those that are capitalised."""

    words: tuple[str, ...]
    names: frozenset[str]


def gist(text: str) -> Gist:
    """The words of a text without case, accents, punctuation and contractions."""
    names = frozenset(fold(word) for word in _CAPITALISED.findall(text))
    return Gist(tuple(word for word in plain_words(text) if word not in FILLERS), names)


def plain_words(text: str) -> list[str]:
    """The words of a text, folded, with contractions expanded: don't → do not."""
    return [word for found in _WORD.findall(fold(text)) for word in _spelt_out(found)]


def repeats(new: Gist, known: Gist) -> bool:
    """Whether a text adds nothing to a known one: it has the same words, or lacks a few that do not matter.

    It may lack at most a fifth and three of the words, and no number, name, date, tense or negation. A text with
    a new word is never a repeat, because that word may be the news.
    """
    if new.words == known.words:
        return bool(new.words)
    if not new.words or len(new.words) < (1 - MOST_ADDED) * len(known.words):
        return False
    added = _added(new.words, known.words)
    return added is not None and len(added) <= MOST_WORDS_ADDED and not any(_matters(word, known) for word in added)


def denials(text: str) -> list[tuple[tuple[str, ...], bool]]:
    """The statements of a text, each as its content stems with its signs, and whether it is negated.

    Two statements with the same stems contradict each other if one is negated. Questions and suppositions are
    not statements.
    """
    return [found for sentence in sentences(text) if (found := _statement(sentence)) is not None]


def _statement(sentence: str) -> tuple[tuple[str, ...], bool] | None:
    if sentence.rstrip("\"'”’) ").endswith(("?", "？")):
        return None
    spoken = plain_words(sentence)
    if not _HYPOTHETICAL.isdisjoint(spoken):
        return None
    denied = sum(word in NEGATIONS and word not in ("longer", "anymore") for word in spoken) % 2 == 1
    carried = [word for word in spoken if word not in FILLERS and word not in NEGATIONS and word not in _AUXILIARIES]
    if len(carried) < FEWEST_WORDS:
        return None
    return (*stem_all(carried, "en"), signs(sentence)), denied


def _added(shorter: Sequence[str], longer: Sequence[str]) -> list[str] | None:
    """The words that only the longer text has, or None if it does not contain the shorter one in order."""
    added: list[str] = []
    at = 0
    for word in longer:
        if at < len(shorter) and word == shorter[at]:
            at += 1
        else:
            added.append(word)
    return added if at == len(shorter) else None


def _matters(word: str, gist: Gist) -> bool:
    return word in gist.names or _sets_apart(word)


def _sets_apart(word: str) -> bool:
    if word in _GUARDS or word in _NUMBERS:
        return True
    return _UNSPACED.search(word) is not None or any(letter.isdigit() for letter in word)


def _spelt_out(word: str) -> Iterable[str]:
    if "'" not in word:
        return _IRREGULAR[word].split() if word in _IRREGULAR else (word,)
    if word in _IRREGULAR:
        return _IRREGULAR[word].split()
    for tail, meaning in _TAILS.items():
        if word.endswith(tail):
            return [part for part in (word.removesuffix(tail), meaning) if part]
    return word.split("'")


_UNSPACED = lazy(f"[{UNSPACED}]")  # one such run may be a whole sentence
_CAPITALISED = lazy(r"(?<=[\w,;] )[^\W\d_a-z][\w'’-]*")


SHORTEST = 20
"""The least letters of a sentence whose repetition is no accident; a third of it in scripts without spaces."""
_CITED = lazy(r"(?<!\s)\s*+\([^()\n]{1,200}+\)\s*+$")
_BULLET = lazy(r"^[\s>]*(?:[-*•]|\d{1,3}[.)]|\[\d{1,3}\])\s+")


@dataclass(frozen=True, slots=True)
class Copies:
    """How much of a text is copied: the number of sentences, their sources and their share of its letters."""

    sentences: int
    sources: tuple[str, ...]
    share: float


def copies(pieces: Sequence[str], holders: Mapping[str, Sequence[str]]) -> Copies:
    """How many pieces of a text are copied, given the holders of each; with as few sources as possible."""
    copied = [piece for piece in pieces if piece in holders]
    shares = Counter(holder for piece in copied for holder in holders[piece])
    sources = dict.fromkeys(max(holders[piece], key=shares.__getitem__) for piece in copied)
    letters = sum(map(len, pieces))
    return Copies(len(copied), tuple(sources), sum(map(len, copied)) / letters if letters else 0.0)


def pieces_of(text: str) -> list[str]:
    """The sentences of a text as they are compared, without the numbers, dates and citations that recall adds."""
    return [piece for line in text.splitlines() for piece in _pieces(_undressed(line))]


def _undressed(line: str) -> str:
    recalled = unframe(line)
    return _BULLET.sub("", line) if recalled is None else _CITED.sub("", recalled)


def _pieces(line: str) -> Iterable[str]:
    for sentence in sentences(line):
        piece = canonical(sentence)
        if len(piece) >= SHORTEST or (not piece.isascii() and " " not in piece and len(piece) >= SHORTEST // 3):
            yield piece
