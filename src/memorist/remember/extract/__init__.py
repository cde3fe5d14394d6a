"""What a text says, without a language model: pure functions over text."""

from memorist.remember.extract.named import entities, mentions
from memorist.remember.extract.names import Dictionary
from memorist.remember.extract.reading import statements
from memorist.remember.extract.spans import Named, Statement

__all__ = ["Dictionary", "Named", "Statement", "entities", "mentions", "statements"]
