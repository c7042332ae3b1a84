"""One stored profile as a person reads it, for a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eqbench.report.entries import game_title
from eqbench.report.naming import Match, decimal, kind_of_match
from eqbench.report.profile_facts import CARDS, SITUATIONS
from eqbench.report.terminal import fits, mebibytes, seconds, small, status_text
from eqbench.text import printable, shortened

MOST_SETS = 400
MOST_DIFFERENCES = 5
EQUILIBRIUM_SHARE = 1e-6  # of the payoff range: so much regret an equilibrium may have here
_CLOSENESS: dict[Match, str] = {
    "strict": "on its path of play, and every published constraint holds",
    "up to rounding": "as published up to rounding: on its path of play, but some "
    "constraint is missed by more than 1e-7",
    "on path": "on its path of play; elsewhere the behavior is not as published",
    "near": "not on its path of play, only the nearest published one",
    "cluster": "in no published set, numbered within the run",
}
_LEGEND = (
    "reach: probability that play gets there; own reach: the player's own part of it. "
    "gap: value of the best action minus that of this one, in payoff units, once play is there; "
    "where gaps are 0 the player is indifferent. – where chance and the others never lead there."
)


def print_profile(facts: dict[str, Any], console: Console, *, show_all: bool) -> None:
    """Print a cell, its candidate and what it plays; the most reached sets unless `show_all`."""
    _print_cell(facts, console)
    if facts["candidate"] is None:
        console.print("the cell has no profile")
        return
    _print_candidate(facts, console)
    sets = facts["information_sets"]
    shown = sets if show_all else _most_reached(sets)
    for player in dict.fromkeys(item["player"] for item in shown):
        console.print()
        console.print(Text(_label(player), style="bold"))
        _print_sets([item for item in shown if item["player"] == player], console)
    console.print()
    if len(shown) < len(sets):
        console.print(
            f"These are the {len(shown)} most reached of {len(sets):,} information sets; "
            "--all prints all."
        )
    console.print(Text(_LEGEND, style="dim"))
    if facts["szafron"] is not None:
        _print_grid(facts["szafron"], console)


def _print_cell(facts: dict[str, Any], console: Console) -> None:
    cell = facts["cell"]
    seed = "" if cell["seed"] is None else f", seed {cell['seed']},"
    game = game_title(cell["game"], cell["game_spec"])
    console.print(Text(f"{cell['solver']}{seed} on {game}", style="bold"))
    reason = f" – {shortened(printable(cell['reason']))}" if cell["reason"] else ""
    console.print(status_text(cell["status"]) + Text(reason))
    iterations = f"{cell['iterations']:,} iterations, " if cell["iterations"] else ""
    time, memory = seconds(cell["elapsed_s"]), mebibytes(cell["peak_memory_bytes"])
    console.print(Text(f"{iterations}time {time}, memory {memory}, key {cell['key']}"))


def _print_candidate(facts: dict[str, Any], console: Console) -> None:
    found = facts["candidate"]
    which = f"rank {facts['rank']} (the best is 0) of {facts['candidates']}"
    console.print(Text(f"{which}: {found['claim']}, {found['profile']}"))
    if found["refuted"] is not None:
        console.print(Text(f"refuted: {shortened(printable(found['refuted']))}", style="red"))
    allowed = EQUILIBRIUM_SHARE * facts["payoff_scale"]
    print_identity(found["identity"], console, is_equilibrium=found["max_regret"] <= allowed)
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("player")
    for heading in ("payoff", "regret"):
        table.add_column(heading, justify="right")
    for label, payoff, regret in zip(
        facts["players"], found["payoffs"], found["regrets"], strict=True
    ):
        table.add_row(_label(label), f"{payoff:+z.5f}", small(regret))
    console.print(table)
    players = len(found["regrets"])
    console.print(
        f"NashConv {small(found['nash_conv'])}, max regret {small(found['max_regret'])}, "
        f"exploitability (NashConv / {players}) {small(found['nash_conv'] / players)}"
    )


def print_identity(
    identity: dict[str, Any] | None,
    console: Console,
    *,
    is_equilibrium: bool,
    is_proved: bool = False,
) -> None:
    """Print which equilibrium a profile is, where in its set, and how it differs.

    Parameters
    ----------
    is_equilibrium : whether its regret allows to call it one
    is_proved : whether its regret is 0 in rational arithmetic
    """
    if identity is None:
        found = "an equilibrium, proved exactly;" if is_proved else "equilibrium:"
        console.print(f"{found} in no published set" if is_equilibrium else "no equilibrium")
        return
    what = "equilibrium:" if is_equilibrium else "no equilibrium, but near"
    if identity["on_path"] and not is_equilibrium:
        what = "no equilibrium, but its path of play is that of"
    also = f" (also {', '.join(identity['also'])})" if identity["also"] else ""
    console.print(Text(f"{what} {identity['name']}{also}", style="bold"))
    lines = [f"{_CLOSENESS[kind_of_match(identity)]}; distance {small(identity['distance'])}"]
    if identity["parameters"]:
        values = (f"{name}={decimal(value, 6)}" for name, value in identity["parameters"].items())
        lines.append(f"parameters: {', '.join(values)}")
    if identity["dimension"] is not None:
        lines.append(f"dimension of the equilibria around it: {identity['dimension']}")
    if identity["off_path"]:
        lines.append(f"off the path of play: {_largest(identity['off_path'])}")
    for line in lines:
        console.print(Padding(Text(line), (0, 0, 0, 2), expand=False))


def _largest(differences: dict[str, float]) -> str:
    """The largest differences, and how many more there are."""
    order = sorted(differences, key=lambda place: -abs(differences[place]))
    shown = [f"{place} by {decimal(differences[place], 6)}" for place in order[:MOST_DIFFERENCES]]
    more = len(order) - len(shown)
    return ", ".join(shown) + (f", and {more} more" if more else "")


def _most_reached(sets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The sets that are reached most, in their old order."""
    order = sorted(range(len(sets)), key=lambda i: -sets[i]["reach"])
    return [sets[i] for i in sorted(order[:MOST_SETS])]


