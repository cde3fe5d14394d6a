"""What a session was shown before: only answers count as shown, and an answer that is held back is no abstention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memorist.model import Origin
from memorist.ports import Store
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES
from memorist.recall.stage import Draft, Env, Stage
from tests.recall.worlds import memory
from tests.recipes.worlds import ids, opened

KAYAK = memory("0ca7a4e0", "The kayak of the club is vermilion.", origin=Origin(speaker="Dagny"))
PADDLE = memory("0badd1e0", "The paddle of the club is yellow.", origin=Origin(source="club.md"))
SHED = memory("05ed0000", "The shed of the club is in the garden.")
CLUB = (KAYAK, PADDLE, SHED)


@dataclass(frozen=True, slots=True)
class Judged(Stage):
    """Puts the candidates in the order of these probabilities by id; drops others."""

    kind = "judged"
    effect = "removes"
    chosen: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])

    def __call__(self, draft: Draft, env: Env) -> Draft:
        chosen = self.chosen[draft.request.query]
        judged = [
            replace(candidate, probability=chosen[candidate.memory.id])
            for candidate in draft.candidates
            if candidate.memory.id in chosen
        ]
        return replace(draft, candidates=tuple(sorted(judged, key=lambda one: -(one.probability or 0))))


def judging(**chosen: Mapping[str, float]) -> Pipeline:
    """Our recipe with chosen probabilities, by the first word of the question."""
    stage = Judged({f"{query} of the club?": some for query, some in chosen.items()})
    recipe = RECIPES["memorist"]
    place = [step.kind for step in recipe.stages].index("drop_shown")
    return replace(recipe, stages=(*recipe.stages[:place], stage, *recipe.stages[place:]))


def test_padding_does_not_count_as_shown(store: Store) -> None:
    """The paddle was shown in doubt beside the kayak; it is the answer to the next question, and is told."""
    recipe = judging(kayak={KAYAK.id: 0.9, PADDLE.id: 0.2, SHED.id: 0.1}, paddle={PADDLE.id: 0.8, KAYAK.id: 0.3})
    with opened(*CLUB, recipe=recipe, store=store) as engine:
        first = engine.recall("kayak of the club?", session="s", fresh=True)
        assert ids(first) == [KAYAK.id, PADDLE.id, SHED.id] and first.shown_before == ()
        assert [item.probability for item in first.items] == [0.9, 0.2, 0.1]
        second = engine.recall("paddle of the club?", session="s", fresh=True)
        assert ids(second) == [PADDLE.id] and second.shown_before == ()
        assert "Already shown" not in second.context


def test_the_best_item_counts_as_shown_even_in_doubt() -> None:
    with opened(*CLUB, recipe=judging(kayak={KAYAK.id: 0.4, PADDLE.id: 0.2})) as engine:
        engine.recall("kayak of the club?", session="s", fresh=True)
        again = engine.recall("kayak of the club?", session="s", fresh=True)
    assert again.shown_before == (KAYAK.id,) and ids(again) == [PADDLE.id]


def test_answers_that_were_all_shown_are_named_and_are_no_abstention(store: Store) -> None:
    with opened(*CLUB, recipe=judging(kayak={KAYAK.id: 0.9, PADDLE.id: 0.7}), store=store) as engine:
        engine.recall("kayak of the club?", session="s", fresh=True)
        again = engine.recall("kayak of the club?", session="s", fresh=True)
        assert (again.items, again.abstained) == ((), False)
        assert again.shown_before == (KAYAK.id, PADDLE.id)
        assert again.context == (
            "Already shown in this session: 2024-07-01 Dagny (id 0ca7a4e0); 2024-07-01 club.md (id 0badd1e0)"
        )
        assert ids(engine.recall("kayak of the club?", session="s", fresh=False)) == [KAYAK.id, PADDLE.id]
        assert ids(engine.recall("kayak of the club?", session="other")) == [KAYAK.id, PADDLE.id]


def test_what_did_not_fit_the_context_was_not_shown() -> None:
    with opened(*CLUB, recipe=judging(kayak={KAYAK.id: 0.9, PADDLE.id: 0.7})) as engine:
        room = engine.recall("kayak of the club?", track=False, limit=1).tokens
        engine.recall("kayak of the club?", session="s", fresh=True, max_tokens=room)
        again = engine.recall("kayak of the club?", session="s", fresh=True)
    assert ids(again) == [PADDLE.id] and again.shown_before == (KAYAK.id,)


def test_what_is_off_the_point_now_is_not_named() -> None:
    """The shed answered the first question; for the second it is only near."""
    recipe = judging(shed={SHED.id: 0.9}, kayak={KAYAK.id: 0.9, SHED.id: 0.3})
    with opened(*CLUB, recipe=recipe) as engine:
        engine.recall("shed of the club?", session="s", fresh=True)
        found = engine.recall("kayak of the club?", session="s", fresh=True)
    assert ids(found) == [KAYAK.id] and found.shown_before == () and "Already shown" not in found.context


def test_an_abstention_shows_nothing() -> None:
    """Nothing was told, so nothing is held back when the session asks for it in words."""
    recipe = judging(kayak={KAYAK.id: 0.9}, nothing={KAYAK.id: 0.1})

    @dataclass(frozen=True, slots=True)
    class Abstain(Stage):
        kind = "abstain"

        def __call__(self, draft: Draft, env: Env) -> Draft:
            return replace(draft, abstained=draft.request.query == "nothing of the club?")

    recipe = replace(recipe, stages=(*recipe.stages[:-6], Abstain(), *recipe.stages[-6:]))
    with opened(*CLUB, recipe=recipe) as engine:
        unsure = engine.recall("nothing of the club?", session="s", fresh=True)
        assert unsure.abstained and unsure.context == "Nothing is known about this."
        assert ids(engine.recall("kayak of the club?", session="s", fresh=True)) == [KAYAK.id]
        assert engine.recall("nothing of the club?", session="s", fresh=True).abstained
