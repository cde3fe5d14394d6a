"""When Chinese signs are dates: by the signs around them."""

from memorist.text.dates.grammar import Reading
from memorist.text.dates.guards import free_after
from memorist.text.dates.numbers import CHINESE_NUMERALS

_INSIDE_WORDS = frozenset("一以马之路晚早天地身加世线楼网船车最然过此今先日年月个元史")
_BEFORE_NAMES = frozenset("第罗型字编代舟速路道")
_NUMBERED_THINGS = frozenset("线楼房门店机车站院公球建铁馆厂州桌床院位选")


def clear(reading: Reading, begin: int, stop: int) -> bool:
    """A numeral at the beginning is read whole."""
    before = reading.key(begin - 1)
    goes_on = before in CHINESE_NUMERALS or before.startswith("#")
    return not (goes_on and reading.key(begin) in CHINESE_NUMERALS) and free_after(reading, begin, stop)


def numbers_day(reading: Reading, begin: int, stop: int) -> bool:
    """`2号` as a day, not as the name of a line, a house or a spaceship."""
    return reading.key(begin - 1) not in _BEFORE_NAMES and reading.key(stop) not in _NUMBERED_THINGS


def at_end(reading: Reading, _begin: int, stop: int) -> bool:
    """No word or Chinese sign follows."""
    return not reading.key(stop)[:1].isalnum()


def begins_word(reading: Reading, begin: int, _stop: int) -> bool:
    """`上`, `下`, `前` and `后` as words, not as the end of 一下, 马上, 最后."""
    return reading.key(begin - 1) not in _INSIDE_WORDS
