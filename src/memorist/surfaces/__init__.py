"""How you reach it: the command line and other doors to the same verbs. Thin, no logic of their own."""
