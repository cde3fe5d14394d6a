"""Synonyms of everyday words: forms that a stemmer does not join, and words that answer a question about another."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from memorist.text.words import stem

# One word in several spellings or forms, each a synonym of all others.
_SAME = """
    colour color / favourite favorite / grey gray / theatre theater / centre center / neighbour neighbor
    mum mom mommy mother / dad daddy father / grandma granny grandmother / grandpa grandfather / kid child children
    man men / woman women / foot feet / tooth teeth / mouse mice / wife wives / fiancé fiancée
    fridge refrigerator / bike bicycle / phone telephone / tv television / photo photograph / plane airplane aeroplane
    movie film / flat apartment / lawyer attorney / vet veterinarian / veggie vegetable / ill sick"""

# A question has "did she buy", the answer "bought". The commonest verbs (make, take, see …) mean too little.
_PAST = """
    become became / begin began / bite bit bitten / break broke broken / bring brought / build built / buy bought
    catch caught / choose chose chosen / draw drew drawn / drink drank / drive drove driven / eat ate eaten
    fall fell fallen / fight fought / fly flew flown / forget forgot forgotten / grow grew grown / hear heard
    hide hid hidden / leave left / lend lent / lose lost / meet met / pay paid / ride rode ridden / run ran
    sell sold / send sent / sing sang sung / sleep slept / speak spoke spoken / spend spent / steal stole stolen
    swim swam / teach taught / throw threw thrown / wear wore worn / win won / write wrote written"""

# A question names a category, the answer a member. Words that an answer repeats anyway are left out.
_ANSWERS = """
    job occupation profession : work, employer / employer : company, work / career : job, profession
    boss : manager, supervisor / colleague : coworker, teammate / salary : income, wage, paid
    kid child : son, daughter / sibling : brother, sister / parent : mother, father, mom, dad
    wife husband spouse : wife, husband, married / marry : wedding, engaged / relationship : dating, married, single
    home : house, lives / reside : lives, moved / address : street, lives / hometown : grew, raised, born
    birthday : born, turned / pet : dog, cat, puppy, kitten / allergy : allergic
    university : college, degree / study : degree, course, major / exam : test, grade
    diet : vegan, vegetarian, eat / disease : sick, diagnosed / doctor : clinic, hospital / medicine : medication, pills
    exercise : gym, workout, training / hobby pastime : enjoy, hobbies / instrument : guitar, piano, violin, drums
    music : song, band, concert / holiday : vacation, trip / vacation : trip, travel / journey : trip, travel
    purchase : bought, buy / cost price : paid, expensive / quit : left, resigned / argue : fight, argument"""

_CHINESE = """
    工作 职业 : 上班 公司 职位 任职 / 公司 : 单位 任职 / 老板 上司 : 经理 领导 / 同事 : 同僚 / 工资 : 薪水 收入
    孩子 小孩 : 儿子 女儿 小孩 / 妻子 老婆 太太 : 妻子 老婆 太太 结婚 / 丈夫 老公 先生 : 丈夫 老公 结婚
    妈妈 母亲 : 妈妈 母亲 / 爸爸 父亲 : 爸爸 父亲 / 男朋友 女朋友 : 恋爱 交往 / 结婚 : 婚礼 / 生日 : 出生
    住在 住哪 地址 : 住在 搬到 家住 / 家乡 老家 : 出生 长大 / 宠物 : 小狗 小猫 养了
    喜欢 爱好 : 喜欢 最爱 爱好 / 最爱 偏好 : 喜欢 / 过敏 : 不能吃 / 生病 : 感冒 住院
    医生 : 医院 大夫 / 锻炼 : 健身 运动
    电影 : 影片 / 旅行 旅游 度假 : 旅行 旅游 度假 / 手机 : 电话 / 饭店 餐厅 : 餐馆 餐厅 饭店 / 汽车 : 开车
    学校 : 大学 学院 / 考试 : 成绩 / 价格 多少钱 : 价格 花了 / 购买 : 买了"""


def _split(table: str) -> list[str]:
    return [entry.strip() for line in table.splitlines() for entry in line.split(" / ") if entry.strip()]


@cache
def english_synonyms() -> Mapping[str, tuple[str, ...]]:
    """English synonyms by the stem of a word."""
    table: dict[str, list[str]] = {}
    for entry in _split(_SAME):
        for form in entry.split():
            table.setdefault(stem(form, "en"), []).extend(entry.split())
    for entry in _split(_PAST):
        base, *forms = entry.split()
        table.setdefault(stem(base, "en"), []).extend(forms)
    for entry in _split(_ANSWERS):
        asked, answers = entry.split(" : ")
        for word in asked.split():
            table.setdefault(stem(word, "en"), []).extend(answers.split(", "))
    return {asked: tuple(dict.fromkeys(said)) for asked, said in table.items()}


@cache
def chinese_synonyms() -> Mapping[str, tuple[str, ...]]:
    """Chinese synonyms by the word as written."""
    entries = [entry.split(" : ") for entry in _split(_CHINESE)]
    return {word: tuple(said.split()) for asked, said in entries for word in asked.split()}
