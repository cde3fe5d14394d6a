"""The gate for secrets: masked before anything is stored, embedded or logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from memorist.model import Fact, Memory, memory_id
from memorist.remember.gates.verdict import Context, Verdict
from memorist.text.secrets import masked, secrets_in

GATE = "secrets"


def secrets(memory: Memory, context: Context) -> Verdict | None:
    """Mask or refuse keys, tokens, passwords and numbers of cards and accounts."""
    if context.policy.secrets == "keep":
        return None
    kinds = kinds_in(memory)
    if not kinds:
        return None
    reason = f"holds {', '.join(kinds)}"
    if context.policy.secrets == "refuse":
        return Verdict(GATE, "refuse", reason, memory, final="nothing was written")
    return Verdict(
        GATE, "mask", reason, _renamed(without_secrets(memory), memory), final="the secret was never written"
    )


def kinds_in(memory: Memory) -> list[str]:
    """The kinds of secrets in anything that a memory says."""
    return list(dict.fromkeys(one.kind for text in _texts(memory) for one in secrets_in(text)))


def without_secrets(memory: Memory) -> Memory:
    """The memory with its secrets masked, wherever they stand."""
    origin, fact = memory.origin, memory.fact
    return replace(
        memory,
        text=masked(memory.text),
        original=memory.original and masked(memory.original),
        topic=memory.topic and masked(memory.topic),
        keywords=tuple(map(masked, memory.keywords)),
        origin=replace(origin, source=origin.source and masked(origin.source)),
        metadata=_masked(memory.metadata),
        fact=fact and Fact(masked(fact.subject), fact.relation, masked(fact.object)),
    )


def _renamed(memory: Memory, given: Memory) -> Memory:
    """Under the id of what is kept: one of the secret's own text would let it be guessed at."""
    origin = given.origin
    if origin.key is not None:
        return memory
    where: dict[str, Any] = {"scope": given.scope, "session": origin.session, "position": origin.position}
    loose = memory_id(given.text, **where, source=origin.source) == given.id
    at = None if loose else given.times.valid_from
    return replace(memory, id=memory_id(memory.text, **where, source=memory.origin.source, at=at))


def _texts(memory: Memory) -> list[str]:
    origin = memory.origin
    parts = (memory.text, memory.original, memory.topic, *memory.keywords, origin.source)
    return [text for part in (*parts, *_strings(memory.metadata)) if (text := part)]


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for one in cast("Mapping[str, object]", value).items() for text in _pair(*one)]
    if isinstance(value, list | tuple):
        return [text for one in cast("Sequence[object]", value) for text in _strings(one)]
    return []


def _pair(name: str, value: object) -> list[str]:
    """A named value as it would stand in a text, so that `{"password": "…"}` is seen for what it is."""
    return [f"{name}: {value}"] if isinstance(value, str) else _strings(value)


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {name: _masked_pair(name, one) for name, one in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_masked(one) for one in cast("Sequence[Any]", value)]
    return value


def _masked_pair(name: str, value: Any) -> Any:
    return masked(f"{name}: {value}").removeprefix(f"{name}: ") if isinstance(value, str) else _masked(value)
