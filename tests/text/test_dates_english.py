"""English expressions by family, said on Monday 7 November 2016 at 16:12."""

from __future__ import annotations

from datetime import datetime

import pytest

from memorist.text.dates import find_dates
from memorist.text.dates.numbers import iso

MONDAY = datetime(2016, 11, 7, 16, 12)

FAMILIES = {
    "figures": {
        "2016-10-02": "2016-10-02",
        "2016/10/2": "2016-10-02",
        "10/2/2016": "2016-10-02",
        "21/04/2016": "2016-04-21",
        "2.10.2016": "2016-10-02",
        "23/08/39": "1939-08-23",
        "13/04/21": "2021-04-13",
        "20161016": "2016-10-16",
        "10/2": "2016-10-02",
        "on 4.22": "2016-04-22",
        "Friday 7-10": "2016-11-04T07:00/2016-11-04T10:00",
        "Sunday 7-10": "2016-07-10",
        "2015-12": "2015-12-01/2016-01-01",
        "12/2015": "2015-12-01/2016-01-01",
        "sales_report-2002-10-09.xlsx": "2002-10-09",
        "2016-10-02T17:00:00+08:00": "2016-10-02T09:00:00",
        "2016-10-02 17:05": "2016-10-02T17:05",
        "2016-10-01/2016-11-01": "2016-10-01/2016-11-01",
        "../2016-10-01": "../2016-10-01",
    },
    "months and days": {
        "01st Jan 2019": "2019-01-01",
        "the 2nd of October, 2016": "2016-10-02",
        "October 2nd": "2016-10-02",
        "Oct/2": "2016-10-02",
        "Oct. 2": "2016-10-02",
        "May twenty-nine": "2016-05-29",
        "february twenty second": "2016-02-22",
        "fourth of july, 1995": "1995-07-04",
        "15 April of 87": "1987-04-15",
        "twenty five January nineteen eighty six": "1986-01-25",
        "05-Aug-2016": "2016-08-05",
        "Aug-05-16": "2016-08-05",
        "2016/aug/05": "2016-08-05",
        "23-2020-September": "2020-09-23",
        "Thu, 10 Nov 2016 09:30:00": "2016-11-10T09:30:00",
        "Thu Nov 10 09:30:00 2016": "2016-11-10T09:30:00",
        "the 2nd": "2016-11-02",
        "on the 15": "2016-10-15",
        "Wed 13th": "2016-07-13",
        "the 5th of next month": "2016-12-05",
        "the 15th day of the month": "2016-11-15",
    },
    "weekdays": {
        "last Friday": "2016-11-04",
        "last Monday": "2016-10-31",
        "this Friday": "2016-11-11",
        "next Friday": "2016-11-18",
        "this coming Friday": "2016-11-11",
        "next week on Tuesday": "2016-11-15",
        "Tuesday of next week": "2016-11-15",
        "two Fridays ago": "2016-10-28",
        "a week on Friday": "2016-11-18",
        "the first Monday of June 2017": "2017-06-05",
        "last Friday of October": "2016-10-28",
        "first week of Oct. on Friday": "2016-10-07",
    },
    "days from now": {
        "yesterday": "2016-11-06",
        "tmrw": "2016-11-08",
        "the day before yesterday": "2016-11-05",
        "the day after tomorrow": "2016-11-09",
        "3 days ago": "2016-11-04",
        "a month ago": "2016-10-07",
        "two years and three months ago": "2014-08-07",
        "one and a half years ago": "2015-05-07",
        "in two weeks": "2016-11-21",
        "in a fortnight's time": "2016-11-21",
        "3 weeks from tomorrow": "2016-11-29",
        "in 5 working days": "2016-11-14",
        "5 minutes ago": "2016-11-07T16:07",
        "half an hour from now": "2016-11-07T16:42/2016-11-07T17:42",
        "2 weeks before May 13 1999": "1999-04-29",
        "the Friday before 15 July 2023": "2023-07-14",
        "the week before 9 June 2023": "2023-05-29/2023-06-05",
        "two months from today on Tuesday": "2017-01-10",
    },
    "windows": {
        "the past 2 months": "2016-09-07/2016-11-08",
        "the last 3 days": "2016-11-04/2016-11-08",
        "the past week": "2016-10-31/2016-11-08",
        "the next 2 days": "2016-11-08/2016-11-10",
        "2 upcoming months": "2016-11-08/2017-01-08",
        "next 4 business days": "2016-11-08/2016-11-12",
        "within 9 months": "2016-11-07/2017-08-07",
        "the last 20 minutes": "2016-11-07T15:52/2016-11-07T16:12",
        "the last hour": "2016-11-07T15:12/2016-11-07T16:12",
        "last 2 quarters": "2016-04-01/2016-10-01",
        "the next two decades": "2020-01-01/2040-01-01",
        "4-5 months ago": "2016-06-07/2016-07-08",
        "more than 2 weeks ago": "../2016-10-24",
        "for 3 days from today": "2016-11-07/2016-11-10",
    },
    "calendar units": {
        "last week": "2016-10-31/2016-11-07",
        "this month": "2016-11-01/2016-12-01",
        "next quarter": "2017-01-01/2017-04-01",
        "last year": "2015-01-01/2016-01-01",
        "last decade": "2000-01-01/2010-01-01",
        "this century": "2000-01-01/2100-01-01",
        "the week before last": "2016-10-24/2016-10-31",
        "the week of April 10th": "2016-04-04/2016-04-11",
        "w/c Feb 4": "2016-02-01/2016-02-08",
        "week 10": "2016-03-07/2016-03-14",
        "week 1 of 2011": "2011-01-03/2011-01-10",
        "2016-W45": "2016-11-07/2016-11-14",
        "the last week of 2019": "2019-12-23/2019-12-30",
        "third week of Jan 2019": "2019-01-14/2019-01-21",
        "the first two weeks of 2021": "2021-01-04/2021-01-18",
        "last weekend": "2016-11-05/2016-11-07",
        "next weekend": "2016-11-19/2016-11-21",
        "weekend of thanksgiving 2023": "2023-11-23/2023-11-27",
        "halloween weekend 2021": "2021-10-30/2021-11-01",
    },
    "months, quarters, seasons, years": {
        "in October": "2016-10-01/2016-11-01",
        "last March": "2016-03-01/2016-04-01",
        "next March": "2017-03-01/2017-04-01",
        "this May": "2016-05-01/2016-06-01",
        "April of 1987": "1987-04-01/1987-05-01",
        "May of next year": "2017-05-01/2017-06-01",
        "Q1": "2016-01-01/2016-04-01",
        "2019-Q1": "2019-01-01/2019-04-01",
        "second half of 2016": "2016-07-01/2017-01-01",
        "last summer": "2016-06-01/2016-09-01",
        "winter 2013": "2013-12-01/2014-03-01",
        "in the spring": "2016-03-01/2016-06-01",
        "in 1812": "1812-01-01/1813-01-01",
        "in nineteen ninety six": "1996-01-01/1997-01-01",
        "in two thousand and fifteen": "2015-01-01/2016-01-01",
        "back in '99": "1999-01-01/2000-01-01",
        "the 1990s": "1990-01-01/2000-01-01",
        "in the 90s": "1990-01-01/2000-01-01",
        "the eighties": "1980-01-01/1990-01-01",
        "the 1800s": "1800-01-01/1900-01-01",
        "the 21st century": "2000-01-01/2100-01-01",
    },
    "parts": {
        "early 2016": "2016-01-01/2016-05-01",
        "mid 1989": "1989-05-01/1989-09-01",
        "the end of 2000": "2000-09-01/2001-01-01",
        "mid-October": "2016-10-10/2016-10-20",
        "end of last month": "2016-10-16/2016-11-01",
        "early next week": "2016-11-14/2016-11-17",
        "later this week": "2016-11-10/2016-11-14",
        "earlier this year": "2016-01-01/2016-11-07",
        "the rest of the month": "2016-11-07/2016-12-01",
        "year to date": "2016-01-01/2016-11-08",
        "EOD": "2016-11-07T23:59:59",
        "late nineties": "1996-09-01/2000-01-01",
    },
    "holidays": {
        "last Christmas": "2015-12-25",
        "Thanksgiving 2013": "2013-11-28",
        "Easter 2016": "2016-03-27",
        "Good Friday 2016": "2016-03-25",
        "black friday 2010": "2010-11-26",
        "mother's day 2017": "2017-05-14",
        "memorial day 2016": "2016-05-30",
        "election day 2016": "2016-11-08",
        "new year's eve 2015": "2015-12-31",
        "Chinese New Year 2017": "2017-01-28",
        "eid al fitr 2022": "2022-05-02",
        "the day after Christmas": "2015-12-26",
    },
    "times": {
        "yesterday at 5pm": "2016-11-06T17",
        "8:45a tomorrow": "2016-11-08T08:45",
        "tomorrow at 2.30": "2016-11-08T14:30",
        "Friday at half past 3": "2016-11-04T15:30",
        "Friday at quarter to five": "2016-11-04T16:45",
        "noon tomorrow": "2016-11-08T12",
        "midnight on Friday": "2016-11-04T00",
        "last night": "2016-11-06T20:00/2016-11-07",
        "last night at 8": "2016-11-06T20",
        "tonight at 2am": "2016-11-08T02",
        "8am this morning": "2016-11-07T08",
        "tomorrow afternoon": "2016-11-08T12:00/2016-11-08T16:00",
        "late this morning": "2016-11-07T10:00/2016-11-07T12:00",
        "Monday 11-4": "2016-10-31T11:00/2016-10-31T16:00",
        "from 8am-3 yesterday afternoon": "2016-11-06T08:00/2016-11-06T15:00",
        "between 7 and 9 last night": "2016-11-06T19:00/2016-11-06T21:00",
        "first Monday 1pm to 3pm of next month": "2016-12-05T13:00/2016-12-05T15:00",
        "tomorrow before 5pm": "2016-11-08/2016-11-08T17:00",
        "right now": "2016-11-07T16:12:00",
    },
    "ranges": {
        "from May to October 2015": "2015-05-01/2015-11-01",
        "Monday to Wednesday": "2016-10-31/2016-11-03",
        "from 4 to 22 this month": "2016-11-04/2016-11-23",
        "November 18-19, 2015": "2015-11-18/2015-11-20",
        "10-1-2018-10-7-2018": "2018-10-01/2018-10-08",
        "from april until the end of june": "2016-04-01/2016-07-01",
        "from the middle of 2007 to the end of 2008": "2007-07-02/2009-01-01",
        "between now and November 15th": "2016-11-07/2016-11-16",
        "between Jan 22 and now": "2016-01-22/2016-11-08",
        "from 2017 q1 to 2018 q1": "2017-01-01/2018-04-01",
        "May to March": "2016-05-01/2017-04-01",
        "2010 - present": "2010-01-01/2016-11-08",
        "9am January 5 2018 to 5pm January 6 2018": "2018-01-05T09:00/2018-01-06T17:00",
    },
    "open ranges": {
        "since August": "2016-08-01/..",
        "starting January 7th": "2016-01-07/..",
        "2018 or later": "2018-01-01/..",
        "from 2010 onwards": "2010-01-01/..",
        "after 2010": "2011-01-01/..",
        "later than 2020": "2021-01-01/..",
        "> = 2019": "2019-01-01/..",
        "before Easter": "../2016-03-27",
        "before the end of October": "../2016-11-01",
        "until last Tuesday": "../2016-11-01",
        "by next Friday": "../2016-11-19",
        "no later than January 1, 2010": "../2010-01-02",
        "on or before 1/1/2016": "../2016-01-02",
        "sales to date": "../2016-11-07",
    },
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [pytest.param(text, form, id=text) for family in FAMILIES.values() for text, form in family.items()],
)
def test_an_expression_means_its_time(text: str, expected: str) -> None:
    (span,) = find_dates(f"we said {text}, did we", MONDAY)
    assert iso(span.start, span.end) == expected
    (alone,) = find_dates(text, MONDAY)
    assert (alone.start, alone.end) == (span.start, span.end)


