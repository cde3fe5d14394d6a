"""Both languages: the API, ambiguous dates, texts without dates, and invariants for any text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorist.text.dates import DateSpan, find_dates
from memorist.text.dates.chinese import chinese
from memorist.text.dates.english_ranges import english
from memorist.text.dates.grammar import Grammar, ParseState
from memorist.text.dates.numbers import iso
from memorist.text.dates.reader import may_hold_dates, read, scan
from memorist.text.dates.tokens import tokenise
from memorist.text.dates.values import Context, Prefer

MONDAY = datetime(2016, 11, 7, 16, 12, tzinfo=UTC)


def day(year: int, month: int, number: int) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


def only(text: str, reference: datetime = MONDAY, prefer: Prefer = "past") -> str:
    """The one date of a text, in ISO form."""
    spans = find_dates(text, reference, prefer=prefer)
    assert len(spans) == 1, spans
    return iso(spans[0].start, spans[0].end)


def test_a_span_has_its_time_text_and_offsets() -> None:
    assert find_dates("So, what did we do last Friday?", MONDAY) == [
        DateSpan(day(2016, 11, 4), day(2016, 11, 5), "last Friday", 19, 30)
    ]


def test_several_dates_come_in_order() -> None:
    spans = find_dates("On 2 May 2016 we met; 三天前又见面, and tomorrow again.", MONDAY)
    assert [(span.text, iso(span.start, span.end)) for span in spans] == [
        ("2 May 2016", "2016-05-02"),
        ("三天前", "2016-11-04"),
        ("tomorrow", "2016-11-08"),
    ]


def test_dates_have_an_iso_form() -> None:
    spans = find_dates("Where was I yesterday, in October and at 2pm tomorrow?", MONDAY)
    assert [iso(span.start, span.end) for span in spans] == ["2016-11-06", "2016-10-01/2016-11-01", "2016-11-08T14"]
    assert find_dates("nothing to see", MONDAY) == []


def test_a_naive_reference_is_utc_and_other_zones_are_converted() -> None:
    assert only("today", datetime(2016, 11, 7, 23, 0)) == "2016-11-07"
    assert only("today", datetime(2016, 11, 8, 1, 0, tzinfo=timezone(timedelta(hours=8)))) == "2016-11-07"


def test_an_unknown_preference_names_the_choices() -> None:
    with pytest.raises(ValueError, match="'past', 'future', 'nearest' or 'tense'"):
        find_dates("Friday", MONDAY, prefer="soon")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("text", "past", "future", "nearest"),
    [
        ("on Friday", "2016-11-04", "2016-11-11", "2016-11-04"),
        ("on Thursday", "2016-11-03", "2016-11-10", "2016-11-10"),
        ("on Monday", "2016-10-31", "2016-11-14", "2016-10-31"),
        ("on 7 November", "2016-11-07", "2016-11-07", "2016-11-07"),
        ("in December", "2015-12-01/2016-01-01", "2016-12-01/2017-01-01", "2016-12-01/2017-01-01"),
        ("in November", "2016-11-01/2016-12-01", "2016-11-01/2016-12-01", "2016-11-01/2016-12-01"),
        ("on the 20th", "2016-10-20", "2016-11-20", "2016-11-20"),
        ("at Easter", "2016-03-27", "2017-04-16", "2017-04-16"),
        ("on 29 February", "2016-02-29", "2020-02-29", "2016-02-29"),
        ("三月五号", "2016-03-05", "2017-03-05", "2017-03-05"),
        ("周四", "2016-11-03", "2016-11-10", "2016-11-10"),
        ("yesterday", "2016-11-06", "2016-11-06", "2016-11-06"),
    ],
)
def test_the_preference_selects_the_occurrence(text: str, past: str, future: str, nearest: str) -> None:
    assert only(text, prefer="past") == past
    assert only(text, prefer="future") == future
    assert only(text, prefer="nearest") == nearest


def test_a_weekday_decides_between_the_years() -> None:
    assert only("Saturday, 12 November") == "2016-11-12"  # in 2015 a Thursday
    assert only("Thursday, 12 November") == "2015-11-12"
    assert only("12月25号，星期天") == "2016-12-25"


def test_ranges_include_their_last_part_unless_edges_are_points() -> None:
    def both(text: str) -> tuple[str, str]:
        whole, point = (
            read(text, Context(datetime(2016, 11, 7, 16, 12), edges=edges))[0] for edges in ("whole", "point")
        )
        return iso(whole.start, whole.end), iso(point.start, point.end)

    assert both("from 1 to 7 May 2016") == ("2016-05-01/2016-05-08", "2016-05-01/2016-05-07")
    assert both("2014-2016") == ("2014-01-01/2017-01-01", "2014-01-01/2016-01-01")
    assert both("after 7 May 2016") == ("2016-05-08/..", "2016-05-07/..")
    assert both("after 2010") == ("2011-01-01/..", "2011-01-01/..")
    assert both("2010年1月4日或之前") == ("../2010-01-05", "../2010-01-04")
    assert both("the past 3 days") == ("2016-11-04/2016-11-08", "2016-11-04/2016-11-07")
    assert both("from 3pm to 5pm yesterday") == ("2016-11-06T15:00/2016-11-06T17:00",) * 2


@pytest.mark.parametrize(
    "text",
    [
        "May I ask what this is for? You may not!",
        "the march went on, we march, The March of Progress",
        "a second opinion, wait a second, in a second",
        "the sun sat low; I sat at the table",
        "a fall in prices, the spring of the watch, I fall asleep",
        "version 1.2.3, then 10.12.11, and 3.11",
        "call +86 138-2010-2015 or 555-1234 or 000 111 82-2100",
        "5/8 of the cake, 1/2 cup, the odds are 3/4",
        "open 24/7, ratio 4:3, score 3-1, pages 3-4",
        "192.168.1.1 and 40.1693, 1666.90125",
        "deliver 2000 pieces, about 2000 people, $2019, room 2019, 2019%",
        "the first time, a third party, 3rd place, the 2nd floor",
        "for 3 days, all week, two years old",
        "every Monday, each day, on Sundays, every 3rd week, Tuesday mornings",
        "my up-to-date notes, up to date, out of date, day after day",
        "what are you up to?",
        "30 February 2019, 31 April, 2/29/2019",
        "12:30, at 5pm, noon",
        "每天, 每周一, 每年春节",
        "一下子, 马上, 以上, 三年, 持续了三天",
        "6600万年前, 公元前750年, 四分之三",
        "2月30日",
    ],
)
def test_texts_that_resemble_dates_are_ignored(text: str) -> None:
    assert find_dates(text, MONDAY) == []


def test_words_that_are_also_names_of_months_and_days_count_after_a_preposition() -> None:
    assert only("It may be in may") == "2016-05-01/2016-06-01"
    assert only("we will march in March") == "2016-03-01/2016-04-01"
    assert only("party for Ted on Sat") == "2016-11-05"


def test_an_incomplete_end_of_a_range_is_completed_from_the_other() -> None:
    assert only("from May to October 2020") == "2020-05-01/2020-11-01"
    assert only("Nov-Feb 2017") == "2016-11-01/2017-03-01"
    assert only("between 3 and 12 September") == "2016-09-03/2016-09-13"
    assert only("April 27th to the third") == "2016-04-27/2016-05-04"
    assert only("10/1-11/2/2017") == "2017-10-01/2017-11-03"
    assert only("from next Monday to Friday") == "2016-11-14/2016-11-19"
    assert only("2019年6月1日-6月30日") == "2019-06-01/2019-07-01"


def test_every_example_of_the_page_on_dates_is_one_date() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "dates.md").read_text(encoding="utf-8")
    table = page.partition("## Supported expressions")[2].partition("## Conventions")[0]
    examples = [text for row in table.splitlines() for text in re.findall("`([^`]+)`", "".join(row.split("|")[2:3]))]
    assert len(examples) > 80
    assert [text for text in examples if len(find_dates(text, MONDAY)) != 1] == []


def test_a_blank_line_ends_an_expression() -> None:
    assert [span.text for span in find_dates("in May\n\n5 people came", MONDAY)] == ["May"]


WORDS = """the a of in on from to between and before since last next this every monday sat january may 31 29 2 2016 99 '
 s st th 1st first twenty two hundred - / . , : ~ > = day weeks month year ago now today night q1 half end mid
 weekend easter 10:30 5pm noon eod than more 2016-10-02 5/8 3.5 2.0 0 9999 年 月 日 号 上 下 个 周 天 前 后 三
 十 零 万 初 底 世纪 第 到 从 自 起 之 或 点 半 昨 晚 春节 农历 民国 每 ½ ² İ ０ T .."""
TEXTS = st.one_of(
    st.text(max_size=40),
    st.builds(
        lambda parts, glue: glue.join(parts),
        st.lists(st.sampled_from(WORDS.split()), max_size=10),
        st.sampled_from([" ", "", "\n\n"]),
    ),
)
REFERENCES = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))
PREFERENCES = st.sampled_from(["past", "future", "nearest"])


@settings(max_examples=400, deadline=None)
@given(TEXTS, REFERENCES, PREFERENCES)
def test_spans_are_ordered_disjoint_and_match_the_text(text: str, reference: datetime, prefer: Prefer) -> None:
    spans = find_dates(text, reference, prefer=prefer)
    assert all(span.stop <= following.begin for span, following in pairwise(spans))
    for span in spans:
        assert 0 <= span.begin < span.stop <= len(text)
        assert span.text == text[span.begin : span.stop]
        assert span.start < span.end
        assert span.start.tzinfo is span.end.tzinfo is UTC


@settings(max_examples=300, deadline=None)
@given(TEXTS, REFERENCES, PREFERENCES)
def test_the_iso_form_of_a_span_means_the_same_at_any_time(text: str, reference: datetime, prefer: Prefer) -> None:
    for span in find_dates(text, reference, prefer=prefer):
        written = iso(span.start, span.end)
        assert [(found.start, found.end, found.text) for found in find_dates(written, MONDAY)] == [
            (span.start, span.end, written)
        ]


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_the_hint_check_misses_no_date(text: str) -> None:
    if not may_hold_dates(text):
        for grammar in (english, chinese):
            assert not list(scan(grammar, ParseState(tokenise(text), Context(datetime(2016, 11, 7)))))


@given(st.dates(datetime(1900, 1, 1).date(), datetime(2099, 12, 31).date()))
def test_a_day_in_its_usual_forms_is_that_day(date: object) -> None:
    moment = datetime.fromisoformat(str(date))
    forms = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%m/%d/%Y", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%Y年%m月%d日")
    for form in forms:
        written = moment.strftime(form)
        assert only(f"it was {written} then") == str(date), written


@pytest.mark.parametrize("reference", [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)])
def test_the_limits_of_the_calendar_cause_no_error(reference: datetime) -> None:
    text = "yesterday, tomorrow, last year, next century, in 9999 years, since May, 三天前, 下个世纪, 9999-12-31"
    for span in find_dates(text, reference):
        assert span.start < span.end


def _steps(grammar: Grammar, text: str) -> int:
    reading = ParseState(tokenise(text), Context(datetime(2016, 11, 7)))
    for _ in scan(grammar, reading):
        pass
    return reading.steps


@pytest.mark.parametrize(
    "piece",
    [
        *("1/2-3.4:5 ", "12-", "2019 ", "may ", "three days after ", "from monday to ", "the first of the ", "1 2 "),
        *("twenty ", "every other ", "between now and ", "上上个月", "三天前", "从三月到", "2018年", "第一个"),
    ],
)
def test_work_is_linear_in_the_length_of_the_text(piece: str) -> None:
    for grammar in (english, chinese):
        short, long = _steps(grammar, piece * 100), _steps(grammar, piece * 400)
        assert long <= 4.2 * short + 1000


def test_a_recursive_category_is_rejected() -> None:
    grammar = Grammar()
    grammar.union("date", "after <span>")
    grammar.union("span", "since <date>")
    with pytest.raises(ValueError, match="uses itself"):
        grammar.matches(ParseState(tokenise("after"), Context(datetime(2016, 11, 7))), "date", 0)


@pytest.mark.slow
def test_a_long_text_of_figures_is_read_to_its_end() -> None:
    figures = "4711 0815 10-4 3.14 1,000 12:60 " * 4_096
    spans = find_dates(figures + "yesterday", MONDAY)
    assert spans[-1].text == "yesterday"
