"""Whom people are related to; kin with a name are also found inside sentences."""

from __future__ import annotations

from collections.abc import Mapping

from memorist.remember.extract.lexicon import KIN
from memorist.remember.extract.object_matchers import people, person
from memorist.remember.extract.rules import Rule, Say, rule

_SPOUSE = Say("o", "married_to", person)
_KINDS = "|".join(sorted(KIN, key=len, reverse=True))
_MANY = {"kids": "child", "children": "child", "sons": "child", "daughters": "child", "brothers": "brother",
         "sisters": "sister", "siblings": "sibling", "dogs": "pet", "cats": "pet", "pets": "pet", "friends": "friend",
         "parents": "parent", "roommates": "roommate"}  # fmt: skip

_NAMED = r"(?:named|called|whose name is)"
_A_NAMED = rf"(?:an?|another|the) (?:[\w-]+ ){{0,3}}?(?P<kin>{_KINDS}),? {_NAMED} (?P<o>.+)"

VERBS: Mapping[str, tuple[Rule, ...]] = {
    "married": (rule(r" (?:my [\w ]{3,20},? )?(?P<o>[A-Z].+)", _SPOUSE, event=True, past=True, personal=True),),
    "got adopted bought": (
        rule(f" {_A_NAMED}", Say("o", "{kin}", person), event=True, past=True),
        rule(r" (?:married|hitched) to (?P<o>.+)", _SPOUSE, event=True, past=True, personal=True),
        rule(r" engaged to (?P<o>.+)", Say("o", "partner", person), event=True, past=True, personal=True),
    ),
    "divorced": (
        rule(r" (?P<o>[A-Z].+)", Say("o", "married_to", person, negated=True), event=True, past=True, personal=True),
    ),
}
BE = (
    rule(r"(?:happily |now |getting )?married to (?P<o>.+)", _SPOUSE, personal=True),
    rule(
        r"(?:engaged to|dating|in a relationship with|seeing) (?P<o>[A-Z].+)",
        Say("o", "partner", person),
        personal=True,
        plain=True,
    ),
)
HAVE = (
    rule(_A_NAMED, Say("o", "{kin}", person)),
    rule(
        rf"(?:two|three|four|\d) (?:[\w-]+ ){{0,2}}?(?P<kin>{'|'.join(_MANY)}),? {_NAMED} (?P<o>.+)",
        Say("o", "{kin}", people),
    ),
)
RELATIONS: Mapping[str, str] = {**KIN, **_MANY}
"""The relation that each word for kin names."""
OWN: Mapping[str, tuple[Rule, ...]] = {
    " ".join(KIN): (
        rule(r"(?:['’]s name)? is (?:called |named )?(?P<o>[A-Z].+)", Say("o", "{kin}", person)),
        rule(r"['’]s (?:called|named) (?P<o>.+)", Say("o", "{kin}", person)),
    ),
    " ".join(f"{word}'s" for word in KIN): (
        rule(r" name is (?P<o>.+)", Say("o", "{kin}", person)),
        rule(r" (?:called|named) (?P<o>.+)", Say("o", "{kin}", person)),
    ),
    " ".join(_MANY): (
        rule(r"(?:['’] names)? are (?:called |named )?(?P<o>[A-Z].+)", Say("o", "{kin}", people)),
        rule(r",? (?P<o>[A-Z].+? and .+)", Say("o", "{kin}", people)),
    ),
}
WHOLE = (
    rule(
        r"(?P<o>[^,;]{2,40}?) is (?:my|our) (?:(?:older|younger|little|big|best|new|oldest|youngest) )*"
        rf"(?P<kin>{_KINDS})\W*$",
        Say("o", "{kin}", person),
    ),
)
