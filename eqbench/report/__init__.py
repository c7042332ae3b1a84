"""What people look at: a function of what is stored and of games; it runs nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from eqbench.text import printable

if TYPE_CHECKING:
    from jinja2 import Environment

# Colors of pictures. A player's number stands in white on the color, and in ink on the light one.
INK, GRAY, PALE = "#1f2933", "#6b7280", "#9aa1ab"
COLORS = ("#0072b2", "#c04f00", "#007a5a", "#a34d80", "#6b5500", "#4b4b9f")
LIGHT = ("#aad0e5", "#eac4aa", "#aad2c8", "#e0c3d4", "#cdc6aa", "#c3c3df")


@cache
def read_data(name: str) -> dict[str, Any]:
    """Read a file of data that stands next to these modules: columns, figures, sentences."""
    return tomllib.loads((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))


@lru_cache(16)  # to make one takes longer than to fill it
def templates(clean: Callable[[str], str], *, html: bool = True, **filters: Any) -> Environment:
    """Templates that stand next to these modules, into which no text gets but `clean` or as markup.

    Braces mean something else where they are not HTML.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def finalize(value: Any) -> Any:
        return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    marks = ("{%", "%}", "{{", "}}") if html else ("<%", "%>", "<<", ">>")
    environment = Environment(
        *marks,
        loader=PackageLoader(__name__, ""),
        undefined=StrictUndefined,
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    environment.filters |= filters
    return environment


def filled(name: str, facts: Mapping[str, Any], **filters: Any) -> tuple[str, ...]:
    """Lines of a template of plain text, without empty ones."""
    text = templates(printable, html=False, **filters).get_template(f"{name}.txt").render(facts)
    return tuple(line.rstrip() for line in text.splitlines() if line.strip())
