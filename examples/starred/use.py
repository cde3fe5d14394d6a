"""A recipe with the factor of this package.

pip install -e examples/starred
python examples/starred/use.py
"""

from __future__ import annotations

import memorist

RECIPE = {
    "stages": [
        {"stage": "search", "signals": [{"signal": "keyword"}], "limit": 50},
        {"stage": "rrf"},
        {"stage": "weigh", "factors": [{"factor": "starred", "boost": 3.0}]},
        {"stage": "limit"},
        {"stage": "assemble"},
    ]
}


def main() -> None:
    with memorist.open(":memory:", embedder="none", config={"recipes": {"stars": RECIPE}}, recipe="stars") as memory:
        memory.remember("The dentist is in Queen Street. Dentist, dentist!")
        memory.remember("The good dentist is in King Street.", flags=["starred"])
        found = memory.recall("dentist")
        print(found.items[0].memory.text)
        print(memory.explain(found, found.items[0].memory.id))


if __name__ == "__main__":
    main()
