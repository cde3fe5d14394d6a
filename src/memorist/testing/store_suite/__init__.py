"""What every store must hold to, as pytest classes; for our stores and for yours.

```python
class TestMyStore(StoreConformance):
    def make_store(self, folder, name="space"):
        return MyStore(folder / name)
```
"""

from memorist.testing.store_suite.erasing import Erasing, Hostile, Sharing
from memorist.testing.store_suite.graph import Graph, VectorSearching
from memorist.testing.store_suite.revising import Renewing, Revising
from memorist.testing.store_suite.searching import Filtering, Listing, Searching
from memorist.testing.store_suite.writing import Writing

__all__ = ["StoreConformance"]


class StoreConformance(
    Writing, Revising, Filtering, Searching, VectorSearching, Renewing, Graph, Listing, Erasing, Sharing, Hostile
):
    """All groups of tests; a backend gives `make_store`, and says whether handles share one store."""
