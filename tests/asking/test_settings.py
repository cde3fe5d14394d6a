"""The settings of language models."""

from __future__ import annotations

from pathlib import Path

import pytest

from memorist import config
from memorist.asking.limits import EXTRACTION, RECALL, Limits
from memorist.errors import InvalidInput


def test_the_budgets_default_to_those_of_an_asker() -> None:
    chosen = config.load({})
    assert Limits(chosen.llm_calls, chosen.llm_tokens) == RECALL
    assert Limits(chosen.extraction_calls, chosen.extraction_tokens) == EXTRACTION
    assert chosen == config.Config()


def test_numbers_come_from_a_file_and_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "memorist.toml"
    text = 'llm = "ollama:small"\nllm_calls = 3\nprofile = "coding"\n[llm_steps]\nreason = "ollama:large"\n'
    file.write_text(text + "[profiles.mine]\ncontext = 'Bread.'\n[llm_options]\ntimeout = 5\n", encoding="utf-8")
    monkeypatch.setenv("MEMORIST_LLM_TOKENS", "5000")
    chosen = config.load(file)
    assert (chosen.llm_calls, chosen.llm_tokens, chosen.profile) == (3, 5000, "coding")
    assert chosen.llm_steps == {"reason": "ollama:large"}
    assert chosen.profiles == {"mine": {"context": "Bread."}}
    assert chosen.llm_options == {"timeout": 5}


@pytest.mark.parametrize("value", ["3", -1, True, 1.5, None])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="llm_calls is .* a whole number"):
        config.load({"llm_calls": value})


@pytest.mark.parametrize("text", ["many", "-1", "1.5"])
def test_what_is_no_number_in_the_environment_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORIST_LLM_CALLS", text)
    with pytest.raises(InvalidInput, match="MEMORIST_LLM_CALLS is .* a whole number"):
        config.load({})


@pytest.mark.parametrize(
    "settings", [{"llm_steps": {"mode": 3}}, {"llm_steps": "ollama:x"}, {"profiles": 3}, {"llm": 3}]
)
def test_a_setting_of_the_wrong_kind_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(settings))):
        config.load(settings)
