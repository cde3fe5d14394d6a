"""How we keep: from what a caller says to memories that can be written."""
