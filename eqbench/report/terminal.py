"""The comparison table of a run, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from eqbench.store.schema import CellRecord

_STYLES = {"ok": "green", "limit": "yellow", "timeout": "yellow", "memory": "yellow"}
_ALARMING = {"failed", "crashed", "refuted", "interrupted"}
_SHORT_CLAIMS = {"iterate": "last", "complete list": "list"}
# Two lines where space is short. The last two of the wide table follow from the others.
_HEADERS = {
    "solver": "solver",
    "seed": "seed",
    "status": "status",
    "max regret": "max\nregret",
    "NashConv": "NashConv",
    "exploitability": "exploit-\nability",
    "payoffs": "payoffs",
    "profile": "profile",
    "iterations": "iterations",
    "time": "time",
    "memory": "memory",
}
_LEFT = ("solver", "status", "profile")
_LEFT_OUT_WHEN_NARROW = ("exploitability", "profile")


def print_comparison(records: Sequence[CellRecord], console: Console) -> None:
    """One table per game, in the order of the records, with notes below."""
    for game_spec in dict.fromkeys(record.game_spec for record in records):
        rows = [record for record in records if record.game_spec == game_spec]
        console.print(Text(_title(rows[0]), style="bold"))
        _print_rows(rows, console)
        for note in _notes(rows):
            console.print(Text(_printable(note), style="dim"))
        console.print()
    for note in _legend(records):
        console.print(Text(note, style="dim"))


def _print_rows(rows: Sequence[CellRecord], console: Console) -> None:
    """The widest form that fits; a number is never cut off."""
    names = [name for name in _HEADERS if name != "seed" or _several_seeds(rows)]
    narrow = [name for name in names if name not in _LEFT_OUT_WHEN_NARROW]
    unbounded = console.options.update(max_width=10_000)
    for table in (_table(rows, names, stacked=False), _table(rows, narrow, stacked=True)):
        if Measurement.get(console, unbounded, table).maximum <= console.width:
            console.print(table)
            return
    for row in rows:
        cells = _cells(row, between_payoffs=" ")
        facts = [f"{name} {cells[name].plain}" for name in names if name not in ("solver", "seed")]
        console.print(Text(_name(row, rows), style="bold"))
        console.print(Text("  " + ", ".join(facts)))


def _title(row: CellRecord) -> str:
    return row.game_spec if row.game == row.game_spec else f"{row.game} = {row.game_spec}"


def _table(rows: Sequence[CellRecord], names: Sequence[str], *, stacked: bool) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    for name in names:
        header = _HEADERS[name] if stacked else name
        table.add_column(header, justify="left" if name in _LEFT else "right", no_wrap=True)
    for row in rows:
        cells = _cells(row, between_payoffs="\n" if stacked else " ")
        table.add_row(*(cells[name] for name in names))
    return table


def _cells(row: CellRecord, *, between_payoffs: str) -> dict[str, Text]:
    claim = row.equilibria[0].claim if row.equilibria else None
    texts = {
        "solver": row.solver,
        "seed": "" if row.seed is None else str(row.seed),
        "max regret": _small(row.max_regret),
        "NashConv": _small(row.nash_conv),
        "exploitability": _small(row.exploitability),
        "payoffs": _payoffs(row.payoffs, between_payoffs),
        "profile": "–" if claim is None else _SHORT_CLAIMS.get(claim, claim),
        "iterations": "–" if row.iterations is None else f"{row.iterations:,}",
        "time": seconds(row.elapsed_s),
        "memory": mebibytes(row.peak_memory_bytes),
    }
    cells = {name: Text(text) for name, text in texts.items()}
    return cells | {"status": Text(row.status, style=_style(row.status))}


def _several_seeds(rows: Sequence[CellRecord]) -> bool:
    return len({row.seed for row in rows if row.seed is not None}) > 1


def _name(row: CellRecord, rows: Sequence[CellRecord]) -> str:
    """Solver of a row, with its seed where that tells rows apart."""
    seed = f" (seed {row.seed})" if row.seed is not None and _several_seeds(rows) else ""
    return row.solver + seed


def _notes(rows: Sequence[CellRecord]) -> list[str]:
    """Reasons of what is not ok, each with all rows that share it, and the target."""
    shared: dict[tuple[str, str, str | None], list[str]] = {}
    for row in rows:
        if row.status != "ok":
            log = row.log if row.status in _ALARMING else None
            shared.setdefault((row.status, row.reason, log), []).append(_name(row, rows))
    notes = [
        f"{status}: {', '.join(names)}" + (f" – {reason}" if reason else "") + _see(log)
        for (status, reason, log), names in shared.items()
    ]
    targets = {row.target for row in rows if row.target}
    if targets:
        notes.append(f"target: max regret {' or '.join(f'{t:.1e}' for t in sorted(targets))}")
    return notes


def _printable(text: str) -> str:
    """Text without line breaks and escape codes; reasons come from solvers."""
    return "".join(char if char.isprintable() else " " for char in text)


def _see(log: str | None) -> str:
    return "" if log is None else f" (see {log})"


def _legend(records: Iterable[CellRecord]) -> list[str]:
    players = {len(record.regrets) for record in records if record.regrets}
    if not players:
        return []
    count = str(players.pop()) if len(players) == 1 else "players"
    return [
        "Regrets are in payoff units, measured on the tree; NashConv is their sum, "
        f"exploitability is NashConv\u00a0/\u00a0{count}. "
        "Time is solving time; memory includes Python itself."
    ]


def _style(status: str) -> str:
    return "red" if status in _ALARMING else _STYLES.get(status, "dim")


def _small(value: float | None) -> str:
    """A regret with two digits; regrets reach from rounding errors to whole pots."""
    return "–" if value is None else f"{value:.1e}"


def _payoffs(values: Sequence[float] | None, between: str) -> str:
    return "–" if values is None else between.join(f"{value:+z.5f}" for value in values)


def seconds(value: float | None) -> str:
    """A duration with its unit."""
    if value is None:
        return "–"
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    if value < 1:
        return f"{value * 1e3:.1f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def mebibytes(value: int | None) -> str:
    """A size in MiB."""
    return "–" if value is None else f"{value / 2**20:.0f} MiB"
