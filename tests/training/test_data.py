"""What the training data is turned into; needs no torch."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import corpus
import pairs
import pytest
import render
import wording
from corpus import Question, Source
from everyday import EverydayMaker
from lists import ANSWER, MISLEADING, OUTDATED, WRONG, Dress, Listed, ListMaker
from read_lists import ChainLists, WorldLists, of_public, only_speaker, wordings
from render import Turn
from worlds import WorldMaker

NAMES = ("Ann", "Bob", "Cy")
ALONE = Dress(before=0.0, after=0.0, both=0.0)


@pytest.fixture
def chat() -> Source:
    units = [f"I bought a kayak number {place} from the shop at the harbour." for place in range(160)]
    questions = [
        Question(f"What did @A buy {place}?", (place,), (f"kayak number {place}",), lexical=(place + 1,))
        for place in range(150)
    ]
    return Source("reddit", "fp", units, [place // 4 for place in range(160)], [None] * 160, questions)


def test_a_memory_is_written_with_what_there_is() -> None:
    turn, before, after = Turn("Yes, on Friday.", "Ann"), Turn("Coming?", "Bob"), Turn("Great!", "Bob")
    assert render.memory(turn) == "Ann: Yes, on Friday."
    assert render.memory(turn, "8 May 2023") == "[8 May 2023] Ann: Yes, on Friday."
    assert render.memory(turn, None, before) == "Ann: Yes, on Friday. ‖ before: Bob: Coming?"
    assert render.memory(Turn("Note"), None, before, after) == "Note ‖ before: Bob: Coming? ‖ after: Bob: Great!"


def test_context_is_cut_at_the_far_ends() -> None:
    long = Turn("start " + "x" * 300 + " end")
    text = render.memory(Turn("turn"), None, long, long)
    _, before, after = text.split(f" {render.CONTEXT_MARK} ")
    assert before.endswith(" end")
    assert "start" not in before
    assert after.startswith("after: start ")
    assert "end" not in after


@pytest.mark.parametrize(
    ("question", "claimed", "requested"),
    [
        ("Where did Ann move?", "Ann move Oslo.", "Remind me where Ann move."),
        ("What is the capital?", "Oslo is the capital.", "Remind me what the capital is."),
        ("Is it Oslo?", None, None),
    ],
)
def test_a_question_has_other_wordings(question: str, claimed: str | None, requested: str | None) -> None:
    assert wording.claim(question, "Oslo") == claimed
    assert wording.request(question, 0) == requested


def test_the_author_is_called_by_name_or_by_person() -> None:
    question = "Where does @A keep @A's kayak?"
    assert wording.named(question, "Ann") == "Where does Ann keep Ann's kayak?"
    assert wording.to_first_person(question) == "Where do I keep my kayak?"
    assert wording.to_second_person(question) == "Where do you keep your kayak?"


def test_held_out_groups_are_in_no_training_source(chat: Source) -> None:
    (training,), (held,) = corpus.split([chat])
    assert not set(training.units) & set(held.units)
    assert len(training.units) + len(held.units) == len(chat.units)
    for part in (training, held):
        for question in part.questions:
            assert question.answers[0] in part.units[question.positives[0]]


def test_sources_of_unconfirmed_licence_have_no_licence_to_show() -> None:
    assert not corpus.UNCONFIRMED & set(corpus.LICENCES)


def test_short_lists_show_little_of_the_turn_before() -> None:
    units = [f"{place} " + "x" * 300 for place in range(8)]
    talk = Source("friends", "dialog", units, [0] * 8, ["Ann", "Bob"] * 4, [Question("Who?", (4,), ("4",))])
    shown = {}
    for short in (0.0, 1.0):
        dress = Dress(before=1.0, after=0.0, both=0.0, date=0.0, short=short)
        text = ListMaker(talk, [([], [], [])], dress, negatives=1).make(0, NAMES, random.Random(3)).texts[0]
        shown[short] = text.partition("before: ")[2].count("x")
    assert shown == {0.0: render.CONTEXT_CHARACTERS, 1.0: render.SHORT_CONTEXT_CHARACTERS}


def test_a_turn_asks_for_its_neighbour_and_is_never_shown_beside_it(chat: Source) -> None:
    source = pairs.with_turns(chat)
    turns = [question for question in source.questions if question.form == "turn"]
    assert turns
    maker = ListMaker(source, [([], [], [])] * len(source.questions), Dress(before=0.0, after=0.0, both=1.0))
    draw = random.Random(1)
    for place, question in enumerate(source.questions):
        if question.form == "turn":
            assert abs(question.hidden[0] - question.positives[0]) == 1
            assert question.text not in maker.make(place, NAMES, draw).texts[0]


def test_a_list_begins_with_its_positive_and_holds_it_once(chat: Source) -> None:
    dense = [[number for number in range(40) if number != place][:30] for place in range(150)]
    maker = ListMaker(chat, [(near, [], []) for near in dense], replace(ALONE, long=0.0), negatives=5)
    draw = random.Random(3)
    for place in range(30):
        made = maker.make(place, NAMES, draw)
        assert chat.units[place] in made.texts[0]
        assert len(made.texts) == 6
        assert not any(chat.units[place] in text for text in made.texts[1:])


def test_lists_depend_on_the_seed_alone(chat: Source) -> None:
    maker = ListMaker(chat, [([], [], [])] * len(chat.questions), Dress())
    first, again, other = (maker.make(4, NAMES, random.Random(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_cloze_query_is_a_sentence_of_its_text() -> None:
    text = (
        "The harbour was built in the year of the great storm. Boats came from everywhere. It is closed on Mondays now."
    )
    source = Source("nq", "passage", [text] * 8, list(range(8)), [None] * 8, [])
    made = pairs.cloze([source], seed=1)
    assert len(made.questions) == 8
    assert all(question.text in text for question in made.questions)


def test_a_statement_is_retold_by_its_subject() -> None:
    source = Source("wiki", "chunk", ["Rockne won his third title in 1929."], [0], [None], [
        Question("When did Rockne win a third title?", (0,), ("1929",)),
    ])  # fmt: skip
    told = pairs.told([source])
    assert told.units == ["I won my third title in 1929."]
    assert told.questions[0].text == "When did @A win a third title?"


def test_everyday_lists_have_one_width_and_an_answer_first_or_none_at_all() -> None:
    draw, maker = random.Random(3), EverydayMaker()
    made = [maker.make(draw) for _ in range(300)]
    assert all(len(sample.texts) == len(sample.truth) == 8 for sample in made)
    assert not any("{" in text for sample in made for text in (sample.query, *sample.texts))
    unanswered = [sample for sample in made if ANSWER not in sample.truth]
    assert 40 < len(unanswered) < 100
    assert all(set(sample.truth) == {WRONG} for sample in unanswered)
    assert all(sample.truth[0] == ANSWER for sample in made if ANSWER in sample.truth)


def test_a_question_about_somebody_else_is_after_the_same_text_and_not_answered(chat: Source) -> None:
    dress = replace(ALONE, long=0.0, oneself=0.0, claim=0.0, keywords=0.0, request=0.0, misleading=1.0)
    maker = ListMaker(chat, [([], [], [])] * len(chat.questions), dress, negatives=2)
    made = [maker.make(place, NAMES, random.Random(place)) for place in range(40)]
    for place, sample in enumerate(made):
        assert chat.units[place] in sample.texts[0]
        told = sample.texts[0].partition(": ")[0].rpartition("] ")[2]
        named = next(name for name in NAMES if name in sample.query) if told in NAMES else None
        assert (sample.truth[0] == MISLEADING) == (named is not None and named != told)
    assert sum(sample.truth[0] == MISLEADING for sample in made) > 30


WORLD = """# Bakery
now 2025-06-12
1 2024-02-03 Maren: Moved the starter to the cellar.
2 2024-02-03 Maren: The oven is serviced by Brandner.
3 2024-05-01 -: Oven: new firm, Pichler.
4 2024-06-01 Maren: Closed on Mondays.
? direct | 1 | | Where is the starter?
? update | 3 | 2 | Who services the oven? / Whom do I call about the oven?
? none | | 3 | What did Pichler charge?
"""


def test_a_world_gives_lists_with_its_answer_first_and_what_seems_to_be_one_beside(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(f"{WORLD}\n{WORLD}", encoding="utf-8")
    maker = WorldMaker(negatives=3, folder=tmp_path)
    assert [world.name for world in maker.worlds] == ["x-01", "x-02"]
    made = [maker.make(place, random.Random(place)) for place in range(3)]
    assert [sample.truth for sample in made] == [
        [ANSWER, WRONG, WRONG, WRONG],
        [ANSWER, OUTDATED, WRONG, WRONG],
        [WRONG] * 4,
    ]
    assert ["starter" in made[0].texts[0], "Pichler" in made[1].texts[0], "Pichler" in made[2].texts[0]] == [True] * 3


@pytest.mark.parametrize("line", ["a note without a number", "? direct | | | Where?", "? none | 1 | | Where?"])
def test_a_world_with_a_wrong_line_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(f"{WORLD}{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="x-01: "):
        _ = WorldMaker(folder=tmp_path).worlds


def test_our_worlds_can_be_read_and_a_tenth_is_held_out() -> None:
    maker = WorldMaker()
    assert len(maker.worlds) == 606
    assert 50 < sum(world.held for world in maker.worlds) < 70
    assert not {world.name for world, _ in maker.questions} & {world.name for world in maker.worlds if world.held}


# Lists for the list reader


def many_lists(tmp_path: Path) -> list:
    (tmp_path / "x.txt").write_text(WORLD, encoding="utf-8")
    worlds = WorldMaker(folder=tmp_path).worlds
    lists = WorldLists(worlds, [[[0, 1, 2, 3] for _ in wordings(world)] for world in worlds])
    assert [wording for _, _, wording, _ in lists.asked] == [
        "Where is the starter?",
        "Who services the oven?",
        "Whom do I call about the oven?",
        "What did Pichler charge?",
    ]
    return [lists.make(place, random.Random(seed)) for place in range(4) for seed in range(200)]


def test_a_list_of_a_world_says_what_answers_and_what_did_so_once(tmp_path: Path) -> None:
    for made in many_lists(tmp_path):
        assert 1 <= len(made.texts) == len(made.answers) == len(made.outdated) <= 8
        for text, answers, outdated in zip(made.texts, made.answers, made.outdated, strict=True):
            told = text.partition("] ")[2].partition(" ‖ ")[0]
            assert answers == (
                (told == "Maren: Moved the starter to the cellar." and "starter" in made.query.lower())
                or (told == "Oven: new firm, Pichler." and "oven" in made.query.lower())
            )
            assert not outdated or (told.endswith("serviced by Brandner.") and any(made.answers))
    assert any(any(made.outdated) for made in many_lists(tmp_path))


def test_a_list_is_in_the_order_of_its_days(tmp_path: Path) -> None:
    firsts = [made.texts[0] for made in many_lists(tmp_path) if len(made.texts) > 3 and made.texts[0].startswith("[")]
    assert not any("Closed on Mondays" in first or "Pichler" in first for first in firsts)


def test_who_asks_is_named_where_only_one_person_speaks(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(WORLD.replace("Who services", "Who services my"), encoding="utf-8")
    [world] = WorldMaker(folder=tmp_path).worlds
    assert only_speaker(world) == "Maren"
    queries = [made.query.partition("] ")[2] or made.query for made in many_lists(tmp_path)]
    assert any(query.startswith("Maren: ") for query in queries)


def test_the_last_value_of_a_chain_answers_and_the_earlier_ones_are_outdated() -> None:
    maker, draw = ChainLists(), random.Random(1)
    made = [maker.make(draw) for _ in range(2000)]
    for read_list in made:
        assert 1 <= len(read_list.texts) == len(read_list.answers) == len(read_list.outdated)
        if any(read_list.outdated):
            last = max(place for place, gone in enumerate(read_list.outdated) if gone)
            assert last < min(place for place, answers in enumerate(read_list.answers) if answers)
    assert any(sum(read_list.outdated) > 1 for read_list in made)
    assert not all(any(read_list.answers) for read_list in made)


def test_a_public_list_answers_only_where_its_text_does() -> None:
    draw = random.Random(2)
    answered = Listed("Where?", ["here", "a", "b", "c"], [ANSWER, WRONG, WRONG, WRONG])
    misled = replace(answered, truth=[MISLEADING, WRONG, WRONG, WRONG])
    for _ in range(50):
        one = of_public(answered, draw)
        assert one.answers == [text == "here" for text in one.texts] and not any(one.outdated)
        assert not any(of_public(misled, draw).answers)
