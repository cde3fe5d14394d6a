"""A stage that follows names: from the question and the best candidates to the texts about the things they name.

A question may need two texts: one that names a thing, and one about that thing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from math import log2
from typing import NamedTuple

from memorist.model import Candidate
from memorist.models.embedding_text import is_talk
from memorist.recall.stage import Draft, Env, Stage, ranked
from memorist.text.patterns import lazy
from memorist.text.words import STOP_WORDS, fold, language

SEARCHED_WORDS = 12
"""How many words from the names of a lead are searched for; the first ones are the most informative."""
LONGEST_TEXT = 4_000
"""The first characters of a text, in which names are looked for."""
LONGEST_OPENING = 80
OPENING_WORDS = 8

_WORD = lazy(r"[^\W_]+(?:[-.&'’][^\W_]+)*")
_POSSESSIVE = ("'s", "’s")
_BEGINS = lazy(r"(?:^|[.!?:;…\n\"“”„«(\[*•>-])\s*$")
_BEFORE = lazy(r"^\W*(?:(?:an?|the)\s+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bridge(Stage):
    """score + weight · lead / log₂(1 + n) for a text that opens with a name that a lead mentions.

    The first lead is the question, with the best score; then each of the first `leads` candidates, of which the largest
    gain counts. `lead` is the score of the lead minus the lowest score of all, n the number of texts that open with the
    name. Applies only to documents, not to conversation, because a document opens with a title or a subject. Names are
    recognised by capital letters. A candidate does not lead by a name in the question or in its own opening. Texts that
    no signal found are added if a lead mentions their name; they come from the best `look` results of a keyword search
    for the lead's names. Takes any scale and widens it by (1 + weight)².
    """

    kind = "bridge"
    takes = ("candidates",)
    effect = "adds"
    weight: float = 0.4
    leads: int = 2
    look: int = 20

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the texts about the things that its question and its best candidates name."""
        openings = _openings(draft.candidates)
        if not openings:
            return draft
        question, least = NameMentions(draft.query.text), min(candidate.score for candidate in draft.candidates)
        draft = replace(draft, candidates=self._led_by_question(draft.candidates, openings, question, least))
        return replace(draft, candidates=self._led_by_candidates(draft, openings, question, least, env))

    def _led_by_question(
        self, candidates: Sequence[Candidate], openings: Mapping[str, Opening], question: NameMentions, least: float
    ) -> tuple[Candidate, ...]:
        lead = max(candidate.score for candidate in candidates) - least
        gains = {id: self.weight * lead * share for id, share in _shares(_names(question, openings)).items()}
        return ranked([_raised(candidate, "asked", gains) for candidate in candidates])

    def _led_by_candidates(
        self, draft: Draft, openings: Mapping[str, Opening], question: NameMentions, least: float, env: Env
    ) -> tuple[Candidate, ...]:
        leads = [(candidate, NameMentions(candidate.memory.text)) for candidate in draft.candidates[: self.leads]]
        unfound = self._unfound([mentions for _, mentions in leads], question, draft, env)
        openings = {**openings, **_openings(unfound)}
        gains: dict[str, float] = {}
        for lead, mentions in leads:
            names, own = _names(mentions, openings), opening(lead.memory.text)
            new = {id: name for id, name in names.items() if not (question.contains(name) or own.begins_with(name))}
            for id, share in _shares(new).items():
                gains[id] = max(gains.get(id, 0.0), self.weight * (lead.score - least) * share)
        reached = [replace(candidate, score=least) for candidate in unfound if candidate.memory.id in gains]
        return ranked([_raised(candidate, "named", gains) for candidate in (*draft.candidates, *reached)])

    def _unfound(
        self, leads: Sequence[NameMentions], question: NameMentions, draft: Draft, env: Env
    ) -> list[Candidate]:
        """Texts that are not candidates and contain words of the leads' names that the question lacks."""
        known = {candidate.memory.id for candidate in draft.candidates}
        where, hits = draft.request.where, list[str]()
        for lead in leads:
            new = [word for word in lead.capitals() if not question.contains(word)]
            if new:
                hits += [hit.id for hit in env.view.search_text(" ".join(new[:SEARCHED_WORDS]), where, self.look)]
        found = env.store.get([id for id in dict.fromkeys(hits) if id not in known])
        return [Candidate(memory, 0.0, phase="multi_hop", hop=1) for memory in found.values() if where.admits(memory)]


def _openings(candidates: Sequence[Candidate]) -> dict[str, Opening]:
    written = [
        candidate.memory for candidate in candidates if candidate.memory.fact is None and not is_talk(candidate.memory)
    ]
    return {memory.id: opening(memory.text) for memory in written}


def _names(mentions: NameMentions, openings: Mapping[str, Opening]) -> dict[str, str]:
    """The mentioned name that each text opens with, by memory id."""
    return {id: name for id, begins in openings.items() if (name := mentions.shared(begins))}


