"""The searches of the index once more, word by word in plain Python, to be compared with."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from memorist.stores.index import IndexEntry
from memorist.text import words
from memorist.text.words import language, query_words, stem

World = Mapping[str, IndexEntry]
Scores = dict[str, float]


def field_words(entry: IndexEntry, fields: Collection[str]) -> list[tuple[str, str]]:
    """The words of the chosen fields, each with the language of its field."""
    chosen = [("text", entry.words), ("original", entry.original)]
    texts = [text.split() for name, text in chosen if name in fields and text]
    return [(text[0], word) for text in texts for word in text[1:]]


def text_scores(world: World, query: str, fields: Collection[str]) -> Scores:
    words = query_words(query)
    spoken = language(words)
    distinct = list({stem(word, spoken): word for word in reversed(words)}.values())[::-1]
    return _bm25(world, distinct, fields, lambda asked, code, word: stem(asked, code) == stem(word, code))


def substring_scores(world: World, query: str, fields: Collection[str]) -> Scores:
    parts = [word for word in query_words(query) if len(word) > 2 or (len(word) == 2 and word > "\u2fff")]
    typos = {part for part in parts if not any(_has(entry, part) for entry in world.values())}

    def count(asked: str, _: str, word: str) -> float:
        if asked in typos:
            return _likeness(asked, word)
        return len(re.findall(f"(?={re.escape(asked)})", word))

    return _bm25(world, parts, fields, count)


def _has(entry: IndexEntry, part: str) -> bool:
    """Whether any field has a word with that stem or part."""
    words = field_words(entry, ("text", "original"))
    return any(part in word or stem(part, code) == stem(word, code) for code, word in words)


def trigram_scores(world: World, query: str, fields: Collection[str]) -> Scores:
    words = query_words(query)
    likeness = {asked: {id: _best_likeness(asked, entry, fields) for id, entry in world.items()} for asked in words}
    rarity = {word: _rarity(world, fields, [id for id in world if likeness[word][id] > 0]) for word in words}
    total = sum(rarity.values())
    scores = {id: sum(rarity[word] * likeness[word][id] for word in words) / (total or 1) for id in world}
    return {id: score for id, score in scores.items() if score > 0}


def _bm25(
    world: World, asked: Sequence[str], fields: Collection[str], count: Callable[[str, str, str], float]
) -> Scores:
    lengths = {id: len(field_words(entry, fields)) for id, entry in world.items()}
    having = [length for length in lengths.values() if length]
    scores: Scores = {}
    for query_word in asked:
        found = {
            id: float(sum(count(query_word, code, word) for code, word in field_words(entry, fields)))
            for id, entry in world.items()
        }
        found = {id: frequency for id, frequency in found.items() if frequency}
        rarity = _rarity(world, fields, list(found))
        for id, frequency in found.items():
            norm = words.length_norm(float(lengths[id]), sum(having) / len(having))
            scores[id] = scores.get(id, 0) + rarity * words.weight(frequency, norm)
    return scores


def _rarity(world: World, fields: Collection[str], containing: Sequence[str]) -> float:
    documents = sum(bool(field_words(entry, fields)) for entry in world.values())
    return words.idf(documents, len(containing))


def _best_likeness(asked: str, entry: IndexEntry, fields: Collection[str]) -> float:
    return max((_likeness(asked, word) for _, word in field_words(entry, fields)), default=0)


def _likeness(asked: str, word: str) -> float:
    if min(len(asked), len(word)) < 4:
        return float(asked == word)
    ours, theirs = _trigrams(asked), _trigrams(word)
    shared = len(ours & theirs) / len(ours | theirs)
    return shared if shared >= 0.3 else 0


def _trigrams(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[start : start + 3] for start in range(len(padded) - 2)}
