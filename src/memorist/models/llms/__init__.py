"""Language models: never a condition, always behind a port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from memorist.errors import InvalidInput
from memorist.models.llms.anthropic import SERVICE, AnthropicLLM
from memorist.models.llms.openai import SERVICES, OpenAILLM
from memorist.models.llms.remote import RemoteLLM
from memorist.models.settings import Options, checked, split
from memorist.ports import LLM

__all__ = ["VENDORS", "build"]

_OPTIONS = ("url", "key_env", "timeout", "max_tokens", "temperature", "retries", "concurrency")
_BUILDERS: Mapping[str, Callable[..., RemoteLLM]] = {
    **{vendor: partial(OpenAILLM, service) for vendor, service in SERVICES.items()},
    SERVICE.vendor: partial(AnthropicLLM, SERVICE),
}
VENDORS = tuple(_BUILDERS)
"""The names before the colon of a setting."""


def build(setting: str | LLM | None, *, options: Options | None = None) -> LLM | None:
    """The language model that a setting such as `ollama:llama3.2` names; None for `none`.

    An object passes through as it is. `options` are those of the configuration's table `[llm_options]`.
    """
    if setting is None or not isinstance(setting, str):
        return setting
    vendor, model = split(setting)
    if vendor == "none":
        return None
    if vendor not in _BUILDERS:
        choices = ", ".join(f"{name}:MODEL" for name in VENDORS)
        raise InvalidInput(f"There is no language model {setting!r}", remedy=f"Choose none or one of {choices}.")
    given: dict[str, Any] = checked(options, _OPTIONS, f"The language model {vendor}")
    return _BUILDERS[vendor](model, **given)
