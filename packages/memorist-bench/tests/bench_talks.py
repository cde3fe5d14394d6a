"""A small judged set, made by hand: two talks, and questions whose words lead to one turn each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memorist_bench.model import Dataset, Document, Group, Question

START = datetime(2024, 3, 1, 9, tzinfo=UTC)


def talk(name: str, *turns: str, questions: tuple[Question, ...], dated: bool = True) -> Group:
    documents = tuple(
        Document(
            f"{name}/{place}",
            text,
            at=START + timedelta(days=place) if dated else None,
            speaker=text.partition(":")[0],
            session=f"{name}/{place // 2}",
        )
        for place, text in enumerate(turns)
    )
    return Group(name, documents, questions)


def asked(group: str, number: int, text: str, *gold: int, **more: object) -> Question:
    return Question(f"{group}/q{number}", text, {f"{group}/{place}": 1.0 for place in gold}, **more)  # type: ignore[arg-type]


TALKS = Dataset(
    "talks",
    (
        talk(
            "home",
            "Ann: The cat sleeps on the red sofa.",
            "Bob: I baked sourdough bread yesterday.",
            "Ann: We fly to Lisbon in October.",
            "Bob: My sister Carla plays the cello.",
            questions=(
                asked("home", 0, "Where does the cat sleep?", 0, type="place"),
                asked("home", 1, "What did Bob bake, bread?", 1, type="thing"),
                asked("home", 2, "Which zeppelin museum was closed?", 3, type="thing"),
            ),
        ),
        talk(
            "work",
            "Eve: The server room key hangs behind the door.",
            "Dan: The invoice for the printer is unpaid.",
            questions=(asked("work", 0, "Where is the key of the server room?", 0, type="place"),),
            dated=False,
        ),
    ),
    checksum="0123456789abcdef",
)
