"""Tables and numbers of the README and of the documentation, made from raw results.

`benchmarks.toml` says how: a benchmark's `facts` and the columns of its tables are expressions in
Python over its raw results. A table stands between the lines ``<!-- table: NAME -->`` and
``<!-- end -->``, a number in prose between ``<!-- fact: NAME -->`` and ``<!-- /fact -->``, which no
reader sees; whatever stood there is replaced. Comments do not work inside code, so numbers do not
belong there.

An expression knows the keys of the raw results, then those of `let` in their order; in a column
also the keys of its row, the row itself as `row`, and those of the table's `let`. What it gives is
laid out by a format of Python, by a text with braces, or by a function of `LAYOUTS`; None is a
dash.
"""

from __future__ import annotations

import json
import math
import re
import statistics
import tomllib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eqbench.store.stored_run import StoredRun

HERE = Path(__file__).resolve().parent
ROOT, RESULTS = HERE.parent, HERE / "results"
REFERENCE = ROOT / "results" / "reference"
TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
FACT = re.compile(r"(<!-- fact: (\w+) -->).*?(<!-- /fact -->)", re.DOTALL)


# -- Layouts -------------------------------------------------------------------------------------


def rounded(value: float, digits: int = 2) -> str:
    """A number with so many significant digits, without an exponent."""
    return f"{float(f'{value:.{digits}g}'):,.12g}"


def power(value: float) -> str:
    """A tiny number with one digit, such as 4e-16."""
    return re.sub(r"e-0?", "e-", f"{value:.0e}")


def at_most(value: float) -> str:
    """An upper bound with two decimals, such as 0.03 for 0.0221."""
    return str(Decimal(value).quantize(Decimal("0.01"), ROUND_CEILING))


def power_at_most(value: float) -> str:
    """An upper bound on a tiny number with one digit, such as 4e-16 for 3.1e-16."""
    return _one_digit(value, ROUND_CEILING)


def power_at_least(value: float) -> str:
    """A lower bound on a tiny number with one digit, such as 3e-16 for 3.9e-16."""
    return _one_digit(value, ROUND_FLOOR)


def _one_digit(value: float, rounding: str) -> str:
    exact = Decimal(value)
    return power(float(exact.quantize(Decimal(1).scaleb(exact.adjusted()), rounding)))


def two_digits(value: float) -> str:
    """Seconds with two significant digits, those above 100 as whole numbers."""
    return f"{value:.0f}" if value >= 100 else f"{value:#.2g}".rstrip(".")


def simple_fraction(value: float) -> str:
    """A simple fraction if the number is one to rounding of a backend."""
    near = Fraction(value).limit_denominator(100)
    text = f"{near}" if abs(near - value) <= 1e-6 else f"{value:.4f}"
    return text.replace("-", "−")


def escaped(text: str) -> str:
    """A text that Markdown shows as it is."""
    return re.sub(r"([\\|*_<>$\[\]`])", r"\\\1", text).replace("\n", " ")


LAYOUTS: Mapping[str, Callable[[Any], str]] = {
    function.__name__: function
    for function in (
        *(rounded, power, at_most, power_at_most, power_at_least),
        *(two_digits, simple_fraction, escaped),
    )
}


def laid_out(value: Any, layout: str = "") -> str:
    """A value as it is printed."""
    if value is None:
        return "–"
    if layout in LAYOUTS:
        return LAYOUTS[layout](value)
    if "{" in layout:
        return layout.format(*value) if isinstance(value, list | tuple) else layout.format(value)
    return format(value, layout)


# -- What expressions know -----------------------------------------------------------------------


def grouped(rows: Iterable[Any], key: Callable[[Any], Hashable]) -> dict[Any, list[Any]]:
    """Rows by key, both in their order."""
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def expected_best(games: Sequence[Sequence[float]], k: int) -> float:
    """Mean of the smallest of k values over all sets of k out of those of a game, then of games."""
    return math.fsum(map(_expected_least, games, [k] * len(games))) / len(games)


def _expected_least(values: Sequence[float], k: int) -> float:
    size = len(values)
    ranked = enumerate(sorted(values))
    total = sum(value * math.comb(size - 1 - rank, k - 1) for rank, value in ranked)
    return total / math.comb(size, k)


def stored_run() -> StoredRun:
    """The reference run."""
    from eqbench.store.stored_run import read_run

    return read_run(REFERENCE / "kuhn3")