def _print_sets(sets: list[dict[str, Any]], console: Console) -> None:
    """Print with as many actions side by side as fit."""
    for abreast in range(max(len(item["actions"]) for item in sets), 0, -1):
        table = _sets_table(sets, abreast)
        if abreast == 1 or fits(table, console):
            console.print(table)
            return


def _sets_table(sets: list[dict[str, Any]], abreast: int) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("information\nset", overflow="fold")
    for heading in ("reach", "own\nreach"):
        table.add_column(heading, justify="right", no_wrap=True)
    for _ in range(abreast):
        table.add_column(" action", overflow="fold")
        table.add_column("fre-\nquency", justify="right", no_wrap=True)
        table.add_column("gap", justify="right", no_wrap=True)
    for item in sets:
        unreached = item["reach"] == 0
        reach = "unreached" if unreached else _probability(item["reach"])
        start = [_label(item["label"]), reach, _probability(item["own_reach"])]
        for first in range(0, len(item["actions"]), abreast):
            line = [Text(text) for text in start]
            for action in item["actions"][first : first + abreast]:
                gap = action["gap"]
                line += [
                    Text(f" {shortened(printable(action['action']))}"),
                    Text(_probability(action["frequency"])),
                    Text("–" if gap is None else "0" if gap == 0 else _number(gap)),
                ]
            table.add_row(*line, style="dim" if unreached else None)
            start = ["", "", ""]
    return table


def _print_grid(grid: dict[str, list[list[float]]], console: Console) -> None:
    console.print()
    console.print(
        Text("Probability of bet or call with card j in situation k (Szafron et al. 2013)")
    )
    for letter, (player, situations) in SITUATIONS.items():
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column(f"{letter}_jk ({player})")
        for k, history in enumerate(situations, start=1):
            table.add_column(f"{k}: {_label(history)}", justify="right", no_wrap=True)
        for card, row in zip(CARDS, grid[letter], strict=True):
            table.add_row(f"card {card}", *map(_probability, row))
        console.print()
        console.print(table)


def _label(text: str) -> str:
    """Label of an information set or a history as a cell shows it; empty ones are common."""
    return shortened(printable(text)) or '""'


def _probability(value: float) -> str:
    return f"{value:.0f}" if value in (0, 1) else _number(value)


def _number(value: float) -> str:
    """A number with five decimals, or by its size where these would hide it."""
    return small(value) if value < 1e-4 else f"{value:.5f}"
