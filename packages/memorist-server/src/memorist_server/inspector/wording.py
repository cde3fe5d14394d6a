"""What the parts of a recall and the entries of a journal are called, in words that need no documentation."""

from __future__ import annotations

SIGNALS = {
    "vector": "meaning",
    "keyword": "words",
    "temporal": "time",
    "graph": "names",
    "edges": "facts",
    "notes": "notes",
    "fuzzy": "words",
    "signature": "wording",
    "trigram": "spelling",
    "reranker": "read again",
    "answers": "answers",
    "together": "beside others",
    "known": "known at all",
}
"""What each signal goes by, in a word."""

RANKED = {
    "vector": "by meaning",
    "keyword": "by its words",
    "temporal": "by its time",
    "graph": "by the names it mentions",
    "fuzzy": "by its words",
    "trigram": "by its spelling",
    "reranker": "when read again with the question",
    "answers": "by how well it answers",
    "together": "when read beside the others",
}
"""How a signal ranks, after a rank."""

STAGES = {
    "content": "leaves out what only connects memories",
    "as_known": "looks back with the knowledge of that time",
    "dates": "finds dates in the question",
    "expand": "adds synonyms",
    "mode": "asks which type of memory is wanted",
    "tags": "names what the question is about",
    "entities": "finds names in the question",
    "embed": "turns the question into a vector",
    "search": "runs every signal",
    "cascade": "runs one signal after the other",
    "rrf": "merges the rankings of the signals",
    "weighted_sum": "adds up the scores of the signals",
    "first": "takes the first signal's score",
    "best": "takes the highest score",
    "nodes": "scores what lies closest",
    "hops": "follows links to related memories",
    "provenance": "brings in the sources",
    "confirm": "lowers what a second signal did not find",
    "add": "adds bonuses",
    "weigh": "weighs by age, use or trust",
    "wishes": "raises standing wishes",
    "neighbour_boost": "raises what was said near other finds",
    "judge": "judges how likely each is to answer",
    "confidence": "estimates how likely the first five are to contain an answer",
    "read_together": "reads the first candidates together",
    "superseded": "lowers outdated facts",
    "normalise": "brings scores to one scale",
    "rerank": "reads the best again with the question",
    "rerank_blend": "reads the best again with the question",
    "bridge": "follows a name to the next memory",
    "relevant": "drops what hardly answers",
    "minimum_score": "drops low scores",
    "mmr": "avoids saying things twice",
    "scope": "drops what the filters exclude",
    "noise": "drops small talk",
    "told": "puts statements before questions",
    "asker": "puts what is about the one who asks first",
    "drop_shown": "drops what this session was shown",
    "limit": "keeps the best",
    "enrich": "adds notes to the results",
    "reason": "sums up the finds",
    "standing": "adds what is pinned",
    "assemble": "writes the context",
    "assemble_turns": "writes the context",
    "assemble_facts": "writes the context",
    "track": "counts the use",
}
"""What each stage does; a stage of your own has only its name."""

DEEDS = {
    "mask": "Masked",
    "mark": "Marked",
    "skip": "Skipped",
    "refuse": "Refused",
    "pin": "Pinned",
    "feedback": "Rated",
    "invalidate": "Ended",
    "audit": "Repaired",
    "tidy": "Tidied",
    "facts": "Read facts",
    "note": "Noted",
    "judged": "Judged",
    "consolidate": "Written as a note",
}
"""What an entry of the journal says was done: the decision of a gate, or the verb of any other entry."""

TASKS = {"session": "learn from a session", "facts": "read facts", "scrub": "erase what was forgotten"}
"""What a job is going to do."""


def ordinal(rank: int) -> str:
    """A rank as people say it: 1st, 2nd, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th") if rank % 100 not in (11, 12, 13) else "th"
    return f"{rank:,}{ending}"


def deed(verb: str, decision: object = None) -> str:
    """What was done, in a word."""
    return DEEDS.get(str(decision or verb)) or verb.replace("_", " ").capitalize()
