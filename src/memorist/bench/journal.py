"""Answers on disk while a run lasts: an interrupted one goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import memorist
from memorist.bench.model import Answer, Dataset
from memorist.errors import InvalidInput
from memorist.model import fingerprint
from memorist.recall.data import to_data
from memorist.recall.pipeline import Pipeline


class WorkFiles:
    """One file a recipe, a line a group; named by all that the answers depend on, so none fits another run."""

    def __init__(self, folder: Path, dataset: Dataset, pipelines: Sequence[Pipeline], *dependencies: object) -> None:
        asked = [(group.name, [one.id for one in group.questions]) for group in dataset.groups]
        common = (dataset.checksum, asked, code_checksum(), *dependencies)
        self._files = {
            one.name: folder / "runs" / f"{fingerprint(common, one.name, to_data(one))}.jsonl" for one in pipelines
        }
        self._known = {name: _read(file) for name, file in self._files.items()}

    def answers(self, recipe: str, group: str) -> tuple[Answer, ...] | None:
        """What a recipe answered to a group's questions before the interruption."""
        return self._known[recipe].get(group)

    def add(self, recipe: str, group: str, answers: Sequence[Answer]) -> None:
        """Keep what a recipe answered, in one write."""
        line = json.dumps({"group": group, "answers": [answer_to_data(one) for one in answers]})
        file = self._files[recipe]
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab", buffering=0) as stream:
                stream.write(f"\n{line}\n".encode())  # after what a killed run may have left
        except OSError as error:
            raise InvalidInput(
                f"The work file {file} cannot be written: {error.strerror}", remedy="Name another folder with --cache."
            ) from None

    def discard(self) -> None:
        """Remove the files: the run is complete, or is to start anew."""
        for name, file in self._files.items():
            file.unlink(missing_ok=True)
            self._known[name] = {}


def answer_to_data(answer: Answer) -> dict[str, Any]:
    """An answer as plain JSON data."""
    return {
        "group": answer.group,
        "question": answer.question,
        "ranked": list(answer.ranked),
        "ms": answer.ms,
        "stages": dict(answer.stages),
        "tokens": answer.tokens,
        "tokens_at": list(answer.tokens_at),
        "confidence": answer.confidence,
        "abstained": answer.abstained,
    }


def answer_from_data(data: Mapping[str, Any]) -> Answer:
    """The answer that `answer_to_data` wrote."""
    lists: dict[str, Any] = {"ranked": tuple(data["ranked"]), "tokens_at": tuple(data["tokens_at"])}
    fields: dict[str, Any] = {**data, **lists}
    return Answer(**fields)


@cache
def code_checksum() -> str:
    """Names the very code that runs: answers of another state of it are not gone on with."""
    root = Path(memorist.__file__).parent
    digest = sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _read(file: Path) -> dict[str, tuple[Answer, ...]]:
    """The groups of a work file; a line that was cut off is as if it were not there."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    groups: dict[str, tuple[Answer, ...]] = {}
    for line in lines:
        try:
            data = json.loads(line)
            groups[data["group"]] = tuple(answer_from_data(one) for one in data["answers"])
        except (ValueError, TypeError, KeyError):
            continue
    return groups
