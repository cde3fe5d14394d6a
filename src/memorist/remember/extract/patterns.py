"""Things that have a form of their own: addresses, identifiers, amounts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memorist.remember.extract.model import Named

_UNITS = (
    r"km|cm|mm|m|miles?|mi|feet|foot|ft|inch(?:es)?|kg|g|grams?|lbs?|pounds?|oz|ounces?|tons?|l|ml|lit(?:er|re)s?|gallons?"
    r"|°[CF]|degrees?|mph|km/h|kmh|kwh|kw|watts?|volts?|gb|mb|tb|kb|hz|mhz|ghz|acres?|hectares?|calories|kcal|percent"
    r"|公里|千米|厘米|米|公斤|千克|斤|克|升|毫升|平方米|度|吨"
)
_CURRENCIES = (
    r"dollars?|bucks|euros?|pounds sterling|yen|yuan|rmb|rupees?|kronor|kroner|usd|eur|gbp|cny|jpy|sek|nok|chf"
)
_PATTERN = re.compile(
    r"(?P<url>\b(?:https?://|www\.)[^\s<>\"'“”，。）)\]]+[^\s<>\"'“”，。）)\].,;:!?])"
    r"|(?P<email>\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}\b)"
    r"|(?P<handle>(?<![\w@.])@[\w](?:[\w.-]{0,38}\w)?)"
    r"|(?P<path>(?<![\w/.:])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]*\w(?=[\s,;:.!?)\"']|$)|\b[A-Za-z]:\\[^\s:;,*?\"<>|]+)"
    r"|(?P<isbn>\b(?:ISBN(?:-1[03])?:?\s*)?97[89][- ]?(?:\d[- ]?){9}\d\b|\bISBN(?:-10)?:?\s*(?:\d[- ]?){9}[\dXx]\b)"
    r"|(?P<ticket>\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b|(?<![\w&])#\d{1,6}\b)"
    r"|(?P<hash>\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b)"
    rf"|(?P<money>[$€£¥₹]\s?\d+(?:,\d{{3}})*(?:\.\d+)?(?:\s?(?:k|m|bn|million|billion|thousand)\b)?|\b\d+(?:,\d{{3}})*(?:\.\d+)?\s?(?:k\s)?"
    rf"(?:{_CURRENCIES})\b|\d+(?:,\d{{3}})*(?:\.\d+)?(?:元|块钱|美元|欧元|万元|英镑|日元))"
    r"|(?P<phone>(?<![\w.-])(?:\+\d{1,3}[-. ]?)?(?:\(\d{2,4}\)[-. ]?|\d{2,4}[-. ])\d{3,4}[-. ]\d{3,4}(?![\w-])"
    r"|(?<!\d)1[3-9]\d{9}(?!\d))"
    rf"|(?P<measure>\b\d+(?:,\d{{3}})*(?:\.\d+)?\s?(?:(?:{_UNITS})(?!\w)|%))",
    re.IGNORECASE,
)
_CASED = {"ticket": re.compile(r"[A-Z#]"), "hash": re.compile(r"[0-9a-f]+$")}
_HINT = re.compile(r"[\d@/\\]|www\.")


def patterned(text: str) -> Iterator[Named]:
    """Addresses, handles, paths, tickets, hashes, sums and measures, in order and without overlap."""
    if not _HINT.search(text):
        return
    for found in _PATTERN.finditer(text):
        kind = found.lastgroup or ""
        if kind not in _CASED or _CASED[kind].match(found[0]):
            yield Named(found[0], kind, found.start(), found.end())
