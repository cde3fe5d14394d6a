"""Long texts in parts: paragraphs packed together, and cut only where a sentence, a line or a word ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memorist.text.sentences import sentences

CHUNK = 1_200
"""Characters of a chunk: about what small embedding models read at once."""


def cut(text: str, limit: int = CHUNK) -> Iterator[str]:
    """A text in parts of at most `limit` characters, which together hold every word of it."""
    start = 0
    while len(text) - start > limit:
        end = start + _end(text[start : start + limit])
        if part := text[start:end].strip("\n "):
            yield part
        start = end
    if part := text[start:].strip("\n "):
        yield part


def _end(window: str) -> int:
    """Where to cut a window: after a paragraph, else a sentence, else a word, else at its end."""
    half = len(window) // 2
    paragraph = window.rfind("\n\n")
    if paragraph >= half:
        return paragraph + 2
    whole = sentences(window)
    last = window.rfind(whole[-1]) if len(whole) > 1 else 0
    if last > 0:
        return last
    return max(window.rfind(" "), window.rfind("\n"), window.rfind("\t")) + 1 or len(window)


def packed(blocks: Iterable[str], limit: int = CHUNK) -> Iterator[str]:
    """Blocks joined by blank lines, as many as fit; a longer one stands alone, uncut."""
    held: list[str] = []
    size = 0
    for block in blocks:
        if held and size + len(block) > limit:
            yield "\n\n".join(held)
            held, size = [], 0
        held.append(block)
        size += len(block) + 2
    if held:
        yield "\n\n".join(held)
