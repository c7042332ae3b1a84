"""Reports and charts that notebooks show as they are meant, and that can be saved."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from markupsafe import escape

from eqbench.documents import checked
from eqbench.errors import MissingPackageError, UsageError, check_keywords, nearest
from eqbench.extras import needed_for
from eqbench.report.charts import VEGA_LITE
from eqbench.report.profile_picture import rendered
from eqbench.store.run_folder import PDF_END

_MIME = f"application/vnd.vegalite.v{VEGA_LITE.partition('.')[0]}+json"
_LESS = "\ue03c"  # stands for < where what writes the page would not escape it
# who shows a picture may have wider letters than who measured its legend
_PADDING = {"left": 5, "top": 5, "right": 30, "bottom": 5}
WIDTHS_CM = (4, 100)
# of a chart that is as wide as a column of a paper: its letters and legend, heights for its width
_PRINT = {
    "axis": {"titleFontSize": 8, "labelFontSize": 7, "titlePadding": 4, "tickCount": 5},
    "legend": {"orient": "bottom", "titleFontSize": 7, "labelFontSize": 7, "symbolSize": 40},
    "title": {"fontSize": 9},
}
_PRINT_HEIGHT, _LEGEND_POINTS, _POINTS_PER_CM = 0.6, 95, 72 / 2.54


class ReportText(str):
    """The text of a report; a notebook shows it unquoted, and a page as a page.

    Attributes
    ----------
    form : `terminal`, `md`, `csv`, `tex` or `html`
    """

    form: str

    def __new__(cls, text: str, form: str = "terminal") -> ReportText:
        made = super().__new__(cls, text)
        made.form = form
        return made

    def _repr_html_(self) -> str:
        if self.form == "html":
            return f'<iframe srcdoc="{escape(self)}" width="100%" height="800"></iframe>'
        return f"<pre>{escape(self)}</pre>"


def switched(spec: dict[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """A chart with what a reader of the page may switch: parameters, and titles that name them.

    Raises
    ------
    UsageError
        If there is no such switch, or it has no such value.
    """
    spec = copy.deepcopy(spec)
    parameters = {p["name"]: p for p in spec["params"] if not isinstance(p.get("value", {}), dict)}
    check_keywords("figure", chosen, parameters)
    switches = spec["usermeta"].get("switches", {})
    for name, value in chosen.items():
        several = isinstance(parameters[name]["value"], list)
        values = [value] if isinstance(value, str) or not several else list(value)
        allowed = list(switches.get(name) or _options(spec, parameters[name]))
        for each in values if allowed else ():
            if each not in allowed:
                words = nearest(str(each), allowed)
                raise UsageError(f"{each!r} is not a choice for {name}: {words}")
        parameters[name]["value"] = values if several else value
    for channel, named in spec["usermeta"].get("titles", {}).items():
        if not all(switches[name] for name in named):  # nothing to draw, so nothing to choose
            continue
        titles = [switches[name][parameters[name]["value"]] for name in named]
        for encoding in _encodings(spec):
            if encoding.get(channel, {}).get("title"):
                encoding[channel]["title"] = ": ".join(titles)
    if parameters["game"].get("bind") and spec["usermeta"].get("isOfGame"):
        spec["title"] = f"{spec['title']} on {parameters['game']['value']}"
    return spec


def _options(spec: dict[str, Any], parameter: dict[str, Any]) -> list[Any]:
    """Values that a parameter without a list of its own may have; empty if any is right."""
    if parameter["name"] == "hidden":
        rows = (row for data in spec["datasets"].values() for row in data)
        return list({row["solver"]: None for row in rows if "solver" in row})
    if parameter["name"] == "game":
        return parameter.get("bind", {}).get("options", [parameter["value"]])
    return []


def _encodings(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield part.get("encoding", {})
    for layer in part.get("layer", ()):
        yield from _encodings(layer)


class Picture:
    """A picture that notebooks show and that can be saved.

    Attributes
    ----------
    svg : str
        Its text as SVG.
    """

    def __init__(self, svg: str, title: str = "") -> None:
        self.svg, self._title = svg, title

    def __repr__(self) -> str:
        return f"<Picture {self._title!r}>"

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def to_svg(self) -> str:
        """Text of the picture as SVG."""
        return self.svg

    @checked
    def save(self, path: str | Path) -> Path:
        """Write it by the ending of the name, .svg, .png or .pdf; return the path.

        Raises
        ------
        UsageError
            If the name ends otherwise.
        """
        path = Path(path)
        path.write_bytes(rendered(self.svg, path.suffix))
        return path


class Chart:
    """A chart in Vega-Lite.

    Where a notebook knows Vega-Lite it is interactive, elsewhere a picture.

    Attributes
    ----------
    spec : dict
        The specification, with its data.
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec

    def __repr__(self) -> str:
        return f"<Chart {self.spec.get('title', '')!r}>"

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        forms = {_MIME: self.spec, "text/plain": repr(self)}
        with suppress(MissingPackageError):
            forms["image/svg+xml"] = self.to_svg()
        return forms

    def to_svg(self) -> str:
        """Text of the picture as SVG."""
        return str(_converted("svg", {"padding": _PADDING} | self.spec))

    def to_png(self, scale: float = 2.0) -> bytes:
        """Picture as PNG, of `scale` pixels for each unit of length."""
        return bytes(_converted("png", self.spec, scale=scale))

    def to_pdf(self, width_cm: float | None = None) -> bytes:
        """Picture as PDF, as wide as a column of text if its width is given.

        Letters then keep a size that can be read, and the legend stands below.

        Raises
        ------
        UsageError
            If the width is not from 4 to 100.
        """
        spec = {"padding": _PADDING} | copy.deepcopy(self.spec)
        if width_cm is not None:
            if not WIDTHS_CM[0] <= width_cm <= WIDTHS_CM[1]:
                ends = " to ".join(map(str, WIDTHS_CM))
                raise UsageError(f"{width_cm} cm is no width of a figure; give one from {ends}")
            width = width_cm * _POINTS_PER_CM
            spec |= {"width": width, "height": width * _PRINT_HEIGHT, "padding": 2}
            config = spec.setdefault("config", {})
            columns = max(1, int(width / _LEGEND_POINTS))
            for part, style in _PRINT.items():
                config[part] = config.get(part, {}) | style
            config["legend"] |= {"columns": columns}
        return bytes(_converted("pdf", spec)) + PDF_END

    def _page(self) -> str:
        """Page whose script no text of the specification can end."""
        spec = json.loads(json.dumps(self.spec).replace("<", _LESS))
        return str(_converted("html", spec, bundle=True)).replace(_LESS, r"\u003c")

    @checked
    def save(self, path: str | Path, *, width_cm: float | None = None) -> Path:
        """Write it as .pdf, .svg, .png, .json, or .html, a page that needs no network.

        Parameters
        ----------
        width_cm : of a PDF for a paper, where a column of text has some 8.5 cm

        Returns
        -------
        Path
            The path.

        Raises
        ------
        UsageError
            If the name ends otherwise, or the width is none.
        """
        path = Path(path)
        if path.suffix not in (".pdf", ".svg", ".png", ".html", ".json"):
            raise UsageError(f"a chart is saved as .pdf, .svg, .png, .html or .json, not as {path}")
        if width_cm is not None and path.suffix != ".pdf":
            raise UsageError(f"a width in cm is that of a .pdf, not of {path}; leave it out")
        if path.suffix in (".pdf", ".png"):
            path.write_bytes(self.to_pdf(width_cm) if path.suffix == ".pdf" else self.to_png())
            return path
        text = {".svg": self.to_svg, ".html": self._page}.get(path.suffix)
        path.write_text(text() if text else json.dumps(self.spec), encoding="utf-8")
        return path


def _converted(to: str, spec: dict[str, Any], **options: Any) -> Any:
    with needed_for("a picture of a chart"):
        import vl_convert  # which brings a JavaScript engine

    return getattr(vl_convert, f"vegalite_to_{to}")(spec, vl_version=VEGA_LITE, **options)
