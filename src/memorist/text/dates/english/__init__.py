"""The English grammar, from numbers to open ranges."""

from memorist.text.dates.english import (
    atoms,
    days,
    expressions,
    moments,
    monthdays,
    parts,
    periods,
    ranges,
    shifts,
    times,
)
from memorist.text.dates.english.atoms import english

__all__ = [
    "atoms",
    "days",
    "english",
    "expressions",
    "moments",
    "monthdays",
    "parts",
    "periods",
    "ranges",
    "shifts",
    "times",
]
