"""Runs from Python: every cell in a process of its own, and what came of them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from eqbench.api.keywords import (
    AnyGame,
    AnyPath,
    AnySolver,
    read_keywords,
    request_from,
    written_out,
)
from eqbench.api.profiles import load_profile
from eqbench.api.shown import Chart, ReportText, switched
from eqbench.documents import checked
from eqbench.equilibria import Completeness
from eqbench.errors import EqbenchError, UsageError, check_keywords, nearest, warn_former
from eqbench.harness import inprocess
from eqbench.harness.experiment import Experiment, Request, find_experiment, read_experiment
from eqbench.harness.inprocess import CellResult
from eqbench.harness.run import carry_out, folder_of_experiment
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import default_registry
from eqbench.report.answer import answer
from eqbench.report.cells import View, summary_frame
from eqbench.report.charts import ChartName, chart
from eqbench.report.trials import entries_of
from eqbench.requests import Limits
from eqbench.spec import split_specs
from eqbench.store.named import game_of_runs, profile_file
from eqbench.store.results import cell_frame, equilibrium_frame, stored_runs, trace_frame
from eqbench.store.schema import FinishedCell
from eqbench.store.stored_run import StoredRun, read_run, run_folder
from eqbench.text import Displayed

if TYPE_CHECKING:
    import pandas as pd

Frame = Literal["cells", "equilibria", "traces", "summary"]
Format = Literal["terminal", "md", "csv", "tex", "html", "macros"]
_FRAMES: dict[str, Callable[[Sequence[StoredRun]], pd.DataFrame]] = {
    "cells": cell_frame,
    "equilibria": equilibrium_frame,
    "traces": trace_frame,
    "summary": summary_frame,
}


@checked
def load_run(path: str | PathLike[str] = "latest") -> Run:
    """Run in a folder, or the one that was begun last.

    Raises
    ------
    UsageError
        If the folder holds no run that this version reads.

    Warns
    -----
    UserWarning
        If lines of the folder are damaged; they are left out.

    Examples
    --------
    >>> import eqbench
    >>> run = eqbench.run("kuhn2", ["lcp", "sequence_lp"], out="two")
    >>> eqbench.load_run("two").frame("cells")[["solver", "status", "equilibrium"]].values.tolist()
    [['lcp', 'ok', 'kuhn2'], ['sequence_lp', 'ok', 'kuhn2']]
    """
    (stored,) = stored_runs(path)
    return Run._of(stored)


class Run(Displayed, Sequence[CellResult]):
    """A run as its folder holds it: a sequence of the results of its cells.

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
    >>> run = eqbench.run("kuhn2", ["sequence_lp", "lcp"], timeout_s=10)
    >>> [result.status for result in run]
    ['ok', 'ok']
    >>> best = run["lcp"].equilibria[0]
    >>> best.identity.name, 0 <= best.profile["P1", "1:", "bet"] <= 1 / 3
    ('kuhn2', True)
    >>> run.frame("cells")[["solver", "status"]].values.tolist()
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

    @cached_property
    def records(self) -> tuple[CellResult, ...]:
        """Results of the cells, in the order of the plan; their profiles are read when used."""
        return tuple(
            CellResult.of(each, partial(self._profile, each)) for each in self.stored.cells
        )

    def __len__(self) -> int:
        return len(self.stored.cells)

    @overload
    def __getitem__(self, key: int | str) -> CellResult: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[CellResult, ...]: ...
    def __getitem__(self, key: int | str | slice) -> CellResult | tuple[CellResult, ...]:
        return self.cell(key) if isinstance(key, str) else self.records[key]

    def __iter__(self) -> Iterator[CellResult]:
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
    def cell(self, name: str) -> CellResult:
        """The only cell that a text names, as for ``eqbench show``: ``ncp``, ``kuhn3/ncp/0``, …

        Raises
        ------
        UsageError
            If no cell or several cells are meant.
        """
        key = self.stored.cell(name).key
        return next(result for result in self.records if result.key == key)

    @checked
    def profile(
        self, cell: str | CellResult, rank: int = 0, *, seed: int | None = None
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
        return self._profile(cell, rank)

    def _profile(self, cell: FinishedCell, rank: int) -> BehaviorProfile:
        def warn(words: str) -> None:
            warnings.warn(words, stacklevel=6)

        registry, content = default_registry(), cell.game_content
        game = game_of_runs([self.stored], cell.game_spec, registry, warn, content=content)
        record = next(each for each in self.stored.cells if each.key == cell.key)
        return load_profile(game, profile_file(self.stored, record, rank))

    @checked
    def frame(self, what: Frame = "cells") -> pd.DataFrame:
        """Data frame with a row for each of its cells, equilibria, snapshots, or solvers.

        Times are in seconds, counts are nullable integers, files have absolute paths. Frames of
        several runs are joined by ``pandas.concat``; `run` says where a row is from.

        Parameters
        ----------
        what : `cells`, `equilibria`, `traces` or `summary`
            *cells*: a row for each cell, in the order of the plan: `status` is
            categorical, in the order in which statuses are documented; `payoff_P1` …
            and `regret_P1` … belong to the candidate with the smallest max regret and
            are missing beyond the players of a game; `equilibrium` names what that
            candidate is or is nearest to; `statistics` holds the solver's own figures
            as dictionaries; `game_content` is a hash of the game tree, which tells
            files of one name apart.

            *equilibria*: a row for each verified candidate, best first in each cell:
            `refuted` says whether the measurement contradicts the claim and
            `refutation` how. `exact_max_regret` is the max regret as a text ``p/q``
            where it was computed exactly. `profile` is a path that
            :func:`eqbench.verify` takes, and `identity` the name of a known
            equilibrium, or of a cluster of the run, where there is one. `on_path` says
            whether the profile is on its path of play (if not, it is only the nearest),
            `strict` whether every published condition holds, off the path too, and
            `distance` is the largest difference of an outcome's probability.
            `dimension` is that of the equilibria around it, `also` holds lists of
            further names, `parameters` dictionaries of numbers, `leading` names the one of
            them that tells members of a set apart best, and `parameter` is its value, also
            of the best candidates of *cells*. Of claimed equilibria
            `credible` is the number of information sets, of all `sets`, whose play some
            belief supports, and `worst` the largest loss at any of them. `undominated`
            and `sequential` are `certified`, `refuted` or `open`, the former `actions
            only` if no plan was judged and no action refutes one; `subgame_perfect` is
            the number of proper subgames, of all `subgames`, in which no player gains;
            `quasi_strict` is a truth, and `index` missing where an equilibrium is not
            known to be regular.

            *traces*: a row for each measured snapshot: `work` counts iterations and
            `elapsed_s` seconds of solving. Of a curve that cannot be read a warning
            says why.

            *summary*: a row for each game and solver, over seeds: `cells` and `ok` are
            counts. Of the max regret, the time of solving (`elapsed_s`) and the time to
            the target (`time_to_target_s`) there are best, quartiles, median and worst;
            a time to the target is missing where it is longer than the timeout.
            `interval_low_s` and `interval_high_s` are the ends of a bootstrap interval
            of the median time to the target at 95 %, from five cells on.
            `par2_elapsed_s` is the mean time to the target with twice the timeout for a
            cell that missed it, `sgm_elapsed_s` the geometric mean of times + 10 ms,
            less these, with the timeout for a cell that missed it. `fastest` counts
            seeds in which no player reached the target earlier; the solver `virtual
            best` stands for the fastest in each. `hosts` counts machines, so far as
            they are known: with more than one, times are not of one speed. `equilibria`
            holds dictionaries: how many cells found each.

        Examples
        --------
        >>> import eqbench
        >>> run = eqbench.run("kuhn2", ["lcp", "sequence_lp"])
        >>> run.frame("summary")[["solver", "cells", "ok"]].values.tolist()
        [['lcp', 1, 1], ['sequence_lp', 1, 1], ['virtual best', 1, 1]]
        """
        if what not in _FRAMES:
            raise UsageError(f"there is no frame {what!r}: {nearest(what, _FRAMES)}")
        return _FRAMES[what]([self.stored])

    def to_frame(self) -> pd.DataFrame:
        """Former name of ``frame("cells")``."""
        return self._formerly("to_frame", "cells")

    def summary(self) -> pd.DataFrame:
        """Former name of ``frame("summary")``."""
        return self._formerly("summary", "summary")

    def equilibria(self) -> pd.DataFrame:
        """Former name of ``frame("equilibria")``."""
        return self._formerly("equilibria", "equilibria")

    def traces(self) -> pd.DataFrame:
        """Former name of ``frame("traces")``."""
        return self._formerly("traces", "traces")

    def _formerly(self, method: str, what: Frame) -> pd.DataFrame:
        warn_former(f"run.{method}()", f'run.frame("{what}")')
        return self.frame(what)

    @checked
    def report(
        self,
        format: Format = "terminal",
        *,
        sort: str = View.sort,
        columns: str | Iterable[str] = View.columns,
        summary: bool = View.summary,
        table: str | None = View.table,
        **former: Any,
    ) -> ReportText:
        """Report as text: ``terminal``, ``md``, ``csv``, ``tex``, or ``html`` for the page.

        Parameters
        ----------
        sort, columns, summary, table : as of ``eqbench report``, such as ``table="matrix:regret"``
        """
        from eqbench.report.writing import SUFFIXES, report_text  # which takes long to import

        if format not in SUFFIXES:
            raise UsageError(f"{format!r} is not a format; choose of {', '.join(SUFFIXES)}")
        given = {"sort": sort, "columns": columns, "summary": summary, "table": table}
        for name in ("all", "show_all"):
            if name in former:
                warn_former(f"report({name}=...)", 'report(table="cells")')
                given["table"] = "cells" if former.pop(name) else table
        check_keywords("report", former, given)
        view = request_from(View, "report", given)
        text = report_text(format, [self.stored], view, summarize=view.summarize)
        return ReportText(text, format)

    @checked
    def figure(self, name: ChartName | Literal["profile"] = "regret", **switches: Any) -> Chart:
        """A chart of the run: its ``answer``, ``regret`` against time, ``payoffs``, ``times``, …

        The answer is time against regret, colored by the equilibrium that each solver found.

        Parameters
        ----------
        switches : what can be switched on the page, such as ``game="kuhn3"``, ``axis="work"``,
            ``metric="nash_conv"``, ``hidden=["cfr"]``

        Raises
        ------
        UsageError
            If there is no such chart, switch or choice; the message lists what there is.
        """
        from eqbench.report.writing import game_facts

        if name == "profile":
            warn_former('figure("profile")', 'figure("performance")')
            name = "performance"
        specs = dict.fromkeys(record.game_spec for record in self)
        spec = chart(name, [self.stored], dict(game_facts(specs)))
        return Chart(switched(spec, switches))


@written_out(Request, but=("games", "solvers"))
@checked
def run(
    games: AnyGame | Iterable[AnyGame] | Experiment | Request | PathLike[str],
    solvers: AnySolver | Iterable[AnySolver] | None = None,
    *,
    out: AnyPath | None = None,
    on_progress: Callable[[str], None] | None = None,
    **keywords: Any,
) -> Run:
    """Run an experiment as ``eqbench run`` does: every cell in a process of its own.

    Parameters
    ----------
    games : one or several, as specs or as objects such as ``eqbench.games.Kuhn(players=3)``;
        without solvers an Experiment, a Request, or the file or name of an experiment
    solvers : one or several, as specs or as objects such as ``eqbench.solvers.CFR()``, or ``all``
    out : folder for the results; one that holds this run already is continued
    on_progress : called with a line for each cell that ends, for example ``print``
    {keywords}

    The fields of a request, from `seeds` on, replace those of an experiment.

    Returns
    -------
    Run
        The results of its cells in the order of the plan, and their tables, charts and profiles.

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
    >>> eqbench.run("kuhn2", [eqbench.solvers.CFR(averaging="linear"), "lcp"], iterations=10)
    <Run in ...: 2 of 2 cells, ... ok>
    >>> eqbench.run("kuhn2", "lcp", timout_s=3)
    Traceback (most recent call last):
    eqbench.errors.UsageError: run() has no keyword 'timout_s': did you mean timeout_s ...
    """
    if "tell" in keywords:
        warn_former("run(tell=...)", "run(on_progress=...)")
        on_progress = keywords.pop("tell")
    if solvers is not None:
        given = {"games": games, "solvers": solvers} | keywords
        experiment = Experiment((request_from(Request, "run", given),))
    else:
        changes = read_keywords(Request, "run", keywords)
        experiment, place = _experiment(games)
        experiment, out = experiment.with_changes(changes), out or place
    parts = tuple(map(_with_modules, experiment.parts))
    folder = None if out is None else Path(out)
    return Run._of(carry_out(replace(experiment, parts=parts), folder, on_progress or _ignore))


def _ignore(line: str) -> None:
    """Show no progress."""


@written_out(Limits)
@checked
def solve(
    game: AnyGame, solver: AnySolver, budget: Limits | None = None, seed: int = 0, **keywords: Any
) -> CellResult:
    """Verified result of one solver on one game, solved in this process.

    Parameters
    ----------
    game : Game or spec
    solver : an object with `solve(game, monitor, rng)`, or a spec
    budget : limits as an object, instead of the keywords below
    seed : of the generator that the solver gets
    {keywords}

    Returns
    -------
    CellResult
        As of a cell of :func:`eqbench.run`. `to_json()` gives plain JSON values, profiles included.
        As in a run, at most 1,024 candidates are kept.

    Raises
    ------
    SpecError, UsageError
        If a spec is wrong or the budget is none. What the solver raises passes through.

    Examples
    --------
    >>> import eqbench
    >>> found = eqbench.solve("kuhn2", "sequence_lp", timeout_s=5)
    >>> found.status, round(found.payoffs[0], 6), found.identity.name
    ('ok', -0.055556, 'kuhn2')
    >>> round(found.profile["P1", "2:KB", "call"] - found.profile["P1", "1:", "bet"], 6)
    0.333333
    """
    limits = read_keywords(Limits, "solve", keywords)
    if limits and budget is not None:
        raise UsageError(f"give either a budget or {', '.join(limits)}, not both")
    game = game if isinstance(game, str | Game) else default_registry().spec_of(game)
    return inprocess.solve(game, solver, budget or Limits(**limits), seed)


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
