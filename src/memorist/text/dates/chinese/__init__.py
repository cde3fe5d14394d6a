"""The Chinese grammar, from numerals to open ranges."""

from memorist.text.dates.chinese import atoms, days, expressions, periods, ranges, shifts, times
from memorist.text.dates.chinese.atoms import chinese

__all__ = ["atoms", "chinese", "days", "expressions", "periods", "ranges", "shifts", "times"]
