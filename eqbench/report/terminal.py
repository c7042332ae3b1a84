"""The comparison table of a run, as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from eqbench.store.schema import CellRecord

_STYLES = {"ok": "green", "limit": "yellow", "timeout": "yellow", "memory": "yellow"}
_ALARMING = {"failed", "crashed", "refuted"}


def print_comparison(records: Sequence[CellRecord], console: Console) -> None:
    """One table per game, in the order of the records, with notes below."""
    for game_spec in dict.fromkeys(record.game_spec for record in records):
        rows = [record for record in records if record.game_spec == game_spec]
        table = _table(rows, narrow=False)
        unbounded = console.options.update(max_width=10_000)
        if Measurement.get(console, unbounded, table).maximum > console.width:
            table = _table(rows, narrow=True)
        console.print(Text(_title(rows[0]), style="bold"))
        console.print(table)
        for note in _notes(rows):
            console.print(Text(note, style="dim"))
        console.print()


def _title(row: CellRecord) -> str:
    return row.game_spec if row.game == row.game_spec else f"{row.game} = {row.game_spec}"


def _table(rows: Sequence[CellRecord], *, narrow: bool) -> Table:
    """The table of one game; a narrow one breaks headers and stacks the payoffs."""
    several_seeds = _several_seeds(rows)
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("solver", no_wrap=True)
    if several_seeds:
        table.add_column("seed", justify="right")
    table.add_column("status", no_wrap=True)
    for name in ("max\nregret", "NashConv", "exploit-\nability", "payoffs", "time", "memory"):
        header = name if narrow else name.replace("-\n", "").replace("\n", " ")
        table.add_column(header, justify="right", no_wrap=True)
    for row in rows:
        seed = [] if not several_seeds else [Text("" if row.seed is None else str(row.seed))]
        table.add_row(
            Text(row.solver),
            *seed,
            Text(row.status, style=_style(row.status)),
            _small(row.max_regret),
            _small(row.nash_conv),
            _small(row.exploitability),
            _payoffs(row.payoffs, "\n" if narrow else " "),
            seconds(row.elapsed_s),
            mebibytes(row.peak_memory_bytes),
        )
    return table


def _several_seeds(rows: Sequence[CellRecord]) -> bool:
    return len({row.seed for row in rows if row.seed is not None}) > 1


def _notes(rows: Sequence[CellRecord]) -> list[str]:
    notes = []
    for row in rows:
        if row.status != "ok" and row.reason:
            seed = f" (seed {row.seed})" if row.seed is not None and _several_seeds(rows) else ""
            notes.append(f"{row.solver}{seed}: {row.status}, {row.reason}")
    players = max((len(row.regrets) for row in rows if row.regrets), default=0)
    if players:
        notes.append(
            "Regrets are in payoff units, measured on the tree. NashConv is their sum over the "
            f"{players} players, exploitability is NashConv / {players}. Time is solving time "
            "without set-up."
        )
    return notes


def _style(status: str) -> str:
    return "red" if status in _ALARMING else _STYLES.get(status, "dim")


def _small(value: float | None) -> str:
    """A regret with two digits; regrets reach from rounding errors to whole pots."""
    return "–" if value is None else f"{value:.1e}"


def _payoffs(values: Sequence[float] | None, between: str) -> str:
    return "–" if values is None else between.join(f"{value:+.5f}" for value in values)


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
