"""Runs of games whose trees are not built."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.command import eqbench_here

import eqbench


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> eqbench.Run:
    place = tmp_path_factory.mktemp("products") / "run"
    solvers = "cfr_plus,fictitious_play,logit,mccfr"
    return eqbench.run("kuhn3", solvers, max_nodes=600, iterations=4, timeout_s=60, out=place)


def test_solvers_that_need_no_tree_are_measured_and_others_refused(run: eqbench.Run) -> None:
    found = {cell.solver: cell for cell in run}
    for name in ("cfr_plus", "fictitious_play"):
        assert found[name].status == "limit"
        assert "without the tree of 601 nodes" in found[name].reason
        assert found[name].iterations == 4
    for name in ("logit", "mccfr"):
        assert found[name].status == "unsupported"
        assert "601 nodes" in found[name].reason


def test_measurement_is_that_of_the_tree(run: eqbench.Run) -> None:
    cell = run["cfr_plus"]
    on_tree = eqbench.verify("kuhn3", cell.equilibria[0].profile)
    assert on_tree.nash_conv == pytest.approx(cell.nash_conv, abs=1e-12)
    whole = eqbench.run("kuhn3", "cfr_plus", iterations=4, timeout_s=60)
    assert whole[0].nash_conv == pytest.approx(cell.nash_conv, abs=1e-10)


def test_report_says_how_it_was_measured(run: eqbench.Run) -> None:
    for form in ("terminal", "md", "html"):
        assert "without the tree of 601 nodes" in run.report(form)


@pytest.mark.parametrize(("spec", "most"), [("kuhn3", 600), ("leduc(ranks=2,raises=1)", 100)])
def test_equilibria_are_named_as_on_the_tree(spec: str, most: int) -> None:
    options = {"iterations": 500, "tolerance": 1e-3, "timeout_s": 60}
    solvers = "cfr_plus,dcfr,pcfr_plus"
    runs = [eqbench.run(spec, solvers, max_nodes=n, **options) for n in (most, 10_000)]
    assert ["without the tree" in each[0].reason for each in runs] == [True, False]
    named = [{cell.solver: cell.equilibria[0].identity for cell in each} for each in runs]
    for solver, found in named[0].items():
        expected = named[1][solver]
        assert found is not None
        assert expected is not None
        assert (found.name, found.title) == (expected.name, expected.title)
    assert "Found equilibria" in runs[0].answer


def test_finished_cells_are_kept_when_it_is_resumed(run: eqbench.Run) -> None:
    before = (Path(run.path) / "runs.jsonl").read_text(encoding="utf-8")
    assert eqbench_here("run", "--resume", run.path, cwd=run.path.parent).code == 0
    assert (Path(run.path) / "runs.jsonl").read_text(encoding="utf-8") == before
