"""Which relations have one value at a time."""

from __future__ import annotations

import pytest

from memorist.remember.fact_rows import one_valued


@pytest.mark.parametrize(
    "relation", ["lives_in", "works_at", "works_as", "age", "married_to", "favourite_colour", "years_at_google"]
)
def test_a_new_value_of_a_one_valued_relation_supersedes(relation: str) -> None:
    assert one_valued(relation)


@pytest.mark.parametrize("relation", ["plays", "visited", "child", "speaks", "from", "years", "allergic_to"])
def test_values_of_other_relations_accumulate(relation: str) -> None:
    assert not one_valued(relation)
