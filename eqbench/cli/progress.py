"""Progress of a run on standard error: a live line in a terminal, nothing else otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eqbench.cli.output import say


class Progress:
    """Observer of a run; use it in a ``with``."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self.verbose = verbose and not quiet
        self.display: Any = None
        if not quiet:
            from eqbench.report.screen import Screen

            console = Screen(stderr=True)
            if console.is_terminal:
                self.display = _display(console)

    def __enter__(self) -> Progress:
        if self.display is not None:
            self.display.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.display is not None:
            self.display.stop()

    def planned(self, cells: Sequence[Any], finished: int) -> None:
        if self.display is not None:
            self.task = self.display.add_task("", total=len(cells), completed=finished)

    def started(self, cell: Any) -> None:
        if self.display is not None:
            seed = "" if cell.seed is None else f", seed {cell.seed}"
            name = f"{cell.solver.typed} on {cell.game.typed}{seed}"
            self.display.update(self.task, description=name)

    def finished(self, record: Any) -> None:
        if self.display is not None:
            self.display.advance(self.task)
        if self.verbose:
            from eqbench.report.terminal import seconds

            regret = "" if record.max_regret is None else f", max regret {record.max_regret:.1e}"
            line = (
                f"{record.solver} on {record.game}: {record.status}{regret}, "
                f"set-up {seconds(record.setup_s)}, solving {seconds(record.elapsed_s)}"
            )
            if self.display is not None:
                self.display.console.print(line)
            else:
                say(line)


def _display(console: Any) -> Any:
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("cell"),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
    )
