"""What a model makes of many texts on one subject: a note that says where each thing comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memorist.asking.asker import Asker
from memorist.asking.fence import clipped
from memorist.asking.shape import record, text
from memorist.asking.source import Source, must_cite

MOST_TEXTS = 60


@dataclass(frozen=True, slots=True)
class Note:
    """A note in Markdown and the numbers of the texts it cites."""

    text: str
    cites: tuple[int, ...]


def note(asker: Asker, subject: str, sources: Sequence[Source]) -> Note:
    """One note on a subject from dated texts, at most the first 60; it cites their numbers and no others."""
    shown = sources[:MOST_TEXTS]
    data = {"subject": clipped(subject, 200), "texts": [one.to_data() for one in shown]}
    numbers = {one.number for one in shown}

    def made(answer: Any) -> Note:
        written = answer["note"].strip()
        return Note(written, must_cite(written, numbers))

    return asker.ask("note", data, record(note=text(6000)), made)
