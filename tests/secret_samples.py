"""Made-up secrets of real forms, put together when a test runs: no file holds one."""

from __future__ import annotations

import base64
import hashlib
import json

BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
HEX = "0123456789abcdef"


def token(length: int, alphabet: str = BASE62, seed: str = "sample") -> str:
    """Letters that look random and are the same in every run."""
    digits = (hashlib.sha256(f"{seed} {place}".encode()).digest()[0] for place in range(length))
    return "".join(alphabet[digit % len(alphabet)] for digit in digits)


def _segment(data: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


JWT = ".".join((_segment({"alg": "HS256", "typ": "JWT"}), _segment({"sub": "4711", "name": "Ann"}), token(43)))
PEM = "\n".join(
    ("-----BEGIN RSA " + "PRIVATE KEY-----", token(64), token(64, seed="b"), "-----END RSA " + "PRIVATE KEY-----")
)
CARD = " ".join(("4532", "0151", "1283", "0366"))
IBAN = " ".join(("DE89", "3704", "0044", "0532", "0130", "00"))

SAMPLES: dict[str, tuple[str, str]] = {
    "AWS key": ("deploy with AKIA" + token(16, BASE32) + " from the CI", "AKIA" + token(16, BASE32)),
    "AWS secret key": ("aws_secret_access_key = " + token(40), token(40)),
    "GitHub token": ("use ghp_" + token(36) + " to clone", "ghp_" + token(36)),
    "GitLab token": ("glpat-" + token(20) + " expires in May", "glpat-" + token(20)),
    "Slack token": ("the bot has xoxb-" + token(12, "123456789") + "-" + token(24), token(24)),
    "Anthropic key": ("export KEY=sk-ant-api03-" + token(40), "sk-ant-api03-" + token(40)),
    "OpenAI key": ("my key sk-proj-" + token(40) + " stopped working", "sk-proj-" + token(40)),
    "Google key": ("maps uses AIza" + token(35) + " now", "AIza" + token(35)),
    "Stripe key": ("charge with sk_live_" + token(24), "sk_live_" + token(24)),
    "Hugging Face token": ("hf_" + token(34) + " reads the gated model", "hf_" + token(34)),
    "npm token": ("//registry/:_authToken npm_" + token(36), "npm_" + token(36)),
    "SendGrid key": ("SG." + token(22) + "." + token(43) + " sends the mail", token(43)),
    "Telegram token": ("bot 123456789:AA" + token(33) + " answers", "AA" + token(33)),
    "DigitalOcean token": ("dop_v1_" + token(64, HEX), token(64, HEX)),
    "Databricks token": ("cluster dapi" + token(32, HEX) + " is up", token(32, HEX)),
    "JSON web token": ("curl -H 'Cookie: session=" + JWT + "'", JWT),
    "private key": ("Here is the key:\n" + PEM + "\nKeep it safe.", token(64, seed="b")),
    "bearer token": ("Authorization: Bearer " + token(32), token(32)),
    "card number": (f"Ann's card is {CARD}, it expires in March.", CARD),
    "IBAN": (f"Send the rent to {IBAN} please.", IBAN),
    "token": ("CLIENT_SECRET: '" + token(32) + "'", token(32)),
}
"""By kind: a text somebody might write, and the secret in it."""
PASSWORDS: tuple[tuple[str, str], ...] = (
    ("My Netflix password is Blue" + "Whale42!", "Blue" + "Whale42!"),
    ("PASSWORD=" + "tr0ub4dor&3", "tr0ub4dor&3"),
    ('{"user": "ann", "password": "' + 'correct horse 9"}', "correct horse 9"),
    ("postgres://ann:" + "s3cr3tpw" + "@db.internal:5432/app", "s3cr3tpw"),
    ("wifi 密码是" + "qwe12345!", "qwe12345!"),
)
INNOCENT: tuple[str, ...] = (
    "The password is required before you can log in.",
    "I forgot my password again and had to reset it.",
    "The key to a good marriage is patience.",
    "We met on 2024-05-12 at 10:30 and paid 1,234.50 dollars.",
    "Call me at +44 20 7946 0958 tomorrow.",
    "Order 1234 5678 9012 3456 is on its way.",
    "Commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke the build.",
    "password = os.environ['DB_PASSWORD']",
    "Set password=<your-password> and token: string in the file.",
    "My son's token of appreciation was a hand-painted mug.",
    "The secret ingredient is two spoons of miso.",
    "The session id is 123e4567-e89b-12d3-a456-426614174000.",
    "She is the key person for the 2023 conference on memory.",
    "Files that begin with -----BEGIN " + "PRIVATE KEY----- must never be committed. Rotate them.",
    "api_key = YOUR_API_KEY_GOES_HERE_12345",
)
"""Texts with the words of secrets and none in them."""
