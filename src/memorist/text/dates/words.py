"""The words that dates are made of in both languages, and guards against what only looks like a date."""

from itertools import pairwise, takewhile
from typing import Literal

from memorist.text.dates.calendar import Unit
from memorist.text.dates.clock import AFTERNOON, DAWN, DAYTIME, EVENING, MORNING, NIGHT, NOON, stretch
from memorist.text.dates.grammar import ParseState, free_after
from memorist.text.dates.numbers import CARDINALS, CHINESE_NUMERALS, ORDINAL_SUFFIXES, ORDINALS, Share
from memorist.text.patterns import lazy

Tense = Literal["past", "future"]

_MONTH_NAMES = (
    "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
    "august aug", "september sep sept", "october oct", "november nov", "december dec",
)  # fmt: skip
_WEEKDAY_NAMES = (
    "monday mon", "tuesday tue tues", "wednesday wed weds", "thursday thu thur thurs", "friday fri",
    "saturday sat", "sunday sun",
)  # fmt: skip


def _numbered(names: tuple[str, ...], first: int) -> dict[str, int]:
    """Names and abbreviations; abbreviations with and without a full stop."""
    table = {name: number for number, line in enumerate(names, first) for name in line.split()}
    return table | {f"{name}.": number for name, number in table.items() if len(name) < 6 and name != "may"}


MONTHS = _numbered(_MONTH_NAMES, 1)
WEEKDAYS = _numbered(_WEEKDAY_NAMES, 0)
PLURAL_WEEKDAYS = {f"{name}s": number for name, number in WEEKDAYS.items() if name.endswith("day")}

WEAK = frozenset({"may", "march", "mar", "sat", "sun", "wed", "mon", "spring", "fall", "dec", "jan"})
"""Names that are also ordinary words: on their own they need a preposition."""

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
    "several": 3, "some": 3, "half a": 0.5, "half an": 0.5, "a dozen": 12, "a hundred": 100,
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
"""Words that may follow a bare year or day number; before a noun, the number is a count."""


_LATE_EVENING = stretch(18, 24, "pm")

