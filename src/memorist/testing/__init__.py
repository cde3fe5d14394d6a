"""For tests of your own: stand-ins that never surprise, a small world, and suites to hold parts to.

The suites need pytest: `memorist.testing.store_suite`, `memorist.testing.fakes`.
"""

from memorist.testing.fakes import FakeClock, FakeEmbedder
from memorist.testing.world import memory, sample_world

__all__ = ["FakeClock", "FakeEmbedder", "memory", "sample_world"]
