"""Secrets in a text: keys by their vendor formats, numbers by check digits, passwords by the words before them."""

from __future__ import annotations

from memorist.text.patterns import lazy
from memorist.text.secrets.codes import CODES
from memorist.text.secrets.form import Secret
from memorist.text.secrets.keys import TOKENS, VENDORS
from memorist.text.secrets.numbers import NUMBERS, PROVEN, is_card, is_iban, seed_phrases_in
from memorist.text.secrets.passwords import COMMANDS, PASSWORDS
from memorist.text.tokens import holds_any

__all__ = ["Secret", "is_card", "is_iban", "masked", "secrets_in"]

_DIGITS = lazy(r"\d[\d -]{6}")
_FORMS = (*VENDORS, *PROVEN, *PASSWORDS, *COMMANDS, *CODES, *TOKENS)


def secrets_in(text: str) -> list[Secret]:
    """The secrets in a text, in order and without overlap."""
    folded = text.lower()
    found = [one for form in _FORMS if holds_any(folded, form.hints) for one in form.matches(text)]
    if _DIGITS.search(text):
        found += [one for form in NUMBERS for one in form.matches(text)]
    found += seed_phrases_in(text)
    return _apart(found)


def masked(text: str) -> str:
    """The text with `[secret: KIND]` in place of each secret."""
    pieces: list[str] = []
    start = 0
    for one in secrets_in(text):
        pieces += text[start : one.start], f"[secret: {one.kind}]"
        start = one.end
    return "".join((*pieces, text[start:]))


def _apart(found: list[Secret]) -> list[Secret]:
    """The first of the secrets that overlap; among those that start together, the longest."""
    kept: list[Secret] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept
