"""A traced branch as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqbench.report.naming import identity_text, marks
from eqbench.report.terminal import fits, seconds, small
from eqbench.spec import parse_spec
from eqbench.studies.branch import POLISHED, SAME_PAYOFFS
from eqbench.text import printable

MOST_ROWS = 20
_UNPOLISHED = "!"

_FOLDS = (
    "exact: determined by the support; otherwise the fold is that of the regularized branch and "
    "depends on epsilon"
)
_VERTICAL = (
    "Equilibria form a continuum at this value. The crossing is the one of them that epsilon and "
    "the regularization select."
)
_COUNTS = (
    "Counts are of this branch and depend on epsilon and the regularization; other equilibria may "
    f"exist beside it. Payoffs count as distinct if they differ by more than {SAME_PAYOFFS:g}, and "
    f"a crossing as polished if the verifier measures a max regret of at most {POLISHED:g} of the "
    "payoff range."
)


def print_trace(document: Mapping[str, Any], console: Console) -> None:
    """Print what the summary of a trace says: folds, vertical pieces, equilibria."""
    name, players = document["parameter"], document["players"]
    game = parse_spec(document["game"]).without(document["parameter"])
    _say(f"Branch of {game}", console, style="bold")
    _print_course(document, console)
    _print_folds(document["folds"], name, players, console)
    _print_corners(document["corners"], console)
    _print_vertical(document["vertical"], name, players, console)
    _print_coexisting(document, console)
    for entry in document["at"]:
        console.print()
        _print_entry(entry, name, players, console)
        _note(f"{_method(document)}.", console)
    if document["at"]:
        _note(_COUNTS, console)


def _print_course(document: Mapping[str, Any], console: Console) -> None:
    name = document["parameter"]
    _say(
        f"{name} from {_short(document['from'])} towards {_short(document['to'])}, "
        f"{_method(document)}",
        console,
    )
    count, work = document["points"], document["factorizations"]
    _say(
        f"{_count(count, 'point')} up to {name}={_short(document['last'])}"
        + (f", {_count(work, 'factorization')}" if work is not None else "")
        + f", {seconds(document['elapsed_s'])}",
        console,
    )
    if not document["finished"]:
        _say(document["reason"], console, style="yellow")
    elif document["last"] == document["from"]:
        _say(f"The branch came back to {name}={_short(document['from'])}.", console)


def _method(document: Mapping[str, Any]) -> str:
    """How the branch is regularized, as far as the solver says."""
    words = [
        f"{name} {document[name]}"
        for name in ("epsilon", "regularization", "derivative")
        if document[name] is not None
    ]
    return ", ".join(words) or document["solver"]


def _print_folds(
    folds: Sequence[Mapping[str, Any]], name: str, players: Sequence[str], console: Console
) -> None:
    if not folds:
        _say("No folds.", console)
        return
    console.print()
    _say(f"Folds: {len(folds):,}", console, style="bold")
    table = _grid(name, *_payoff_headings(players))
    table.add_column("exact")
    for fold in folds[:MOST_ROWS]:
        exact = "yes" if fold["exact"] else "no"
        table.add_row(f"{fold['parameter']:.9f}", *map(_payoff, fold["payoffs"]), exact)
    console.print(table)
    if len(folds) > MOST_ROWS:
        _note(f"{len(folds) - MOST_ROWS:,} more in summary.json", console)
    _note(_FOLDS, console)


def _print_corners(corners: Sequence[Mapping[str, Any]], console: Console) -> None:
    if corners:
        console.print()
        _say(f"{_count(len(corners), 'corner')}, where actions enter or leave the support", console)


def _print_vertical(
    pieces: Sequence[Mapping[str, Any]], name: str, players: Sequence[str], console: Console
) -> None:
    if not pieces:
        return
    console.print()
    _say(f"Vertical pieces: {len(pieces):,}", console, style="bold")
    table = _grid(name, *_payoff_headings(players))
    for piece in pieces[:MOST_ROWS]:
        ranges = zip(*piece["payoffs"], strict=True)
        table.add_row(
            f"{piece['parameter']:.9f}",
            *(f"{_payoff(low)} … {_payoff(high)}" for low, high in ranges),
        )
    console.print(table)
    _note("payoffs: range over a few polished points inside; the piece goes further", console)
    if len(pieces) > MOST_ROWS:
        _note(f"{len(pieces) - MOST_ROWS:,} more in summary.json", console)


def _print_coexisting(document: Mapping[str, Any], console: Console) -> None:
    most, intervals = document["coexisting"]["most"], document["coexisting"]["intervals"]
    if most < 2:
        return
    shown = ", ".join(f"{low:.6f} to {high:.6f}" for low, high in intervals[:MOST_ROWS])
    more = "" if len(intervals) <= MOST_ROWS else f" and {len(intervals) - MOST_ROWS:,} more"
    console.print()
    _say(
        f"Up to {most} points of this branch at one value of {document['parameter']}: "
        f"{shown}{more}",
        console,
    )


def _print_entry(
    entry: Mapping[str, Any], name: str, players: Sequence[str], console: Console
) -> None:
    low, high = entry["window"]
    _say(f"Equilibria on this branch at {name}={_short(entry['parameter'])}", console, style="bold")
    _say(
        f"{_count(entry['crossings'], 'crossing')}, "
        f"{_count(entry['polished'], 'polished equilibrium', 'polished equilibria')} with "
        f"{_count(entry['distinct_payoffs'], 'distinct payoff vector')}"
        + (f"; as many crossings from {low:.6f} to {high:.6f}" if low < high else ""),
        console,
    )
    if entry["lost"]:
        _say(
            f"{_count(entry['lost'], 'more crossing')} could not be computed",
            console,
            style="yellow",
        )
    if entry["vertical"]:
        _note(_VERTICAL, console)
    if entry["equilibria"]:
        names = [identity_text(item["identity"]) for item in entry["equilibria"]]
        for known, files in ((True, True), (True, False), (False, False)):
            table = _equilibria(entry, names, players, known=known and any(names), files=files)
            if fits(table, console) or not known:
                console.print(table)
                break
        for mark in marks([(text,) for text in names]):
            _note(mark, console)
        if not all(item["polished"] for item in entry["equilibria"]):
            _note(f"{_UNPOLISHED} not polished to an equilibrium", console)
    if "beside" in entry:
        _say(_beside(entry["beside"], players), console)


def _equilibria(
    entry: Mapping[str, Any],
    names: Sequence[str],
    players: Sequence[str],
    *,
    known: bool,
    files: bool,
) -> Table:
    table = _grid("", *_payoff_headings(players), "max regret")
    if known:
        table.add_column("identity", overflow="fold")
    if files:
        table.add_column("profile", overflow="fold")
    for number, (item, identity) in enumerate(zip(entry["equilibria"], names, strict=True), 1):
        mark = "" if item["polished"] else f" {_UNPOLISHED}"
        row = [str(number), *map(_payoff, item["payoffs"]), small(item["max_regret"]) + mark]
        row += [printable(identity) or "–"] if known else []
        row += [item["profile"]] if files else []
        table.add_row(*map(Text, row))
    return table


def _beside(beside: Mapping[str, Any], players: Sequence[str]) -> str:
    text = (
        f"Found beside it from {_count(beside['starts'], 'random start')}: "
        f"{_count(beside['polished'], 'equilibrium', 'equilibria')} with "
        f"{_count(beside['distinct_payoffs'], 'distinct payoff vector')}"
    )
    if beside["not_on_branch"] is not None:
        text += f", of which {beside['not_on_branch']} not on this branch"
    ranges = [
        f"{heading} {_payoff(low)} … {_payoff(high)}"
        for heading, (low, high) in zip(
            _payoff_headings(players), beside["payoff_ranges"], strict=False
        )
    ]
    return f"{text}; {', '.join(ranges)}" if ranges else text


def _count(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def _payoff_headings(players: Sequence[str]) -> list[str]:
    return [printable(f"u:{player}") for player in players]


def _grid(*numeric: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    for heading in numeric:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _payoff(value: float) -> str:
    return f"{value:+z.6f}"


def _short(value: float) -> str:
    return f"{value:.9g}"


def _say(text: str, console: Console, style: str = "") -> None:
    console.print(Text(printable(text), style=style))


def _note(text: str, console: Console) -> None:
    _say(text, console, "dim")