def _shares(names: Mapping[str, str]) -> dict[str, float]:
    """1 / log₂(1 + n) per text: a name that many texts open with is less specific."""
    counts = Counter(names.values())
    return {id: 1 / log2(1 + counts[name]) for id, name in names.items()}


def _raised(candidate: Candidate, part: str, gains: Mapping[str, float]) -> Candidate:
    gain = gains.get(candidate.memory.id)
    if gain is None:
        return candidate
    parts = candidate.parts if "asked" in candidate.parts else {"before": candidate.score}
    return candidate.rescored(candidate.score + gain, **{**parts, part: gain})


class Word(NamedTuple):
    """A word without its possessive ending, and its position."""

    text: str
    begin: int
    stop: int


class Opening(NamedTuple):
    """The beginning of a text, without an article: a title, or the subject of the first sentence."""

    first: str
    head: str

    def words(self) -> list[Word]:
        """The first eight words."""
        return list(islice(_words(self.head), OPENING_WORDS))

    def begins_with(self, name: str) -> bool:
        """Whether the text begins with these words."""
        words = name.split()
        return [word.text for word in self.words()[: len(words)]] == words


def opening(text: str) -> Opening:
    """The opening of a text; the first word is empty if there is none."""
    head = _BEFORE.sub("", text[:LONGEST_OPENING])
    first = _WORD.match(head)
    return Opening(_without_possessive(first[0]) if first else "", head)


class NameMentions:
    """The names that a text mentions.

    A name is the longest sequence of words that starts and ends with a capitalised or numeric word: "New York City",
    not "New York" or "City". A single word is a name only inside a sentence, and only if it is the complete name of the
    opening: "DNA repair in yeast" does not open with the name "DNA".
    """

    def __init__(self, text: str) -> None:
        self._text = text[:LONGEST_TEXT]
        self._words = list(_words(self._text))
        folded = fold(" ".join(word.text for word in self._words))
        self._folded = f" {folded} "
        self._stop_words = STOP_WORDS.get(language(folded.split()), frozenset[str]())
        self._places = defaultdict[str, list[int]](list)
        for place, word in enumerate(self._words):
            self._places[word.text].append(place)

    def shared(self, opening: Opening) -> str:
        """The name at the start of an opening if this text mentions it, else an empty string."""
        places = self._places.get(opening.first)
        if not places or not self._is_name_word(opening.first):
            return ""
        words = opening.words()
        size = max(self._size(place, words, opening.head) for place in places)
        return " ".join(word.text for word in words[:size])

    def contains(self, name: str) -> bool:
        """Whether this text contains these words in sequence, ignoring case and accents."""
        return f" {fold(name)} " in self._folded

    def capitals(self) -> list[str]:
        """The distinct words that may be part of a name, in order."""
        return [word for word in self._places if self._is_name_word(word)]

    def _is_name_word(self, word: str) -> bool:
        return (word[0].isupper() or word[0].isdigit()) and fold(word) not in self._stop_words

    def _size(self, place: int, words: Sequence[Word], head: str) -> int:
        """How many words of an opening form a name at this place; 0 if none."""
        size = _common_prefix(words, self._words[place : place + len(words)])
        while size and not self._is_name_word(words[size - 1].text):
            size -= 1
        name_words = [word.text for word in words[:size] if self._is_name_word(word.text)]
        if not any(word[0].isupper() and len(word) > 1 for word in name_words):
            return 0
        if self._continues(place) or self._continues(place + size):
            return 0
        sure = len(name_words) > 1 or (self._is_whole(words, size, head) and not self._begins_sentence(place))
        return size if sure else 0

    def _is_whole(self, words: Sequence[Word], size: int, head: str) -> bool:
        """Whether the name ends here: before punctuation, a stop word, or a repetition of its first word."""
        if size == len(words) or head[words[size - 1].stop : words[size].begin] != " ":
            return True
        return fold(words[size].text) in self._stop_words or words[size].text == words[0].text

    def _continues(self, place: int) -> bool:
        """Whether the word here continues a name that began before it."""
        if not 0 < place < len(self._words):
            return False
        before, word = self._words[place - 1], self._words[place]
        adjacent = self._text[before.stop : word.begin] == " "
        return adjacent and self._is_name_word(before.text) and self._is_name_word(word.text)

    def _begins_sentence(self, place: int) -> bool:
        begin = self._words[place].begin
        return bool(_BEGINS.search(self._text[max(0, begin - 4) : begin]))


def _words(text: str) -> Iterator[Word]:
    for found in _WORD.finditer(text):
        word = _without_possessive(found[0])
        yield Word(word, found.start(), found.start() + len(word))


def _without_possessive(word: str) -> str:
    return word[:-2] if word.endswith(_POSSESSIVE) else word


def _common_prefix(some: Sequence[Word], others: Sequence[Word]) -> int:
    """The length of the common prefix."""
    return sum(1 for _ in takewhile(lambda pair: pair[0].text == pair[1].text, zip(some, others, strict=False)))
