"""A cross-play as tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqbench.report.naming import decimal, kind_of_match, leading, marked, marks
from eqbench.report.terminal import fits, small
from eqbench.studies.crossplay.entries import Found, LeftOut
from eqbench.studies.crossplay.payoffs import SAME_PLAN
from eqbench.studies.crossplay.study import Crossplay, WorstCases
from eqbench.text import printable

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
_DECIMALS = (
    "What is known only as decimals, as solvers find it, is rounded and so hardly ever exactly an "
    "equilibrium. Without --exact, --tolerance says how much regret an equilibrium may have."
)


def print_crossplay(
    result: Crossplay,
    found: Sequence[Found],
    copies: Sequence[tuple[Found, Found]],
    left_out: LeftOut,
    console: Console,
) -> None:
    """Print the entries, who can be exchanged for whom, and the worst cases."""
    console.print(Text(f"Cross-play on {result.game.spec}", style="bold"))
    _print_entries(result, found, console)
    for copy, kept in copies:
        _note(f"left out: {copy.source} plays the same as {kept.source}", console)
    for note in left_out.notes():
        _note(note, console)
    _say_what_is_no_equilibrium(result, console)
    _print_exchanges(result, console)
    if len(found) > 1:
        console.print()
        _print_share(result, console)
    console.print()
    console.print(Text("Worst cases over the entries", style="bold"))
    _print_worst(result, console)
    _note(_WORST_LEGEND, console)


def _print_exchanges(result: Crossplay, console: Console) -> None:
    """What happens if one player follows another entry than all others."""
    if len(result.labels) == 1:
        return
    players = range(result.game.tree.n_players)
    steady = [p for p in players if result.n_strategies[p] == 1]
    if steady:
        names = [result.game.tree.players[p] for p in steady]
        verb = "follows" if len(steady) == 1 else "each follow"
        console.print()
        _say(f"{_listed(names)} {verb} the same strategy in all entries.", console)
    shown = [p for p in players if p not in steady]
    if len(players) == 2:  # P2 among the strategies of another entry is P1 among those of this
        shown = [] if steady else [0]
    for player in shown:
        console.print()
        _print_swaps(result, player, console)


def _say(text: str, console: Console) -> None:
    console.print(Text(printable(text)))


def _listed(names: Sequence[str]) -> str:
    """Names as ``A``, ``A and B``, ``A, B and C``."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _note(text: str, console: Console) -> None:
    console.print(Text(printable(text), style="dim"))


def _grid() -> Table:
    return Table(box=None, padding=(0, 1, 0, 0))


def _print_entries(result: Crossplay, found: Sequence[Found], console: Console) -> None:
    """The widest form that fits: with all parameters, with one, with payoffs below each other."""
    for parameters, between in ((True, " "), (False, " "), (False, "\n")):
        table = _entries(result, found, parameters=parameters, between_payoffs=between)
        if fits(table, console) or between == "\n":
            console.print(table)
            break
    numbers = [len(item.identity["parameters"]) for item in found if item.identity]
    if not parameters and max(numbers, default=0) > 1:
        _note("Further parameters need more space; --json has all of them.", console)
    names = [(_identity(item, parameters=False),) for item in found if item.identity]
    for mark in marks(names):
        _note(mark, console)


def _entries(
    result: Crossplay, found: Sequence[Found], *, parameters: bool, between_payoffs: str
) -> Table:
    identities = [_identity(item, parameters=parameters) for item in found]
    known = any(item.identity for item in found) and any(identities)
    table = _grid()
    table.add_column("entry", no_wrap=True)
    table.add_column("from", overflow="fold")
    if known:
        table.add_column("identity", overflow="fold")
    table.add_column("payoffs", justify="right", no_wrap=True)
    table.add_column("max regret", justify="right", no_wrap=True)
    for a, (label, item) in enumerate(zip(result.labels, found, strict=True)):
        regret = result.swap_regrets[0, a, a].max()
        table.add_row(
            label,
            Text(printable(item.source)),
            *([Text(printable(identities[a]))] if known else []),
            between_payoffs.join(map(_payoff, result.swap_payoffs[0, a, a])),
            "0" if regret == 0 else small(float(regret)),
        )
    return table


def _identity(item: Found, *, parameters: bool) -> str:
    """Name of a known equilibrium with its parameters, or with the leading one only.

    Without the name where the source of the entry begins with it.
    """
    identity = item.identity
    if identity is None:
        return "–"
    pairs = list(identity["parameters"].items())
    if not parameters:
        first = leading(identity)
        pairs = [] if first is None else [first]
    values = ", ".join(f"{name}={decimal(value)}" for name, value in pairs)
    fits = kind_of_match(identity) not in ("near", "on path")
    if fits and _is_of(item.source, identity["name"]):
        return values
    return " ".join(marked(identity, f"({values})" if len(pairs) > 1 else values))


def _is_of(source: str, name: str) -> bool:
    return source == name or source.startswith(f"{name} ")


def _say_what_is_no_equilibrium(result: Crossplay, console: Console) -> None:
    n = range(len(result.labels))
    off = [result.labels[a] for a in n if not result.interchangeable[0, a, a]]
    if not off:
        return
    what = "is no equilibrium itself" if len(off) == 1 else "are no equilibria themselves"
    allowed = "exactly 0" if result.exact else small(result.tolerance)
    _note(f"{_listed(off)} {what} (allowed regret: {allowed})", console)
    if result.exact:
        _note(_DECIMALS, console)


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
    what = "combinations of different strategies"
    counts = zip(result.n_strategies, result.game.tree.players, strict=True)
    strategies = _listed([f"{count:,} of {player}" for count, player in counts])
    share = (
        f"{n:,} {what} are too many to verify all of them."
        if equilibria is None
        else f"{equilibria:,} of {n:,} {what} are equilibria ({equilibria / n:.1%})."
    )
    least = "" if result.exact else f" (by more than {SAME_PLAN:.0e})".replace("e-0", "e-")
    _say(f"{share} Different strategies{least} in the entries: {strategies}.", console)


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
