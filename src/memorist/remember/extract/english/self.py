"""What people are: name, age, birth, addresses, languages, health."""

from __future__ import annotations

from collections.abc import Mapping

from memorist.remember.extract.object_matchers import (
    age,
    belonging,
    date,
    email,
    handle,
    identity,
    language,
    person,
    phone,
    played,
    thing,
)
from memorist.remember.extract.rules import Rule, Say, rule

_ALLERGY = Say("o", "allergic_to", thing)

VERBS: Mapping[str, tuple[Rule, ...]] = {
    "turned": (rule(r" (?P<o>\d.*)", Say("o", "age", age), plain=True, event=True, past=True, personal=True),),
    "speak speaks": (rule(r" (?:fluent )?(?P<o>.+)", Say("o", "speaks", language)),),
    "play plays": (rule(r" (?P<o>.+)", Say("o", "plays", played)),),
    "own owns": (rule(r" (?P<o>(?:an?|the|two|three|my|\d+) .+)", Say("o", "owns", thing)),),
    "adopted bought": (
        rule(r" (?P<o>(?:an?|two|three|my|\d+) .+)", Say("o", "has", belonging), event=True, past=True),
    ),
    "got": (rule(r" (?P<o>(?:an?|two|three|my) .+)", Say("o", "has", belonging), event=True, past=True),),
    "go goes": (rule(r" by (?P<o>.+)", Say("o", "nickname", person), personal=True),),
}
BE = (
    rule(r"(?:turning )?(?P<o>\d.*)", Say("o", "age", age), personal=True, plain=True),
    rule(r"born on (?P<o>.+)", Say("o", "born_on", date), timeless=True, personal=True),
    rule(r"born (?:back )?in (?P<o>.+)", Say("o", "born_on", date), timeless=True, personal=True),
    rule(r"(?:severely |deathly |very |highly )?(?:allergic|intolerant) to (?P<o>.+)", _ALLERGY),
    rule(r"(?P<o>lactose|gluten)[ -]intolerant", Say("o", "allergic_to", thing)),
    rule(r"(?:fluent|conversational) in (?P<o>.+)", Say("o", "speaks", language)),
    rule(r"learning (?:how )?(?:to (?:speak|play) )?(?P<o>.+)", Say("o", "learning", language)),
    rule(r"(?:called|named|known as) (?P<o>.+)", Say("o", "name", person), personal=True),
    rule(r"(?P<o>(?:an? )?.+)", Say("o", "is", identity), personal=True),
)
HAVE = (
    rule(r"(?P<o>(?:an?|two|three|four|five|six|\d+|several|some|my own|type \d) .+)", Say("o", "has", belonging)),
    rule(
        r"(?P<o>(?:asthma|diabetes|adhd|arthritis|celiac|epilepsy|migraines|anxiety|dyslexia|kids|children)\b.*)",
        Say("o", "has", belonging),
    ),
    rule(r"an? (?:severe |bad |serious |mild )?(?P<o>[\w ]{3,30}?) allergy", _ALLERGY),
    rule(r"an? (?:severe |bad |serious |mild )?allergy to (?P<o>.+)", _ALLERGY),
)
OWN: Mapping[str, tuple[Rule, ...]] = {
    "name": (rule(r"(?:['’]s| is) (?P<o>.+)", Say("o", "name", person)),),
    "name's": (rule(r" (?P<o>.+)", Say("o", "name", person)),),
    "full first real last": (rule(r" name is (?P<o>.+)", Say("o", "name", person)),),
    "nickname": (rule(r" is (?P<o>.+)", Say("o", "nickname", person)),),
    "age": (rule(r" is (?P<o>.+)", Say("o", "age", age)),),
    "birthday": (rule(r" (?:is|falls) (?:on |in )?(?P<o>.+)", Say("o", "birthday", date)),),
    "birthday's": (rule(r" (?:on |in )?(?P<o>.+)", Say("o", "birthday", date)),),
    "email e-mail": (rule(r"(?: address)? is:? (?P<o>.+)", Say("o", "email", email)),),
    "phone mobile cell": (rule(r"(?: phone)?(?: number)? is:? (?P<o>.+)", Say("o", "phone", phone)),),
    "number": (rule(r" is:? (?P<o>.+)", Say("o", "phone", phone)),),
    "twitter instagram insta github discord telegram linkedin mastodon reddit tiktok snapchat steam": (
        rule(r"(?: (?:handle|username|account|id))? is:? (?P<o>@?[\w.-]+)", Say("o", "{word}", handle)),
    ),
    "handle username": (rule(r" is:? (?P<o>@?[\w.-]+)", Say("o", "handle", handle)),),
}
WHOLE = (
    rule(
        r"(?:please |just |you can )?(?:call me|everyone calls me|people call me) (?P<o>.+)",
        Say("o", "nickname", person),
    ),
    rule(
        r"(?:please |just |you can )?(?:email me|e-mail me|reach me|write to me) at (?P<o>.+)", Say("o", "email", email)
    ),
)
