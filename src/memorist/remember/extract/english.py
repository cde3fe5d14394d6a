"""The English rules: homes, work, family, personal details and favourites."""

from __future__ import annotations

from memorist.remember.extract.lexicon import KIN
from memorist.remember.extract.objects import (
    age,
    belonging,
    capitalised,
    club,
    company,
    date,
    email,
    handle,
    identity,
    job,
    language,
    named_school,
    one_thing,
    organisation,
    people,
    person,
    phone,
    place,
    played,
    school,
    thing,
    value,
)
from memorist.remember.extract.rules import ObjectSlot, Rule, by_word, event, once, rule
from memorist.text.patterns import lazy

_LIVES = ObjectSlot("o", "lives_in", place)
_LIVED = ObjectSlot("away", "lives_in", place, negated=True)
_LIVED_IF = ObjectSlot("away", "lives_in", place, negated=True, required=False)
_FROM = ObjectSlot("o", "from", place)
_VISITED = ObjectSlot("o", "visited", place)
_IN = r"(?:in|near|around|over in|out in|here in|down in|up in|back in)"
_TO = r"(?:back |over |down |up |out |here |all the way )*to"

_EMPLOYER = ObjectSlot("o", "works_at", organisation)
_EMPLOYER_IF = ObjectSlot("o", "works_at", organisation, required=False)
_COMPANY = ObjectSlot("o", "works_at", company)
_LEFT = ObjectSlot("o", "works_at", organisation, negated=True)
_JOB = ObjectSlot("job", "works_as", job)
_JOB_IF = ObjectSlot("job", "works_as", job, required=False)
_LEFT_JOB = ObjectSlot("job", "works_as", job, negated=True)
_WORKING = r"(?:full[- ]time |part[- ]time |remotely |there |hard )*"
_AT = r"(?:at|for|with)"
_INDUSTRY = ObjectSlot("field", "works_in", one_thing)
_INDUSTRIES = (
    r"(?P<field>(?:finance|marketing|sales|tech|IT|HR|healthcare|education|software|law|real estate|construction|retail"
    r"|advertising|publishing|hospitality|banking|research|insurance|consulting|logistics|media|fashion|film)\b)"
)
_STUDIES = ObjectSlot("field", "studies", one_thing)
_SCHOOL = ObjectSlot("o", "studies_at", school)
_SCHOOL_IF = ObjectSlot("o", "studies_at", school, required=False)
_OLD_SCHOOL = ObjectSlot("o", "studied_at", school)
_SUBJECTS = (
    r"(?P<field>art|biology|business|chemistry|computer science|design|drama|economics|engineering|english|film|history"
    r"|journalism|law|maths?|mathematics|medical|medicine|music|nursing|philosophy|physics|psychology|theology)"
)

_SPOUSE = ObjectSlot("o", "married_to", person)
_PARTNER = ObjectSlot("o", "partner", person)
_RELATIVE = ObjectSlot("o", "{kin}", person)
_RELATIVES = ObjectSlot("o", "{kin}", people)
_KIN_WORDS = "|".join(sorted(KIN, key=len, reverse=True))
_PLURAL_KIN = {"kids": "child", "children": "child", "sons": "child", "daughters": "child", "brothers": "brother",
               "sisters": "sister", "siblings": "sibling", "dogs": "pet", "cats": "pet", "pets": "pet",
               "friends": "friend", "parents": "parent", "roommates": "roommate"}  # fmt: skip
RELATIONS = {**KIN, **_PLURAL_KIN}
"""The relation for each kinship word."""
_NAMED = r"(?:named|called|whose name is)"
_A_NAMED = rf"(?:an?|another|the) (?:[\w-]+ ){{0,3}}?(?P<kin>{_KIN_WORDS}),? {_NAMED} (?P<o>.+)"

_NAME = ObjectSlot("o", "name", person)
_NICKNAME = ObjectSlot("o", "nickname", person)
_AGE = ObjectSlot("o", "age", age)
_BORN_ON = ObjectSlot("o", "born_on", date)
_BIRTHDAY = ObjectSlot("o", "birthday", date)
_EMAIL = ObjectSlot("o", "email", email)
_PHONE = ObjectSlot("o", "phone", phone)
_ALLERGY = ObjectSlot("o", "allergic_to", thing)
_SPEAKS = ObjectSlot("o", "speaks", language)
_HAS = ObjectSlot("o", "has", belonging)
_DEGREE = r"(?:severe |bad |serious |mild )?"

