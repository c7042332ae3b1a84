"""Stability of equilibria as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqbench.report.cell_notes import printable
from eqbench.report.terminal import small
from eqbench.studies.stability_spectrum import COUNTS, UNSTABLE
from eqbench.studies.trace_tables import identity_text

_READ = (
    "Eigenvalues in frequency coordinates, counted, not in pairs; real parts up to {tolerance:g} "
    "of the spectral norm are zero. They are those of a member inside a set. On a centre manifold "
    "linearization does not decide whether a rest point is stable."
)
_NO_EQUILIBRIUM = "! is no equilibrium."
_HEADINGS = ("unstable", "oscillating", "zero", "stable", "max re", "max regret", "members")


def print_stability(document: Mapping[str, Any], console: Console) -> None:
    """Print what the summary says: equilibria with their verdicts, then other rest points."""
    _say(f"Stability in {document['game']} under {document['solver']}", console, "bold")
    if document["equilibria"]:
        _print_equilibria(document, console)
    for search in document["rest_points"]:
        _print_search(document, search, console)


def _print_equilibria(document: Mapping[str, Any], console: Console) -> None:
    table = Table(box=None, padding=(0, 1, 0, 0))
    if document["at"]:
        table.add_column(document["parameter"], justify="right", no_wrap=True)
    table.add_column("equilibrium", overflow="fold")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for entry in document["equilibria"]:
        style = "yellow" if entry["verdict"] == UNSTABLE else ""
        cells = [f"{entry['value']:g}"] if document["at"] else []
        cells += [_name(entry), *(str(entry[key]) for key in COUNTS)]
        cells += [
            _growth(entry, document["tolerance"]),
            small(entry["max_regret"]),
            _members(entry),
            entry["verdict"],
        ]
        table.add_row(*(Text(printable(cell)) for cell in cells), style=style)
    console.print(table)
    for entry in document["equilibria"]:
        for line in _deviations(entry, at=bool(document["at"])):
            _say(line, console)
    _say(_READ.format(tolerance=document["tolerance"]), console, "dim")
    if not all(entry["is_equilibrium"] for entry in document["equilibria"]):
        _say(_NO_EQUILIBRIUM, console, "dim")


def _name(entry: Mapping[str, Any]) -> str:
    identity = f" = {identity_text(entry['identity'])}" if entry.get("identity") else ""
    return entry["name"] + identity + ("" if entry["is_equilibrium"] else " !")


def _growth(entry: Mapping[str, Any], tolerance: float) -> str:
    """The largest real part; 0 where it counts as that."""
    growth = max((pair[0] for pair in entry["eigenvalues"]), default=0.0)
    return f"{growth:.3g}" if abs(growth) > tolerance * entry["scale"] else "0"


def _members(entry: Mapping[str, Any]) -> str:
    """How many members were looked at, with a mark if they do not agree."""
    members = entry.get("members")
    if members is None:
        return ""
    return f"{members['examined']}{'' if members['same_everywhere'] else ' *'}"


def _deviations(entry: Mapping[str, Any], *, at: bool) -> list[str]:
    """What is to be said of members whose verdict is another than inside the set."""
    members = entry.get("members")
    if members is None:
        return []
    name = f"{entry['name']} at {entry['value']:g}" if at else entry["name"]
    lines = []
    for verdict, count in members["verdicts"].items():
        if verdict == entry["verdict"]:
            continue
        where = next(each for each in members["deviating"] if each["verdict"] == verdict)
        figures = ", ".join(f"{name}={value:.4g}" for name, value in where["parameters"].items())
        lines.append(
            f"* {name}: {count} of {members['examined']} members: {verdict}, for "
            f"example the {where['place']} {figures}"
        )
    if members["refuted"]:
        lines.append(f"* {name}: {members['refuted']} members left out, being no equilibria here")
    return lines


def _print_search(document: Mapping[str, Any], search: Mapping[str, Any], console: Console) -> None:
    at = f" at {search['value']:g}" if document["at"] else ""
    least = search["least_growth"]
    growth = "" if least is None else f"; each has an eigenvalue with real part {least:.3g} or more"
    _say(
        f"Rest points{at}: {search['draws']} faces searched, {search['arrived']} rest points, "
        f"{search['equilibria']} of them equilibria; {search['distinct']} distinct ones are none, "
        f"and {search['unstable']} of these are unstable{growth}",
        console,
    )


def _say(text: str, console: Console, style: str = "") -> None:
    console.print(Text(printable(text), style=style))
