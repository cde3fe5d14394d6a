"""What can you do with an open memory: the verbs."""

from memorist.engine.engine import Engine

__all__ = ["Engine"]
