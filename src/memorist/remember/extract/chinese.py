"""First-person statements in Chinese: homes, work, names, births, marriages, relatives, allergies."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from memorist.model import Fact
from memorist.remember.extract.clauses import Sentence, is_doubted
from memorist.remember.extract.objects import Statement
from memorist.text.change import changes
from memorist.text.dates import find_dates
from memorist.text.patterns import lazy

_CLAUSE = lazy(r"[^，,；;。！!\n\x1f]+")
# One character for one, so that offsets in a clause stay the same.
_SIMPLIFIED = str.maketrans(
    "歡歲結過對愛語說話學來從離開媽兒現換會這還經號間職業護師員醫",
    "欢岁结过对爱语说话学来从离开妈儿现换会这还经号间职业护师员医",
)
_NUMBER = r"[\d一二三四五六七八九十〇零两]"
_DATE = (
    rf"(?:从|自从?|在|于)?(?:{_NUMBER}+(?:年|个?月|周|日|号)|[去前今明]年|[上下]个?[月周])(?:底|初|中)?的?(?:起|开始)?"
)
_SHALL = r"将会?|会(?=[搬去住在])|要(?=[搬去])"
_ADVERBS = rf"(?:{_SHALL}|现在|目前|如今|其实|已经|一直|还|也|就|刚刚?|最近|很|非常|都|终于|{_DATE})*+"
_BEFORE = lazy(rf"\s*(?:其实|现在|目前|最近|因为|所以|但是?|不过|而且|然后|你好|大家好|更正[:：]?|{_DATE})*")
_ENDING = lazy(r"(?<![\s~…的了啦啊哦呀吧])[\s~…的了啦啊哦呀吧]++$")
_ME = lazy(r"我们?的?|本人")
_NEWLY = lazy(r"现在|其实|如今|目前|搬|离开|辞|刚|最近")
_WISH = lazy(r"想[搬去住换在到做]|希望|打算|计划|准备|想要|梦想|能[住在]")
_PLAN = lazy(r"会[搬去住在]|要[搬去]|将")
_OVER = lazy(r"[了过]|刚|已经")
_FROM = lazy(r"从.{1,12}(?:起|开始)")
_POINTING = lazy(r"[你您他她它我谁]|这|那|什么|哪|里$|自己|东西|^(?:家|一个人|地方)$")
_EVENT = lazy(r"搬|加入|离开|结婚|去过|去了|到过")
_AMOUNT = r"[\d.,一二三四五六七八九十百千万两]+(?:块|元|刀|镑|美元|人民币)?"
_PLACE, _PERSON = r"[\w·]{2,15}?", r"[\u4e00-\u9fff·]{2,4}|[A-Z][A-Za-z]+"
_JOB = r"[\w·]{0,8}(?:师|员|学生|作家|者|歌手|工人|警察|教授|经理|护士|司机|老板|编辑|翻译|导游|医生|会计)"
_KIN = {
    "sister": "姐姐|妹妹", "brother": "哥哥|弟弟", "child": "儿子|女儿", "mother": "妈妈|母亲", "father": "爸爸|父亲",
    "friend": "朋友", "pet": "狗|猫", "partner": "男朋友|女朋友", "married_to": "妻子|老婆|太太|丈夫|老公",
}  # fmt: skip
_ATTRIBUTES = {
    "boss": (_PERSON, "老板|上司|经理|领导|主管"), "landlord": (_PERSON, "房东"), "teacher": (_PERSON, "老师|班主任"),
    "coach": (_PERSON, "教练"), "doctor": (_PERSON, "医生"), "phone": (r"[\d+-]{5,20}", "电话|手机号?|号码"),
    "address": (r"[\w·-]{4,30}", "地址|住址"), "rent": (_AMOUNT, "房租"), "salary": (_AMOUNT, "工资|薪水"),
    "car": (r"[\w·-]{2,15}", "车"), "school": (r"[\w·]{2,15}(?:学校|大学|中学|小学|学院)", "学校"),
}  # fmt: skip
_IS = r"(?:现在|已经)?(?:是|叫做?|改成|改为|换成|变成|涨到|降到|加到|减到)了?"
_DONE = {"does": {"烟": "抽烟", "吸烟": "抽烟", "酒": "喝酒"}}
"""Values that mean the same, by relation."""
_RULES = (
    rf"不再?(?:住在?|在(?=.*(?:住|生活)))(?P<not_lives_in>{_PLACE})(?:居?住|生活)?",
    rf"(?:从(?P<not_lives_in>{_PLACE}))?搬(?:家)?(?:到|去|来|回)了?(?P<lives_in>{_PLACE})(?:居?住|生活)?",
    rf"(?:居住|定居|住)在(?P<lives_in>{_PLACE})",
    rf"在(?P<lives_in>{_PLACE})(?:居住|生活|定居)",
    rf"不再?在(?P<not_works_at>{_PLACE})(?:工作|上班)",
    rf"离开了?(?P<not_works_at>{_PLACE})",
    rf"在(?P<works_at>{_PLACE})(?:工作|上班)(?:了?(?P<years>{_NUMBER}+)年)?",
    rf"加入了?(?P<works_at>{_PLACE})",
    rf"(?:是|当了?|做)(?:一?[个名位])?(?P<works_as>{_JOB})",
    rf"(?:的?名字是|的?(?:名字)?叫做?(?!错|我|他|她|你|外卖|车))(?P<name>{_PERSON})",
    r"(?:是)?(?:出生[在于](?P<born_in>[\u4e00-\u9fff]{2,12})|在(?P<born_in_>[\u4e00-\u9fff]{2,12}?)出生)",
    rf"的?生日是(?P<birthday>{_NUMBER}{{1,3}}月{_NUMBER}{{1,3}}[日号])",
    rf"来自(?P<from>{_PLACE})",
    r"是(?P<from>[\u4e00-\u9fff·]{2,8}?)人",
    rf"[和跟与](?P<married_to>[\u4e00-\u9fff·]{{2,4}}?|[A-Z][A-Za-z]+){_ADVERBS}结婚",
    rf"对(?P<allergic_to>[\w·]{{1,12}}?){_ADVERBS}过敏",
    r"最喜欢的(?P<topic>[\u4e00-\u9fff]{1,4})是(?P<favourite>[\w· ]{1,15}?)",
    r"会[说讲](?P<speaks>[\u4e00-\u9fff]{1,4}[语文话])",
    rf"(?:去过|去了|到过)(?P<visited>{_PLACE})",
    *(rf"(?:{words})(?:的名字)?(?:叫做?|是)(?P<{relation}>{_PERSON})" for relation, words in _KIN.items()),
    *(
        rf"新?(?:{nouns}){_IS}(?P<{relation}>(?!.{{0,3}}人$)(?:{value}))"
        for relation, (value, nouns) in _ATTRIBUTES.items()
    ),
    r"升(?:任|为|职为)?了?(?P<works_as>[\u4e00-\u9fff]{1,6}[长师理监管])",
    r"(?:已经)?(?:戒了?|不再?)(?P<not_does>抽烟|吸烟|喝酒|烟|酒)",
    r"又(?:开始)?(?P<does>抽烟|吸烟|喝酒)",
)
_PATTERNS = tuple(lazy(f"{_ADVERBS}(?:{rule})$") for rule in _RULES)


def chinese_statements(text: str, sentence: Sentence, speaker: str, at: datetime) -> Iterator[Statement]:
    """The statements in a Chinese sentence about `我`, the speaker; later clauses may omit the subject."""
    about_me = False
    for found in _CLAUSE.finditer(text, sentence.begin, sentence.stop):
        plain = found[0].translate(_SIMPLIFIED)
        before = _BEFORE.match(plain)
        begin = before.end() if before else 0
        me = _ME.match(plain, begin)
        if is_doubted(plain) or _WISH.search(plain) or not (me or about_me):
            about_me = False
            continue
        stated = list(_clause_statements(found[0], plain, me.end() if me else begin, speaker, at))
        about_me = bool(stated)
        yield from stated


def _since(clause: str, plain: str, at: datetime, planned: bool) -> datetime | None:
    """The beginning of a change: `了` puts its date into the past, and without it the date lies ahead."""
    begins = _FROM.search(plain)
    if not (begins or planned or _EVENT.search(plain)):
        return None
    spans = find_dates(clause, at, prefer="past" if _OVER.search(plain) else "future")
    return next((span.start for span in spans if span.start.year > 1), None)


def _clause_statements(clause: str, plain: str, begin: int, speaker: str, at: datetime) -> Iterator[Statement]:
    stop = len(_ENDING.sub("", plain))
    found = next((match for pattern in _PATTERNS if (match := pattern.match(plain, begin, stop))), None)
    if not found:
        return
    planned = bool(_PLAN.search(plain))
    since = _since(clause, plain, at, planned)
    if planned and (since is None or since < at):
        return
    groups = {group: found.span(group) for group, said in found.groupdict().items() if said and group != "topic"}
    for group, span in sorted(groups.items(), key=lambda item: item[0].startswith("not_")):
        relation = group.removeprefix("not_").removesuffix("_")
        if relation == "favourite":
            relation = f"favourite_{found['topic']}"
        elif relation == "years":
            relation = f"years_at_{found['works_at'].lower()}"
        said = _DONE.get(relation, {}).get(clause[slice(*span)].strip(), clause[slice(*span)].strip())
        if said and not _POINTING.search(said):
            negated, update = group.startswith("not_"), bool(_NEWLY.search(clause)) or changes(clause) is not None
            yield Statement(Fact(speaker, relation, said), clause.strip(), negated, update, since)
