"""The messages of `benchmarks/facts`, each with the facts that a careful reader would state.

A line is a message, and after ` | ` its facts: `relation=object`, or `Anna.relation=object` for somebody other than
Mara, who says everything. `~` marks a fact that is only roughly right. The facts were written before the rules read
the messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from memorist.model import Fact
from memorist.remember.extract import Statement, statements

FOLDER = Path(__file__).parent / "facts"
SPEAKER = "Mara"
AT = datetime(2025, 5, 20, tzinfo=UTC)
FRESH = ("fourth", "fifth", "sixth", "seventh", "eighth")
"""The sets that were written when the rules stood; the others are those that the rules were written on."""
Verdict = Literal["right", "roughly", "wrong"]


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its facts, each with its verdict."""

    text: str
    facts: dict[Fact, Verdict]

    def judged(self) -> Iterator[tuple[Statement, Verdict]]:
        """What the rules find in it, with the verdict of each."""
        for statement in statements(self.text, speaker=SPEAKER, at=AT):
            yield statement, self.facts.get(statement.fact, "wrong")


def messages(file: Path) -> Iterator[Message]:
    """The messages of a file, without its comments."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            text, _, facts = line.partition(" | ")
            yield Message(text, dict(map(_fact, filter(None, facts.split("; ")))))


def _fact(said: str) -> tuple[Fact, Verdict]:
    where, _, object = said.removeprefix("~").partition("=")
    subject, _, relation = where.rpartition(".")
    return Fact(subject or SPEAKER, relation, object), "roughly" if said.startswith("~") else "right"
