"""`python -m recollect`: the command line."""

import sys

from recollect.surfaces.cli import main

sys.exit(main())
