"""Secrets in a text: keys by their vendor formats, numbers by check digits, passwords by the words before them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memorist.text.patterns import lazy
from memorist.text.tokens import holds_any

TOKEN_BITS = 3.0
"""The least entropy of a token in bits per character: English words have about 2.5, 20 random base64 characters 4."""


@dataclass(frozen=True, slots=True)
class Secret:
    """The place and kind of a secret in a text."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Form:
    """A format of secrets: the group `it`, or else the whole match, if `holds` accepts it."""

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    """The pattern is tried only if the folded text contains one of these."""
    holds: Callable[[str], bool]


def secrets_in(text: str) -> list[Secret]:
    """The secrets in a text, in order and without overlap."""
    folded = text.lower()
    found = [one for form in _FORMS if holds_any(folded, form.hints) for one in _matches(form, text)]
    if _DIGITS.search(text):
        found += [one for form in _NUMBERS for one in _matches(form, text)]
    return _apart(found)


def masked(text: str) -> str:
    """The text with `[secret: KIND]` in place of each secret."""
    pieces: list[str] = []
    start = 0
    for one in secrets_in(text):
        pieces += text[start : one.start], f"[secret: {one.kind}]"
        start = one.end
    return "".join((*pieces, text[start:]))


def _matches(form: _Form, text: str) -> Iterator[Secret]:
    group = "it" if "it" in form.pattern.groupindex else 0
    for found in form.pattern.finditer(text):
        if form.holds(found[group]):
            yield Secret(form.kind, found.start(group), found.end(group))


def _apart(found: list[Secret]) -> list[Secret]:
    """The first of the secrets that overlap; among those that start together, the longest."""
    kept: list[Secret] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _is_real(found: str) -> bool:
    return not _PLACEHOLDER.search(found)


def _is_random(token: str) -> bool:
    """Whether a token has letters and digits without the regularity of words, variable names or counters."""
    if not (re.search(r"\d", token) and re.search(r"[A-Za-z]", token)) or _PLACEHOLDER.search(token):
        return False
    counts = Counter(token)
    bits = -sum(count / len(token) * math.log2(count / len(token)) for count in counts.values())
    return bits >= TOKEN_BITS and not re.fullmatch(r"[A-Za-z]+(?:[-_.][A-Za-z]+)*[-_.]?\d{1,4}", token)


def _is_password(value: str) -> bool:
    """Whether a value may be a password: not a plain word, variable or placeholder."""
    bare = value.strip("'\"`“”‘’")
    if len(bare) < 4 or _PLACEHOLDER.search(bare) or _EXPRESSION.search(bare):
        return False
    quoted = bare != value
    kinds = sum(bool(re.search(kind, bare)) for kind in (r"[a-z]", r"[A-Z]", r"\d", r"[^\w\s]"))
    return kinds >= 2 and not re.fullmatch(r"[A-Z]?[a-z]+(?:['-][a-z]+)*", bare) if not quoted else kinds >= 1


def _is_said(value: str) -> bool:
    """Whether a value in a sentence may be a password: with a digit, and not a date, time, version or amount."""
    bare = value.strip("'\"`“”‘’").rstrip(".,;:!?")
    return (
        bool(re.search(r"\d", bare))
        and bool(re.search(r"[A-Za-z_!@#$%^&*]", bare))
        and not re.fullmatch(r"[$€£]?[\d.,:/-]+(?:st|nd|rd|th|am|pm|k|m|%|\+)?|v\d[\d.]*", bare, re.IGNORECASE)
        and _is_password(bare)
    )


def is_card(number: str) -> bool:
    """Whether a number is a payment card, by the issuer's prefix and length and the Luhn check digit (ISO/IEC 7812)."""
    digits = re.sub(r"\D", "", number)
    if not _ISSUERS.fullmatch(digits) or len(set(digits)) < 4:
        return False
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def is_iban(number: str) -> bool:
    """Whether a number is a valid IBAN (ISO 13616): with its first four characters at the end it is 1 modulo 97."""
    bare = number.replace(" ", "").upper()
    if not 15 <= len(bare) <= 34:
        return False
    return int("".join(str(int(character, 36)) for character in bare[4:] + bare[:4])) % 97 == 1


_DIGITS = lazy(r"\d[\d -]{6}")
_ISSUERS = lazy(
    r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}"
    r"|62\d{14,17}|35\d{14}"
)
_PLACEHOLDER = lazy(
    r"\*{3}|x{5}|\.{3}|…|<|>|\{|\$\{?[A-Z_]|%\(|\[secret|your|example|placeholder|changeme|redacted|dummy|pass_?word|pass_?phrase|secret_?key",
    re.IGNORECASE,
)
_EXPRESSION = lazy(r"^(?:os|process|config|settings|env|self|this|request|args|params)\.|\w\(|\)$|^\w+\[|/\w+/\w")


def _form(kind: str, pattern: str, hints: str, holds: Callable[[str], bool] | None = None, flags: int = 0) -> _Form:
    return _Form(kind, lazy(pattern, flags), tuple(hints.split()), holds or _is_real)


_EDGE, _STOP = r"(?<![A-Za-z0-9_-])", r"(?![A-Za-z0-9_-])"
_NAMED = (
    r"(?:api|access|auth|secret|private|signing|encryption|client|account|service|app)?[ _-]?"
    r"(?:key|token|secret|credential)s?"
)
_ENTRY = r"(?:pass(?:word|wd|phrase|code)|pwd)"

_BEGIN = r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"

