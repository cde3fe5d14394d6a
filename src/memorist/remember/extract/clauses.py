"""Sentences and clauses, and the subject of each clause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from memorist.remember.extract.lexicon import KIN, NOT_NAMES, word_set
from memorist.remember.extract.objects import CAPITAL, CAPITALISED
from memorist.text.patterns import lazy
from memorist.text.tokens import holds_any
from memorist.text.words import UNSPACED

LONGEST_TEXT = 20_000
"""Facts, names and dates are read from this many first characters of a text; all of it is stored and searched."""
LONGEST_SENTENCE = 600
LONGEST_GAP = 16
"""More whitespace in a row ends a sentence."""
LONGEST_WORD = 64
"""Longer runs of letters, digits or signs are not read; scripts without spaces have no such limit."""
MASK = "\x1f"
"""Replaces every character that is not read: code, quotations and asides, which are not the speaker's own words."""

_UNREAD = lazy(
    rf"(?<!\s)\s{{{LONGEST_GAP + 1},}}+|(?<![^\W{UNSPACED}])[^\W{UNSPACED}]{{{LONGEST_WORD + 1},}}+"
    rf"|(?<![^\w\s])[^\w\s]{{{LONGEST_WORD + 1},}}+"
)
_CODE = lazy(r"```.*?(?:```|\Z)|`[^`\n]*+`|\[[^\]\n]*+\]?|^[ \t]*>.*$", re.DOTALL | re.MULTILINE)
_INLINE_CODE = lazy(r"`[^`\n]*+`")
_QUOTED = lazy(r"\"([^\"\n]{1,400}+)\"|“([^“”\n]{1,400}+)”|「([^「」\n]{1,400}+)」|『([^『』\n]{1,400}+)』")
_OPENING_QUOTES = ('"', "“", "「", "『")
_SPOKEN = lazy(r"[.!?。！？…,，]$|\b(?:i|i'm|i’m|you|we|me|my|your|our)\b|[我你您]", re.IGNORECASE)
_LINE_SPEAKER = lazy(r"(?:\[[^\]\n]{1,40}\]\s*)?([^\W\d_][^\n:：,，.。!?()\"]{0,39})[:：](?:\s|(?<=：))")
_LABELS = NOT_NAMES | word_set(
    """
    name email e-mail phone address about fact facts background summary todo task context answer a
    p.s tl;dr tldr reminder warning info news plan goal goals status user note notes 备注 注
    姓名 电话 地址 更新 更正 总结 摘要 主题 标题 提醒 背景 问 答"""
)
# A sentence ends at a stop, at the end of a line, or at an emoji followed by a capital.
_SENTENCE = lazy(r"[^\n.!?…。！？\x1f]+(?:\.(?=[^\s\"”)])[^\n.!?…。！？\x1f]*)*[.!?…。！？]*")
_ABBREVIATED = lazy(r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|vs|no|inc|ltd|co|u\.s|u\.k|[a-z])|\b[ap]\.m)\.$", re.IGNORECASE)

