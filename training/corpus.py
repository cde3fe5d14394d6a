"""The training data: units of text, questions about them, and the part held out for validation."""

from __future__ import annotations

import json
import lzma
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

UNCONFIRMED = frozenset(("tweet",))
"""Sources whose licence nobody has confirmed: read by nothing here."""

LICENCES = {
    "reddit": "SQuADShifts, CC BY 4.0",
    "amazon": "SQuADShifts, CC BY 4.0",
    "wiki": "SQuADShifts, CC BY 4.0",
    "wiki_p": "SQuADShifts, CC BY 4.0",
    "squad": "SQuAD 1.1, CC BY-SA 4.0",
    "nqg": "SQuAD 1.1, CC BY-SA 4.0",
    "friends": "FriendsQA, Apache-2.0",
    "molweni": "Molweni, Apache-2.0",
    "qmsum": "QMSum, MIT",
    "policy": "PolicyQA, MIT",
    "policy2": "PolicyQA, MIT",
    "covid": "COVID-QA, Apache-2.0",
    "nq": "Natural Questions, CC BY-SA 3.0",
    "timeqa": "TimeQA, BSD-3-Clause",
    "pubmed": "PubMedQA, MIT",
    "nfc": "NFCorpus train split, CC BY-SA 4.0",
}

CHATS = frozenset(("reddit", "amazon", "friends", "molweni", "qmsum", "told"))
"""Sources that read like conversations; validation searches them one held-out part at a time."""

VALIDATED = frozenset(
    ("reddit", "amazon", "friends", "qmsum", "wiki", "squad", "covid", "nq", "pubmed", "nfc", "wiki_p", "cloze", "told")
)
"""Sources with a held-out part. Molweni is too small for one."""

HELD_PER_CENT = 8
_FAMILY = {"wiki_p": "wiki"}  # the same paragraphs in two cuts


@dataclass(frozen=True, slots=True)
class Question:
    """A query, the units that answer it, and the units that must not count as wrong answers.

    `form` is question, turn or cloze; `hidden` units are never shown as context, because the query is one of them.
    """

    text: str
    positives: tuple[int, ...]
    answers: tuple[str, ...] = ()
    lexical: tuple[int, ...] = ()
    related: tuple[int, ...] = ()
    form: str = "question"
    hidden: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """Texts of one origin in their order; `groups` says which belong to one post, scene, meeting or passage."""

    name: str
    kind: str
    units: list[str]
    groups: list[int]
    speakers: list[str | None]
    questions: list[Question]

    def neighbour(self, unit: int, step: int) -> int | None:
        """The unit before (−1) or after (+1) in the same group."""
        other = unit + step
        inside = 0 <= other < len(self.units) and self.groups[other] == self.groups[unit]
        return other if inside else None

    def only_units(self, keep: Sequence[bool]) -> Source:
        """These units and the questions that they answer, renumbered."""
        places = {old: new for new, old in enumerate(unit for unit, kept in enumerate(keep) if kept)}

        def moved(units: Collection[int]) -> tuple[int, ...]:
            return tuple(places[unit] for unit in units if unit in places)

        questions = [
            replace(
                question,
                positives=moved(question.positives),
                lexical=moved(question.lexical),
                related=moved(question.related),
            )
            for question in self.questions
            if all(unit in places for unit in question.positives)
        ]
        return replace(
            self,
            units=[self.units[old] for old in places],
            groups=[self.groups[old] for old in places],
            speakers=[self.speakers[old] for old in places],
            questions=questions,
        )


def read(file: Path) -> list[Source]:
    """The sources of `train.json.xz`, without those whose licence is unconfirmed."""
    with lzma.open(file) as stream:
        data = json.load(stream)
    return [_source(source) for source in data["sources"] if source["name"] not in UNCONFIRMED]


def _source(data: dict[str, Any]) -> Source:
    questions = [
        Question(text, tuple(positives), tuple(answers), tuple(lexical), tuple(related))
        for text, positives, answers, lexical, related in data["queries"]
    ]
    return Source(data["name"], data["kind"], data["units"], data["grp"], data["spk"], questions)


def split(sources: Sequence[Source]) -> tuple[list[Source], list[Source]]:
    """Training and held-out sources.

    Conversations are parted by group, and a held-out one is searched by itself. A question about a held-out
    passage is searched among all passages of its source, as in a library.
    """
    training, held = zip(*(_split_source(source) for source in sources), strict=True)
    return [part for part in training if part.questions], [part for part in held if part.questions]


def _split_source(source: Source) -> tuple[Source, Source]:
    if source.name not in VALIDATED:
        return source, replace(source, questions=[])
    if source.name in CHATS:
        apart = [_is_held(source.name, group) for group in source.groups]
        return source.only_units([not is_apart for is_apart in apart]), source.only_units(apart)
    apart = [_is_held(source.name, _key(source, question)) for question in source.questions]
    pairs = list(zip(source.questions, apart, strict=True))
    return (
        replace(source, questions=[question for question, away in pairs if not away]),
        replace(source, questions=[question for question, away in pairs if away]),
    )


def _key(source: Source, question: Question) -> object:
    # Several questions share NFCorpus's abstracts, as they do in its own test split: parted by question.
    return question.text if source.name == "nfc" else source.groups[question.positives[0]]


def _is_held(name: str, key: object) -> bool:
    return crc32(f"{_FAMILY.get(name, name)}/{key}".encode()) % 100 < HELD_PER_CENT


def small(sources: Sequence[Source], units: int = 24, questions: int = 6) -> list[Source]:
    """A cut of each source that a processor works through in a minute."""
    cut = (source.only_units([place < units for place in range(len(source.units))]) for source in sources)
    return [replace(piece, questions=piece.questions[:questions]) for piece in cut if piece.questions]
