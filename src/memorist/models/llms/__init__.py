"""Language models: always optional, always behind a port."""

from __future__ import annotations

from typing import Any

from memorist.errors import InvalidInput
from memorist.models.settings import Options, check_options, split
from memorist.ports import LLM

__all__ = ["VENDORS", "build"]

VENDORS = ("openai", "openrouter", "ollama", "vllm", "lmstudio", "llamacpp", "openai-compatible", "anthropic")
"""The names before the colon of a setting."""
_OPTIONS = ("url", "key_env", "timeout", "max_tokens", "temperature", "retries", "concurrency")


def build(setting: str | LLM | None, *, options: Options | None = None) -> LLM | None:
    """The language model that a setting such as `ollama:llama3.2` names; None for `none`.

    An object is returned unchanged. `options` are those of the table `[llm_options]`.
    """
    if setting is None or not isinstance(setting, str):
        return setting
    vendor, model = split(setting)
    if vendor == "none":
        return None
    if vendor not in VENDORS:
        from memorist.text.secrets import mask_secrets

        choices = ", ".join(f"{name}:MODEL" for name in VENDORS)
        raise InvalidInput(
            f"There is no language model {mask_secrets(setting)!r}", remedy=f"Choose none or one of {choices}."
        )
    given: dict[str, Any] = check_options(options, _OPTIONS, f"The language model {vendor}")
    if vendor == "anthropic":
        from memorist.models.llms.anthropic import SERVICE, AnthropicLLM

        return AnthropicLLM(SERVICE, model, **given)
    from memorist.models.llms.openai import SERVICES, OpenAILLM

    return OpenAILLM(SERVICES[vendor], model, **given)
