"""What the bench keeps on disk: vectors and scores, so that no model is asked twice, and answers of unfinished runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from hashlib import sha256
from math import isnan, nan
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import memorist
from memorist.errors import InvalidInput
from memorist.model import fingerprint, from_data, to_data
from memorist.ports import (
    Embedder,
    ListReading,
    Progress,
    Purpose,
    Reading,
    Reranker,
    list_reading_of,
    readings_of,
)
from memorist.recall.data import to_data as recipe_to_data
from memorist.recall.pipeline import Pipeline
from memorist_bench.model import Answer, Dataset

if TYPE_CHECKING:
    from memorist.ports import Vector

VARIABLE = "MEMORIST_CACHE"
"""The environment variable with the cache folder."""
BATCH = 256
"""Texts embedded per write: a killed run loses at most these."""
VECTOR_KEY, PAIR_KEY = 32, 12
"""Bytes of a digest; 96 bits tell millions of pairs of question and text apart."""


def default_folder() -> Path:
    """The cache folder of the platform."""
    from platformdirs import user_cache_path

    return user_cache_path("memorist")


class StoredEmbedder:
    """An embedder whose vectors of memories, and optionally of queries, are kept in a file.

    Vectors are rounded to float16 whether they come from the file or from the model, so that a second run ranks
    exactly as the first.
    """

    def __init__(self, embedder: Embedder, folder: Path, *, queries: bool = False) -> None:
        self.embedder = embedder
        self._folder = folder
        self._queries = queries

    @property
    def generation(self) -> str:
        """The generation of the wrapped embedder."""
        return self.embedder.generation

    @property
    def dim(self) -> int:
        return self.embedder.dim

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """One row per text; only texts that are not in the file are embedded."""
        if purpose == "query" and not self._queries:
            return self.embedder.embed(texts, purpose=purpose, progress=progress)
        file = self._file
        by_key = {_digest(purpose, text): text for text in texts}
        new = [key for key in by_key if key not in file.rows]
        for start in range(0, len(new), BATCH):
            keys = new[start : start + BATCH]
            file.add(keys, self.embedder.embed([by_key[key] for key in keys], purpose=purpose))
        if progress is not None:
            progress(len(texts))
        rows = np.array([file.rows[_digest(purpose, text)] for text in texts], dtype=np.float32)
        return _unit(rows.reshape(len(texts), self.dim))

    @cached_property
    def _file(self) -> VectorFile:
        return VectorFile(_file_of(self.generation, self._folder, "embeddings", "vectors"), self.dim)


class StoredReranker:
    """A reranker whose readings are kept in a file, by question and text.

    Logits are rounded to float32 whether they come from the file or from the model. `name` identifies the model.
    """

    def __init__(self, reranker: Reranker, folder: Path, name: str) -> None:
        self.reranker = reranker
        self._path = _file_of(name, folder, "rerankings", "readings")

    @property
    def generation(self) -> str:
        """The generation of the wrapped reranker; empty if it has none."""
        return getattr(self.reranker, "generation", "")

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text; only pairs that are not in the file are scored."""
        return [reading.score for reading in self.read(query, texts)]

    def read(self, query: str, texts: Sequence[str]) -> list[Reading]:
        """One reading per text; only pairs that are not in the file are read."""
        keys = [_digest(query, text)[:PAIR_KEY] for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._file.readings}
        if new:
            self._file.add(new, readings_of(self.reranker, query, list(new.values())))
        return [self._file.readings[key] for key in keys]

    def read_list(self, query: str, texts: Sequence[str]) -> ListReading | None:
        """What the wrapped reranker says of texts together, which is not kept."""
        return list_reading_of(self.reranker, query, texts)

    @cached_property
    def _file(self) -> ReadingFile:
        return ReadingFile(self._path)


class VectorFile:
    """Rows of float16 numbers by key, in a file."""

    def __init__(self, path: Path, dim: int) -> None:
        self._file = RecordFile(path, VECTOR_KEY + 2 * dim)
        self.rows: dict[bytes, NDArray[np.float16]] = dict(map(_row, self._file.read()))

    def add(self, keys: Sequence[bytes], rows: Vector) -> None:
        """Add rows, in memory and in the file."""
        contents = [key + row.tobytes() for key, row in zip(keys, rows.astype("<f2"), strict=True)]
        self._file.add(contents)
        self.rows |= map(_row, contents)


def _row(content: bytes) -> tuple[bytes, NDArray[np.float16]]:
    return content[:VECTOR_KEY], np.frombuffer(content, dtype="<f2", offset=VECTOR_KEY)


