"""Holidays with computable dates, and their names in both languages."""

from collections.abc import Callable
from datetime import datetime, timedelta

from memorist.text.dates import calendar
from memorist.text.dates.calendar import Period, Unit
from memorist.text.dates.values import Recurring, yearly


def _fixed(months: int, days: int) -> Recurring:
    return yearly(lambda year: calendar.day(year, months, days))


def _floating(months: int, weekday: int, number: int, shift: int = 0) -> Recurring:
    def pick(year: int) -> Period | None:
        found = calendar.nth_weekday(calendar.month(year, months), weekday, number)
        return calendar.unit_around(found.start + timedelta(days=shift), Unit.DAY) if found else None

    return yearly(pick)


def _from_easter(days: int) -> Recurring:
    return yearly(lambda year: calendar.unit_around(calendar.easter(year) + timedelta(days=days), Unit.DAY))


def _lunar(months: int, days: int) -> Recurring:
    return yearly(lambda year: calendar.chinese_day(year, months, days))


def _lunar_eve(year: int) -> Period | None:
    first = calendar.chinese_day(year, 1, 1)
    return calendar.unit_around(first.start - timedelta(days=1), Unit.DAY) if first else None


def _islamic(months: int, days: int) -> Recurring:
    return yearly(lambda year: calendar.islamic_day(year, months, days))


def _election(year: int) -> Period:
    first_monday = 1 + -datetime(year, 11, 1).weekday() % 7
    return calendar.day(year, 11, first_monday + 1)


_MON, _THU, _FRI, _SUN = 0, 3, 4, 6

