"""Chinese: words of dates."""

from collections.abc import Iterator

from memorist.text.dates import numbers
from memorist.text.dates.calendar import Unit
from memorist.text.dates.clock import AFTERNOON, DAWN, EVENING, MORNING, NOON, clock, stretch
from memorist.text.dates.grammar import Grammar, Reading, free_after
from memorist.text.dates.holidays import CHINESE_HOLIDAYS
from memorist.text.dates.numbers import CHINESE_NUMERALS, Share, chinese_number, full_year, numeral_run
from memorist.text.patterns import lazy

_LATE_EVENING = stretch(18, 24, "pm")

WEEKDAYS = {
    f"{week}{sign}": number
    for week in ("周", "星期", "礼拜")
    for sign, number in zip("一二三四五六日天", (0, 1, 2, 3, 4, 5, 6, 6), strict=True)
}
UNITS = {
    "秒": Unit.SECOND, "秒钟": Unit.SECOND, "分钟": Unit.MINUTE,
    "小时": Unit.HOUR, "钟头": Unit.HOUR, "天": Unit.DAY, "工作日": Unit.BUSINESS_DAY,
    "周": Unit.WEEK, "星期": Unit.WEEK, "礼拜": Unit.WEEK, "月": Unit.MONTH, "季度": Unit.QUARTER,
    "年": Unit.YEAR, "世纪": Unit.CENTURY,
}  # fmt: skip
PERIOD_UNITS = {
    "周": Unit.WEEK, "星期": Unit.WEEK, "礼拜": Unit.WEEK, "月": Unit.MONTH, "季度": Unit.QUARTER, "季": Unit.QUARTER,
    "年": Unit.YEAR, "年度": Unit.YEAR, "世纪": Unit.CENTURY, "周末": Unit.WEEKEND, "半年": Unit.HALF,
    "星期末": Unit.WEEKEND, "小时": Unit.HOUR, "钟头": Unit.HOUR, "分钟": Unit.MINUTE,
}  # fmt: skip
RELATIONS = {
    "上上": -2, "上上个": -2, "上": -1, "上个": -1, "上一": -1, "上一个": -1, "前一个": -1, "前一": -1,
    "这": 0, "这个": 0, "这一": 0, "本": 0, "当": 0, "当前": 0, "今": 0, "这一个": 0,
    "下": 1, "下个": 1, "下一": 1, "下一个": 1, "后一个": 1, "后一": 1, "下下": 2, "下下个": 2,
}  # fmt: skip
YEARS = {
    "大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "本年度": 0, "明年": 1, "来年": 1,
    "后年": 2, "大后年": 3,
}  # fmt: skip
DAYS = {
    "大前天": -3, "前天": -2, "前日": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "当天": 0, "当日": 0,
    "明天": 1, "明日": 1, "后天": 2, "后日": 2, "大后天": 3,
}  # fmt: skip
SHORT_DAYS = {"昨": -1, "今": 0, "明": 1}
"""Days in one character, before a part of the day: 昨晚, 今早."""
DAY_PARTS = {
    "凌晨": DAWN, "拂晓": DAWN, "清晨": MORNING, "早晨": MORNING, "早上": MORNING, "早间": MORNING, "上午": MORNING,
    "午前": MORNING, "中午": NOON, "正午": NOON, "下午": AFTERNOON, "午后": AFTERNOON, "午间": NOON,
    "傍晚": EVENING, "黄昏": EVENING, "晚上": _LATE_EVENING, "晚间": _LATE_EVENING, "夜晚": _LATE_EVENING,
    "夜里": _LATE_EVENING, "夜间": _LATE_EVENING, "深夜": _LATE_EVENING, "半夜": _LATE_EVENING,
}  # fmt: skip
SHORT_DAY_PARTS = {"早": MORNING, "晚": _LATE_EVENING, "夜": _LATE_EVENING, "午": NOON, "晨": MORNING}
SEASONS = {
    f"{sign}{suffix}": month for sign, month in zip("春夏秋冬", (3, 6, 9, 12), strict=True) for suffix in ("天", "季")
}
SHARES = {
    "初": Share.EARLY, "年初": Share.EARLY, "月初": Share.EARLY, "初期": Share.EARLY, "早期": Share.EARLY,
    "前期": Share.EARLY, "伊始": Share.EARLY, "周初": Share.EARLY,
    "中": Share.MID, "年中": Share.MID, "月中": Share.MID, "中期": Share.MID, "中叶": Share.MID,
    "底": Share.LATE, "末": Share.LATE, "年底": Share.LATE, "年末": Share.LATE, "月底": Share.LATE, "月末": Share.LATE,
    "末期": Share.LATE, "后期": Share.LATE, "晚期": Share.LATE, "末尾": Share.LATE, "末年": Share.LATE,
}  # fmt: skip
ERAS = {
    "贞观": 627, "永徽": 650, "神龙": 705, "开元": 713, "天宝": 742, "建隆": 960, "熙宁": 1068, "崇宁": 1102,
    "靖康": 1126, "建炎": 1127, "绍兴": 1131, "至元": 1264, "洪武": 1368, "建文": 1399, "永乐": 1403, "洪熙": 1425,
    "宣德": 1426, "正统": 1436, "景泰": 1450, "天顺": 1457, "成化": 1465, "弘治": 1488, "正德": 1506, "嘉靖": 1522,
    "隆庆": 1567, "万历": 1573, "泰昌": 1620, "天启": 1621, "崇祯": 1628, "顺治": 1644, "康熙": 1662, "雍正": 1723,
    "乾隆": 1736, "嘉庆": 1796, "道光": 1821, "咸丰": 1851, "同治": 1862, "光绪": 1875, "宣统": 1909, "民国": 1912,
    "中华民国": 1912, "公元": 1,
}  # fmt: skip
"""Reigns and their first year; a reign's years are read as those of the Gregorian calendar."""


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


