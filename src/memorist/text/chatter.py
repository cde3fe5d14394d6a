"""Turns of conversation: questions, small talk, and how a turn is rendered."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import accumulate, takewhile

from memorist.text.patterns import lazy
from memorist.text.tokens import count_tokens, sentences
from memorist.text.words import STOP_WORDS, fold, language, words

_MARKS = frozenset("?？؟")
_WORDS = """
who whom whose what when where which why how
is are was were am do does did has have had can could will would shall should may might
list name tell give show find mention describe explain
"""
_ASKING = frozenset(_WORDS.split())


def asks(text: str) -> bool:
    """Whether a text has a question mark or begins with an English question or request word."""
    return not _MARKS.isdisjoint(text) or next(iter(words(text)), "") in _ASKING


QUESTION_TOKENS = 64
"""How much of a long query models read, as in the training of the packaged ones; up to twice as much is not long."""


def question_in(query: str) -> str:
    """The part of a query that asks: all of a short one, else its last sentences that fit 64 tokens.

    It begins no earlier than the last line with a question mark, because a conversation before it is not the question.
    If none of these sentences asks and the first sentence of the query has a question mark, it is that one.
    """
    if count_tokens(query) <= 2 * QUESTION_TOKENS:
        return query
    last = _last_sentences(query)
    return _asked_first(query, last) or last


def searched_part(query: str, longest: int) -> str:
    """The last characters of a query that is too long; the first ones if its question is there."""
    beginning, end = query[:longest], query[-longest:]
    return beginning if len(query) > longest and _asked_first(beginning, _last_sentences(end)) else end


def _asked_first(query: str, last: str) -> str:
    """The first sentence of a query if it has a question mark and none of the last sentences asks; else empty."""
    first = next(iter(sentences(query)), "")
    asked = not _MARKS.isdisjoint(first) and count_tokens(first) <= QUESTION_TOKENS
    return first if asked and not any(map(asks, sentences(last))) else ""


def _last_sentences(query: str) -> str:
    kept: list[str] = []
    room = QUESTION_TOKENS
    for line in reversed(query.splitlines()):
        for sentence in reversed(sentences(line)):
            room -= count_tokens(sentence)
            if room < 0:
                return " ".join(reversed(kept)) or _last_words(sentence)
            kept.append(sentence)
        if not _MARKS.isdisjoint("".join(kept)):
            break
    return " ".join(reversed(kept))


def _last_words(sentence: str) -> str:
    parts = sentence.split()
    costs = accumulate(map(count_tokens, reversed(parts)))
    fitting = sum(1 for _ in takewhile(lambda cost: cost <= QUESTION_TOKENS, costs))
    return " ".join(parts[-fitting:]) if fitting else sentence[-QUESTION_TOKENS:]


NEAR = 200
"""Characters of the previous turn that are used: its end, where questions are."""
MARK = "‖"
"""Separates a turn from the previous one; in a text it is replaced by a plain bar."""


def render_turn(text: str, *, speaker: str | None = None, at: datetime | None = None, before: str | None = None) -> str:
    """`[8 May 2023] Ann: It went well. ‖ before: Ben: How was it?`; all parts but the text are optional."""
    date = f"[{at.day} {at:%B} {at.year}] " if at else ""
    context = f" {MARK} before: {before}" if before else ""
    return f"{date}{with_speaker(text, speaker)}{context}"


def with_speaker(text: str, speaker: str | None) -> str:
    """A text with its speaker before it, unless it begins with the speaker already."""
    plain = text.replace(MARK, "|")
    return plain if not speaker or plain.startswith(f"{speaker}:") else f"{speaker}: {plain}"


def ending(text: str, speaker: str | None) -> str:
    """The end of a turn, as context for the next one."""
    return with_speaker(text, speaker)[-NEAR:]


LONGEST = 160
"""Longer texts are never small talk."""

_ANYONE = (
    r"(?:[,]? (?:there|all|everyone|everybody|again|guys|friend|buddy|mate|man|dear|sir|so much|a lot|very much))*"
)
_PHRASES = (
    rf"(?:hi|hello|hey|yo|hiya|howdy|greetings|good (?:morning|afternoon|evening|night|day)){_ANYONE}",
    r"how (?:are you|are things|is it going|have you been|do you do)(?: doing)?(?: today)?",
    rf"(?:ok|okay|alright|all right|sure|fine|great|cool|nice|perfect|got it|i see|understood|sounds good|yes|yeah|yep"
    rf"|no|nope|right|exactly|indeed|of course|sorry|no problem|no worries|wow|awesome|lol|haha+){_ANYONE}",
    rf"(?:thanks|thank you|thx|ty|many thanks|much appreciated|cheers|you(?:'re| are) (?:very )?welcome){_ANYONE}",
    rf"(?:bye|goodbye|see (?:you|ya)|take care|talk (?:to you )?(?:later|soon)|have a (?:good|nice|great) "
    rf"(?:day|one|night|evening|weekend)|good ?night)(?: (?:later|soon|tomorrow|around|then))?{_ANYONE}",
    r"i (?:don't|do not|can't|cannot|can not) (?:know|recall|remember)"
    r"(?: (?:that|this|it|anything|anything about (?:it|that|this)|about (?:that|it|this)))?",
    r"i (?:have no|don't have (?:any|that)|do not have (?:any|that)) (?:information|memory|record|memories|idea"
    r"|knowledge)(?: (?:about|of|on|regarding) (?:this|that|it))?",
    r"(?:no|nothing) (?:relevant |new )?(?:information|memories|facts|to remember)?"
    r"(?: (?:was |were )?(?:found|stored|available))?",
    r"nothing (?:new )?is (?:known|remembered) about (?:this|that|it)",
    r"(?:do|can|did) you (?:still )?(?:remember|recall)(?: (?:me|that|this|it|what i (?:told you|said)|our (?:last )?"
    r"(?:chat|conversation)))?",
    r"what (?:do you (?:know|remember)|have you (?:stored|saved|remembered)) about me",
    r"what(?:'s| is) in your memory",
    r"(?:as an ai(?: language model)?,? )?i (?:am|'m) (?:just )?an ai(?: (?:assistant|language model))?",
    r"(?:你好|您好|早上好|晚上好|早安|晚安|嗨|大家好)",
    r"(?:谢谢|多谢|感谢|谢了)(?:你|您|大家)?|不客气|不用谢",
    r"(?:好的?|嗯+|行|可以|知道了|明白了?|收到|没问题|是的|对)",
    r"(?:再见|拜拜|回头见|明天见)",
    r"我(?:不知道|不清楚|不记得)(?:了)?",
    r"你(?:还)?(?:记得|知道)(?:我)?(?:说过|告诉过你)?(?:什么|我吗|吗)?(?:吗)?",
    r"你的记忆里有什么|没有(?:相关)?(?:信息|记忆)",
)
_NOTHING = lazy("|".join(f"(?:{phrase})" for phrase in _PHRASES))
_DRESS = lazy(r"[^\w\s'，]+|[，,]$")
_COMMAS = lazy(r"[,，、]\s*")


MOST_FILLERS = 3
_GLANCE = 100
"""Characters that are enough to see that most texts have more words."""


def is_filler(text: str) -> bool:
    """Whether a text consists of at most three words, all of them stop words, and does not ask: `Same here!`"""
    if sum(part[0].isascii() and part[0].isalnum() for part in text[:_GLANCE].split()) > MOST_FILLERS:
        return False
    said = words(text)
    common = STOP_WORDS.get(language(said), frozenset[str]())
    return 0 < len(said) <= MOST_FILLERS and not asks(text) and common.issuperset(said)


def says_nothing(text: str) -> bool:
    """Whether every sentence of a text is a courtesy phrase or a statement of ignorance."""
    if len(text) > LONGEST:
        return False
    said = False
    for sentence in sentences(text):
        if one := bare(sentence):
            if not _is_phrase(one):
                return False
            said = True
    return said


def bare(text: str) -> str:
    """A folded text without punctuation, except apostrophes and commas inside."""
    return " ".join(_DRESS.sub(" ", _KEPT.sub("，", fold(text))).split()).strip("， '").replace(" ，", "，")


def _is_phrase(said: str) -> bool:
    return all(_NOTHING.fullmatch(part.strip()) for part in _COMMAS.split(said) if part.strip())


_KEPT = lazy("[,，]")


_INVERTED = lazy(
    r"(?:who|whom|whose|what|when|where|which|why|how)"
    r"(?:'s\b|s\b|(?! (?:i|we|you|he|she|they|it|my|our|the)\b)(?: [\w'’-]+){0,3}? (?:is|are|was|were|am|do|does|did"
    r"|has|have|had|can|could|will|would|should|may|might)\b)"
    r"|(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might) "
    r"(?:i|you|we|he|she|it|they|there|my|our|your|his|her|their|the|this|that|any|some|anyone|somebody)\b"
    r"|(?:please )?(?:tell|remind|show) (?:me|us)\b.{0,60}\b(?:who|what|when|where|which|why|how|whether)\b"
    r"|(?:please )?(?:list|compare|summari[sz]e) \w"
    r"|everything (?:i|we) (?:need|should|have) |(?:i|we) (?:need|want|would like) (?:to know|all|the|a list)\b",
    re.IGNORECASE,
)
"""How a sentence begins that asks, also without a question mark."""
_CLAUSE = lazy(r"[,;:，；：]|\s[–—-]\s|\b(?:but|so)\b")
_OWN = lazy(r"(?:i|we|my|our)\b", re.IGNORECASE)
_CHINESE_ASKING = lazy(r"什么|哪|谁|怎|几|吗|呢|多少|如何|是否|是不是|有没有")
FEWEST_WORDS = 3
"""How many words a clause needs to state something."""


def only_asks(text: str) -> bool:
    """Whether a text asks and states nothing: "Which cake can he eat?", not "I eat no nuts, which cake can I eat?"."""
    said = [sentence for sentence in sentences(text) if not says_nothing(sentence)]
    return bool(said) and all(_is_asking(saying) and not _states(saying) for saying in said)


_IGNORANCE = lazy(
    r"(?:(?:i'?m |i am )?(?:sorry|afraid|unfortunately)[,:]?(?: but)?(?: that)? )?"
    r"(?:i|we) (?:(?:do|does|did|could|can)(?: not|n't)|cannot) (?:currently |yet |actually )?"
    r"(?:know|recall|remember|find|see|have (?:any|that|this|the|enough|a record|information|details|memor))\b"
    r"|(?:unfortunately[,:]? )?(?:there is|there's|i have) (?:no|nothing)\b",
    re.IGNORECASE,
)
_BUT = lazy(r"\b(?:but|though|although|except|only)\b", re.IGNORECASE)
_OFFER = lazy(r"(?:let me|please|feel free|would you|could you|if you)\b", re.IGNORECASE)


def knows_nothing(text: str) -> bool:
    """Whether an answer only says that nothing is known: "I don't have any information about France."."""
    said = [sentence.replace("’", "'") for sentence in sentences(text)]
    return any(map(_IGNORANCE.match, said)) and not any(map(_tells, said))


def _tells(sentence: str) -> bool:
    """Whether a sentence of an answer says something beside ignorance and courtesy."""
    if unknown := _IGNORANCE.match(sentence):
        return _BUT.search(sentence, unknown.end()) is not None
    return not (_OFFER.match(sentence) or says_nothing(sentence))


def _is_asking(sentence: str) -> bool:
    return not _MARKS.isdisjoint(sentence) or (not sentence.endswith("!") and _INVERTED.match(sentence) is not None)


def _states(sentence: str) -> bool:
    """Whether a clause of a question states something."""
    first, *others = (words(clause) for clause in _CLAUSE.split(sentence))
    if others and len(first) >= FEWEST_WORDS and first[0] not in _ASKING:
        return _CHINESE_ASKING.search(_CLAUSE.split(sentence)[0]) is None
    parts = _CLAUSE.split(sentence)[1:]
    return any(_OWN.match(part.strip()) and len(words(part)) >= FEWEST_WORDS for part in parts)
