"""The command line: `memorist COMMAND`, one command per verb.

To read it in order: `run` (exit statuses), `app` (the commands), `target`, `options`, `output`, then the commands:
`demo`, `write`, `find`, `recipes`, `upkeep`, `doctor`, `move`, `serve`.
"""

from memorist.surfaces.cli.run import main

__all__ = ["main"]
