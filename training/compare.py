"""How near a finished int8 model is to the float model it was made of."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import calibrate
import numpy as np
import torch
from encoder import PairScorer, SentenceEncoder
from graph import ANSWERS, EMBEDDING, ENDS, IDS, KNOWN, MEANS, MIXED, OUTDATED, SCORE, STATE, TOKENS, TYPES
from list_reader import ListScorer
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memorist.models.folder import onnx_runtime

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

OUTPUTS = (EMBEDDING, TOKENS)
LEAST_COSINE = 0.985  # of a sentence; fragments are only reported
LEAST_CORRELATION = 0.98

SENTENCES = (
    "Alice moved to Stockholm.",
    "Where does Alice live now?",
    "The invoice from 3 March was paid twice; the second payment came back on the 19th.",
    "Please never deploy on Fridays, and always run the migration against the staging copy first.",
    "我下周三要去北京出差。",
    "TypeError: unsupported operand type(s) for +: 'int' and 'str' in pipeline.py, line 214",
    "She said that the garden needs water twice a week in summer, " * 12,
)
# With so few tokens nothing averages out, and every int8 recipe tried is further from the original here.
FRAGMENTS = ("ok", "yes", "no", "thanks!", "lol", "idk", "see you", "Paris", "19:30", "你好", "👍", "")


def compare_embedder(model: SentenceEncoder, file: bytes, tokenizer: Tokenizer) -> None:
    """Print the cosines, and stop when they are not near enough."""
    session = _session(file)
    sentences, fragments = ([tokenizer.encode(text).ids for text in texts] for texts in (SENTENCES, FRAGMENTS))
    least = min(_print_cosines("sentences", _cosines(model, session, sentences))[EMBEDDING])
    _print_cosines("fragments", _cosines(model, session, fragments))
    print(f"beside others of its length a number moves by {_neighbour_effect(session, sentences + fragments):.1e}")
    if least < LEAST_COSINE:
        sys.exit(f"the quantised model is too far from the original: {least:.4f} is below {LEAST_COSINE}")


def compare_reranker(scorer: PairScorer, files: Sequence[bytes], tokenizer: Tokenizer) -> None:
    """Print how near both logits are, and stop when they are not near enough."""
    reading, end = map(_session, files)
    ours, theirs = [], []
    for query in SENTENCES:
        for text in SENTENCES:
            encoded = tokenizer.encode(query[:200], text)
            ids, types = (np.array([numbers], dtype=np.int64) for numbers in (encoded.ids, encoded.type_ids))
            with torch.inference_mode():
                theirs.append(scorer(torch.from_numpy(ids), torch.ones(ids.shape), torch.from_numpy(types))[0].numpy())
            state, mixed = _run(reading, (STATE, MIXED), {IDS: ids, TYPES: types})
            ours.append(np.concatenate(_run(end, (SCORE, ANSWERS), {STATE: state, MIXED: mixed})))
    for place, name in enumerate((SCORE, ANSWERS)):
        one, other = (np.array(logits)[:, place] for logits in (ours, theirs))
        correlation = float(np.corrcoef(one, other)[0, 1])
        print(f"{name}: correlation with float {correlation:.4f}, largest difference {np.abs(one - other).max():.3f}")
        if correlation < LEAST_CORRELATION:
            sys.exit(f"the quantised reranker is too far from the original: {correlation:.4f} < {LEAST_CORRELATION}")


def compare_lists(model: ListScorer, file: bytes, tokenizer: Tokenizer) -> None:
    """Exit if the logits of lists are too far from those of the float model."""
    session, ours, theirs = _session(file), [], []
    for tensors in calibrate.sample_lists(tokenizer)[::4]:
        with torch.inference_mode():
            logits, known = model(*tensors.inputs)
        theirs += [*logits[0].T.reshape(-1).tolist(), known.item()]
        given = {IDS: tensors.ids, TYPES: tensors.types, ENDS: tensors.ends, MEANS: tensors.means}
        made = _run(session, (SCORE, ANSWERS, OUTDATED, KNOWN), {name: each.numpy() for name, each in given.items()})
        ours += np.concatenate([output.reshape(-1) for output in made]).tolist()
    correlation = float(np.corrcoef(ours, theirs)[0, 1])
    print(f"lists: correlation with float {correlation:.4f}")
    if correlation < LEAST_CORRELATION:
        sys.exit(f"the quantised list reader is too far from the original: {correlation:.4f}")


def _session(file: bytes) -> InferenceSession:
    return onnx_runtime().InferenceSession(file, providers=["CPUExecutionProvider"])


def _run(session: InferenceSession, outputs: Sequence[str], given: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs, all of which are arrays in our graphs."""
    return [np.asarray(output) for output in session.run(list(outputs), given)]


def _cosines(model: SentenceEncoder, session: InferenceSession, samples: Sequence[list[int]]) -> dict[str, list[float]]:
    """For each output, the cosine of every row with that of the original."""
    found: dict[str, list[float]] = {name: [] for name in OUTPUTS}
    for ids in samples:
        row = np.array([ids], dtype=np.int64)
        with torch.inference_mode():
            tokens = torch.from_numpy(row)
            exact = [output.numpy() for output in model(tokens, torch.ones_like(tokens), torch.zeros_like(tokens))]
        for name, ours, theirs in zip(OUTPUTS, _run(session, OUTPUTS, {IDS: row}), exact, strict=True):
            found[name].extend(_row_cosines(ours[0], theirs[0]))
    return found


def _print_cosines(what: str, found: dict[str, list[float]]) -> dict[str, list[float]]:
    for name, values in found.items():
        print(f"{what}, {name}: cosine to float least {min(values):.4f}, mean {np.mean(values):.4f}")
    return found


def _neighbour_effect(session: InferenceSession, samples: Sequence[list[int]]) -> float:
    """The largest change of any number when a text runs together with others of its length."""
    effects = []
    for ids in samples:
        others = [list(reversed(ids)), ids, ids[1:] + ids[:1]]
        together = _run(session, [EMBEDDING], {IDS: np.array(others, dtype=np.int64)})[0][1]
        alone = _run(session, [EMBEDDING], {IDS: np.array([ids], dtype=np.int64)})[0][0]
        effects.append(np.abs(together - alone).max())
    return float(max(effects))


def _row_cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> list[float]:
    left, right = np.atleast_2d(left), np.atleast_2d(right)
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return ((left * right).sum(axis=1) / lengths).tolist()
