"""First-person statements in Chinese: homes, work, names, births, marriages, relatives, allergies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from memorist.model import Fact
from memorist.remember.extract.clauses import Sentence, is_doubted
from memorist.remember.extract.spans import Statement
from memorist.text.dates import find_dates
from memorist.text.patterns import lazy

_CLAUSE = lazy(r"[^，,；;。！!\n\x1f]+")
# One character for one, so that offsets in a clause stay the same.
_SIMPLIFIED = str.maketrans(
    "歡歲結過對愛討厭語說話學來從離開個媽兒現換會這還經號間職業護師員醫畫記編輯譯導遊廚機貓",
    "欢岁结过对爱讨厌语说话学来从离开个妈儿现换会这还经号间职业护师员医画记编辑译导游厨机猫",
)
_NUMBER = r"[\d一二三四五六七八九十〇零两]"
_DATE = rf"(?:(?:从|自从?|在|于)?(?:{_NUMBER}+(?:年|个?月|周|日|号)|[去前今]年|上个?[月周])(?:底|初|中)?的?(?:开始)?)*"
_ADVERBS = r"(?:现在|目前|如今|今年|其实|已经|一直|还|也|就|刚刚?|最近|才|真的|很|非常|特别|超级?|比较|都|又|终于)*"
_OPENING = lazy(
    r"\s*(?:其实|现在|目前|最近|因为|所以|但是?|不过|而且|另外|然后|嗯|对了|你好|大家好|嗨|更正[:：]?|更新[:：]?)*"
    + _DATE
)
_ENDING = lazy(r"[\s~…的了啦啊哦呀吧]+$")
_ME = lazy(r"我们?的?|俺|本人")
_UPDATE = lazy(r"不再|改成|换成|换到|现在|其实|如今|目前|搬|离开|辞|刚|更正|最近|已经不|不[^，。]{1,12}了")
_WISH = lazy(r"想[搬去住换在到做]|希望|打算|计划|准备|想要|将要|将会|会[搬去住在]|要[搬去]|梦想|愿意|能[住在]|应当")
_POINTING = lazy(r"[你您他她它我谁]|这|那|什么|哪|里$|自己|东西|家里|^(?:一个人|地方)$")
_JOB = lazy(r"(?:师|员|学生|家|者|手|长|工|警察|教授|经理|护士|司机|老板|编辑|翻译|导游|医生|秘书|主管|会计)$")
_PERSON = r"[\u4e00-\u9fff·]{2,4}|[A-Z][A-Za-z]+"
_PLACE = r"[\w·]{2,15}?"
_KIN = {
    "姐姐": "sister", "妹妹": "sister", "哥哥": "brother", "弟弟": "brother", "儿子": "child", "女儿": "child",
    "妈妈": "mother", "母亲": "mother", "爸爸": "father", "父亲": "father", "朋友": "friend", "狗": "pet", "猫": "pet",
    "男朋友": "partner", "女朋友": "partner", "妻子": "married_to", "老婆": "married_to", "太太": "married_to",
    "丈夫": "married_to", "老公": "married_to", "室友": "roommate", "同事": "colleague",
}  # fmt: skip
_KIN_NAMED = lazy(
    rf"我的?(?P<kin>{'|'.join(sorted(_KIN, key=len, reverse=True))})(?:的名字)?(?:叫做?|是)(?P<o>{_PERSON})$"
)


@dataclass(frozen=True, slots=True)
class _ChineseRule:
    relation: str
    pattern: re.Pattern[str]
    negated: bool = False
    event: bool = False


def _rule(relation: str, pattern: str, *, negated: bool = False, event: bool = False) -> _ChineseRule:
    return _ChineseRule(relation, lazy(f"{_DATE}{_ADVERBS}{_DATE}{_ADVERBS}(?:{pattern})$"), negated, event)


_RULES = (
    _rule("lives_in", rf"不再?住在?(?P<o>{_PLACE})", negated=True),
    _rule("lives_in", rf"不再?在(?P<o>{_PLACE})(?:居?住|生活)", negated=True),
    _rule(
        "lives_in", rf"(?:从(?P<away>{_PLACE}))?搬(?:家)?(?:到|去|来|回)了?(?P<o>{_PLACE})(?:居?住|生活)?", event=True
    ),
    _rule("lives_in", rf"(?:居住|定居|住)在(?P<o>{_PLACE})"),
    _rule("lives_in", rf"在(?P<o>{_PLACE})(?:居住|生活|定居)"),
    _rule("works_at", rf"不再?在(?P<o>{_PLACE})(?:工作|上班|任职)", negated=True),
    _rule("works_at", rf"(?:离开|辞去)了?(?P<o>{_PLACE})的?(?:工作|职位)?", negated=True, event=True),
    _rule("works_at", rf"在(?P<o>{_PLACE})(?:工作|上班|任职)(?:了?(?P<years>{_NUMBER}+)年)?"),
    _rule("works_at", rf"加入了?(?P<o>{_PLACE})", event=True),
    _rule("works_as", r"(?:是|当了?|做)(?:一?(?:个|名|位))?(?P<o>[\w·]{2,10})"),
    _rule("name", rf"(?:的?名字是|的?(?:名字)?叫做?)(?P<o>{_PERSON})"),
    _rule("born_in", r"(?:是)?出生[在于](?P<o>[\u4e00-\u9fff·A-Za-z]{2,12})"),
    _rule("born_in", r"(?:是)?在(?P<o>[\u4e00-\u9fff·A-Za-z]{2,12}?)出生"),
    _rule("birthday", rf"的?生日是(?P<o>{_NUMBER}{{1,3}}月{_NUMBER}{{1,3}}[日号])"),
    _rule("from", rf"来自(?P<o>{_PLACE})"),
    _rule("from", r"是(?P<o>[\u4e00-\u9fff·]{2,8}?)人"),
    _rule(
        "married_to", rf"(?:和|跟|与)(?P<o>[\u4e00-\u9fff·]{{2,4}}?|[A-Z][A-Za-z]+){_DATE}{_ADVERBS}结婚", event=True
    ),
    _rule("allergic_to", rf"对(?P<o>[\w·]{{1,12}}?){_ADVERBS}过敏"),
    _rule("favourite_{topic}", r"最喜欢的(?P<topic>[\u4e00-\u9fff]{1,4})是(?P<o>[\w· ]{1,15}?)"),
    _rule("speaks", r"会[说讲](?P<o>[\u4e00-\u9fff]{1,4}[语文话])"),
    _rule("studies_at", r"在(?P<o>[\w·]{2,15}?(?:大学|学院|中学|高中|学校))(?:读书|上学|学习|读|念书)"),
    _rule("visited", rf"(?:去过|去了|到过|游览了)(?P<o>{_PLACE})", event=True),
)


def chinese_statements(text: str, sentence: Sentence, speaker: str, at: datetime) -> Iterator[Statement]:
    """The statements in a Chinese sentence about `我`, the speaker; later clauses may omit the subject."""
    about_me = False
    for found in _CLAUSE.finditer(text, sentence.begin, sentence.stop):
        clause = found[0]
        plain = clause.translate(_SIMPLIFIED)
        if is_doubted(plain) or _WISH.search(plain):
            about_me = False
            continue
        stated = list(_clause_statements(clause, plain, speaker, at, about_me=about_me))
        about_me = about_me or any(one.fact.subject == speaker for one in stated)
        yield from stated


def _clause_statements(clause: str, plain: str, speaker: str, at: datetime, *, about_me: bool) -> Iterator[Statement]:
    opening = _OPENING.match(plain)
    begin, stop = opening.end() if opening else 0, len(_ENDING.sub("", plain))
    if kin := _KIN_NAMED.match(plain, begin, stop):
        yield Statement(Fact(speaker, _KIN[kin["kin"]], clause[slice(*kin.span("o"))]), clause.strip())
        return
    if me := _ME.match(plain, begin):
        begin = me.end()
    elif not about_me:
        return
    for rule in _RULES:
        found = rule.pattern.match(plain, begin, stop) or rule.pattern.match(plain, begin, stop - 1)
        if found and (stated := list(_rule_statements(rule, found, speaker, clause, at))):
            yield from stated
            return


def _rule_statements(
    rule: _ChineseRule, found: re.Match[str], speaker: str, clause: str, at: datetime
) -> Iterator[Statement]:
    said = clause[slice(*found.span("o"))].strip()
    if not said or _POINTING.search(said) or (rule.relation == "works_as" and not _JOB.search(found["o"])):
        return
    groups, quote = found.groupdict(), clause.strip()
    relation = rule.relation.format(topic=groups.get("topic"))
    past = [span for span in find_dates(clause, at) if span.start <= at and span.start.year > 1]
    since = past[0].start if rule.event and past else None
    update = bool(_UPDATE.search(clause))
    yield Statement(Fact(speaker, relation, said), quote, rule.negated, update, since)
    if away := groups.get("away"):
        yield Statement(Fact(speaker, relation, away), quote, negated=True, update=update, since=since)
    if years := groups.get("years"):
        yield Statement(Fact(speaker, f"years_at_{said.lower()}", years), quote, update=update)
