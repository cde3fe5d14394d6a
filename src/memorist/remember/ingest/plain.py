"""Plain text in chunks of whole paragraphs, or as the turns of a transcript."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from memorist.model import Kind, fingerprint
from memorist.remember.ingest.chunks import cut, packed
from memorist.remember.ingest.draft import Draft, Found
from memorist.remember.ingest.transcript import is_transcript, transcript_drafts

_BLANK = re.compile(r"\n(?:[^\S\n]*\n)+")


def text_drafts(text: str, name: str) -> Iterator[Found]:
    """The turns of a transcript, or the paragraphs of any other text."""
    if is_transcript(text):
        yield from transcript_drafts(text, name)
        return
    paragraphs = (part for paragraph in _BLANK.split(text) if paragraph.strip() for part in cut(paragraph))
    chunks = enumerate(packed(paragraphs), 1)
    yield from content_keys((Draft(one, f"{name}, part {n}", {"kind": Kind.SEMANTIC}) for n, one in chunks), name)


def content_keys(drafts: Iterable[Draft], name: str) -> Iterator[Draft]:
    """Chunks keyed by their words, so that a paragraph put in above does not make all below it new."""
    seen = Counter[str]()
    for draft in drafts:
        mark = fingerprint(draft.text)
        seen[mark] += 1
        fields = draft.fields.copy()
        fields["key"] = f"{name}#{mark}" + (f"-{seen[mark]}" if seen[mark] > 1 else "")
        yield replace(draft, fields=fields)
