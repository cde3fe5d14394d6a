"""Writing: from the text that a caller gives to memories in the store."""
