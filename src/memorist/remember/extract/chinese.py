"""First-person statements in Chinese: homes, work, names, birthdays, relatives, allergies."""

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
    "歡歲結過對愛語說話學來從離開媽兒現換會這還經號間職業護師員醫國東蘇慶廣漢漁濟臺長連門慮龍陽無錫機記計鮮貓蝦",
    "欢岁结过对爱语说话学来从离开妈儿现换会这还经号间职业护师员医国东苏庆广汉渔济台长连门虑龙阳无锡机记计鲜猫虾",
)
_NUMBER = r"[\d一二三四五六七八九十]"
_DATE = rf"(?:{_NUMBER}+(?:年|个?月|日|号)|[去前今]年|上个?[月周]|昨天|前天)+(?:底|初|中)?的?"
_ADVERBS = rf"(?:现在|目前|如今|其实|已经|一直|还|也|就|刚刚?|最近|终于|{_DATE})*+"
_BEFORE = lazy(rf"\s*(?:其实|现在|目前|最近|因为|所以|但是?|不过|而且|你好|大家好|更正[:：]?|{_DATE})*")
_ENDING = lazy(r"(?<![\s~…了啦啊哦呀])[\s~…了啦啊哦呀]++$")
_ME = lazy(r"我|本人")
_NEWLY = lazy(r"现在|其实|如今|目前|搬|刚|最近")
_BESIDE = lazy(r"也|还|仍")
_ON = "又搬"
"""Says that somebody moved again."""
_VETO = lazy(
    r"想|希望|打算|计划|准备|梦|能|要|会(?!计)|不|没|以前|曾|小时候|将|等|明年|下个?[月周]|后天|明天|本来|原来|差|假|扮|演|游戏|小说|故事"
)
"""Wishes, plans, denials, the past and play."""
_PLACES = (
    "北京|上海|天津|重庆|广州|深圳|杭州|南京|苏州|成都|武汉|西安|长沙|郑州|青岛|济南|大连|沈阳|哈尔滨|长春|厦门|福州|昆明|"
    "贵阳|南宁|海口|三亚|合肥|南昌|太原|石家庄|兰州|西宁|银川|乌鲁木齐|拉萨|呼和浩特|无锡|宁波|温州|佛山|东莞|珠海|中山|"
    "常州|徐州|扬州|烟台|绍兴|嘉兴|金华|泉州|香港|澳门|台北|台中|高雄|台南|新加坡|东京|大阪|京都|首尔|曼谷|吉隆坡|伦敦|巴黎|"
    "柏林|慕尼黑|汉堡|罗马|米兰|马德里|巴塞罗那|阿姆斯特丹|布鲁塞尔|维也纳|苏黎世|日内瓦|奥斯陆|斯德哥尔摩|哥本哈根|赫尔辛基|"
    "莫斯科|纽约|洛杉矶|旧金山|西雅图|波士顿|芝加哥|休斯顿|多伦多|温哥华|蒙特利尔|悉尼|墨尔本|布里斯班|奥克兰|迪拜|德国|法国|"
    "英国|美国|加拿大|日本|韩国|澳大利亚|新西兰|意大利|西班牙|荷兰|瑞士|瑞典|挪威|丹麦|芬兰|泰国|马来西亚|四川|云南|广东|浙江|"
    "江苏|山东|福建|湖南|湖北|河南|河北|台湾"
)
_PLACE = rf"(?:{_PLACES})市?(?:[\u4e00-\u9fff]{{2,3}}(?<![市郊山小])[区县])?"
_JOB = (
    "(?:软件|硬件|小学|中学|初中|高中|大学|幼儿园|数学|英语|语文|物理|化学|历史|音乐|体育|美术|儿科|内科|外科|眼科|急诊科?|平面|"
    "产品|室内|土木|机械|电气|电子|前端|后端|算法|数据|测试|出租车|公交车|卡车|注册|心理|高级|专利){0,2}"
    "(?:护士长|护士|医生|老师|教师|工程师|律师|会计师|会计|程序员|设计师|司机|厨师|记者|警察|翻译|编辑|药剂师|牙医|兽医|教授|"
    "建筑师|公务员|消防员|飞行员|咨询师|理发师|产品经理|项目经理)"
)
_IS_JOB = lazy(_JOB)
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田"
    "任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文欧柳"
)
_SIGN = "(?![回来去走吃喝做给他她你我们是了不好车家会开要把快起别点下上帮上都再先马])[\u4e00-\u9fff]"
_PERSON = (
    rf"(?:[{_SURNAMES}](?!阿姨|叔|老师|医生|总$|先生|小姐|车|铁){_SIGN}{{1,2}}|[小阿]{_SIGN}"
    r"|(?![妈爸哥姐弟妹爷奶叔])(?P<twice>[\u4e00-\u9fff])(?P=twice)|[A-Z][a-z]+)"
)
_KIN = {
    "sister": "姐姐|妹妹|姐|妹", "brother": "哥哥|弟弟|哥|弟", "child": "儿子|女儿",
    "mother": "妈妈|母亲|妈", "father": "爸爸|父亲|爸",
    "pet": "狗|猫", "married_to": "妻子|老婆|太太|丈夫|老公", "boss": "老板|上司", "partner": "男朋友|女朋友",
}  # fmt: skip
_CALLERS = {"mother", "father", "boss"}
"""They also call others: `我妈叫…` may be an order."""
_ALLERGEN = (
    "花生|坚果|核桃|腰果|杏仁|海鲜|虾|虾蟹|螃蟹|蟹|贝类|鱼|牛奶|乳制品|鸡蛋|蛋清|芒果|菠萝|桃子|桃|草莓|猕猴桃|荔枝|花粉|桦树花粉|"
    "蒿草|豚草|尘螨|螨虫|灰尘|霉菌|猫毛|狗毛|猫|狗|宠物毛发|青霉素|头孢|阿莫西林|阿司匹林|布洛芬|磺胺|乳胶|大豆|黄豆|小麦|麸质|"
    "芝麻|酒精|蜂毒|蜜蜂|紫外线|镍"
)
_RULES = (
    ("住在", "lives_in", rf"(?:居住|定居|住)在(?P<object>{_PLACE})"),
    ("住在", "lives_in", rf"(?:从[\u4e00-\u9fff]{{2,6}})?搬(?:家)?(?:到|去|来|回)了?(?P<object>{_PLACE})"),
    ("是护士", "works_as", rf"(?:是|当)(?:一?[个名位])?(?P<object>{_JOB})"),
    ("生日", "birthday", rf"的?生日是(?P<object>{_NUMBER}{{1,2}}月{_NUMBER}{{1,3}}[日号])"),
    ("过敏", "allergic_to", rf"对(?P<object>{_ALLERGEN})(?:严重|很|非常|有点)?过敏"),
    ("叫", "name", rf"(?:的名字)?叫做?(?P<object>{_PERSON})"),
    *(
        (
            "叫",
            relation,
            rf"的?(?:{words}){'的名字' if relation in _CALLERS else '(?:的名字)?'}叫做?(?P<object>{_PERSON})",
        )
        for relation, words in _KIN.items()
    ),
)
_PATTERNS = tuple((name, relation, lazy(f"{_ADVERBS}(?:{rule})$")) for name, relation, rule in _RULES)


