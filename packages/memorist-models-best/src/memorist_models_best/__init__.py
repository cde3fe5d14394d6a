"""The larger local models of Memorist, the set `best`: one folder per model, which Memorist finds by its name."""