chinese = Grammar()
"""The rules of Chinese, filled by the files of this package."""

for _name, _table in (
    ("weekday", WEEKDAYS),
    ("unit", UNITS),
    ("period_unit", PERIOD_UNITS),
    ("relation", RELATIONS),
    ("year_word", YEARS),
    ("day_word", DAYS),
    ("short_day", SHORT_DAYS),
    ("day_part", DAY_PARTS),
    ("short_part", SHORT_DAY_PARTS),
    ("season", SEASONS),
    ("share", SHARES),
    ("era", ERAS),
    ("holiday", CHINESE_HOLIDAYS),
):
    chinese.words(_name, _table)

_SHORT = ("#1", "#2")
_NUMERALS = dict.fromkeys(CHINESE_NUMERALS, CHINESE_NUMERALS)
_TIME = lazy(r"(\d{1,2})[:：](\d\d)(?:[:：](\d\d))?(?!\d)")

Found = Iterator[tuple[int, object]]


@chinese.terminal("number", alone=(*_SHORT, "#3", "#4", *CHINESE_NUMERALS), then=_NUMERALS)
def _number(reading: Reading, place: int) -> Found:
    if reading.key(place).startswith("#"):
        yield place + 1, int(reading.tokens.raw(place))
        return
    stop = numeral_run(reading.tokens.keys, place)
    value = chinese_number("".join(reading.tokens.keys[place:stop]))
    if value is not None:
        yield stop, value


@chinese.terminal("small", alone=(*_SHORT, *CHINESE_NUMERALS), then=_NUMERALS)
def _small(reading: Reading, place: int) -> Found:
    yield from ((stop, value) for stop, value in _number(reading, place) if value in range(60))


def _digits(reading: Reading, place: int, length: int) -> tuple[int, int] | None:
    """A number written with just so many digits, in figures or Chinese signs."""
    tokens = reading.tokens
    if reading.key(place) == f"#{length}":
        return place + 1, int(tokens.raw(place))
    stop = numeral_run(tokens.keys, place)
    signs = "".join(tokens.keys[place:stop])
    if len(signs) != length or any(sign in "十百千万廿卅两" for sign in signs):
        return None
    value = chinese_number(signs)
    return None if value is None else (stop, value)


@chinese.terminal("figure", alone=_SHORT)
def _figure(reading: Reading, place: int) -> Found:
    yield place + 1, int(reading.tokens.raw(place))


@chinese.terminal("four_digits", alone=("#4",), then=_NUMERALS)
def _four_digits(reading: Reading, place: int) -> Found:
    found = _digits(reading, place, 4)
    if found and 1000 <= found[1] < 3000:
        yield found


@chinese.terminal("two_digits", alone=("#2",), then=_NUMERALS)
def _two_digits(reading: Reading, place: int) -> Found:
    """A year in two digits."""
    found = _digits(reading, place, 2)
    if found:
        yield found[0], full_year(found[1], reading.context.now.year)


@chinese.terminal("sure_two_digits", alone=("#2",), then=_NUMERALS)
def _sure_two_digits(reading: Reading, place: int) -> Found:
    """A year in two digits that is no count of years: 08, 98."""
    found = _digits(reading, place, 2)
    if found and (found[1] < 10 or found[1] > 60):
        yield found[0], full_year(found[1], reading.context.now.year)


@chinese.terminal("full_date", alone=("#8",), then=dict.fromkeys(("#1", "#2", "#4"), "-/."))
def _full_date(reading: Reading, place: int) -> Found:
    text, begin = reading.tokens.text, reading.tokens.begins[place]
    for offset, value in (*numbers.full_dates(text, begin, reading.context), *numbers.month_dates(text, begin)):
        stop = reading.tokens.place_after(place, offset)
        if stop:
            yield stop, value


@chinese.terminal("slash_day", then=dict.fromkeys(_SHORT, "/"))
def _slash_day(reading: Reading, place: int) -> Found:
    for offset, value in numbers.day_pairs(reading.tokens.text, reading.tokens.begins[place], "/"):
        stop = reading.tokens.place_after(place, offset)
        if stop:
            yield stop, value


@chinese.terminal("time", then=dict.fromkeys(_SHORT, ":"))
def _time(reading: Reading, place: int) -> Found:
    tokens = reading.tokens
    found = _TIME.match(tokens.text, tokens.begins[place])
    stop = tokens.place_after(place, found.end()) if found else None
    if found and stop and int(found[1]) <= 24 and int(found[2]) < 60:
        yield stop, clock(int(found[1]), int(found[2]), int(found[3]) if found[3] else None)
