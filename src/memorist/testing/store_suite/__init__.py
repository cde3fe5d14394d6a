"""What every store must hold to, as pytest classes; for our stores and for yours.

```python
class TestMyStore(StoreConformance):
    def make_store(self, folder, name="space"):
        return MyStore(folder / name)
```
"""

from memorist.testing.store_suite.erasing import Erasing
from memorist.testing.store_suite.filtering import Filtering
from memorist.testing.store_suite.graph import Graph
from memorist.testing.store_suite.hostile import Hostile
from memorist.testing.store_suite.listing import Listing
from memorist.testing.store_suite.renewing import Renewing
from memorist.testing.store_suite.revising import Revising
from memorist.testing.store_suite.searching import Searching
from memorist.testing.store_suite.sharing import Sharing
from memorist.testing.store_suite.vectors import VectorSearching
from memorist.testing.store_suite.writing import Writing

__all__ = ["StoreConformance"]


class StoreConformance(
    Writing, Revising, Filtering, Searching, VectorSearching, Renewing, Graph, Listing, Erasing, Sharing, Hostile
):
    """All groups of tests; a backend gives `make_store`, and says whether handles share one store."""
