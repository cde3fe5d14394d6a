"""The matcher that counts steps finds what `re` finds, and its steps grow as the work of `re` does."""

from __future__ import annotations

import random
import re

import pytest

from tests.attacks.counting import lazy_patterns
from tests.attacks.matcher import Matcher

PIECES = [
    *" \t\n.-1aA[]()\"'<>/\\:@_`*#,年一刚😀\u0301$%",
    *("system", "the user", "my sister ", "I ", "live in ", "Oslo", "2020", "key", "我", "住在", "password", " and "),
]
OPERATIONS = [
    r"(a|ab)(c|bcd)(d*)", r"(?:a*)*b", r"(?:a|b?)*c", r"(a+)+$", r"(?>a*)a", r"a*+b", r"(?:ab?)*?c", r"(\w)\1",
    r"(?<!a)b", r"(?i:a)A", r"(?:a?){2,3}b", r"(?=a.)\w+?1", r"x??y", r"(?:a|ab)*+c", r"(?:(a)|b)*\1",
]  # fmt: skip


def made_up(chance: random.Random) -> str:
    """A short text of pieces that our patterns look for."""
    return "".join(chance.choices(PIECES, k=chance.randrange(14)))


@pytest.mark.slow
def test_it_finds_what_re_finds() -> None:
    chance = random.Random(17)
    for pattern, flags in [*lazy_patterns(), *((operation, 0) for operation in OPERATIONS)]:
        mine, theirs = Matcher(pattern, flags), re.compile(pattern, flags)
        for text in ["", "abcd", "aabbc", *(made_up(chance) for _ in range(12))]:
            assert list(mine.all(text)) == [found.span() for found in theirs.finditer(text)], (pattern, text)
            for full, method in ((False, theirs.match), (True, theirs.fullmatch)):
                found = method(text)
                assert mine.match(text, full=full) == (found.span() if found else None), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "power"), [(r"a+b", 2), (r"a++b", 2), (r"(?<!a)a++b", 1), (r"\s*\s*x", 3), (r"a*", 1), (r"^a*a*b", 2)]
)
def test_it_counts_what_a_failure_costs(pattern: str, power: int) -> None:
    steps: list[int] = []
    for size in (40, 80):
        one = Matcher(pattern)
        list(one.all((" " if "s" in pattern else "a") * size))
        steps.append(one.steps)
    assert 2 ** (power - 0.3) < steps[1] / steps[0] < 2 ** (power + 0.3)
