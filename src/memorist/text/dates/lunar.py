"""Dates of the Chinese and Islamic calendars, and Easter."""

from datetime import datetime, timedelta

from memorist.text.dates.calendar import Period, Unit, holding

_FIRST_YEAR = 1950
# One year in six hexadecimal digits: days from 1 January to the lunar new year (6 bits), the leap month or
# 0 (4 bits), and for each month in turn whether it has 30 days rather than 29 (13 bits, first month lowest).
# Facts as in the lunardate package; 1978 and 2057, where printed calendars differ, follow the later ones.
_YEARS = (
    "5e0536480aad34b5aa5805b2420ba52e7d4a540d4a3d0a95600a974c055636cab55a0ad54606d2308ea5560ea5"
    "40064a286c974e0a9b3af55a5e056a480b6934b7525a0b52420b252c964b520a4b3d14ab6002ad4a056d36cb69"
    "5c0da9460d92309d25560d25415a4d640a564e02b638c5b55e06d5480ea934be925a0e92440d262c6a56500a57"
    "3d14d662035a4a06d536b6c95c07494606932e952b54052b3e0a5b2a555a4e056a38fb55600ba44a0b4932ba93"
    "580a9542052d2c8aad500ab53d35aa6205d24c0da536dd4a5c0d4a460c9530952e5405563e0ab52a55b25006d2"
    "38cea55e072548064b32ac97560cab42055a2c6ad6520b693d7752620b524c0b2536da4b5a0a4b4404ab2ea55b"
    "5405ad3e0b6a2a5b52500d923afd255e0d25480a5532b4ad5804b64005b52c6daa520ec93f1e92620e924c0d26"
    "36ca565a0a574404d62e86d5540755400749286e934e069338f52b5e052b460a5b32b55a58056a420b652c974a"
)


def chinese_day(year: int, month: int, day: int, *, leap: bool = False) -> Period | None:
    """A day of the Chinese calendar, for its years 1950 to 2069."""
    place = 6 * (year - _FIRST_YEAR)
    if not 0 <= place < len(_YEARS):
        return None
    facts = int(_YEARS[place : place + 6], 16)
    leap_month = facts >> 13 & 15
    if leap and month != leap_month:
        return None
    before = month - 1 + (leap or 0 < leap_month < month)
    days = (facts >> 17) + sum(29 + (facts >> index & 1) for index in range(before)) + day - 1
    return holding(datetime(year, 1, 1) + timedelta(days=days), Unit.DAY)


def clear_and_bright(year: int) -> Period | None:
    """Qingming, the solar term at the sun's longitude 15°, by the usual approximation for 1901 to 2099."""
    if not 1901 <= year <= 2099:
        return None
    rest = year % 100
    constant = 5.59 if year <= 2000 else 4.81
    rest = 100 if year == 2000 else rest
    return holding(datetime(year, 4, int(rest * 0.2422 + constant) - rest // 4), Unit.DAY)


def islamic_day(year: int, month: int, day: int) -> Period | None:
    """The first such day in a Gregorian year, by the tabular calendar: observed ones may differ by one."""
    around = int((year - 622) * 33 / 32)
    for candidate in range(around - 1, around + 3):
        days = day + (59 * (month - 1) + 1) // 2 + (candidate - 1) * 354 + (3 + 11 * candidate) // 30
        found = datetime(622, 7, 18) + timedelta(days=days - 1)
        if found.year == year:
            return holding(found, Unit.DAY)
    return None


def easter(year: int) -> datetime:
    """Easter Sunday of the Gregorian calendar (the anonymous algorithm, Meeus 1991, p. 67)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    f = (b + 8) // 25
    g = (b - f + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return datetime(year, month, day + 1)
