"""Functions of the release before, which warn; the next release will not have this file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eqbench.documents import checked
from eqbench.errors import warn_former
from eqbench.report.cells import summary_frame
from eqbench.store.results import (
    Runs,
    cell_frame,
    equilibrium_frame,
    stored_runs,
    trace_frame,
)

if TYPE_CHECKING:
    import pandas as pd


@checked
def load_results(runs: Runs) -> pd.DataFrame:
    """Former name of ``load_run(run).frame("cells")``."""
    _warn("load_results", "cells")
    return cell_frame(stored_runs(runs))


@checked
def load_summary(runs: Runs) -> pd.DataFrame:
    """Former name of ``load_run(run).frame("summary")``."""
    _warn("load_summary", "summary")
    return summary_frame(stored_runs(runs))


@checked
def load_equilibria(runs: Runs) -> pd.DataFrame:
    """Former name of ``load_run(run).frame("equilibria")``."""
    _warn("load_equilibria", "equilibria")
    return equilibrium_frame(stored_runs(runs))


@checked
def load_traces(runs: Runs) -> pd.DataFrame:
    """Former name of ``load_run(run).frame("traces")``."""
    _warn("load_traces", "traces")
    return trace_frame(stored_runs(runs))


def _warn(function: str, frame: str) -> None:
    now = f'load_run(run).frame("{frame}"), of several runs joined by pandas.concat'
    warn_former(f"{function}(runs)", now)
