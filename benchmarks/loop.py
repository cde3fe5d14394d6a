"""Ask every question twice, as an agent does that stores each question and its own answer.

    python benchmarks/loop.py PATH/everyday
    python benchmarks/loop.py held                         the worlds of training/everyday that no model was trained on
    python benchmarks/loop.py PATH --recipe nearest --asker

After the first pass the question is stored under the name of who says most, and an answer of the assistant that repeats
what came first. The second pass follows a day later. Printed for each: right in the first place and among five, what
came first that was only asked or the assistant's, and how often two of the first five items said the same.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from common import options

import memorist
from memorist.model import Recall
from memorist.testing import FakeClock
from memorist_bench.datasets import load
from memorist_bench.model import Document, Group

ANSWERS = ("You told me: {}", "{}", "As far as I remember, {}")
ASSISTANT = "assistant"
FIRST = 5
Row = dict[str, Any]


def main() -> None:
    """Ask, and print a table of both passes."""
    arguments = options(__doc__)
    arguments.add_argument("path", metavar="PATH")
    arguments.add_argument("--recipe", default="memorist")
    arguments.add_argument("--asker", action="store_true", help="say who asks")
    arguments.add_argument("--questions", type=int, metavar="N", help="at most so many per group")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="what came first for each question")
    given = arguments.parse_args()
    groups = [group for group in _groups(given.path) if group.documents]
    rows = [row for group in groups for row in _asked_twice(group, given.recipe, given.asker, given.questions)]
    print("| | questions | right@1 | right@5 | a question first | an echo first | said twice |")
    print("|---|---|---|---|---|---|---|")
    for turn in ("first", "again"):
        known = [row for row in rows if row["pass"] == turn]
        shares = [_share([row[name] for row in known]) for name in ("right@1", "right@5", "asked", "echo", "twice")]
        print("|", " | ".join([turn, str(len(known)), *shares]), "|")
    if given.json:
        given.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")


def _groups(path: str) -> Sequence[Group]:
    if path == "held":
        from confidence import held

        return held(None).groups
    return load(path).groups


def _share(found: Sequence[bool]) -> str:
    return f"{sum(found) / len(found):.3f}" if found else "–"


def _asked_twice(group: Group, recipe: str, names_asker: bool, most: int | None) -> Iterator[Row]:
    """The questions of a group that have an answer, first and again."""
    questions = [
        question for question in group.questions if question.answerable and question.gold and question.as_of is None
    ][:most]
    begin = max(
        [document.at for document in (*group.documents, *questions) if document.at],
        default=datetime(2024, 1, 1, tzinfo=UTC),
    )
    clock, asker = FakeClock(begin + timedelta(days=1)), _asker(group.documents)
    with tempfile.TemporaryDirectory() as folder, memorist.open(Path(folder) / "loop.db", clock=clock) as memory:
        kept = [
            memory.remember(document.text, at=document.at, speaker=document.speaker, session=document.session).id
            for document in group.documents
        ]
        names = dict(zip(kept, (document.id for document in group.documents), strict=True))
        for turn in ("first", "again"):
            for number, one in enumerate(questions):
                clock.advance(timedelta(minutes=1))
                if names_asker:
                    found = memory.recall(one.text, recipe=recipe, speaker=asker)
                else:
                    found = memory.recall(one.text, recipe=recipe)
                yield {"pass": turn, "group": group.name, "text": one.text, **_judged(found, names, set(one.gold))}
                if turn == "first" and found.items:
                    answer = ANSWERS[number % len(ANSWERS)].format(found.items[0].memory.text)
                    memory.remember(one.text, speaker=asker, session=str(number))
                    memory.remember(answer, speaker=ASSISTANT, trust=2, session=str(number))
            clock.advance(timedelta(days=1))


def _asker(documents: Sequence[Document]) -> str:
    """The speaker of most documents; a plain user where nobody is named."""
    said = Counter(
        document.speaker
        for document in documents
        if document.speaker and document.speaker.lower() not in (ASSISTANT, "agent")
    )
    return said.most_common(1)[0][0] if said else "user"


def _judged(found: Recall, names: dict[str, str], gold: set[str]) -> Row:
    """Whether an answer came, and what came before it."""
    got = [item.memory for item in found.items]
    right = [names.get(memory.id) in gold for memory in got]
    texts = [memory.text for memory in got[:FIRST]]
    stored = bool(got) and got[0].id not in names
    return {
        "right@1": right[:1] == [True],
        "right@5": any(right[:FIRST]),
        "asked": stored and got[0].origin.speaker != ASSISTANT,
        "echo": stored and got[0].origin.speaker == ASSISTANT,
        "twice": any(text in other for place, other in enumerate(texts) for text in texts[:place] + texts[place + 1 :]),
        "first": got[0].text if got else None,
    }


if __name__ == "__main__":
    main()
