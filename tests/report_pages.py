"""Made-up runs for tests of pages, and a strict reader of pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert
from stored_runs import cell, identified, identity, with_candidate, without_figures, write_run

from eqbench.api.shown import switched
from eqbench.report.charts import (
    VEGA_LITE,
    GameFacts,
    Rows,
    ShownGame,
    chart,
    datasets,
    shown_games,
)
from eqbench.report.exports import entries_of
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run

HOSTILE = "<img src=x onerror=alert(1)>"
CLOSING = "</script><script>alert(2)</script>"
QUOTES = """"' onmouseover='alert(3)' \x07 ]]> <!-- &lt; {{ 7 * 7 }}"""

KUHN3 = "kuhn(players=3,cards=4,pot=3,reduce=none,raises=0)"
TIMES = (0.001, 0.01, 0.1)
REGRETS = ((0.5, 0.3), (1e-4, 2e-4), (0.0, -1e-17))

_VOID = frozenset({"meta", "link", "input", "img"})


def write_trace(
    run: Path,
    record: CellRecord,
    times: Sequence[float] = TIMES,
    regrets: Sequence[Sequence[float]] = REGRETS,
) -> CellRecord:
    """The record with an anytime curve, whose file is written into the folder of the run."""
    name = f"traces/{record.key}.npz"
    (run / "traces").mkdir(parents=True, exist_ok=True)
    work = 10 ** np.arange(len(times))
    claims = np.array(["average"] * len(times))
    np.savez(run / name, regrets=regrets, work=work, elapsed_s=times, claim=claims)
    return replace(record, trace=name)


def page_run(path: Path) -> Path:
    """A run of two games with curves, several seeds, all tones of status and hostile names."""
    family = {"game": "kuhn3", "game_spec": KUHN3}
    strict = identity("szafron:c11=0", parameters={"beta": 0.2})
    loose = identity("szafron:c11=0", parameters={"beta": 0.1}, strict=False)
    near = identity("szafron:c11=0", parameters={"beta": 0.1}, on_path=False)
    records = [
        write_trace(path, cell("01", solver="cfr_plus")),
        write_trace(path, cell("02", solver=HOSTILE, seed=0, status="limit", reason=HOSTILE)),
        cell("03", solver=HOSTILE, seed=1, status="failed", reason=CLOSING),
        without_figures("04", solver="sequence_lp", status="unsupported", reason=QUOTES),
        cell("05", solver=CLOSING, status="refuted", reason=QUOTES, elapsed_s=123.4),
        _paid(identified(cell("06", solver="cfr_plus", **family), strict), -0.03),
        _paid(identified(cell("07", solver=HOSTILE, status="limit", **family), loose), -0.025),
        _paid(identified(cell("08", solver=CLOSING, **family), near, None), -0.022),
        with_candidate(cell("09", solver="cfr_plus", game=HOSTILE, game_spec=QUOTES), 1e6),
    ]
    return write_run(path, *records)


def games_of(
    path: Path, *records: CellRecord, facts: dict[str, GameFacts] | None = None
) -> list[ShownGame]:
    return shown_games(entries_of([read_run(write_run(path, *records))]), facts)


def marks(spec: dict[str, Any], kind: str = "point") -> list[dict[str, str]]:
    """What the marks of a chart say that was drawn, in order."""
    svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
    labels = re.findall(
        rf'aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="{kind}"', svg
    )
    return [
        dict(part.split(": ", 1) for part in unescape(label).split("; ") if ": " in part)
        for label in labels
    ]


def ends_of(spec: dict[str, Any]) -> dict[str, str]:
    """The share that the line of each solver ends at, as its marks say."""
    return {mark["solver"]: mark["reached"] for mark in marks(spec) if "reached" in mark}


def chart_of(name: str, path: Path, *records: CellRecord, **switches: Any) -> dict[str, Any]:
    """A chart of made-up records."""
    return switched(chart(name, [read_run(write_run(path, *records))]), switches)


def data_of(path: Path, *records: CellRecord, **facts: GameFacts) -> dict[str, Rows]:
    return datasets(entries_of([read_run(write_run(path, *records))]), facts)


def _paid(record: CellRecord, first: float) -> CellRecord:
    """The record with payoffs of three players, the first as given."""
    payoffs, regrets = [first, -1 / 48, 1 / 48 - first], [1e-12, 0.0, 0.0]
    found = [replace(item, payoffs=payoffs, regrets=regrets) for item in record.equilibria]
    return replace(record, payoffs=payoffs, regrets=regrets, equilibria=found)


@dataclass
class Element:
    """An element of a page with the text directly in it."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    parts: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Elements of that name, itself and within it, from top to bottom."""
        within = [found for part in self.parts for found in part.all(tag)]
        return ([self] if self.tag == tag else []) + within

    @property
    def full_text(self) -> str:
        """Text of it, then of what is within it."""
        return self.text + "".join(part.full_text for part in self.parts)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"{tag} has an attribute twice: {names}"
        element = Element(tag, dict(attrs))
        self.open[-1].parts.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.open[-1].text += data


def read_page(text: str) -> Element:
    """Root of a page; fails unless elements nest and identifiers are unique."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    (root,) = reader.open
    found = Counter(e.attributes["id"] for e in everything(root) if "id" in e.attributes)
    assert [name for name, count in found.items() if count > 1] == []
    return root


def everything(root: Element) -> list[Element]:
    """All elements below one, from top to bottom."""
    return [below for part in root.parts for below in (part, *everything(part))]
