"""The facts of messages that were written to mislead the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import labelled

FILES = sorted(labelled.FOLDER.glob("[!j]*.txt"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_hardly_a_fact_of_a_message_is_wrong(file: Path) -> None:
    said = list(labelled.messages(file))
    found = [(one.fact, verdict) for message in said for one, verdict in message.judged()]
    assert sum(verdict == "wrong" for _, verdict in found) <= 0.02 * len(found)
    assert sum(verdict == "roughly" for _, verdict in found) <= 0.04 * len(found)


def test_the_rules_find_most_facts_that_are_stated_plainly() -> None:
    said = [message for file in FILES for message in labelled.messages(file)]
    stated = sum(verdict == "right" for message in said for verdict in message.facts.values())
    right = sum(verdict == "right" for message in said for _, verdict in message.judged())
    assert right >= 0.9 * stated


def test_the_sets_hold_every_rule_at_least_a_few_times() -> None:
    fired = {one.rule for file in FILES for message in labelled.messages(file) for one, _ in message.judged()}
    assert len(FILES) >= 4 and len(fired) >= 15
