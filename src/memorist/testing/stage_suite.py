"""What every stage must hold to, checked on one run of it; for our stages and for yours."""

from __future__ import annotations

from memorist.recall.stage import Draft, Env, Stage


def assert_stage_contract(stage: Stage, draft: Draft, env: Env) -> Draft:
    """Run a stage twice on a draft and assert the contract; returns what it gave."""
    after = stage(draft, env)
    assert _ranking(stage(draft, env)) == _ranking(after), "the same input gives the same output"
    ids = _ids(after)
    assert len(set(ids)) == len(ids), "no memory stands twice"
    assert _hits_are_ordered(after), "hits come best first, ties by id"
    where = draft.request.where
    new = [one.memory for one in after.candidates if one.memory.id not in _ids(draft)]
    assert all(where.admits(memory) for memory in new), "nothing outside the filter enters"
    _assert_effect(stage, draft, after)
    return after


def _assert_effect(stage: Stage, draft: Draft, after: Draft) -> None:
    if stage.effect == "keeps":
        assert set(_ids(after)) == set(_ids(draft)), "the set of candidates is kept"
    if stage.effect == "removes":
        before = {one.memory.id: one for one in draft.candidates}
        assert all(before.get(one.memory.id) == one for one in after.candidates), "what stays is left as it was"


def _ids(draft: Draft) -> list[str]:
    return [one.memory.id for one in draft.candidates]


def _ranking(draft: Draft) -> list[tuple[str, float]]:
    return [(one.memory.id, one.score) for one in draft.candidates]


def _hits_are_ordered(draft: Draft) -> bool:
    return all(
        list(found.hits) == sorted(found.hits, key=lambda hit: (-hit.score, hit.id)) for found in draft.found.values()
    )
