"""The routes, by subject. Each reads a body, calls one verb, and writes what it gives as `memorist.serialize` does."""

SPACE = "/v1/spaces/{space}"
"""What the paths of a space's routes begin with."""
