"""Standing wishes and rules in a text, the situation they apply to, and queries that ask the agent to do something."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memorist.text.patterns import lazy
from memorist.text.tokens import holds_any, sentences
from memorist.text.words import STOP_WORDS, has_chinese

LONGEST = 4000
"""How many characters of a text are read: a wish in a longer document is not addressed to the agent."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How somebody wants things done: the sentences that say it, and when it applies.

    The situation is empty if the wish always applies ("Call me Jo").
    """

    text: str
    situation: str


def standing_wish(text: str) -> Wish | None:
    """The standing wish or rule that a text states; None if it states none.

    "Music in the car: no musicals." applies to "Music in the car", "When you write to Tom keep it short" to "write to
    Tom", "Please never book anything on a Sunday before one" to "book anything on a Sunday", and a diet to food.
    """
    text = text[:LONGEST].replace("’", "'")
    label = _label(text)
    found: list[str] = []
    situations = [label] if label else []
    previous = ""
    for sentence in sentences(text):
        situation = _situation(sentence)
        if situation is not None:
            who = _who(sentence) or (_who(previous) if _PRONOUN.search(sentence) else "")
            situations.append(situation if not who or who in situation else f"{who}, {situation}".rstrip(", "))
        if situation is not None or (label and not previous):
            found.append(sentence)
        previous = sentence
    if not found or (label and len(situations) == 1 and not _labelled_rule(text)):
        return None
    return Wish(" ".join(found), next(filter(None, situations), ""))


def is_request(query: str) -> bool:
    """Whether a query asks for something to be made, arranged or advised, so that wishes matter to the answer."""
    query = query[:LONGEST].replace("’", "'")
    if has_chinese(query) and _CHINESE_REQUEST.search(query):
        return True
    return any(_REQUEST.search(sentence) for sentence in sentences(query))


def _label(text: str) -> str:
    """What a text is about according to its first words and a colon: "Recipes" of "Recipes: grams"."""
    found = _LABEL.match(text)
    return "" if not found or _LIST.match(found["when"]) else found["when"].strip()


def _labelled_rule(text: str) -> bool:
    """Whether what follows a label is a rule without a subject: "no musicals", "English, short, and never …"."""
    first = next(iter(sentences(text)), "")
    return bool(_LABELLED_RULE.match(first))


def _situation(sentence: str) -> str | None:
    """The words of a sentence that say when its wish applies; None if it states no wish."""
    if sentence.endswith(("?", "？")):
        return None
    if has_chinese(sentence):
        found = next((found for cue in _CHINESE_CUES if (found := cue.search(sentence))), None)
        return found and _applies(sentence, found)
    folded = sentence.lower()
    for hints, cue in _ENGLISH_CUES:
        if holds_any(folded, hints) and (found := cue.search(sentence)):
            return None if _ONCE.search(sentence) else _applies(sentence, found)
    return None


def _who(sentence: str) -> str:
    """The person whom a sentence begins with: Kemi of "Kemi won't touch mushrooms."."""
    found = _WHO.match(sentence)
    return found["who"] if found and found["who"].lower() not in STOP_WORDS["en"] else ""


def _applies(sentence: str, found: re.Match[str]) -> str:
    """What the cue captured as `when`; food for a diet; nothing for a name; else the words after the cue."""
    groups = found.groupdict()
    if groups.get("diet"):
        return "饮食" if has_chinese(sentence) else "food and drink"
    if groups.get("name"):
        return ""
    if groups.get("when"):
        return groups["when"].strip()
    after = _REASON.split(sentence[found.end() :], maxsplit=1)[0]
    before = sentence[: found.start()]
    return (after if _LETTERS.search(after) else before).strip(_EDGES)


_EDGES = " \t\"'“”.,;:!?，。；：！？、()"
_LETTERS = lazy(r"[^\W\d_]{2}|[\u3400-\u9fff]")
_REASON = lazy(
    r"[,;:.!?，。；：！？]|\b(?:before|after|until|unless|because|since|so|if|as|ever|please)\b|因为|除非|否则",
    re.IGNORECASE,
)


def _cue(hints: str, *pieces: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """A pattern, and the strings of which a sentence must contain one to be worth trying."""
    return tuple(hints.split("|")), lazy("".join(pieces), re.IGNORECASE)


# What an assistant is asked to do: these verbs begin a request, and after "when you" they name the situation of a wish.
_ACTS = (
    r"(?:add|advise|announce|answer|apologi[sz]e|arrange|ask|bake|book|bring|build|buy|calculate|call|cancel|choose"
    r"|commit|compile|compose|contact|convert|cook|copy|create|deliver|deploy|design|draft|draw|edit|email|explain"
    r"|fill|fix|forward|format|generate|get|give|greet|help|implement|introduce|invite|mail|make|merge|message|open"
    r"|order|organi[sz]e|page|phone|pick|plan|play|plot|post|prepare|present|propose|proofread|publish|put|quote"
    r"|recommend|refactor|release|rename|remind|rent|reply|reserve|respond|restart|review|rewrite|ring|schedule|send"
    r"|serve|set|shop|speak|spell|sign|suggest|summari[sz]e|talk|tell|text|translate|turn|update|use|wrap|write)"
)
_STYLE = r"(?:use|avoid|prefer|include|stick to|spell|translate|explain|format|cite|round|sign|address|cc|limit|answer)"
_PERSON = r"(?:me|us|him|her|them|everyone|everybody|people|customers|clients|guests)"
_DAYS = r"(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends|weekdays)"
_FOOD = (
    r"(?:pork|beef|meat|fish|shellfish|seafood|nuts?|peanuts|dairy|milk|gluten|wheat|eggs?|sugar|alcohol|coffee"
    r"|caffeine|mushrooms?|onions?|garlic|coriander|cilantro|spicy)"
)
_DIETS = r"(?:vegetarian|vegan|pescatarian|coeliac|celiac|diabetic|teetotal|lactose|gluten|halal|kosher)"
_OPENING = r"(?:^|[;:(]\s*|[.!]\s+|\b(?:and|but|so|also|then|please|just|ok|okay|kindly)\s+)"
_HABIT = r"(?:always|never|only|generally|usually|strictly)"
_CANNOT = r"(?:do not|don't|dont|does not|doesn't|can't|cannot|can not|won't|will not|must not|mustn't|never|may not)"
_OUGHT = r"(?:must|has to|have to|needs? to|should)"
_ORDER = rf"(?:please|always|never|only|do not|don't|no|nothing|keep|make sure|be|start|you {_OUGHT}|{_ACTS})\b"

# What follows these words in ordinary talk: "No problem", "Always happy to help", "Don't worry".
_NO = (
    r"no (?!problem|prob\b|worr|doubt|wonder|way\b|idea|one\b|matter|longer|need|not\b|but\b|i\b|it\b|you|we\b|what"
    r"|like|thank|big|my\b|the\b|a\b|this|that|these|he\b|she\b|they\b|regret|plans?\b|luck|kidding|joke\b|more\b|less\b)"
)
_ADVERB = (
    r"(?:never|always)\s+(?!again|mind|forget|give up|stop|say|underestimate|a\b|an\b|the\b|been|had|have|is\b|was\b"
    r"|in\b|so\b|too\b|here|there|good|great|nice|happy|glad|fun|up\b|ready|thought|knew|heard|seen|saw|met|felt|done"
    r"|on the|by your|love|\w+ed\b|\w+ing\b)(?=[\w\"“])"
)
_DO_NOT = r"\b(?:do not|don't)\s+(?!worry|forget|let\b|be\b|get\b|think|know|underestimate|give up|stress|do it|you\b)"
_PAST = r"\b(?:was|were|had|has|have|got|came|did|went|been|is|are|\w+ed|\d+)\b"

_LABEL = lazy(r"(?P<when>[^\s:：,，.!?。\"“][^:：,，.!?。\n]{1,60})(?:[:]\s+|：)(?=\S)")
_LIST = lazy(r"(?:shopping|packing|to ?do|groceries|agenda|stock|goals|购物|清单|待办)|[^:]*\d", re.IGNORECASE)
_LABELLED_RULE = lazy(
    r"[^:：]*[:：]\s*(?:(?!\b(?:i|im|you|we|he|she|they|it|that|this)\b)[^.!?])*?"
    r"(?:(?<=[:：,，;])\s*|(?<=and )|(?<=or ))"
    rf"(?:{_NO}[a-z]|{_ADVERB}|{_DO_NOT}|nothing (?!yet|so|much|in particular|new)[a-z]"
    r"|(?:only|at most|at least|no more than|without|please (?:no|never|always|only|don't))\b"
    r"|[^,.:]{1,40} unless\b|[a-z]+ first(?=[,;])|不要|别|只|必须|一律|不能|(?<=[:：])要)"
    rf"|[^:：]+ [a-z]+: (?:be|use|keep|start|end|first|{_STYLE})\b",
    re.IGNORECASE,
)
_WHO = lazy(
    r"(?P<who>[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2})(?:,| (?:\w+s|won't|can't|cannot|doesn't|will|would|did|must|may)\b)"
)
_PRONOUN = lazy(r"\b(?:he|she|him|her|his|they|them)\b", re.IGNORECASE)
_ONCE = lazy(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|so far|last (?:week|month|year|night|time)|let me know)\b",
    re.IGNORECASE,
)

_ENGLISH_CUES = (
    # When, with whom, where
    _cue(
        "when |if |time ",
        r"(?:^|[,;]\s*|\b(?:and|so)\s+)(?:when|whenever|(?:every|each|any) time|if)\s+(?:you|i|we)\s+(?:ever\s+)?",
        rf"(?P<when>{_ACTS}\b[^,;:.]{{0,70}}?)(?:,\s*(?:then\s+)?|\s+)(?={_ORDER})",
    ),
    _cue(
        "when|if ", rf"^(?:when|whenever|if)\s+(?P<when>(?!(?:if )?(?:you|i|it)\b|life)[^,;:.]{{3,70}}),\s+(?={_ORDER})"
    ),
    _cue(
        "with |in |to |at ",
        rf"^(?:with|in|to|at)\s+(?P<when>[^,;:.]{{2,40}}?),?\s+(?:i|we)\s+(?:{_HABIT}\s+)?(?:write|speak|talk|use|say)\b",
    ),
    _cue(
        "for ", r"^for\s+(?P<when>[^,;:.]{3,50}),?\s+(?:please|always|never|only|no|use|keep|i (?:prefer|want|like))\b"
    ),
    # Diets
    _cue(
        "allergic|eat|drink|touch|n't |tarian|vegan|eliac|teetotal|diabetic|halal|kosher|lactose|gluten|only|take|like",
        rf"(?P<diet>\ballergic to\b|\b{_CANNOT}\s+(?:really\s+)?(?:eats?|drinks?)\b|\b(?:can't|won't)\s+touch\b",
        rf"|\b(?:don't|doesn't|no longer|can't)\s+(?:do|have|take|like)\s+{_FOOD}\b|\bno (?:longer )?(?:eat|drink)s\b",
        rf"|\b(?:i'?m|am|is|are|'s|'re|went|gone|turned|became|strictly|a)\s+(?:\w+\s+){{0,2}}{_DIETS}\b",
        r"(?=[.,;!]|\s+(?:now|since|so|and|but|too)\b|$)",
        r"|\b(?:lactose|gluten)[- ](?:intolerant|free diet)\b|\bonly (?:eats?|drinks?)\b",
        r"|\b(?:i|he|she|they|we) (?:takes?|drinks?|likes?) (?:my|his|her|their|our) (?:tea|coffee|steak|eggs|food)\b",
        r"|\bonly\s+[\w-]+(?:\s+[\w-]+){0,2}\s+for (?:me|us|him|her|them)\b)",
    ),
    # Names
    _cue("call me", r"\b(?P<when>call me)\s+(?:only|just|not|never)?\s*(?:after|before|between|at|by|on)\b"),
    _cue(
        "me |pronoun|go by|it's|it is|please",
        r"(?P<name>\b(?-i:[Cc]all me (?:just )?[A-Z]\w+)|\b(?:address|refer to) me as\b|\bmy pronouns\b|\bi go by\b",
        r"|\bit(?:'s| is) (?:dr|mr|mrs|ms|prof|professor)\b[^,]*,|\bif you please\b)",
    ),
    # For good
    _cue(
        " on|going forward|in future|a rule|only ever|at all times|no circumst|new rule|house rule",
        r"\b(?:from (?:now|today|this point) on(?:wards)?|going forward|in future|as a rule|only ever|at all times",
        r"|under no circumstances|new rule|house rules?)\b[,:]?",
    ),
    _cue(
        "ever|again",
        rf"(?:{_DO_NOT}|\b(?:never|no more)\b)(?P<when>[^,;:.]{{3,70}}?)\s+(?:ever\s+again|ever|again)\b[,.!]?",
    ),
    _cue(
        "please|kindly",
        r"\b(?:please|kindly)\s+(?:make sure|always|never|only|do not|don't|dont|no|avoid|use|keep|remember|stick",
        r"|refrain|stop|write to me|reply|address|spell)\b(?:\s+(?:to|that|from))?",
    ),
    _cue("never|always", rf"(?:^|[.!;:]\s+|\bplease\s+){_ADVERB}"),
    _cue(
        "always|never|only|not",
        rf"^(?P<when>[\w/-]+(?: [\w/-]+){{0,4}}) (?:{_OUGHT} (?:always|never|not)",
        r"|(?:always|never|only) (?:in|with|at|on|by|as|go|goes|get|gets))\b",
    ),
    _cue(
        "every|each |all |any ", rf"\b(?:every|each|all|any)\s+(?P<when>[^,;:.]{{2,60}}?)\s+{_OUGHT} (?!have\b|offer)"
    ),
    _cue(
        "must|has to|have to|need|should",
        rf"^(?P<when>(?:my|our) [\w ]{{2,30}}|(?-i:[A-Z])[a-z]+s) {_OUGHT} (?!have been)",
    ),
    _cue(
        "thing |whatever|all ",
        r"^(?P<when>(?:anything|everything|nothing|whatever|all) [^,;:.]{3,40}?) (?:goes|comes|needs|requires)\b",
    ),
    _cue(
        "approval|signature|sign|permission",
        r"\b(?:needs?|requires?) (?:(?:my|our|his|her) )?(?:approval|signature|sign-?off|permission)\b",
    ),
    _cue("without", r"\b(?:nobody|no one|noone)\s+(?P<when>[^,;:.]{3,60})\s+without\b"),
    _cue(" allowed", r"\b(?:aren't|isn't|not|never) allowed\b"),
    _cue(
        "days|weekends", rf"\b(?:no|not|don't|never|nothing|keep|only)\b(?P<when>[^,;:.]{{1,50}}?)\b(?:on )?{_DAYS}\b"
    ),
    # Likes and dislikes
    _cue(
        "prefer|rather",
        r"\b(?:prefers?|preferably|my preference|(?:'d|would) (?:really |much )?(?:rather|prefer))\b",
        r"(?:\s+(?:not|to|that))*",
    ),
    _cue(
        "hate|stand|bear|drive",
        r"\b(?:hates? (?:it )?when|can(?:'t|not) (?:stand|bear)|drives? (?:me|him|her|us) (?:mad|crazy|nuts))\b",
    ),
    _cue(
        "hates|dislikes|detests|loathes|like|i hate",
        r"\b(?:hates|dislikes|detests|loathes|doesn't like|does not like|i hate [\w ]{2,30}, (?:\w+) me)\b",
    ),
    _cue("expect", r"\bexpects? (?:at least|at most|no|a|an|the)\b"),
    _cue("wants", r"^(?:nobody|no one) wants\b"),
    _cue("limit|budget|maximum", r"\b(?:limit|budget|maximum) (?:on|for)\b"),
    _cue("want|like", r"\b(?:wants?|(?:'d|would) like)\s+(?P<when>[^,;:.]{3,60}),\s+not\b"),
    _cue(
        "i like|i want|i need",
        r"\bi (?:like|want|need) (?:my (?=\w+ (?:with|without|in|on|at|as|short|hot|cold))",
        r"|(?=[^,;:.]{3,40} (?:on|in|for) (?:every|all|each)\b))",
    ),
    _cue(
        " only ",
        r"\b(?:he|she|(?-i:[A-Z])\w+) only (?P<when>answers|reads|takes|works|accepts|uses|wears|writes|speaks)\b",
    ),
    # Orders about the way something is done
    _cue("no more ", r"\bno more (?!than|of|then)(?=\w)"),
    _cue("only ", r"^only (?P<when>[^,;:.]{2,40}) (?:in|on|for|with) (?:my|our|the|his|her)\b"),
    _cue("so ", r"\bso (?:please )?(?:no|nothing) (?!one|matter|far|much)(?=\w)"),
    _cue("no ", rf"{_OPENING}{_NO}(?P<when>[^,;:.]{{3,60}}?),?\s+(?:please|unless|before|after|ever|for (?:me|us))\b"),
    _cue("don't|do not", rf"{_OPENING}{_DO_NOT}(?P<when>(?:ever\s+)?{_ACTS}\b[^,;:.]{{2,60}})"),
    _cue("no ", rf"^{_NO}(?P<when>[a-z]+s)(?=[.!]*$|,\s+(?:i|we|he|she|they|it|my)\b)"),
    _cue(
        "never|no |not ",
        rf"^(?!.*{_PAST})(?!i\b|he\b|she\b|we\b|it\b|that|this|yes|yeah)(?P<when>[^,;:.]{{3,60}})(?:,[^,;:.]{{2,40}})?,",
        r"\s+(?:and )?(?:never|no|not) (?!one|matter|really|yet|just|sure|to mention|problem|worr|bad|only|much|even)",
        r"[^,;:.]{2,40}[.!]*$",
    ),
    _cue("make sure", rf"{_OPENING}make sure\s+(?:that\s+)?(?:always|never|every|all|any|no|it's|they|replies)\b"),
    _cue("remember that", r"\bremember that (?:i|we|my|he|she)\b"),
    _cue(
        "keep ",
        rf"{_OPENING}keep (?:it|them|this|things|everything|(?:all |your |my |the )?(?:replies|answers|e?mails",
        r"|messages|texts|notes|reports|summaries|code|comments|sentences))\s+(?!up\b|going|coming|real|flowing|moving|fun",
        r"|the\b|that\b|in mind|close)(?=\w)",
    ),
    _cue(
        "answer|reply|respond|write|speak|talk|address|format|sign|spell|send",
        r"^(?P<when>(?:answer|reply|respond|write|speak|talk|address|format|sign|spell|send)\s+(?:to\s+)?",
        rf"(?:(?:{_PERSON}|(?:my|our|the|all|every) \w+)\s+)?(?:[\w-]+\s+){{0,3}}?)",
        r"(?:in|with|without|as|only|no|not|instead|rather)\b",
    ),
    _cue(
        "use|avoid|prefer|include|stick|spell|translate|explain|format|cite|round|sign|address|cc|limit|answer",
        rf"^{_STYLE}\s+(?!of\b|it\b)(?=[\w\"“])",
    ),
    _cue(
        "always|only|please|possible",
        r"^(?!i\b|im\b|i'm|he\b|she\b|it\b|you|yes|yeah|sure|oh\b|and\b|but\b)(?P<when>[^,;:.]{3,50}?),?\s+",
        r"(?:always|only|please|if (?:at all )?possible)[.!]*$",
    ),
)

_CHINESE_CUES = tuple(
    lazy(cue)
    for cue in (
        r"(?P<diet>[对對][^，。；]{1,10}[过過]敏|[不没]能?[吃喝](?!惊|亏|力|饱|完|苦)|忌口|吃素|素食|清真|只[吃喝]|戒[了烟酒糖])",
        r"^(?P<when>[^，。；：]{2,20}?)(?:的)?[时時](?:候)?[，]?(?:请|要|都|就)?(?:别|不要|不能|只|用|一定|必须|要)",
        r"^(?:帮我|请)?(?P<when>[给給跟和对對向为][^，。；：]{1,12}?(?:写|发|说|打|订|买|做|回|讲|聊|送|安排)[^，。；：]{0,8}?)"
        r"(?:一定|都|就)?(?:要|不要|别|用|必须|请|只)",
        r"^(?P<when>(?:写|订|买|回|发|做|送|安排|开|约|点|寄|拍|翻译|总结)[^，。；：]{1,8}?)(?:一定|都|就)?(?:要(?!去)|请用|只|用|先)",
        r"^(?P<when>[^，。；：的了]{2,8})先(?:写|说|给|问)",
        r"^(?P<when>[^，。；：的了]{1,6}的?[^，。；：的了]{1,6})要(?=[^，。；：]{0,4}(?:有|用|短|正式|简|安静|写|先|大|小|快|准时|保密))",
        r"(?P<name>(?:请|可以|就|直接|以后)叫我|^叫我|称呼我)",
        r"(?:以后|今后|从现在起|从今以后|从今天起|往后)(?P<when>[^，。；：]{0,10}?)(?:都|就|请|一律|别|不要|只|要)",
        r"一律|务必|永远(?:别|不要)|总是要|每次都要|千万(?:别|不要|不能)|从来?不(?!及)|必须|始终",
        r"(?:请|麻烦|拜托)[^，。；]{0,6}?(?:别|不要|只|用|都)",
        r"(?<![要先])不要(?!紧|命|是|脸)",
        r"(?<![特区分识辨性级差告离个先你])别(?!的|人|墅|致|说|急|担|忘|提|客|怕|闹|名|处|扭|想|等|老)",
        r"(?:最|更|比较|只|不太?)喜欢|讨厌|受不了|宁愿|宁可|偏好|更愿意",
    )
)

_ASKED = (
    r"(?:(?:hi|hey|hello|ok|okay|so|now|and|also|then|great|thanks|right|please)[,!.]?\s+)*+"
    r"(?:(?:can|could|would|will) you (?:please |maybe |also )?|i(?:'d| would) like you to |i (?:need|want) you to "
    r"|help (?:me|us) (?:to )?|let's |let us |(?:i'd like|i want|i need|we need|we want) to |time to )*+"
)
_LOOKED_UP = (
    r"(?:(?:tell|give|get|send|explain|ask|call|remind)\s+(?:me|us)\s+(?:about|what|when|where|who|which|why|how|if"
    r"|whether|the|everything|all|more)\b|(?:tell|list|show|name|compare|describe|find|check|search|recall|remember"
    r"|count|look|see|know|get back)\b)"
)
_NO_VERB = (
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|who|whom|whose|what"
    r"|when|where|which|why|how|in|on|at|of|for|from|to|by|with|about|during|after|before|since|until|under|over|and"
    r"|but|or|if|all|both|not|than|that|because|as|like|is|per|via|without|wh[a-z]{1,3}'?s|hows?|wen|wich)\b"
)
_SERVED = (
    r"(?:bring|give|get|serve|cook|make|book|order|send|call|ring|phone|invite|buy|wear|offer|write|reply|answer|add"
    r"|pick|schedule|plan|eat|drink|play|watch|visit|go|leave out|avoid|say|address|greet|suggest|prepare|bake|sign)\b"
)
_THING = (
    r"(?:time|place|date|slot|present|gift|hotel|restaurant|flight|table|idea|way|film|movie|book|room|venue|recipe"
    r"|name|title|plan|outfit|menu|song|playlist)"
)
_REQUEST = lazy(
    rf"^{_ASKED}(?!{_LOOKED_UP}|plan [a-z]\b|set [a-z]+ is){_ACTS}\s+(?:\w|[\"'])"
    rf"|^(?![^?]*\?){_ASKED}(?!{_LOOKED_UP}|{_NO_VERB})[a-z]+\s+(?:(?:up|out|down|off)\s+)?(?:the|a|an|my|our|this|these|those|me|us|him|her|them)\s"
    r"|^(?:help|advise)\s+(?:me|us)\b"
    rf"|^{_ASKED}(?:find|get|i need|we need)\s+(?:\w+\s+){{0,4}}?(?:a|an|another|some)\s+(?:\w+\s+){{0,2}}{_THING}s?\b"
    rf"|^(?:[^?]*,\s*)?(?:can|may|could|should|shall)\s+(?:i|we)\s+(?:\w+\s+)?(?:{_SERVED}|(?:use|put|have|take)\b)"
    rf"|\b(?:what|which [\w ]{{1,30}}|where|how)\s+(?:should|shall|could|can|do)\s+(?:i|we)\s+(?:\w+\s+)?{_SERVED}"
    r"|^is it (?:ok|okay|fine|all right|alright) (?:to|if)\b|^would [\w ]{2,30} (?:like|enjoy|mind)\b"
    r"|^(?:any|some)\s+(?:\w+\s+){0,2}(?:ideas?|suggestions?|recommendations?|tips)\b"
    r"|^(?:suggestions|recommendations|ideas)\s+for\b",
    re.IGNORECASE,
)
_CHINESE_REQUEST = lazy(
    r"帮我|帮忙|替我|麻烦你|推荐|请(?:你)?(?:给|写|订|安排|准备|做|发|买|把|用)|起草|拟一|草拟|翻译|总结一下|提醒我|出个?主意|建议"
    r"|(?:^|[，。！？])(?:给[^，。？]{1,12}(?:写|发|打|订|买|准备|回|做|挑|选)|(?:订|写|发|买|安排|准备|回复|约|挑|选)(?![^。！]*[？?吗]))"
    r"|[写发回]一?[封条篇个份段](?![^。]*[吗？])|订一?[家张个间]|[做备]一[份桌顿]|安排[^，。？]{0,6}吧"
    r"|(?:该|应该|可以|能)(?:给[^，。？]{1,8})?(?:送|买|做|穿|带|吃|点|选|写|回)(?:什么|啥|哪|点)"
    r"|(?:送|买|做|带|点|吃|喝|穿|看)(?:点)?(?:什么|啥)(?:好|礼物|菜|呢)"
)
