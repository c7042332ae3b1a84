"""Data frames of runs: tidy, typed, and true to the store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from stored_runs import cell, without_figures, write_run

import eqbench
from eqbench.errors import UsageError
from eqbench.store.run_folder import RunFolder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(
        tmp_path / "run",
        cell("02", seed=1, solver="mccfr"),
        without_figures("01", status="unsupported", reason="two players only"),
        planned=["01", "02", "03"],
    )


def test_results_have_one_row_per_cell_in_the_order_of_the_plan(run: Path) -> None:
    frame = eqbench.load_results(run)
    assert frame["key"].tolist() == ["01", "02"]
    assert frame["status"].tolist() == ["unsupported", "ok"]
    assert frame.loc[1, "elapsed_s"] == 0.0123456789
    assert frame.loc[1, "payoff_P1"] == -1 / 18
    assert frame.loc[1, "statistics"] == {"pivots": 3}
    assert pd.isna(frame.loc[0, "max_regret"])
    assert pd.isna(frame.loc[0, "seed"])


def test_types_do_not_depend_on_the_rows(run: Path, tmp_path: Path) -> None:
    full, empty = (
        eqbench.load_results(path) for path in (run, write_run(tmp_path / "empty", planned=["01"]))
    )
    assert len(empty) == 0
    shared = [name for name in empty.columns if name in full.columns]
    assert (full[shared].dtypes == empty[shared].dtypes).all()
    assert full["seed"].dtype == "Int64"
    assert full["elapsed_s"].dtype == "float64"
    assert full["status"].cat.ordered
    assert full["status"].cat.categories[0] == "ok"


def test_equilibria_have_one_row_per_candidate_with_a_profile_that_verifies(
    tmp_path: Path,
) -> None:
    uniform = eqbench.BehaviorProfile.uniform(eqbench.load_game("kuhn2").tree)
    from eqbench.model.profile_json import profile_text

    path = write_run(tmp_path / "run", cell("01"))
    tree = eqbench.load_game("kuhn2").tree
    RunFolder.open(path).write_profile("01-0", profile_text(tree, uniform, "kuhn2"))
    frame = eqbench.load_equilibria(path)
    (row,) = frame.to_dict("records")
    assert (row["rank"], row["claim"], row["refuted"]) == (0, "average", False)
    assert Path(row["profile"]).is_absolute()
    assert eqbench.verify("kuhn2", row["profile"]).nash_conv == pytest.approx(11 / 12)
    assert row["regret_P1"] == 1.2e-11


def test_traces_have_one_row_per_snapshot(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", cell("01", trace="traces/01.npz"))
    RunFolder.open(path).write_trace(
        "01",
        {
            "work": np.array([1, 2]),
            "elapsed_s": np.array([0.1, 0.2]),
            "claim": np.array(["average", "iterate"]),
            "regrets": np.array([[0.5, 0.25], [0.25, 0.125]]),
            "payoffs": np.zeros((2, 2)),
        },
    )
    frame = eqbench.load_traces(path)
    assert frame["work"].tolist() == [1, 2]
    assert frame["nash_conv"].tolist() == [0.75, 0.375]
    assert frame["max_regret"].tolist() == [0.5, 0.25]


def test_several_runs_make_one_frame(run: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", cell("09"))
    frame = eqbench.load_results([run, other])
    assert frame["run"].tolist() == [str(run), str(run), str(other)]


def test_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no run"):
        eqbench.load_results(tmp_path)


def test_damaged_trace_is_named(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", cell("01", trace="traces/01.npz"))
    (path / "traces" / "01.npz").write_bytes(b"PK")
    with pytest.raises(UsageError, match=r"01\.npz"):
        eqbench.load_traces(path)