def reference_table() -> str:
    """The reference run as `eqbench run` prints it."""
    from eqbench.report.cells import report_on
    from eqbench.report.terminal import plain_text, print_report

    report = report_on([stored_run()])
    return plain_text(lambda console: print_report(report, console))


FUNCTIONS: Mapping[str, Any] = {
    **LAYOUTS,
    "median": statistics.median,
    "geometric_mean": statistics.geometric_mean,
    "Counter": Counter,
    "re": re,
    **{
        function.__name__: function
        for function in (grouped, expected_best, stored_run, reference_table)
    },
}


def where(environment: Mapping[str, Any]) -> str:
    """The environment in a few words."""
    packages = environment["packages"]
    return (
        f"{environment['processor']}, {environment['platform']}, Python {environment['python']}, "
        f"Numba {packages['numba']}, NumPy {packages['numpy']}"
    )


def value_of(expression: str, names: dict[str, Any]) -> Any:
    """Value of an expression of `benchmarks.toml`, which may take several lines.

    Names are globals of it, since those of a comprehension inside are looked up there.
    """
    return eval(f"({expression}\n)", names)


def with_let(names: dict[str, Any], let: Mapping[str, str]) -> dict[str, Any]:
    """Add to `names` what further expressions define, each of which knows the ones before."""
    for name, expression in let.items():
        names[name] = value_of(expression, names)
    return names


@cache
def benchmarks() -> dict[str, dict[str, Any]]:
    """All entries of `benchmarks.toml` by name."""
    return tomllib.loads((HERE / "benchmarks.toml").read_text(encoding="utf-8"))


def read_results(name: str) -> dict[str, Any]:
    """Raw results of a benchmark; FileNotFoundError if it has not been run."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


@cache
def names_of(name: str) -> dict[str, Any]:
    """Names that expressions of a benchmark know, with their values."""
    data = read_results(name)
    names = {**FUNCTIONS, "where": where(data["environment"]), **data}
    return with_let(names, benchmarks()[name].get("let", {}))


# -- Tables, facts and pages ---------------------------------------------------------------------


@cache
def all_facts() -> dict[str, str]:
    """Every fact as printed, by name.

    Raises
    ------
    ValueError
        If two benchmarks give the same name.
    """
    facts: dict[str, str] = {}
    for benchmark, entry in benchmarks().items():
        for name, (expression, *layout) in entry.get("facts", {}).items():
            if name in facts:
                raise ValueError(f"two facts are named {name}")
            facts[name] = laid_out(value_of(expression, names_of(benchmark)), *layout)
    return facts


@cache
def all_tables() -> dict[str, str]:
    """Every table in Markdown, by name; blocks of the same name belong to one."""
    blocks = (
        (block.get("name", benchmark), rendered(block, names_of(benchmark)))
        for benchmark, entry in benchmarks().items()
        for block in entry.get("table", [])
    )
    found = grouped(blocks, lambda pair: pair[0])
    return {name: "\n".join(text for _, text in pairs) for name, pairs in found.items()}


def rendered(block: Mapping[str, Any], names: dict[str, Any]) -> str:
    """A block of a table: a sentence, or columns, of which those in `texts` are no numbers."""
    if "text" in block:
        return block["text"].format_map(names) + "\n"
    columns = block["columns"]
    rule = ["---" if k in block.get("texts", [0]) else "---:" for k in range(len(columns))]
    header = [title.format_map(names) for title, *_ in columns]
    rows = [header, rule, *_cells(block, names)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _cells(block: Mapping[str, Any], names: dict[str, Any]) -> Iterator[list[str]]:
    for row in value_of(block["each"], names):
        known = with_let(names | row | {"row": row}, block.get("let", {}))
        yield [laid_out(value_of(what, known), *layout) for _, what, *layout in block["columns"]]


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
        If it asks for a table or a number of an unknown name.
    """
    text = TABLE.sub(lambda match: f"{match[1]}{all_tables()[match[2]]}{match[3]}", text)
    return FACT.sub(lambda match: f"{match[1]}{all_facts()[match[2]]}{match[3]}", text)


def stale_pages() -> dict[Path, str]:
    """New texts of the pages that do not show the raw results."""
    texts = {page: page.read_text(encoding="utf-8") for page in pages()}
    return {page: new for page, text in texts.items() if (new := filled(text)) != text}
