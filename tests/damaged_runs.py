"""Runs with damaged files, everything that reads a run."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from report_pages import write_trace
from stored_runs import cell, identified, identity, write_run

import eqbench
from eqbench.report.comparison import compare_runs, comparison_json, comparison_report
from eqbench.report.exports import report_on, results_csv, summary_csv
from eqbench.report.formats import latex, markdown
from eqbench.report.html.page import report_page
from eqbench.report.profile_view import cell_facts
from eqbench.report.terminal import plain_text, print_report
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, read_run

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
        assert len(eqbench.load_results(path)) == len(run.cells)
        eqbench.load_equilibria(path)
        eqbench.load_traces(path)
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