CHINESE_WEEKDAYS = {
    f"{week}{sign}": number
    for week in ("周", "星期", "礼拜")
    for sign, number in zip("一二三四五六日天", (0, 1, 2, 3, 4, 5, 6, 6), strict=True)
}
CHINESE_UNITS = {
    "秒": Unit.SECOND, "秒钟": Unit.SECOND, "分钟": Unit.MINUTE,
    "小时": Unit.HOUR, "钟头": Unit.HOUR, "天": Unit.DAY, "工作日": Unit.BUSINESS_DAY,
    "周": Unit.WEEK, "星期": Unit.WEEK, "礼拜": Unit.WEEK, "月": Unit.MONTH, "季度": Unit.QUARTER,
    "年": Unit.YEAR, "世纪": Unit.CENTURY,
}  # fmt: skip
CHINESE_PERIOD_UNITS = {
    "周": Unit.WEEK, "星期": Unit.WEEK, "礼拜": Unit.WEEK, "月": Unit.MONTH, "季度": Unit.QUARTER, "季": Unit.QUARTER,
    "年": Unit.YEAR, "年度": Unit.YEAR, "世纪": Unit.CENTURY, "周末": Unit.WEEKEND, "半年": Unit.HALF,
    "星期末": Unit.WEEKEND, "小时": Unit.HOUR, "钟头": Unit.HOUR, "分钟": Unit.MINUTE,
}  # fmt: skip
CHINESE_RELATIONS = {
    "上上": -2, "上上个": -2, "上": -1, "上个": -1, "上一": -1, "上一个": -1, "前一个": -1, "前一": -1,
    "这": 0, "这个": 0, "这一": 0, "本": 0, "当": 0, "当前": 0, "今": 0, "这一个": 0,
    "下": 1, "下个": 1, "下一": 1, "下一个": 1, "后一个": 1, "后一": 1, "下下": 2, "下下个": 2,
}  # fmt: skip
CHINESE_YEARS = {
    "大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "本年度": 0, "明年": 1, "来年": 1,
    "后年": 2, "大后年": 3,
}  # fmt: skip
CHINESE_DAYS = {
    "大前天": -3, "前天": -2, "前日": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "当天": 0, "当日": 0,
    "明天": 1, "明日": 1, "后天": 2, "后日": 2, "大后天": 3,
}  # fmt: skip
CHINESE_SHORT_DAYS = {"昨": -1, "今": 0, "明": 1}
"""One-character days, used before a part of the day: 昨晚, 今早."""
CHINESE_DAY_PARTS = {
    "凌晨": DAWN, "拂晓": DAWN, "清晨": MORNING, "早晨": MORNING, "早上": MORNING, "早间": MORNING, "上午": MORNING,
    "午前": MORNING, "中午": NOON, "正午": NOON, "下午": AFTERNOON, "午后": AFTERNOON, "午间": NOON,
    "傍晚": EVENING, "黄昏": EVENING, "晚上": _LATE_EVENING, "晚间": _LATE_EVENING, "夜晚": _LATE_EVENING,
    "夜里": _LATE_EVENING, "夜间": _LATE_EVENING, "深夜": _LATE_EVENING, "半夜": _LATE_EVENING,
}  # fmt: skip
CHINESE_SHORT_DAY_PARTS = {"早": MORNING, "晚": _LATE_EVENING, "夜": _LATE_EVENING, "午": NOON, "晨": MORNING}
CHINESE_SEASONS = {
    f"{sign}{suffix}": month for sign, month in zip("春夏秋冬", (3, 6, 9, 12), strict=True) for suffix in ("天", "季")
}
CHINESE_SHARES = {
    "初": Share.EARLY, "年初": Share.EARLY, "月初": Share.EARLY, "初期": Share.EARLY, "早期": Share.EARLY,
    "前期": Share.EARLY, "伊始": Share.EARLY, "周初": Share.EARLY,
    "中": Share.MID, "年中": Share.MID, "月中": Share.MID, "中期": Share.MID, "中叶": Share.MID,
    "底": Share.LATE, "末": Share.LATE, "年底": Share.LATE, "年末": Share.LATE, "月底": Share.LATE, "月末": Share.LATE,
    "末期": Share.LATE, "后期": Share.LATE, "晚期": Share.LATE, "末尾": Share.LATE, "末年": Share.LATE,
}  # fmt: skip
CHINESE_ERAS = {
    "贞观": 627, "永徽": 650, "神龙": 705, "开元": 713, "天宝": 742, "建隆": 960, "熙宁": 1068, "崇宁": 1102,
    "靖康": 1126, "建炎": 1127, "绍兴": 1131, "至元": 1264, "洪武": 1368, "建文": 1399, "永乐": 1403, "洪熙": 1425,
    "宣德": 1426, "正统": 1436, "景泰": 1450, "天顺": 1457, "成化": 1465, "弘治": 1488, "正德": 1506, "嘉靖": 1522,
    "隆庆": 1567, "万历": 1573, "泰昌": 1620, "天启": 1621, "崇祯": 1628, "顺治": 1644, "康熙": 1662, "雍正": 1723,
    "乾隆": 1736, "嘉庆": 1796, "道光": 1821, "咸丰": 1851, "同治": 1862, "光绪": 1875, "宣统": 1909, "民国": 1912,
    "中华民国": 1912, "公元": 1,
}  # fmt: skip
"""Eras and their first years; the years of an era are taken as Gregorian years."""


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


def is_glued(reading: ParseState, begin: int, stop: int) -> bool:
    """Whether there is no space inside."""
    return all(reading.tokens.glued(place) for place in range(begin + 1, stop))


def nothing_follows(reading: ParseState, _begin: int, stop: int) -> bool:
    """Whether punctuation or the end of the text follows."""
    return not reading.key(stop)[:1].isalnum()


def counts_nothing(reading: ParseState, _begin: int, stop: int) -> bool:
    """Whether no noun follows that the number may count."""
    after = reading.key(stop)
    if after == "-" and reading.tokens.glued(stop):
        after = reading.key(stop + 1)
    return not after[:1].isalpha() or after in FUNCTION_WORDS


