"""The local embedder of Memorist for many languages: one folder per model, which Memorist finds by its name."""
