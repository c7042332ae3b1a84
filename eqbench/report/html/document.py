"""Blocks of a page and how they become one HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from eqbench.model.cache import cache_root
from eqbench.report.charts import VEGA_LITE
from eqbench.report.rows import Column
from eqbench.store.run_folder import write_file
from eqbench.text import printable_lines


def address_of(link: str) -> str:
    """A link with everything quoted that would have a meaning in an address.

    Parameters
    ----------
    link : ``#anchor``, or a path relative to the page as it is on disk, which an anchor may follow
        if it ends in ``.html``

    Raises
    ------
    ValueError
        If it is anything else, such as an address with a scheme.
    """
    page, sign, anchor = link.rpartition("#")
    if not sign or (page and not page.endswith(".html")):
        page, sign, anchor = link, "", ""  # a # in the name of a file
    if page.startswith("/") or ":" in page.partition("/")[0]:
        raise ValueError(
            f"{link!r} is not a link for a page: give #anchor, or a path relative to the page, "
            "which begins with no / and has no : before its first /"
        )
    return quote(page) + sign + quote(anchor)


@dataclass(frozen=True)
class Prose:
    """Paragraphs; `small` ones are notes in small print, as a list if there are several."""

    paragraphs: Sequence[str]
    small: bool = False


@dataclass(frozen=True)
class Facts:
    """Names with values, one pair a line; a value may be several lines. `title` is above them."""

    pairs: Sequence[tuple[str, str | Sequence[str]]]
    title: str = ""


@dataclass(frozen=True)
class Command:
    """A command to copy, with what it is for."""

    label: str
    text: str


@dataclass(frozen=True)
class Chart:
    """A chart of Vega-Lite that readers zoom, switch and save; drawn when it comes into view.

    `name` is its anchor and the file name of downloads, and unique on the page; `spec` is as
    :func:`~eqbench.report.charts.specification` gives it, of datasets of the page.
    """

    name: str
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Picture:
    """An image file within the page, such as a figure of matplotlib as SVG or PNG.

    `name` is its anchor, unique on the page; `alt` is what it shows, for those who do not see it,
    and `caption` how to read it and what it does not say, in one to three sentences.
    """

    name: str
    data: bytes
    media_type: str
    alt: str
    caption: str
    title: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : what it shows; lines may break where it has line breaks
    value : what it is sorted by and what CSV files hold; None stands last, whatever the order.
        The text unless given.
    hint : shown when pointed at
    kind : word that the style sheet knows: ``good``, ``fair``, ``bad`` and ``idle`` are colors,
        which are never the only sign, so the text must say it too; ``faint``
    link : what :func:`~eqbench.report.html.document.address_of` takes, else a `ValueError` is
        raised; empty for none
    anchor : by which it can be linked to; unique on the page, empty for none
    """

    text: str
    value: float | str | None = ""
    hint: str = ""
    kind: str = ""
    link: str = ""
    anchor: str = ""

    def __post_init__(self) -> None:
        address_of(self.link)


@dataclass(frozen=True)
class Table:
    """A table whose columns sort, with a download as CSV and, if it is long, a field to filter it.

    Where the first column is `solver`, rows are linked with charts.

    Attributes
    ----------
    name : anchor, and file name of downloads without suffix; unique on the page
    columns : sorted by number and at the right if they are numeric
    rows : cells, as many as columns
    caption, title : below and above the table; may be empty
    filters : titles of columns for which a list of their values is offered
    plain : without fields and buttons; neither sorts nor downloads
    wrapped : with texts that break into lines, for sentences in cells
    opens : whether its rows are the cells in the data of the page, and open to all these found
    game : it is shown while this game is chosen, by its place in the data; always if empty
    folded : titles of columns that are hidden until a reader asks for them
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    title: str = ""
    filters: Sequence[str] = ()
    plain: bool = False
    wrapped: bool = False
    opens: bool = False
    game: str = ""
    folded: Sequence[str] = ()


@dataclass(frozen=True)
class Beside:
    """Blocks side by side, one below the other on narrow screens."""

    blocks: Sequence[Block]


Block = Prose | Facts | Command | Chart | Picture | Table | Beside


@dataclass(frozen=True)
class Section:
    """A part of the page, which the table of contents names; links lead to its title.

    Blocks of nothing are left out, and so is a part of nothing.
    """

    title: str
    blocks: Sequence[Block]


def document(
    title: str,
    sections: Sequence[Section],
    *,
    lead: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
) -> str:
    """A page as text, to be written as UTF-8.

    Parameters
    ----------
    title : of the page, and its first heading
    sections : from top to bottom; their anchors and the names of blocks must differ
    lead : paragraphs below the first heading
    data : JSON values that programs find in the element with the id ``data``. Of these the page
        itself knows ``datasets`` (rows by name, for charts; written as columns and values, which
        takes half the space) and what `report_page` writes.
        JSON has no NaN and no infinity, so they raise a ValueError.
    """
    parts = {part.title: [block for block in part.blocks if _says(block)] for part in sections}
    blocks = [block for part in parts.values() for block in part]
    blocks += [each for block in blocks if isinstance(block, Beside) for each in block.blocks]
    charts = {block.name: block.spec for block in blocks if isinstance(block, Chart)}
    values = {"datasets": {}, **(data or {}), "charts": charts}
    values["datasets"] = {name: _columns(rows) for name, rows in values["datasets"].items()}
    text = json.dumps(values, allow_nan=False, separators=(",", ":"))
    for char in "<>&":  # so that nothing ends or begins an element
        text = text.replace(char, f"\\u{ord(char):04x}")
    scripts = [*([_vega()] if charts else []), _file("page.js")]
    page = _environment().get_template("page.html")
    return page.render(
        title=title,
        parts={title: blocks for title, blocks in parts.items() if blocks},
        lead=lead,
        style=Markup(_file("page.css")),
        scripts=list(map(Markup, scripts)),
        data=Markup(text),
    )


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return {"columns": columns, "rows": [[row.get(name) for name in columns] for row in rows]}


def _says(block: Block) -> bool:
    """Whether there is anything in a block, of which the first field is the content or its name."""
    return bool(next(iter(vars(block).values())))


def anchor_of(text: str) -> str:
    """Text as the name of an anchor: letters, digits and hyphens."""
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "part"


@cache
def _vega() -> str:
    """The library that draws charts, as the package brings it; its interpreter needs no eval."""
    kept = None
    with suppress(OSError, RuntimeError):  # to bundle it takes seconds
        kept = cache_root() / f"vega-{version('vl-convert-python')}-{VEGA_LITE}.js"
        return kept.read_text(encoding="utf-8")
    import vl_convert

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    bundle = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    with suppress(OSError):
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_file(kept, bundle.encode())
    return bundle


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _shown(value: Any) -> Any:
    """What gets into the page of a value: of texts only what is printable."""
    is_text = isinstance(value, str) and not isinstance(value, Markup)
    return printable_lines(value) if is_text else value


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("eqbench.report.html"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {
        "anchor": anchor_of,
        "address": address_of,
        "base64": _base64,
        "digest": lambda text: _base64(hashlib.sha256(text.encode()).digest()),
    }
    environment.tests["kind"] = lambda block, name: type(block).__name__ == name
    return environment


def _file(name: str) -> str:
    return (files("eqbench.report.html") / "templates" / name).read_text(encoding="utf-8")
