"""The noise bank: texts without content, built in and learnt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memorist.ports import Embedder, Store

if TYPE_CHECKING:
    from memorist.ports import Vector

PROTOTYPES = (
    "Hello!",
    "Hi, how are you?",
    "Hello, how are you today?",
    "Hey there, what's up?",
    "Good morning!",
    "Thanks!",
    "You're welcome.",
    "Okay, got it.",
    "See you later.",
    "I don't know.",
    "I don't remember that.",
    "I have no information about this.",
    "I do not have any information on that.",
    "I don't recall an earlier conversation.",
    "I cannot recall anything about it.",
    "Do you remember what I told you?",
    "Do you still remember what I said?",
    "Can you remember my preferences?",
    "What did I tell you about it?",
    "What do you know about me?",
    "What is in your memory?",
    "你好！",
    "谢谢！",
    "好的，明白了。",
    "再见。",
    "我不知道。",
    "我不记得了。",
    "新的一天又开始了。",
    "我没有相关记忆。",
    "你还记得我说过什么吗？",
    "你还记得我喜欢什么吗？",
    "你知道我以前说过什么吗？",
    "还记得我上次说的吗？",
    "我以前跟你说过吗？",
    "你的记忆里有什么？",
)
"""Greetings, denials and questions about memory itself, in English and Chinese."""
LONGEST = 80
"""Characters of the longest text that may be noise; no text of the bank is nearly as long."""
MOST_LEARNT = 200
"""How many learnt texts the bank keeps; the oldest are dropped."""
KNOWN = 0.95
"""A text with this cosine to one in the bank, or a higher one, is already known."""


_banks: dict[tuple[str, tuple[str, ...]], Vector] = {}
_BANKS_KEPT = 8


def bank_vectors(embedder: Embedder, learnt: tuple[str, ...]) -> Vector:
    """The vectors of the bank, one row per text; cached per embedding generation and state of the bank."""
    key = (embedder.generation, learnt)
    bank = _banks.get(key)
    if bank is None:
        if len(_banks) >= _BANKS_KEPT:
            _banks.clear()
        bank = _banks[key] = embedder.embed([*PROTOTYPES, *learnt], purpose="memory")
    return bank


def learn_noise(store: Store, embedder: Embedder, texts: Iterable[str]) -> list[str]:
    """Add texts without content to the bank; returns those that were new."""
    import numpy as np

    given = list(dict.fromkeys(texts))
    if not given:
        return []
    bank = bank_vectors(embedder, tuple(store.noise()))
    new: list[str] = []
    for text, vector in zip(given, embedder.embed(given, purpose="memory"), strict=True):
        if float((bank @ vector).max()) < KNOWN:
            bank = np.vstack([bank, vector])
            new.append(text)
    if new:
        store.learn_noise(new, keep=MOST_LEARNT)
    return new
