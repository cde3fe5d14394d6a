"""Names that callers bring along: camelCase, those of memoria's page, and keywords of other systems."""

from __future__ import annotations

import pytest

from memorist.errors import InvalidInput
from memorist.model import Changes, FactFields, Fields, Filters, RecallOptions, keywords_of
from memorist.model.spellings import ALIASES, BESIDES, THEIRS, advice, ours, snake

RECALL = ("query", *keywords_of(RecallOptions))


@pytest.mark.parametrize(
    ("written", "own"), [("asOf", "as_of"), ("maxTokens", "max_tokens"), ("limit", "limit"), ("tValid", "t_valid")]
)
def test_camel_case_is_read_as_we_write_it(written: str, own: str) -> None:
    assert snake(written) == own


def test_every_field_of_ours_can_be_given_in_camel_case() -> None:
    for known in map(keywords_of, (Fields, FactFields, Filters, RecallOptions, Changes)):
        camel = {name.split("_")[0] + "".join(part.title() for part in name.split("_")[1:]): name for name in known}
        assert ours(camel, known) == {name: name for name in known}


def test_the_names_of_memorias_page_are_those_that_a_verb_has() -> None:
    given = {"tValid": "2024", "factText": "x", "colour": "red"}
    assert ours(given, ("valid_from", "text")) == {"valid_from": "2024", "text": "x", "colour": "red"}
    assert ours(given, ("at", "text")) == {"at": "2024", "text": "x", "colour": "red"}


def test_a_field_in_two_spellings_is_refused() -> None:
    with pytest.raises(InvalidInput, match="as_of and asOf are the same field. Give one of them"):
        ours({"as_of": "2024", "asOf": "2025"}, RECALL)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("top_k", "Use `limit`."),
        ("topK", "Use `limit`."),
        ("user_id", "Use `scope` or `speaker`."),
        ("tags", "Use `topic` or `where`."),
        ("namespace", "Use `scope`. Only a separate space hides memories."),
        ("threshold", "Use `min_confidence`."),
        ("entityHints", "Did you mean `entity_hints`?"),
        ("limits", "Did you mean `limit`?"),
        ("bogus", ""),
    ],
)
def test_a_keyword_of_another_system_is_answered_with_ours(name: str, meant: str) -> None:
    assert advice(name, RECALL) == meant


def test_the_tables_name_nothing_that_is_a_keyword_of_ours_and_only_keywords_of_ours() -> None:
    known = {name for kind in (Fields, FactFields, Filters, RecallOptions, Changes) for name in keywords_of(kind)}
    assert not known & {*ALIASES, *THEIRS, *BESIDES}
    assert {name for some in (*ALIASES.values(), *THEIRS.values()) for name in some} <= known | {
        *("text", "query", "relation", "what", "id", "space")
    }
