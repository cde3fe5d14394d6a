"""Names, dates, amounts and identifiers in a text, and the known entities that names refer to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice

from memorist.model import Entity, Mention, instant
from memorist.remember.extract.clauses import LONGEST_TEXT, MASK, head_of
from memorist.remember.extract.dictionary import Dictionary
from memorist.remember.extract.lexicon import FIRST_NAMES, KIN, LANGUAGES, NOT_NAMES, PLACES, word_set
from memorist.remember.extract.objects import CAPITALISED, CAPITALISED_ALONE, NamedSpan
from memorist.text.dates import DateSpan, find_dates
from memorist.text.patterns import lazy

MOST_NAMES = 500
"""The most names, and the most identifiers, that are read from one text."""
MOST_WORDS = 12
"""The most words of a name."""
LONGEST_NAME = 100
"""Longer runs of capitalised words are not names."""

_RUN = lazy(
    rf"{CAPITALISED_ALONE}(?:[ \t]+(?:(?:of|de|del|la|le|van|von|der|da|di)[ \t]+(?:the[ \t]+)?)?{CAPITALISED}"
    rf"|[ \t]+\d{{1,4}}\b(?![.,]?\d)){{0,{MOST_WORDS - 1}}}+"
)
_WORD = lazy(r"\S+")
_SEVERAL = lazy(r"\s")
_OPENS = lazy(r"(?:^|[.!?:;…\n\"“”(\[*•\u2600-\u27bf\U0001f000-\U0001faff]\s*|\n\s*[->]\s*)$")
_TITLE = lazy(r"\b(?:mr|mrs|ms|dr|prof|st)\.\s+$", re.IGNORECASE)
_CONTRACTED = lazy(r"['’](?:m|re|ve|ll|d|t)$|n['’]t$", re.IGNORECASE)
_POSSESSIVE = lazy(r"['’]s?$")
_JOINERS = word_set("of de del la le van von der da di the")


@dataclass(frozen=True, slots=True)
class NameRun:
    """A run of capitalised words; `opens` marks a single word that begins a sentence and may not be a name."""

    text: str
    begin: int
    stop: int
    opens: bool


@lru_cache(maxsize=1024)  # a remembered text is scanned several times
def name_runs(text: str) -> tuple[NameRun, ...]:
    """The names in a text, in order, without function words, greetings, weekdays and possessive endings."""
    return tuple(islice(_runs(head_of(text)), MOST_NAMES))


def _runs(head: str) -> Iterator[NameRun]:
    for found in _RUN.finditer(head):
        parts = list(_split_run(found)) if _SEVERAL.search(found[0]) else _only_word(found)
        if not parts:
            continue
        before = head[max(0, found.start() - 8) : found.start()]
        opens = bool(_OPENS.search(before)) and not _TITLE.search(before)
        for words in parts:
            begin, stop = words[0][0], words[-1][1]
            if 1 < stop - begin <= LONGEST_NAME:
                first = opens and begin == found.start() and len(words) == 1
                yield NameRun(" ".join(head[start:end] for start, end in words), begin, stop, first)


def _only_word(run: re.Match[str]) -> list[list[tuple[int, int]]]:
    """A run of one word, as `_split_run` splits it: most are no names, but begin a sentence."""
    length = _name_length(run[0])
    return [[(run.start(), run.start() + length)]] if length else []


@lru_cache(maxsize=4096)
def _name_length(written: str) -> int:
    """How much of a word is a name; 0 for other words."""
    word = _POSSESSIVE.sub("", written)
    return 0 if word in _JOINERS or _is_no_name(word) or word.isdigit() else len(word)


def _split_run(run: re.Match[str]) -> Iterator[list[tuple[int, int]]]:
    """The words of a run as spans, split at words that are not names and after a possessive."""
    part: list[tuple[int, int]] = []
    for found in _WORD.finditer(run.string, run.start(), run.end()):
        word = _POSSESSIVE.sub("", found[0])
        span = (found.start(), found.start() + len(word))
        if word in _JOINERS:
            part = [*part, span] if part else []
            continue
        if _is_no_name(word) or (word.isdigit() and not part):
            yield from _without_joiners(part, run.string)
            part = []
            continue
        part = [*part, span]
        if word != found[0]:
            yield from _without_joiners(part, run.string)
            part = []
    yield from _without_joiners(part, run.string)


def _is_no_name(word: str) -> bool:
    lower = word.lower().replace("’", "'")
    return not word or lower in NOT_NAMES or bool(_CONTRACTED.search(lower))


def _without_joiners(part: list[tuple[int, int]], text: str) -> Iterator[list[tuple[int, int]]]:
    while part and text[part[-1][0] : part[-1][1]] in _JOINERS:
        part = part[:-1]
    if part:
        yield part


_UNITS = (
    r"km|cm|mm|m|miles?|mi|feet|foot|ft|inch(?:es)?|kg|g|grams?|lbs?|pounds?|oz|ounces?|tons?|l|ml|lit(?:er|re)s?|gallons?"
    r"|°[CF]|degrees?|mph|km/h|kmh|kwh|kw|watts?|volts?|gb|mb|tb|kb|hz|mhz|ghz|acres?|hectares?|calories|kcal|percent"
    r"|公里|千米|厘米|米|公斤|千克|斤|克|升|毫升|平方米|度|吨"
)
_CURRENCIES = (
    r"dollars?|bucks|euros?|pounds sterling|yen|yuan|rmb|rupees?|kronor|kroner|usd|eur|gbp|cny|jpy|sek|nok|chf"
)
_AMOUNT = r"\d++(?:,\d{3}){0,6}+(?:\.\d++)?+"
_IDENTIFIER = lazy(
    r"(?P<url>\b(?:https?://|www\.)[^\s<>\"'“”，。）)\]]+[^\s<>\"'“”，。）)\].,;:!?])"
    r"|(?P<email>\b[\w.+-]{1,64}+@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,63}\b)"
    r"|(?P<handle>(?<![\w@.])@[\w](?:[\w.-]{0,38}\w)?)"
    r"|(?P<path>(?<![\w/.:@+-])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]*\w(?=[\s,;:.!?)\"']|$)|\b[A-Za-z]:\\[^\s:;,*?\"<>|]+)"
    r"|(?P<isbn>\b(?:ISBN(?:-1[03])?:?\s*)?97[89][- ]?(?:\d[- ]?){9}\d\b|\bISBN(?:-10)?:?\s*(?:\d[- ]?){9}[\dXx]\b)"
    r"|(?P<ticket>\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b|(?<![\w&])#\d{1,6}\b)"
    r"|(?P<hash>\b(?=[a-f]{0,64}\d)(?=\d{0,64}[a-f])[0-9a-f]{7,64}\b)"
    rf"|(?P<money>[$€£¥₹]\s?{_AMOUNT}(?:\s?(?:k|m|bn|million|billion|thousand)\b)?|\b{_AMOUNT}\s?(?:k\s)?"
    rf"(?:{_CURRENCIES})\b|(?<!\d){_AMOUNT}(?:元|块钱|美元|欧元|万元|英镑|日元))"
    r"|(?P<phone>(?<![\w.-])(?:\+\d{1,3}[-. ]?)?(?:\(\d{2,4}\)[-. ]?|\d{2,4}[-. ])\d{3,4}[-. ]\d{3,4}(?![\w-])"
    r"|(?<!\d)1[3-9]\d{9}(?!\d))"
    rf"|(?P<measure>\b{_AMOUNT}\s?(?:(?:{_UNITS})(?!\w)|%))",
    re.IGNORECASE,
)
_CASED = {"ticket": lazy(r"[A-Z#]"), "hash": lazy(r"[0-9a-f]+$")}
_IDENTIFIER_HINT = lazy(r"[\d@/\\]")


def identifiers(text: str) -> Iterator[NamedSpan]:
    """Addresses, handles, paths, tickets, hashes, amounts and measures, in order and without overlap."""
    if not _IDENTIFIER_HINT.search(text) and "www." not in text:
        return
    for found in islice(_IDENTIFIER.finditer(text), MOST_NAMES):
        kind = found.lastgroup or ""
        if kind not in _CASED or _CASED[kind].match(found[0]):
            yield NamedSpan(found[0], kind, found.start(), found.end())


_PLACE_WORDS = word_set(
    """
    street avenue road lane boulevard square park lake river creek beach mountain mountains island islands city
    county valley bay hill hills bridge airport station canyon falls forest desert coast village district
    harbour harbor peninsula"""
)
_PLACE_LEADS = word_set("lake mount mt fort port san santa saint st cape isle")
_ORGANISATION_WORDS = word_set(
    """
    inc corp corporation ltd llc gmbh ag plc co university college school institute academy bank hospital
    company foundation association club church museum council department agency group labs studio studios
    airlines airways society committee ministry union partners restaurant bakery cafe league team orchestra"""
)
_ORGANISATIONS = word_set(
    """
    google apple microsoft amazon facebook meta netflix spotify tesla nasa fbi cia openai anthropic ibm intel
    nvidia samsung sony nintendo toyota honda ford bmw nike adidas ikea starbucks walmart target costco uber
    lyft airbnb twitter linkedin github youtube instagram tiktok reddit mit harvard stanford yale oxford
    cambridge unicef nato eu un bbc cnn disney pixar mcdonald's boeing airbus siemens oracle adobe salesforce
    paypal stripe ebay huawei tencent alibaba baidu xiaomi"""
)
_PRODUCT = lazy(
    r"[A-Z]?[a-z]+[A-Z]|.*\b(?:iPhone|iPad|MacBook|Xbox|PlayStation|Kindle|GoPro|Switch|Galaxy|Pixel|Prius|Civic|Model)\b"
    r"|[A-Z][\w-]*(?:-\d\w*+|\s\d{1,4}\b|\d\w*+)$"
)
_TITLED = lazy(r"\b(?:mr|mrs|ms|miss|dr|prof|professor|aunt|uncle|sir|president|captain|coach)\.?\s+$", re.IGNORECASE)
_KIN_BEFORE = lazy(rf"\b(?:{'|'.join(KIN)}),?\s+(?:named\s+|called\s+)?$", re.IGNORECASE)
_WHERE_BEFORE = lazy(
    r"\b(?:live|lives|living|lived|moved|moving|trip|travel\w*|flew|fly|flight|drive|drove|vacation|born|based|back|visit\w*)"
    r"\s+(?:back\s+)?(?:in\s+|to\s+|from\s+|around\s+)?(?:the\s+)?$|\bin\s+(?:downtown\s+)?$|\bnear\s+$",
    re.IGNORECASE,
)
_WORK_BEFORE = lazy(
    r"\b(?:work|works|worked|working|job|employed|intern\w*)\s+(?:at|for|with)\s+(?:the\s+)?$|\bjoined\s+$",
    re.IGNORECASE,
)


def name_kind(name: str, before: str) -> str:
    """The kind of a name, from its words and the words before it: `in`, `my sister`, `works at`."""
    words = name.lower().replace(".", "").split()
    if name.lower() in PLACES or words[-1] in _PLACE_WORDS or (len(words) > 1 and words[0] in _PLACE_LEADS):
        return "place"
    if name.lower() in _ORGANISATIONS or (len(words) > 1 and _ORGANISATION_WORDS & set(words)):
        return "organisation"
    if _TITLED.search(before) or _KIN_BEFORE.search(before) or words[0] in FIRST_NAMES:
        return "person"
    if _PRODUCT.match(name):
        return "product"
    if words[0] in LANGUAGES:
        return "language"
    if _WORK_BEFORE.search(before):
        return "organisation"
    return "place" if _WHERE_BEFORE.search(before) else "name"


MOST_MENTIONS = 20
"""The most mentions kept per text; a calendar would mention every day."""

_SECOND, _DAY = timedelta(seconds=1), timedelta(days=1)
_CODE = lazy(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def date_spans(text: str, at: datetime) -> list[DateSpan]:
    """The dates in the head of a text, without those in code and without `right now`, which carries no information."""
    head = head_of(text)
    if "`" in head:
        head = _CODE.sub(lambda found: MASK * len(found[0]), head)
    this_very_second = instant(at).replace(microsecond=0)
    found = find_dates(head, at, prefer="tense")
    said = (span for span in found if span.start != this_very_second or span.end - span.start > _SECOND)
    whole = (span for span in said if text.startswith(span.text, span.begin))  # none reaches across code
    return list(islice(whole, MOST_MENTIONS))


def mentions(text: str, at: datetime, *, dates: Sequence[DateSpan] | None = None) -> tuple[Mention, ...]:
    """The dates mentioned in a text said at a given moment: `yesterday`, `last Friday`, `上周三`.

    An open side ends at that moment: who was "away until the 17th" was away from then on.
    """
    spans = date_spans(text, at) if dates is None else dates
    return tuple(dict.fromkeys(_mention(span, instant(at)) for span in spans))


def _mention(span: DateSpan, at: datetime) -> Mention:
    start, end = span.start, span.end
    day = min(_DAY, end - start)
    if start.year == MINYEAR:
        start = min(at, end - day)
    elif end.year == MAXYEAR:
        end = max(at, start + day)
    return Mention(span.text, start, end)


Known = Callable[[Sequence[str]], Iterable[Entity]]
"""Looks up entities by name or alias; a `Dictionary` also resolves first names and misspellings."""

_ANY_DAY = datetime(2001, 1, 1, tzinfo=UTC)
_ALSO_WORDS = word_set("will mark may grace hope rose joy faith bill dean drew penny iris ivy holly amber jean")


def nobody(names: Sequence[str]) -> Iterable[Entity]:
    """An empty dictionary."""
    return ()


def entities(text: str, known: Known = nobody, *, dates: Sequence[DateSpan] | None = None) -> list[NamedSpan]:
    """The names, dates, amounts and identifiers in a text, in order; pass `dates` if they are known already."""
    head = text[:LONGEST_TEXT]
    spans = date_spans(text, _ANY_DAY) if dates is None else dates
    taken = [*identifiers(head), *(NamedSpan(span.text, "date", span.begin, span.stop) for span in spans)]
    found = name_runs(text)
    if not taken and not found:
        return []
    free = _without_overlap(taken)
    runs = _apart(found, free)
    resolved = _resolved(runs, known)
    every = [*free, *_named(head, runs, resolved), *_handles_known(free, known)]
    return sorted({(span.begin, span.stop): span for span in every}.values(), key=lambda one: (one.begin, one.stop))


def _without_overlap(found: Iterable[NamedSpan]) -> list[NamedSpan]:
    """The first and longest of the spans that overlap."""
    kept: list[NamedSpan] = []
    for span in sorted(found, key=lambda one: (one.begin, -one.stop)):
        if not kept or span.begin >= kept[-1].stop:
            kept.append(span)
    return kept


def _apart(runs: Iterable[NameRun], taken: Sequence[NamedSpan]) -> list[NameRun]:
    """The runs that overlap nothing that is taken; both are in order and without overlap."""
    stops = [span.stop for span in taken]
    after = ((run, bisect_right(stops, run.begin)) for run in runs)
    return [run for run, place in after if place == len(taken) or run.stop <= taken[place].begin]


def _resolved(runs: Sequence[NameRun], known: Known) -> dict[str, Entity]:
    names = list(dict.fromkeys(run.text for run in runs))
    entities = list(known(names)) if names else []
    if not entities:
        return {}
    dictionary = Dictionary(entities)
    sure = {run.text for run in runs if not run.opens}
    return {name: entity for name in names if (entity := dictionary.find(name, misspelt=name in sure))}


def _named(text: str, runs: Sequence[NameRun], resolved: dict[str, Entity]) -> Iterator[NamedSpan]:
    sure = {run.text for run in runs if not run.opens}
    for run in runs:
        entity = resolved.get(run.text)
        if run.opens and entity is None and run.text not in sure and not _common(run.text):
            continue
        kind = (entity.kind if entity else None) or name_kind(run.text, text[max(0, run.begin - 40) : run.begin])
        yield NamedSpan(text[run.begin : run.stop], kind, run.begin, run.stop, entity)


def _common(name: str) -> bool:
    """Whether a word that begins a sentence is surely a name: Anna, Oslo, but not Will or Mark."""
    lower = name.lower()
    return (lower in FIRST_NAMES or lower in PLACES) and lower not in _ALSO_WORDS


def _handles_known(found: Sequence[NamedSpan], known: Known) -> Iterator[NamedSpan]:
    """Handles and addresses that are an alias of a known entity."""
    asked = [span for span in found if span.kind in {"handle", "email"}]
    entities = known([span.text for span in asked]) if asked else ()
    by_name = {name.casefold(): entity for entity in entities for name in (entity.name, *entity.aliases)}
    for span in asked:
        if entity := by_name.get(span.text.casefold()):
            yield replace(span, entity=entity)
