"""Fill tables and numbers of the README and of the documentation from raw results.

A table stands between the lines ``<!-- table: NAME -->`` and ``<!-- end -->``, a number in prose
between ``<!-- fact: NAME -->`` and ``<!-- /fact -->``, which no reader sees; whatever stood there
is replaced. Comments do not work inside code, so numbers do not belong there. The functions of
`tables.py` make both.
"""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT, RESULTS = HERE.parent, HERE / "results"
REFERENCE = ROOT / "results" / "reference"
MARK = re.compile(
    r"(?P<begin><!-- (?P<kind>table|fact): (?P<name>\w+) -->\n?).*?(?P<end><!-- (?:end|/fact) -->)",
    re.DOTALL,
)


class Record(dict[str, Any]):
    """An object of raw results, whose keys are attributes too."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        return self[name]


@cache
def benchmarks() -> dict[str, dict[str, Any]]:
    """All entries of `benchmarks.toml` by name."""
    return tomllib.loads((HERE / "benchmarks.toml").read_text(encoding="utf-8"))


def read_results(name: str) -> Record:
    """Raw results of a benchmark; FileNotFoundError if it has not been run."""
    text = (RESULTS / f"{name}.json").read_text(encoding="utf-8")
    found: Record = json.loads(text, object_hook=Record)
    return found


def shown(name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Facts and tables of a benchmark by name."""
    import tables

    data = read_results(name)
    used = data["environment"]
    data["where"] = (
        f"{used.processor}, {used.platform}, Python {used.python}, "
        f"Numba {used.packages.numba}, NumPy {used.packages.numpy}"
    )
    facts, *rows = getattr(tables, name)(data)
    named, found = data | facts, dict[str, str]()
    for entry, own in zip(benchmarks()[name].get("table", []), rows, strict=True):
        title = entry.get("name", name)
        block = rendered(entry, own, named)
        found[title] = f"{found[title]}\n{block}" if title in found else block
    return facts, found


def rendered(entry: dict[str, Any], rows: list[str], named: dict[str, Any]) -> str:
    """A table in Markdown, its note, or both; the columns in `texts` are no numbers."""
    blocks = []
    if "columns" in entry:
        columns = entry["columns"].format_map(named)
        places, texts = range(columns.count(" | ") + 1), entry.get("texts", [0])
        rule = " | ".join("---" if place in texts else "---:" for place in places)
        blocks.append("".join(f"| {row} |\n" for row in (columns, rule, *rows)))
    if "note" in entry:
        blocks.append(entry["note"].format_map(named) + "\n")
    return "\n".join(blocks)


@cache
def contents() -> dict[tuple[str, str], str]:
    """Every table in Markdown and every fact as printed, by kind and name.

    Raises
    ------
    ValueError
        If two benchmarks give the same name.
    """
    known: dict[tuple[str, str], str] = {}
    for benchmark in benchmarks():
        for kind, texts in zip(("fact", "table"), shown(benchmark), strict=True):
            for name, text in texts.items():
                if (kind, name) in known:
                    raise ValueError(f"two benchmarks have a {kind} {name}")
                known[kind, name] = str(text)
    return known


def pages() -> list[Path]:
    """The pages in which tables and numbers may stand, but for what Sphinx makes."""
    docs = (ROOT / "docs").rglob("*.md")
    written = sorted(page for page in docs if "_build" not in page.parts)
    return [ROOT / "README.md", HERE / "README.md", *written]


def filled(text: str) -> str:
    """A page with all its tables and numbers as the raw results have them.

    Raises
    ------
    KeyError
        If a table or a number has an unknown name.
    """
    return MARK.sub(
        lambda mark: f"{mark['begin']}{contents()[mark['kind'], mark['name']]}{mark['end']}", text
    )


def stale_pages() -> dict[Path, str]:
    """New texts of the pages that do not show the raw results."""
    texts = {page: page.read_text(encoding="utf-8") for page in pages()}
    return {page: new for page, text in texts.items() if (new := filled(text)) != text}
