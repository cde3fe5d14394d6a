"""Which relations have one value at a time."""

from __future__ import annotations

import pytest

from memorist.remember.fact_rows import one_valued

ONE = """
    lives_in works_at works_as age married_to favourite_colour years_at_google boss job_title home_address phone
    employer school class swimming_coach piano_teacher landlord car monthly_rent opening_hours thesis_deadline
    wifi_password spouse hometown city dosage firmware_version"""
MANY = """
    plays visited child speaks from years allergic_to likes owns has friend sibling pet member_of colleague uses does
    knows"""


@pytest.mark.parametrize("relation", ONE.split())
def test_a_new_value_of_a_one_valued_relation_supersedes(relation: str) -> None:
    assert one_valued(relation)


@pytest.mark.parametrize("relation", MANY.split())
def test_values_of_other_relations_accumulate(relation: str) -> None:
    assert not one_valued(relation)
