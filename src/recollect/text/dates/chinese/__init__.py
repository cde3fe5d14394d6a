"""The Chinese grammar, from numerals to open ranges."""

from recollect.text.dates.chinese import atoms, days, expressions, periods, ranges, shifts, times
from recollect.text.dates.chinese.atoms import chinese

__all__ = ["atoms", "chinese", "days", "expressions", "periods", "ranges", "shifts", "times"]
