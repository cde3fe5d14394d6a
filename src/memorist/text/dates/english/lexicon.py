"""English: the words of dates, and what only looks like a date."""

from memorist.text.dates.calendar import Unit
from memorist.text.dates.clock import AFTERNOON, DAYTIME, EVENING, MORNING, NIGHT, NOON, stretch
from memorist.text.dates.grammar import Reading, free_after
from memorist.text.dates.numbers import CARDINALS, ORDINAL_SUFFIXES, ORDINALS

_MONTH_NAMES = (
    "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
    "august aug", "september sep sept", "october oct", "november nov", "december dec",
)  # fmt: skip
_WEEKDAY_NAMES = (
    "monday mon", "tuesday tue tues", "wednesday wed weds", "thursday thu thur thurs", "friday fri",
    "saturday sat", "sunday sun",
)  # fmt: skip


def _numbered(names: tuple[str, ...], first: int) -> dict[str, int]:
    """Names and abbreviations, these with and without their full stop."""
    table = {name: number for number, line in enumerate(names, first) for name in line.split()}
    return table | {f"{name}.": number for name, number in table.items() if len(name) < 6 and name != "may"}


MONTHS = _numbered(_MONTH_NAMES, 1)
WEEKDAYS = _numbered(_WEEKDAY_NAMES, 0)
PLURAL_WEEKDAYS = {f"{name}s": number for name, number in WEEKDAYS.items() if name.endswith("day")}

WEAK = frozenset({"may", "march", "mar", "sat", "sun", "wed", "mon", "spring", "fall", "dec", "jan"})
"""Names that are also ordinary words: alone they need a preposition before them."""

SINGULAR_UNITS = {
    "second": Unit.SECOND, "sec": Unit.SECOND, "minute": Unit.MINUTE, "min": Unit.MINUTE,
    "hour": Unit.HOUR, "hr": Unit.HOUR, "day": Unit.DAY,
    "business day": Unit.BUSINESS_DAY, "working day": Unit.BUSINESS_DAY,
    "week": Unit.WEEK, "wk": Unit.WEEK, "fortnight": Unit.FORTNIGHT, "weekend": Unit.WEEKEND,
    "month": Unit.MONTH, "quarter": Unit.QUARTER, "year": Unit.YEAR, "yr": Unit.YEAR,
    "decade": Unit.DECADE, "century": Unit.CENTURY,
}  # fmt: skip
UNITS = (
    SINGULAR_UNITS
    | {f"{name}s": unit for name, unit in SINGULAR_UNITS.items()}
    | {"centuries": Unit.CENTURY, "weekdays": Unit.BUSINESS_DAY}
)
SEASONS = {"spring": 3, "springtime": 3, "summer": 6, "summertime": 6, "autumn": 9, "fall": 9, "winter": 12}
DECADE_WORDS = {
    "twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70,
    "eighties": 80, "nineties": 90,
}  # fmt: skip
RELATIONS = {"last": -1, "previous": -1, "prior": -1, "past": -1, "this": 0, "current": 0,
             "next": 1, "following": 1, "coming": 1, "upcoming": 1, "this coming": 1,
             "this upcoming": 1, "this past": -1}  # fmt: skip
DEICTICS = {
    "the day before yesterday": -2, "the day after tomorrow": 2, "day before yesterday": -2,
    "day after tomorrow": 2, "today": 0, "yesterday": -1, "tomorrow": 1, "tmr": 1, "tmrw": 1, "tmw": 1,
}  # fmt: skip
QUANTITIES = {
    "a": 1, "an": 1, "a couple": 2, "a couple of": 2, "couple of": 2, "couple": 2, "a few": 3, "few": 3,
    "several": 3, "some": 3, "half a": 0.5, "half an": 0.5,
}  # fmt: skip
DAY_PARTS = {
    "morning": MORNING, "afternoon": AFTERNOON, "evening": EVENING, "night": NIGHT, "daytime": DAYTIME,
    "noon": NOON, "lunchtime": NOON, "lunch time": NOON, "midday": NOON, "nighttime": NIGHT,
    "night-time": NIGHT, "dinnertime": EVENING, "dinner time": EVENING, "breakfast time": MORNING,
    "noontime": NOON, "mid-morning": stretch(9, 11, "am"), "mid-afternoon": stretch(13, 15, "pm"),
}  # fmt: skip
HALVES = {
    "am": "am", "a.m.": "am", "a.m": "am", "a m": "am", ".am": "am",
    "pm": "pm", "p.m.": "pm", "p.m": "pm", "p m": "pm", ".pm": "pm",
}  # fmt: skip


