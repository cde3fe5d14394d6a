"""What a text says, without a language model: pure functions over text."""

from recollect.remember.extract.dictionary import Dictionary
from recollect.remember.extract.entities import entities
from recollect.remember.extract.mentions import mentions
from recollect.remember.extract.model import Named, Statement
from recollect.remember.extract.statements import statements

__all__ = ["Dictionary", "Named", "Statement", "entities", "mentions", "statements"]
