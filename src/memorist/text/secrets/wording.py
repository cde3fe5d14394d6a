"""The words between a label and its secret, in several languages; parts of patterns."""

from __future__ import annotations

MEANS = r"(?:is|was|are|used to be|will be|should be|ist|war|lautet|heißt|es|era|est|était|c'est|sont|é|è|'s|’s)"
NOW = r"(?: ?:)?(?: (?:now|still|currently|jetzt|ahora|agora|adesso|maintenant|the|die|el|la|le|il))?"
OF = (
    r"(?:,? (?:for|to|of|at|on|in|from|für|zu|zum|zur|von|vom|im|am|meiner?|del|dell[ae]|de|du|da|do|di|der|des|van"
    r"|voor|pour|para|per)\b[^.,;!?\n]{1,40}?)?"
)
SIGN = r"\s{0,4}(?::?={1,3}>?|:(?!//)|：|＝|->|→)\s{0,4}"
IS = rf"(?:(?:,? ?{MEANS}|{SIGN}){NOW}\s{{0,3}})"
QUOTED = r"\"[^\"\n]{3,100}\"|'[^'\n]{3,100}'|`[^`\n]{3,100}`|“[^”\n]{3,100}”|„[^“”\n]{3,100}[“”]|«[^»\n]{3,100}»"
VALUE = rf"(?P<it>{QUOTED}|[^\s\"'`“”<>]{{3,80}}(?<![.,;:)\]]))"
"""A value in a sentence, without the punctuation after it."""
