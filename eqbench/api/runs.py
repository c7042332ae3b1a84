"""Runs from Python: every cell in a process of its own, and what came of them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from eqbench.api.keywords import read_keywords, request_from
from eqbench.api.profiles import load_profile
from eqbench.api.shown import Chart, ReportText, switched
from eqbench.documents import checked
from eqbench.equilibria import Completeness
from eqbench.errors import EqbenchError, UsageError
from eqbench.harness.experiment import Experiment, Request, find_experiment, read_experiment
from eqbench.harness.run import carry_out, folder_of_experiment
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import default_registry
from eqbench.report.answer import answer
from eqbench.report.cells import View
from eqbench.report.exports import SUMMARY_COLUMNS, summary_rows
from eqbench.report.trials import entries_of
from eqbench.spec import split_specs
from eqbench.store.named import game_of_runs, profile_file
from eqbench.store.results import (
    Runs,
    data_frame,
    load_equilibria,
    load_results,
    load_traces,
    stored_runs,
)
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, read_run, run_folder
from eqbench.text import Displayed

if TYPE_CHECKING:
    import pandas as pd


@checked
def load_summary(runs: Runs) -> pd.DataFrame:
    """Statistics over the seeds of one or several runs, one row per run, game and solver.

    `cells` and `ok` are counts. Of the max regret, the time of solving (`elapsed_s`) and the time
    to the target (`time_to_target_s`) there are best, quartiles, median and worst; a time to the
    target is missing where it is longer than the timeout. `interval_low_s` and `interval_high_s`
    are the ends of a bootstrap interval of the median time to the target at 95 %, from five cells
    on. `par2_elapsed_s` is the mean time to the target with twice the timeout for a cell that
    missed it, `sgm_elapsed_s` the geometric mean of times + 10 ms, less these, with the timeout
    for a cell that missed it. `fastest` counts seeds in which no player reached the target earlier;
    the solver `virtual best` stands for the fastest in each. `hosts` counts machines, so far as
    they are known: with more than one, times are not of one speed. `equilibria` holds dictionaries:
    how many cells found each. Parameters and errors as in :func:`eqbench.load_results`.

    Examples
    --------
    >>> import eqbench
    >>> run = eqbench.run("kuhn2", ["lcp", "sequence_lp"])
    >>> run.summary()[["solver", "cells", "ok"]].values.tolist()
    [['lcp', 1, 1], ['sequence_lp', 1, 1], ['virtual best', 1, 1]]
    """
    return data_frame(summary_rows(stored_runs(runs)), SUMMARY_COLUMNS)


class Run(Displayed, Sequence[CellRecord]):
    """A run as its folder holds it: a sequence of the records of its cells.

    Parameters
    ----------
    path : folder of the run, or ``latest`` for the one that was begun last

    Attributes
    ----------
    path : Path
    stored : eqbench.store.stored_run.StoredRun
        Its plan, and notes on what is damaged.

    Examples
    --------
    >>> import eqbench
    >>> run = eqbench.run("kuhn2", ["sequence_lp", "lcp"], timeout=10)
    >>> [record.status for record in run]
    ['ok', 'ok']
    >>> run["lcp"].equilibria[0].identity["name"]
    'kuhn2'
    >>> 0 <= run.profile("lcp")["P1", "1:", "bet"] <= 1 / 3
    True
    >>> run.to_frame()[["solver", "status"]].values.tolist()
    [['sequence_lp', 'ok'], ['lcp', 'ok']]
    """

    @checked
    def __init__(self, path: str | PathLike[str] = "latest") -> None:
        self.stored = read_run(run_folder(fspath(path)))
        self.path = self.stored.path

    @classmethod
    def _of(cls, stored: StoredRun) -> Run:
        run = cls.__new__(cls)
        run.stored, run.path = stored, stored.path
        return run

    @property
    def records(self) -> tuple[CellRecord, ...]:
        """Records of the cells, in the order of the plan."""
        return self.stored.cells

    def __len__(self) -> int:
        return len(self.records)

    @overload
    def __getitem__(self, key: int | str) -> CellRecord: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[CellRecord, ...]: ...
    def __getitem__(self, key: int | str | slice) -> CellRecord | tuple[CellRecord, ...]:
        return self.cell(key) if isinstance(key, str) else self.records[key]

    def __iter__(self) -> Iterator[CellRecord]:
        return iter(self.records)

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        ok = sum(record.status == "ok" for record in self)
        finished = len(self.stored.finished)
        return f"<Run in {self.path}: {finished} of {self.stored.planned} cells, {ok} ok>"

    @property
    def answer(self) -> str:
        """What came of it in a few sentences: who reached the target, what was found, what not."""
        return "\n".join(answer(entries_of([self.stored]), self.stored.planned))

    def completeness(self) -> dict[str, Completeness]:
        """What indices say about all equilibria that were found, by the canonical spec of a game.

        As it was computed when the run ended: games whose equilibria were too many, or whose files
        were gone, are left out, and all games while cells have not finished.

        Examples
        --------
        >>> import eqbench
        >>> run = eqbench.run("battle_of_sexes", "logit")
        >>> for verdict in run.completeness().values():
        ...     print(verdict)
        incomplete: the indices of its 1 equilibrium, computed in floats, sum to -1, not 1
        """
        stored = {} if self.stored.missing else self.stored.completeness
        found = {cell.game_spec: stored.get(cell.game_identity) for cell in self}
        return {
            spec: Completeness(tuple(each["indices"]), each["exact"])
            for spec, each in found.items()
            if each is not None
        }

    @checked
    def cell(self, name: str) -> CellRecord:
        """The only cell that a text names, as for ``eqbench show``: ``ncp``, ``kuhn3/ncp/0``, …

        Raises
        ------
        UsageError
            If no cell or several cells are meant.
        """
        return self.stored.cell(name)

    @checked
    def profile(
        self, cell: str | CellRecord, rank: int = 0, *, seed: int | None = None
    ) -> BehaviorProfile:
        """A profile that a cell found, the best one unless `rank` says which.

        `seed` tells cells of the same name apart.

        Raises
        ------
        UsageError
            If it has none of this rank, or its game is not known here.
        """
        if isinstance(cell, str):
            cell = self.cell(cell if seed is None else f"{cell}/{seed}")

        def warn(words: str) -> None:
            warnings.warn(words, stacklevel=5)

        registry, content = default_registry(), cell.game_content
        game = game_of_runs([self.stored], cell.game_spec, registry, warn, content=content)
        return load_profile(game, profile_file(self.stored, cell, rank))

    # Data frames, each by the function that also takes several runs.
    to_frame, summary = load_results, load_summary
    equilibria, traces = load_equilibria, load_traces

    @checked
    def report(self, format: str = "terminal", **options: Any) -> ReportText:
        """Report as text: ``terminal``, ``md``, ``csv``, ``tex``, or ``html`` for the page.

        Parameters
        ----------
        options : as of ``eqbench report``, such as ``sort="time"`` or ``summary=True``
        """
        from eqbench.report.writing import SUFFIXES, report_text  # which takes long to import

        if format not in SUFFIXES:
            raise UsageError(f"{format!r} is not a format; choose of {', '.join(SUFFIXES)}")
        view = request_from(View, "report", options)
        text = report_text(format, [self.stored], view, summarize=view.summarize)
        return ReportText(text, format)

    @checked
    def figure(self, name: str = "regret", **switches: Any) -> Chart:
        """A chart of the run: ``regret`` against time, ``payoffs``, ``times``, …

        Parameters
        ----------
        switches : what can be switched on the page, such as ``game="kuhn3"``, ``axis="work"``,
            ``metric="nash_conv"``, ``hidden=["cfr"]``

        Raises
        ------
        UsageError
            If there is no such chart, switch or choice; the message lists what there is.
        """
        from eqbench.report.charts import chart
        from eqbench.report.writing import game_facts

        specs = dict.fromkeys(record.game_spec for record in self)
        spec = chart(name, [self.stored], dict(game_facts(specs)))
        return Chart(switched(spec, switches))


@checked
def run(
    games: str | Game | Iterable[str | Game] | Experiment | Request | PathLike[str],
    solvers: str | Iterable[str] | None = None,
    *,
    out: str | PathLike[str] | None = None,
    tell: Callable[[str], None] = lambda words: None,
    **options: Any,
) -> Run:
    """Run an experiment as ``eqbench run`` does: every cell in a process of its own.

    Parameters
    ----------
    games : one or several games; without solvers an Experiment, a Request, or the file or name of
        an experiment
    solvers : one or several, or ``all``
    out : folder for the results; one that holds this run already is gone on with
    tell : called with a line for each cell that ends, for example ``print``
    options : what an experiment file takes, such as ``seeds=5``, ``timeout=20``, ``memory="2GiB"``,
        ``plugins="mine.py"``; they replace what an experiment says

    Returns
    -------
    Run
        The records of its cells in the order of the plan, and their tables, charts and profiles.

    Raises
    ------
    UsageError
        If a game, solver or keyword is unknown, or the folder cannot be written.
    StoreError
        If results can no longer be written; what was stored is kept.

    Examples
    --------
    >>> import eqbench
    >>> run = eqbench.run(["kuhn2", "matching_pennies"], "sequence_lp", seeds=2)
    >>> print(*run, sep="\\n")
    <sequence_lp on kuhn2: ok, max regret ...>
    <sequence_lp on matching_pennies: ok, max regret 0.0e+00, 1 profile>
    >>> eqbench.run("kuhn2", "lcp", timout=3)
    Traceback (most recent call last):
    eqbench.errors.UsageError: run() has no keyword 'timout': did you mean timeout ...
    """
    if solvers is not None:
        given = {"games": games, "solvers": solvers} | options
        experiment = Experiment((request_from(Request, "run", given),))
    else:
        changes = read_keywords(Request, "run", options)
        experiment, place = _experiment(games)
        experiment, out = experiment.with_changes(changes), out or place
    parts = tuple(map(_with_modules, experiment.parts))
    folder = None if out is None else Path(out)
    return Run._of(carry_out(replace(experiment, parts=parts), folder, tell))


def _with_modules(request: Request) -> Request:
    """The request with the files of modules that have registered its games and solvers here.

    Raises
    ------
    UsageError
        If one was registered where there is no file that another process could import.
    """
    registry = default_registry().with_plugins(request.plugins)
    specs = [spec for text in request.games for spec in split_specs(text)]
    entries = [registry.game_entry(spec) for spec in specs]
    for text in request.solvers:
        entries += map(registry.solver_entry, registry.resolve_solvers(text))
    files = list(request.plugins)
    for entry in entries:
        if entry.origin != "decorator":
            continue
        file = getattr(sys.modules.get(entry.module), "__file__", None)
        if file is None or entry.module == "__main__":
            raise UsageError(
                f"the {entry.kind} {entry.name!r} is known in this process only, and cells run in "
                "processes of their own; write it into a file (%%writefile in a notebook) and "
                "import that, or solve here by eqbench.solve"
            )
        files.append(file)
    return replace(request, plugins=tuple(dict.fromkeys(files)))


def _experiment(given: Any) -> tuple[Experiment, str | None]:
    """Experiment that is meant, and the folder that belongs to its file."""
    if isinstance(given, Request):
        return Experiment((given,)), None
    if isinstance(given, Experiment):
        return given, None
    is_game = isinstance(given, Game)
    if isinstance(given, str):
        with suppress(EqbenchError):
            default_registry().game_entry(given)
            is_game = True
    if is_game:
        spec = given.spec if isinstance(given, Game) else given
        raise UsageError(f"run() needs solvers too, for example run({spec!r}, 'all')")
    if not isinstance(given, str | PathLike):
        raise UsageError(f"{given!r} is not an experiment; give games and solvers")
    file = find_experiment(str(given))
    return read_experiment(file), folder_of_experiment(file)
