"""Abmind's cascade: fuzzy words first, meaning and signature while there is too little, notes and relations always.

Then doubt for what only words found, boosts for the situation, emotion and spaced recalls, diversity of words,
and notes on timelines and conflicts.
"""

from recollect.recall.assemble import Assemble
from recollect.recall.diversify import MMR
from recollect.recall.enrich import Enrich
from recollect.recall.factors import EmotionBoost, SituationBoost, Spacing
from recollect.recall.fuse import First
from recollect.recall.pipeline import Pipeline
from recollect.recall.prepare.embed import Embed
from recollect.recall.prepare.kinds import Content
from recollect.recall.prepare.meaning import FindEntities
from recollect.recall.score import Add, Confirm, Weigh
from recollect.recall.search import Cascade, Edges, Fuzzy, Notes, Signature, Vector
from recollect.recall.select import Limit
from recollect.recall.track import Track

ABMIND = Pipeline(
    "abmind",
    (
        Content(),
        Embed(ahead=True),
        FindEntities(),
        Cascade(
            until_enough=(Fuzzy(), Vector(least=0.5), Signature(least=0.65, most=5)),
            always=(Notes(score=0.5), Edges(score=0.6)),
            times=3,
        ),
        First(),
        Confirm(of="fuzzy", by="vector", penalty=0.5),
        Add((SituationBoost(), EmotionBoost())),
        Weigh((Spacing(),)),
        MMR(balance=0.7, by="words"),
        Limit(),
        Enrich(),
        Assemble(),
        Track(signals=("fuzzy", "vector", "signature")),
    ),
)
