"""Wrong facts: an object that is no noun phrase, and a fact that its own source does not state.

Both are judged by form alone, and only where the form leaves no doubt: a finding should be worth reading.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from memorist.model import STATES, Fact, Memory
from memorist.remember.extract.chinese import is_job
from memorist.remember.extract.lexicon import JOBS, KIN
from memorist.results.upkeep import Finding
from memorist.text.facts import ROLES, word_set
from memorist.text.patterns import lazy
from memorist.text.tokens import sentences
from memorist.upkeep.audit.checks import Check, is_current
from memorist.upkeep.audit.fixes import retire

_NOUN_RELATIONS = word_set(
    """
    lives_in works_at works_as born_in from married_to engaged_to reports_to allergic_to studies_at name
    nickname employer job occupation profession city country hometown school university nationality
    """
)
"""Relations whose object is a noun phrase, besides favourites and roles such as `boss`."""
_PEOPLE = {*KIN.values()} - {"pet"}
"""Relations whose object is a person."""
_TITLED = lazy(r"film|movie|book|song|show|series|album|band|game|quote|saying|motto|poem|play|podcast|lyric")
"""Favourites that have titles, which may be whole sentences."""
_END = lazy(r"[!?;:,。！？；，…]$|(?<![.A-Z])(?<!\b\w)(?<!Inc)(?<!Ltd)(?<!Co)(?<!Corp)(?<!Jr)(?<!Sr)(?<!St)\.$")
_NO_NOUN = word_set(
    """
    now then today tomorrow yesterday here there it this that these those he she they we you i me him us them
    who what which when where why how not no yes ok okay please still again soon later already really very just
    maybe perhaps too also though so and or but because if
    """
)
"""Words that are no noun phrase on their own."""
_OPENING = word_set(
    """
    please because that if when while and or but so not is are was were am will would can
    """
)
"""Words that no noun phrase begins with."""
_CLAUSE = lazy(
    r"\b(?:i|he|she|they|we|you|it|who|which)\s+(?:am|is|are|was|were|have|has|had|do|does|did|will|would|can|could"
    r"|should|must|might|may|think|know|want|need|go|went|said|told|\w+ed)\b"
    r"|\b(?:please|isn['’]t|aren['’]t|wasn['’]t|don['’]t|doesn['’]t|didn['’]t|won['’]t|can['’]t|i['’]m|it['’]s|i['’]ve"
    r"|you['’]re|we['’]re|they['’]re)\b"
    r"|\b(?:is|are|was|were|will|would|should|could|must)\s+(?:a|an|the|my|not|in|at|on|to|be|very|too)\b"
)
_NEGATION = r"(?:not|never|no longer|\w+n['’]t|cannot)(?:\s+(?:even|really|actually|currently|yet|be|been|ever))*"
_ELSEWHERE = {
    "works_at": r"(?:work(?:s|ed|ing)?\s+(?:with|near|opposite|alongside|against|next\s+to|just\s+like|like)"
    r"|(?:sing|sang|volunteer|rehears|play|train|stud[iy])\w*\s+(?:at|with|for|in))",
    "age": r"turns?",
    "lives_in": r"liv(?:es?|ed|ing)\s+(?:with|near|opposite|outside|next\s+to|close\s+to|not\s+far\s+from)",
    "married_to": r"(?:not|never)\s+married\s+to",
}
"""Words before an object that say something else than the relation."""
_VERB = {
    "works_at": "work(?:s|ed|ing)?",
    "works_as": "work(?:s|ed|ing)?",
    "lives_in": "liv(?:es?|ed|ing)",
    "from": "from",
}


class WrongFacts(Check):
    """Finds facts whose object is no noun phrase, and facts that their sources ask about, deny or do not state."""

    kinds = ("wrong_fact",)

    def see(self, page: Sequence[Memory]) -> Iterator[Finding]:
        """One finding per wrong fact."""
        facts = {memory.id: memory for memory in page if memory.fact is not None and is_current(memory, self.now)}
        sources = self._sources(facts)
        for id, row in facts.items():
            reason = _reason(row.fact, sources[id]) if row.fact is not None else None
            if reason is not None:
                ids = (id, *(memory.id for memory in sources[id]))
                yield Finding("wrong_fact", ids, f"{_brief(row.fact)}: {reason}", "high", retire(id))

    def _sources(self, facts: dict[str, Memory]) -> defaultdict[str, list[Memory]]:
        links = self.store.links(list(facts), STATES) if facts else []
        texts = self.store.get(list(dict.fromkeys(link.source for link in links)))
        found = defaultdict[str, list[Memory]](list)
        for link in links:
            if link.target in facts and link.source in texts:
                found[link.target].append(texts[link.source])
        return found


def _brief(fact: Fact | None) -> str:
    return "" if fact is None else f"{fact.subject} {fact.relation} {fact.object}"


def _reason(fact: Fact, sources: Sequence[Memory]) -> str | None:
    """Why a fact is wrong; None if nothing shows it."""
    if _has_nouns(fact.relation) and (problem := object_problem(fact.object)) is not None:
        return problem
    if fact.relation in _PEOPLE and (fact.object in JOBS or is_job(fact.object)):
        return "its object is a profession, not a person"
    said = [problem for memory in sources if (problem := _said_otherwise(fact, memory.text)) is not None]
    return said[0] if said and len(said) == len(sources) else None


def _has_nouns(relation: str) -> bool:
    if relation.startswith(("favourite_", "favorite_")):
        return _TITLED.search(relation) is None
    return relation in _NOUN_RELATIONS or relation.rpartition("_")[2] in ROLES


def object_problem(said: str) -> str | None:
    """Why the object of a fact is no noun phrase; None if it may be one."""
    words = said.lower().split()
    if not words or not any(letter.isalnum() for letter in said):
        return "its object has no word"
    if _END.search(said):
        return "its object ends like a sentence"
    if all(word in _NO_NOUN for word in words) or (words[0] in _OPENING and said[0].islower()):
        return "its object is no noun phrase"
    return "its object is a clause" if _CLAUSE.search(said) else None


def _said_otherwise(fact: Fact, text: str) -> str | None:
    """What a source says instead; None if one of its sentences with the object may state the fact."""
    about = [sentence for sentence in sentences(text) if fact.object.casefold() in sentence.casefold()]
    said = [_otherwise(fact, other) for other in about]
    return next(iter(said), None) if said and None not in said else None


def _otherwise(fact: Fact, sentence: str) -> str | None:
    if sentence.rstrip().endswith(("?", "？")):
        return "its source only asks"
    if (other := _pattern(fact.relation, fact.object)["other"]) is not None and other.search(sentence):
        return "its source says something else"
    denied: re.Pattern[str] = _pattern(fact.relation, fact.object)["denied"]
    return "its source denies it" if denied.search(sentence) else None


@lru_cache(256)
def _pattern(relation: str, object: str) -> dict[str, Any]:
    """The patterns of sentences that say something else than a fact, and of those that deny it."""
    value = rf"\s+(?:(?:the|a|an|my|our|his|her|their)\s+)?{re.escape(object)}(?!\w)"
    verb = _VERB.get(relation) or re.escape(relation.split("_", maxsplit=1)[0])
    between = r"(?:\s+(?:at|in|as|to|for|from|with|a|an|the))*"
    elsewhere = _ELSEWHERE.get(relation)
    return {
        "other": re.compile(elsewhere + value, re.IGNORECASE) if elsewhere else None,
        "denied": re.compile(rf"\b{_NEGATION}(?:\s+{verb})?{between}{value}", re.IGNORECASE),
    }
