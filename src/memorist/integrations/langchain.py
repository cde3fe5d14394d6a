"""LangChain: a retriever over a memory, and LangChain's embeddings as an embedder of ours."""

from __future__ import annotations

from memorist.integrations import framework

with framework("langchain"):
    from memorist_agents.integrations.langchain import LangChainEmbedder, MemoristRetriever

__all__ = ["LangChainEmbedder", "MemoristRetriever"]
