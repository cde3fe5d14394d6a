"""The conformance tests that every store must pass, as pytest classes; for our stores and for yours.

```python
class TestMyStore(StoreConformance):
    def make_store(self, folder, name="space"):
        return MyStore(folder / name)
```
"""

from memorist.testing.store_suite.capping import Capping
from memorist.testing.store_suite.counting import Counting
from memorist.testing.store_suite.embeddings import SwitchingEmbeddings, VectorSearching
from memorist.testing.store_suite.erasing import Erasing, Hostile, Sharing
from memorist.testing.store_suite.graph import GraphRows
from memorist.testing.store_suite.searching import Filtering, Paging, Searching
from memorist.testing.store_suite.writing import Revising, Writing

__all__ = ["StoreConformance"]


class StoreConformance(
    Writing,
    Revising,
    Filtering,
    Searching,
    VectorSearching,
    SwitchingEmbeddings,
    GraphRows,
    Paging,
    Counting,
    Capping,
    Erasing,
    Sharing,
    Hostile,
):
    """All groups of tests. A subclass implements `make_store`, and sets `shared` to False if handles share nothing."""
