"""Whether two texts say the same, and whether one copies the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memorist.text.patterns import lazy
from memorist.text.tokens import sentences
from memorist.text.words import UNSPACED, fold, stem_all

MOST_ADDED = 0.2
"""How much of the longer text the shorter one may lack to be its repeat."""
MOST_WORDS_ADDED = 3
"""And how many words: of a long text, a fifth is a sentence of its own."""
FEWEST_WORDS = 3
"""A shorter statement is too little to be denied by another."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORD = lazy(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?|\w+")
_TAILS = {"n't": "not", "'ll": "will", "'d": "would", "'ve": "have", "'re": "", "'m": "", "'s": ""}
_IRREGULAR = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not"}
FILLERS = _set(
    """a an the am is are oh ah well so just really very quite also too please hey hi yes yeah ok okay um uh actually
    literally basically simply indeed anyway btw lol haha wow"""
)
"""Words that a repeat may add or leave out."""
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
"""Words whose presence alone makes another statement of it."""
_NUMBERS = _set(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half
    double twice once second third fourth fifth"""
)
_HYPOTHETICAL = _set("if unless would could might wish imagine suppose maybe perhaps")


@dataclass(frozen=True, slots=True)
class Gist:
    """The words of a text in order, folded, without fillers; and which of them stand out by a capital letter."""

    words: tuple[str, ...]
    names: frozenset[str]


def gist(text: str) -> Gist:
    """A text's words as its repeats have them: case, accents, punctuation and contractions aside."""
    names = frozenset(fold(word) for word in _CAPITALISED.findall(text))
    return Gist(tuple(word for word in plain_words(text) if word not in FILLERS), names)


def plain_words(text: str) -> list[str]:
    """A text's words, folded, contractions spelt out: don't → do not."""
    return [word for found in _WORD.findall(fold(text)) for word in _spelt_out(found)]


def repeats(new: Gist, known: Gist) -> bool:
    """Whether a text says nothing that a known one does not: the same words, but for some that change nothing.

    What the known one has beyond them is at most a fifth and three words, and no number, name, date, tense or
    negation. A text with a word of its own is never a repeat, for that word may be the news.
    """
    if new.words == known.words:
        return bool(new.words)
    if not new.words or len(new.words) < (1 - MOST_ADDED) * len(known.words):
        return False
    added = _added(new.words, known.words)
    return added is not None and len(added) <= MOST_WORDS_ADDED and not any(_matters(word, known) for word in added)


def marks(text: str) -> Counter[str]:
    """The words of a text that make another statement of it where they differ: numbers, dates, tense, negation."""
    return Counter(word for word in plain_words(text) if _sets_apart(word))


def denials(text: str) -> list[tuple[tuple[str, ...], bool]]:
    """The plain statements of a text, each as the stems that carry it and whether it is denied.

    Two statements with the same stems contradict each other when one is denied. Questions and what is only
    supposed state nothing.
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
    return tuple(stem_all(carried, "en")), denied


def _added(shorter: Sequence[str], longer: Sequence[str]) -> list[str] | None:
    """The words by which the longer exceeds the shorter, or None if it does not hold it in order."""
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


_UNSPACED = lazy(f"[{UNSPACED}]")  # a whole sentence may stand in one such run
_CAPITALISED = lazy(r"(?<=[\w,;] )[^\W\d_a-z][\w'’-]*")


SHORTEST = 20
"""Letters of a sentence whose return is no accident; scripts without spaces say as much in a third of them."""
_PREFIX = lazy(r"^\s*(?:\[\d{1,3}\]|[-*•]|\d{1,3}[.)])?\s*(?:\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\s+)?")
_CITED = lazy(r"\s*\([^()\n]{1,200}\)\s*$")
_SAID_BY = lazy(r"^[^\W\d_][\w.'’ -]{0,30}:\s+")
_SIGNS = lazy(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Copies:
    """How much of a text stands elsewhere: sentences, where they do, and their share of its letters."""

    sentences: int
    sources: tuple[str, ...]
    share: float


def copies(pieces: Sequence[str], holders: Mapping[str, Sequence[str]]) -> Copies:
    """How much of a text's pieces stands elsewhere, given who holds each; as few sources as explain it."""
    copied = [piece for piece in pieces if piece in holders]
    shares = Counter(holder for piece in copied for holder in holders[piece])
    sources = dict.fromkeys(max(holders[piece], key=shares.__getitem__) for piece in copied)
    letters = sum(map(len, pieces))
    return Copies(len(copied), tuple(sources), sum(map(len, copied)) / letters if letters else 0.0)


def pieces_of(text: str) -> list[str]:
    """A text's sentences as they can be compared: folded letters, without numbering, dates, speakers and citations."""
    return [piece for line in text.splitlines() for piece in _pieces(_undressed(line))]


def _undressed(line: str) -> str:
    return _SAID_BY.sub("", _CITED.sub("", _PREFIX.sub("", line)))


def _pieces(line: str) -> Iterable[str]:
    for sentence in sentences(line):
        piece = _SIGNS.sub(" ", fold(sentence)).strip()
        if len(piece) >= SHORTEST or (not piece.isascii() and " " not in piece and len(piece) >= SHORTEST // 3):
            yield piece
