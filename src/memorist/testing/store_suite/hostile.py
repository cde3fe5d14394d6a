"""Hostile texts and queries: nothing a user can type raises, and everything comes back as it was."""

from __future__ import annotations

import pytest

from memorist.model import Filter, Origin
from memorist.ports import Store
from memorist.testing.store_suite.base import ALL, SEARCHES, StoreCase, ids, put, put_embedded
from memorist.testing.world import memory

TEXTS = {
    "empty": "",
    "space": " \t\n\u3000 ",
    "quotes": "\"' OR NEAR( * ^ : { } AND NOT",
    "sql": "'); DROP TABLE memories; --",
    "wildcards": "%_%*?[a-z]\\",
    "nul": "before\0after",
    "control": "\x01\x02\x1b[31m\x7f\x85",
    "right to left": "\u202eمرحبا بالعالم\u202c שלום",
    "emoji": "👩‍👩‍👧‍👦 🇳🇴 👍🏽 ❤️",
    "combining": "Z̸̢̛" + "\u0301" * 500,
    "unspaced": "東京特許許可局" * 200,
    "long word": "x" * 20_000,
    "long text": "the quick brown fox " * 5_000,
    "numbers": "1e308 -0 NaN inf 0x7f ½ ٣ Ⅷ",
    "json": '{"a": ["\\u0000", null]}',
    "astral": "𝕬𝖑𝖎𝖈𝖊 \U0010fffd \ufffe",
}
every_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


class Hostile(StoreCase):
    """Whatever the text."""

    @every_text
    def test_any_text_can_be_kept(self, store: Store, text: str) -> None:
        """As text, original, keyword, label, id and metadata."""
        given = memory(
            text,
            id=f"id {text}",
            scope=text,
            topic=text,
            original=text,
            keywords=(text,),
            origin=Origin(text, text, 1, text, text),
            metadata={text: [text, {"deep": text}]},
        )
        (stored,) = put_embedded(store, given)
        assert stored == given == store.get([given.id])[given.id]
        assert ids(store.scan(Filter(scopes=(text,), topic=text), 5).items) == [given.id]
        assert ids(store.neighbours([given.id], 1, 1)[given.id]) == [given.id]
        assert store.view().size == 1

    @every_text
    def test_any_text_can_be_asked(self, store: Store, text: str) -> None:
        """Of a store that holds it and others; hits are real memories."""
        put_embedded(store, memory("Alice lives in Oslo."), memory(text, id="hostile"))
        view = store.view()
        for search in SEARCHES:
            found = ids(search.run(view, text, ALL, 5))
            assert len(store.get(found)) == len(found)
        assert store.entities([text]) == []
        assert store.links([text]) == store.history(text) == []

    @pytest.mark.parametrize("text", ["", " ", "the of and", "?!"])
    def test_a_query_without_words_finds_nothing_by_words(self, store: Store, text: str) -> None:
        """Rather than everything, or an error."""
        put(store, memory("Alice lives in Oslo."))
        assert store.view().search_text(text, ALL, 5) == []
        assert store.view().search_substring(text, ALL, 5) == []
