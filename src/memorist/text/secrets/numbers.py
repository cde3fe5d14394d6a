"""Secrets that prove themselves: by a check digit, a checksum, or what they decode to."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from memorist.text.patterns import lazy
from memorist.text.secrets.form import Secret, SecretFormat, form, ignoring_case

_ISSUERS = lazy(
    r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}"
    r"|62\d{14,17}|35\d{14}"
)
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_KNOWN_SSN = frozenset(("123456789", "987654321", "078051120", "219099999", "457555462"))
"""Numbers of advertisements and examples."""


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


def is_ssn(number: str) -> bool:
    """Whether a number may be a US social security number: no part is zero, no area is reserved."""
    digits = re.sub(r"\D", "", number)
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    reserved = area in ("000", "666") or area[0] == "9" or group == "00" or serial == "0000"
    return not reserved and digits not in _KNOWN_SSN


def is_base58_key(text: str) -> bool:
    """Whether a text is Base58 with a valid checksum, as private keys of Bitcoin are written (WIF, xprv)."""
    number = 0
    for character in text:
        number = number * 58 + _BASE58.index(character)
    data = number.to_bytes((number.bit_length() + 7) // 8)
    return hashlib.sha256(hashlib.sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


def is_basic(text: str) -> bool:
    """Whether Base64 holds a user and a password, as in HTTP Basic authentication."""
    try:
        user, colon, password = base64.b64decode(text, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return bool(colon) and len(password) >= 3 and (user + password).isprintable()


_NO_PERSON = "".join(
    rf"(?<!{word} \d)" for word in ("invoice", "order", "part", "ticket", "case", "item", "no", r"no\.")
)
NUMBERS: Sequence[SecretFormat] = (
    form("card number", r"(?<![A-Za-z\d.,/-])\d(?:[ -]?\d){12,18}(?![A-Za-z\d-]|[.,]\d)", "", is_card),
    form("card number", r"(?<![A-Za-z\d.,/-])\d{4}(?:[ -]\d{4}){3}(?![A-Za-z\d-]|[.,]\d)", "", is_card),
    form("IBAN", r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b", "", is_iban),
    ignoring_case("social security number", rf"(?<![\w.#-])\d{_NO_PERSON}\d\d-\d\d-\d{{4}}(?![\w-]|\.\d)", "", is_ssn),
)
"""Forms without a hint, for texts with many digits."""
SOCIAL: Sequence[SecretFormat] = (
    ignoring_case(
        "social security number",
        r"(?:\bssn|\bsocial(?: security)?(?: (?:number|no))?)\b[^\d\n]{0,12}(?P<it>\d{3}[ -]?\d{2}[ -]?\d{4})(?![\w-])",
        "ssn social",
        lambda number: re.sub(r"\D", "", number) not in _KNOWN_SSN,
    ),
)
PROVEN: Sequence[SecretFormat] = (
    form(
        "private key",
        r"(?<![A-Za-z0-9])(?:[5KLc9][1-9A-HJ-NP-Za-km-z]{50,51})(?![A-Za-z0-9])",
        "5 k l c 9",
        is_base58_key,
    ),
    form("private key", r"(?<![A-Za-z0-9])[xyzt]prv[1-9A-HJ-NP-Za-km-z]{107}(?![A-Za-z0-9])", "prv", is_base58_key),
)
BASIC: Sequence[SecretFormat] = (
    ignoring_case("password", r"\bbasic\s{1,4}(?P<it>[A-Za-z0-9+/]{8,400}={0,2})", "basic", is_basic),
    ignoring_case(
        "password",
        r"(?<![A-Za-z])_?auth['\"]?\s{0,4}[:=]\s{0,4}['\"]?(?P<it>[A-Za-z0-9+/]{8,400}={0,2})",
        "auth",
        is_basic,
    ),
)

_WORDS = 12
_WORD = r"[a-z]{3,8}(?![a-z])"
_LETTERS = lazy(r"[a-z]+")
_RUN = lazy(rf"(?<![\w'])(?:\d{{1,2}}[.):]? )?{_WORD}(?:[\s,;|'\"]{{1,4}}(?:\d{{1,2}}[.):]?\s?)?{_WORD}){{11,59}}+")
_ANNOUNCED = lazy(
    r"(?:(?:seed|recovery|backup|secret|wallet|mnemonic)[ -]?(?:phrase|words?|seed)s?|mnemonic|seed|frase semilla"
    r"|frase de recuperación|phrase de récupération|wiederherstellungsphrase|助记词)"
    r"(?:[ =:：\"'“\n-]|is\b|are\b|ist\b|es\b|est\b){0,8}"
)


def seed_phrases_in(folded: str) -> Iterator[Secret]:
    """The seed phrases of wallets in a text in lower case: words with the checksum of BIP-39, or 12 announced ones."""
    if not _may_hold_seed_phrase(folded):
        return
    for run in _RUN.finditer(folded):
        words = [(run.start() + found.start(), run.start() + found.end()) for found in re.finditer(_WORD, run[0])]
        numbers = [_places().get(folded[start:end], -1) for start, end in words]
        first, last = _checked(numbers)
        if first == last and (said := _ANNOUNCED.search(folded, max(0, run.start() - 40), run.end())):
            first = next((place for place, (start, _) in enumerate(words) if start >= said.end()), len(words))
            last = len(words) if _mostly_known(numbers[first:]) else first
        if first < last:
            yield Secret("seed phrase", words[first][0], words[last - 1][1])


def _may_hold_seed_phrase(folded: str) -> bool:
    """Whether as many words as a seed phrase has, all of three to eight letters, follow each other."""
    fitting = 0
    for length in map(len, _LETTERS.findall(folded)):
        fitting = fitting + 1 if 3 <= length <= 8 else 0
        if fitting == _WORDS:
            return True
    return False


def _mostly_known(numbers: Sequence[int]) -> bool:
    """Whether words are a seed phrase with some slips of the pen, and not the rest of a sentence."""
    return len(numbers) >= _WORDS and sum(number >= 0 for number in numbers) >= len(numbers) * 3 / 4


def _checked(numbers: Sequence[int]) -> tuple[int, int]:
    """The first run of words with a valid checksum, the longest of those that start together; else nothing."""
    for first in range(len(numbers) - _WORDS + 1):
        for count in (24, 21, 18, 15, 12):
            if first + count <= len(numbers) and _holds(numbers[first : first + count]):
                return first, first + count
    return 0, 0


def _holds(numbers: Sequence[int]) -> bool:
    if min(numbers) < 0 or len(set(numbers)) < len(numbers) * 3 / 4:
        return False
    whole = 0
    for number in numbers:
        whole = whole << 11 | number
    check = len(numbers) // 3
    entropy = (whole >> check).to_bytes(check * 4)
    return hashlib.sha256(entropy).digest()[0] >> (8 - check) == whole & (1 << check) - 1


@cache
def _places() -> dict[str, int]:
    """The place of each word of the English list of BIP-39, the standard of seed phrases."""
    words = Path(__file__).with_name("bip39.txt").read_text(encoding="utf-8").split()
    return {word: place for place, word in enumerate(words)}
