"""Abmind's cascade: fuzzy words first, meaning and signature while there is too little, notes and relations always.

Then doubt for what only words found, boosts for the situation, emotion and spaced recalls, diversity of words,
and notes on timelines and conflicts.
"""

from memorist.recall.assemble import Assemble
from memorist.recall.diversify import MMR
from memorist.recall.enrich import Enrich
from memorist.recall.factors import EmotionBoost, SituationBoost, Spacing
from memorist.recall.fuse import First
from memorist.recall.pipeline import Pipeline
from memorist.recall.prepare.embed import Embed
from memorist.recall.prepare.kinds import Content
from memorist.recall.prepare.meaning import FindEntities
from memorist.recall.score import Add, Confirm, Weigh
from memorist.recall.search import Cascade, Edges, Fuzzy, Notes, Signature, Vector
from memorist.recall.select import Limit
from memorist.recall.track import Track

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
