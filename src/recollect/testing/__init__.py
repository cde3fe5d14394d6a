"""For tests of your own: stand-ins that never surprise, a small world, and suites to hold parts to.

The suites need pytest: `recollect.testing.store_suite`, `recollect.testing.stage_suite`.
"""

from recollect.testing.fakes import FakeClock, FakeEmbedder
from recollect.testing.world import memory, sample_world

__all__ = ["FakeClock", "FakeEmbedder", "memory", "sample_world"]
