"""Names that callers bring along: camelCase, the names of published pages, and the keywords of other systems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from memorist.errors import InvalidInput
from memorist.text.words import snake

V = TypeVar("V")
Write = Callable[[str], str]
"""Writes one of our names as a surface does, such as `--as-of`."""
LONGEST = 100
"""Characters of an unknown keyword for which a known one is looked up."""
ALIKE = 0.75
"""How alike an unknown keyword must be to the one that is suggested for it."""
ALIASES: Mapping[str, tuple[str, ...]] = {
    "t_valid": ("valid_from", "at"),
    "t_invalid": ("valid_to",),
    "t_ingested": ("ingested_at",),
    "fact_text": ("text",),
    "relation_type": ("relation",),
}
"""The names of memoria's page, and ours: the first that a request has. Servers accept them like camelCase."""
THEIRS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("top_k", "topk", "k", "n_results", "num_results", "max_results"), ("limit",)),
    **dict.fromkeys(("user_id", "userid", "user", "peer", "peer_id"), ("scope", "speaker")),
    "author_id": ("speaker", "scope"),
    **dict.fromkeys(("agent_id", "app_id", "group_id", "group_ids", "scope_filter"), ("scope",)),
    **dict.fromkeys(("namespace", "bank_id", "brain_id", "workspace_id"), ("scope", "space")),
    **dict.fromkeys(("container_tag", "container_tags", "dataset", "datasets", "dataset_name"), ("scope",)),
    **dict.fromkeys(("run_id", "session_id", "thread_id", "conversation_id", "channel_id"), ("session", "id")),
    **dict.fromkeys(("tags", "labels", "categories", "category"), ("keywords", "topic", "where")),
    **dict.fromkeys(("filter", "filters", "metadata_filter", "search_filter"), ("where",)),
    **dict.fromkeys(("threshold", "min_score", "score_threshold", "min_fact_rating"), ("min_confidence",)),
    **dict.fromkeys(("valid_at", "reference_time", "timestamp", "created_at"), ("valid_from", "at", "as_of")),
    **dict.fromkeys(("from_date", "time_start"), ("since",)),
    **dict.fromkeys(("to_date", "time_end", "invalid_at"), ("until", "valid_to")),
    **dict.fromkeys(("expiration_date", "valid_until", "ttl"), ("expires_at", "valid_to")),
    **dict.fromkeys(("content", "data", "memory", "messages", "episode_body"), ("text", "what")),
    **dict.fromkeys(("question", "q", "query_text"), ("query",)),
    **dict.fromkeys(("predicate", "relationship"), ("relation",)),
    **dict.fromkeys(("type", "types", "memory_type", "fact_type"), ("kind", "kinds")),
    **dict.fromkeys(("memory_id", "uuid", "document_id", "custom_id"), ("id", "key")),
    **{"tokens": ("max_tokens",), "center_node_uuid": ("entity_hints",), "node_set": ("keywords", "topic")},
    **{"track_recalls": ("track",), "current_context": ("situation",), "repeat": ("fresh",)},
    **{"veracity": ("credibility", "confidence"), "emotion_score": ("emotion",), "importance_flags": ("flags",)},
}
"""Keywords of other systems and of our earlier versions, and ours for them, the likeliest first."""
BESIDES: Mapping[str, str] = {
    "infer": "Leave it out: a text is always stored word for word.",
    **dict.fromkeys(("namespace", "bank_id", "brain_id", "workspace_id"), "Only a separate space hides memories."),
    **dict.fromkeys(("rerank", "reranker"), "Choose the reranker where the memory is opened."),
    "weights": "Set them in a recipe.",
}
"""What else to say about keywords of other systems."""


def ours(given: Mapping[str, V], known: Collection[str]) -> dict[str, V]:
    """Fields under the names we know them by; names that stay unknown stay, and a field given twice is refused."""
    named: dict[str, V] = {}
    spelt: dict[str, str] = {}
    for name, value in given.items():
        own = _own(name, known)
        if own in named:
            raise InvalidInput(f"{spelt[own]} and {name} are the same field", remedy="Give one of them.")
        named[own], spelt[own] = value, name
    return named


def _own(name: str, known: Collection[str]) -> str:
    if name in known:
        return name
    spelt = snake(name)
    return next((spelling for spelling in (spelt, *ALIASES.get(spelt, ())) if spelling in known), name)


def theirs(name: str) -> tuple[str, ...]:
    """Our names for a keyword of another system, the likeliest first."""
    return THEIRS.get(snake(name), ())


def advice(name: str, known: Iterable[str], write: Write = "`{}`".format) -> str:
    """What to give instead of an unknown keyword, as a sentence; empty if nothing is like it."""
    if len(name) > LONGEST:
        return ""
    known, spelt = tuple(known), snake(name)
    meant = [write(spelling) for spelling in theirs(name) if spelling in known]
    use = f"Use {' or '.join(filter(None, (', '.join(meant[:-1]), *meant[-1:])))}." if meant else ""
    if use or spelt in BESIDES:
        return " ".join(filter(None, (use, BESIDES.get(spelt, ""))))
    if (own := _own(name, known)) not in known:
        from difflib import get_close_matches

        own = next(iter(get_close_matches(spelt, known, 1, ALIKE)), "")
    return f"Did you mean {write(own)}?" if own else ""
