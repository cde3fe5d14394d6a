"""The description of the API: OpenAPI for machines, and a page for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import FastAPI

from memorist_server.rest.problems import Problem

Document = Mapping[str, Any]
STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
summary{cursor:pointer;padding:.3rem 0}code,pre{font:14px/1.4 ui-monospace,monospace}
pre{overflow:auto;padding:.6rem;border:1px solid #8886;border-radius:.3rem}b{display:inline-block;min-width:4.5rem}
table{border-collapse:collapse}td{padding:.1rem 1rem .1rem 0;vertical-align:top}"""


def page(document: Document) -> str:
    """Every operation with its parameters, an example body, and its responses."""
    info = document["info"]
    operations = "\n".join(
        _operation(method, path, operation, document)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(info["title"])}</title>
<meta name="viewport" content="width=device-width"><style>{STYLE}</style>
<h1>{escape(info["title"])} {escape(info["version"])}</h1><p>{escape(info.get("description", ""))}</p>
<p>For machines: <a href="/openapi.json">/openapi.json</a>.</p>
{operations}</html>"""


def _operation(method: str, path: str, operation: Document, document: Document) -> str:
    head = f"<b>{method.upper()}</b> <code>{escape(path)}</code> {escape(operation.get('summary', ''))}"
    parts = [f"<p>{escape(operation.get('description', ''))}</p>", *_parameters(operation), *_body(operation, document)]
    return f"<details><summary>{head}</summary>{''.join(parts)}{_answers(operation)}</details>"


def _parameters(operation: Document) -> Iterator[str]:
    rows = [
        f"<tr><td><code>{escape(parameter['name'])}</code><td>{parameter['in']}"
        f"<td>{escape(parameter.get('description', ''))}"
        for parameter in operation.get("parameters", ())
    ]
    if rows:
        yield f"<table>{''.join(rows)}</table>"


def _body(operation: Document, document: Document) -> Iterator[str]:
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = _resolved(content.get("schema", {}), document)
        fields = ", ".join(f"<code>{escape(name)}</code>" for name in schema.get("properties", ()))
        yield f"<p>Body, {escape(kind)}{f': {fields}' if fields else ''}</p>"
        for example in schema.get("examples", ())[:1]:
            yield f"<pre>{escape(json.dumps(example, indent=2, ensure_ascii=False))}</pre>"


def _answers(operation: Document) -> str:
    rows = [
        f"<tr><td>{escape(status)}<td>{escape(answer.get('description', ''))}"
        for status, answer in operation.get("responses", {}).items()
    ]
    return f"<table>{''.join(rows)}</table>"


def _resolved(schema: Document, document: Document) -> Document:
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name else schema


def describe(app: FastAPI) -> None:
    """Add keys, problems and the common headers to the OpenAPI document."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = plain()
            parts = schema.setdefault("components", {})
            parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
            parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "rk_…"}}
            schema["security"] = [{"key": []}]
            for path, operations in schema["paths"].items():
                for method, operation in operations.items():
                    _describe_operation(path, method, operation)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = described


def _describe_operation(path: str, method: str, operation: dict[str, Any]) -> None:
    if path in ("/healthz", "/readyz"):
        operation["security"] = []
    headers = [_header("X-Request-Id", "The caller's own id for this request; it appears in the log.", 64)]
    if method in ("post", "patch", "delete"):
        headers.append(
            _header("Idempotency-Key", "A key that the caller chooses; a repeated request gets the same answer.", 255)
        )
    operation.setdefault("parameters", []).extend(headers)


def _header(name: str, description: str, longest: int) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": longest, "pattern": r"^[!-~]+$"}
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}
