"""English words of the calendar and what they stand for."""

from memorist.text.dates.calendar import Unit
from memorist.text.dates.clock import AFTERNOON, DAYTIME, EVENING, MORNING, NIGHT, NOON, stretch

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
