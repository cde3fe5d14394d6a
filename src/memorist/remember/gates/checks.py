"""The individual gates: size, secrets, instructions, duplicates, loops and noise."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from memorist.model import EXACT, INSTRUCTIONS, NOISE, Kind, Memory, fingerprint, isoformat, memory_id
from memorist.models.embedding_text import text_without_speaker
from memorist.remember.fact_rows import fact_id, slot_of
from memorist.remember.gates.verdict import GateContext, Verdict, distrust, has_own_place, quieten
from memorist.remember.redaction import MOST, redact, secrets_in_texts, without_secrets
from memorist.text.chatter import says_nothing
from memorist.text.gist import Copies, copies
from memorist.text.injection import instructions_in
from memorist.text.labels import NOTHING, framed_lines, has_header
from memorist.text.sameness import canonical

SIZE_GATE = "size"


def size(memory: Memory, context: GateContext) -> Verdict | None:
    """Refuse a text of more characters than the policy allows."""
    longest = context.policy.longest_text
    length = max(len(memory.text), len(memory.original or ""))
    if not longest or length <= longest:
        return None
    reason = f"has {length:,} characters, more than {longest:,}"
    return Verdict(SIZE_GATE, "refuse", reason, memory, final="nothing was written")


DUPLICATE_GATE = "duplicates"


def duplicates(memory: Memory, context: GateContext) -> Verdict | None:
    """Skip a text that a memory of the same scope, session and kind has already.

    The same text differs at most in case, white space and a final full stop; anything else may be the news.
    """
    if context.policy.duplicates == "keep" or has_own_place(memory):
        return None
    for known in context.same_text(memory):
        if known.id != memory.id and known.fact is None and _beside(memory, known):
            return Verdict(DUPLICATE_GATE, "skip", f"says the same as {known.id}", memory, about=(known.id,))
    return None


def _beside(memory: Memory, known: Memory) -> bool:
    """Whether a known memory is current and has the same kind, session, speaker and original."""
    return _is_current(known, memory) and _same_source(known, memory)


def _same_source(known: Memory, memory: Memory) -> bool:
    return (
        known.kind == memory.kind
        and known.origin.session == memory.origin.session
        and known.origin.speaker == memory.origin.speaker
        and known.original == memory.original
    )


def _is_current(known: Memory, memory: Memory) -> bool:
    """Whether a known memory holds when another one becomes known."""
    times, now = known.times, memory.times.ingested_at
    return (
        times.retracted_at is None
        and (times.valid_to is None or times.valid_to > now)
        and (times.expires_at is None or times.expires_at > now)
    )


def with_own_id(memory: Memory, known: Memory | None) -> Memory:
    """The memory, under an id of its own if the memory with its id and text is another one.

    It is another one if somebody else said it, or if it has ended and the text is now said again.
    """
    if known is None or memory.origin.key is not None or known.text != memory.text:
        return memory
    edited = known.version > memory.version  # perhaps also in who said it
    if not (edited or _same_source(known, memory) or _same_source(known, without_secrets(memory))):
        parts = (memory.kind, memory.origin.speaker, memory.original)
        return replace(memory, id=fingerprint("apart", memory.id, *parts))
    if _is_current(known, memory) or has_own_place(memory):
        return memory
    return replace(memory, id=fingerprint("again", memory.id, isoformat(memory.times.ingested_at)))


INSTRUCTION_GATE = "instructions"


def instructions(memory: Memory, context: GateContext) -> Verdict | None:
    """Mark or refuse orders to the model, role markers, imitated tool calls and requests to leak data, in any field."""
    worth = memory.worth
    if context.policy.instructions == "keep" or (INSTRUCTIONS in worth.flags and worth.trust == 0):
        return None
    reason = "; ".join(instructions_in("\n".join(dict.fromkeys(context.texts(memory)))))
    if not reason:
        return None
    if context.policy.instructions == "refuse":
        return Verdict(INSTRUCTION_GATE, "refuse", reason, memory, final="nothing was written")
    return Verdict(INSTRUCTION_GATE, "mark", reason, distrust(memory, INSTRUCTIONS))


LOOP_GATE, LOOP_FLAG = "loops", "loop"
FEWEST = 3
"""The fewest copied sentences, and memories they come from, that make a loop: quoting one or two is normal."""
COPIED = 0.8
"""The smallest share of a text's letters in copied sentences that makes a loop."""
MOST_LINES = 50


def loops(memory: Memory, context: GateContext) -> Verdict | None:
    """Skip a text that has the form of a recalled context, or consists of sentences of other memories."""
    if context.policy.loops == "keep" or memory.kind is not Kind.EPISODIC or LOOP_FLAG in memory.worth.flags:
        return None
    form, pieces = form_of(memory.text), context.pieces(memory.text)
    if form is None and not (framed_lines(memory.text) or _may_be_copied(pieces, memory, context)):
        return None
    found = copies(pieces, _places(pieces, memory, context))
    if form is None and not (is_loop(found) or _is_copied_line(memory.text, found)):
        return None
    reason = form or describe_copies(found)
    if context.policy.loops == "skip":
        return Verdict(LOOP_GATE, "skip", reason, memory, about=found.sources)
    return Verdict(LOOP_GATE, "mark", reason, quieten(memory, LOOP_FLAG), about=found.sources)


