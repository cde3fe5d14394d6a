from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.text.change import AnnouncedChange, changes

NEW = [
    ("The meeting is now on Thursdays.", "is now", None),
    ("We moved to Leeds in May.", "we moved to", None),
    ("They've just moved from Oslo to Bergen.", "'ve just moved from … to", "Oslo"),
    ("We switched from Slack to Teams.", "switched from … to", "Slack"),
    ("The cleaner goes up to eleven pounds.", "goes up to eleven", None),
    ("The rent rose from £900 to £950.", "rose from … to £950", "£900"),
    ("Dr Patel has retired, Dr Grey came instead.", "came instead", "Dr Patel"),
    ("The old router was replaced by a Fritzbox.", "was replaced by", "old router"),
    ("The Fritzbox replaces the old router.", "replaces", "old router"),
    ("From now on please write to my office address.", "from now on", None),
    ("Oat milk instead of cow's milk, please.", "instead of", "cow's milk"),
    ("I'm at the museum from the 14th!", "from the 14th", None),
    ("New number: 07700 900123.", "new number:", None),
    ("The launch was postponed until October.", "postponed until", None),
    ("Please don't use the 0.24 anywhere.", "don't use … anywhere", "0.24"),
    ("We raised the limit to 500.", "raised the limit to 500", None),
    ("I changed the timeout from 30 s to 60 s.", "changed the timeout from … to", "30 s"),
    ("Priya is the new manager.", "is the new manager", None),
    ("Tom handed over to Priya.", "handed over to", None),
    ("First night at 9 Mill Lane.", "first night at", None),
    ("Travel policy v3: economy only.", "v3", None),
    ("I start on 31 March.", "i start on 31 march", None),
    ("Sam got the job!", "got the job", None),
    ("Measured the flow again: 1.27.", "measured the flow again", None),
    ("会议改成周四了。", "改成", None),
    ("我们把Slack换成了Teams。", "把 … 换成", "Slack"),
    ("我上个月搬到上海了。", "搬到", None),
    ("王老师现在是班主任。", "现在是", None),
    ("上线推迟到九月九号。", "推迟到", None),
    ("药从5毫克加到10毫克。", "从 … 加到", "5毫克"),
    ("下周一起由李明接他放学。", "下周一起", None),
]
ENDS = [
    ("Ben no longer works on Fridays.", "no longer", "works on Fridays"),
    ("She has given up the violin.", "has given up", "violin"),
    ("I don't eat meat any more.", "don't eat meat any more", None),
    ("I've stopped smoking.", "'ve stopped", "smoking"),
    ("The picnic is cancelled.", "is cancelled", "picnic"),
    ("We used to live by the sea.", "we used to", "live by the sea"),
    ("Not a cigarette since March.", "not a … since", "cigarette"),
    ("Friday was Omar's last day.", "was … 's last day", "Omar"),
    ("We dropped support for Python 3.9.", "we dropped support for", "Python 3.9"),
    ("The old endpoint is deprecated.", "is deprecated", "old endpoint"),
    ("No more meat for me.", "no more", "meat for me"),
    ("我不再吃肉。", "不再", "吃肉"),
    ("周五的课取消了。", "取消", None),
    ("他不弹钢琴了。", "不 … 了", "弹钢琴"),
    ("爸爸退休了。", "退休", None),
]
AGAIN = [
    ("I'm smoking again since the wedding.", "'m … again", "smoking"),
    ("She is back at work.", "is back at work", None),
    ("Paul went back to his old job.", "went back to his old", None),
    ("The pool reopened.", "reopened", None),
    ("We rolled back to 4.12.", "rolled back to", None),
    ("他又开始抽烟了。", "又开始 … 了", "抽烟"),
]


@pytest.mark.parametrize(("text", "cue", "old"), NEW)
def test_a_text_may_announce_a_new_value(text: str, cue: str, old: str | None) -> None:
    assert changes(text) == AnnouncedChange("new value", cue, old)


@pytest.mark.parametrize(("text", "cue", "old"), ENDS)
def test_a_text_may_announce_an_end(text: str, cue: str, old: str | None) -> None:
    assert changes(text) == AnnouncedChange("end", cue, old)


@pytest.mark.parametrize(("text", "cue", "old"), AGAIN)
def test_a_text_may_announce_that_something_begins_again(text: str, cue: str, old: str | None) -> None:
    assert changes(text) == AnnouncedChange("resumption", cue, old)


@pytest.mark.parametrize(
    "text",
    [
        "I live in Leeds and work at the museum.",
        "The train from Leeds to London takes two hours.",
        "I'm hungry right now.",
        "Who does the allotment now?",
        "If we moved to Spain, we'd learn Spanish.",
        "Maybe we switched to Teams too early.",
        "It is NOT true that we moved to Leeds.",
        "We have not switched to Teams.",
        "I got used to it.",
        "See you again soon!",
        "You got it!",
        "Python 3.11 is required.",
        "We are open from Monday to Friday.",
        "我住在上海。",
        "你搬到上海了吗？",
        "要是搬到上海就好了。",
        "还没取消。",
        "我不知道了。",
    ],
)
def test_other_texts_announce_nothing(text: str) -> None:
    assert changes(text) is None


def test_a_new_value_counts_before_an_end_and_takes_the_old_value_from_it() -> None:
    text = "The violin lessons are cancelled. From now on it's drums."
    assert changes(text) == AnnouncedChange("new value", "from now on", "violin lessons")


@given(st.text(alphabet="now from to moved is a' .,不了换成\n", max_size=300))
def test_every_text_is_read(text: str) -> None:
    found = changes(text)
    assert found is None or found.cue
