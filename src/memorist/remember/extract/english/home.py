"""Where people live, come from and have been."""

from __future__ import annotations

from collections.abc import Mapping

from memorist.remember.extract.object_matchers import place
from memorist.remember.extract.rules import Rule, Say, rule

_LIVES = Say("o", "lives_in", place)
_IN = r"(?:in|near|around|over in|out in|here in|down in|up in|back in)"
_TO = r"(?:back |over |down |up |out |here |all the way )*to"
_FROM = r"(?: (?:here )?from (?P<away>.+))?"

VERBS: Mapping[str, tuple[Rule, ...]] = {
    "live lives reside resides": (
        rule(rf" (?:alone |together |happily |with [\w ]{{2,20}} )?{_IN} (?P<o>.+)", _LIVES),
    ),
    "lived resided": (rule(rf" {_IN} (?P<o>.+)", _LIVES, past=True),),
    "moved relocated": (
        rule(
            rf" {_TO} (?P<o>.+?){_FROM}$",
            _LIVES,
            Say("away", "lives_in", place, negated=True, needed=False),
            event=True,
            past=True,
        ),
        rule(
            rf" (?:here |away )?from (?P<away>.+?)(?: {_TO} (?P<o>.+))?$",
            Say("o", "lives_in", place, needed=False),
            Say("away", "lives_in", place, negated=True),
            event=True,
            past=True,
        ),
        rule(r" out of (?P<o>.+)", Say("o", "lives_in", place, negated=True), event=True, past=True),
    ),
    "settled": (rule(r" (?:down )?in (?P<o>.+)", _LIVES, event=True, past=True),),
    "come comes hail hails": (rule(r" (?:originally )?from (?P<o>.+)", Say("o", "from", place)),),
    "grew": (
        rule(r" up (?:just )?(?:in|near|outside) (?P<o>.+)", Say("o", "grew_up_in", place), timeless=True, past=True),
    ),
    "visited": (rule(r" (?P<o>.+)", Say("o", "visited", place), event=True, past=True),),
    "went travelled traveled flew": (
        rule(r" (?:back |over )?to (?P<o>.+)", Say("o", "visited", place), event=True, past=True),
    ),
}
BE = (
    rule(rf"living (?:alone |together |with [\w ]{{2,20}} )?{_IN} (?P<o>.+)", _LIVES),
    rule(rf"(?:based|settled|residing) {_IN} (?P<o>.+)", _LIVES),
    rule(r"(?:originally )?from (?P<o>.+)", Say("o", "from", place)),
    rule(r"born(?: and (?:raised|bred))? (?:in|near) (?P<o>.+)", Say("o", "born_in", place), timeless=True),
    rule(r"(?:raised|brought up) in (?P<o>.+)", Say("o", "grew_up_in", place), timeless=True),
)
HAVE = (rule(r"to (?P<o>.+)", Say("o", "visited", place), event=True),)
OWN: Mapping[str, tuple[Rule, ...]] = {
    "hometown": (rule(r",? (?:is )?(?P<o>.+)", Say("o", "from", place)),),
    "home": (rule(r" (?:town|country) is (?P<o>.+)", Say("o", "from", place)),),
}
