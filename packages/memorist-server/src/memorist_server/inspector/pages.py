"""Pages: templates, and what every page shows around its content.

Memory text is data: Jinja escapes it, `visible` makes control characters seen, and templates isolate its direction.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from functools import cache, partial
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from memorist.errors import Error
from memorist.model import Times
from memorist.surfaces.remedies import Given
from memorist.text.labels import UNSEEN
from memorist.text.patterns import lazy
from memorist_server.access.keys import RIGHTS
from memorist_server.inspector import wording
from memorist_server.rest.auth import Caller
from memorist_server.rest.logs import log_private
from memorist_server.rest.problems import Sort, public_wording, status_of, title_of
from memorist_server.rest.server import Server

HERE = Path(__file__).parent
STATIC = HERE / "static"
SHOWN = 600
"""Characters of a text in a list."""
_UNSEEN = lazy(f"[{UNSEEN}\v\f\x1c-\x1e]")
_QUOTED = lazy(r"`([^`]+)`|\b([0-9a-f]{8})[0-9a-f]{24}\b")


def visible(text: object) -> str:
    """A text whose characters that do not show, such as those that turn the direction, are written as ⟨U+202E⟩."""
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(text))


def cut(text: str, most: int = SHOWN) -> str:
    """The beginning of a text, on one line."""
    head = " ".join(text[: most + 1].split())
    return visible(head if len(text) <= most else f"{head[:most].rstrip()}…")


def prose(text: str, most: int = SHOWN) -> Markup:
    """A sentence of ours: what stands in backticks is code, and an id is cut, with all of it as its title."""

    def code(found: re.Match[str]) -> str:
        return f"<code>{found[1]}</code>" if found[1] else f'<code title="{found[0]}">{found[2]}</code>'

    return Markup(_QUOTED.sub(code, str(escape(cut(text, most)))))  # noqa: S704  # escaped before any code is marked


def number(value: float) -> str:
    """A number as people write it: four digits that count, and no zeros after them."""
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}"


def moment(at: datetime | date | str | None, *, seconds: bool = False) -> str:
    """A moment in UTC, as people read it; midnight is the day alone."""
    if at is None:
        return "–"
    if isinstance(at, str):
        return at
    if not isinstance(at, datetime):
        return at.isoformat()
    at = at.astimezone(UTC)
    shown = "%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M" if at.time() != time.min else "%Y-%m-%d"
    return at.strftime(shown)


def ago(at: datetime | None) -> str:
    """How long ago a moment was."""
    if at is None:
        return "never"
    passed = (datetime.now(UTC) - at.astimezone(UTC)).total_seconds()
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if abs(passed) >= size:
            number = int(abs(passed) // size)
            words = f"{number:,} {name}{'' if number == 1 else 's'}"
            return f"in {words}" if passed < 0 else f"{words} ago"
    return "just now"


def planned(times: Times) -> str:
    """`planned for 2024-09-12` if it is still to happen, else empty."""
    return times.planned(datetime.now(UTC))


def size(number: int) -> str:
    """A number of bytes, as people read it."""
    value = float(number)
    for unit in ("B", "KB", "MB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GB"


@cache
def version_of(name: str) -> str:
    """A mark of the content of a static file, so that browsers may keep it for good."""
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]


def static_url(name: str) -> str:
    """The address of a static file."""
    return f"/static/{name}?v={version_of(name)}"


@cache
def environment() -> Environment:
    """The templates, which escape everything."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    for function in (visible, cut, prose, number, moment, ago, planned, size, wording.ordinal):
        made.filters[function.__name__] = function
    made.filters |= {"part": _part, "json": _json}
    cast("dict[str, Any]", made.globals).update(static=static_url, wording=wording)
    return made


def _part(text: str) -> str:
    """A name as one part of a path."""
    return quote(text, safe="")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def show(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page: a template with its values, and what all pages need."""
    caller: Caller | None = request.state.caller
    server: Server = request.app.state.server
    space = request.path_params.get("space")
    may = {right: caller is not None and space is not None and caller.allows(space, right) for right in RIGHTS}
    usual: dict[str, Any] = {
        "space": space,
        "view": None,
        "views": request.app.state.views,
        "caller": caller,
        "token": request.state.token,
        "can_change": may["write"] and not server.settings.read_only,
        "can_undo": may["admin"] and not server.settings.read_only,
        "read_only": server.settings.read_only,
        "path": request.url.path,
        "address": partial(address, request),
    }
    return HTMLResponse(environment().get_template(template).render(usual | values), status)


def address(request: Request, **changed: object) -> str:
    """The address of this page with other values in its query; None takes one out."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in changed]
    added = [(name, str(value)) for name, value in changed.items() if value is not None]
    query = urlencode([*kept, *added])
    return f"{request.url.path}?{query}" if query else request.url.path


def error_page(
    request: Request, sort: Sort, detail: str | None = None, headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    """What went wrong, and what to do about it."""
    detail = detail or sort.detail or sort.title
    shown = detail[:1].upper() + detail[1:]
    nowhere = {"space": None} if sort.name == "no-space" else {}
    page = show(request, "error.html", sort.status, title=shown, sort=sort, **nowhere)
    page.headers.update(headers or {})
    return page


def page_of(request: Request, error: Error) -> HTMLResponse:
    """One of our errors, as others may read it."""
    log_private(error, request.state.request_id)
    detail, remedy = public_wording(error, as_page)
    return error_page(request, Sort("", status_of(type(error)), title_of(error), detail, remedy))


def as_page(verb: str, given: Given) -> str:
    """A call of a verb in the words of the inspector; what it cannot do itself is a command."""
    from memorist.surfaces.remedies import as_command

    return _PLACES.get(verb) or as_command(verb, given)


_PLACES = {"list": "Memories", "journal": "the journal", "recall": "the recall lab"}
