"""The figures of a suite as tables, as CSV, and as files in the folder of its run."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eqbench.report.latex import latex
from eqbench.report.markdown import markdown
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.studies.study_files import write_texts
from eqbench.studies.suites import Suite

_SIZE = Column("size", identifies=True)
_COLUMNS = (
    _SIZE,
    Column("solver", identifies=True),
    Column("games", "count", dispensable=1),
    Column("solved", "count"),
    Column("time-outs", "count", "time-\nouts"),
    Column("failed", "count"),
    Column("median", "seconds"),
    Column("mean", "seconds"),
    Column("mean with time-outs", "seconds", "mean with\ntime-outs"),
)
_PUBLISHED = Column("published mean", "seconds", "published\nmean")
_LEGEND = (
    "Times are solving times in seconds; the start of a process, imports and compilation are "
    "not counted, building the program is. Solved is what ended as ok within the limit; its "
    "verified max regret may be as large as a thousandth of the payoff range, and the last column "
    "says how often it was small. The mean is over the games that were solved. In the median and "
    "in the mean with time-outs, and so in both ratios, a game that ended at the limit counts as "
    "the limit: where there are time-outs the mean is a lower bound. Games that failed have no "
    "time. Ratios are over the games for which both solvers have one."
)
_CSV_FIGURES = (
    *("games", "solved", "timeouts", "failed", "never_ran", "median_s", "mean_s"),
    *("mean_with_timeouts_s", "precise", "precise_share"),
)
_CSV_COLUMNS = (
    *("size", "column", "solver", *_CSV_FIGURES, "paired_games"),
    *("ratio_of_means", "ratio_of_means_bound", "ratio_of_medians", "ratio_of_medians_bound"),
    *("published_column", "published_mean_s", "published_ratio_of_means"),
)


def suite_report(suite: Suite, document: dict[str, Any]) -> Report:
    """Two tables of what `suite_summary` gave: times per solver, and ratios."""
    tables = (_times(suite, document), _ratios(suite, document))
    return Report(tables, _LEGEND, tuple(_conditions(suite, document)))


def suite_csv(document: dict[str, Any]) -> str:
    """One row per size and solver of what `suite_summary` gave; empty where nothing is known.

    A ratio is that of the second solver to the first, and stands in the rows of both.
    """
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _CSV_COLUMNS)
    writer.writeheader()
    for size, k, figures in _by_solver(document):
        column, ratio = document["columns"][k], size["ratio"]
        row = {"size": size["size"], "column": column["name"], "solver": column["solver"]}
        row |= {name: figures[name] for name in _CSV_FIGURES}
        row |= {"published_column": column["published_name"]}
        row |= {"published_mean_s": size["published"]["mean_s"][k]}
        row |= {"published_ratio_of_means": size["published"]["ratio_of_means"]}
        row |= {"paired_games": ratio["games"]}
        for what in ("of_means", "of_medians"):
            found = ratio[what] or {"value": None, "bound": None}
            row |= {f"ratio_{what}": found["value"], f"ratio_{what}_bound": found["bound"]}
        writer.writerow(row)
    return text.getvalue()


def write_suite(suite: Suite, document: dict[str, Any], folder: Path) -> list[Path]:
    """Files with the figures, written into the folder of a run: JSON, Markdown, CSV and LaTeX.

    Raises
    ------
    StoreError
        If they cannot be written.
    """
    report = suite_report(suite, document)
    texts = {
        "summary.json": json.dumps(document, indent=2, allow_nan=False) + "\n",
        "table.md": markdown(report),
        "table.csv": suite_csv(document),
        "table.tex": latex(report),
    }
    return write_texts(folder, texts)


def _by_solver(document: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int, dict[str, Any]]]:
    """Each size with the number of a column and its figures."""
    for size in document["sizes"]:
        for k, figures in enumerate(size["solvers"]):
            yield size, k, figures


def _times(suite: Suite, document: dict[str, Any]) -> Table:
    bound = f"{document['precise_max_regret']:.0e}".replace("e-0", "e-")
    precise = Column(f"regret to {bound}", stacked=f"regret\nto {bound}")
    same = [column["name"] == column["published_name"] for column in document["columns"]]
    rows = []
    for size, k, figures in _by_solver(document):
        name, share = document["columns"][k]["name"], figures["precise_share"]
        values = {
            "size": size["size"],
            "solver": name,
            "status": _only_status(figures),
            "games": figures["games"],
            "solved": figures["solved"],
            "time-outs": figures["timeouts"],
            "failed": figures["failed"],
            "median": figures["median_s"],
            "mean": figures["mean_s"],
            "mean with time-outs": figures["mean_with_timeouts_s"],
            "published mean": size["published"]["mean_s"][k] if same[k] else None,
            precise.title: None if share is None else f"{share:.1%}",
        }
        rows.append(Row(f"{name} on {size['size']}", values))
    # said only where there is something to say
    silent = any(row.values["status"] for row in rows)
    status = [Column("status", "status", identifies=True)] if silent else []
    published = [_PUBLISHED] if any(same) else []
    columns = (*_COLUMNS[:2], *status, *_COLUMNS[2:], *published, precise)
    notes = tuple(_troubles(document))
    return Table(suite.title, columns, tuple(rows), notes, _LEGEND, players=0, topic="times")


def _only_status(figures: dict[str, Any]) -> str | None:
    """Status of a solver that never ran on any game of a size."""
    if not figures["games"] or figures["never_ran"] < figures["games"]:
        return None
    return " ".join(figures["statuses"])


def _troubles(document: dict[str, Any]) -> Iterator[str]:
    """Why games have no time, each reason with the sizes where it is the most frequent."""
    shared: dict[tuple[str, str, str], list[str]] = {}
    for size, k, figures in _by_solver(document):
        name = document["columns"][k]["name"]
        for status, reason in figures["reasons"].items():
            count = f"{figures['statuses'][status]:,} at {size['size']}"
            shared.setdefault((name, status, reason), []).append(count)
    for (name, status, reason), counts in shared.items():
        yield f"{name} {status} ({', '.join(counts)}) – {reason}"


def _ratios(suite: Suite, document: dict[str, Any]) -> Table:
    first, second = (column["name"] for column in document["columns"])
    names = [column["published_name"] for column in document["columns"]]
    means = [f"published {name}" for name in names]
    published = f"published {names[1]} / {names[0]}"
    columns = (
        _SIZE,
        Column("games", "count", dispensable=1),
        Column("ratio of means", stacked="ratio\nof means"),
        Column("ratio of medians", stacked="ratio\nof medians"),
        *(Column(title, "seconds", title.replace(" ", "\n")) for title in means),
        Column(published, stacked=published.replace(" ", "\n", 1)),
    )
    rows = tuple(
        Row(
            size["size"],
            {
                "size": size["size"],
                "games": size["ratio"]["games"],
                "ratio of means": _text(size["ratio"]["of_means"]),
                "ratio of medians": _text(size["ratio"]["of_medians"]),
                **dict(zip(means, size["published"]["mean_s"], strict=True)),
                published: f"{size['published']['ratio_of_means']:.2f}",
            },
        )
        for size in document["sizes"]
    )
    topic = f"time of {second} / time of {first}"
    return Table(suite.title, columns, rows, suite.remarks, "", players=0, topic=topic)


def _text(ratio: dict[str, Any] | None) -> str | None:
    if ratio is None:
        return None
    words = {"exact": "", "lower": "at least ", "upper": "at most "}
    value = f"{ratio['value']:.2f}"
    return words[ratio["bound"]] + value if ratio["bound"] in words else f"{value} (time-outs)"


def _conditions(suite: Suite, document: dict[str, Any]) -> Iterator[str]:
    facts = document["environment"]
    here = [
        f"limit {document['timeout_s']:g} s",
        f"{document['games']:,} game{'s'[: document['games'] != 1]} per size",
    ]
    if document["threads"]:
        here.append(f"{document['threads']} thread{'s'[: document['threads'] != 1]} per game")
    if (document["jobs"] or 1) > 1:
        here.append(f"{document['jobs']} games at a time")
    if facts.get("processor"):
        here.append(f"{facts['processor']} with {facts['cores']} cores")
    yield f"here: {', '.join(here)}; {'; '.join(_solvers(document))}"
    yield f"published: {suite.conditions}"
    yield f"source: {suite.citation}"


def _solvers(document: dict[str, Any]) -> Iterator[str]:
    """What each column is, and on which backends its games were solved."""
    for k, column in enumerate(document["columns"]):
        backends = sorted({b for size in document["sizes"] for b in size["solvers"][k]["backends"]})
        same = column["name"] == column["solver"]
        text = column["name"] if same else f"{column['name']} is {column['solver']}"
        yield text + (f" on {' and '.join(backends)}" if backends else "")
