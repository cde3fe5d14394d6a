"""Words of change: texts that announce a new value, an end, or something that begins again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from memorist.text.patterns import lazy
from memorist.text.tokens import holds_any, sentences
from memorist.text.words import has_chinese

LONGEST_TEXT = 4000
"""Changes are looked for in this many first characters of a text."""
LONGEST_SENTENCE = 400
"""Longer sentences are cut."""

Kind = Literal["new value", "resumption", "end"]


@dataclass(frozen=True, slots=True)
class AnnouncedChange:
    """A change that a text announces, the words that announce it, and the old value if the text names it.

    The old value of a resumption is what begins again.
    """

    kind: Kind
    cue: str
    old: str | None = None


def changes(text: str) -> AnnouncedChange | None:
    """The change that a text announces; None if it announces none.

    Questions, suppositions, wishes and denials announce nothing. Where a text announces several changes, a new value
    counts before an end (`Dr Patel has retired, Dr Grey came instead`), and the old value is the first one that is
    named. One turn in a hundred of LoCoMo and of RealTalk announces a change.
    """
    head = text[:LONGEST_TEXT]
    cues = _hinted(head)
    said = [sentence[:LONGEST_SENTENCE] for sentence in sentences(head)] if cues else []
    found = [change for sentence in said for change in _announced(sentence, cues)]
    if not found:
        return None
    best = min(found, key=lambda one: _ORDER[one.kind])
    return best if best.old else replace(best, old=next((change.old for change in found if change.old), None))


_Table = dict[Kind, tuple[tuple[str, str], ...]]
_ORDER: dict[Kind, int] = {"new value": 0, "resumption": 1, "end": 2}

# Each cue follows the hints, without one of which a sentence is not searched for it. In a cue, OLD is what ends, after
# its verb; GONE is the same before it; WHO is a pronoun or a name; IS and HAS are forms of to be and to have; DAY is
# the day of a change. A space is any whitespace.
_ENGLISH: _Table = {
    "new value": (
        ("now on|immediate effect", r"from now on|with immediate effect"),
        ("as of|effective|starting|beginning", r"(?:as of|effective|starting|beginning) (?:from )?DAY"),
        ("from ", r"from DAY(?: on| onwards?)?(?= ?[.!,;:]| ?$| (?:i|we|he|she|they)\b)"),
        (" now", r"IS now(?! that\b| or\b| and\b| the time| a good)|but now"),
        (" now", r"(?:WHO|THING) now (?:lives?|works?|goes|go|uses?|has|runs?|costs?|starts?|meets?|plays?|studies)"),
        (" now", r"(?:lives?|works?|costs?|meets?)(?: [\w'’.,-]+){1,8} now(?=[.!,;]|$)"),
        (
            " now",
            r"(?:IS|goes|uses?|has|runs?|starts?)(?: (?!PASSING)[\w'’.-]+){1,4} now"
            r"(?=[.!,;]|$)",
        ),
        ("moved|relocated", r"(?:HAS|just|WHO|and) (?:ADVERB )?(?:moved|relocated) (?:house|home|away|in together)"),
        ("moved|relocated", r"(?:HAS|just|WHO|and) (?:ADVERB )?(?:moved|relocated) (?:from OLD )?(?:in)?to(?! tears)"),
        (
            "mov|relocat",
            r"(?:IS|will|['’]ll) (?:finally )?(?:mov|relocat)(?:ing|e) (?:house|home|away|in on|(?:in)?to)",
        ),
        (
            "switch|changed|converted|migrated|transferred|swapped|upgraded|renamed|bumped",
            r"(?:switch(?:ed|ing)?|changed|converted|migrated|transferred|swapped|upgraded|renamed|bumped) (?:over )?"
            r"(?:from OLD )?(?:to|into)",
        ),
        (
            " to ",
            r"(?:changed|switched|moved|rescheduled|shifted|raised|increased|lowered|reduced|cut|bumped) (?:THE)"
            r" (?:[\w'’-]+ ){1,3}?to (?:DAY|AMOUNT)",
        ),
        (
            "from ",
            r"(?:changed|switched|moved|shifted|raised|increased|lowered|reduced|cut|bumped|renamed) (?:THE)"
            r" (?:[\w'’-]+ ){1,3}?from OLD to",
        ),
        (
            "replaced|superseded|swapped",
            r"GONE (?:IS|HAS been|got|been) (?:replaced|superseded|swapped) (?:by|with|for)",
        ),
        ("replaced|superseded", r"(?:replaced|superseded) OLD (?:by|with)"),
        ("replace|supersede", r"(?:replace|supersede)[ds] OLD"),
        ("over from|over as|over the", r"(?:takes?|took|taken|taking) over from OLD"),
        ("over from|over as|over the", r"(?:takes?|took|taken|taking) over (?:as|the)"),
        ("cover|in for", r"(?:covers?|covering|stands? in|filling in|fills? in|steps? in) for OLD"),
        ("hand|step|deprecated", r"(?:hands|handed|handing) over to|(?:deprecated|dropped) in favou?r of"),
        ("new ", r"IS (?:the|our|my|NAMES) new ATTRIBUTE"),
        ("as well", r"(?:covers|does) (?:[\w'’-]+ ){1,3}?as well"),
        ("instead of|in place of", r"(?:instead of|in place of) (?!\w+ing\b)OLD"),
        ("instead", r"(?:came|comes|does it|goes|went|uses|go|use) (?:[\w'’-]+ ){0,2}?instead(?=[.!,;:]|$)"),
        ("up |down ", r"(?:goes|go|went|gone|going) (?:up|down) (?:from OLD )?to AMOUNT"),
        (
            "rise|rose|fall|fell|drop|raised|reased|reduced|lowered|cut",
            r"(?:rises|rose|risen|falls|fell|drops|dropped|raised|increased|reduced|lowered|cut) (?:from OLD )?"
            r"to AMOUNT",
        ),
        (
            "extended|postponed|delayed|rescheduled|pushed back|put off|put back|forward",
            r"(?:extended|postponed|delayed|rescheduled|pushed back|put off|put back|brought forward) (?:from OLD )?"
            r"(?:to|until|till)",
        ),
        ("new ", r"new ATTRIBUTE(?: then| now)? ?(?::|is\b|are\b|will be|ends?)"),
        ("new ", r"new (?:record|personal best|low|high)(?=[!.]|$)"),
        (
            "made|promoted|appointed|elected",
            r"(?:IS|been|got|gets) (?:just )?(?:made (?:permanent|head|manager|partner|director|captain)|promoted"
            r"|appointed|elected)",
        ),
        ("promotion|new ", r"(?:got|HAS)(?: got)? (?:a |THE )?(?:promotion|new (?:job|role|address|number|boss|flat))"),
        ("first ", r"(?:^|(?:THE) |NAMES )first (?:day|night|shift|week) (?:at|in|with|as)"),
        ("v2|v3|v4|v5|v6|v7|v8|v9|version", r"(?:v|version )[2-9](?!\.?\d)"),
        ("start", r"WHO starts? (?:there |work )?(?:on|from|in) DAY"),
        ("got the", r"got the (?:job|place|flat|house|keys|role|contract)"),
        (" live| out now", r"(?:IS|went|goes) (?:finally )?live(?=[.!,]|$)|IS out now"),
        ("measured|reran|re-ran|redid", r"re-?measured|re-?ran|redid|measured(?: [\w'’.-]+){1,3} again"),
        (
            "correct|scratch that|disregard that|was wrong",
            r"correction:|(?:scratch|disregard) that|i (?:was wrong|stand corrected)",
        ),
        ("swapped|mixed up", r"(?:i|we)(?: had| have|['’]d|['’]ve)? (?:swapped|mixed up) (?:the|them|up)"),
        ("use ", r"NOT use OLD (?:any ?more|anywhere|any longer)"),
    ),
    "resumption": (
        (
            "again",
            r"(?:IS|HAS been|started|begun|began) (?!seeing|looking|saying|asking|trying|doing|going|planning)"
            r"(?P<old>\w+ing)(?: (?!to\b)[\w'’-]+){0,3} again",
        ),
        ("back to", r"(?:went|gone|going|goes) back to (?:\w+ing|(?:THE) (?:old|previous|former))"),
        ("back ", r"IS back (?:at work|at school|in business|in stock|in use|in service|on sale|together)"),
        ("back together", r"(?:got|getting|gotten|gets) back together"),
        (
            "resum|rejoin|restart|reinstat|reactiv|reopen",
            r"(?:resume|rejoine|restarte|reinstate|reactivate|reopene)d|resumes|reopens",
        ),
        ("back to|reverted to", r"(?:rolled back|reverted) to"),
        ("again", r"IS (?:open|available) again|(?:took|taken|taking|picked) (?:it |\w+ )?up again"),
    ),
    "end": (
        ("no longer", r"no longer OLD"),
        ("more|any longer", r"NOT (?:[\w'’-]+ ){1,8}?(?:any ?more|any longer)"),
        (
            "tired|signed|expire|drawn|revoked|continued|abolished|scrapped|deprecated|decommissioned|off|cancel|down|stolen",
            r"GONE (?:HAS|IS|HAS been|just) (?:ADVERB )?(?:retired|resigned|expired|withdrawn|revoked|discontinued"
            r"|abolished|scrapped|deprecated|decommissioned|called off|cancell?ed|shut down|closed down|stolen)",
        ),
        (
            "retired|resigned|withdrawn|off|discontinued",
            r"GONE (?:retired|resigned|withdrawn|called off|discontinued)",
        ),
        (
            "given up|gave up|quit|out of|rid of|ditched|cancel|off",
            r"(?:HAS|just|WHO) (?:just )?(?:given up|gave up|quit|dropped out of|got rid of|ditched|cancell?ed"
            r"|called off) (?:on )?OLD",
        ),
        ("died|broke down", r"the (?P<old>[\w'’.-]{2,32}(?: [\w'’.-]{1,32})?) (?:died|broke down)"),
        ("died|passed away", r"(?:WHO|THING|HAS) (?:died|passed away)"),
        ("stopped|quit|ceased", r"(?:HAS|just|WHO) (?:ADVERB )?(?:stopped|quit|ceased) (?P<old>(?!laugh|cry)\w+ing)"),
        ("moved out|broke up|split up|divorced", r"WHO (?:HAS |just )?(?:moved out|broke up|split up|got divorced)"),
        ("left|quit", r"(?:HAS|just|WHO) (?:just )?(?:left|quit) (?:THE) (?:job|company|firm|band|club|post|position)"),
        ("s last", r"IS (?P<old>(?-i:[A-Z])[\w-]*)['’]s last (?:day|week|shift|class|lesson)"),
        ("removed|dropped", r"(?:WHO|HAS|just) (?:ADVERB )?(?:removed|dropped) (?:the )?support for OLD"),
        ("step|stood", r"GONE (?:HAS )?(?:stepped|stood) down"),
        ("no more", r"^no more OLD"),
        ("used to", r"WHO (?:all |both |always |never )?used to (?!it\b|this\b|that\b|the\b|my\b|when\b|\w+ing\b)OLD"),
        ("since", r"NOT an? (?:single )?OLD since"),
    ),
}
_CHINESE: _Table = {
    "new value": (
        ("把|将", r"(?:把|将)OLD(?:换|改|变)(?:成|为|到)"),
        ("从", r"从OLD(?:换|改|搬|迁|转|调|升|涨|降|加|减)(?:成|为|到|去|至)"),
        ("改", r"(?<![修更涂批不])改(?:成|为|到|用|学|吃|喝|住|上|做|去|坐|由|叫|名|期|在)"),
        ("换|变|升级", r"(?:换|变|更换|升级)(?:成|为|到)|换了"),
        ("搬|迁", r"(?:搬|迁)(?:到|去|进|来|回|至|家)"),
        ("现在", r"(?<!离)现在(?:是|改|换|由|归|住|叫|用|只|在[^，。！]{1,12}(?:住|工作|上班|上学))"),
        ("今|起|开始", r"从今|今后|从现在(?:起|开始)|DAY(?:起|开始)"),
        ("到|至", r"(?:推迟|提前|延期|延迟|延后|顺延|推|延)(?:到|至)"),
        ("到|至|为", r"(?:升|涨|降|跌|加|减|提高|增加|减少|降低|上调|下调|调整|缩短|延长)(?:到|至|为)"),
        ("升", r"升(?:职|任|为)|升[\u4e00-\u9fff]{1,6}了|晋升"),
        ("替|取代", r"(?:代替|取代|接替|顶替)OLD"),
        ("接|入职|转", r"接手|接任|入职|转学|转到"),
        ("第一", r"第一(?:天|晚)(?:在|上|去|住)"),
        ("上线|新版|拿到", r"上线了|新版|(?:房子|钥匙|工作|录取)拿到了|拿到(?:房子|钥匙|工作|录取)"),
        ("新", r"新的?(?:地址|电话|号码|手机号?|邮箱|密码|老师|老板|经理|房东|学校|名字|车牌|时间)(?:是|为|叫|：|:)"),
        ("更正|错了", r"更正[：:，]|[写说记弄搞]错了"),
    ),
    "resumption": (
        ("又", r"又(?:开始|恢复)OLD了"),
        ("又", r"又(?:开始|回到|回去|恢复|抽|住回|用回)"),
        ("回滚|退回", r"(?:回滚|退回)到"),
        ("重新", r"重新(?:开始|启用|开放|营业|上班|上学|加入)"),
        ("复", r"恢复(?:上班|营业|使用|供应|上课)|复(?:工|职|学|婚|合)了"),
    ),
    "end": (
        ("不再", r"不再OLD"),
        ("消|停|废|效|架|回|闭|散|线", r"取消|停用|下线|停产|停售|作废|失效|下架|撤回|废除|停办|倒闭|解散"),
        ("戒|辞|职|休|分|离|世|走|掉", r"戒(?:了|掉|烟|酒)|辞职|辞掉|辞了|离职|退休|分手|离婚|去世|过世|搬走|卖掉"),
        (
            "不",
            r"(?<![对受差])不(?:肯|想|愿意|用|能)?(?!是|了|得|知|好意|会吧|过|对|见|错|行|容易|小心|够|说|一样|舒服)OLD了"
            r"(?=[，。！；,!\s]|$)",
        ),
        ("以前|原来", r"(?:以前|原来)(?:是|住|用|叫|在[^，。！]{1,10}(?:住|工作|上班))"),
    ),
}

_ATTRIBUTE = """
    address number phone mobile email password code pin title name job role position boss manager supervisor coach
    teacher landlord landlady school class car reg price rent fee salary rate deadline date time hours version limit
    rule policy plan wifi card account contact doctor dentist vet babysitter plumber day room office team record"""
_MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
_OLD = r"[^\s,.;:!?()，。；！？](?:[^,.;:!?()\n，。；！？]|\.(?=\d)){0,39}?"
_NOBODY = "it|he|she|i|we|they|you|that|this|and|someone|somebody|people|who"
_PARTS = {
    "ATTRIBUTE": f"(?:{'|'.join(_ATTRIBUTE.split())})s?",
    "ADVERB": "(?:just|finally|recently|all|now|completely)",
    "AMOUNT": r"(?:[£$€¥]?\d+\w*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|half)",
    "THING": r"(?:THE) [\w'’-]+",
    "PASSING": (
        "(?:right|just|for|by|until|here|there|what|how|fine|good|well|better|stronger|done|sorted|feel|feeling|doing"
        r"|going|hungry|tired)\b"
    ),
    "NAMES": r"(?-i:[A-Z])[\w-]*['’]s",
    "THE": "the|my|our|his|her|their|its",
    "GONE": rf"(?<![\w'’-])(?P<old>(?:(?:the|my|our) )?(?!(?:{_NOBODY})\b)[\w'’.-]{{2,32}}(?: [\w'’.-]{{1,32}})?)",
    "OLD": f"(?P<old>{_OLD})",
    "WHO": r"(?:i|we|you|he|she|they|it|there|(?-i:[A-Z])[\w-]*)",
    "NOT": r"(?:not|never|\w+n['’]t)",
    "HAS": r"(?:has|have|had|['’](?:s|ve|d))",
    "IS": r"(?:am|is|are|was|were|be|['’](?:m|s|re))",
}
_ENGLISH_DAY = (
    rf"(?:today|tomorrow|now|(?:the )?\d{{1,2}}(?:st|nd|rd|th)(?: of)?(?: {_MONTH})?|(?:next |this )?(?:{_MONTH}|"
    rf"(?:mon|tues|wednes|thurs|fri|satur|sun)days?)|next (?:week|month|year|term|season)|\d{{1,2}} {_MONTH}"
    r"|\d{4}-\d\d-\d\d)"
)
_CHINESE_DAY = (
    r"(?:今天|明天|后天|下?个?星期.|[下这本]个?[周月].?|明年[^，。]{0,4}"
    r"|[\d一二三四五六七八九十]{1,3}[月号日][^，。]{0,4}?)"
)
# An old value that nothing follows in its cue ends with its clause.
_CLAUSE_END = r"(?=\s+(?:and|but|because|since|so|when|though|now)\b|\s*(?:[,;:!?()，。；！？\n]|\.(?!\d))|\s*$)"

_NOT_SAID = lazy(
    r"[?？]\W*$|\b(?:if|unless|wish(?:es|ed)?|imagine|suppose|would|could|might|maybe|perhaps|should|hop(?:e|es|ing)"
    r"|want(?:s|ed)? to|thinking (?:of|about)|dream(?:t|ed)?|(?:not|n['’]t) true|kidding|joking)\b"
    r"|如果|要是|假如|万一|也许|可能|或许|希望|打算|想要?[搬换改去]|考虑|吗[。！]*$|呢[。！]*$|不是真的|开玩笑",
    re.IGNORECASE,
)
_DENIED = lazy(
    r"(?:\b(?:not|never|nor)|n['’]t|没有?|别|不要|不用|不会|不能|未)(?:\s+(?:yet|even|been|be|have))?\s*$",
    re.IGNORECASE,
)


_ARTICLE = lazy(r"(?:the|an?|my|our|his|her|their|its)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Cue:
    kind: Kind
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


@cache
def _cues(chinese: bool) -> tuple[_Cue, ...]:
    tables = _CHINESE if chinese else _ENGLISH
    return tuple(
        _Cue(kind, tuple(hints.split("|")), lazy(_expanded(cue, chinese), re.IGNORECASE))
        for kind, table in tables.items()
        for hints, cue in table
    )


def _expanded(cue: str, chinese: bool) -> str:
    """A cue of a table as a regular expression."""
    cue = f"{cue}{_CLAUSE_END}" if cue.endswith("OLD") else cue
    for name, part in {**_PARTS, "DAY": _CHINESE_DAY if chinese else _ENGLISH_DAY}.items():
        cue = re.sub(rf"(?<![A-Z]){name}(?![A-Z])", lambda _, part=part: part, cue)
    return cue if chinese else rf"(?:\b|(?=['’]))(?:{cue})(?!\w)".replace(" ?", r"\s*").replace(" ", r"\s+")


def _hinted(text: str) -> list[_Cue]:
    """The cues that a text may have, by their hints."""
    folded = text.lower()
    cues = (*_cues(chinese=False), *(_cues(chinese=True) if has_chinese(text) else ()))
    return [cue for cue in cues if holds_any(folded, cue.hints)]


def _announced(sentence: str, cues: Sequence[_Cue]) -> Iterator[AnnouncedChange]:
    """The changes of one sentence, at most one per cue."""
    if _NOT_SAID.search(sentence):
        return
    for cue in cues:
        found = cue.pattern.search(sentence)
        if found and not _DENIED.search(sentence, max(0, found.start() - 24), found.start()):
            yield AnnouncedChange(cue.kind, *_cue_and_old(found))


def _cue_and_old(found: re.Match[str]) -> tuple[str, str | None]:
    """The words of a cue, with `…` for an old value between them, and the old value without its article."""
    old = found.groupdict().get("old")
    if not old:
        return found[0].strip().lower(), None
    before, after = found.string[found.start() : found.start("old")], found.string[found.end("old") : found.end()]
    cue = " … ".join(side.strip().lower() for side in (before, after) if side.strip())
    return cue, _ARTICLE.sub("", old.strip(), count=1) if _ARTICLE.match(old) else old.strip()
