"""Made-up runs for pages and reports, damaged ones, and strict readers of pages and tables."""

from __future__ import annotations

import copy
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert
from jsonschema import Draft202012Validator

import eqbench
from eqbench.api.shown import switched
from eqbench.report.cells import report_on, results_csv, summary_csv
from eqbench.report.charts import (
    VEGA_LITE,
    GameFacts,
    Rows,
    ShownGame,
    chart,
    datasets,
    shown_games,
)
from eqbench.report.comparison import compare_runs, comparison_json, comparison_report
from eqbench.report.formats import latex, markdown
from eqbench.report.html.page import report_page
from eqbench.report.profile_view import cell_facts
from eqbench.report.terminal import plain_text, print_report
from eqbench.report.trials import entries_of
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, read_run
from helpers.runs import cell, identified, identity, with_candidate, without_figures, write_run

# -- Readers of what reports are printed as: strict ones, so that a broken table is noticed


class LatexError(AssertionError):
    """What a checked text does that LaTeX would not compile."""


def markdown_tables(text: str) -> list[list[list[str]]]:
    """Tables of a GitHub-flavored text, cell by cell, with escapes undone."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    return [
        [
            [re.sub(r"\\(.)", r"\1", part.strip()) for part in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in block.splitlines()
        ]
        for block in blocks
    ]


def check_latex(text: str) -> list[list[list[str]]]:
    """Cells of all tabulars; a strict reader of the little LaTeX that reports use."""
    text = re.sub(r"(?<!\\)%.*", "", text)
    if not text.isascii():
        raise LatexError("characters that pdfTeX need not know")
    stack: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            stack.append(name)
        elif not stack or stack.pop() != name:
            raise LatexError(f"\\end{{{name}}} closes nothing")
    if stack:
        raise LatexError(f"{stack} stay open")
    if unescaped(text, "{") != unescaped(text, "}"):
        raise LatexError("braces do not match")
    if unescaped(text, "$") % 2:
        raise LatexError("math mode stays open")
    outside = re.sub(r"(?<!\\)\$[^$]*(?<!\\)\$", "", text)
    for char in "#_^":
        if unescaped(outside, char):
            raise LatexError(f"{char} outside of math mode")
    tabulars = re.findall(
        r"\\begin\{tabular\}\{@\{\}([lr]+)@\{\}\}\n(.*?)\\end\{tabular\}", text, flags=re.DOTALL
    )
    rest = re.sub(r"\\begin\{tabular\}.*?\\end\{tabular\}", "", outside, flags=re.DOTALL)
    if unescaped(rest, "&"):
        raise LatexError("& outside of a table")
    return [check_tabular(columns, body) for columns, body in tabulars]


def check_tabular(columns: str, body: str) -> list[list[str]]:
    lines = body.strip().splitlines()
    if [line for line in lines if line.endswith("rule")] != [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]:
        raise LatexError("the three rules of booktabs are not in order")
    rows = []
    for line in lines:
        if not line.endswith("rule"):
            if not line.endswith(r" \\"):
                raise LatexError(f"{line!r} does not end its row")
            if rows and line.lstrip().startswith(("[", "*")):
                raise LatexError(f"{line!r} gives an option to the end of the row before")
            rows.append(re.split(r"(?<!\\)&", line.removesuffix(r"\\")))
            if len(rows[-1]) != len(columns):
                raise LatexError(f"{len(rows[-1])} cells in {len(columns)} columns: {line!r}")
    return [[part.strip() for part in row] for row in rows]


def unescaped(text: str, char: str) -> int:
    return len(re.findall(rf"(?<!\\){re.escape(char)}", text))


def latex_to_text(source: str) -> str:
    names = {
        r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~",
        r"\textbar{}": "|", r"\textless{}": "<", r"\textgreater{}": ">",
        r"\textasciigrave{}": "`", "-{}": "-", "--": "–",
        r"$\approx$": "≈", r"$\alpha$": "α", r"$\beta$": "β", r"$\times$": "×", r"$\ldots$": "…",
        r"$\ddagger$": "‡", r"$\ne$": "≠",
    }  # fmt: skip
    pattern = "|".join(map(re.escape, names))
    parts = re.split(f"({pattern})", source)
    return "".join(names.get(part) or re.sub(r"\\([{}$&#_%])", r"\1", part) for part in parts)


# -- Made-up runs for tests of pages, and a strict reader of pages


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


# -- Runs with damaged files, everything that reads a run


FIRST, DAMAGED, LAST = "01", "02", "03"
EXACT = {"payoffs": ["-1/18", "1/18"], "regrets": ["0", "1/100000000000"]}


def full_record(path: Path) -> CellRecord:
    """A record in which every field holds something, with its trace written."""
    family = {"parameters": {"beta": 0.2}, "also": ["skp:1a"], "off_path": {"P1|4:|bet": 0.5}}
    known = identity("szafron:c11=0", **family, strict=False, dimension=1)
    record = identified(cell(DAMAGED, solver="ncp", seed=3, reason="found"), known, None)
    best = replace(record.equilibria[0], claimed_regret=1e-10, refuted="too much", exact=EXACT)
    record = replace(record, equilibria=[best, *record.equilibria[1:]], log="logs/a.txt")
    return write_trace(path, replace(record, solver_version="1", game_content="23eb"))


def run_with_line(path: Path, line: bytes) -> Path:
    """A run of three cells, of which the second has this line."""
    neighbors = [write_trace(path, cell(FIRST)), cell(LAST, solver="cfr", seed=1)]
    write_run(path, *neighbors, planned=[FIRST, DAMAGED, LAST])
    first, last = (path / "runs.jsonl").read_bytes().splitlines(keepends=True)
    (path / "runs.jsonl").write_bytes(first + line + b"\n" + last)
    return path


def read_everything(path: Path) -> StoredRun:
    """The run, after all that reads runs has read it and its output was encoded."""
    run = read_run(path)
    texts = [report_page([run], {}, summarize=True), results_csv([run]), summary_csv([run])]
    comparison = compare_runs(run, run)
    texts.append(json.dumps(comparison_json(comparison), allow_nan=False))
    reports = [report_on([run]), report_on([run], summarize=True)]
    for report in (*reports, comparison_report(comparison)):
        texts += [
            markdown(report),
            latex(report),
            plain_text(partial(print_report, report)),
        ]
    for each in run.cells:
        texts.append(json.dumps(cell_facts(run, each, 0), allow_nan=False))
        assert run.cell(each.key) == each
    for text in texts:
        text.encode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(eqbench.load_run(path).frame("cells")) == len(run.cells)
        eqbench.load_run(path).frame("equilibria")
        eqbench.load_run(path).frame("traces")
    for note in run.notes:
        assert note in {str(each.message) for each in caught}
    return run


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Ways to all values within a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*way, key)
        if isinstance(item, dict | list):
            yield from places(item, (*way, key))


def damaged(value: Any, way: tuple[Any, ...], damage: Any) -> Any:
    """A copy of a JSON value with `damage` done to the container and key of a place."""
    result = copy.deepcopy(value)
    container = result
    for key in way[:-1]:
        container = container[key]
    damage(container, way[-1])
    return result


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """True if a value fits a JSON Schema, and holds no infinite number."""
    return _judge(json.dumps(schema)).is_valid(value) and "Infinity" not in json.dumps(value)


@cache
def _judge(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))
