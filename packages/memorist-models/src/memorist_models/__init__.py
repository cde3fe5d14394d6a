"""The local models of Memorist, the set `fast`: one folder per model, which Memorist finds by its name."""
