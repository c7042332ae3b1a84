"""Ranges over all equilibria as a table, as CSV, and as files in the folder of their run."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eqbench.equilibria.formulas import TOLERANCE
from eqbench.report.latex import latex
from eqbench.report.markdown import markdown
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.spec import format_value, parse_spec
from eqbench.studies.ranges.figures import ENDED_EARLY, MOVED, beyond_published
from eqbench.studies.ranges.request import SENSES
from eqbench.studies.study_files import write_texts
from eqbench.text import cell_text

_COLUMNS = (
    Column("quantity", identifies=True),
    Column("smallest"),
    Column("at least"),
    Column("closed below", stacked="closed\nbelow"),
    Column("largest"),
    Column("at most"),
    Column("closed above", stacked="closed\nabove"),
    Column("time", "seconds", dispensable=1),
)
_PUBLISHED = (
    Column("published from", stacked="published\nfrom"),
    Column("published to", stacked="published\nto"),
    Column("verdict"),
)
_TITLES = {
    "min": ("smallest", "at least", "closed below"),
    "max": ("largest", "at most", "closed above"),
}
_CSV_END = (
    *("status", "found", "any_share", "max_regret", "objective", "difference", "bound", "gap"),
    *("distance", "closed", "reach", "elapsed_s", "backend", "nodes", "profile"),
)
_ENDS = (
    "Smallest and largest are recomputed from a profile that the verifier measured; at least and "
    "at most are the solver's bounds for all equilibria, proved to its tolerance{tolerances}, not "
    "a theorem. closed: bound and found value differ by at most {closed}, whatever gap the solver "
    "takes for proved; otherwise their distance is shown. Since constraints hold to that "
    "tolerance only, bounds can be off by more than it."
)
_VERDICTS = (
    "equal: both ends are closed, and the values found there differ from the published ends by at "
    "most {agree}; wider: a verified equilibrium lies beyond the published range by more than "
    "that; contradiction: a published equilibrium lies beyond a bound by more than that; open: "
    "none of these is settled; unavailable or unsupported: the solver was not run."
)
_FREQUENCIES = (
    "A frequency is the share of an action in the weight with which the player's own plan leads "
    "to the information set. Where the plan of the profile that was found never leads there, any "
    "share counts, and 0 or 1 is shown, marked (any)."
)
_PER_UNIT = {"payoff": "of the payoff range", "frequency": "for frequencies"}
_NOISE = 1e-9  # in units of the quantity; less is shown as 0
_MOST_NAMES = 6  # that a note lists


def ranges_report(document: dict[str, Any]) -> Report:
    """The table of what `ranges_summary` gave."""
    rows = document["quantities"]
    published = any(row["published"] for row in rows)
    same = document["game"] == document["game_spec"]
    title = document["game"] if same else f"{document['game']} = {document['game_spec']}"
    table = Table(
        title,
        (*_COLUMNS, *(_PUBLISHED if published else ())),
        tuple(_row(row) for row in rows),
        tuple(_notes(document)),
        _legend(document, published=published),
        players=0,
        topic="ranges over all equilibria",
    )
    return Report((table,), table.legend, tuple(_conditions(document)))


def _row(row: dict[str, Any]) -> Row:
    published = row["published"] or {"low": None, "high": None}
    times = [row[sense]["elapsed_s"] for sense in SENSES if row[sense]["elapsed_s"] is not None]
    values = {
        "quantity": cell_text(row["quantity"]),
        "time": sum(times) if times else None,
        "published from": _number(published["low"], row["unit"]),
        "published to": _number(published["high"], row["unit"]),
        "verdict": row["verdict"],
    }
    for sense, (found, bound, closed) in _TITLES.items():
        end = row[sense]
        value = _number(end["found"], row["unit"])
        values[found] = f"{value} (any)" if end["any_share"] else value
        values |= {bound: _number(end["bound"], row["unit"]), closed: _closed(end)}
    return Row(row["quantity"], values)


def _number(value: float | None, unit: float) -> str | None:
    """Six significant digits."""
    if value is None:
        return None
    return f"{value:.6g}" if abs(value) > _NOISE * unit else "0"


def _closed(end: dict[str, Any]) -> str:
    """Whether an end is closed, otherwise the distance to its bound, or its status."""
    if end["closed"]:
        return "yes"
    if end["distance"] is not None:
        return f"no ({end['distance']:.1e})"
    return "no" if end["status"] == "ok" else str(end["status"])


def _legend(document: dict[str, Any], *, published: bool) -> str:
    kinds = {row["kind"] for row in document["quantities"]}
    within = _within(document["closed_within"], kinds)
    parts = [_ENDS.format(tolerances=_tolerances(document), closed=within)]
    if "frequency" in kinds:
        parts.append(_FREQUENCIES)
    if published:
        agree = dict.fromkeys(kinds, document["agree_within"])
        parts.append(_VERDICTS.format(agree=_within(agree, kinds)))
    return " ".join(parts)


def _within(shares: dict[str, float], kinds: set[str]) -> str:
    """A tolerance of each kind of quantity that is there."""
    return " or ".join(
        f"{_power(shares[kind])} {unit}" for kind, unit in _PER_UNIT.items() if kind in kinds
    )


def _tolerances(document: dict[str, Any]) -> str:
    """The solver's tolerances in brackets, as far as its options say them."""
    options = [dict(parse_spec(spec).options) for spec in document["solver_specs"]]
    names = [name for name in ("feasibility", "gap") if options and name in options[0]]
    texts = [f"{name} {_plain(options[0][name])}" for name in names]
    return f" ({', '.join(texts)})" if texts else ""


