"""From the question and the best finds to the texts about what they name: a question may need two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2

from memorist.model import Candidate
from memorist.models.embedding_text import is_talk
from memorist.recall.opening_names import NameMentions, Opening, opening
from memorist.recall.stage import Draft, Env, Stage, ranked

Openings = Mapping[str, Opening]
"""What each written text begins with, by its memory."""

MOST_WORDS = 12
"""Words of a lead's names that are searched for; those that a text names first tell most."""


@dataclass(frozen=True, slots=True)
class Bridge(Stage):
    """score + weight · lead / log₂(1 + n) for a text that opens with a name which a lead mentions.

    First the question leads, with the best score; then each of the first `leads` candidates, and the largest gain
    counts. lead is a score above the least of all, n how many texts open with that name. Only for what was written
    rather than said: there the opening is a title or a subject. Names are told by their capitals. A candidate does not
    lead by a name of the question or of its own opening. Texts that no signal found join where one leads to them, from
    the best `look` by the words of its names. Takes any scale and widens it by (1 + weight)².
    """

    kind = "bridge"
    effect = "adds"
    weight: float = 0.4
    leads: int = 2
    look: int = 20

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the texts about what its question and its best finds name."""
        openings = _openings(draft.candidates)
        if not openings:
            return draft
        question, least = NameMentions(draft.query.text), min(one.score for one in draft.candidates)
        draft = replace(draft, candidates=self._asked(draft.candidates, openings, question, least))
        return replace(draft, candidates=self._named(draft, openings, question, least, env))

    def _asked(
        self, candidates: Sequence[Candidate], openings: Openings, question: NameMentions, least: float
    ) -> tuple[Candidate, ...]:
        lead = max(one.score for one in candidates) - least
        gains = {id: self.weight * lead * share for id, share in _shares(_names(question, openings)).items()}
        return ranked([_raised(one, "asked", gains) for one in candidates])

    def _named(
        self, draft: Draft, openings: Openings, question: NameMentions, least: float, env: Env
    ) -> tuple[Candidate, ...]:
        leads = [(one, NameMentions(one.memory.text)) for one in draft.candidates[: self.leads]]
        further = self._further([mentions for _, mentions in leads], question, draft, env)
        openings = {**openings, **_openings(further)}
        gains: dict[str, float] = {}
        for lead, mentions in leads:
            names, own = _names(mentions, openings), opening(lead.memory.text)
            new = {id: name for id, name in names.items() if not (question.says(name) or own.begins_with(name))}
            for id, share in _shares(new).items():
                gains[id] = max(gains.get(id, 0.0), self.weight * (lead.score - least) * share)
        reached = [replace(one, score=least) for one in further if one.memory.id in gains]
        return ranked([_raised(one, "named", gains) for one in (*draft.candidates, *reached)])

    def _further(
        self, leads: Sequence[NameMentions], question: NameMentions, draft: Draft, env: Env
    ) -> list[Candidate]:
        """Texts that are no candidates and have words of the leads' names that the question lacks."""
        known = {one.memory.id for one in draft.candidates}
        where, hits = draft.request.where, list[str]()
        for lead in leads:
            new = [word for word in lead.capitals() if not question.says(word)]
            if new:
                hits += [hit.id for hit in env.view.search_text(" ".join(new[:MOST_WORDS]), where, self.look)]
        found = env.store.get([id for id in dict.fromkeys(hits) if id not in known])
        return [Candidate(one, 0.0, phase="multi_hop", hop=1) for one in found.values() if where.admits(one)]


def _openings(candidates: Sequence[Candidate]) -> dict[str, Opening]:
    written = [one.memory for one in candidates if one.memory.fact is None and not is_talk(one.memory)]
    return {memory.id: opening(memory.text) for memory in written}


def _names(mentions: NameMentions, openings: Openings) -> dict[str, str]:
    """The name that each text opens with, of those that are mentioned."""
    return {id: name for id, begins in openings.items() if (name := mentions.shared(begins))}


def _shares(names: Mapping[str, str]) -> dict[str, float]:
    """1 / log₂(1 + n) for each text: a name that many open with tells little."""
    crowd = Counter(names.values())
    return {id: 1 / log2(1 + crowd[name]) for id, name in names.items()}


def _raised(candidate: Candidate, part: str, gains: Mapping[str, float]) -> Candidate:
    gain = gains.get(candidate.memory.id)
    if gain is None:
        return candidate
    parts = candidate.parts if "asked" in candidate.parts else {"before": candidate.score}
    return candidate.rescored(candidate.score + gain, **{**parts, part: gain})
