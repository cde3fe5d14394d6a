"""HTML and SVG as nested calls; text is escaped unless it is markup already."""

from __future__ import annotations

from html import escape


class Markup(str):
    """Text that is HTML and not to be escaped again."""

    __slots__ = ()


def tag(name: str, *content: str, **attributes: object) -> Markup:
    """An element; `class_` is `class`, `stroke_width` is `stroke-width`, and None leaves an attribute out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_shown(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>{joined(*content)}</{name}>")


def joined(*content: str) -> Markup:
    """Several pieces one after another, plain ones escaped."""
    return Markup("".join(one if isinstance(one, Markup) else escape(one) for one in content))


def _shown(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
