"""Whom a question asks about, and which candidates are somebody else's: by the names of speakers alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memorist.model import Candidate, Memory
from memorist.text.words import STOP_WORDS, fold, language, words

ROLES = frozenset(("user", "assistant", "system", "tool", "developer", "human", "ai", "bot", "model", "agent"))
"""Speakers whose label does not say who they are: what they say may be about anybody."""


def asked_about(question: str, speakers: Iterable[str | None]) -> tuple[str, ...]:
    """The speakers whom a question names, each once; none for a request, in which a name is part of the task.

    A question names somebody by the whole name, in any case, or by the first word of a longer one, spelt as there. A
    name that is a stop word of the question's language ("Will") does not count.
    """
    said = words(question)
    heard = frozenset(said) - STOP_WORDS.get(language(said), frozenset())
    known = (one for one in dict.fromkeys(speakers) if one is not None and fold(one) not in ROLES)
    named = tuple(one for one in known if _is_named(one, heard, question))
    if not named:
        return ()
    from memorist.text.wishes import is_request

    return () if is_request(question) else named


def _is_named(name: str, heard: frozenset[str], question: str) -> bool:
    parts = words(name)
    if not parts:
        return False
    return heard.issuperset(parts) or (parts[0] in heard and name.split(maxsplit=1)[0] in question)


def of_others(candidates: Sequence[Candidate], asked: Sequence[str]) -> list[bool]:
    """For each candidate, whether a named speaker who is not asked about said it without mentioning who is."""
    return [bool(asked) and _is_of_another(one.memory, asked) for one in candidates]


def _is_of_another(memory: Memory, asked: Sequence[str]) -> bool:
    speaker = memory.origin.speaker
    if speaker is None or speaker in asked or fold(speaker) in ROLES:
        return False
    own = frozenset(words(speaker))
    return frozenset(words(memory.text)).isdisjoint(part for name in asked for part in words(name) if part not in own)
