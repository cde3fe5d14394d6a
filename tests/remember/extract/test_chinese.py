"""What first-person Chinese sentences state, and what they do not state."""

from __future__ import annotations

import pytest

from tests.remember.extract.helpers import said

STATED = {
    "我住在北京。": "Me lives_in 北京",
    "我现在住在上海市浦东新区。": "Me lives_in 上海市浦东新区",
    "我去年搬到上海了。": "Me lives_in 上海",
    "2023年3月我从北京搬到了杭州。": "Me lives_in 杭州",
    "我是一名护士。": "Me works_as 护士",
    "我對花生過敏。": "Me allergic_to 花生",
    "我叫王小明，住在北京。": "Me name 王小明; Me lives_in 北京",
    "我的生日是5月3日。": "Me birthday 5月3日",
    "我姐姐叫王芳。": "Me sister 王芳",
    "我对花生过敏。": "Me allergic_to 花生",
}

NOT_STATED = """
我不再住在台北。
我在谷歌工作。
我在谷歌工作五年了。
我不在谷歌工作了。
我最喜欢的颜色是蓝色。
我出生在成都。
我是四川人。
我和李雷去年结婚了。
我的狗叫旺财。
我會說法語。
我去年去了日本。
我的老板是王明。
我老板现在是李华。
我们的房租涨到3500元。
我的新电话是604-555-0163。
我升护士长了！
我戒烟了。
我不抽烟了。
我又开始抽烟了。
我老公是牙医。
我妈叫常回家。
我女儿叫妈妈。
我对加班过敏。
我对海鲜不过敏。
我以前住在南京。
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


def test_who_is_called_something_is_not_what_the_speaker_is() -> None:
    assert said("我老公叫何勇，是牙医。") == ["Me married_to 何勇"]
