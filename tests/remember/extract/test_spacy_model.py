"""The spaCy extra: what it adds, and the error if it is missing."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

from memorist.errors import MissingExtra, ModelUnavailable
from memorist.remember.extract.spacy_model import MODEL, SpacyModel


def test_without_spacy_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"memorist\[spacy\]"):
        SpacyModel()


@pytest.mark.skipif(find_spec("spacy") is None, reason="the extra is not installed")
def test_the_error_names_the_missing_model() -> None:
    with pytest.raises(ModelUnavailable, match="no_such_model"):
        SpacyModel("no_such_model")


@pytest.mark.skipif(find_spec("spacy") is None or find_spec(MODEL) is None, reason="the model is not installed")
def test_the_model_adds_kinds_to_what_the_rules_find() -> None:
    found = SpacyModel().entities("I met Frodo Baggins in Hobbiton, see ABC-123.")
    assert {span.text: span.kind for span in found} == {
        "Frodo Baggins": "person",
        "Hobbiton": "place",
        "ABC-123": "ticket",
    }
