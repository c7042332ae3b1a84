"""Branches of quantal response equilibria as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqbench.report.terminal import seconds, small
from eqbench.studies.trace_measure import POLISHED, SAME_PAYOFFS
from eqbench.studies.trace_tables import identity_text
from eqbench.text import printable

MOST_ROWS = 20

_READ = (
    "Points with a lambda are quantal response equilibria; the last line is what the end of the "
    "branch leads to. Max regret is that of the verifier, in payoff units; ! marks more than "
    f"{POLISHED:g} of the payoff range, which is no equilibrium."
)
_RANDOM = (
    "Priors are drawn uniformly at every information set. Branches lead to some of the equilibria; "
    f"others may exist. Payoffs are distinct if they differ by more than {SAME_PAYOFFS:g}."
)


def print_quantal(document: Mapping[str, Any], console: Console) -> None:
    """Print what the summary says: the principal branch, then those from random priors."""
    players = document["players"]
    principal, drawn = document["branches"][0], document["branches"][1:]
    _say(f"Logit quantal response equilibria of {document['game']}", console, "bold")
    _say(_course(principal), console)
    table = _grid("lambda", *(f"u:{player}" for player in players), "max regret")
    table.add_column("identity", overflow="fold")
    for point in principal["at"]:
        table.add_row(f"{point['lambda']:,g}", *_figures(point))
    end = principal["equilibrium"]
    table.add_row("∞" if end["is_equilibrium"] else "end", *_figures(end))
    console.print(table)
    _say(_READ, console, "dim")
    if drawn:
        _print_random(document["random"], drawn, players, console)


def _print_random(
    random: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
    players: Sequence[str],
    console: Console,
) -> None:
    console.print()
    _say(f"Branches from priors at random: {random['branches']}", console, "bold")
    _say(
        f"{random['arrived']} arrived, {random['with_turns']} with turning points; "
        f"{random['polished']} lead to equilibria, with {random['distinct_payoffs']} distinct "
        "payoff vectors" + "".join(f"; {name}: {count}" for name, count in random["names"].items()),
        console,
    )
    table = _grid("seed", "lambda", "turns", *(f"u:{player}" for player in players), "max regret")
    table.add_column("identity", overflow="fold")
    for entry in entries[:MOST_ROWS]:
        table.add_row(
            str(entry["seed"]),
            f"{entry['lambda']:,g}",
            str(len(entry["turns"])),
            *_figures(entry["equilibrium"]),
        )
    console.print(table)
    if len(entries) > MOST_ROWS:
        _say(f"{len(entries) - MOST_ROWS} more in summary.json", console, "dim")
    _say(_RANDOM, console, "dim")


def _course(entry: Mapping[str, Any]) -> str:
    turns = len(entry["turns"])
    return (
        f"Principal branch: {entry['points']} points to lambda {entry['lambda']:,g}"
        f"{f', {turns} turning points' if turns else ''}, {seconds(entry['traced_cpu_s'])} of CPU; "
        f"{entry['ending']}"
    )


def _figures(point: Mapping[str, Any]) -> list[Text]:
    """Payoffs, regret and identity of a verified profile."""
    mark = "" if point.get("is_equilibrium", True) else " !"
    words = [f"{payoff:+z.6f}" for payoff in point["payoffs"]]
    words += [small(point["max_regret"]) + mark, identity_text(point.get("identity"))]
    return [Text(printable(word)) for word in words]


def _grid(*numeric: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    for heading in numeric:
        table.add_column(printable(heading), justify="right", no_wrap=True)
    return table


def _say(text: str, console: Console, style: str = "") -> None:
    console.print(Text(printable(text), style=style))
