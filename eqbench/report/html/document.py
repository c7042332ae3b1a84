"""Blocks of a page and how they become one HTML file."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from eqbench.errors import MissingPackageError
from eqbench.extras import needed_for
from eqbench.model.cache import cache_root
from eqbench.report import templates
from eqbench.report.charts import VEGA_LITE
from eqbench.report.rows import SOLVER, Cell, Column, address_of
from eqbench.report.rows import Table as ReportTable
from eqbench.store.run_folder import write_file
from eqbench.text import printable_lines


@dataclass(frozen=True)
class Prose:
    """Paragraphs; `small` ones are notes in small print, as a list if there are several."""

    paragraphs: Sequence[str]
    small: bool = False


@dataclass(frozen=True)
class FactList:
    """Names with values, one pair a line; a value may be several lines. `title` is above them."""

    pairs: Sequence[tuple[str, str | Sequence[str]]]
    title: str = ""
    folded: bool = False  # shown when a reader opens its title


@dataclass(frozen=True)
class Command:
    """A command to copy, with what it is for."""

    label: str
    text: str


@dataclass(frozen=True)
class ChartBlock:
    """A chart of Vega-Lite that readers zoom, switch and save; drawn when it comes into view."""

    name: str  # anchor, and file name of downloads without suffix; unique on the page
    spec: Mapping[str, Any]  # of :func:`~eqbench.report.charts.specification`


@dataclass(frozen=True)
class Picture:
    """An image file within the page, such as a figure of matplotlib as SVG or PNG."""

    name: str  # anchor
    data: bytes
    media_type: str
    alt: str  # what it shows, for those who do not see it
    caption: str  # how to read it and what it does not say, in one to three sentences
    title: str = ""


@dataclass(frozen=True)
class Table:
    """A table whose columns sort, with a download as CSV and, if it is long, a field to filter it.

    Rows hold cells, or values that become cells of their columns. Where the first column is
    `solver`, they are linked with charts.
    """

    name: str  # as of a chart
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    caption: str = ""  # below the table
    title: str = ""  # above it
    filters: Sequence[str] = ()  # titles of columns for which a list of their values is offered
    plain: bool = False  # without fields and buttons; neither sorts nor downloads
    wrapped: bool = False  # with texts that break into lines, for sentences in cells
    reading: str = ""  # what of the caption stands behind "how to read"
    cells_of: Sequence[Sequence[int]] = ()  # cells in the data to which each row opens
    game: str = ""  # while which it is shown, by its place in the data; always if empty
    folded: Sequence[str] = ()  # titles of columns that are hidden until a reader asks for them

    @property
    def cells(self) -> list[list[Cell]]:
        """Cells of each row."""
        pairs = (zip(self.columns, row, strict=True) for row in self.rows)
        return [[column.cell(value, with_unit=True) for column, value in row] for row in pairs]


@dataclass(frozen=True)
class Played:
    """What is played in equilibria of a game, which readers choose, next to each other."""

    name: str  # anchor
    title: str  # of the game
    game: str  # while which it is shown, by its place in the data; always if empty
    data: Mapping[str, Any]  # of :mod:`eqbench.report.html.equilibria`


@dataclass(frozen=True)
class ClickedTree(Played):
    """A game tree that readers open node by node; data are of :mod:`eqbench.report.html.tree`."""

    reading: str  # how to read it


def page_table(table: ReportTable, name: str, **look: Any) -> Table:
    """A table of a report for a page, with the solver first, where it stays when it is scrolled."""
    split = table.with_payoff_columns("P")
    columns = sorted(split.columns, key=lambda column: column.title != SOLVER.title)
    rows = [[row.values.get(column.title) for column in columns] for row in split.rows]
    texts = {"title": table.heading, "caption": "\n".join((*table.lines, *table.remarks))}
    return Table(name, columns, rows, **texts | look)


@dataclass(frozen=True)
class Tabs:
    """Cards of which one is shown at a time, the first until a reader chooses."""

    cards: Sequence[Block]


# Blocks in a list stand side by side, one below the other on narrow screens.
Block = (
    Prose | FactList | Command | ChartBlock | Picture | Played | Table | Tabs | Sequence["Block"]
)


def document(
    title: str,
    parts: Mapping[str, Sequence[Block]],
    *,
    lead: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
) -> str:
    """A page as text, written as UTF-8: its title, `lead`, and its parts by their titles.

    Anchors of titles and names of blocks must differ; blocks and parts of nothing are left out.
    Programs find `data` in the element with the id ``data``, without NaN or infinity, which JSON
    does not have. Its ``datasets``, rows by name for charts, are written as columns and values,
    which takes half the space.
    """
    parts = {title: _kept(part) for title, part in parts.items()}
    leaves = [leaf for part in parts.values() for leaf in _leaves(part)]
    charts = {leaf.name: leaf.spec for leaf in leaves if isinstance(leaf, ChartBlock)}
    if charts and (lack := what_charts_lack()):
        parts = {title: _kept(part, ChartBlock) for title, part in parts.items()}
        lead, charts = [*lead, lack], {}
    values: dict[str, Any] = {"datasets": {}, **(data or {}), "charts": charts}
    played, trees = (
        {block.name: block.data for block in leaves if type(block) is kind}
        for kind in (Played, ClickedTree)
    )
    values |= {"played": played} if played else {}
    values |= {"trees": trees} if trees else {}
    styles = ["equilibria.css"] * bool(played or trees) + ["tree.css"] * bool(trees)
    values["datasets"] = dict(values["datasets"])
    for name, rows in values["datasets"].items():
        columns = list(dict.fromkeys(column for row in rows for column in row))
        cells = [[row.get(column) for column in columns] for row in rows]
        values["datasets"][name] = {"columns": columns, "rows": cells}
    filters: dict[str, Any] = {
        "anchor": anchor_of,
        "address": address_of,
        "base64": lambda data: b64encode(data).decode(),
        "digest": lambda text: hashlib.sha256(text.encode()).digest(),
        "kind": lambda block: type(block).__name__,
    }
    template = templates(printable_lines, **filters).get_template("html/templates/page.html")
    return template.render(
        title=title,
        parts={title: blocks for title, blocks in parts.items() if blocks},
        lead=lead,
        style=Markup().join(map(_file, ["page.css", *styles])),
        scripts=[
            *([Markup(_vega())] if charts else []),
            _file("page.js"),
            *([_file("equilibria.js")] if played else []),
            *([_file("tree.js")] if trees else []),
        ],
        data=htmlsafe_json_dumps(values, allow_nan=False, separators=(",", ":")),
    )


def what_charts_lack() -> str:
    """Why pages are written without their charts; empty if they have them."""
    try:
        with needed_for("a chart"):
            import vl_convert  # noqa: F401
    except MissingPackageError as error:
        return f"Charts are left out: {error}"
    return ""


def _kept(part: Sequence[Block], *dropped: type) -> list[Block]:
    """Blocks, also in lists and tabs, whose first field, content or name, is not empty."""
    kept: list[Block] = []
    for each in part:
        own = Tabs(_kept(each.cards, *dropped)) if isinstance(each, Tabs) else each
        own = _kept(own, *dropped) if isinstance(own, Sequence) else own
        content = own if isinstance(own, Sequence) else next(iter(vars(own).values()))
        kept += [own] * (bool(content) and not isinstance(own, dropped))
    return kept


def _leaves(part: Sequence[Block]) -> Iterator[Block]:
    for block in part:
        if isinstance(block, Sequence | Tabs):
            yield from _leaves(block.cards if isinstance(block, Tabs) else block)
        else:
            yield block


def anchor_of(text: str) -> str:
    """Text as the name of an anchor: letters, digits and hyphens."""
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "part"


@cache
def _vega() -> str:
    """The library that draws charts, as the package brings it; its interpreter needs no eval."""
    name = f"vega-{version('vl-convert-python')}-{VEGA_LITE}.js"
    with suppress(OSError, RuntimeError):  # to bundle it takes seconds
        return (cache_root() / name).read_text(encoding="utf-8")
    import vl_convert

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    bundle = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    with suppress(OSError, RuntimeError):
        cache_root().mkdir(parents=True, exist_ok=True)
        write_file(cache_root() / name, bundle.encode())
    return bundle


def _file(name: str) -> Markup:
    return Markup((files("eqbench.report.html") / "templates" / name).read_text(encoding="utf-8"))
