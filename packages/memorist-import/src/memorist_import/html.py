"""HTML: the main text of a page as blocks, without scripts, styles and navigation.

The parser of the standard library takes quadratic time on hostile pages, so tags are found here, in one pass.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import unescape
from typing import TYPE_CHECKING, cast

from memorist.remember.extract.lexicon import word_set
from memorist.remember.ingest.decoding import encoding_of, text_of
from memorist.remember.ingest.documents import Block, chunk_drafts
from memorist.remember.ingest.formats import HEAD, PAGES, Head, InputFile
from memorist.remember.ingest.model import Cleaned, Found, Skipped
from memorist.remember.ingest.values import LONGEST_TITLE, moment
from memorist.text.patterns import lazy

if TYPE_CHECKING:
    from memorist.remember.record import Fields

WRITTEN_BY_OTHERS = 1
"""The trust of a page: somebody else wrote it, so that nothing in it counts as a wish of the owner."""
NO_TEXT = "page without text"
_HTML = lazy(
    r"(?:\s++|<\?xml[^>]*+>|<!--(?:(?!-->).)*+-->)*+<(?:!doctype\s++html|html[\s>])", re.IGNORECASE | re.DOTALL
)
_CHARSET = lazy(
    r"""(?i)<(?:meta\b[^>]{0,300}?\bcharset|\?xml\b[^>]{0,100}?\bencoding)\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{2,40})"""
)
_WORD = lazy(r"[a-zA-Z][^\s/>]*+")
_ATTRIBUTE = lazy(r"""[\s/]*+(?P<name>[^\s/>=]++)(?:\s*+=\s*+(?:"(?P<d>[^"]*+)"|'(?P<s>[^']*+)'|(?P<b>[^\s>"']*+)))?""")
_NUMBER = lazy(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")
_SPACE = lazy(r"\s+")
_HIDING = lazy(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_RAW = ("script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp")
_VOID = word_set("area base br col embed hr img input link meta param source track wbr")
_LEFT_OUT = word_set(
    """
    script style noscript template svg math nav aside form button select option datalist textarea iframe canvas object
    audio video dialog menu noembed noframes"""
)
_PAGE_PARTS = ("header", "footer")
_ROLES = word_set("navigation banner contentinfo search complementary menu dialog alert")
_BLOCKS = word_set(
    """
    address article blockquote body center dd details div dl dt fieldset figcaption figure footer h1 h2 h3 h4 h5 h6
    header hgroup hr html li main ol p pre section summary table tbody tfoot thead tr ul"""
)
_DATES = ("article:published_time", "date", "dc.date", "dcterms.date", "datepublished", "publish-date")


@dataclass(frozen=True, slots=True)
class Tag:
    """A start or end tag, its attributes, and its place in the text."""

    name: str
    place: int
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])
    end: bool = False


def is_html(head: Head) -> bool:
    """Whether a file is a page."""
    return bool(_HTML.match(head.text)) or (head.suffix in PAGES and head.text.lstrip().startswith("<"))


def html_drafts(file: InputFile) -> Iterator[Found]:
    """The chunks of the main text of a page, under its headings."""
    name = file.name
    text, notes = decoded(file.whole(), name)
    yield from notes
    page = BlockCollector(text)
    page.read()
    fields = cast("Fields", {"trust": WRITTEN_BY_OTHERS})
    if page.title:
        fields["metadata"] = {"title": page.title}
    if at := next((at for key in _DATES if (at := moment(page.meta.get(key)))), None):
        fields["at"] = at
    blocks = page.blocks()
    if not blocks:
        yield Skipped(name, NO_TEXT)
    yield from chunk_drafts(blocks, name, fields)


def decoded(data: bytes, name: str) -> tuple[str, list[Cleaned]]:
    """The text of a page in the encoding that it declares; Windows-1252, as browsers do, if it declares a wrong one."""
    found = _CHARSET.search(data[:HEAD].decode("latin-1"))
    if encoding_of(data) == "utf-8" and found:
        declared = found[1].lower()
        try:
            return data.decode("cp1252" if declared in ("iso-8859-1", "latin1") else declared), []
        except (LookupError, UnicodeError, ValueError):
            pass
    if encoding_of(data) == "utf-8":
        try:
            return data.decode("utf-8"), []
        except UnicodeDecodeError:
            return data.decode("cp1252", "replace"), [Cleaned(name, "not UTF-8; read as Windows-1252")]
    return text_of(data, name)


def tokens(text: str) -> Iterator[str | Tag]:
    """The tags of a page and the texts between them, in linear time; what is not closed is dropped."""
    at = 0
    while (found := text.find("<", at)) >= 0:
        if found > at:
            yield unescaped(text[at:found])
        if text.startswith("<!--", found):
            closing = text.find("-->", found + 4)
            at = closing + 3
        elif text.startswith(("<!", "<?"), found):
            closing = text.find(">", found)
            at = closing + 1
        elif word := _WORD.match(text, found + 1 + text.startswith("</", found)):
            tag, at = _tag(text, found, word)
            closing = at
            if tag:
                yield tag
            if tag and not tag.end and tag.name in _RAW:
                raw, at = _raw(text, at, tag.name)
                yield unescaped(raw) if tag.name == "title" else ""
                yield Tag(tag.name, at, end=True)
        else:
            yield "<"
            closing = at = found + 1
        if closing < 0:
            return
    if at < len(text):
        yield unescaped(text[at:])


