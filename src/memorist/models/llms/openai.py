"""Language models of OpenAI and of services with a compatible API."""

from __future__ import annotations

from dataclasses import replace

from memorist.models.http import LLAMACPP, LMSTUDIO, OLLAMA, OPENAI, VLLM, Service, list_member, member
from memorist.models.llms.remote import LlmDialect, LlmService, Messages, RemoteLLM, Schema, is_closed, with_schema
from memorist.ports import Completion

_DIALECT = LlmDialect(forms=("schema", "object", "words"))
# The reasoning models refuse the older parameter name.
_OPENAI_DIALECT = replace(_DIALECT, limit="max_completion_tokens")
_OPENROUTER = Service("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY")

SERVICES = {
    row.vendor: row
    for row in (
        LlmService("openai", OPENAI, "gpt-4o-mini", _OPENAI_DIALECT),
        LlmService("openrouter", _OPENROUTER, "openai/gpt-4o-mini", _DIALECT),
        LlmService("ollama", replace(OLLAMA, url=f"{OLLAMA.url}/v1"), "llama3.2", _DIALECT),
        LlmService("vllm", VLLM, "Qwen/Qwen2.5-7B-Instruct", _DIALECT),
        LlmService("lmstudio", LMSTUDIO, "qwen2.5-7b-instruct", _DIALECT),
        LlmService("llamacpp", LLAMACPP, "qwen2.5-7b-instruct", _DIALECT),
        LlmService("openai-compatible", Service(""), "the-model", _DIALECT),
    )
}


class OpenAILLM(RemoteLLM):
    """`POST /chat/completions`, as documented in OpenAI's API reference under "Create chat completion"."""

    path = "/chat/completions"

    def _body(self, dialect: LlmDialect, messages: Messages, schema: Schema | None) -> dict[str, object]:
        form = dialect.forms[0]
        spoken = messages if schema is None or form == "schema" else with_schema(messages, schema)
        body: dict[str, object] = {
            "model": self._model,
            "messages": [{"role": message["role"], "content": message["content"]} for message in spoken],
            dialect.limit: self._max_tokens,
        }
        if dialect.temperature:
            body["temperature"] = self._temperature
        if schema is not None and form == "schema":
            named = {"name": "answer", "schema": schema, "strict": is_closed(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif schema is not None and form == "object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _read(self, answer: object) -> Completion:
        choice = next(iter(list_member(answer, "choices") or []), None)
        reason, message = member(choice, "finish_reason"), member(choice, "message")
        if message is None:
            raise self._endpoint.unusable("sent no answer of the model")
        if member(message, "refusal") or reason == "content_filter":
            raise self._declined()
        if reason == "length":
            raise self._cut_short()
        content = member(message, "content")
        return self._completion(
            content if isinstance(content, str) else "", answer, "prompt_tokens", "completion_tokens"
        )