def _plain(value: Any) -> str:
    text = format_value(value)
    return _power(value) if "/" in text or "e" in text else text


def _power(value: Any) -> str:
    return f"{float(value):.0e}".replace("e-0", "e-")


def _ends(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and figures of each optimum."""
    for row in document["quantities"]:
        for sense in SENSES:
            yield f"{sense} {row['quantity']}", row[sense]


def _notes(document: dict[str, Any]) -> Iterator[str]:
    """Why optima are not there or not proved, and where profile and solver differ."""
    rows = document["quantities"]
    shared: dict[tuple[str, str], list[str]] = {}
    for name, end in _ends(document):
        if end["status"] != "ok":
            early = end["status"] in ENDED_EARLY and end["bound"] is not None
            reason = "what was found until then and the bound stand" if early else end["reason"]
            shared.setdefault((end["status"], reason), []).append(name)
    for (status, reason), names in shared.items():
        listed = _listed(names, f"{2 * len(rows)} optima")
        yield f"{status}: {listed}" + (f" – {reason}" if reason else "")
    moved = [
        f"{sense} {row['quantity']} {row[sense]['difference']:+.1e}"
        for row in rows
        for sense in SENSES
        if abs(row[sense]["difference"] or 0.0) > MOVED * row["unit"]
    ]
    if moved:
        yield (
            "difference of the verified profile to the solver's own point, whose constraints hold "
            f"to its tolerance only: {_listed(moved, f'{2 * len(rows)} optima')}"
        )
    unreached = [row["quantity"] for row in rows if _is_off_path(row)]
    if unreached:
        yield (
            "wider, and in the profile that was found play never reaches the information set: "
            f"{_listed(unreached, f'{len(rows)} quantities')}"
        )
    curved = [
        row["quantity"] for row in rows if row["published"] and not row["published"]["linear"]
    ]
    if curved:
        yield (
            "published from and to are the outermost values found in the published sets, which "
            "are not linear here, so that their range may be larger: "
            f"{_listed(curved, f'{len(rows)} quantities')}"
        )


def _listed(names: list[str], whole: str) -> str:
    """Some names, or how many there are of the whole."""
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"{len(names)} of {whole}"


def _is_off_path(row: dict[str, Any]) -> bool:
    """Whether the profiles beyond the published range never play to the information set."""
    if row["verdict"] != "wider" or row["kind"] != "frequency":
        return False
    return all(row[sense]["reach"] <= TOLERANCE for sense in beyond_published(row))


def _conditions(document: dict[str, Any]) -> Iterator[str]:
    parts = [f"limit {document['timeout_s']:g} s per optimum"]
    if document["threads"]:
        parts.append(f"{document['threads']} thread{'s'[: document['threads'] != 1]} each")
    if (document["jobs"] or 1) > 1:
        parts.append(f"{document['jobs']} at a time")
    backends = sorted({end["backend"] for _, end in _ends(document) if end["backend"]})
    parts.append(document["solver"] + (f" on {' and '.join(backends)}" if backends else ""))
    facts = document["environment"]
    if facts.get("processor"):
        parts.append(f"{facts['processor']} with {facts['cores']} cores")
    yield f"here: {', '.join(parts)}"
    ends = [end for _, end in _ends(document)]
    yield f"closed: {sum(end['closed'] for end in ends)} of {len(ends)} optima"


def ranges_csv(document: dict[str, Any]) -> str:
    """One row per quantity of what `ranges_summary` gave; empty where nothing is known."""
    columns = [f"{sense}_{name}" for sense in SENSES for name in _CSV_END]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(
        text, ["quantity", *columns, "published_low", "published_high", "verdict"]
    )
    writer.writeheader()
    for row in document["quantities"]:
        published = row["published"] or {"low": None, "high": None}
        values = {f"{sense}_{name}": row[sense][name] for sense in SENSES for name in _CSV_END}
        values |= {"quantity": cell_text(row["quantity"]), "verdict": row["verdict"]}
        values |= {f"published_{side}": published[side] for side in ("low", "high")}
        writer.writerow(values)
    return text.getvalue()


def write_ranges(document: dict[str, Any], folder: Path) -> list[Path]:
    """Files with the ranges, written into the folder of a run: JSON, Markdown, CSV and LaTeX.

    Raises
    ------
    StoreError
        If they cannot be written.
    """
    report = ranges_report(document)
    texts = {
        "summary.json": json.dumps(document, indent=2, allow_nan=False) + "\n",
        "ranges.md": markdown(report),
        "ranges.csv": ranges_csv(document),
        "ranges.tex": latex(report),
    }
    return write_texts(folder, texts)