_FAVOURITE = ObjectSlot("o", "favourite_{topic}", value)
_VAGUE = r"(?!parts?\b|things?\b|ones?\b|bits?\b|ways?\b|moments?\b|memor|of\b|to\b|kinds?\b|types?\b)"
_TOPIC = rf"(?P<topic>{_VAGUE}[\w-]+(?: (?!is\b|are\b|was\b|to\b|of\b|for\b|in\b|ever\b|so\b|right\b)[\w-]+){{0,2}})"
_FAVOURITE_IS = rf" {_TOPIC} (?:is|are|has always been|has to be) (?P<o>.+)"
NAMED_FAVOURITE = lazy(rf"\b[Mm]y (?:all[- ]time )?(?:favou?rite|fave) {_TOPIC},? (?:called|named) (?P<o>[^\n]+)")
"""A favourite with its name, anywhere in a sentence: `my favourite game called Go`."""

VERBS = by_word({
    # homes
    "live lives reside resides": (
        rule(rf" (?:alone |together |happily |with [\w ]{{2,20}} )?{_IN} (?P<o>.+)", _LIVES),
    ),
    "lived resided": (rule(rf" {_IN} (?P<o>.+)", _LIVES, past=True),),
    "moved relocated": (
        event(rf" {_TO} (?P<o>.+?)(?: (?:here )?from (?P<away>.+))?$", _LIVES, _LIVED_IF),
        event(
            rf" (?:here |away )?from (?P<away>.+?)(?: {_TO} (?P<o>.+))?$",
            ObjectSlot("o", "lives_in", place, required=False),
            _LIVED,
        ),
        event(r" out of (?P<away>.+)", _LIVED),
    ),
    "settled": (event(r" (?:down )?in (?P<o>.+)", _LIVES),),
    "come comes hail hails": (rule(r" (?:originally )?from (?P<o>.+)", _FROM),),
    "grew": (once(r" up (?:just )?(?:in|near|outside) (?P<o>.+)", ObjectSlot("o", "grew_up_in", place)),),
    "visited": (event(r" (?P<o>.+)", _VISITED),),
    "went travelled traveled flew": (event(r" (?:back |over )?to (?P<o>.+)", _VISITED),),
    # work and study
    "work works": (
        rule(rf" {_WORKING}as (?P<job>[^,;]+?)(?: {_AT} (?P<o>.+))?$", _JOB, _EMPLOYER_IF, personal=True),
        rule(rf" {_WORKING}{_AT} (?P<o>.+?)(?: as (?P<job>.+))?$", _EMPLOYER, _JOB_IF),
        rule(rf" {_WORKING}in {_INDUSTRIES}", _INDUSTRY),
    ),
    "worked": (
        rule(rf" {_WORKING}{_AT} (?P<o>.+)", _EMPLOYER, past=True),
        rule(rf" {_WORKING}as (?P<job>.+)", _JOB, past=True, personal=True),
    ),
    "joined": (event(r" (?P<o>.+)", ObjectSlot("o", "member_of", club)), event(r" (?P<o>.+)", _COMPANY)),
    "started began": (
        event(rf" working {_AT} (?P<o>.+?)(?: as (?P<job>.+))?$", _EMPLOYER, _JOB_IF),
        event(rf" (?:a|my) (?:new )?job {_AT} (?P<o>.+)", _EMPLOYER),
        event(rf" (?:a |my )?(?:new job|working) as (?P<job>.+?)(?: {_AT} (?P<o>.+))?$", _JOB, _EMPLOYER_IF),
        event(r" at (?P<o>.+)", _COMPANY),
        event(r" (?:my |a )?(?:degree |studies |studying )?at (?P<o>.+)", ObjectSlot("o", "studies_at", named_school)),
    ),
    "got landed": (
        event(
            rf" (?:a|the|my) (?:new )?(?:job|position|role) {_AT} (?P<o>.+?)(?: as (?P<job>.+))?$", _EMPLOYER, _JOB_IF
        ),
        event(
            rf" (?:a|the|my) (?:new )?(?:job|position|role) as (?P<job>.+?)(?: {_AT} (?P<o>.+))?$", _JOB, _EMPLOYER_IF
        ),
        event(r" (?:promoted to|hired as) (?P<job>.+)", _JOB),
        event(r" hired (?:at|by) (?P<o>.+)", _EMPLOYER),
        event(r" (?:fired|laid off) (?:from|by) (?P<o>.+)", _LEFT),
    ),
    "became": (event(r" (?P<job>.+)", _JOB, personal=True),),
    "left quit": (
        event(rf" (?:my job|my position|my role|working) {_AT} (?P<o>.+)", _LEFT),
        event(r" (?P<o>[A-Z].+)", ObjectSlot("o", "works_at", company, negated=True)),
        event(r" (?:my|being) (?:job as )?(?P<job>.+)", _LEFT_JOB),
    ),
    "lost": (
        event(rf" my (?:\w+ )?job {_AT} (?P<o>.+)", _LEFT),
        event(r" my (?:\w+ )?job as (?P<job>.+)", _LEFT_JOB),
    ),
    "stopped": (event(rf" working {_AT} (?P<o>.+)", _LEFT),),
    "retired": (event(r" from (?P<o>.+)", _LEFT),),
    "study studies": (
        rule(r" (?P<field>[^,;]+?)(?: at (?P<o>.+))?$", _STUDIES, _SCHOOL_IF),
        rule(r" at (?P<o>.+)", _SCHOOL),
    ),
    "studied": (
        once(
            r" (?P<field>[^,;]+?) (?:at|in) (?P<o>[A-Z].+)",
            ObjectSlot("field", "studied", one_thing, required=False),
            _OLD_SCHOOL,
        ),
        once(r" at (?P<o>.+)", _OLD_SCHOOL),
    ),
    "major majors": (rule(r" in (?P<field>.+)", _STUDIES),),
    "majored": (once(r" in (?P<o>.+)", ObjectSlot("o", "studied", one_thing)),),
    "graduated": (once(r" from (?P<o>.+)", _OLD_SCHOOL),),
    "attend attends go goes": (rule(r" (?:to )?(?P<o>.+)", ObjectSlot("o", "studies_at", named_school)),),
    "founded": (once(r" (?P<o>.+)", ObjectSlot("o", "founded", capitalised)),),
    "run runs": (rule(r" (?P<o>.+)", ObjectSlot("o", "runs", organisation)),),
    # family
    "married": (event(r" (?:my [\w ]{3,20},? )?(?P<o>[A-Z].+)", _SPOUSE, personal=True),),
    "got adopted bought": (
        event(f" {_A_NAMED}", _RELATIVE),
        event(r" (?:married|hitched) to (?P<o>.+)", _SPOUSE, personal=True),
        event(r" engaged to (?P<o>.+)", _PARTNER, personal=True),
    ),
    "divorced": (event(r" (?P<o>[A-Z].+)", ObjectSlot("o", "married_to", person, negated=True), personal=True),),
    # personal details
    "turned": (event(r" (?P<o>\d.*)", _AGE, personal=True),),
    "speak speaks": (rule(r" (?:fluent )?(?P<o>.+)", _SPEAKS),),
    "play plays": (rule(r" (?P<o>.+)", ObjectSlot("o", "plays", played)),),
    "own owns": (rule(r" (?P<o>(?:an?|the|two|three|my|\d+) .+)", ObjectSlot("o", "owns", thing)),),
    "adopted bought": (event(r" (?P<o>(?:an?|two|three|my|\d+) .+)", _HAS),),
    "got": (event(r" (?P<o>(?:an?|two|three|my) .+)", _HAS),),
    "go goes": (rule(r" by (?P<o>.+)", _NICKNAME, personal=True),),
})  # fmt: skip
"""Rules for what follows a verb, by the verb's forms."""