class ReadingFile:
    """Readings by key, in a file."""

    def __init__(self, path: Path) -> None:
        self._file = RecordFile(path, _READING.size)
        self.readings: dict[bytes, Reading] = dict(map(_reading, self._file.read()))

    def add(self, keys: Iterable[bytes], readings: Sequence[Reading]) -> None:
        """Add readings, in memory and in the file."""
        contents = [
            _READING.pack(key, one.score, nan if one.answers is None else one.answers)
            for key, one in zip(keys, readings, strict=True)
        ]
        self._file.add(contents)
        self.readings |= map(_reading, contents)


_READING = Struct(f"<{PAIR_KEY}sff")


def _reading(content: bytes) -> tuple[bytes, Reading]:
    key, score, answers = _READING.unpack(content)
    return key, Reading(score, None if isnan(answers) else answers)


class RecordFile:
    """An append-only file of records of one size, each followed by its checksum.

    Each addition is a single write to the end, so processes can share a file. A record that a killed process left
    incomplete, or that the disk damaged, does not match its checksum; it is skipped and computed again.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._size = size

    def read(self) -> Iterator[bytes]:
        """Every record whose checksum fits."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unusable(self._path, error) from None
        whole = self._size + CHECKSUM
        for start in range(0, len(data) - whole + 1, whole):
            content = data[start : start + self._size]
            if _checksum(content) == data[start + self._size : start + whole]:
                yield content

    def add(self, contents: Sequence[bytes]) -> None:
        """Append records."""
        data = b"".join(content + _checksum(content) for content in contents)
        _append(self._path, data, record=self._size + CHECKSUM)


CHECKSUM = 4


def _checksum(content: bytes) -> bytes:
    # Never 0 for a record of zeros, such as the padding after an incomplete one.
    return crc32(content, 1).to_bytes(CHECKSUM, "little")


def _file_of(model: str, folder: Path, kind: str, ending: str) -> Path:
    """The file of a model: a readable name, and a fingerprint that tells similar names apart."""
    readable = re.sub(r"[^\w.-]+", "-", model)[:80]
    return folder / kind / f"{readable}-{fingerprint(model)[:8]}.{ending}"


def _append(path: Path, data: bytes, *, record: int = 1) -> None:
    """Append to a file in one write; what a killed process left of a record is padded to its full size."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as file:
            file.write(b"\0" * (-file.tell() % record) + data)
    except OSError as error:
        raise _unusable(path, error) from None


def _unusable(path: Path, error: OSError) -> InvalidInput:
    return InvalidInput(
        f"The cache {path} cannot be used: {error.strerror}",
        remedy=f"Choose another folder with --cache or {VARIABLE}.",
    )


def _digest(kind: str, text: str) -> bytes:
    return sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _unit(rows: Vector) -> Vector:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))


class RunFiles:
    """The answers of an unfinished run: one file per recipe, one line per group.

    A file name depends on everything the answers depend on, so that no other run can pick it up.
    """

    def __init__(self, folder: Path, dataset: Dataset, pipelines: Sequence[Pipeline], *dependencies: object) -> None:
        asked = [(group.name, [question.id for question in group.questions]) for group in dataset.groups]
        common = (dataset.checksum, asked, code_checksum(), *dependencies)
        self._files = {
            pipeline.name: folder / "runs" / f"{fingerprint(common, pipeline.name, recipe_to_data(pipeline))}.jsonl"
            for pipeline in pipelines
        }
        self._known = {name: _answers_in(file) for name, file in self._files.items()}

    def answers(self, recipe: str, group: str) -> tuple[Answer, ...] | None:
        """The answers of a recipe to the questions of a group, if they were kept."""
        return self._known[recipe].get(group)

    def add(self, recipe: str, group: str, answers: Sequence[Answer]) -> None:
        """Append the answers of a recipe to the questions of a group, in one write."""
        line = json.dumps({"group": group, "answers": to_data(answers)})
        _append(self._files[recipe], f"\n{line}\n".encode())  # starts a new line, whatever a killed run left

    def discard(self) -> None:
        """Remove the files: the run is complete, or starts again."""
        for name, file in self._files.items():
            file.unlink(missing_ok=True)
            self._known[name] = {}


@cache
def code_checksum() -> str:
    """A checksum of the code of this package: answers of other code are not reused."""
    root = Path(memorist.__file__).parent
    digest = sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _answers_in(file: Path) -> dict[str, tuple[Answer, ...]]:
    """The groups of a work file; incomplete lines are skipped."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    groups: dict[str, tuple[Answer, ...]] = {}
    for line in lines:
        try:
            data = json.loads(line)
            groups[data["group"]] = tuple(from_data(Answer, answer) for answer in data["answers"])
        except (ValueError, TypeError, KeyError):
            continue
    return groups
