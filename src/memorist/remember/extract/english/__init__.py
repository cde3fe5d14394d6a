"""What English predicates say, by subject matter."""

from __future__ import annotations

from memorist.remember.extract.english import family, home, self, taste, work
from memorist.remember.extract.rules import by_word

_ROOMS = (home, work, family, self, taste)

VERBS = by_word(pair for room in _ROOMS for pair in room.VERBS.items())
"""Rules for what follows a verb, by the verb's forms."""
BE = tuple(rule for room in _ROOMS for rule in room.BE)
"""Rules for what follows a form of `to be`."""
HAVE = tuple(rule for room in _ROOMS for rule in room.HAVE)
"""Rules for what follows `have` or `have got`."""
OWN = by_word(pair for room in _ROOMS for pair in room.OWN.items())
"""Rules for what follows `my` or a possessor, by the noun that is owned."""
WHOLE = (*self.WHOLE, *family.WHOLE, *taste.WHOLE)
"""Rules for clauses without a subject of their own, about the speaker."""
