"""The REST server: the verbs of every space in a folder, over HTTP. Thin: no logic of its own."""
