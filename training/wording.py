"""Other wordings of a question: people also ask with keywords, claims, requests and whole turns of talk."""

from __future__ import annotations

import re

AUTHOR = "@A"
"""Stands in a question for the name of the one who wrote the text."""

_STOP = """
a about all am an and any are as at be been but by can could did do does for from get had has have he her him
his how i if in into is it its just me more my no not of on one or our out she so some than that the their them
then there they this to up us was we were what when where which who whom whose why will with would you your
"""
STOP = frozenset(_STOP.split())

_WORD = re.compile(r"[\w'’@-]+")
_ASKS = r"(?P<wh>(?:in |at |on |for |from |to |with |by )?(?:what|which|who|whom|whose|where|when|why|how)\b[^?]*?)"
_COPULA = re.compile(rf"^{_ASKS} (?P<be>is|are|was|were) (?P<rest>[^?]+)\?*$", re.IGNORECASE)
_DO = re.compile(rf"^{_ASKS} (?P<do>do|does|did) (?P<rest>[^?]+)\?*$", re.IGNORECASE)
_SUBJECT = re.compile(
    r"^(?:who|what|which [\w-]+(?: [\w-]+)?) "
    r"(?P<rest>(?:is|are|was|were|has|have|had|can|could|will|would|[a-z]+ed|[a-z]+s) [^?]+)\?*$",
    re.IGNORECASE,
)
_REQUESTS = ("Remind me", "Tell me", "I want to know", "I can't remember", "Do you remember", "Find out")


def content_words(text: str) -> list[str]:
    """Its words that carry meaning, in order."""
    return [word for word in _WORD.findall(text) if word.lower() not in STOP]


def keywords(question: str) -> str | None:
    """What one types into a search box: the content words alone."""
    words = content_words(question)
    return " ".join(words) if len(words) >= 2 else None


def claim(question: str, answer: str) -> str | None:
    """The question as a statement with its answer put in; its grammar may be off."""
    if not answer or len(answer) > 120:
        return None
    if found := _DO.match(question):
        return f"{found['rest'].strip()} {answer}."
    if found := _SUBJECT.match(question):
        return f"{answer} {found['rest'].strip()}."
    return None


def request(question: str, which: int) -> str | None:
    """The question inside a sentence that is none: "Remind me where Anna lives"."""
    opening = _REQUESTS[which % len(_REQUESTS)]
    for pattern, verb in ((_COPULA, "be"), (_DO, "do")):
        if found := pattern.match(question):
            asked = found["wh"][:1].lower() + found["wh"][1:]
            moved = f" {found[verb].lower()}" if verb == "be" else ""
            return f"{opening} {asked} {found['rest'].strip()}{moved}."
    return None


_AGREEMENT = (("does", "do", "do"), ("is", "am", "are"), ("has", "have", "have"), ("was", "was", "were"))


def to_first_person(question: str) -> str:
    """As the author asks about themselves: "Where do I live?"."""
    return _spoken(question, 1, "my", "I")


def to_second_person(question: str) -> str:
    """As another asks the author: "Where do you live?"."""
    return _spoken(question, 2, "your", "you")


def _spoken(question: str, person: int, owner: str, name: str) -> str:
    for forms in _AGREEMENT:
        question = re.sub(rf"(?i)\b{forms[0]} {AUTHOR}\b(?!'s)", f"{forms[person]} {name}", question)
    return named(question, name, owner)


def named(question: str, name: str, owner: str | None = None) -> str:
    """With the author called by a name."""
    return re.sub(rf"{AUTHOR}['’]s", owner or f"{name}'s", question).replace(AUTHOR, name)


def share_topic(left: str, right: str) -> bool:
    """Whether two turns have a longer content word in common, so that one tells something of the other."""
    return bool(_long_words(left) & _long_words(right))


def _long_words(text: str) -> set[str]:
    return {word.lower()[:6] for word in content_words(text) if len(word) >= 5}
