"""What people like, dislike and prefer."""

from __future__ import annotations

from collections.abc import Mapping

from memorist.remember.extract.object_matchers import one_thing, thing, value
from memorist.remember.extract.rules import Rule, Say, rule
from memorist.text.patterns import lazy

_LIKES, _DISLIKES = Say("o", "likes", thing), Say("o", "dislikes", thing)
_PREFERS = Say("o", "prefers", one_thing)
_OVER = Say("less", "prefers", one_thing, negated=True, needed=False)
_VAGUE = r"(?!parts?\b|things?\b|ones?\b|bits?\b|ways?\b|moments?\b|memor|of\b|to\b|kinds?\b|types?\b)"
_TOPIC = rf"(?P<topic>{_VAGUE}[\w-]+(?: (?!is\b|are\b|was\b|to\b|of\b|for\b|in\b|ever\b|so\b|right\b)[\w-]+){{0,2}})"
_IS = rf" {_TOPIC} (?:is|are|has always been|has to be) (?P<o>.+)"
_FAVOURITE = Say("o", "favourite_{topic}", value)

NAMED_FAVOURITE = lazy(rf"\b[Mm]y (?:all[- ]time )?(?:favou?rite|fave) {_TOPIC},? (?:called|named) (?P<o>[^\n]+)")
"""A favourite with its name, anywhere in a sentence: `my favourite game called Go`."""

VERBS: Mapping[str, tuple[Rule, ...]] = {
    "love loves like likes enjoy enjoys adore adores": (rule(r" (?P<o>.+)", _LIKES, negative="dislikes"),),
    "hate hates dislike dislikes detest detests despise": (rule(r" (?P<o>.+)", _DISLIKES),),
    "prefer prefers": (
        rule(r" (?P<o>[^,;]+?) (?:over|than|rather than|instead of) (?P<less>.+)", _PREFERS, _OVER),
        rule(r" (?P<o>(?!\w+ing\b)[^,;]+?) to (?P<less>\w+(?: \w+)?)\W*$", _PREFERS, _OVER),
        rule(r" (?P<o>\w+ing [^,;]+?) to .+", _PREFERS),
        rule(r" (?P<o>.+)", _PREFERS),
    ),
}
BE = (
    rule(r"(?:an? )?(?:big |huge |massive |great |real )*(?:fan|lover) of (?P<o>.+)", _LIKES, negative="dislikes"),
    rule(r"(?:really |so |big |very )*(?:into|fond of) (?P<o>.+)", _LIKES, negative="dislikes"),
    rule(r"(?:really |so |big |very )*(?:obsessed with|crazy about|passionate about) (?P<o>.+)", _LIKES, plain=True),
)
HAVE: tuple[Rule, ...] = ()
OWN: Mapping[str, tuple[Rule, ...]] = {
    "favourite favorite fave": (rule(_IS, _FAVOURITE),),
    "all-time": (rule(f" (?:favou?rite|fave){_IS}", _FAVOURITE),),
}
WHOLE = (
    rule(
        r"(?P<o>[^,;]{2,60}?) (?:is|are) (?:definitely |still |by far |now )*(?:my|our) (?:all[- ]time )?"
        rf"(?:favou?rite|fave) {_TOPIC}(?: ever| of all time)?\W*$",
        _FAVOURITE,
    ),
)
