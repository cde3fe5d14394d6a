"""The command line: `memorist COMMAND`, one command a verb."""

from memorist.surfaces.cli.run import main

__all__ = ["main"]
