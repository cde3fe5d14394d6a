"""`python -m memorist`: the command line."""

from memorist.surfaces.cli import run

run()
