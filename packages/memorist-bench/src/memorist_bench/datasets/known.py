"""Public datasets by name: their addresses and licences, and how to download them.

The authors publish no checksums, so none is listed here: the first download records the checksums, and every later use
is checked against them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import urllib.request
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast
from urllib.error import HTTPError, URLError

from memorist.errors import Error, InvalidInput
from memorist.text.patterns import lazy

BEIR = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets"
LONGMEMEVAL = "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/main"
TIMEOUT = 60  # seconds without data
WANTED = lazy(r"(?:.*/)?(corpus\.jsonl|queries\.jsonl|qrels/[\w-]+\.tsv)")


@dataclass(frozen=True, slots=True)
class KnownSet:
    """A public dataset: one JSON file, or a ZIP archive of a folder in BEIR's layout."""

    address: str
    licence: str
    meaning: str


KNOWN = {
    "locomo": KnownSet(
        "https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json",
        "CC BY-NC 4.0",
        "ten long conversations between two people, 1,986 questions judged by turn (3 MB)",
    ),
    "longmemeval-s": KnownSet(
        f"{LONGMEMEVAL}/longmemeval_s_cleaned.json",
        "MIT",
        "500 questions, each with about 50 chats with an assistant (280 MB)",
    ),
    "longmemeval-oracle": KnownSet(
        f"{LONGMEMEVAL}/longmemeval_oracle.json",
        "MIT",
        "the same questions with only the chats that answer them: an upper bound (15 MB)",
    ),
    "scifact": KnownSet(
        f"{BEIR}/scifact.zip",
        "CC BY 4.0 and ODC-By 1.0",
        "300 scientific claims about 5,183 abstracts",
    ),
    "nfcorpus": KnownSet(
        f"{BEIR}/nfcorpus.zip",
        "CC BY-SA 4.0",
        "323 questions about health with graded judgements of 3,633 abstracts",
    ),
}


def fetch(name: str, folder: Path) -> Path:
    """The path of a known set in a folder; downloaded if it is missing, checked if it is there."""
    known = KNOWN.get(name)
    if known is None:
        raise InvalidInput(f"Unknown public set {name!r}", remedy=f"Choose one of {', '.join(KNOWN)}.")
    target = folder / name
    record = folder / f"{name}.json"
    if target.is_dir() and record.is_file():
        _check(name, target, record)
    else:
        _fetch(name, known, target, record)
    single = target / _file_name(known)
    return single if single.is_file() else target


def _fetch(name: str, known: KnownSet, target: Path, record: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target.parent) as temporary:
        fresh = Path(temporary) / name
        fresh.mkdir()
        _download(name, known, fresh / _file_name(known))
        if known.address.endswith(".zip"):
            _unpack(fresh / _file_name(known), fresh)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    content = {"address": known.address, "licence": known.licence, "sha256": _checksums(target)}
    record.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _download(name: str, known: KnownSet, file: Path) -> None:
    try:
        with urllib.request.urlopen(known.address, timeout=TIMEOUT) as answer, file.open("wb") as copy:  # noqa: S310
            shutil.copyfileobj(answer, copy)
    except (OSError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()  # it holds the connection
        reason = error.reason if type(error) is URLError else error
        raise Error(
            f"The set {name!r} could not be downloaded from {known.address}: {reason}",
            remedy="Check the network and try again, or download it elsewhere and pass the path of the file or folder.",
        ) from None


def _unpack(archive: Path, folder: Path) -> None:
    """Extract the files of BEIR's layout, and no others."""
    try:
        with zipfile.ZipFile(archive) as packed:
            for member in packed.namelist():
                if wanted := WANTED.fullmatch(member):
                    file = folder / wanted[1]
                    file.parent.mkdir(exist_ok=True)
                    with packed.open(member) as source, file.open("wb") as copy:
                        shutil.copyfileobj(source, copy)
    except zipfile.BadZipFile as error:
        raise Error(
            f"The download is not a ZIP archive: {error}", remedy="Try again, or pass the path of a copy."
        ) from None
    archive.unlink()


def _check(name: str, target: Path, record: Path) -> None:
    if _recorded(record) != _checksums(target):
        raise InvalidInput(
            f"The files in {target} have changed since the download: their checksums differ from {record.name}",
            remedy=f"Delete {target} to download {name!r} again, or pass the path of the folder to use it as it is.",
        )


def _recorded(record: Path) -> Mapping[str, str]:
    try:
        return cast("dict[str, str]", json.loads(record.read_text(encoding="utf-8"))["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _checksums(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): _sha256(file) for file in files}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _file_name(known: KnownSet) -> str:
    return known.address.rsplit("/", 1)[-1]
