"""Secrets in a text: keys by their vendor formats, numbers by check digits, passwords by the words before them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memorist.text.patterns import any_of, lazy
from memorist.text.secrets.codes import CODES
from memorist.text.secrets.disguise import bare
from memorist.text.secrets.form import Secret, SecretFormat
from memorist.text.secrets.keys import TOKENS, VENDORS
from memorist.text.secrets.numbers import BASIC, NUMBERS, PROVEN, SOCIAL, is_card, is_iban, seed_phrases_in
from memorist.text.secrets.passwords import COMMANDS, PASSWORDS, in_columns
from memorist.text.tokens import holds_any

__all__ = ["Secret", "is_card", "is_iban", "mask_secrets", "secrets_in"]

_DIGIT = lazy(r"\d")
_DIGITS = lazy(r"\d[\d -]{6}")
_LONG = lazy(r"\S{15}")
"""No key or token is shorter."""


def secrets_in(text: str) -> list[Secret]:
    """The secrets in a text, in order and without overlap, also behind escapes and characters that do not show."""
    found = _plain(text)
    shown = bare(text)
    if shown is not None:
        hidden = _plain(shown.text)
        found += [Secret(secret.kind, shown.place(secret.start), shown.end(secret.end - 1)) for secret in hidden]
    return _apart(found)


def _plain(text: str) -> list[Secret]:
    folded = text.lower()
    found = list(_found(text, folded, _SAID)) if _SAID_HINTS.search(folded) else []
    if _LONG.search(text):
        found += _found(text, folded, _KEYS)
    if _DIGIT.search(text):
        found += _found(text, folded, _CODES)
        if _DIGITS.search(text):
            found += [match for form in NUMBERS for match in form.matches(text)]
    found += seed_phrases_in(folded)
    found += in_columns(text)
    return found


def _found(text: str, folded: str, groups: _Groups) -> Iterator[Secret]:
    for hints, forms in groups.items():
        if holds_any(folded, hints):
            for form in forms:
                yield from form.matches(text)


_Groups = Mapping[tuple[str, ...], list[SecretFormat]]


def _grouped(*forms: SecretFormat) -> _Groups:
    """Forms by their hints, so that hints that many share are looked for once."""
    groups: dict[tuple[str, ...], list[SecretFormat]] = {}
    for form in forms:
        groups.setdefault(form.hints, []).append(form)
    return groups


_SAID = _grouped(*PASSWORDS, *COMMANDS, *BASIC)
_SAID_HINTS = lazy(any_of(hint for hints in _SAID for hint in hints))
"""Any hint of these; most texts have none."""
_KEYS = _grouped(*VENDORS, *TOKENS, *PROVEN)
_CODES = _grouped(*CODES, *SOCIAL)


def mask_secrets(text: str) -> str:
    """The text with `[secret: KIND]` in place of each secret."""
    pieces: list[str] = []
    start = 0
    for secret in secrets_in(text):
        pieces += text[start : secret.start], f"[secret: {secret.kind}]"
        start = secret.end
    return "".join((*pieces, text[start:]))


def _apart(found: list[Secret]) -> list[Secret]:
    """The first of the secrets that overlap; among those that start together, the longest."""
    if len(found) < 2:
        return found
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept
