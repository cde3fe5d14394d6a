"""What a text says, without a language model: pure functions over text."""

from memorist.remember.extract.dictionary import Dictionary
from memorist.remember.extract.entities import entities
from memorist.remember.extract.mentions import mentions
from memorist.remember.extract.model import Named, Statement
from memorist.remember.extract.statements import statements

__all__ = ["Dictionary", "Named", "Statement", "entities", "mentions", "statements"]