_NAMES: tuple[tuple[Recurring, str, str], ...] = (
    (_fixed(1, 1), "new year, new year day, new year's day, new years day, new years, new year's",
     "元旦, 元旦节, 新年"),
    (_fixed(12, 31), "new year's eve, new years eve, new year eve", "跨年夜"),
    (_fixed(1, 6), "epiphany", ""),
    (_floating(1, _MON, 3), "martin luther king day, martin luther king jr day, mlk day", "马丁路德金日"),
    (_fixed(2, 2), "groundhog day", "土拨鼠日"),
    (_fixed(2, 14), "valentine's day, valentines day, valentine's, valentine day", "情人节"),
    (_floating(2, _MON, 3), "presidents day, president's day, presidents' day, washington's birthday", "总统日"),
    (_fixed(3, 8), "women's day, international women's day, womens day", "妇女节, 三八妇女节, 三八节"),
    (_fixed(3, 12), "tree planting day", "植树节"),
    (_fixed(3, 14), "white day, pi day", "白色情人节"),
    (_fixed(3, 17), "st patrick's day, saint patrick's day, st. patrick's day, saint patrick, st patrick,"
     " st. patrick, st patricks day, saint patricks day, patrick's day", "圣帕特里克节"),
    (_fixed(4, 1), "april fools, april fools day, april fool's day, april fools' day", "愚人节"),
    (_fixed(4, 22), "earth day", "地球日, 世界地球日"),
    (_fixed(5, 1), "international workers' day, international workers day, workers' day, workers day,"
     " international labour day, may day", "劳动节, 五一, 五一劳动节, 五一节"),
    (_fixed(5, 4), "youth day", "青年节, 五四青年节"),
    (_fixed(5, 5), "cinco de mayo", ""),
    (_floating(5, _SUN, 2), "mother's day, mothers day, mothers' day", "母亲节"),
    (_floating(5, _MON, -1), "memorial day", "阵亡将士纪念日"),
    (_fixed(6, 1), "children's day, childrens day", "儿童节, 六一, 六一儿童节"),
    (_floating(6, _SUN, 3), "father's day, fathers day, fathers' day", "父亲节"),
    (_fixed(6, 14), "flag day", ""),
    (_fixed(6, 19), "juneteenth", ""),
    (_fixed(7, 1), "canada day", "建党节"),
    (_fixed(7, 4), "independence day, american independence day, us independence day", "独立日, 美国独立日"),
    (_fixed(7, 14), "bastille day", ""),
    (_fixed(8, 1), "", "建军节"),
    (_floating(9, _MON, 1), "labor day, labour day", "美国劳动节"),
    (_fixed(9, 10), "teacher's day, teachers' day, teachers day", "教师节"),
    (_floating(10, _MON, 2), "columbus day, indigenous peoples' day, indigenous peoples day", "哥伦布日"),
    (_fixed(10, 1), "china's national day, chinese national day", "国庆, 国庆节, 十一国庆, 十一国庆节"),
    (_fixed(10, 31), "halloween, hallowe'en, halloween night, halloween day, all hallows' eve", "万圣夜, 万圣节前夜"),
    (_fixed(11, 1), "all saints' day, all saints day, all hallows' day", "万圣节"),
    (_fixed(11, 2), "all souls' day, all souls day", ""),
    (_fixed(11, 5), "guy fawkes night, guy fawkes day, bonfire night", ""),
    (yearly(_election), "election day", ""),
    (_fixed(11, 11), "veterans day, veteran's day, veterans' day, remembrance day, armistice day, singles day,"
     " singles' day", "双十一, 双11, 光棍节, 退伍军人节"),
    (_floating(11, _THU, 4), "thanksgiving, thanksgiving day", "感恩节"),
    (_floating(11, _THU, 4, 1), "black friday", "黑色星期五, 黑五"),
    (_floating(11, _THU, 4, 4), "cyber monday", "网络星期一"),
    (_fixed(12, 24), "christmas eve, xmas eve", "平安夜, 圣诞前夜, 圣诞夜"),
    (_fixed(12, 25), "christmas, christmas day, xmas, xmas day, x-mas", "圣诞, 圣诞节"),
    (_fixed(12, 26), "boxing day", "节礼日"),
    (_fixed(12, 12), "", "双十二"),
    (_from_easter(0), "easter, easter sunday, easter day", "复活节"),
    (_from_easter(1), "easter monday", ""),
    (_from_easter(-2), "good friday", "耶稣受难日"),
    (_from_easter(-7), "palm sunday", ""),
    (_from_easter(-3), "maundy thursday", ""),
    (_from_easter(-46), "ash wednesday", ""),
    (_from_easter(-47), "mardi gras, fat tuesday, shrove tuesday", ""),
    (_from_easter(39), "ascension day", ""),
    (_from_easter(49), "pentecost, whit sunday", ""),
    (_from_easter(50), "whit monday", ""),
    (_lunar(1, 1), "chinese new year, lunar new year, spring festival", "春节, 大年初一, 农历新年, 过年"),
    (yearly(_lunar_eve), "chinese new year's eve, lunar new year's eve", "除夕, 除夕夜, 大年夜, 大年三十, 年夜饭"),
    (_lunar(1, 15), "lantern festival", "元宵节, 元宵"),
    (yearly(calendar.clear_and_bright), "qingming, qingming festival, tomb sweeping day", "清明, 清明节"),
    (_lunar(5, 5), "dragon boat festival", "端午, 端午节"),
    (_lunar(7, 7), "qixi, qixi festival", "七夕, 七夕节"),
    (_lunar(7, 15), "ghost festival", "中元节"),
    (_lunar(8, 15), "mid-autumn festival, mid autumn festival, moon festival", "中秋, 中秋节"),
    (_lunar(9, 9), "double ninth festival", "重阳, 重阳节"),
    (_lunar(12, 8), "laba festival", "腊八, 腊八节"),
    (_islamic(10, 1), "eid al fitr, eid al-fitr, eid ul fitr", "开斋节"),
    (_islamic(12, 10), "eid al adha, eid al-adha, eid ul adha", "古尔邦节, 宰牲节"),
)  # fmt: skip


def _table(names: Callable[[tuple[Recurring, str, str]], str]) -> dict[str, Recurring]:
    return {name.strip(): row[0] for row in _NAMES for name in names(row).split(",") if name.strip()}


ENGLISH_HOLIDAYS = _table(lambda row: row[1])
CHINESE_HOLIDAYS = _table(lambda row: row[2])


def long_weekend(holiday: Period) -> Period:
    """The weekend next to a holiday, extended to a holiday on a Thursday, Friday or Monday."""
    nearest = calendar.unit_around(holiday.start - timedelta(days=3 * (holiday.start.weekday() == 0)), Unit.WEEKEND)
    if holiday.start.weekday() in (1, 2):
        return nearest
    return Period(min(holiday.start, nearest.start), max(holiday.end, nearest.end), Unit.WEEKEND)
