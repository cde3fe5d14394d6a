"""From claims to intervals on two clocks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from memorist.remember.timeline import Claim, Segment, SegmentVersion, forms, timeline

Told = tuple[str, int, int | None]


def day(number: int) -> datetime:
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number)


def number(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - day(0)).days


def claim(value: str, since: int, known: int = 0, **more: object) -> Claim:
    return Claim(value, day(since), day(known), **more)  # pyright: ignore[reportArgumentType]


def told(segments: Sequence[Segment]) -> list[Told]:
    return [(segment.claims[-1].value, number(segment.start) or 0, number(segment.end)) for segment in segments]


def test_a_value_holds_until_the_next_one() -> None:
    assert told(timeline([claim("Oslo", 1), claim("Bergen", 5)])) == [("Oslo", 1, 5), ("Bergen", 5, None)]


def test_a_late_arrival_is_placed_by_when_it_was_true() -> None:
    claims = [claim("Oslo", 1, 10), claim("Bergen", 5, 11), claim("Rome", 3, 12)]
    assert told(timeline(claims)) == [("Oslo", 1, 3), ("Rome", 3, 5), ("Bergen", 5, None)]


def test_equal_values_next_to_each_other_are_one_with_both_claims() -> None:
    [segment] = timeline([claim("Oslo", 1), claim("oslo ", 4)])
    assert (number(segment.start), segment.end, len(segment.claims)) == (1, None, 2)


def test_a_value_comes_back() -> None:
    claims = [claim("Oslo", 1), claim("Rome", 3), claim("Oslo", 6)]
    assert told(timeline(claims)) == [("Oslo", 1, 3), ("Rome", 3, 6), ("Oslo", 6, None)]


def test_a_denial_ends_its_value_and_no_other() -> None:
    assert told(timeline([claim("Oslo", 1), claim("Oslo", 4, negated=True)])) == [("Oslo", 1, 4)]
    assert told(timeline([claim("Oslo", 1), claim("Rome", 4, negated=True)])) == [("Oslo", 1, None), ("Rome", 4, 4)]


def test_a_denial_that_came_first_waits_for_its_value() -> None:
    claims = [claim("Oslo", 4, 0, negated=True), claim("Oslo", 1, 1)]
    assert told(timeline(claims)) == [("Oslo", 1, 4)]


def test_an_end_that_was_told_holds_unless_another_value_came_first() -> None:
    assert told(timeline([claim("Oslo", 1, until=day(5))])) == [("Oslo", 1, 5)]
    claims = [claim("Oslo", 1, until=day(5)), claim("Rome", 3)]
    assert told(timeline(claims)) == [("Oslo", 1, 3), ("Rome", 3, None)]


def test_a_value_that_is_said_again_when_it_ended_goes_on() -> None:
    assert told(timeline([claim("Oslo", 1, until=day(5)), claim("Oslo", 5)])) == [("Oslo", 1, None)]
    moved = [claim("Oslo", 1, 0), claim("Rome", 5, 0), claim("Oslo", 5, 1)]
    assert told(timeline(moved)) == [("Oslo", 1, None), ("Rome", 5, 5)]


def test_claims_that_differ_in_their_source_or_text_alone_have_one_order() -> None:
    for name in ("source", "text"):
        claims = [claim("Oslo", 1, **{name: it}) for it in (None, "a", "b")]
        for order in (claims, claims[::-1]):
            assert timeline(order)[0].claims == tuple(claims)


def test_of_two_values_from_one_moment_the_one_heard_later_holds() -> None:
    assert told(timeline([claim("Oslo", 1, 5), claim("Rome", 1, 4)])) == [("Oslo", 1, None), ("Rome", 1, 1)]


def test_heard_at_once_an_update_wins_then_the_later_turn() -> None:
    by_wording = timeline([claim("Oslo", 1, update=True), claim("Rome", 1, order=7)])
    assert told(by_wording) == [("Oslo", 1, None), ("Rome", 1, 1)]
    by_place = timeline([claim("Oslo", 1, order=2), claim("Rome", 1, order=1)])
    assert told(by_place) == [("Oslo", 1, None), ("Rome", 1, 1)]


def test_a_first_closing_is_one_row_and_a_second_one_takes_it_back() -> None:
    claims = [claim("Oslo", 1, 10), claim("Bergen", 5, 11), claim("Rome", 3, 12)]
    rows = {
        (form.segment.claims[-1].value, number(form.segment.end), number(form.ingested_at)): (
            number(form.expired_at),
            number(form.retracted_at),
        )
        for form in forms(claims)
    }
    assert rows == {
        ("Oslo", 5, 10): (11, 12),
        ("Oslo", 3, 12): (12, None),
        ("Bergen", None, 11): (None, None),
        ("Rome", 5, 12): (12, None),
    }


CLAIMS = st.lists(
    st.builds(
        lambda value, since, known, lasting, negated, source: Claim(
            value,
            day(since),
            day(known),
            until=None if lasting is None else day(since + lasting),
            negated=negated,
            source=str(source),
        ),
        st.sampled_from(["Oslo", "Bergen", "Rome"]),
        st.integers(0, 8),
        st.integers(0, 8),
        st.none() | st.none() | st.integers(1, 4),
        st.sampled_from([False, False, False, True]),
        st.integers(0, 99),
    ),
    max_size=7,
)


def visible(form: SegmentVersion, as_of: datetime, known_at: datetime) -> bool:
    """The rule that every recipe sees by, spelled out."""
    segment = form.segment
    if segment.start > as_of or form.ingested_at > known_at:
        return False
    if form.retracted_at is not None and form.retracted_at <= known_at:
        return False
    closing_unknown = form.expired_at is not None and form.expired_at > known_at
    return segment.end is None or segment.end > as_of or closing_unknown


@given(CLAIMS)
def test_the_rows_show_at_every_moment_what_was_known_of_every_day(claims: list[Claim]) -> None:
    rows = forms(claims)
    for known in range(-1, 10):
        then = timeline(claim for claim in claims if claim.known <= day(known))
        for as_of in range(-1, 14):
            wanted = [
                segment.name
                for segment in then
                if segment.start <= day(as_of) and (segment.end is None or day(as_of) < segment.end)
            ]
            assert len(wanted) <= 1
            assert [row.segment.name for row in rows if visible(row, day(as_of), day(known))] == wanted


@given(CLAIMS, st.randoms(use_true_random=False))
def test_the_order_of_arrival_makes_no_difference_and_no_claim_is_lost(claims: list[Claim], random: Random) -> None:
    def shapes(rows: list[SegmentVersion]) -> list[tuple[object, ...]]:
        return sorted(
            (row.segment.name, str(row.segment.end), row.ingested_at, str(row.expired_at), str(row.retracted_at))
            for row in rows
        )

    shuffled = random.sample(claims, len(claims))
    assert shapes(forms(shuffled)) == shapes(forms(claims))
    assert {claim for row in forms(claims) for claim in row.segment.claims} == set(claims)
