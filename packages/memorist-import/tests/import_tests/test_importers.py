"""Files that are small, or are one long line, and would grow when they are read or stored."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import pytest

import memorist

LONG = "mill " * 60_000
BODY = "\n\n".join(f"Paragraph {number} about the grinding of flour. " * 20 for number in range(200))
FILES = {
    "heading.md": f"# {LONG}\n\n{BODY}",
    "headings.md": f"{'# ' * 100_000}\n\n{BODY}",
    "underlined.md": f"{LONG}\n====\n\n{BODY}",
    "title.html": f"<html><head><title>{LONG}</title></head><body><p>{BODY.replace(chr(10) * 2, '</p><p>')}</p></body>",
    "heading.html": f"<html><body><h1>{LONG}</h1><p>{BODY.replace(chr(10) * 2, '</p><p>')}</p></body>",
    "chat.json": json.dumps(
        {
            "title": LONG,
            "uuid": "1",
            "name": LONG,
            "chat_messages": [
                {
                    "uuid": str(n),
                    "sender": "human",
                    "text": f"Grind {n} of the flour.",
                    "created_at": "2024-01-01T10:00:00Z",
                }
                for n in range(200)
            ],
        }
    ),
}

NAME = "mill " * 3000
TIME = "2024-01-01T10:00:00Z"


def _mapping(text: str) -> dict[str, object]:
    return {
        str(n): {
            "parent": str(n - 1) if n else None,
            "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [f"{text} {n}."]}},
        }
        for n in range(60)
    }


NAMES = {
    "the id of a conversation of Claude": {
        "uuid": NAME,
        "chat_messages": [
            {"uuid": str(n), "sender": "human", "text": f"Grind {n}.", "created_at": TIME} for n in range(60)
        ],
    },
    "the id of a conversation of ChatGPT": {"conversation_id": NAME, "title": NAME, "mapping": _mapping("Grind")},
    "a session": {"session_id": NAME, "messages": [{"role": "user", "content": f"Grind {n}."} for n in range(60)]},
    "an entity": [{"name": NAME, "entityType": "mill", "observations": [f"Grinds {n}." for n in range(60)]}],
    "a node": {
        "nodes": [{"uuid": "a", "name": NAME, "labels": ["Entity"]}, {"uuid": "b", "name": "Bob", "labels": []}],
        "edges": [
            {
                "uuid": str(n),
                "source_node_uuid": "a",
                "target_node_uuid": "b",
                "name": f"R{n}",
                "fact": f"It grinds {n}.",
            }
            for n in range(60)
        ],
        "episodes": [],
    },
}


@pytest.mark.parametrize("case", NAMES)
def test_no_name_in_a_file_is_repeated_in_every_memory(tmp_path: Path, case: str) -> None:
    (tmp_path / "export.json").write_text(json.dumps(NAMES[case]))
    with memorist.open(":memory:", embedder="none") as memory:
        memory.ingest(tmp_path / "export.json")
        kept = memory.list(limit=10_000).items
    assert len(kept) >= 60
    assert (
        max(len(str(value)) for memory in kept for value in (memory.text, memory.topic, *astuple(memory.origin))) < 2000
    )


def test_a_name_in_slack_is_not_repeated_at_every_mention(tmp_path: Path) -> None:
    (tmp_path / "mill").mkdir()
    (tmp_path / "users.json").write_text(json.dumps([{"id": "U1", "profile": {"display_name": NAME}}]))
    (tmp_path / "channels.json").write_text(json.dumps([{"id": "C1", "name": NAME}, {"id": "C2", "name": "mill"}]))
    message = {"type": "message", "user": "U1", "text": "<@U1> <#C1> " * 100, "ts": "1700000000.000100"}
    (tmp_path / "mill" / "2023-11-14.json").write_text(json.dumps([message]))
    with memorist.open(":memory:", embedder="none") as memory:
        memory.ingest(tmp_path)
        kept = memory.list(limit=10_000).items
    assert 0 < sum(len(row.text) for row in kept) < 65_000


@pytest.mark.parametrize("name", FILES)
def test_no_line_of_a_file_is_repeated_in_every_memory(tmp_path: Path, name: str) -> None:
    """A heading of n characters above n chunks would be stored n * n times."""
    file = tmp_path / name
    file.write_text(FILES[name])
    with memorist.open(":memory:", embedder="none") as memory:
        memory.ingest(file)
        kept = memory.list(limit=10_000).items
    stored = sum(len(row.text) + len(row.topic or "") + len(json.dumps(dict(row.metadata))) for row in kept)
    assert kept and stored < 3 * len(FILES[name]), stored / len(FILES[name])


DAMAGED = {
    "deep.json": "[" * 1_000_000,
    "deep-objects.json": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "number.json": '[{"text": "x", "n": ' + "9" * 1_000_000 + "}]",
    "loop.pdf": "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"
    "endobj\ntrailer<</Root 1 0 R/Prev 0>>\nstartxref\n0\n%%EOF",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_file_that_cannot_be_read_is_refused_with_its_name(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(DAMAGED[name])
    with memorist.open(":memory:", embedder="none") as memory, pytest.raises(memorist.InvalidInput, match=name):
        memory.ingest(file)


@pytest.mark.parametrize("body", [b" ", b"[],"])
def test_a_small_archive_is_not_unpacked_to_much_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    """240 kB would become 80 million lists."""
    from memorist_import import archives

    monkeypatch.setattr(archives, "SMALL", 100_000)
    good = json.dumps([{"uuid": "1", "chat_messages": [{"sender": "human", "text": "Grind the flour.", "uuid": "2"}]}])
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations-1.json", good)
        archive.writestr("conversations-2.json", b"[" + body * (3_000_000 // len(body)) + b"1]")
    with memorist.open(":memory:", embedder="none") as memory:
        done = memory.ingest(tmp_path / "export.zip")
        assert [row.text for row in memory.list().items] == ["Grind the flour."]
    assert "unpacks to more than" in str(done)


def pdf(pages: int, drawing: bytes, forms: Sequence[bytes]) -> bytes:
    """A document that draws the same stream on every page; the streams share their forms, /X0 and on."""
    first = 5 + len(forms)
    named = b"".join(b"/X%d %d 0 R" % (number, 5 + number) for number in range(len(forms)))
    resources = b"/Resources<</Font<</F1 4 0 R>>/XObject<<" + named + b">>>>"

    def stream(content: bytes, more: bytes = b"") -> bytes:
        packed = zlib.compress(content, 9)
        return b"<</Length %d/Filter/FlateDecode%s>>stream\n%s\nendstream" % (len(packed), more, packed)

    kids = b" ".join(b"%d 0 R" % (first + number) for number in range(pages))
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[" + kids + b"]/Count %d>>" % pages,
        stream(drawing),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *(stream(form, b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]" + resources) for form in forms),
        *([b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 3 0 R" + resources + b">>"] * pages),
    ]
    text, places = b"%PDF-1.4\n", list[int]()
    for number, part in enumerate(parts, 1):
        places.append(len(text))
        text += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(parts) + 1, len(text))
    return text + b"xref\n0 %d\n0000000000 65535 f \n" % (len(parts) + 1) + table + end


WORDS = b"BT /F1 12 Tf (mill) Tj ET\n"
DRAWN = {
    "one stream on many pages": (50, WORDS * 100, [b""]),
    "one form drawn many times": (50, b"/X0 Do " * 50, [WORDS * 50]),
    "forms in forms": (2, b"/X0 Do", [b"/X1 Do " * 10, b"/X2 Do " * 10, b"/X3 Do " * 10, WORDS * 10]),
    "spaces on many pages": (50, WORDS + b" " * 100_000, [b""]),
    "spaces in a form": (1, WORDS + b"/X0 Do " * 100, [b" " * 50_000]),
}


@pytest.mark.parametrize("case", DRAWN)
def test_the_work_for_a_pdf_is_bounded_by_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """Pages may share what they draw, and forms may draw each other, so a file may ask for far more than it holds."""
    from memorist_import import pdf as inside

    steps = 0

    class Counted(inside._Work):  # pyright: ignore[reportPrivateUsage]
        def step(self, operation: bytes, given: object, *rest: object) -> None:
            nonlocal steps
            steps += 1
            super().step(operation, given, *rest)

    (tmp_path / "a.pdf").write_bytes(pdf(*DRAWN[case]))
    monkeypatch.setattr(inside, "_Work", Counted)
    monkeypatch.setattr(inside, "STEPS", 1000)
    monkeypatch.setattr(inside, "BYTES", 200_000)
    monkeypatch.setattr(inside, "BYTES_PER_BYTE", 2)
    with memorist.open(":memory:", embedder="none") as memory:
        done = memory.ingest(tmp_path / "a.pdf")
    assert inside.TOO_MUCH in str(done) and steps < 1100 + (tmp_path / "a.pdf").stat().st_size


def test_pages_that_share_a_letterhead_are_all_read(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(200, b"/X0 Do " + WORDS * 20, [WORDS * 20]))
    with memorist.open(":memory:", embedder="none") as memory:
        assert "not read" not in str(memory.ingest(tmp_path / "a.pdf"))
