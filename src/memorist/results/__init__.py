"""What the verbs return, defined once and below everything that makes it.

`records` are what a store keeps, `writing`, `finding`, `upkeep` and `moving` what the verbs of these chapters return.
A memory and a recall are in `memorist.model`.
"""
