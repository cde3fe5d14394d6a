"""What counts as a date in English, and what looks like one and does not."""

from memorist.text.dates.english.atoms import english
from memorist.text.dates.english.guards import at_end, clear, clear_range, free_pair
from memorist.text.dates.english.lexicon import PLURAL_WEEKDAYS
from memorist.text.dates.guards import free_after
from memorist.text.dates.values import NOTHING, Context, Recurring, monthly

rule = english.rule

_NO_DATES = ("weekends", "weekdays", "up-to-date", "up to date", "out of date", "day after day")
english.words("no_date", dict.fromkeys((*PLURAL_WEEKDAYS, *_NO_DATES), NOTHING))
english.ignore(
    "no_date",
    "every|each|any [other] <moment>",
    "every|each|any [other] <unit>",
    "every|each|any <ordinal> <unit>",
    "every|each|any <amount>",
    "every|each|any <day_part>",
    "every|each|any <weekday> [, <weekday>] [, <weekday>] [,] and|or|& <weekday> [[at] <settled_clock>]",
    "<weekday> mornings|afternoons|evenings|nights",
    "<number> weekends",
    "<number> <unit> a|per <unit>",
)


@rule("lone_number", "on <two_figures>", "on the <day_figure>", when=at_end)
def lone_number(_: Context, number: int) -> Recurring | None:
    """`on the 15`."""
    return monthly(number) if 1 <= number <= 31 else None


english.union("expression", "<interval>", when=free_after)
english.union("expression", "<moment>", when=clear)
english.union("expression", "<span>", when=clear_range)
english.union("expression", "for the <this_unit>", when=at_end)
english.union("expression", "<lone_number>", when=free_after)
english.union("expression", "on|in <pair_day>", when=free_pair)
english.union("expression", "<no_date>")
