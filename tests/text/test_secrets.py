"""Secrets are found in texts of people and programs, without false alarms."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.text.secrets import is_card, is_iban, mask_secrets, secrets_in
from memorist.text.secrets.disguise import bare
from tests.attacks.key_material import filled
from tests.secret_samples import CARD, IBAN, INNOCENT, PASSWORDS, SAMPLES


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_secret_is_masked_with_its_kind(kind: str) -> None:
    text, secret = SAMPLES[kind]
    assert secret in text
    assert [found.kind for found in secrets_in(text)] == [kind]
    assert f"[secret: {kind}]" in mask_secrets(text)
    assert secret not in mask_secrets(text)


@pytest.mark.parametrize(("text", "secret"), PASSWORDS)
def test_a_password_is_masked_and_the_sentence_stays(text: str, secret: str) -> None:
    assert secret in text
    shown = mask_secrets(text)
    assert secret not in shown
    assert "[secret: password]" in shown
    assert shown.startswith(text[: text.index(secret)].rstrip("'\""))


@pytest.mark.parametrize("text", INNOCENT)
def test_a_text_about_secrets_contains_none(text: str) -> None:
    assert secrets_in(text) == []
    assert mask_secrets(text) == text


def test_numbers_are_verified_by_their_check_digits() -> None:
    assert is_card(CARD) and not is_card(CARD[:-1] + "7")
    assert is_iban(IBAN) and not is_iban(IBAN[:-1] + "1")
    assert not is_card("4444 4444 4444 4444 44")


KINDS = {
    "PIN": "My PIN is «d:4».",
    "code": "The door code is «d:4»#.",
    "one-time code": "Your verification code is «d:6».",
    "card code": "CVV «d:3»",
    "recovery code": "Backup codes: «h:4»-«h:4», «h:4»-«h:4»",
    "social security number": "SSN «ssn»",
    "seed phrase": "«seed12»",
    "private key": "«wif»",
    "password": "Authorization: Basic «basic»",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_code_is_masked_with_its_kind(kind: str) -> None:
    text, _ = filled(KINDS[kind], seed=1)
    assert [secret.kind for secret in secrets_in(text)] == [kind]


def test_words_and_letters_without_the_checksum_are_text() -> None:
    words = filled("«seed12»", seed=1)[0].split()
    assert not secrets_in(" ".join((words[1], words[0], *words[2:])))
    assert secrets_in(f"my seed phrase: {' '.join((words[1], words[0], *words[2:]))}")
    key = filled("«wif»", seed=1)[0]
    assert not secrets_in(key[:20] + ("z" if key[20] != "z" else "y") + key[21:])


def test_a_password_of_a_url_needs_no_user() -> None:
    assert mask_secrets("redis://:" + "s3cr3tpw" + "@cache") == "redis://:[secret: password]@cache"


def test_two_secrets_in_one_text_are_both_masked() -> None:
    first, second = SAMPLES["GitHub token"], SAMPLES["Stripe key"]
    shown = mask_secrets(f"{first[0]}; {second[0]}")
    assert shown == "use [secret: GitHub token] to clone; charge with [secret: Stripe key]"


@given(st.text())
def test_masking_any_text_twice_changes_nothing_more(text: str) -> None:
    assert mask_secrets(mask_secrets(text)) == mask_secrets(text)


@pytest.mark.parametrize("name", ["locomo", "realtalk"])
def test_conversations_contain_no_secrets(data: Path, name: str) -> None:
    lines = (data / "eval" / name / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    assert [line[:200] for line in lines if secrets_in(json.loads(line)["text"])] == []


def test_every_character_that_stands_for_one_of_ascii_is_read_as_that() -> None:
    wide = [chr(code) for code in range(0x80, sys.maxunicode + 1)]
    plain = [(sign, normalize("NFKC", sign)) for sign in wide]
    for sign, meant in plain:
        if len(meant) == 1 and meant.isascii():
            shown = bare(sign)
            assert shown is not None and shown.text == meant, hex(ord(sign))
