"""Language models over HTTP: the part that all vendors share, and JSON schemas in the forms they accept."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import BoundedSemaphore
from typing import Any, ClassVar, Literal, Unpack, cast

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.models.embedders.remote import too_much
from memorist.models.http import Connection, Endpoint, RequestRefused, Service, member
from memorist.ports import Completion
from memorist.text.patterns import lazy

Messages = Sequence[Mapping[str, str]]
Schema = Mapping[str, Any]

_BOUNDS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum")
_ROLES = ("system", "user", "assistant")
_THOUGHT = lazy(r"\A\s*<think>.*?</think>", re.DOTALL)


def check(messages: Messages, schema: Schema | None) -> None:
    """Refuse what no vendor accepts: an unknown role, no message to answer, a schema that is not an object."""
    if any(message.get("role") not in _ROLES or "content" not in message for message in messages):
        raise InvalidInput(
            "A message to a language model needs a role and content", remedy=f"Use the roles {', '.join(_ROLES)}."
        )
    if all(message["role"] == "system" for message in messages):
        raise InvalidInput("There is no message for the language model to answer", remedy="Add one with the role user.")
    if schema is not None and schema.get("type") != "object":
        raise InvalidInput("A schema must describe an object", remedy='Wrap it: {"type": "object", "properties": …}.')


def is_closed(schema: object) -> bool:
    """Whether every object in it requires all its members and allows no others.

    OpenAI's strict mode refuses other schemas ("Structured model outputs", section "Supported schemas").
    """
    if isinstance(schema, Mapping):
        parts = cast("Mapping[str, object]", schema)
        if parts.get("type") == "object" and not _all_required(parts):
            return False
        return all(is_closed(part) for part in parts.values())
    return not isinstance(schema, list) or all(is_closed(part) for part in cast("list[object]", schema))


def unbounded(schema: Any) -> Any:
    """The schema without lengths, counts and ranges, which the caller checks.

    A server that turns it into a grammar, such as llama.cpp, unrolls `maxLength: 600` and takes minutes per token;
    others refuse such keywords.
    """
    if isinstance(schema, list):
        return [unbounded(part) for part in cast("list[Any]", schema)]
    if not isinstance(schema, Mapping):
        return schema
    parts = cast("Mapping[str, Any]", schema)
    return {name: unbounded(part) for name, part in parts.items() if name not in _BOUNDS or isinstance(part, Mapping)}


def with_schema(messages: Messages, schema: Schema) -> list[Mapping[str, str]]:
    """The messages with the schema as text: at the end of the first system message, or in a new one."""
    words = (
        "Answer with one JSON object and nothing else: no explanation, no code fence. "
        f"It must be valid under this JSON Schema:\n{json.dumps(schema, ensure_ascii=False)}"
    )
    place = next((i for i, message in enumerate(messages) if message["role"] == "system"), None)
    if place is None:
        return [{"role": "system", "content": words}, *messages]
    joined = {"role": "system", "content": f"{messages[place]['content']}\n\n{words}"}
    return [*messages[:place], joined, *messages[place + 1 :]]


def bare_json(text: str) -> str:
    """The text from the first opening brace to the last closing one, after any reasoning; all of it without braces.

    Servers that do not enforce a schema let code fences, reasoning and polite phrases through.
    """
    after = _THOUGHT.sub("", text).strip()
    start, end = after.find("{"), after.rfind("}")
    return after[start : end + 1] if 0 <= start < end else after


def _all_required(schema: Mapping[str, object]) -> bool:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return False
    names = set(cast("Mapping[str, object]", properties))
    return schema.get("additionalProperties") is False and set(cast("list[str]", required)) == names


Form = Literal["schema", "object", "words"]
"""How a schema is requested: as a schema, as any JSON object with the schema as text, or as text alone."""

ANSWER_LIMIT = 4 * 2**20
_NOT_TAKEN = (400, 422)
_FORM = lazy(r"response_format|json[_ ](schema|object)|structured output|tool_choice|grammar", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LlmDialect:
    """The request features that a server seems to support; a refusal of a parameter leads to a simpler dialect."""

    forms: tuple[Form, ...]
    limit: str = "max_tokens"
    temperature: bool = True

    def plainer(self, refused: RequestRefused, *, with_schema: bool) -> LlmDialect | None:
        """The dialect to try next; None if the refusal has another reason."""
        words = refused.detail
        if refused.status not in _NOT_TAKEN or too_much(words):
            return None
        if self.limit == "max_tokens" and "max_completion_tokens" in words:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in words:
            return replace(self, temperature=False)
        if with_schema and len(self.forms) > 1 and _FORM.search(words):
            return replace(self, forms=self.forms[1:])
        return None


@dataclass(frozen=True, slots=True)
class LlmService:
    """A vendor of language models: its server, the name of a model, and the request features to try first."""

    vendor: str
    service: Service
    example: str
    dialect: LlmDialect


class RemoteLLM(ABC):
    """A language model over HTTP; a vendor's adapter builds the request and reads the answer.

    At most `concurrency` requests run at a time, across all users of the object. If a server refuses the schema, the
    temperature or the name of the token limit, the request is sent without it; what worked is remembered.
    """

    path: ClassVar[str]

    def __init__(
        self,
        vendor: LlmService,
        model: str,
        *,
        max_tokens: int = 4096,
        temperature: float = 0.0,
        retries: int = 2,
        concurrency: int = 4,
        **connection: Unpack[Connection],
    ) -> None:
        self.name = f"{vendor.vendor}:{model}"
        if not model.strip():
            raise InvalidInput(
                f"The language model {vendor.vendor} needs a model",
                remedy=f"Name one, as in {vendor.vendor}:{vendor.example}.",
            )
        url = connection.get("url")
        if not (url or vendor.service.url):
            raise InvalidInput(
                f"The language model {vendor.vendor} needs an address",
                remedy="Give the option `url`, such as http://localhost:8080/v1.",
            )
        self._model = model
        self._max_tokens, self._temperature = max_tokens, temperature
        self._dialect = vendor.dialect
        self._slots = BoundedSemaphore(concurrency)
        self._endpoint = Endpoint(vendor.service, model, retries=retries, limit=ANSWER_LIMIT, **connection)

    def complete(self, messages: Messages, *, schema: Schema | None = None) -> Completion:
        """The model's answer; with a schema, its JSON as the model wrote it, not validated."""
        check(messages, schema)
        with self._slots:
            answer = self._ask(messages, None if schema is None else unbounded(schema))
        completion = self._read(answer)
        return completion if schema is None else replace(completion, text=bare_json(completion.text))

    @abstractmethod
    def _body(self, dialect: LlmDialect, messages: Messages, schema: Schema | None) -> dict[str, object]:
        """The request."""

    @abstractmethod
    def _read(self, answer: object) -> Completion:
        """The answer's text and usage; raises if the model did not finish or declined."""

    def _ask(self, messages: Messages, schema: Schema | None) -> object:
        known = dialect = self._dialect
        while True:
            try:
                answer = self._endpoint.post(self.path, self._body(dialect, messages, schema))
            except RequestRefused as refused:
                plainer = dialect.plainer(refused, with_schema=schema is not None)
                if plainer is None:
                    raise self._explained(refused) from None
                dialect = plainer
            else:
                if dialect is not known:
                    self._dialect = dialect
                return answer

    def _explained(self, refused: RequestRefused) -> ModelUnavailable:
        if refused.status in (*_NOT_TAKEN, 413) and too_much(refused.detail):
            return ModelUnavailable(
                f"{self.name} does not accept a request of this length",
                remedy="Send less at a time, lower `max_tokens`, or choose a model with a longer context.",
            )
        return refused

    def _completion(self, text: str, answer: object, read: str, written: str) -> Completion:
        if not text.strip():
            raise ModelUnavailable(f"{self.name} sent an empty answer", remedy="Try again, or choose another model.")
        usage = member(answer, "usage")
        return Completion(text, _count(member(usage, read)), _count(member(usage, written)))

    def _cut_short(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"{self.name} used up its tokens before the answer was complete",
            remedy=f"Raise `max_tokens` above {self._max_tokens}, or send less at a time.",
        )

    def _declined(self) -> ModelUnavailable:
        return ModelUnavailable(f"{self.name} declined to answer", remedy="Choose another model for such texts.")


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
