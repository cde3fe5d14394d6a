"""The configured language models, assigned to the steps that use them."""

from __future__ import annotations

from memorist.asking import Askers, Limits, Models
from memorist.config import Config
from memorist.models import llms
from memorist.ports import LLM
from memorist.profiles import Profile

_OF_ONE_VENDOR = ("url", "key_env")


def build_askers(chosen: Config, profile: Profile, llm: LLM | None = None) -> Askers:
    """The askers for the settings; `llm` is a model object that replaces the setting."""
    return Askers(
        Models(
            llm if llm is not None else _built(chosen.llm, chosen),
            {step: _built(setting, chosen) for step, setting in chosen.llm_steps.items()},
        ),
        context=profile.context,
        overlays=profile.overlays,
        recall=Limits(chosen.llm_calls, chosen.llm_tokens),
        extraction=Limits(chosen.extraction_calls, chosen.extraction_tokens),
    )


def _built(setting: str | None, chosen: Config) -> LLM | None:
    """A model with the configured options; the URL and the key apply only to the main model's vendor."""
    same = chosen.llm is None or _vendor(setting) == _vendor(chosen.llm)
    options = {name: value for name, value in chosen.llm_options.items() if same or name not in _OF_ONE_VENDOR}
    return llms.build(setting, options=options)


def _vendor(setting: str | None) -> str:
    return (setting or "").partition(":")[0]