def form_of(text: str) -> str | None:
    """Why the form of a text shows that recall wrote it; None if it does not."""
    items = framed_lines(text)
    if (items and has_header(text)) or _is_nothing(text):
        return "is a context that recall wrote"
    return "is a list of recalled memories" if items >= FEWEST else None


def _is_nothing(text: str) -> bool:
    """Whether a text is the context of a recall that found nothing, perhaps quoted."""
    return len(text) <= 2 * len(NOTHING) and canonical(text.strip("> \t\r\n")) == canonical(NOTHING)


def _is_copied_line(text: str, found: Copies) -> bool:
    """Whether a text is one or two lines of a context that say only what memories say."""
    return found.share >= COPIED and framed_lines(text) == sum(map(bool, map(str.strip, text.splitlines())))


def is_loop(found: Copies) -> bool:
    """Whether a text is recalled context rather than a quotation."""
    return found.sentences >= FEWEST and len(found.sources) >= FEWEST and found.share >= COPIED


def describe_copies(found: Copies) -> str:
    """How much was copied, in words."""
    return f"repeats {found.sentences} sentences of {len(found.sources)} memories, {found.share:.0%} of it"


def _may_be_copied(pieces: list[str], memory: Memory, context: GateContext) -> bool:
    """A quick check with one search: if nearly all of a text is copied, its longest sentence is too."""
    if len(pieces) < FEWEST:
        return False
    longest = max(pieces, key=len)
    return longest in _places([longest], memory, context)


def _places(pieces: list[str], memory: Memory, context: GateContext) -> dict[str, list[str]]:
    """The ids of the memories that hold each piece; pieces without any are left out."""
    where: dict[str, list[str]] = {}
    for piece in pieces[:MOST_LINES]:
        if known := [id for id in context.holding(piece, memory.scope) if id != memory.id]:
            where[piece] = known
    return where


NOISE_GATE = "noise"


def noise(memory: Memory, context: GateContext) -> Verdict | None:
    """Mark or skip a text without content: stock phrases, and texts that the noise bank has learnt."""
    known = memory.kind is not Kind.EPISODIC or NOISE in memory.worth.flags
    if context.policy.noise == "keep" or known:
        return None
    said = text_without_speaker(memory)
    if says_nothing(said):
        reason = "is a phrase of courtesy or of ignorance"
    elif context.learnt and canonical(said) in context.learnt:
        reason = "is in the noise bank"
    else:
        return None
    if context.policy.noise == "skip":
        return Verdict(NOISE_GATE, "skip", reason, memory)
    return Verdict(NOISE_GATE, "mark", reason, quieten(memory, NOISE))


SECRET_GATE = "secrets"  # noqa: S105  # the name of a gate
NEVER_WRITTEN = "the secret was never written"


def secrets(memory: Memory, context: GateContext) -> Verdict | None:
    """Mask or refuse keys, tokens, passwords and numbers of cards and accounts; never mask an exact memory."""
    if context.policy.secrets == "keep":
        return None
    found = secrets_in_texts(context.texts(memory), context.plain_labels)
    if not found:
        return None
    reason = f"holds {', '.join(dict.fromkeys(found.values()))}"
    if context.policy.secrets == "refuse" or EXACT in memory.worth.flags or len(found) > MOST:
        return Verdict(SECRET_GATE, "refuse", reason, memory, final="nothing was written")
    return Verdict(SECRET_GATE, "mask", reason, _under_own_id(redact(memory, found), memory), final=NEVER_WRITTEN)


def _under_own_id(memory: Memory, given: Memory) -> Memory:
    """The masked memory under an id of its own: the id of the text with the secret would let the secret be guessed."""
    if given.version > 1:
        return memory  # an edited memory keeps its id, which tells nothing of its new text
    fact, classification = memory.fact, memory.worth.classification
    slot = None if fact is None else slot_of(fact, memory.scope, classification)
    if fact is not None and slot is not None and memory.origin.key == slot.key:
        return replace(memory, id=fact_id(slot, fact.object, memory.times.valid_from))
    undated = given.id == _id(given, None)
    return replace(memory, id=_id(memory, None if undated else given.times.valid_from))


def _id(memory: Memory, at: datetime | None) -> str:
    origin = memory.origin
    return memory_id(
        memory.text,
        scope=memory.scope,
        key=origin.key,
        source=origin.source,
        session=origin.session,
        position=origin.position,
        at=at,
        classification=memory.worth.classification,
    )
