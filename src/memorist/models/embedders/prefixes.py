"""The prefixes that embedding models were trained with: some expect one before each query or document."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memorist.ports import Purpose


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The prefixes of a model family. `name` is part of the embedding generation, so new prefixes need a new name."""

    name: str
    query: str = ""
    memory: str = ""

    def apply(self, text: str, purpose: Purpose) -> str:
        """The text as the model expects it; never empty, because most services refuse empty texts."""
        return ((self.query if purpose == "query" else self.memory) + text) or " "


PLAIN = Prefixes("")

_ENGLISH_SEARCH = "Represent this sentence for searching relevant passages: "
_WEB_SEARCH = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

# The first pattern found in the lower-case model name counts. Sources: the model cards of
# nomic-ai/nomic-embed-text-v1.5, google/embeddinggemma-300m, Qwen/Qwen3-Embedding-0.6B,
# intfloat/multilingual-e5-large(-instruct), BAAI/bge-large-{en,zh}-v1.5,
# mixedbread-ai/mxbai-embed-large-v1 and Snowflake/snowflake-arctic-embed-{l,l-v2.0}.
_FAMILIES: tuple[tuple[str, Prefixes], ...] = (
    (r"nomic-embed-text", Prefixes("nomic", "search_query: ", "search_document: ")),
    (r"embeddinggemma", Prefixes("gemma", "task: search result | query: ", "title: none | text: ")),
    (r"qwen3-embedding", Prefixes("qwen3", _WEB_SEARCH)),
    (r"\be5-.*instruct", Prefixes("e5-instruct", _WEB_SEARCH + " ")),
    (r"\be5-(small|base|large)", Prefixes("e5", "query: ", "passage: ")),
    (r"bge-(small|base|large)-zh", Prefixes("bge-zh", "为这个句子生成表示以用于检索相关文章：")),
    (r"bge-(small|base|large)", Prefixes("bge-en", _ENGLISH_SEARCH)),
    (r"mxbai-embed", Prefixes("mxbai", _ENGLISH_SEARCH)),
    (r"arctic-embed2|arctic-embed-.*v2", Prefixes("arctic2", "query: ")),
    (r"arctic-embed", Prefixes("arctic", _ENGLISH_SEARCH)),
)


_KEYWORDS = ("nomic", "gemma", "qwen3", "e5-", "bge-", "mxbai", "arctic")
"""A name without any of these matches none of the patterns, so that they need not be compiled."""


def prefixes_for(model: str) -> Prefixes:
    """The prefixes of a model's family; none for a family that uses none or that is unknown."""
    name = model.lower()
    if not any(keyword in name for keyword in _KEYWORDS):
        return PLAIN
    return next((found for pattern, found in _FAMILIES if re.search(pattern, name)), PLAIN)
