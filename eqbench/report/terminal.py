"""The comparison table of a run, as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqbench.store.schema import CellRecord

_STYLES = {"ok": "green", "limit": "yellow", "timeout": "yellow", "memory": "yellow"}
_ALARMING = {"failed", "crashed", "refuted"}


def print_comparison(records: Sequence[CellRecord], console: Console) -> None:
    """One table per game, in the order of the records, with notes below."""
    for game_spec in dict.fromkeys(record.game_spec for record in records):
        rows = [record for record in records if record.game_spec == game_spec]
        console.print(_table(game_spec, rows, console.width))
        for note in _notes(rows):
            console.print(note, style="dim", highlight=False, soft_wrap=True)
        console.print()


def _table(game_spec: str, rows: Sequence[CellRecord], width: int) -> Table:
    table = Table(title=game_spec, title_justify="left", title_style="bold", box=None)
    several_seeds = len({row.seed for row in rows if row.seed is not None}) > 1
    table.add_column("solver", no_wrap=True)
    if several_seeds:
        table.add_column("seed", justify="right")
    table.add_column("status")
    for name in ("max regret", "NashConv", "exploitability"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("payoffs", justify="right", no_wrap=True)
    for name in ("time", "memory"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        cells: list[Any] = [Text(row.solver)]
        if several_seeds:
            cells.append("" if row.seed is None else str(row.seed))
        cells += [
            Text(row.status, style=_style(row.status)),
            _small(row.max_regret),
            _small(row.nash_conv),
            _small(row.exploitability),
            _payoffs(row.payoffs),
            seconds(row.elapsed_s),
            mebibytes(row.peak_memory_bytes),
        ]
        table.add_row(*cells)
    return table


def _notes(rows: Sequence[CellRecord]) -> list[str]:
    notes = []
    for row in rows:
        if row.status != "ok" and row.reason:
            seed = "" if row.seed is None else f" (seed {row.seed})"
            notes.append(f"{row.solver}{seed}: {row.status}, {row.reason}")
    players = {len(row.regrets) for row in rows if row.regrets}
    if players:
        notes.append(
            f"Regrets are in payoff units, measured on the tree. NashConv is their sum over the "
            f"{max(players)} players, exploitability is NashConv / {max(players)}. Time is solving "
            "time without set-up."
        )
    return notes


def _style(status: str) -> str:
    return "red" if status in _ALARMING else _STYLES.get(status, "dim")


def _small(value: float | None) -> str:
    """A regret with two digits; regrets reach from rounding errors to whole pots."""
    return "–" if value is None else f"{value:.1e}"


def _payoffs(values: Sequence[float] | None) -> str:
    return "–" if values is None else " ".join(f"{value:+.5f}" for value in values)


def seconds(value: float | None) -> str:
    """A duration with three digits and its unit."""
    if value is None:
        return "–"
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def mebibytes(value: int | None) -> str:
    """A size in MiB."""
    return "–" if value is None else f"{value / 2**20:.0f} MiB"
