"""Facts, entities and dates extracted from a text without a language model: pure functions."""

from memorist.remember.extract.dictionary import Dictionary
from memorist.remember.extract.names import entities, mentions
from memorist.remember.extract.objects import NamedSpan, Statement
from memorist.remember.extract.reading import statements

__all__ = ["Dictionary", "NamedSpan", "Statement", "entities", "mentions", "statements"]