def is_english_date(reading: ParseState, begin: int, stop: int) -> bool:
    """Whether an expression on its own cannot be ordinary words or numbers."""
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


def _is_counted_day(reading: ParseState, begin: int, stop: int, keys: list[str]) -> bool:
    """Whether `the 2nd`, `the 90s` or a number in words is a date; anything longer is."""
    before = reading.key(begin - 1)
    if len(keys) == 2 and keys[1] in ORDINAL_SUFFIXES:
        return counts_nothing(reading, begin, stop)
    if keys == ["#2", "s"]:
        return before in ("the", "in", "of", "since", "during")
    if all(key in _NUMBER_WORDS for key in keys):
        return keys[-1] not in ORDINALS and before in _YEAR_PREPOSITIONS
    return True


def is_english_range(reading: ParseState, begin: int, stop: int) -> bool:
    """Whether the end of a range does not count something else (`until the 23rd person`)."""
    last = reading.key(stop - 1)
    if last in ORDINAL_SUFFIXES and not counts_nothing(reading, begin, stop):
        return False
    if last in ORDINALS and MONTHS.keys().isdisjoint(reading.tokens.keys[begin:stop]):
        return False
    return free_after(reading, begin, stop)


def is_limit(reading: ParseState, begin: int, _stop: int) -> bool:
    """Whether it is `up to today`, not `what are you up to today`."""
    return reading.key(begin - 1) not in _UP_TO_SOMETHING


def is_told(reading: ParseState, _begin: int, stop: int) -> bool:
    """Whether it is `30 minutes later`, not `later this week` or `later than`."""
    return reading.key(stop) not in ("this", "today", "tonight", "in", "on", "than", "next", "tomorrow")


def to_this_day(reading: ParseState, begin: int, stop: int) -> bool:
    """Whether it is `sales to date`, not `someone to date`."""
    return reading.key(begin - 1) not in _WISHING and nothing_follows(reading, begin, stop)


def free_pair(reading: ParseState, begin: int, stop: int) -> bool:
    """Whether it is `on 4-22`, not `in 4.22 seconds`."""
    return free_after(reading, begin, stop) and counts_nothing(reading, begin, stop)


def _is_name(reading: ParseState, begin: int, stop: int) -> bool:
    """Whether `May`, `March` or `Sat` follows a preposition, or is a capitalised weekday."""
    before, raw = reading.key(begin - 1), reading.tokens.raw(begin)
    if reading.key(stop) == "'":
        return False
    if before == "the" and reading.key(begin) in SEASONS:
        return reading.key(begin - 2) in PREPOSITIONS
    if before in PREPOSITIONS:
        return before not in ("to", "as", "than", "at") and (before != "this" or raw[0].isupper())
    return reading.key(begin) in WEEKDAYS and raw[0].isupper() and before not in _SENTENCE_START


def _is_year(reading: ParseState, begin: int, stop: int) -> bool:
    """Whether `2016` follows a preposition or counts nothing."""
    before = reading.key(begin - 1)
    if before in _COUNTING:
        return False
    if before in _YEAR_PREPOSITIONS:
        return True
    return 1900 <= int(reading.tokens.raw(begin)) < 2100 and counts_nothing(reading, begin, stop)


def _is_day_pair(reading: ParseState, begin: int, stop: int) -> bool:
    """Whether `5/8` is a day, not a fraction: it follows a word and precedes neither `of` nor a noun."""
    before, after = reading.key(begin - 1), reading.key(stop)
    if before == "on":
        return True
    worded = (before[:1].isalpha() and before not in _BEFORE_FRACTIONS) or not before
    return worded and after not in ("of", "=") and counts_nothing(reading, begin, stop)


_INSIDE_WORDS = frozenset("一以马之路晚早天地身加世线楼网船车最然过此今先日年月个元史")
_BEFORE_NAMES = frozenset("第罗型字编代舟速路道")
_NUMBERED_THINGS = frozenset("线楼房门店机车站院公球建铁馆厂州桌床院位选")


