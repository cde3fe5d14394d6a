"""Is a value a secret? The answer depends on how it is announced: as a key, in a setting, in a sentence."""

from __future__ import annotations

import math
import re
from collections import Counter

from memorist.text.patterns import lazy

TOKEN_BITS = 2.75
"""The least entropy of a token in bits per character: English words have about 2.5, 20 random base64 characters 4."""
QUOTES = "'\"`“”‘’„«»*"
"""Signs around a value, the asterisks of Markdown among them."""

_PLACEHOLDER = lazy(
    r"\*{3}|x{5}|\.{3}|…|•{3}|_{4}|^[<{\[(]|>$|\}\}$|^\$\{?\w+\}?$|^\$\(|^%\(|\[secret|your|example|placeholder"
    r"|changeme|change_me|redacted|dummy|^(?:[a-z]+[_.-]?)?(?:pass(?:word|wd|phrase)?|pwd|secret(?:_?key)?|token)$",
    re.IGNORECASE,
)
_EXPRESSION = lazy(
    r"^(?:os|process|config|settings|env|self|this|request|args|params|secrets)\.|\w\(|\)$|^\w+\[|/\w+/\w|^!\w+$"
    r"|^[A-Za-z_]+(?:\.[A-Za-z_]+)+$|^--?\w|://"
)
_UUID = lazy(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PART = lazy(r"[A-Za-z]*|\d{1,4}|[A-Za-z]{1,3}\d{1,5}|[A-Z]?[a-z]+\d{1,2}")
_MEASURE = lazy(
    r"[$€£]?[\d.,:/-]+(?:st|nd|rd|th|am|pm|k|m|gb|mb|%|\+)?|v\d[\d.]*|\d+-?(?:[a-z]+|bits?|bytes?)",
    re.IGNORECASE,
)
_TECHNICAL = lazy(
    r"1password\w*|keepass\w*|argon2\w*|b?scrypt\d*|sha-?\d\w*|md5|pbkdf2\w*|oauth2?|base64\w*|utf-?\d+|rfc-?\d\w*"
    r"|ntlm\w*|log4j|ipv[46]|http/?\d|python\d?|web[23]|windows\d+|ios\d+|\w++\.(?:com|org|net|de|py|js|md|txt)\S*",
    re.IGNORECASE,
)
_LABEL = lazy(r"[A-Z]{1,5}-?\d+(?:[-/]\d+)?[A-Z]?")
"""A flight, a course, a ticket."""
_TYPES = lazy(
    r"string|str|text|bytes|required|optional|hidden|null|none|true|false|varchar|password|invalid|incorrect|wrong|missing"
    r"|empty|unknown|default|unset|disabled|enabled|masked|encrypted|hashed|number|integer",
    re.IGNORECASE,
)


def is_real(value: str) -> bool:
    """Whether a value is more than a placeholder."""
    return not _PLACEHOLDER.search(value)


def is_random(token: str) -> bool:
    """Whether a token has letters and digits without the regularity of words, variable names or counters.

    Letters alone have to change case more often than names do.
    """
    if not re.search(r"[A-Za-z]", token) or _PLACEHOLDER.search(token):
        return False
    if not re.search(r"\d", token):
        return len(token) >= 20 and token.isalpha() and 0.3 <= sum(map(str.isupper, token)) / len(token) <= 0.7
    counts = Counter(token)
    bits = -sum(count / len(token) * math.log2(count / len(token)) for count in counts.values())
    return bits >= TOKEN_BITS and not all(_PART.fullmatch(part) for part in re.split(r"[-_.~/]", token))


def is_random_not_uuid(token: str) -> bool:
    """Whether a token is random, and not an id that everybody may know."""
    return is_random(token) and not _UUID.fullmatch(token)


def is_given(value: str) -> bool:
    """Whether a value after the option or in the URL for a password is one: anything but a variable or placeholder."""
    bare = value.strip(QUOTES)
    return len(bare) >= 3 and is_real(bare) and not _EXPRESSION.search(bare) and not bare.startswith("$")


def is_assigned(value: str) -> bool:
    """Whether the value of a setting may be a password: not a plain word, type, variable or placeholder."""
    bare = value.strip(QUOTES)
    if len(bare) < 4 or not is_given(bare) or _TYPES.fullmatch(bare.rstrip(".,;")):
        return False
    if bare != value:
        return True
    return len(bare) >= 6 and (bare.isdigit() or (bool(re.search(r"[A-Za-z]", bare)) and _is_irregular(bare)))


def is_said(value: str) -> bool:
    """Whether a value in a sentence may be a password: with letters and digits, and not a date, version or amount."""
    bare = value.strip(QUOTES).rstrip(".,;:")
    if len(bare) < 4 or not is_given(bare) or _MEASURE.fullmatch(bare) or _TECHNICAL.fullmatch(bare):
        return False
    return bool(re.search(r"[A-Za-z]", bare)) and _is_irregular(bare)


def is_said_or_number(value: str) -> bool:
    """Whether a value in a sentence may be a password, even one of digits."""
    bare = value.strip(QUOTES).rstrip(".,;:")
    return is_said(value) or (bare.isdigit() and len(bare) >= 4)


def is_strong(value: str) -> bool:
    """Whether a value that merely stands beside the word may be a password: at least six characters, with a digit."""
    bare = value.strip(QUOTES).rstrip(".,;:")
    return len(bare) >= 6 and bool(re.search(r"\d", bare)) and is_said(bare) and not _LABEL.fullmatch(bare)


def _is_irregular(bare: str) -> bool:
    """Whether letters come with digits or signs, in changing case, or as a chain of words."""
    if re.search(r"\d", bare) or re.search(r"[!@#$%^&*+=?~|\\].*\w", bare):
        return True
    if re.fullmatch(r"[a-z]{3,}(?:[-_.][a-z]{3,}){3,}|[a-z]{4,}(?:[-_.][a-z]{4,}){2}", bare, re.IGNORECASE):
        return True
    return bare.isascii() and bare.isalpha() and not re.fullmatch(r"[a-z]*(?:[A-Z][a-z]+)*[A-Z]?|[A-Z]+s?", bare)
