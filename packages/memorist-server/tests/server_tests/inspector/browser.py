"""A browser without scripts: keeps cookies, reads pages, and sends their forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import httpx

FORM = "application/x-www-form-urlencoded"


@dataclass
class Form:
    """A form of a page: where it leads, and the values of its fields."""

    method: str
    action: str
    fields: list[tuple[str, str]] = field(default_factory=list)

    def filled(self, **given: str | list[str]) -> list[tuple[str, str]]:
        """Its fields with other values."""
        kept = [(name, value) for name, value in self.fields if name not in given]
        return [
            *kept,
            *(
                (name, given_value)
                for name, value in given.items()
                for given_value in ([value] if isinstance(value, str) else value)
            ),
        ]


class Page(HTMLParser):
    """What a page says, its links and its forms."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__()
        self.response = response
        self.status = response.status_code
        self.path = response.url.raw_path.decode()
        self.source = response.text
        self.said: list[str] = []
        self.links: list[str] = []
        self.forms: list[Form] = []
        self.tags: set[str] = set()
        self._textarea: str | None = None
        self._select: str | None = None
        self._hushed = False
        self.feed(self.source)

    @property
    def text(self) -> str:
        """All that it says, with single spaces."""
        return " ".join(" ".join(self.said).split())

    def form(self, action: str) -> Form:
        """The first form that leads to a place."""
        return next(found for found in self.forms if found.action.partition("?")[0].endswith(action))

    def has_form(self, action: str) -> bool:
        """Whether a form leads to a place."""
        return any(form.action.partition("?")[0].endswith(action) for form in self.forms)

    def rows(self) -> list[str]:
        """The addresses of the memories it lists."""
        return [link for link in self.links if "/memories/" in link and not link.endswith("/edit")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self._hushed = tag in ("script", "style", "title")
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "form" and given.get("method") != "dialog":
            self.forms.append(Form(given.get("method", "get"), given.get("action", "")))
        elif self.forms and tag == "input" and given.get("type") not in ("checkbox", "radio"):
            self.forms[-1].fields.append((given.get("name", ""), given.get("value", "")))
        elif tag == "textarea":
            self._textarea = given["name"]
            self.forms[-1].fields.append((self._textarea, ""))
        elif tag == "select":
            self._select = given["name"]

    def handle_endtag(self, tag: str) -> None:
        self._hushed = False
        if tag in ("textarea", "select"):
            self._textarea = self._select = None

    def handle_data(self, data: str) -> None:
        if self._textarea is not None:
            self.forms[-1].fields[-1] = (self._textarea, data.removeprefix("\n"))
        elif not self._hushed:
            self.said.append(data)


class Browser:
    """Follows links and sends forms, as one person."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, follow_redirects=True, timeout=30, verify=False)

    def get(self, path: str, **headers: str) -> Page:
        """The page at a path."""
        return Page(self.http.get(path, headers=headers))

    def send(self, form: Form, headers: dict[str, str] | None = None, **given: Any) -> Page:
        """Send a form and follow where it leads."""
        body = httpx.QueryParams(form.filled(**given))  # pyright: ignore[reportArgumentType]
        if form.method == "get":
            return self.get(f"{form.action}?{body}")
        return Page(self.http.post(form.action, content=str(body), headers={"content-type": FORM, **(headers or {})}))

    def log_in(self, key: str) -> Page:
        """Log in with a key."""
        return self.send(self.get("/login").form("/login"), key=key)

    def close(self) -> None:
        self.http.close()
