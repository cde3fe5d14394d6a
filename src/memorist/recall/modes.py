"""What sort of memory a question wants, by the way it is asked: a table of cues, English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from memorist.text.fold import fold

Mode = Literal["semantic", "procedural", "episodic", "mixed"]

# One cue a line, as words: a/b is either, … up to four words between, ^ the start of the question, -ed any word
# that ends so. A capital name stands for one of the sets below.
_SETS = {
    "DOER": "i/we/you/one/someone/somebody/people",
    "WHO": "i/we/you/he/she/they",
    "ASK": "what/which/who/whom/whose/where/when/why/how",
    "IS": "is/are/am/does/do/can/will/would/might/could/should/has/have",
    "TIME": "time/night/week/weekend/month/year/spring/summer/autumn/fall/winter/session/monday/tuesday/wednesday/"
    "thursday/friday/saturday/sunday",
    "DID": "went/said/told/met/saw/bought/got/made/took/gave/found/left/came/thought/felt/ran/ate/drank/wrote/heard/"
    "lost/won/broke/chose/flew/drove/began/sent/sold/taught/paid/spent/spoke/sang/swam/rode/grew/built/fell/-ed",
    "DONE": "been/done/gone/seen/met/read/written/taken/given/eaten/driven/flown/spoken/ever/bought/had/made/-ed",
}

_CUES: Mapping[Mode, str] = {
    "procedural": """
        how do/does/can/could/should/would/must/might/shall DOER
        how to
        how is/are … done/made/built/configured/installed/deployed/prepared
        what/which … steps/procedure/instructions/command/commands/workflow/process
        steps/procedure/instructions/workflow/recipe/guide/tutorial/checklist/command to/for/of/when
        step by step
        walk/guide me through
        show/teach/tell me how
        best/right/correct/proper/easiest/fastest/safest/recommended/usual way/method/approach/practice to/of/for
        way/ways to
        what should/must/do/can/shall DOER … do/use/run/say/check/try
        what needs to be done""",
    "episodic": """
        ASK … did/was/were/had/happened
        ^ did/was/were/had
        did/was/were WHO
        what is/has … happening/happened
        who/what DID
        when … DID
        have/has … DONE
        WHO DID
        WHO had/just/already/recently/once/first/last DID
        last/previous/first/that/other TIME
        yesterday/ago/recently/lately/previously
        earlier today/this
        back in/when
        in the past
        remember/recall when/the
        the time/day/night/moment when/that/we/i""",
    "semantic": """
        ASK IS
        ^ ASK
        ^ IS
        how old/many/much/tall/long/far/often/big/large/heavy/fast/come
        what/which/whose … IS
        meaning/definition/define/means
        stand/stands for
        difference between
        name/version/capital/address/number of
        prefer/prefers/preference/preferences/favourite/favourites/favorite/favorites
        like/likes/love/loves/hate/hates/dislike/dislikes
        allergic/allergy/allergies/birthday/address""",
}

# Chinese has no words to count, so its cues are patterns.
_CHINESE: Mapping[Mode, tuple[str, ...]] = {
    "procedural": (
        r"(?:怎么|怎麼|怎样|怎樣|咋)(?!了|样|樣|回事|认识|認識|知道|没|會|会|看待|说的|.{0,6}[过過的][?？]?$)",
        r"如何|步骤|步驟|流程|教程|办法|辦法|方法|指南|该做什么|要做什么|需要做什么",
    ),
    "episodic": (
        r"(?<!是)(?:什么时候|什麼時候|何时|何時)|(?:什么时候|什麼時候|何时|何時)(?![?？]?$)",
        r"发生|發生|怎么了|怎麼了|怎么回事|(?:怎么|怎麼).{1,6}[过過的][?？]?$|记得.*时|第一次|为什么.*了",
        r"上次|上回|上周|上週|上个|上個|去年|昨天|昨晚|前天|那天|那次|刚才|刚刚|最近|以前|之前|曾经|曾經",
        r"[\u4e00-\u9fff](?:过|過)(?!程|敏|滤|濾|期|时|時|度)|了(?:吗|嗎|没|谁|誰|什么|什麼|哪|多少|几|[?？]?$)|是在?.{1,12}的[?？]?$",
    ),
    "semantic": (
        r"是什么|是甚麼|是什麼|什么是|什麼是|是谁|是誰|谁是|誰是|叫什么|叫什麼|什么样|什麼樣|怎么样|怎麼樣|是不是|有没有|是否|为什么",
        r"在哪|哪里|哪裡|哪儿|哪个|哪個|哪一|哪些|哪种|多少|几岁|几个|几点|多大|多高|多久|定义|意思|区别|属于|[是有会能].*[吗嗎]",
        r"喜欢|喜歡|最爱|最愛|偏好|讨厌|擅长|过敏|住在|会不会|能不能|什么(?:颜色|名字|工作|专业|牌子|类型|语言|[?？]?$)",
    ),
}

_CONTRACTIONS = (
    (re.compile(r"\b(what|who|where|when|how|why|that|it|there|here)'s\b"), r"\1 is"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'re\b"), " are"),
)
_NO_WORD = re.compile(r"\W+")
_LONGEST = 2000


def query_mode(text: str) -> Mode:
    """Semantic (what is so), procedural (how to), episodic (what happened); mixed when none or two of them fit.

    Asking what is so is often only the form of another question, so those cues count when there are no others.
    """
    folded = fold(text[:_LONGEST])
    asked = _plain(folded)
    found: list[Mode] = [
        mode for mode, words, signs in _PATTERNS if words.search(asked) or signs.search(folded.strip())
    ]
    if "semantic" in found and len(found) > 1:
        found.remove("semantic")
    return found[0] if len(found) == 1 else "mixed"


def _plain(folded: str) -> str:
    for contraction, full in _CONTRACTIONS:
        folded = contraction.sub(full, folded)
    return _NO_WORD.sub(" ", folded).strip()


def _pattern(cue: str) -> str:
    """A line of the table as a regular expression over words parted by single spaces."""
    pattern, start = "", r"\b"
    for part in cue.split():
        if part == "^":
            start = "^"
        elif part == "…":
            pattern += r"(?:\w+ ){0,4}?"
        else:
            pattern += rf"(?:{_alternatives(part)})\b ?"
    return start + pattern


def _alternatives(part: str) -> str:
    words = _SETS.get(part, part).split("/")
    return "|".join(r"\w{2,}[^\We]ed" if word == "-ed" else word for word in words)


def _any(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_PATTERNS: tuple[tuple[Mode, re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (mode, _any([_pattern(cue) for cue in cues.strip().splitlines()]), _any(list(_CHINESE[mode])))
    for mode, cues in _CUES.items()
)