_QUESTION = lazy(
    r"[?？]|^\W*(?:(?:so|and|but|hey|hi|oh|wow|ok|okay|btw|also|well)\W+)*(?:what|where|when|who|whose|why|how|which"
    r"|do|does|did|is|are|was|were|am|can|could|would|should|shall|will|have\s+you|has|had|may\s+i|any)\b(?!\s+names?\b)"
    r"|[吗呢][。！~…]*$|什么|甚么|哪[里儿个些位年]|怎么|怎样|是否|是不是|有没有|多少|谁",
    re.IGNORECASE,
)
_ASKS = lazy(
    r",\s*(?:(?:so|and|but|then)\s+)?(?:(?:can|could|would|will|do|did|have|are)\s+you|what|which|how|where|when|why"
    r"|should\s+i)\b",
    re.IGNORECASE,
)
_SUPPOSED = lazy(
    r"\b(?:if|deny|denies|denied|wish|wishes|wished|imagine|suppose|supposing|pretend(?:ing)?|hypothetically|unless|otherwise|jk|lol|lmao|haha(?:ha)*|rofl|kidding"
    r"|joking|joked|sarcasm|as\s+though|sa(?:y|id|ys|ying)|thinks?|thought|believe[sd]?|assum(?:e|es|ed|ing)|reckons?|swears?|swore|insist(?:s|ed)?|wonder(?:s|ed|ing)?|convinced|lie[sd]?|lying|told|tells|asked|asks|replied|claims?|claimed|heard|according"
    r"|rumou?rs?|supposedly|allegedly|apparently|quote|lyrics?|dreamed|dreamt|in\s+my\s+(?:dream|novel|story|head)|once\s+upon|(?:my|the)\s+character|role[\s-]?play(?:ing)?|for\s+example)\b"
    r"|(?:not|n['’]t|un)\s?true\b|false\s+that|/s\b|不是真的|如果|要是|假如|假设|倘若|万一|开玩笑|骗你|骗人|据说|听说|说[：:，,“]|梦见|梦到|假装|假使|要不是",
    re.IGNORECASE,
)
_DOUBTED = lazy(
    r"\b(?:maybe|perhaps|probably|possibly|might|may\s+(?:have|be)|presumably|not\s+sure|almost|nearly|kinda|sort\s+of"
    r"|think(?:ing)?\s+(?:about|of)|considering|would|could|should|guess)\b|也许|可能|或许|大概|说不定|应该|差点|考虑|好像",
    re.IGNORECASE,
)
_WHO = (
    r"(?:i|i['’]?m|i['’]ve|we|we['’]re|we['’]ve|he|he['’]s|she|she['’]s|they|it|it['’]s|you|my|our|his|her|their|this|that"
    r"|there)"
)
_VERB = (
    r"(?:live|lives|work|works|worked|love|loves|like|likes|enjoy|enjoys|hate|hates|prefer|prefers|have|has|own|owns|am"
    r"|speak|speaks|play|plays|study|studies|moved|joined|started|quit|left|got|visited|adopted|bought|graduated|married"
    r"|dislike|dislikes|don['’]t|doesn['’]t|no\s+longer|used\s+to|grew|was\s+born|currently|recently|now)"
)
_NAMED_VERB = r"[A-Z][\w’'-]*\s+(?:is|lives|works|moved|has|was)\b"
# The first sign is found quickly; what it must be followed by is written after a look back at it.
_BETWEEN_CLAUSES = lazy(
    rf"[;；—–,:\s](?:(?<=[;；—–])\s*|(?<=\s)-+\s+|(?<=:)\s+"
    rf"|(?i:(?<=,)\s*(?=(?:(?:and|but|so|yet|or|then|because|though|although|while|as|since|where|when|which|who)\s+)?"
    rf"(?:(?:from|as\s+of)\s+[^,;]{{1,20}}?\s+)?{_WHO}\b)"
    rf"|(?:(?<=,)\s+|(?<=\s)\s*)(?=(?:and|but|so|because|cuz|though|although|while|when|whereas|yet|where)\s+"
    rf"(?:{_WHO}\b|{_NAMED_VERB}))"
    rf"|(?:(?<=,)\s+|(?<=\s)\s*)(?=(?:and|but)\s+(?:also\s+)?{_VERB}\b)"
    rf"|(?<=,)\s*(?={_NAMED_VERB})))"
)
# `Last week, I moved`, `Actually, I live`: the opening belongs to the clause after it.
_LEADING = lazy(
    r"\W*(?:(?:and|but|so|well|yeah|actually)\W+)?(?:in|on|last|this|since|back\s+in|early|late|yesterday|today|a\s+few"
    r"|two|three|four|five|\d+)\b[^,;]{0,30}"
    r"|\W*(?:yesterday|today|actually|now|right\s+now|currently|these\s+days|nowadays|lately|recently|correction)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its speaker; `begin` and `stop` are offsets in the whole text."""

    begin: int
    stop: int
    speaker: str | None


def head_of(text: str) -> str:
    """The beginning of a text that is read, with wide gaps and endless words masked; all offsets stay the same."""
    head = text[:LONGEST_TEXT]
    runs = list(map(len, head.split()))
    widest = len(head) - sum(runs) - len(runs) + 2  # if all other gaps between words have one space
    if widest <= LONGEST_GAP and max(runs, default=0) <= LONGEST_WORD:
        return head
    return _UNREAD.sub(_gap, head)


def _gap(found: re.Match[str]) -> str:
    """A mask that ends lines and paragraphs where the gap does."""
    breaks = "\n" * min(2, found[0].count("\n"))
    return MASK * (len(found[0]) - len(breaks)) + breaks


def own_words_of(text: str) -> str:
    """The head of a text with code, quoted speech and bracketed asides masked; quoted titles stay."""
    head = head_of(text)
    if "`" in head or "[" in head or ">" in head:
        head = _CODE.sub(_mask_code, head)
    if not holds_any(head, _OPENING_QUOTES):
        return head
    return _QUOTED.sub(lambda found: found[0] if _is_title(found) else _mask(found), head)


def _mask_code(found: re.Match[str]) -> str:
    """A mask, except for a bracket that its line does not close: what follows is read."""
    unclosed = found[0].startswith("[") and not found[0].endswith("]")
    return _INLINE_CODE.sub(_mask, found[0]) if unclosed else _mask(found)


def _mask(found: re.Match[str]) -> str:
    return MASK * len(found[0])


def _is_title(found: re.Match[str]) -> bool:
    inside = next(group for group in found.groups() if group is not None)
    return inside[:1].isupper() and len(inside.split()) <= 8 and not _SPOKEN.search(inside)


def spoken_sentences(masked_text: str, speaker: str | None, addressee: str | None) -> Iterator[Sentence]:
    """The sentences of a masked text, without questions."""
    begin = 0
    for line in masked_text.splitlines(keepends=True):
        said_by, body = _line_speaker(line, speaker, addressee)
        for start, stop in _sentence_spans(line, body):
            if (end := _before_question(line, start, stop)) > start:
                yield Sentence(begin + start, begin + end, said_by)
        begin += len(line)


def _before_question(line: str, start: int, stop: int) -> int:
    """Where the statement in a sentence ends: in `I live in Oslo, can you …?` the question starts at the comma."""
    if line[stop - 1] not in "?？":
        return stop
    asks = _ASKS.search(line, start, stop)
    return asks.start() if asks else start


def _line_speaker(line: str, speaker: str | None, addressee: str | None) -> tuple[str | None, int]:
    """The speaker of a line and where the speech begins: `Alice: …` is Alice's, `Note: …` is the speaker's own.

    `New address: …` is all said by the speaker.
    """
    found = _LINE_SPEAKER.match(line)
    if not found:
        return speaker, 0
    label = found[1].strip()
    if label.lower().startswith("new "):
        return speaker, 0
    if label.casefold() in _LABELS or len(label.split()) > 3:
        return speaker, found.end()
    if speaker is None:
        return (label if label[:1].isupper() or not label.isascii() else None), found.end()
    known = next((name for name in (speaker, addressee) if name and name.casefold() == label.casefold()), None)
    return known, found.end()


def _sentence_spans(line: str, body: int) -> Iterator[tuple[int, int]]:
    start, goes_on = body, False
    for found in _SENTENCE.finditer(line, body):
        stop = found.end()
        start = start if goes_on else found.start()
        goes_on = line[stop : stop + 1] == " " and bool(_ABBREVIATED.search(line, max(start, stop - 6), stop))
        if not goes_on and stop <= start + LONGEST_SENTENCE:
            yield start, stop


def clauses(text: str, sentence: Sentence) -> Iterator[tuple[int, int]]:
    """The offsets of the clauses of a sentence."""
    start = sentence.begin
    for cut in _BETWEEN_CLAUSES.finditer(text, sentence.begin, sentence.stop):
        if _LEADING.fullmatch(text, start, cut.start()):
            continue
        yield start, cut.start()
        start = cut.end()
    yield start, sentence.stop


def asserts(sentence: str) -> bool:
    """Whether a sentence is a plain assertion: no question, supposition, joke or hearsay."""
    return not _QUESTION.search(sentence) and not _SUPPOSED.search(sentence)


def is_doubted(clause: str) -> bool:
    """Whether a clause expresses doubt."""
    return bool(_DOUBTED.search(clause))


_OPENER = lazy(
    r"[\s,.!\"“”*•\x1f-]*(?:(?:and|but|so|also|well|yeah|yes|no|oh|hey|hi|hello|btw|by\s+the\s+way|actually|anyway|ok|okay|now"
    r"|currently|these\s+days|nowadays|recently|right\s+now|in\s+fact|fun\s+fact|update|correction|fyi|note|reminder"
    r"|sure|because|cuz|sorry|of\s+course|(?:last|this)\s+(?:week|month|year|spring|summer|autumn|fall|winter|january"
    r"|february|march|april|may|june|july|august|september|october|november|december))\b[\s,!:.-]*)*",
    re.IGNORECASE,
)
_KIN_WORD = "|".join(sorted(KIN, key=len, reverse=True))
KIN_NAMED = lazy(
    rf"(?P<owner>\b(?:[Mm]y|[Oo]ur)|\b{CAPITALISED}['’]s)\s+"
    r"(?:(?:older|elder|younger|little|big|twin|best|new|oldest|youngest|good|close)\s+)*"
    rf"(?P<kin>{_KIN_WORD})\b(?:\s+(?:named\s+|called\s+)?(?={CAPITAL}))?"
)
"""A relative, friend or pet, as far as the name that may follow: `my sister Anna`."""
PRONOUN = lazy(r"(?:i|(?P<we>we))(?=['’\s])|(?P<im>im)(?=\s)", re.IGNORECASE)
"""`I` or `we`; `im` is `I'm` without its sign."""


Subjects = Literal["anyone", "named", "person", "speaker"]
"""Who a rule may be about: any name, one of two words or surely a person's, surely a person, or the speaker alone."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The person a clause is about."""

    name: str
    first: bool = False
    """The speaker, as `I` or `we`."""
    sure: bool = False
    """Surely a person, not only a capitalised word."""

    def fits(self, who: Subjects) -> bool:
        """Whether a rule about these subjects may be about this one."""
        if who == "speaker":
            return self.first
        return self.sure or who == "anyone" or (who == "named" and " " in self.name)


def after_opener(text: str, begin: int, stop: int) -> int:
    """Where the subject of a clause may begin: after `well, actually,` and `last week,`."""
    found = _OPENER.match(text, begin, stop)
    return found.end() if found else begin