@pytest.mark.parametrize("number", range(1, 13))
def test_every_month_has_its_name_and_short_name(number: int) -> None:
    moment = datetime(2015, number, 3)
    for form in ("%B %d, %Y", "%b %d %Y", "%d %b %Y", "%B of %Y", "in %b %Y"):
        (span,) = find_dates(moment.strftime(form), MONDAY)
        assert (span.start.year, span.start.month) == (2015, number)


@pytest.mark.parametrize("number", range(7))
def test_every_weekday_has_its_name_and_short_name(number: int) -> None:
    moment = datetime(2016, 10, 31 - 7 + number)
    for form in ("last %A", "last %a", "on %A, %B %d, %Y"):
        (span,) = find_dates(moment.strftime(form), datetime(2016, 10, 31))
        assert span.start.replace(tzinfo=None) == moment


@pytest.mark.parametrize(
    ("unit", "start"),
    [("day", "2016-11-05"), ("week", "2016-10-24"), ("month", "2016-09-07"), ("year", "2014-11-07")],
)
@pytest.mark.parametrize("count", ["2", "two", "a couple of"])
def test_every_unit_counts_back_in_figures_and_words(count: str, unit: str, start: str) -> None:
    (span,) = find_dates(f"{count} {unit}s ago", MONDAY)
    assert iso(span.start, span.end) == start


@pytest.mark.parametrize("number", range(1, 32))
def test_every_day_of_a_month_in_figures_and_words(number: int) -> None:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 != 1 else 0, "th")
    for text in (f"the {number}{suffix} of March 2015", f"March {number}, 2015", f"{number} March 2015"):
        (span,) = find_dates(text, MONDAY)
        assert iso(span.start, span.end) == f"2015-03-{number:02}"
