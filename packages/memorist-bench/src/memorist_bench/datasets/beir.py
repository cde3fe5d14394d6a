"""BEIR's layout: `corpus.jsonl`, `queries.jsonl`, and judgements in `qrels.tsv` or `qrels/*.tsv` (Thakur et al. 2021).

`metadata.group` separates spaces. The optional metadata `at`, `speaker` and `session` of a document, and `at`, `type`
and `answerable` of a query, are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path

from memorist.errors import InvalidInput
from memorist.model import instant
from memorist_bench.datasets.conversations import UNANSWERABLE
from memorist_bench.datasets.reading import checksum, dataset, json_lines, numbered_lines, read_bytes
from memorist_bench.model import Dataset, Document, Group, Question
from memorist_import.rows import RowFields, invalid_data

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels.tsv"
ONE_GROUP = "all"

Documents = Mapping[str, tuple[str, Document]]  # by id, each with its group
Questions = Mapping[str, tuple[str, Question]]
Gold = Mapping[str, Mapping[str, float]]


def load_beir(folder: Path, *, qrels: str | None = None) -> Dataset:
    """Load a folder in BEIR's layout; `qrels` selects the file of judgements if there are several."""
    files = (folder / CORPUS, folder / QUERIES, _qrels_file(folder, qrels))
    contents = [read_bytes(file) for file in files]
    documents = _documents(files[0], contents[0])
    questions = _questions(files[1], contents[1])
    gold = _gold(files[2], contents[2], documents, questions)
    return dataset(folder.resolve().name, _groups(documents, questions, gold), checksum(contents), folder)


def _qrels_file(folder: Path, name: str | None) -> Path:
    if name is not None:
        return folder / name
    if (folder / QRELS).is_file():
        return folder / QRELS
    splits = sorted((folder / "qrels").glob("*.tsv"))
    if not splits:
        raise invalid_data(folder, f"there is neither {QRELS} nor qrels/*.tsv")
    if len(splits) == 1:
        return splits[0]
    if (test := folder / "qrels" / "test.tsv") in splits:
        return test
    raise InvalidInput(
        f"{folder / 'qrels'} holds several files and none is test.tsv",
        remedy=f"Choose one: {', '.join(split.name for split in splits)}.",
    )


def _documents(file: Path, data: bytes) -> Documents:
    documents: dict[str, tuple[str, Document]] = {}
    for row in json_lines(file, data):
        metadata = row.object("metadata")
        document = Document(
            id=_new_id(row, documents),
            text=_titled_text(row),
            at=metadata.moment("at", instant),
            speaker=metadata.optional_text("speaker"),
            session=metadata.optional_text("session"),
        )
        documents[document.id] = (metadata.optional_text("group") or ONE_GROUP, document)
    if not documents:
        raise invalid_data(file, "there are no documents")
    return documents


def _titled_text(row: RowFields) -> str:
    title = row.optional_text("title")
    if title is None:
        return row.text("text")
    if "text" not in row.values:
        raise invalid_data(row.place, "'text' is missing or is not a text")
    return f"{title} {row.optional_text('text') or ''}".strip()


def _questions(file: Path, data: bytes) -> Questions:
    questions: dict[str, tuple[str, Question]] = {}
    for row in json_lines(file, data):
        metadata = row.object("metadata")
        kind = metadata.optional_text("type")
        question = Question(
            id=_new_id(row, questions),
            text=row.text("text"),
            gold={},
            at=metadata.moment("at", instant),
            type=kind,
            answerable=bool(metadata.values.get("answerable", kind != UNANSWERABLE)),
        )
        questions[question.id] = (metadata.optional_text("group") or ONE_GROUP, question)
    if not questions:
        raise invalid_data(file, "there are no queries")
    return questions


def _new_id(row: RowFields, known: Mapping[str, object]) -> str:
    id = row.text("_id")
    if id in known:
        raise invalid_data(row.place, f"duplicate _id {id!r}")
    return id


def _gold(file: Path, data: bytes, documents: Documents, questions: Questions) -> Gold:
    gold: dict[str, dict[str, float]] = {}
    for place, query, document, score in _judgements(file, data):
        if query not in questions:
            raise invalid_data(place, f"{QUERIES} has no query {query!r}")
        if document not in documents:
            raise invalid_data(place, f"{CORPUS} has no document {document!r}")
        groups = questions[query][0], documents[document][0]
        if groups[0] != groups[1]:
            raise invalid_data(
                place, f"query {query!r} is in group {groups[0]!r}, document {document!r} in {groups[1]!r}"
            )
        if gold.setdefault(query, {}).setdefault(document, score) != score:
            raise invalid_data(place, f"conflicting judgements of query {query!r} and document {document!r}")
    return gold


def _judgements(file: Path, data: bytes) -> Iterator[tuple[str, str, str, float]]:
    for number, (place, line) in enumerate(numbered_lines(file, data)):
        cells = line.split("\t")
        if len(cells) != 3:
            raise invalid_data(place, f"a judgement has three cells separated by tabs, this line has {len(cells)}")
        query, document, score = (cell.strip() for cell in cells)
        if number == 0 and score.lower() == "score":
            continue
        yield place, query, document, _score(score, place)


def _score(written: str, place: str) -> float:
    try:
        score = float(written)
    except ValueError:
        score = float("nan")
    if not isfinite(score):
        raise invalid_data(place, f"the score {written!r} is not a number")
    return score


def _groups(documents: Documents, questions: Questions, gold: Gold) -> Iterator[Group]:
    """Groups in the order of the corpus; queries without a relevant document are left out."""
    kept: dict[str, tuple[list[Document], list[Question]]] = {}
    for group, document in documents.values():
        kept.setdefault(group, ([], []))[0].append(document)
    for id, (group, question) in questions.items():
        relevant = {document: score for document, score in gold.get(id, {}).items() if score > 0}
        if relevant:
            kept[group][1].append(replace(question, gold=relevant))
    return (Group(name, tuple(texts), tuple(asked)) for name, (texts, asked) in kept.items())
