"""Where a value becomes a secret, and where a secret ends: every bound of the checks, and every last character."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from memorist.text.secrets import is_card, is_iban, mask_secrets, secrets_in
from memorist.text.secrets.disguise import bare
from memorist.text.secrets.numbers import _places, is_base58_key, is_basic, is_ssn  # pyright: ignore[reportPrivateUsage]
from memorist.text.secrets.values import (
    is_assigned,
    is_given,
    is_random,
    is_random_not_uuid,
    is_real,
    is_said,
    is_said_or_number,
    is_strong,
)
from tests.secret_samples import PASSWORDS

WORD = "hunter2-Ab"
TEN = "".join(("Zq8", "kLm2", "Xw9"))


def test_a_secret_ends_where_it_ends_behind_a_disguise() -> None:
    key = "ghp_" + "aB3dE6gH9" * 4
    for text in (f"use {key} now", f"use {key[:8]}\u200b{key[8:]} now", f"use {key[:-1]}\\u00{ord(key[-1]):02x} now"):
        assert mask_secrets(text) == "use [secret: GitHub token] now"


@pytest.mark.parametrize(("text", "secret"), PASSWORDS)
def test_a_password_is_masked_alone(text: str, secret: str) -> None:
    parts = mask_secrets(text).split("[secret: password]")
    assert all(part in text for part in parts) and secret.strip("'\"") not in mask_secrets(text)


BOUNDS = {
    is_given: (("abc", "'abc'"), ("ab", "'ab'", "$abc", "os.environ", "example", "a::b(c)")),
    is_assigned: (
        ("abcde1", "12345678", "'word'", '"abcd"', "aBCdEf"),
        ("abcd1", "abcdef", "'abc'", "string", "str,", "123", "12345", "!!!!!!"),
    ),
    is_said: (("ab1c", "hunter2", "a-b!c"), ("ab1", "1234", "2024-06-03", "sha256", "word", "12gb", "$10.50")),
    is_said_or_number: (("ab1c", "1234"), ("ab1", "123", "word")),
    is_strong: (("hunt3r", "abcde1"), ("hun3r", "hunter", "LH-1234", "123456", "v1.2.3")),
    is_real: (("hunter2",), ("****", "xxxxx", "...", "<key>", "${KEY}", "your-key")),
    is_random_not_uuid: ((TEN * 2,), ("123e4567-e89b-12d3-a456-426614174000",)),
}


@pytest.mark.parametrize("check", BOUNDS, ids=lambda check: check.__name__)
def test_a_check_answers_at_its_bounds(check: object) -> None:
    assert callable(check)
    taken, left = BOUNDS[check]  # pyright: ignore[reportArgumentType]
    assert [(value, check(value)) for value in taken] == [(value, True) for value in taken]
    assert [(value, check(value)) for value in left if check(value) is not False] == []


@pytest.mark.parametrize(
    ("token", "random"),
    [
        ("a1b2c3d4e5f6g7h8", True),
        ("1234567890123456", False),  # no letter
        ("aaaaaaaaaaaaaaa1", False),  # too little entropy
        ("aAbBcCdDeEfFgGhHiIjJ", True),  # 20 letters, half of them upper case
        ("aAbBcCdDeEfFgGhHiIj", False),  # 19
        ("aAbBcCdDeEfFgGhHiI_J", False),  # not letters alone
        ("ABCDEFghijklmnopqrst", True),  # 0.3
        ("ABCDEfghijklmnopqrst", False),  # 0.25
        ("ABCDEFGHIJKLMNopqrst", True),  # 0.7
        ("ABCDEFGHIJKLMNOpqrst", False),  # 0.75
        ("user-name-12", False),  # words and counters
        ("your_k3y_a8fj2l9d", False),
    ],
)
def test_a_token_is_random_from_its_letters_and_digits(token: str, random: bool) -> None:
    assert is_random(token) is random


@pytest.mark.parametrize(
    ("value", "irregular"),
    [
        ("abCDe", True),
        ("abcdeF", False),
        ("Hello", False),
        ("camelCase", False),
        ("WORDS", False),
        ("WORDs", False),
        ("horse-staple-battery", True),
        ("horse-staple", False),
        ("one-two-red-blue", True),
        ("one-two-red", False),
        ("pass!word", True),
        ("passwort!", False),
        ("größe", False),
    ],
)
def test_a_word_is_irregular_by_its_signs_case_or_chain(value: str, irregular: bool) -> None:
    assert is_said(value) is irregular


def test_numbers_prove_themselves_at_every_length_and_digit() -> None:
    assert is_card("4111 1111 1111 1112") is False and is_card("4111111111111111") is False  # too few digits differ
    assert is_card("4012888888881881") and not is_card("4012888888881882") and not is_card("9012888888881881")
    assert is_card("378282246310005") and is_card("4222222222222") is False and is_card("6011000990139424")
    assert is_iban("NO93 8601 1117 947") and not is_iban("NO93 8601 1117 94") and not is_iban("NO94 8601 1117 947")
    assert is_iban("MT84MALT011000012345MTLCAST001S") and is_iban("mt84malt011000012345mtlcast001s")
    assert not is_iban("A" * 35) and is_iban("1" * 14) is False
    ssn = {"536-90-4399": True, "000-90-4399": False, "666-90-4399": False, "900-90-4399": False}
    ssn |= {"536-00-4399": False, "536-90-0000": False, "123-45-6789": False, "899-01-0001": True}
    assert {number: is_ssn(number) for number in ssn} == ssn


@pytest.mark.parametrize(
    ("text", "basic"),
    [
        ("dXNlcjphYmM=", True),
        ("dXNlcjphYg==", False),
        ("dXNlcg==", False),
        ("AAECAw==", False),
        ("/////w==", False),
        ("dXN*lcjphYmM=", False),
    ],
)
def test_basic_authentication_holds_a_user_and_a_password(text: str, basic: bool) -> None:
    assert is_basic(text) is basic


def test_a_base58_key_has_a_checksum() -> None:
    key = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"
    assert is_base58_key(key) and not is_base58_key(key[:-1] + "K") and not is_base58_key("6" + key[1:])


def test_columns_are_masked_in_every_row_and_nowhere_else() -> None:
    table = f"user,password,city\nann,{WORD},Oslo\nbob, {TEN} ,Rome\n\nann,{WORD},Oslo"
    assert mask_secrets(table) == (
        f"user,password,city\nann,[secret: password],Oslo\nbob, [secret: password] ,Rome\n\nann,{WORD},Oslo"
    )
    assert mask_secrets(f"password,user\n{WORD},ann") == "password,user\n[secret: password],ann"
    assert (
        mask_secrets(f"x\n| name | Token |\n|---|---|\n| ann | {TEN} |")
        == "x\n| name | Token |\n|---|---|\n| ann | [secret: password] |"
    )
    two = f"password\tx\tpin token\n{WORD}\ty\t{TEN}\n{TEN}\t\t{WORD}\n"
    assert mask_secrets(two) == re.sub(rf"{WORD}|{TEN}", "[secret: password]", two)


@pytest.mark.parametrize(("rows", "found"), [(199, 199), (200, 200), (201, 200), (300, 200)])
def test_only_so_many_rows_are_read_below_a_header(rows: int, found: int) -> None:
    assert len(secrets_in("id,password\n" + "\n".join(f"{place},{WORD}" for place in range(rows)))) == found


def test_a_second_table_has_its_own_header() -> None:
    text = f"id,secret\n1,{WORD}\n\nname;token\nann;{TEN}\n"
    assert [text[secret.start : secret.end] for secret in secrets_in(text)] == [WORD, TEN]


def test_of_secrets_that_overlap_the_first_and_longest_is_masked() -> None:
    text = f"https://ann:{WORD}@host/path?token={TEN}{TEN}"
    found = secrets_in(text)
    assert [text[secret.start : secret.end] for secret in found] == [WORD, TEN * 2]
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200bb", "ab"),
        ("\uff41b", "ab"),
        ("p\\u0061ss", "pass"),
        ("p\\x61ss", "pass"),
        ("a%3Db", "a=b"),
        ("a&#61;b", "a=b"),
        ("a&#x3d;b", "a=b"),
        ("a&quot;b&apos;c&amp;d&colon;e&equals;f", "a\"b'c&d:e=f"),
        ("**a** b", "a b"),
        ('a\\"b', 'a"b'),
        ("a‐b", "a-b"),
        ("a\\u0007b", "a b"),
        ("a\\u007fb", "a b"),
        ("a\\u007eb", "a~b"),
        ("a\\u0020b", "a b"),
        ("é\u200ba", "éa"),
    ],
)
def test_a_disguise_is_taken_off_and_every_place_is_known(text: str, shown: str) -> None:
    found = bare(text)
    assert found is not None and found.text == shown
    for place, sign in enumerate(shown):
        if sign.isalpha() and sign in text:
            assert text[found.place(place)] == sign
    assert found.place(0) == 0 or not text[0].isalpha()
    assert bare("plain text") is None and bare("é") is None


KNOWN = "abandon abstract zoo zone wrap world winter window whisper wheat wealth"
"""Eleven words of the list: its first one, one of eight letters, and one of three."""


def test_a_seed_phrase_is_found_by_its_checksum_and_masked_whole() -> None:
    phrases = [f"{KNOWN.replace('zone', 'zoo')} {last}" for last in _places()]
    valid = [phrase for phrase in phrases if secrets_in(phrase)]
    assert len(valid) == 2048 / 16  # four bits of checksum, though a word is repeated
    text = f"Keep this safe, with 1 and 2: {valid[0]}. Good night"
    [found] = secrets_in(text)
    assert text[found.start : found.end] == valid[0]


@pytest.mark.parametrize(("unknown", "announced"), [(0, True), (3, True), (4, False), (12, False)])
def test_an_announced_seed_phrase_may_have_some_slips(unknown: int, announced: bool) -> None:
    words = [*KNOWN.split(), "abandon"]
    words[:unknown] = [f"zzz{'abcdefghijkl'[place]}" for place in range(unknown)]
    words = words[::-1]
    text = f"seed phrase: {' '.join(words)}"
    assert [text[secret.start : secret.end] for secret in secrets_in(text)] == ([" ".join(words)] if announced else [])
    assert secrets_in(f"seed phrase: {' '.join(words[:11])}") == []


def test_an_iban_may_have_every_letter() -> None:
    assert is_iban("AZ21 NABZ 0000 0000 1370 1000 1944")
