"""The routes, by subject. Each reads a body, calls one verb, and returns its result as data."""

SPACE = "/v1/spaces/{space}"
"""The prefix of the paths of a space."""