def _tag(text: str, start: int, word: re.Match[str]) -> tuple[Tag | None, int]:
    """A tag and the place after it; -1 if it does not end."""
    attributes: dict[str, str] = {}
    at = word.end()
    while attribute := _ATTRIBUTE.match(text, at):
        value = attribute["d"] or attribute["s"] or attribute["b"] or ""
        attributes.setdefault(attribute["name"].lower(), value)
        at = attribute.end()
        if text[at : at + 1] in ('"', "'") and text.find(text[at], at + 1) < 0:
            return None, -1
    closing = text.find(">", at)
    name = word[0].lower()
    tag = Tag(name, start, attributes, end=text.startswith("</", start))
    return (tag, closing + 1) if closing >= 0 else (None, -1)


def _raw(text: str, at: int, name: str) -> tuple[str, int]:
    """The text up to the end tag of an element in which there are no tags, and the place after it."""
    ended = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, at)
    if not ended:
        return "", len(text)
    closing = text.find(">", ended.end())
    return text[at : ended.start()], closing + 1 if closing >= 0 else len(text)


def unescaped(text: str) -> str:
    """A text with characters for entities; a number that is no character becomes U+FFFD."""
    return unescape(_NUMBER.sub("\ufffd", text)) if "&" in text else text


class BlockCollector:
    """Collects the blocks of a page while its tags are read."""

    def __init__(self, text: str) -> None:
        self.title = ""
        self.meta: dict[str, str] = {}
        self._text = text
        self._open: list[tuple[str, bool, bool]] = []
        """Each open element: its name, whether it is left out, whether it begins the main part."""
        self._names = Counter[str]()
        self._left_out = self._main = self._tables = self._pre = 0
        self._words: list[str] = []
        self._found: list[tuple[Block, bool, bool]] = []
        """Each block, whether it is in the main part, and whether it is an item of a list."""
        self._line, self._counted = 1, 0

    def read(self) -> None:
        """Read the whole page."""
        for token in tokens(self._text):
            if isinstance(token, str):
                self._say(token)
            elif token.end:
                self._close(token)
            elif token.name == "meta":
                key = token.attributes.get("property") or token.attributes.get("name") or ""
                self.meta.setdefault(key.lower(), unescaped(token.attributes.get("content", "")))
            else:
                self._start(token)
        self._flush()

    def blocks(self) -> list[Block]:
        """The blocks of the main part, if the page marks one, else of all of it."""
        main = [piece for piece in self._found if piece[1]]
        joined: list[tuple[Block, list[str], bool]] = []
        for block, _, item in main or self._found:
            if item and joined and joined[-1][2]:
                joined[-1][1].append(block.text)
            else:
                joined.append((block, [block.text], item))
        return [replace(block, text="\n".join(lines)) for block, lines, _ in joined]

    def _say(self, text: str) -> None:
        if self._open and self._open[-1][0] == "title" and not self.title:
            self.title = _SPACE.sub(" ", text).strip()[:LONGEST_TITLE]
        elif not self._left_out and not self._names["head"]:
            self._words.append(text if self._pre else _SPACE.sub(" ", text))

    def _start(self, tag: Tag) -> None:
        name = tag.name
        if name in _BLOCKS:
            self._boundary(tag)
        if name == "br":
            self._words.append("\n")
        elif name in ("td", "th") and self._words and not self._words[-1].endswith("\n"):
            self._words.append(" | ")
        if name in _VOID:
            return
        left_out = self._is_left_out(tag)
        main = name in ("main", "article") or tag.attributes.get("role") == "main"
        self._open.append((name, left_out, main))
        self._names[name] += 1
        self._count(name, left_out, main, 1)

    def _close(self, tag: Tag) -> None:
        if tag.name in _BLOCKS:
            self._boundary(tag)
        if not self._names[tag.name]:
            return
        while self._open:
            name, left_out, main = self._open.pop()
            self._names[name] -= 1
            self._count(name, left_out, main, -1)
            if name == tag.name:
                return

    def _count(self, name: str, left_out: bool, main: bool, by: int) -> None:
        self._left_out += by * left_out
        self._main += by * main
        self._tables += by * (name == "table")
        self._pre += by * (name == "pre")

    def _is_left_out(self, tag: Tag) -> bool:
        given = tag.attributes
        if tag.name in _LEFT_OUT or given.get("role") in _ROLES or (tag.name in _PAGE_PARTS and not self._main):
            return True
        hidden = "hidden" in given or given.get("aria-hidden") == "true"
        return hidden or bool(_HIDING.search(given.get("style", "")))

    def _boundary(self, tag: Tag) -> None:
        """A block begins or ends; inside a table, rows are lines and everything else stays in its cell."""
        if self._tables and tag.name != "table":
            self._words.append("\n" if tag.name == "tr" else " ")
        else:
            self._flush(tag.place)

    def _flush(self, place: int | None = None) -> None:
        words, self._words = "".join(self._words), []
        inside = next((name for name, *_ in reversed(self._open) if name in _BLOCKS), "")
        text = words.strip("\n") if inside == "pre" else _tidy(words)
        if not text.strip():
            return
        line = self._line_of(place)
        level = int(inside[1]) if inside[:1] == "h" and inside[1:].isdigit() else 0
        if level:
            text = f"{'#' * level} {text.replace(chr(10), ' ')}"
        elif inside == "pre":
            text = f"```\n{text}\n```"
        elif inside == "li":
            text = f"- {text}"
        self._found.append((Block(text, line, level, code=inside == "pre"), self._main > 0, inside == "li"))

    def _line_of(self, place: int | None) -> int:
        """The line of the source at a place; places only grow."""
        if place is not None and place > self._counted:
            self._line += self._text.count("\n", self._counted, place)
            self._counted = place
        return self._line


def _tidy(words: str) -> str:
    """Lines without spaces at their ends, and without empty ones."""
    lines = (_SPACE.sub(" ", line).strip(" |") for line in words.split("\n"))
    return "\n".join(line for line in lines if line)
