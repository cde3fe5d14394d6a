"""Language models of OpenAI and of services with a compatible API."""

from __future__ import annotations

from memorist.models.http import listed, member
from memorist.models.llms.remote import LlmDialect, Messages, RemoteLLM, Schema, Service, is_closed, with_schema
from memorist.ports import Completion

_PATH = "/chat/completions"
_DIALECT = LlmDialect(forms=("schema", "object", "words"))

SERVICES = {
    service.vendor: service
    for service in (
        Service(
            "openai",
            "https://api.openai.com/v1",
            _PATH,
            "gpt-4o-mini",
            # The reasoning models refuse the older parameter name.
            LlmDialect(forms=_DIALECT.forms, limit="max_completion_tokens"),
            key_env="OPENAI_API_KEY",
        ),
        Service(
            "openrouter",
            "https://openrouter.ai/api/v1",
            _PATH,
            "openai/gpt-4o-mini",
            _DIALECT,
            extra="openrouter",
            key_env="OPENROUTER_API_KEY",
        ),
        Service(
            "ollama",
            "http://localhost:11434/v1",
            _PATH,
            "llama3.2",
            _DIALECT,
            extra="ollama",
            not_found="Fetch it with `ollama pull {model}`.",
            unreachable="Start it with `ollama serve`, or check the address.",
        ),
        Service("vllm", "http://localhost:8000/v1", _PATH, "Qwen/Qwen2.5-7B-Instruct", _DIALECT),
        Service("lmstudio", "http://localhost:1234/v1", _PATH, "qwen2.5-7b-instruct", _DIALECT),
        Service("llamacpp", "http://localhost:8080/v1", _PATH, "qwen2.5-7b-instruct", _DIALECT),
        Service("openai-compatible", None, _PATH, "the-model", _DIALECT),
    )
}


class OpenAILLM(RemoteLLM):
    """`POST /chat/completions`, as documented in OpenAI's API reference under "Create chat completion"."""

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
        choice = next(iter(listed(answer, "choices") or []), None)
        reason, message = member(choice, "finish_reason"), member(choice, "message")
        if message is None:
            raise self._endpoint.invalid("sent no answer of the model")
        if member(message, "refusal") or reason == "content_filter":
            raise self._declined()
        if reason == "length":
            raise self._cut_short()
        content = member(message, "content")
        return self._completion(
            content if isinstance(content, str) else "", answer, "prompt_tokens", "completion_tokens"
        )
