"""What first-person Chinese sentences state, and what they do not state."""

from __future__ import annotations

import pytest

from tests.remember.extract.helpers import said

STATED = {
    "我住在北京。": "Me lives_in 北京",
    "我现在住在上海市浦东新区。": "Me lives_in 上海市浦东新区",
    "我去年搬到上海了。": "Me lives_in 上海",
    "2023年3月我从北京搬到了杭州。": "Me lives_in 杭州; not Me lives_in 北京",
    "我不再住在台北。": "not Me lives_in 台北",
    "我在谷歌工作。": "Me works_at 谷歌",
    "我在谷歌工作五年了。": "Me works_at 谷歌; Me years_at_谷歌 五",
    "我不在谷歌工作了。": "not Me works_at 谷歌",
    "我是一名护士。": "Me works_as 护士",
    "我對花生過敏。": "Me allergic_to 花生",
    "我最喜欢的颜色是蓝色。": "Me favourite_颜色 蓝色",
    "我叫王小明，住在北京。": "Me name 王小明; Me lives_in 北京",
    "我出生在成都。": "Me born_in 成都",
    "我的生日是5月3日。": "Me birthday 5月3日",
    "我是四川人。": "Me from 四川",
    "我和李雷去年结婚了。": "Me married_to 李雷",
    "我姐姐叫王芳。": "Me sister 王芳",
    "我的狗叫旺财。": "Me pet 旺财",
    "我对花生过敏。": "Me allergic_to 花生",
    "我會說法語。": "Me speaks 法語",
    "我去年去了日本。": "Me visited 日本",
    "我的老板是王明。": "Me boss 王明",
    "我老板现在是李华。": "Me boss 李华",
    "我们的房租涨到3500元。": "Me rent 3500元",
    "我的新电话是604-555-0163。": "Me phone 604-555-0163",
    "我升护士长了！": "Me works_as 护士长",
    "我戒烟了。": "not Me does 抽烟",
    "我不抽烟了。": "not Me does 抽烟",
    "我又开始抽烟了。": "Me does 抽烟",
}

NOT_STATED = """
我叫错两次了。
我的老板很好。
我的房东是好人。
我的车是新的。
你住在北京吗？
你住在哪里
如果我住在北京就好了。
要是我在谷歌工作就好了。
我想搬到上海。
我打算搬到上海。
我可能会搬到广州。
听说小王住在北京。
他说：“我住在北京。”
他住在北京。
今天住在北京。
王小明在腾讯上班。
Alice 住在北京。
我今年三十八岁。
我喜欢爬山。
我在家工作。
我在想这个问题。
我是说明天再来。
我有一个问题。
""".strip().splitlines()


@pytest.mark.parametrize(("text", "expected"), STATED.items())
def test_a_plain_sentence_states_its_facts(text: str, expected: str) -> None:
    assert said(text) == expected.split("; ")


@pytest.mark.parametrize("text", NOT_STATED)
def test_questions_wishes_and_hearsay_state_nothing(text: str) -> None:
    assert said(text) == []
