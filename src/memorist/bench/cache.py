"""Embeddings on disk, by content and model: what was embedded once is never embedded again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memorist.errors import InvalidInput
from memorist.model import fingerprint
from memorist.ports import Embedder, Progress, Purpose

if TYPE_CHECKING:
    from memorist.ports import Vector

VARIABLE = "MEMORIST_CACHE"
"""The environment variable that names the folder."""
BATCH = 256
"""Texts embedded between two writes: what a killed run loses at most."""
KEY = 32


def default_folder() -> Path:
    """The platform's folder for what can be made again."""
    from platformdirs import user_cache_path

    return user_cache_path("memorist")


class StoredEmbedder:
    """Any embedder, its vectors of memories kept in a file, and those of queries too if wanted.

    Vectors are rounded to float16 whether they come from the file or the model, so that a second run ranks as
    the first did.
    """

    def __init__(self, embedder: Embedder, folder: Path, *, queries: bool = False) -> None:
        self.embedder = embedder
        self._folder = folder
        self._queries = queries
        self._file: VectorFile | None = None

    @property
    def generation(self) -> str:
        """That of the embedder within."""
        return self.embedder.generation

    @property
    def dim(self) -> int:
        """The length of its vectors."""
        return self.embedder.dim

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """One row per text; the model is asked only for what the file does not have."""
        if purpose == "query" and not self._queries:
            return self.embedder.embed(texts, purpose=purpose, progress=progress)
        file = self._opened()
        by_key = {_key(text, purpose): text for text in texts}
        new = [key for key in by_key if key not in file.rows]
        for start in range(0, len(new), BATCH):
            keys = new[start : start + BATCH]
            file.add(keys, self.embedder.embed([by_key[key] for key in keys], purpose=purpose))
        if progress is not None:
            progress(len(texts))
        rows = np.array([file.rows[_key(text, purpose)] for text in texts], dtype=np.float32)
        return _unit(rows.reshape(len(texts), self.dim))

    def _opened(self) -> VectorFile:
        if self._file is None:
            readable = re.sub(r"[^\w.-]+", "-", self.generation)[:80]
            name = f"{readable}-{fingerprint(self.generation)[:8]}.vectors"
            self._file = VectorFile(self._folder / "embeddings" / name, self.dim)
        return self._file


class VectorFile:
    """Rows by key in a file that only grows: key, float16 numbers, and a checksum of both, one after another.

    Each addition is a single write to the end, so processes can share a file. What a killed one left half
    written, or a disk spoilt, does not agree with its checksum and is passed over; it is then made again.
    """

    def __init__(self, path: Path, dim: int) -> None:
        self._path = path
        self._record = np.dtype([("key", "u1", (KEY,)), ("row", "<f2", (dim,)), ("check", "<u4")])
        self.rows: dict[bytes, NDArray[np.float16]] = self._read()

    def add(self, keys: Sequence[bytes], rows: Vector) -> None:
        """Keep rows, here and in the file."""
        records = np.zeros(len(keys), dtype=self._record)
        records["key"] = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), KEY)
        records["row"] = rows
        records["check"] = [_checksum(record) for record in records]
        self._append(records.tobytes())
        self.rows |= dict(zip(keys, records["row"], strict=True))

    def _read(self) -> dict[bytes, NDArray[np.float16]]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unusable(error) from None
        records = np.frombuffer(data[: len(data) - len(data) % self._record.itemsize], dtype=self._record)
        return {one["key"].tobytes(): one["row"] for one in records if one["check"] == _checksum(one)}

    def _append(self, data: bytes) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab", buffering=0) as file:
                torn = file.tell() % self._record.itemsize
                file.write(b"\0" * (self._record.itemsize - torn if torn else 0) + data)
        except OSError as error:
            raise self._unusable(error) from None

    def _unusable(self, error: OSError) -> InvalidInput:
        return InvalidInput(
            f"The cache {self._path} cannot be used: {error.strerror}",
            remedy=f"Name another folder with --cache or {VARIABLE}.",
        )


def _key(text: str, purpose: Purpose) -> bytes:
    return sha256(f"{purpose}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _checksum(record: Any) -> int:
    # Never 0 for a record of zeros, such as the rest of a torn one that was filled up.
    return crc32(record["row"].tobytes(), crc32(record["key"].tobytes(), 1))


def _unit(rows: Vector) -> Vector:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