_FORMS = (
    _form(
        "private key",
        rf"{_BEGIN}(?:(?:(?!-----).)*-----END (?:[A-Z0-9]+ ){{0,3}}PRIVATE KEY(?: BLOCK)?-----"
        r"|\s*(?:[A-Za-z0-9+/=]{20,}\s*)+)",
        "-----begin",
        flags=re.DOTALL,
    ),
    _form("JSON web token", rf"{_EDGE}eyJ[\w-]{{8,}}\.eyJ[\w-]{{8,}}\.[\w-]{{8,}}", "eyj"),
    _form("AWS key", rf"{_EDGE}(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}{_STOP}", "akia asia abia acca"),
    _form(
        "AWS secret key",
        r"aws.{0,20}?(?:secret|key).{0,20}?['\"= :](?P<it>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "aws",
        _is_random,
        re.IGNORECASE,
    ),
    _form(
        "GitHub token",
        rf"{_EDGE}(?:gh[pousr]_[A-Za-z0-9]{{36,}}|github_pat_\w{{22,}})",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
    ),
    _form("GitLab token", rf"{_EDGE}gl(?:pat|ptt|dt|rt|cbt)-[\w-]{{20,}}", "glpat- glptt- gldt- glrt- glcbt-"),
    _form("Slack token", rf"{_EDGE}xox[abeoprs]-(?:\d+-)?[\w-]{{10,}}|{_EDGE}xapp-\d-[\w-]{{10,}}", "xox xapp-"),
    _form("Slack webhook", r"hooks\.slack\.com/services/(?P<it>T\w{6,}/B\w{6,}/\w{16,})", "hooks.slack.com"),
    _form("Anthropic key", rf"{_EDGE}sk-ant-[\w-]{{20,}}", "sk-ant-"),
    _form("OpenAI key", rf"{_EDGE}sk-(?:(?:proj|svcacct|admin)-)?(?=[\w-]*\d)[A-Za-z0-9][\w-]{{19,}}", "sk-"),
    _form(
        "Google key",
        rf"{_EDGE}AIza[\w-]{{35}}{_STOP}|{_EDGE}GOCSPX-[\w-]{{20,}}|{_EDGE}ya29\.[\w-]{{20,}}",
        "aiza gocspx- ya29.",
    ),
    _form(
        "Stripe key",
        rf"{_EDGE}(?:[sr]k_(?:live|test)_[A-Za-z0-9]{{16,}}|whsec_[A-Za-z0-9]{{24,}})",
        "k_live_ k_test_ whsec_",
    ),
    _form("Hugging Face token", rf"{_EDGE}hf_[A-Za-z0-9]{{30,}}", "hf_"),
    _form("npm token", rf"{_EDGE}npm_[A-Za-z0-9]{{36}}{_STOP}", "npm_"),
    _form("PyPI token", rf"{_EDGE}pypi-AgEI[\w-]{{50,}}", "pypi-agei"),
    _form("SendGrid key", rf"{_EDGE}SG\.[\w-]{{16,}}\.[\w-]{{16,}}", "sg."),
    _form("Telegram token", rf"{_EDGE}\d{{8,10}}:AA[\w-]{{33}}{_STOP}", ":aa"),
    _form("DigitalOcean token", rf"{_EDGE}do[opr]_v1_[0-9a-f]{{64}}", "_v1_"),
    _form("Shopify token", rf"{_EDGE}shp(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}}", "shp"),
    _form("Databricks token", rf"{_EDGE}dapi[0-9a-f]{{32}}", "dapi"),
    _form("Azure key", r"AccountKey=(?P<it>[A-Za-z0-9+/]{60,}={0,2})", "accountkey="),
    _form("bearer token", r"\bbearer[ :]+(?P<it>[A-Za-z0-9._~+/-]{16,}=*)", "bearer", _is_random, re.IGNORECASE),
    _form(
        "password",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,60}:(?P<it>[^\s:/@]{3,100})@(?=[\w.-])",
        "://",
        _is_real,
        re.IGNORECASE,
    ),
    _form(
        "password",
        rf"{_ENTRY}['\"]?\s*(?:=|:(?!//))\s*(?P<it>\"[^\"\n]{{4,100}}\"|'[^'\n]{{4,100}}'|[^\s,;'\"]{{6,100}})",
        "pass pwd",
        _is_password,
        re.IGNORECASE,
    ),
    _form(
        "password",
        rf"\b(?:{_ENTRY}|pin(?: code| number)?)\b(?: (?:for|to|of) [^.!?\n]{{1,40}}?)? (?:is|was|to|:) (?:now )?"
        r"(?P<it>[\"'“‘`]?[^\s\"'”’`]{4,60}[\"'”’`]?)",
        "pass pwd pin",
        _is_said,
        re.IGNORECASE,
    ),
    _form("password", r"(?:密码|口令)\s*(?:是|为|[:：=])\s*(?P<it>[!-~]{4,60})", "密码 口令", _is_said),
    _form(
        "token",
        rf"\b\w{{0,30}}{_NAMED}['\"]?\s*(?:=|:(?!//)|\bis\b|：|是)\s*['\"]?(?P<it>[A-Za-z0-9+/_.~-]{{16,200}}={{0,2}})",
        "key token secret credential",
        _is_random,
        re.IGNORECASE,
    ),
    _form(
        "token",
        r"(?:\b(?:key|token|secret|credential)s?\b|密钥|令牌)[^.\n]{0,40}?(?<![\w/.-])"
        r"(?P<it>(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9_-]{24,200})(?![\w/.-]*/)",
        "key token secret credential 密钥 令牌",
        lambda token: _is_random(token) and not _UUID.fullmatch(token),
        re.IGNORECASE,
    ),
)
_UUID = lazy(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NUMBERS = (
    _Form("card number", lazy(r"(?<![A-Za-z\d.,-])\d(?:[ -]?\d){12,18}(?![A-Za-z\d-]|[.,]\d)"), (), is_card),
    _Form("IBAN", lazy(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b"), (), is_iban),
)
