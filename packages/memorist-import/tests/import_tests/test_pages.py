"""HTML and PDF: the text that a reader sees, and where it stands."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from import_tests.products import PAGE, pdf
from memorist.errors import InvalidInput, MissingExtra
from memorist.remember.ingest import Skipped, detect
from memorist_import.html import NO_TEXT, Tag, tokens
from memorist_import.pdf import NO_TEXT as NO_TEXT_ON_PAGE
from tests.remember.ingest.helpers import cleaned, items, memories, pieces, skipped, written

TEXT = """# Tides

High tide is at noon,
low tide at six. Café open.

- Bring oars
- Bring a hat

Day | Tide
Monday | 4 m

```
row --fast
  now
```"""


def texts(path: Path) -> list[str]:
    return [piece.text for piece in pieces(items(path))]


def test_a_page_is_its_main_text_by_headings(tmp_path: Path) -> None:
    path = written(tmp_path / "page.html", PAGE)
    assert detect(path) == "html"
    assert texts(path) == [TEXT, "## Boats\n\nThe heron is red."]
    tides, boats = memories(items(path))
    assert (boats.topic, boats.metadata["title"]) == ("Tides / Boats", "Tides & boats")
    assert tides.times.valid_from == datetime(2024, 6, 3, 10, tzinfo=UTC)
    assert tides.worth.trust == 1  # somebody else wrote it


def test_a_page_without_a_main_part_is_read_without_its_furniture(tmp_path: Path) -> None:
    page = (
        "<html><body><nav>Home</nav><div role=navigation>Menu</div><p>Oars.<aside>Ad</aside><footer>F</footer></html>"
    )
    assert texts(written(tmp_path / "a.txt", page)) == ["Oars."]


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("<meta charset=iso-8859-1>", "cp1252"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">', "shift_jis"),
        ("<meta charset='gb18030'>", "gb18030"),
        ("<meta charset=nonsense>", "utf-8"),
        ("", "utf-8"),
        ("", "utf-16"),
    ],
)
def test_a_page_is_read_in_the_encoding_it_declares(tmp_path: Path, head: str, encoding: str) -> None:
    word = "café" if encoding in ("cp1252", "utf-8") else "東京"
    page = f"<!doctype html><html><head>{head}</head><body><p>{word}</p></body></html>"
    found = items(written(tmp_path / "a.html", page.encode(encoding)))
    assert [piece.text for piece in pieces(found)] == [word]
    assert cleaned(found) == []


def test_a_page_in_an_undeclared_encoding_is_read_as_browsers_do(tmp_path: Path) -> None:
    found = items(written(tmp_path / "a.html", "<html><p>“café”</p>".encode("cp1252")))
    assert [piece.text for piece in pieces(found)] == ["“café”"]
    assert [note.reason for note in cleaned(found)] == ["not UTF-8; read as Windows-1252"]


def test_a_page_of_scripts_is_skipped_with_the_reason(tmp_path: Path) -> None:
    found = items(written(tmp_path / "a.html", "<!DOCTYPE html><html><script>app()</script><noscript>Wait</noscript>"))
    assert found == [Skipped("a.html", NO_TEXT)]


def test_broken_markup_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    page = "<html><p>a < b &amp;&#99999999999999; c<p>one</i><b>two</div><!-- no end <p>gone"
    assert texts(written(tmp_path / "a.html", page)) == ["a < b &\ufffd c\n\nonetwo"]
    assert list(tokens("x<a href='1' B=2 c>y</a >")) == [
        "x",
        Tag("a", 1, {"href": "1", "b": "2", "c": ""}),
        "y",
        Tag("a", 20, end=True),
    ]


def test_a_page_with_a_repeated_paragraph_has_stable_ids(tmp_path: Path) -> None:
    before = memories(items(written(tmp_path / "a.html", PAGE)))
    after = memories(items(written(tmp_path / "a.html", PAGE.replace("<h1>", "<h1>News</h1><p>New.</p><h1>"))))
    assert {memory.id for memory in before} <= {memory.id for memory in after}


def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    path = written(tmp_path / "tides.pdf", pdf("High tide at noon.", "", "Low tide at six."))
    found = items(path)
    assert detect(path) == "pdf"
    assert skipped(found) == [Skipped("tides.pdf, page 2", NO_TEXT_ON_PAGE)]
    high, low = memories(found)
    assert (high.text, high.metadata) == ("High tide at noon.", {"title": "Tides", "page": 1})
    assert (low.text, low.metadata["page"]) == ("Low tide at six.", 3)
    assert (low.times.valid_from, low.worth.trust) == (datetime(2024, 6, 3, 10, tzinfo=UTC), 1)


def test_an_encrypted_or_scanned_or_damaged_pdf_is_named_with_the_reason(tmp_path: Path) -> None:
    written(tmp_path / "damaged.pdf", pdf("High tide.")[:200])
    written(tmp_path / "locked.pdf", pdf("High tide.", password="oars"))
    written(tmp_path / "scan.pdf", pdf("", ""))
    reasons = {skip.where: skip.reason for skip in skipped(items(tmp_path))}
    assert reasons["locked.pdf"] == "is encrypted"
    assert reasons["scan.pdf"].startswith("has no text on any page")
    assert reasons["damaged.pdf"].startswith("is a damaged PDF")
    with pytest.raises(InvalidInput, match="is encrypted. Save a copy without a password"):
        items(tmp_path / "locked.pdf")
    with pytest.raises(InvalidInput, match="probably because it is a scan. Recognise its text first"):
        items(tmp_path / "scan.pdf")


def test_a_pdf_without_a_user_password_is_read(tmp_path: Path) -> None:
    assert texts(written(tmp_path / "a.pdf", pdf("High tide.", password=""))) == ["High tide."]


def test_without_pypdf_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.pdf", pdf("High tide."))
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(MissingExtra, match=r"pip install 'memorist\[pdf\]'"):
        items(path)
    (one,) = skipped(items(tmp_path))
    assert one.reason == "is a PDF, and pypdf is not installed: Install it with: pip install 'memorist[pdf]'."
