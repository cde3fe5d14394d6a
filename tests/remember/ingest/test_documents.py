"""Markdown and plain text in chunks, and transcripts as turns."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.remember.ingest.documents import MEDIA, NOBODY, blocks, is_transcript
from memorist.remember.ingest.messages import SYSTEM
from memorist.remember.ingest.model import CHUNK, join_blocks, split_text
from tests.remember.ingest.helpers import items, memories, pieces, positions, skipped, talk, written

NOTES = """---
title: Heron handbook
date: 2024-02-14
tags: [engines, "heron"]
authors:
  - Alice
  - Bo
---

# Heron

## Install

Unpack the archive.

```sh
tar xf heron.tar

make install   # this block has a blank line
```

Then restart.

## Use
### From Python

Call `heron.open()`.

Setext
------

Last words.
"""

PHONE = (
    "[25/12/2023, 22:10:05] \u200eHiking: \u200eMessages and calls are end-to-end encrypted.\n"
    "[25/12/2023, 22:10:09] Alice Berg: Merry Christmas!\nAnd a good new year.\n"
    "[03/01/2024, 08:01:00] Bo: \u200eimage omitted\n"
    "[03/01/2024, 08:02:00] Bo: Look: snow.\n"
)
ANDROID = (
    "12/25/23, 10:10\u202fPM - Messages are end-to-end encrypted.\n"
    "12/25/23, 10:11\u202fPM - Alice: Merry Christmas!\n"
    "1/3/24, 8:01\u202fAM - Bo: Thanks.\n"
)


def test_markdown_is_cut_by_heading(tmp_path: Path) -> None:
    kept = memories(items(written(tmp_path / "heron.md", NOTES)))
    assert [(memory.topic, memory.text.split("\n")[0]) for memory in kept] == [
        ("Heron / Install", "# Heron"),
        ("Heron / Use / From Python", "## Use"),
        ("Heron / Setext", "Setext"),
    ]
    assert "tar xf heron.tar\n\nmake install" in kept[0].text
    assert kept[0].text.endswith("Then restart.")
    assert {memory.kind for memory in kept} == {"semantic"}


def test_front_matter_gives_time_keywords_and_metadata(tmp_path: Path) -> None:
    first, *_ = memories(items(written(tmp_path / "heron.md", NOTES)))
    assert first.times.valid_from == datetime(2024, 2, 14, tzinfo=UTC)
    assert first.keywords == ("engines", "heron")
    assert first.metadata == {
        "title": "Heron handbook",
        "authors": ["Alice", "Bo"],
        "headings": ["Heron", "Install"],
    }


def test_chunks_keep_the_order_of_their_file(tmp_path: Path) -> None:
    assert positions(items(written(tmp_path / "heron.md", NOTES))) == {"heron.md": [0, 1, 2]}


def test_inserting_a_paragraph_does_not_change_the_other_keys(tmp_path: Path) -> None:
    path = written(tmp_path / "heron.md", NOTES)
    before = {memory.id for memory in memories(items(path))}
    after = memories(items(written(path, NOTES.replace("## Install", "Heron is a bird.\n\n## Install"))))
    assert [memory.text.split("\n")[0] for memory in after if memory.id not in before] == ["# Heron", "## Install"]


def test_a_long_code_block_is_kept_whole(tmp_path: Path) -> None:
    code = "```\n" + "line of code\n\n" * 300 + "```"
    kept = pieces(items(written(tmp_path / "a.md", f"Before.\n\n{code}\n\nAfter.\n")))
    assert [piece.text for piece in kept] == ["Before.", code, "After."]


def test_a_chunk_with_its_heading_keeps_the_limit(tmp_path: Path) -> None:
    found = items(written(tmp_path / "a.md", "# Rowing\n\n" + "Alice rows on Sundays. " * 200))
    assert all(len(piece.text) <= CHUNK for piece in pieces(found))


def test_blocks_know_their_lines() -> None:
    assert [(block.line, block.level, block.code) for block in blocks("# A\n\np\nq\n\n~~~\nx\n~~~\nr")] == [
        (1, 1, False),
        (3, 0, False),
        (6, 0, True),
        (9, 0, False),
    ]


def test_the_same_chunk_twice_is_two_memories(tmp_path: Path) -> None:
    text = "## A\n\nSame.\n\n## B\n\nOther.\n\n## A\n\nSame.\n"
    ids = [memory.id for memory in memories(items(written(tmp_path / "a.md", text)))]
    assert len(set(ids)) == 3


def test_plain_text_is_packed_by_paragraph(tmp_path: Path) -> None:
    paragraph = "One sentence here. " * 30
    text = "\n\n".join([paragraph.strip()] * 4)
    kept = pieces(items(written(tmp_path / "story.txt", text)))
    assert [len(piece.text) for piece in kept] == [2 * 569 + 2] * 2


def test_long_paragraphs_are_cut_at_sentence_ends() -> None:
    text = "Dr. Berg rows on Sundays. " * 100
    assert all(len(part) <= CHUNK and part.endswith("Sundays.") for part in split_text(text))


@given(st.text(alphabet="ab. \n。", max_size=300), st.integers(1, 40))
def test_splitting_loses_no_word_and_keeps_the_limit(text: str, limit: int) -> None:
    parts = list(split_text(text, limit))
    assert all(0 < len(part) <= limit for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@given(st.lists(st.text("x", min_size=1, max_size=20)))
def test_joining_loses_no_block(blocks: list[str]) -> None:
    chunks = list(join_blocks(blocks, 30))
    assert "\n\n".join(chunks) == "\n\n".join(blocks)
    assert all(len(chunk) <= 30 for chunk in chunks)


@pytest.mark.parametrize(
    "text",
    [
        "Alice: Hi.\nBo: Hello.\nAlice: How are you?\n",
        "User: What is 2+2?\nAssistant: Four.\n",
        "[2024-06-03 10:00] Alice: Hi.\n[2024-06-03 10:01] Bo: Hello.\n",
        "2024-06-03T10:00:00Z Alice: Hi.\n2024-06-03T10:01:00Z Bo: Hello.\n",
        "小明：你好\n小红：你好吗\n小明：很好\n",
        PHONE,
        ANDROID,
    ],
)
def test_transcripts_are_recognised(text: str) -> None:
    assert is_transcript(text)


@pytest.mark.parametrize(
    "text",
    [
        "Name: Alice\nAge: 30\nCity: Oslo\nJob: pilot\n",
        "Ingredients: flour, water.\n\nMix them: slowly.\n",
        "See https://example.org: it is good.\nhttp://example.org\n",
        "A story.\n\nAlice: hi\nBo: hi\nAlice: bye\n" + "It went on and on.\n" * 12,
        "",
    ],
)
def test_texts_that_resemble_transcripts_are_not(text: str) -> None:
    assert not is_transcript(text)


def test_lines_without_a_speaker_continue_the_turn(tmp_path: Path) -> None:
    found = items(written(tmp_path / "wa.txt", PHONE))
    assert talk(found)[1:] == [("Alice Berg", "Merry Christmas!\nAnd a good new year."), ("Bo", "Look: snow.")]
    assert [skip.reason for skip in skipped(found)] == [MEDIA]


def test_the_order_of_day_and_month_is_inferred_from_all_timestamps(tmp_path: Path) -> None:
    times = [memory.times.valid_from for memory in memories(items(written(tmp_path / "wa.txt", PHONE)))]
    assert times[-1] == datetime(2024, 1, 3, 8, 2, tzinfo=UTC)
    found = items(written(tmp_path / "wb.txt", ANDROID))
    assert [memory.times.valid_from for memory in memories(found)] == [
        datetime(2023, 12, 25, 22, 11, tzinfo=UTC),
        datetime(2024, 1, 3, 8, 1, tzinfo=UTC),
    ]
    assert skipped(found)[0].reason == NOBODY


def test_an_ambiguous_date_is_kept_but_not_guessed(tmp_path: Path) -> None:
    text = "3/6/24, 10:00 - Alice: Hi.\n4/6/24, 10:00 - Bo: Hello.\n"
    (first, _) = pieces(items(written(tmp_path / "w.txt", text)))
    assert first.fields.get("at") is None
    assert first.fields.get("metadata") == {"time": "3/6/24, 10:00"}


def test_roles_in_a_transcript_are_roles(tmp_path: Path) -> None:
    found = items(written(tmp_path / "log.txt", "System: Be kind.\nHuman: Hi.\nAI: Hello.\n"))
    assert talk(found) == [("user", "Hi."), ("assistant", "Hello.")]
    assert skipped(found)[0].reason == SYSTEM
