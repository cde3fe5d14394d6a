"""Numbers in words and numerals, English and Chinese."""

from collections.abc import Iterator, Sequence

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_SMALL_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS_ORDINALS = "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"

CARDINALS = {word: number for number, word in enumerate(_SMALL.split())} | {
    word: 10 * number for number, word in enumerate(_TENS.split(), 2)
}
ORDINALS = {word: number for number, word in enumerate(_SMALL_ORDINALS.split(), 1)} | {
    word: 10 * number for number, word in enumerate(_TENS_ORDINALS.split(), 2)
}
ORDINAL_SUFFIXES = frozenset({"st", "nd", "rd", "th"})
_LONGEST_SPELLING = 10

_CHINESE_DIGITS = {sign: number for number, sign in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "元": 1,  # the first year of a reign
    "廿": 20,
    "卅": 30,
}
_CHINESE_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
CHINESE_NUMERALS = frozenset(_CHINESE_DIGITS) - {"元"} | frozenset(_CHINESE_SCALES)
_LONGEST_NUMERAL = 9


def spelled(keys: Sequence[str], place: int) -> Iterator[tuple[int, int, bool]]:
    """Numbers in English words from a place on: where each stops, its value, and if it is an ordinal.

    "two thousand and fifteen" gives 2, 2000 and 2015; "twenty-first" gives 20 and (ordinal) 21.
    """
    total, current, room = 0, 0, 1_000_000  # `room`: the next word must be worth less
    for stop in range(place, min(place + _LONGEST_SPELLING, len(keys))):
        word = keys[stop]
        value = CARDINALS.get(word, ORDINALS.get(word))
        if value is not None and value < room:
            current += value
            room = 10 if value >= 20 else 0
        elif word == "hundred" and 0 < current < 100:
            current, room = 100 * current, 100
        elif word == "thousand" and not total and current:
            total, current, room = 1000 * current, 0, 1000
        elif (word == "-" and room == 10) or (word == "and" and room in (100, 1000)):
            continue
        else:
            return
        yield stop + 1, total + current, word in ORDINALS
        if word in ORDINALS:
            return


def chinese_number(numeral: str) -> int | None:
    """The value of Chinese numerals: by scales (二十三, 两千零五) or digit by digit (二零一六)."""
    if not any(sign in _CHINESE_SCALES for sign in numeral):
        return _by_digits(numeral)
    total, current = 0, 0
    for sign in numeral:
        scale = _CHINESE_SCALES.get(sign)
        if scale is None:
            current += _CHINESE_DIGITS[sign]
        elif scale == 10_000:
            total, current = (total + current) * scale, 0
        else:
            total, current = total + (current or 1) * scale, 0
    return total + current


def _by_digits(numeral: str) -> int | None:
    digits = [_CHINESE_DIGITS[sign] for sign in numeral]
    if len(digits) == 2 and digits[0] in (20, 30):
        return sum(digits)
    if len(digits) > 1 and max(digits) > 9:
        return None
    return int("".join(map(str, digits)))


def numeral_run(keys: Sequence[str], place: int) -> int:
    """Where a run of Chinese numerals from a place on stops."""
    stop = place
    while stop < len(keys) and keys[stop] in CHINESE_NUMERALS and stop - place < _LONGEST_NUMERAL:
        stop += 1
    return stop


def full_year(number: int, now: int) -> int:
    """A year of two digits in full: at most twenty years ahead of `now`, else in the past."""
    if number >= 100:
        return number
    century = now - now % 100
    return century + number if century + number <= now + 20 else century + number - 100
