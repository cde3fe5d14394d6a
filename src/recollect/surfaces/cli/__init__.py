"""The command line: `recollect COMMAND`, one command a verb."""

from recollect.surfaces.cli.run import main

__all__ = ["main"]