BE = (
    rule(rf"living (?:alone |together |with [\w ]{{2,20}} )?{_IN} (?P<o>.+)", _LIVES),
    rule(rf"(?:based|settled|residing) {_IN} (?P<o>.+)", _LIVES),
    rule(r"(?:originally )?from (?P<o>.+)", _FROM),
    rule(r"born(?: and (?:raised|bred))? (?:in|near) (?P<o>.+)", ObjectSlot("o", "born_in", place), timeless=True),
    rule(r"(?:raised|brought up) in (?P<o>.+)", ObjectSlot("o", "grew_up_in", place), timeless=True),
    rule(rf"working {_WORKING}as (?P<job>[^,;]+?)(?: {_AT} (?P<o>.+))?$", _JOB, _EMPLOYER_IF, personal=True),
    rule(rf"working {_WORKING}{_AT} (?P<o>.+?)(?: as (?P<job>.+))?$", _EMPLOYER, _JOB_IF),
    rule(rf"working in {_INDUSTRIES}", _INDUSTRY),
    rule(r"employed (?:at|by) (?P<o>.+)", _EMPLOYER),
    rule(r"(?:fired|laid off) (?:from|by) (?P<o>.+)", _LEFT, event=True),
    rule(
        r"(?:the|an?) (?P<job>[^,;]+?)(?: (?:at|for|of|with) (?P<o>.+))?$",
        _JOB,
        _EMPLOYER_IF,
        personal=True,
        affirmative=True,
    ),
    rule(r"(?:studying|majoring in) (?P<field>[^,;]+?)(?: at (?P<o>.+))?$", _STUDIES, _SCHOOL_IF),
    rule(r"studying (?:[^,;]+ )?at (?P<o>.+)", _SCHOOL),
    rule(r"an? (?:[\w-]+ ){0,3}student (?:at|of) (?P<o>.+)", _SCHOOL),
    rule(r"an? (?P<field>[\w-]+(?: [\w-]+)?) major\b", _STUDIES),
    rule(rf"an? {_SUBJECTS} student\b", _STUDIES),
    rule(r"at (?P<o>.+? for .+)", _COMPANY),
    rule(r"(?:happily |now |getting )?married to (?P<o>.+)", _SPOUSE, personal=True),
    rule(
        r"(?:engaged to|dating|in a relationship with|seeing) (?P<o>[A-Z].+)", _PARTNER, personal=True, affirmative=True
    ),
    rule(r"(?:turning )?(?P<o>\d.*)", _AGE, personal=True, affirmative=True),
    rule(r"born (?:on|(?:back )?in) (?P<o>.+)", _BORN_ON, timeless=True, personal=True),
    rule(r"(?:severely |deathly |very |highly )?(?:allergic|intolerant) to (?P<o>.+)", _ALLERGY),
    rule(r"(?P<o>lactose|gluten)[ -]intolerant", _ALLERGY),
    rule(r"(?:fluent|conversational) in (?P<o>.+)", _SPEAKS),
    rule(r"learning (?:how )?(?:to (?:speak|play) )?(?P<o>.+)", ObjectSlot("o", "learning", language)),
    rule(r"(?:called|named|known as) (?P<o>.+)", _NAME, personal=True),
    rule(r"(?P<o>(?:an? )?.+)", ObjectSlot("o", "is", identity), personal=True),
)
"""Rules for what follows a form of `to be`."""

