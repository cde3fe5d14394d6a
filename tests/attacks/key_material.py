"""Key material for texts with «kind:length» in them: random, of valid form, and the same for the same seed."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from random import Random

from tests.secret_samples import BASE32, BASE62, HEX, JWT, PEM

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
MARK = re.compile(r"«(\w+?)(?::(\d+))?»")
WORDS = ("Sommer", "Blue", "Whale", "Falcon", "rosie", "Kitten", "tiger", "Lisbon", "maple", "Rocket")


def filled(text: str, seed: int) -> tuple[str, list[str]]:
    """A text with key material in it, and the material."""
    luck, made = Random(f"{seed} {text}"), list[str]()

    def make(found: re.Match[str]) -> str:
        made.append(_material(found[1], int(found[2] or 0), luck))
        return made[-1]

    return MARK.sub(make, text), made


def _material(kind: str, length: int, luck: Random) -> str:
    if kind in ALPHABETS:
        return "".join(luck.choices(ALPHABETS[kind], k=length))
    return MAKERS[kind](luck)


ALPHABETS = {
    "t": BASE62,
    "h": HEX,
    "B": BASE32,
    "b": BASE62 + "+/",
    "d": "0123456789",
    "bech": BECH32.upper(),
    "nsec": BECH32,
}


def _password(luck: Random, signs: str) -> str:
    """At least one letter of each case, a digit and a sign."""
    parts = [luck.choice(name) for name in ("ABCDEFGHJKLMNPQRSTUVWXYZ", "abcdefghijkmnpqrstuvwxyz", "23456789", signs)]
    parts += luck.choices(BASE62 + signs, k=luck.randint(4, 12))
    luck.shuffle(parts)
    return luck.choice(BASE62) + "".join(parts) + luck.choice(BASE62)


def _weak(luck: Random) -> str:
    """What people choose: a word or two, some digits, perhaps a sign."""
    words = "".join(luck.sample(WORDS, luck.randint(1, 2)))
    return words + str(luck.randint(2, 9999)) + luck.choice(("", "", "!", "#", "$"))


def _base58(data: bytes) -> str:
    data += hashlib.sha256(hashlib.sha256(data).digest()).digest()[:4]
    number, text = int.from_bytes(data), ""
    while number:
        number, digit = divmod(number, 58)
        text = BASE58[digit] + text
    return text


@cache
def _words() -> list[str]:
    return (files("memorist.text.secrets") / "bip39.txt").read_text(encoding="utf-8").split()


def _seed(luck: Random, count: int) -> list[str]:
    """A mnemonic with its checksum, as BIP-39 has it."""
    size = count * 32 // 3
    entropy = luck.randbytes(size // 8)
    check = hashlib.sha256(entropy).digest()[0] >> (8 - size // 32)
    number = int.from_bytes(entropy) << (size // 32) | check
    return [_words()[number >> 11 * place & 2047] for place in reversed(range(count))]


def _card(luck: Random) -> str:
    body = [int(digit) for digit in "4" + "".join(luck.choices("0123456789", k=14))]
    doubled = [2 * digit - 9 * (digit > 4) if place % 2 == 0 else digit for place, digit in enumerate(body)]
    digits = "".join(map(str, (*body, -sum(doubled) % 10)))
    return " ".join(digits[at : at + 4] for at in range(0, 16, 4))


def _iban(luck: Random) -> str:
    body = "".join(luck.choices("0123456789", k=18))
    digits = f"DE{98 - int(body + '131400') % 97:02}{body}"
    return " ".join(digits[at : at + 4] for at in range(0, 22, 4))


MAKERS: dict[str, Callable[[Random], str]] = {
    "pw": lambda luck: _password(luck, "!$%&*+-=?#_^"),
    "upw": lambda luck: _password(luck, "!$*+-_"),
    "weak": _weak,
    "basic": lambda luck: base64.b64encode(f"ann:{_password(luck, '!$%&')}".encode()).decode(),
    "jwt": lambda _: JWT,
    "pem": lambda _: PEM,
    "wif": lambda luck: _base58(b"\x80" + luck.randbytes(32) + b"\x01" * luck.randint(0, 1)),
    "xprv": lambda luck: _base58(
        bytes.fromhex("0488ade4") + bytes(9) + luck.randbytes(32) + b"\0" + luck.randbytes(32)
    ),
    "seed12": lambda luck: " ".join(_seed(luck, 12)),
    "seed24": lambda luck: " ".join(_seed(luck, 24)),
    "list12": lambda luck: "\n".join(f"{place}. {word}" for place, word in enumerate(_seed(luck, 12), 1)),
    "ssn": lambda luck: f"{luck.randint(100, 665)}-{luck.randint(10, 99)}-{luck.randint(1000, 9999)}",
    "card": _card,
    "iban": _iban,
}
