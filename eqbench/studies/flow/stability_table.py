"""Stability of equilibria as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqbench.report.naming import identity_text
from eqbench.report.terminal import fits, small
from eqbench.studies.flow.spectrum import COUNTS, STABLE, UNSTABLE
from eqbench.text import printable

_READ = (
    "Eigenvalues in frequency coordinates, counted, not in pairs; real parts up to {tolerance:g} "
    "of the spectral norm are zero. They are those of a member inside a set. Centre: a centre "
    "manifold with as many oscillating dimensions; there linearization does not decide whether a "
    "rest point is stable."
)
_NO_EQUILIBRIUM = "! is no equilibrium."
_WORDS = {UNSTABLE: "unstable", STABLE: "stable"}
_CENTER = "centre"
# Headings that are left out where the terminal is narrow, the first one first.
_LEFT_OUT = ("max regret", "members", "max re")


def print_stability(document: Mapping[str, Any], console: Console) -> None:
    """Print what the summary says: equilibria with their verdicts, then other rest points."""
    _say(f"Stability in {document['game']} under {document['solver']}", console, "bold")
    if document["equilibria"]:
        _print_equilibria(document, console)
    for search in document["rest_points"]:
        _print_search(document, search, console)


def _print_equilibria(document: Mapping[str, Any], console: Console) -> None:
    rows = [_row(document, entry) for entry in document["equilibria"]]
    missing = 0
    while missing < len(_LEFT_OUT) and not fits(_table(rows, _LEFT_OUT[:missing]), console):
        missing += 1
    console.print(_table(rows, _LEFT_OUT[:missing]))
    if missing:
        _say(f"not shown at this width: {', '.join(_LEFT_OUT[:missing])}", console, "dim")
    for entry in document["equilibria"]:
        for line in _deviations(entry, at=bool(document["at"])):
            _say(line, console)
    _say(_READ.format(tolerance=document["tolerance"]), console, "dim")
    if not all(entry["is_equilibrium"] for entry in document["equilibria"]):
        _say(_NO_EQUILIBRIUM, console, "dim")


def _row(document: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, str]:
    """Cells by heading."""
    cells = {document["parameter"]: f"{entry['value']:g}"} if document["at"] else {}
    counted = ("unstable", "oscillating", "zero", "stable")
    return cells | {
        "equilibrium": _name(entry),
        **{heading: str(entry[key]) for heading, key in zip(counted, COUNTS, strict=True)},
        "max re": _growth(entry, document["tolerance"]),
        "max regret": small(entry["max_regret"]),
        "members": _members(entry),
        "verdict": _WORDS.get(entry["verdict"], _CENTER),
    }


def _table(rows: Sequence[Mapping[str, str]], missing: Sequence[str]) -> Table:
    """The table without some columns; names are broken only if it does not fit even so."""
    table = Table(box=None, padding=(0, 1, 0, 0))
    headings = [heading for heading in rows[0] if heading not in missing]
    for heading in headings:
        if heading == "equilibrium":
            table.add_column(heading, overflow="fold")
        else:
            side: Any = "left" if heading == "verdict" else "right"
            table.add_column(printable(heading), justify=side, no_wrap=True)
    for row in rows:
        style = "yellow" if row["verdict"] == UNSTABLE else ""
        table.add_row(*(Text(printable(row[heading])) for heading in headings), style=style)
    return table


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
    _say(
        f"Rest points{at}: {_count(search['draws'], 'face')} searched; found {_found(search)}",
        console,
    )


def _found(search: Mapping[str, Any]) -> str:
    """Which rest points that are no equilibria a search found."""
    distinct, unstable, least = (search[key] for key in ("distinct", "unstable", "least_growth"))
    if not distinct:
        return "no rest point that is no equilibrium"
    if distinct == 1:
        word = "unstable" if unstable else "not unstable"
        return f"1 rest point that is no equilibrium, {word} (largest real part {least:.3g})"
    how_many = "all" if unstable == distinct else f"{unstable} of them"
    return (
        f"{distinct} rest points that are no equilibria, {how_many} unstable (largest real parts "
        f"{least:.3g} or more)"
    )


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _say(text: str, console: Console, style: str = "") -> None:
    console.print(Text(printable(text), style=style))