HAVE = (
    rule(r"to (?P<o>.+)", _VISITED, event=True),
    rule(r"a (?:new )?job at (?P<o>.+)", _EMPLOYER),
    rule(_A_NAMED, _RELATIVE),
    rule(
        rf"(?:two|three|four|\d) (?:[\w-]+ ){{0,2}}?(?P<kin>{'|'.join(_PLURAL_KIN)}),? {_NAMED} (?P<o>.+)", _RELATIVES
    ),
    rule(r"(?P<o>(?:an?|two|three|four|five|six|\d+|several|some|my own|type \d) .+)", _HAS),
    rule(
        r"(?P<o>(?:asthma|diabetes|adhd|arthritis|celiac|epilepsy|migraines|anxiety|dyslexia|kids|children)\b.*)", _HAS
    ),
    rule(rf"an? {_DEGREE}(?P<o>[\w ]{{3,30}}?) allergy", _ALLERGY),
    rule(rf"an? {_DEGREE}allergy to (?P<o>.+)", _ALLERGY),
)
"""Rules for what follows `have` or `have got`."""

OWN = by_word({
    "hometown": (rule(r",? (?:is )?(?P<o>.+)", _FROM),),
    "home": (rule(r" (?:town|country) is (?P<o>.+)", _FROM),),
    "job": (rule(r" is (?:as |being )?(?P<job>.+)", _JOB), rule(r" title is (?P<job>.+)", _JOB)),
    "current new": (
        rule(r" job is (?:at|with) (?P<o>.+)", _EMPLOYER),
        rule(r" (?:employer|company) is (?P<o>.+)", _EMPLOYER),
    ),
    "employer company": (rule(r" is (?:called )?(?P<o>.+)", _EMPLOYER),),
    "major": (rule(r" (?:is|was) (?P<field>.+)", _STUDIES),),
    " ".join(KIN): (
        rule(r"(?:['’]s name)? is (?:called |named )?(?P<o>[A-Z].+)", _RELATIVE),
        rule(r"['’]s (?:called|named) (?P<o>.+)", _RELATIVE),
    ),
    " ".join(f"{word}'s" for word in KIN): (
        rule(r" name is (?P<o>.+)", _RELATIVE),
        rule(r" (?:called|named) (?P<o>.+)", _RELATIVE),
    ),
    " ".join(_PLURAL_KIN): (
        rule(r"(?:['’] names)? are (?:called |named )?(?P<o>[A-Z].+)", _RELATIVES),
        rule(r",? (?P<o>[A-Z].+? and .+)", _RELATIVES),
    ),
    "name": (rule(r"(?:['’]s| is) (?P<o>.+)", _NAME),),
    "name's": (rule(r" (?P<o>.+)", _NAME),),
    "full first real last": (rule(r" name is (?P<o>.+)", _NAME),),
    "nickname": (rule(r" is (?P<o>.+)", _NICKNAME),),
    "age": (rule(r" is (?P<o>.+)", _AGE),),
    "birthday": (rule(r" (?:is|falls) (?:on |in )?(?P<o>.+)", _BIRTHDAY),),
    "birthday's": (rule(r" (?:on |in )?(?P<o>.+)", _BIRTHDAY),),
    "email e-mail": (rule(r"(?: address)? is:? (?P<o>.+)", _EMAIL),),
    "phone mobile cell": (rule(r"(?: phone)?(?: number)? is:? (?P<o>.+)", _PHONE),),
    "number": (rule(r" is:? (?P<o>.+)", _PHONE),),
    "twitter instagram insta github discord telegram linkedin mastodon reddit tiktok snapchat steam": (
        rule(r"(?: (?:handle|username|account|id))? is:? (?P<o>@?[\w.-]+)", ObjectSlot("o", "{word}", handle)),
    ),
    "handle username": (rule(r" is:? (?P<o>@?[\w.-]+)", ObjectSlot("o", "handle", handle)),),
    "favourite favorite fave": (rule(_FAVOURITE_IS, _FAVOURITE),),
    "all-time": (rule(f" (?:favou?rite|fave){_FAVOURITE_IS}", _FAVOURITE),),
})  # fmt: skip
"""Rules for what follows `my` or another possessor, by the noun that is owned."""

WHOLE: tuple[Rule, ...] = (
    rule(r"(?:please |just |you can )?(?:call me|everyone calls me|people call me) (?P<o>.+)", _NICKNAME),
    rule(r"(?:please |just |you can )?(?:email me|e-mail me|reach me|write to me) at (?P<o>.+)", _EMAIL),
    rule(
        r"(?P<o>[^,;]{2,40}?) is (?:my|our) (?:(?:older|younger|little|big|best|new|oldest|youngest) )*"
        rf"(?P<kin>{_KIN_WORDS})\W*$",
        _RELATIVE,
    ),
    rule(
        r"(?P<o>[^,;]{2,60}?) (?:is|are) (?:definitely |still |by far |now )*(?:my|our) (?:all[- ]time )?"
        rf"(?:favou?rite|fave) {_TOPIC}(?: ever| of all time)?\W*$",
        _FAVOURITE,
    ),
)
"""Rules for whole clauses about the speaker."""
