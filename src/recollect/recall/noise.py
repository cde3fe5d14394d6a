"""The noise bank: texts that say nothing, known by example."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from recollect.ports import Embedder
from recollect.recall.stage import Draft, Env, Stage

if TYPE_CHECKING:
    from recollect.ports import Vector

PROTOTYPES = (
    "Hello!",
    "Hi, how are you?",
    "Good morning!",
    "Thanks!",
    "You're welcome.",
    "Okay, got it.",
    "See you later.",
    "I don't know.",
    "I don't remember that.",
    "I have no information about this.",
    "I cannot recall anything about it.",
    "Do you remember what I told you?",
    "What do you know about me?",
    "What is in your memory?",
    "你好！",
    "谢谢！",
    "好的，明白了。",
    "再见。",
    "我不知道。",
    "我不记得了。",
    "你还记得我说过什么吗？",
    "你的记忆里有什么？",
)
"""Greetings, denials and questions about memory itself, in English and Chinese."""
CAP = 200
KNOWN = 0.95


@dataclass(frozen=True, slots=True)
class Noise(Stage):
    """Drop candidates whose vector lies within `similarity` of the noise bank: our examples and those learnt."""

    kind = "noise"
    effect = "removes"
    optional = ("embedder",)
    similarity: float = 0.82

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """What says something."""
        if env.embedder is None or not draft.candidates:
            return draft
        bank = bank_vectors(env.embedder, tuple(env.store.noise()))
        vectors = env.view.vectors([one.memory.id for one in draft.candidates])
        noisy = {id for id, row in vectors.items() if float((bank @ row).max()) >= self.similarity}
        return replace(draft, candidates=tuple(one for one in draft.candidates if one.memory.id not in noisy))


@lru_cache(maxsize=8)
def bank_vectors(embedder: Embedder, learnt: tuple[str, ...]) -> Vector:
    """The bank's vectors, a row per text."""
    return embedder.embed([*PROTOTYPES, *learnt], purpose="memory")


def worth_learning(text: str, embedder: Embedder, learnt: tuple[str, ...]) -> bool:
    """Whether a text would teach the bank anything: not if it lies within 0.95 of a known one."""
    vector = embedder.embed([text], purpose="memory")[0]
    return float((bank_vectors(embedder, learnt) @ vector).max()) < KNOWN
