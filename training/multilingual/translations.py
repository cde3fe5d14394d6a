"""Texts with their translations: messages of programs, what characters of a game say, and names of things."""

from __future__ import annotations

import gettext
import json
import random
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fetch import LANGUAGES

Pair = tuple[str, str]
MOST = {"catalogue": 7000, "story": 9000}
MOST_OF_ONE = 900  # so that no program dominates
LOCALES = {"zh": "zh_CN", "zh-tw": "zh_TW", "pt": "pt_BR"}
CLDR_NAMES = {"zh-tw": "zh-Hant"}
NO_TALK = ("lib", "editor", "help", "manpages", "manual", "units")
KEYWORDS = 6

_MARKUP = re.compile(r"[<>{}=|\\@#$^~`\[\]]|%[a-z(0-9.+-]|--|://|\w/\w|\w_\w|\.\w|^\W")
_MNEMONIC = re.compile(r"\(?[_&][A-Za-z]\)")
_WORD = re.compile(r"[a-z]+")


def translations(fetched: Path) -> dict[str, dict[str, list[Pair]]]:
    """Pairs of an English text and its translation, by language and kind."""
    annotations, names = _annotations(fetched), _names(fetched)
    return {
        language: {
            "catalogue": _catalogues(fetched, LOCALES.get(language, language)),
            "story": _stories(fetched, LOCALES.get(language, language)),
            "names": [*annotations[language], *names[language]],
        }
        for language in LANGUAGES
    }


def _catalogues(fetched: Path, locale: str) -> list[Pair]:
    found: dict[str, str] = {}
    for file in sorted((fetched / "files/usr/share/locale-langpack" / locale / "LC_MESSAGES").glob("*.mo")):
        new = [pair for pair in _messages(file) if pair[0] not in found]
        found |= dict(new[:MOST_OF_ONE])
    pairs = _shuffled(found)
    return sorted(pairs, key=lambda pair: not pair[0].endswith((".", "?", "!")))[: MOST["catalogue"]]


def _stories(fetched: Path, locale: str) -> list[Pair]:
    found: dict[str, str] = {}
    for file in sorted((fetched / "files/usr/share/games/wesnoth").rglob(f"locale/{locale}/LC_MESSAGES/*.mo")):
        if file.stem.removeprefix("wesnoth-") not in NO_TALK:
            found |= dict(_messages(file)) | found
    return _shuffled(found)[: MOST["story"]]


def _shuffled(found: Mapping[str, str]) -> list[Pair]:
    pairs = list(found.items())
    random.Random(5).shuffle(pairs)
    return pairs


def _messages(file: Path) -> Iterator[Pair]:
    """The messages of a catalogue that are text of at least three words without markup."""
    with file.open("rb") as stream:
        read: Any = gettext.GNUTranslations(stream)
    catalogue: Mapping[object, str] = read._catalog  # no other way leads to all messages
    for key, told in catalogue.items():
        message, form = key if isinstance(key, tuple) else (key, 0)
        message = str(message).split("\x04")[-1]  # after the context
        usable = form == 0 and 10 <= len(message) <= 260 and 0 < len(told) <= 400
        if usable and not _MARKUP.search(message) and not _MARKUP.search(told):
            pair = _plain(message), _plain(told)
            if len(_WORD.findall(pair[0].lower())) >= 3 and pair[0] != pair[1]:
                yield pair


def _plain(text: str) -> str:
    return " ".join(_MNEMONIC.sub("", text).replace("_", "").replace("&", "").split())


def _annotations(fetched: Path) -> dict[str, list[Pair]]:
    """Names and keywords of emoji: animals, meals, games, feelings."""
    read = _cldr(
        fetched / "cldr-annotations-full.tgz", "annotations/{}/annotations.json", ("annotations", "annotations")
    )
    return {language: list(_of_emoji(read["en"], read[language])) for language in LANGUAGES}


def _of_emoji(english: Mapping[str, dict[str, Any]], other: Mapping[str, dict[str, Any]]) -> Iterator[Pair]:
    for sign, names in english.items():
        other_names = other.get(sign, {})
        if names.get("tts") and other_names.get("tts"):
            yield names["tts"][0], other_names["tts"][0]
            if min(len(names.get("default", ())), len(other_names.get("default", ()))) > 2:
                yield ", ".join(names["default"][:KEYWORDS]), ", ".join(other_names["default"][:KEYWORDS])


def _names(fetched: Path) -> dict[str, list[Pair]]:
    """Countries and languages."""
    found: dict[str, list[Pair]] = {language: [] for language in LANGUAGES}
    for what in ("territories", "languages"):
        read = _cldr(
            fetched / "cldr-localenames-full.tgz", f"main/{{}}/{what}.json", ("main", "*", "localeDisplayNames", what)
        )
        for language, pairs in found.items():
            other = read[language]
            pairs += [
                (name, other[key]) for key, name in read["en"].items() if "-" not in key and other.get(key, key) != key
            ]
    return found


def _cldr(archive: Path, path: str, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    with tarfile.open(archive) as tar:
        members = {member.name.partition("/")[2]: member for member in tar.getmembers()}
        for language in ("en", *LANGUAGES):
            tag = CLDR_NAMES.get(language, language)
            stream = tar.extractfile(members[path.format(tag)])
            assert stream is not None
            data = json.load(stream)
            for key in keys:
                data = data[tag if key == "*" else key]
            found[language] = data
    return found
