"""`python -m memorist`: the command line."""

import sys

from memorist.surfaces.cli import main

sys.exit(main())
