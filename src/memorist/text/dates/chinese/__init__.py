"""The Chinese grammar: importing a module adds its rules."""

from memorist.text.dates.chinese import atoms, days, periods, ranges
from memorist.text.dates.chinese.atoms import chinese

__all__ = ["atoms", "chinese", "days", "periods", "ranges"]