def is_chinese_date(reading: ParseState, begin: int, stop: int) -> bool:
    """Whether the expression does not begin or end inside a longer number."""
    before = reading.key(begin - 1)
    goes_on = before in CHINESE_NUMERALS or before.startswith("#")
    return not (goes_on and reading.key(begin) in CHINESE_NUMERALS) and free_after(reading, begin, stop)


def is_numbered_day(reading: ParseState, begin: int, stop: int) -> bool:
    """Whether `2号` is a day, not the name of a line, a house or a spaceship."""
    return reading.key(begin - 1) not in _BEFORE_NAMES and reading.key(stop) not in _NUMBERED_THINGS


def begins_chinese_word(reading: ParseState, begin: int, _stop: int) -> bool:
    """Whether `上`, `下`, `前` or `后` is a word, not the end of 一下, 马上 or 最后."""
    return reading.key(begin - 1) not in _INSIDE_WORDS


_PAST = words_of(
    "did was were had been ate became began bought broke brought built came caught chose cost died drank drew"
    " drove fell fed felt flew forgot fought found gave got grew heard held kept knew left lent lost made met paid"
    " ran rang read rode said sang sat saw sent showed slept sold spent spoke stood stole swam taught thought"
    " threw told took went won woke wore wrote gone seen done given taken eaten begun broken"
)
_FUTURE = words_of(
    "will ll shall gonna going should must can could may might needs wants plans planning hopes is are am s re does"
    " doing lets please due has wo becomes starts opens closes comes coming goes arrives leaves flies moves meets"
    " booked planned scheduled arranged postponed rescheduled invited until till"
)
_BARE = words_of("go come move meet leave start open close arrive fly ask remind book plan need want hope have do let")
"""Verbs that are present on their own, but not after `did`."""
_PASSIVE = words_of("is are be being s re get gets getting to")
_NOT_PARTICIPLES = words_of("need feed speed indeed bed red shed breed seed bleed wed wicked exceed proceed hundred")
_TOWARDS = words_of("to until till by due")
_PAST_SIGNS, _FUTURE_SIGNS = frozenset("了过"), frozenset("要会将")
_SPOKEN = lazy(
    r"[a-z]+|(?<![开聚约机社学协国大年晚宴])会(?![议员场计谈])|(?<![重主])要(?!求)|了(?!解)|[过将]|[.!?,;:。，！？；：()\n]"
)
"""Words and signs of a clause; 会 is no verb in 开会 or 会议, nor 要 in 重要."""
_STOPS = frozenset(".!?,;:。，！？；：()\n")
_NEARBY = 120


def tense_around(text: str, begin: int, stop: int) -> Tense | None:
    """Whether the verb beside a date speaks of the past or of the future; None if there is none.

    The last verb before it in its clause decides, otherwise the first one after it in its sentence; in Chinese the verb
    follows. `to`, `by` and `until` point ahead: what was moved to Friday is to come.
    """
    before = _SPOKEN.findall(text[max(0, begin - _NEARBY) : begin].lower())
    if before and before[-1] in _TOWARDS:
        return "future"
    clause = [*takewhile(lambda word: word not in _STOPS, reversed(before)), ""]
    clause = [word for word in clause if word.isascii()]
    after = _SPOKEN.findall(text[stop : stop + _NEARBY].lower())
    rest = [*takewhile(lambda word: word == "," or word not in _STOPS, after)]
    pairs = [*pairwise(clause), *((word, last) for last, word in pairwise(["", *rest]))]
    for word, earlier in pairs:
        if found := _tense(word, earlier):
            return found
    return "future" if any(word in _BARE for word, _ in pairs) else None


def _tense(word: str, before: str) -> Tense | None:
    if word in _FUTURE or word in _FUTURE_SIGNS:
        return "future"
    if word in _PAST or word in _PAST_SIGNS or (word.endswith("ed") and word not in _NOT_PARTICIPLES):
        return "future" if before in _PASSIVE else "past"
    return None
