"""Whether figures stand for themselves: no piece of a telephone number, a version or an amount of money."""

from memorist.text.dates.grammar import Reading

_JOINTS = frozenset("-/.:,")
_BEFORE_AMOUNTS = frozenset("$€£¥#@+=")


def _is_figure(key: str) -> bool:
    return key.startswith("#") and len(key) > 1


def _is_word(key: str) -> bool:
    return key.isascii() and key.isalpha()


def free_before(reading: Reading, begin: int) -> bool:
    """No longer figure, label or sum of money ends here."""
    before = reading.key(begin - 1)
    if not _is_figure(reading.key(begin)):
        return not (before in ("$", "#", "@") and reading.tokens.glued(begin))
    tokens = reading.tokens
    if before == "-" and _is_figure(reading.key(begin - 2)):
        return False
    if not tokens.glued(begin):
        return before not in ("$", "€", "£", "+")
    goes_on = before in _JOINTS and tokens.glued(begin - 1) and _is_figure(reading.key(begin - 2))
    return not (goes_on or before in _BEFORE_AMOUNTS or _is_word(before))


def free_after(reading: Reading, _begin: int, stop: int) -> bool:
    """The last figure does not go on."""
    if not _is_figure(reading.key(stop - 1)) or not reading.tokens.glued(stop):
        return True
    after = reading.key(stop)
    if after == "%" or _is_word(after):
        return False
    return not (after in _JOINTS and reading.tokens.glued(stop + 1) and _is_figure(reading.key(stop + 1)))