def is_job(text: str) -> bool:
    """Whether a text is the name of a profession and nothing else."""
    return _IS_JOB.fullmatch(text) is not None


def chinese_statements(text: str, sentence: Sentence, speaker: str, at: datetime) -> Iterator[Statement]:
    """The statements in a Chinese sentence about `我`, the speaker; later clauses may omit the subject."""
    if text.find(_ON, sentence.begin, sentence.stop) >= 0:
        return
    about_me = False
    for found in _CLAUSE.finditer(text, sentence.begin, sentence.stop):
        clause = found[0]
        plain = clause.translate(_SIMPLIFIED)
        before = _BEFORE.match(plain)
        begin = before.end() if before else 0
        me = _ME.match(plain, begin)
        one = None
        if (me or about_me) and not is_doubted(plain) and not _VETO.search(plain):
            one = _statement(clause, plain, me.end() if me else begin, speaker, at)
        about_me = one is not None and one.fact.relation not in _KIN
        if one:
            yield one


def _statement(clause: str, plain: str, begin: int, speaker: str, at: datetime) -> Statement | None:
    stop = len(_ENDING.sub("", plain))
    for name, relation, pattern in _PATTERNS:
        if found := pattern.match(plain, begin, stop):
            spans = find_dates(clause, at, prefer="past") if "搬" in plain else []
            if any(span.start > at for span in spans):
                return None
            since = next((span.start for span in spans if span.start.year > 1), None)
            update = _BESIDE.search(plain) is None and (
                _NEWLY.search(plain, 0, found.start("object")) is not None or changes(clause) is not None
            )
            fact = Fact(speaker, relation, clause[slice(*found.span("object"))])
            return Statement(fact, clause.strip(), update=update, since=since, rule=name)
    return None