def words_of(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


PREPOSITIONS = words_of(
    "in on of since until till by from to before after during through thru between around about circa last"
    " next this past previous coming early mid late for as than at every year cy within throughout vs versus"
)
FUNCTION_WORDS = words_of(
    "and or but nor so yet to till until through thru for from with without at on in of by as is was are were"
    " be been has have had will would shall should can could may might must do did does i you he she it we"
    " they me us them my your his her its our their this that these those the a an if when while where who"
    " which what how why because since before after between than then also not just only ago please there"
    " here about around versus vs during via per off up out over under into onto maybe instead too"
)
"""Words that may follow a bare year or day number; before a noun it is a count."""


_YEAR_PREPOSITIONS = words_of("in since of during until till by from year before after through between and")
_COUNTING = words_of("than about around over nearly almost least most approximately under some only")
_LABELS = words_of(
    "room building page pages flight route highway model version number suite apartment chapter section line"
    " port code error issue ticket order floor level exit gate table figure step"
)
_UP_TO_SOMETHING = words_of("been you re are is am was were get gets got getting he she they we i s m")
_WISHING = words_of("want wants wanted going like love trying ready someone him her them how who up")
_BEFORE_FRACTIONS = words_of("is are was or of equals be about only ratio as a the than score scored got by")
_NUMBER_WORDS = frozenset((*CARDINALS, *ORDINALS, "-", "and", "hundred", "thousand"))
_SENTENCE_START = frozenset(("", ".", "!", "?", ":", ";", '"', "(", "the"))


def glued(reading: Reading, begin: int, stop: int) -> bool:
    """No space inside."""
    return all(reading.tokens.glued(place) for place in range(begin + 1, stop))


def at_end(reading: Reading, _begin: int, stop: int) -> bool:
    """Nothing but a sign or the end of the text follows."""
    return not reading.key(stop)[:1].isalnum()


def counts_nothing(reading: Reading, _begin: int, stop: int) -> bool:
    """No noun follows that a number before it would count."""
    after = reading.key(stop)
    if after == "-" and reading.tokens.glued(stop):
        after = reading.key(stop + 1)
    return not after[:1].isalpha() or after in FUNCTION_WORDS


def clear(reading: Reading, begin: int, stop: int) -> bool:
    """A standalone expression that cannot be ordinary words or figures."""
    first = reading.key(begin)
    if not free_after(reading, begin, stop) or (first[0] == "#" and reading.key(begin - 1) in _LABELS):
        return False
    keys = reading.tokens.keys[begin + (first == "the") : stop]
    if first in WEAK and keys[1:] in ([], ["."]):
        return _is_name(reading, begin, stop)
    if keys == ["#4"]:
        return _is_year(reading, begin, stop)
    if keys[1:2] == ["/"] and len(keys) == 3:
        return _is_day_pair(reading, begin, stop)
    return _is_counted_day(reading, begin, stop, keys)


def _is_counted_day(reading: Reading, begin: int, stop: int, keys: list[str]) -> bool:
    """`the 2nd`, `the 90s`, and all that is more than a number."""
    before = reading.key(begin - 1)
    if len(keys) == 2 and keys[1] in ORDINAL_SUFFIXES:
        return counts_nothing(reading, begin, stop)
    if keys == ["#2", "s"]:
        return before in ("the", "in", "of", "since", "during")
    if all(key in _NUMBER_WORDS for key in keys):
        return keys[-1] not in ORDINALS and before in _YEAR_PREPOSITIONS
    return True


def clear_range(reading: Reading, begin: int, stop: int) -> bool:
    """A range whose last edge is no count of something else (`until the 23rd person`)."""
    last = reading.key(stop - 1)
    if last in ORDINAL_SUFFIXES and not counts_nothing(reading, begin, stop):
        return False
    if last in ORDINALS and MONTHS.keys().isdisjoint(reading.tokens.keys[begin:stop]):
        return False
    return free_after(reading, begin, stop)


def is_limit(reading: Reading, begin: int, _stop: int) -> bool:
    """`up to today`, not `what are you up to today`."""
    return reading.key(begin - 1) not in _UP_TO_SOMETHING


def to_this_day(reading: Reading, begin: int, stop: int) -> bool:
    """`sales to date`, not `someone to date`."""
    return reading.key(begin - 1) not in _WISHING and at_end(reading, begin, stop)


def free_pair(reading: Reading, begin: int, stop: int) -> bool:
    """`on 4-22`, not `in 4.22 seconds`."""
    return free_after(reading, begin, stop) and counts_nothing(reading, begin, stop)


def _is_name(reading: Reading, begin: int, stop: int) -> bool:
    """`May`, `March`, `Sat` and the like after a preposition, or a weekday written as a name."""
    before, raw = reading.key(begin - 1), reading.tokens.raw(begin)
    if reading.key(stop) == "'":
        return False
    if before == "the" and reading.key(begin) in SEASONS:
        return reading.key(begin - 2) in PREPOSITIONS
    if before in PREPOSITIONS:
        return before not in ("to", "as", "than", "at") and (before != "this" or raw[0].isupper())
    return reading.key(begin) in WEEKDAYS and raw[0].isupper() and before not in _SENTENCE_START


def _is_year(reading: Reading, begin: int, stop: int) -> bool:
    """`2016` after a preposition, or where it counts nothing."""
    before = reading.key(begin - 1)
    if before in _COUNTING:
        return False
    if before in _YEAR_PREPOSITIONS:
        return True
    return 1900 <= int(reading.tokens.raw(begin)) < 2100 and counts_nothing(reading, begin, stop)


def _is_day_pair(reading: Reading, begin: int, stop: int) -> bool:
    """`5/8` is a day, not a fraction, after a word and before neither `of` nor a noun."""
    before, after = reading.key(begin - 1), reading.key(stop)
    if before == "on":
        return True
    worded = (before[:1].isalpha() and before not in _BEFORE_FRACTIONS) or not before
    return worded and after not in ("of", "=") and counts_nothing(reading, begin, stop)
