"""The engine: the verbs of an open memory, and what opens one."""
