"""Where memories are kept: SQLite by default, an in-memory reference, one folder or file each."""
