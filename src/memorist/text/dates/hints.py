"""A fast look at a text: may it name a date at all?"""

import re

from memorist.text.dates.english.lexicon import (
    DAY_PARTS,
    DECADE_WORDS,
    DEICTICS,
    MONTHS,
    PLURAL_WEEKDAYS,
    SEASONS,
    UNITS,
    WEEKDAYS,
)
from memorist.text.dates.holidays import CHINESE_HOLIDAYS, ENGLISH_HOLIDAYS
from memorist.text.dates.numbers import CARDINALS, CHINESE_NUMERALS
from memorist.text.dates.tokens import CJK, DIGITS, VARIANTS

_WORD = re.compile(r"[a-z]+")
_OTHER_WORDS = "tonight tonite midnight eod eom eoy eow cob ytd mtd now moment present date time hundred thousand"
_HINTS = {
    *(
        max(_WORD.findall(phrase), key=len)
        for table in (MONTHS, WEEKDAYS, PLURAL_WEEKDAYS, UNITS, SEASONS, DECADE_WORDS, DEICTICS, DAY_PARTS)
        for phrase in (*table, *ENGLISH_HOLIDAYS)
    ),
    *(word for word, number in CARDINALS.items() if number > 10),
    *_OTHER_WORDS.split(),
}
_NUMERAL_HOLIDAYS = "五一|六一"
_PLAIN_SIGNS = {
    *"年月日号天周期礼纪季昨今明午夜晚早点时旬钟秒末",
    *(next((sign for sign in reversed(name) if sign not in CHINESE_NUMERALS), name[0]) for name in CHINESE_HOLIDAYS),
}
_SIGNS = _PLAIN_SIGNS | {variant for variant, plain in VARIANTS.items() if plain in _PLAIN_SIGNS}
_SIGN = re.compile(f"[{DIGITS}{''.join(sorted(_SIGNS))}]|{_NUMERAL_HOLIDAYS}")
_CHINESE = re.compile(f"[{CJK}]")


def may_hold_dates(text: str) -> bool:
    """Whether a text has a figure or a word that dates are made of; false for most texts without one."""
    return bool(_SIGN.search(text)) or not _HINTS.isdisjoint(_WORD.findall(text.lower()))


def has_chinese(text: str) -> bool:
    """Whether a text has Chinese characters."""
    return bool(_CHINESE.search(text))
