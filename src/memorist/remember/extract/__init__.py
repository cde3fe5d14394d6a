"""Facts, entities and dates extracted from a text without a language model: pure functions."""

from memorist.remember.extract.names import Dictionary, entities, mentions
from memorist.remember.extract.reading import statements
from memorist.remember.extract.spans import Named, Statement

__all__ = ["Dictionary", "Named", "Statement", "entities", "mentions", "statements"]
