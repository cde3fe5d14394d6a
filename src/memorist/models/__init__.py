"""Embedders, rerankers and language models, each imported when it is first used."""
