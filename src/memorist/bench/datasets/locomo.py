"""LoCoMo's own file, `locomo10.json`: ten long conversations of two people with questions (Maharana et al. 2024).

A turn becomes `Speaker: text [shared image: caption]`. Evidence is read tolerantly, for the published file has several
ids in one string, a stray colon, a padded number and two ids of no turn; a question without any evidence is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from memorist.bench.datasets.reading import Fields, broken
from memorist.bench.model import Document, Group, Question

UNANSWERABLE = "adversarial"
TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: UNANSWERABLE}
SESSION = re.compile(r"session_(\d+)")
EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def groups(records: Sequence[Fields]) -> Iterator[Group]:
    """One group for each conversation."""
    return (_group(record) for record in records)


def _group(record: Fields) -> Group:
    name = record.text("sample_id")
    documents: dict[str, Document] = {}
    for document in _documents(name, record.object("conversation")):
        if document.id in documents:
            raise broken(record.place, f"the turn {document.id!r} comes twice")
        documents[document.id] = document
    questions = (
        _question(f"{name}/q{number}", asked, _gold(name, asked, documents))
        for number, asked in enumerate(record.objects("qa"))
    )
    return Group(name, tuple(documents.values()), tuple(question for question in questions if question.gold))


def _documents(name: str, conversation: Fields) -> Iterator[Document]:
    numbers = sorted(int(found[1]) for key in conversation.values if (found := SESSION.fullmatch(key)))
    for number in numbers:
        session = f"session_{number}"
        at = conversation.moment(f"{session}_date_time", _moment)
        for turn in conversation.objects(session):
            speaker = turn.text("speaker")
            text = f"{speaker}: {turn.text('text')}{_image(turn)}"
            yield Document(f"{name}/{turn.text('dia_id')}", text, at, speaker, f"{name}/{session}")


def _image(turn: Fields) -> str:
    caption = turn.optional_text("blip_caption")
    return "" if caption is None else f" [shared image: {caption}]"


def _gold(name: str, asked: Fields, documents: Mapping[str, Document]) -> dict[str, float]:
    written = " ".join(str(one) for one in asked.items("evidence"))
    ids = (f"{name}/D{int(session)}:{int(turn)}" for session, turn in EVIDENCE.findall(written))
    return {id: 1.0 for id in ids if id in documents}


def _question(id: str, asked: Fields, gold: Mapping[str, float]) -> Question:
    category = asked.values.get("category")
    if not isinstance(category, int) or category not in TYPES:
        raise broken(asked.place, f"the category {category!r} is none of {', '.join(map(str, TYPES))}")
    kind = TYPES[category]
    return Question(id, asked.text("question"), gold, type=kind, answerable=kind != UNANSWERABLE)


def _moment(written: str) -> datetime:
    """Such as `1:56 pm on 8 May, 2023`."""
    return datetime.strptime(written.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
