"""The English grammar: importing a module adds its rules."""

from memorist.text.dates.english import atoms, days, moments, periods, ranges, shifts
from memorist.text.dates.english.atoms import english

__all__ = ["atoms", "days", "english", "moments", "periods", "ranges", "shifts"]
