"""A recorded run of an agent with twenty steps, two subgoals and one failure, and a model's answers about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memorist.ports import Completion

GOAL = "Make the nightly sync of Heron finish before six in the morning."
FIND, RAISE = "find out why the nightly sync stops", "raise the sync timeout and deploy it"
FIRST_OF_RAISE = 10
"""The number of the first step of the second subgoal."""
FAILURE = 14
"""The number of the step whose action failed."""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """An observation of the agent, its next action, and the reward, if one was given."""

    observation: str
    action: str | None = None
    reward: float | None = None


STEPS = (
    RecordedStep("A message from Bo: the nightly sync stopped again.", f"Now {FIND}."),
    RecordedStep("There is a runbook for the sync.", "open the runbook for the sync"),
    RecordedStep("The runbook says that Heron writes its sync log to /var/log/heron/sync.log.", "read the sync log"),
    RecordedStep("The sync log ends at 02:00.", "search the sync log for 02:00"),
    RecordedStep("At 02:00 the sync was reading invoices from Pelican.", "count the invoices of the sync"),
    RecordedStep("The sync reads 12,000 invoices each night.", "measure how long the sync reads from Pelican"),
    RecordedStep("Pelican takes 75 seconds for 12,000 invoices.", "look up the timeout of the sync"),
    RecordedStep("The sync timeout is 30 seconds in config/heron.toml.", "compare the timeout with what Pelican takes"),
    RecordedStep("30 seconds is less than 75 seconds, so the sync stops.", "note the cause of the stopped sync", 0.9),
    RecordedStep("The cause is known.", f"Next, {RAISE}."),
    RecordedStep("config/heron.toml is open.", "set sync.timeout to 90 in config/heron.toml"),
    RecordedStep("The file config/heron.toml was changed.", "run heron check"),
    RecordedStep("heron check: ok.", "look at the branch for the change"),
    RecordedStep("The branch for the change is main.", "run heron deploy on main"),
    RecordedStep("Deployment failed: main is protected and needs a review.", "open a review for the change"),
    RecordedStep("Review 117 for the change is open.", "wait for the review of the change"),
    RecordedStep("Alice approved review 117.", "merge review 117"),
    RecordedStep("Review 117 was merged.", "run heron deploy after the merge"),
    RecordedStep("Deployment finished.", "run the sync once by hand"),
    RecordedStep("The sync finished in 81 seconds with no errors.", None, 1.0),
)
REWARDS_BY_RULES = (0.5,) * 8 + (0.9,) + (0.5, 0.5, 0.9, 0.5, 0.1, 0.5, 0.9, 0.9, 0.9, 0.9, 1.0)
"""The rewards by rules: given rewards; else 0.9 or 0.1 if the next observation shows the result, else 0.5."""

REWARDS_BY_MODEL = (0.6,) * 8 + (0.9,) + (0.7,) * 4 + (0.0, 0.6, 0.6, 0.8, 0.8, 0.9, 1.0)
PROPOSITIONS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    FIND: (
        {
            "text": "Heron writes its sync log to /var/log/heron/sync.log.",
            "concepts": ["Sync log", "heron"],
            "confidence": 0.95,
        },
        {
            "text": "Pelican takes 75 seconds to deliver 12,000 invoices.",
            "concepts": ["pelican", "invoices", "sync timeout"],
            "confidence": 0.9,
        },
    ),
    RAISE: (
        {
            "text": "The branch main of Heron is protected: a deployment needs a review.",
            "concepts": ["deployment", "Heron"],
            "confidence": 0.9,
        },
    ),
}
INSTRUCTIONS: Mapping[str, Sequence[Mapping[str, str]]] = {
    FIND: (
        {
            "intent": "find out why a sync stops",
            "condition": "a sync of Heron stops in the night",
            "instruction": "read the sync log, measure how long the source takes, compare it with the timeout",
            "outcome": "the cause is known",
        },
    ),
    RAISE: (
        {
            "intent": "raise the sync timeout",
            "condition": "the source takes longer than the timeout",
            "instruction": "set sync.timeout in config/heron.toml, run heron check, open a review, merge it, deploy",
            "outcome": "the sync finishes",
        },
        {
            "intent": "raise the sync timeout safely",
            "condition": "the branch is protected",
            "instruction": "do not run heron deploy on main before the review is merged",
            "outcome": "the deployment is not refused",
        },
    ),
}


def answer(question: Mapping[str, Any], asked: str) -> dict[str, Any]:
    """The answer of a good model to a question about this run: its `steps`, `propositions` or `instructions`."""
    if asked == "steps":
        return {"steps": [_annotation(step["step"]) for step in question["steps"]]}
    learnt: Mapping[str, Sequence[Mapping[str, Any]]] = PROPOSITIONS if asked == "propositions" else INSTRUCTIONS
    return {asked: list(learnt.get(question["subgoal"], ()))}


def _annotation(number: int) -> dict[str, Any]:
    observation = STEPS[number - 1].observation
    subgoal = FIND if number < FIRST_OF_RAISE else RAISE
    return {"state": f"It is known: {observation}", "subgoal": subgoal, "reward": REWARDS_BY_MODEL[number - 1]}


class RecordedModel:
    """A language model that only knows this run; it first raises the given `failures`, one per call."""

    name = "recorded:run"

    def __init__(self, failures: Sequence[Exception] = ()) -> None:
        self.failures = list(failures)
        self.calls = 0

    def complete(self, messages: Sequence[Mapping[str, str]], *, schema: Mapping[str, Any] | None = None) -> Completion:
        """The recorded answer, as JSON."""
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        question = json.loads(messages[-1]["content"].removeprefix("<data>").removesuffix("</data>"))
        asked = next(iter((schema or {"properties": {"steps": {}}})["properties"]))
        return Completion(json.dumps(answer(question, asked)))
