"""A cross-play as tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqbench.report.naming import LOOSE, NEAR, decimal, is_cluster, leading, marks
from eqbench.report.rows import printable
from eqbench.report.terminal import fits, small
from eqbench.studies.crossplay import Crossplay, WorstCases
from eqbench.studies.crossplay_entries import Found

LONGEST_FRACTION = 12
_SWAP_LEGEND = {
    "gains": "=: an equilibrium; otherwise the largest gain of any player by deviating.",
    "signs": "=: an equilibrium; .: not one.",
}
_WORST_LEGEND = (
    "own: all follow the entry. others agree: worst case when all others follow one and the same "
    "entry. others differ: when each of them may follow another one. In brackets what P1, P2, … "
    "follow then, where it costs something. guaranteed (others act as one): against others who "
    "share what they know and may play anything. *: best worst case of the player."
)


def print_crossplay(
    result: Crossplay,
    found: Sequence[Found],
    copies: Sequence[tuple[Found, Found]],
    console: Console,
) -> None:
    """Print the entries, who can be exchanged for whom, and the worst cases."""
    console.print(Text(f"Cross-play on {result.game.spec}", style="bold"))
    _print_entries(result, found, console)
    for copy, kept in copies:
        _note(f"left out: {copy.source} plays the same as {kept.source}", console)
    _say_what_is_no_equilibrium(result, console)
    for player in range(1 if result.game.tree.n_players == 2 else result.game.tree.n_players):
        console.print()
        _print_swaps(result, player, console)
    console.print()
    _print_share(result, console)
    console.print()
    console.print(Text("Worst cases over the entries", style="bold"))
    _print_worst(result, console)
    _note(_WORST_LEGEND, console)


def _note(text: str, console: Console) -> None:
    console.print(Text(printable(text), style="dim"))


def _grid() -> Table:
    return Table(box=None, padding=(0, 1, 0, 0))


def _print_entries(result: Crossplay, found: Sequence[Found], console: Console) -> None:
    """The widest form that fits: with all parameters, with one, with payoffs below each other."""
    *wider, narrow = (
        _entries(result, found, parameters=full, between_payoffs=between)
        for full, between in ((True, " "), (False, " "), (False, "\n"))
    )
    console.print(next((table for table in wider if fits(table, console)), narrow))
    names = [(_identity(item.identity, parameters=False),) for item in found if item.identity]
    for mark in marks(names):
        _note(mark, console)


def _entries(
    result: Crossplay, found: Sequence[Found], *, parameters: bool, between_payoffs: str
) -> Table:
    known = any(item.identity for item in found)
    table = _grid()
    table.add_column("entry", no_wrap=True)
    table.add_column("from", overflow="fold")
    if known:
        table.add_column("identity", overflow="fold")
    table.add_column("payoffs", justify="right", no_wrap=True)
    table.add_column("max regret", justify="right", no_wrap=True)
    for a, (label, item) in enumerate(zip(result.labels, found, strict=True)):
        identity = _identity(item.identity, parameters=parameters)
        regret = result.swap_regrets[0, a, a].max()
        table.add_row(
            label,
            Text(printable(item.source)),
            *([Text(printable(identity))] if known else []),
            between_payoffs.join(map(_payoff, result.swap_payoffs[0, a, a])),
            "0" if regret == 0 else small(float(regret)),
        )
    return table


def _identity(identity: dict[str, Any] | None, *, parameters: bool) -> str:
    """Name of a known equilibrium with its parameters, or with the leading one only."""
    if identity is None:
        return "–"
    pairs = list(identity["parameters"].items())
    if not parameters:
        first = leading(identity)
        pairs = [] if first is None else [first]
    values = ", ".join(f"{name}={decimal(value)}" for name, value in pairs)
    about = f"({values})" if len(pairs) > 1 else values
    fits_well = identity["strict"] or is_cluster(identity["name"])
    loose = LOOSE if identity["on_path"] and not fits_well else ""
    words = ("" if identity["on_path"] else NEAR, f"{identity['name']}{loose}", about)
    return " ".join(word for word in words if word)


def _say_what_is_no_equilibrium(result: Crossplay, console: Console) -> None:
    n = range(len(result.labels))
    off = [result.labels[a] for a in n if not result.interchangeable[0, a, a]]
    if off:
        verb = "is" if len(off) == 1 else "are"
        _note(
            f"{', '.join(off)} {verb} themselves no equilibrium to this accuracy (allowed regret: "
            f"{'exactly 0' if result.exact else small(result.tolerance)})",
            console,
        )


def _print_swaps(result: Crossplay, player: int, console: Console) -> None:
    """The widest form of the matrix of one player that fits."""
    who = result.game.tree.players[player]
    title = f"{printable(who)} follows the row, all others the column"
    gains = result.swap_regrets[player].max(axis=-1)

    def sign(a: int, b: int) -> str:
        return "=" if result.interchangeable[player, a, b] else "."

    def gain(a: int, b: int) -> str:
        found = sign(a, b)
        return found if found == "=" else small(float(gains[a, b]))

    for legend, write in (("gains", gain), ("signs", sign)):
        table = _matrix(result, write)
        if fits(table, console):
            console.print(Text(title, style="bold"))
            console.print(table)
            _note(_SWAP_LEGEND[legend], console)
            return
    equilibria, pairs = int(result.interchangeable[player].sum()), len(result.labels) ** 2
    _note(
        f"{title}: {equilibria} of {pairs} pairs are equilibria; too wide to print, but --json "
        "and --out have all",
        console,
    )


def _matrix(result: Crossplay, write: Callable[[int, int], str]) -> Table:
    table = _grid()
    table.add_column("")
    for label in result.labels:
        table.add_column(label, justify="right", no_wrap=True)
    for a, label in enumerate(result.labels):
        cells = [write(a, b) for b in range(len(result.labels))]
        table.add_row(label, *(Text(c, style="green" if c == "=" else "") for c in cells))
    return table


def _print_share(result: Crossplay, console: Console) -> None:
    equilibria, n = result.n_equilibria, result.n_combinations
    console.print(
        f"{n:,} combinations are too many to verify all of them"
        if equilibria is None
        else f"{equilibria:,} of {n:,} combinations are equilibria ({equilibria / n:.1%})",
        highlight=False,
    )


def _print_worst(result: Crossplay, console: Console) -> None:
    """With who plays what, or without where this is too wide."""
    for named in (True, False):
        table = _worst_table(result, named=named)
        if fits(table, console) or not named:
            console.print(table)
            return


def _worst_table(result: Crossplay, *, named: bool) -> Table:
    table = _grid()
    for heading in ("player", "entry"):
        table.add_column(heading, no_wrap=True)
    for heading in ("own", "others\nagree"):
        table.add_column(heading, justify="right", no_wrap=True)
    if named:
        table.add_column("")
    table.add_column("others\ndiffer", justify="right", no_wrap=True)
    if named:
        table.add_column("")
    table.add_column("guaranteed\n(others act\nas one)", justify="right", no_wrap=True)
    for player, who in enumerate(result.game.tree.players):
        for a, label in enumerate(result.labels):
            row = [Text(printable(who) if a == 0 else ""), Text(label)]
            row.append(Text(_payoff(result.own_payoffs[player, a])))
            for cases in (result.others_agree, result.others_differ):
                row.append(_worst_payoff(cases, player, a))
                if named:
                    row.append(Text(_who(result, cases, player, a)))
            row.append(_worst_payoff(result.guaranteed, player, a))
            table.add_row(*row)
    return table


def _worst_payoff(cases: WorstCases, player: int, entry: int) -> Text:
    best = bool(cases.best[player, entry])
    payoff = _payoff(cases.payoffs[player, entry])
    return Text(f"{payoff}{'*' if best else ' '}", style="bold" if best else "")


def _who(result: Crossplay, cases: WorstCases, player: int, entry: int) -> str:
    """What everyone follows in a worst case, unless it is as good as the own equilibrium."""
    lost = result.own_payoffs[player, entry] - cases.payoffs[player, entry]
    if cases.entries is None or lost <= cases.slack:
        return ""
    return f"({' '.join(result.labels[e] for e in cases.entries[player, entry])})"


def _payoff(value: Any) -> str:
    """A payoff: a fraction that a person can read, or five decimals."""
    if isinstance(value, Fraction) and len(str(value)) <= LONGEST_FRACTION:
        return str(value)
    return f"{float(value):+z.5f}"
