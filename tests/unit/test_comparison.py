"""Two runs beside each other: what is matched, what is a regression, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from command import eqbench_here as eqbench
from scipy import stats
from stored_runs import cell, identified, identity, with_candidate, without_figures, write_run

from eqbench.cli import app
from eqbench.errors import UsageError
from eqbench.report.comparison import (
    METRICS,
    Comparison,
    Figures,
    Rule,
    compare_runs,
    compare_solvers,
    comparison_json,
    comparison_report,
)
from eqbench.report.terminal import plain_text, print_report
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, cell_name, read_run


@pytest.fixture
def folder(tmp_path: Path):
    """Function that writes a run of these records and reads it back."""

    def write(name: str, *records: CellRecord) -> StoredRun:
        return read_run(write_run(tmp_path / name, *records))

    return write


def with_rules(comparison: Comparison, *conditions: str) -> Comparison:
    return replace(comparison, rules=tuple(map(Rule.of, conditions)))


def broken(comparison: Comparison, *conditions: str) -> list[str]:
    """Rules that are broken when worse statuses and missing cells count too."""
    return [each["rule"] for each in with_rules(comparison, *conditions).regressions]


def seeds(elapsed: list[float], **fields: Any) -> list[CellRecord]:
    return [cell(f"{s:02}", seed=s, elapsed_s=t, **fields) for s, t in enumerate(elapsed)]


def printed(comparison: Comparison, *conditions: str, width: int = 240) -> str:
    report = comparison_report(with_rules(comparison, *conditions))
    return plain_text(lambda console: print_report(report, console), width)


# -- Matching -----------------------------------------------------------------------------------


def test_cells_match_by_canonical_specs_and_not_by_what_was_typed(folder) -> None:
    base = folder("base", cell("01", solver="cfr_plus"))
    new = folder("new", cell("02", game="kuhn(players=2)", solver="cfr_plus()"))
    comparison = compare_runs(base, new)
    (new_cell,) = [pair.cell for pair in comparison.pairs]
    assert (new_cell.game, new_cell.solver) == ("kuhn(players=2)", "cfr_plus()")
    assert comparison.only_base == comparison.only_new == []


def test_cells_of_one_run_only_are_listed(folder) -> None:
    base = folder("base", cell("01"), cell("02", solver="dcfr", solver_spec="dcfr"))
    new = folder("new", cell("01"), cell("03", seed=7))
    comparison = compare_runs(base, new)
    assert [*map(cell_name, comparison.only_base)] == ["kuhn2/dcfr"]
    assert [*map(cell_name, comparison.only_new)] == ["kuhn2/cfr_plus/7"]


def test_game_files_match_by_content_wherever_they_are(folder) -> None:
    base = folder("base", game_file("c1", "a/game.efg", "1"), game_file("c2", "b/game.efg", "2"))
    new = folder("new", game_file("c2", "new/game.efg", "2"), game_file("c3", "a/game.efg", "3"))
    comparison = compare_runs(base, new)
    assert [pair.trials[0][0].record.key for pair in comparison.pairs] == ["c2"]
    assert [*map(cell_name, comparison.only_base)] == ["a/game.efg/cfr_plus"]


def game_file(key: str, path: str, content: str) -> CellRecord:
    return cell(key, game=path, game_spec=path, game_content=content)


def test_files_that_are_alike_are_all_compared_each_with_itself(folder) -> None:
    records = [game_file(path[0], path, "same") for path in ("a.efg", "b.efg")]
    base, new = folder("base", *records), folder("new", *reversed(records))
    comparison = compare_runs(base, new)
    assert [(pair.trials[0][0].record.game, pair.cell.game) for pair in comparison.pairs] == [
        ("b.efg", "b.efg"),
        ("a.efg", "a.efg"),
    ]
    assert printed(comparison).count("cfr_plus") == 2
    (pair,) = compare_runs(base, new, games=["a.efg"]).pairs
    assert pair.trials[0][0].record.key == "a"


def test_game_files_of_old_runs_match_by_path(folder) -> None:
    base = folder("base", *(game_file(path[0], path, "") for path in ("a.efg", "b.efg")))
    comparison = compare_runs(base, folder("new", game_file("a", "a.efg", "")))
    assert [(pair.trials[0][0].record.game, pair.cell.game) for pair in comparison.pairs] == [
        ("a.efg", "a.efg")
    ]
    assert [*map(cell_name, comparison.only_base)] == ["b.efg/cfr_plus"]


def test_runs_without_a_common_cell_are_refused(folder) -> None:
    base, new = folder("base", cell("01", seed=0)), folder("new", cell("02", seed=1))
    with pytest.raises(UsageError, match=r"no finished cell in common(.|\n)*kuhn2/cfr_plus/1"):
        compare_runs(base, new)


def test_only_chosen_solvers_are_compared(folder) -> None:
    both = cell("01"), cell("02", solver="cfr(start=random)", solver_spec="cfr(start=random)")
    base, new = folder("base", *both), folder("new", *both)
    names = ("cfr", "cfr(start=random)", "cfr( start = random )")
    for name in names:
        (pair,) = compare_runs(base, new, solvers=[name]).pairs
        assert pair.cell.key == "02"
    assert len(compare_runs(base, new, solvers=["cfr,cfr_plus"], games=["kuhn2"]).pairs) == 2
    with pytest.raises(UsageError, match="no cell has the solver 'cfr_pluss': did you mean"):
        compare_runs(base, new, solvers=["cfr_pluss"])


def test_what_makes_figures_incomparable_is_said(folder, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("base", "new")]
    for path, version in zip(paths, ("1", "2"), strict=True):
        same = cell("01", solver_version=version, game_content="same", game_spec="same")
        write_run(path, same, cell("02", game_content=version))
    manifest = json.loads((paths[1] / "manifest.json").read_text())
    manifest["request"] |= {"timeout_s": 20.0, "threads": 2}
    machine = {"processor": "fast", "memory_bytes": 8, "packages": {"numpy": "3"}}
    manifest["environment"] = machine
    (paths[1] / "manifest.json").write_text(json.dumps(manifest))
    comparison = compare_runs(*map(read_run, paths))
    assert [new.record.key for _, new in comparison.trials] == ["01"]
    assert comparison.warnings == [
        "limits, machine or packages differ: timeout_s 10.0 → 20.0, threads None → 2, "
        "machine's memory_bytes None → 8, processor None → fast, numpy None → 3",
        "solver or model of another version: cfr_plus",
        "the tree differs: kuhn2",
    ]
    assert compare_runs(read_run(paths[0]), read_run(paths[0])).warnings == []


def test_cells_that_ran_on_different_processors_are_warned_of(folder) -> None:
    hosts: Any = {name: {"host": name, "processor": f"cpu {name}"} for name in "ab"}
    base, other = (replace(folder(name, cell("01", host=name)), hosts=hosts) for name in "ab")
    (warning,) = compare_runs(base, other).warnings
    assert "cpu a, cpu b" in warning
    assert compare_runs(base, base).warnings == []


# -- Figures ------------------------------------------------------------------------------------


def test_seeds_are_compared_by_medians_over_those_that_both_have(folder) -> None:
    base = folder("base", *seeds([1.0, 2.0, 9.0, 100.0]))
    new = folder("new", *seeds([4.0, 2.0, 27.0]))
    comparison = compare_runs(base, new)
    figures = comparison.pairs[0].figures("elapsed_s")
    assert (figures.base, figures.new, figures.ratio, figures.seeds) == (2.0, 4.0, 2.0, 3)
    assert [*map(cell_name, comparison.only_base)] == ["kuhn2/cfr_plus/3"]


def test_no_ratio_where_the_base_is_zero_or_there_is_none(folder) -> None:
    zero = replace(cell("01"), max_regret=0.0, iterations=0)
    comparison = compare_runs(folder("base", zero), folder("new", cell("01")))
    regret, iterations = map(comparison.pairs[0].figures, ("max_regret", "iterations"))
    assert (regret.base, regret.new, regret.ratio) == (0.0, 1.2e-11, None)
    assert (iterations.base, iterations.new, iterations.ratio) == (None, 1_234_567, None)
    assert broken(comparison, "iterations>2x", "iterations<1x") == []
    conditions = ["iterations>1e6", "max_regret>100x"]
    assert broken(comparison, *conditions) == conditions
    json.dumps(comparison_json(comparison), allow_nan=False)


def test_changes_of_equilibria_are_shown(folder) -> None:
    base = folder("base", identified(cell("01"), identity("szafron:c11=0")))
    new = folder("new", identified(cell("01"), identity("szafron:c11=1/2")))
    assert "szafron:c11=0 → szafron:c11=1/2" in printed(compare_runs(base, new))
    (document,) = comparison_json(compare_runs(base, new))["cells"]
    assert document["equilibria"] == {
        "base": {"szafron:c11=0": 1},
        "new": {"szafron:c11=1/2": 1},
        "changed": True,
    }


def test_intervals_are_of_the_ratio_that_is_shown_and_need_five_trials(folder) -> None:
    times = [1.0, 1.1, 0.9, 1.2, 0.8]
    for count in (4, 5):
        base = folder(f"base{count}", *seeds(times[:count]))
        new = folder(f"new{count}", *seeds([2.0 * time for time in times[:count]]))
        figures = compare_runs(base, new).pairs[0].figures("elapsed_s")
        assert figures.ratio == pytest.approx(2.0)
        assert (figures.interval is None) == (count == 4)
    low, high = figures.interval
    assert 2.0 * 0.8 / 1.2 <= low <= 2.0 <= high <= 2.0 * 1.2 / 0.8
    assert "time\n95 %" not in printed(compare_runs(base, new))
    again = Figures.of([(t, 2.0 * t, 0.0) for t in times], by_trial=True)
    assert again.interval == pytest.approx((2.0, 2.0))  # pair by pair there is no spread


def ratio_of_medians(base, new):
    return np.median(new) / np.median(base)


def median_of_ratios(base, new):
    return np.median(new / base)


@pytest.mark.parametrize("ratio", [ratio_of_medians, median_of_ratios])
def test_intervals_are_those_of_scipy_up_to_chance(ratio) -> None:
    rng = np.random.default_rng(5)
    base, new = np.exp(
        rng.normal([[0.0], [0.5]], 0.6, (2, 400))
    )  # so many that quantiles do not jump
    values = [(*pair, 0.0) for pair in zip(base, new, strict=True)]
    figures = Figures.of(values, by_trial=ratio is median_of_ratios)
    how = {"paired": True, "vectorized": False, "method": "percentile", "random_state": rng}
    reference = stats.bootstrap((base, new), ratio, n_resamples=4000, **how)
    assert figures.interval == pytest.approx(tuple(reference.confidence_interval), rel=0.02)
    assert figures.ratio == ratio(base, new)


@pytest.mark.parametrize(
    ("values", "ratio", "won"),
    [
        ([(0.0, 0.0, 0.0)], 1.0, (0, 1, 0)),
        ([(0.0, 1.0, 0.0)], None, (0, 0, 1)),
        ([(-1e-17, 1e-17, 1e-9)], None, (0, 1, 0)),
        ([(1e-12, 1e-10, 1e-9), (1.0, 1.005, 0.0), (1.0, 0.5, 0.0)], 1.005, (1, 2, 0)),
        ([(1.0, None, 0.0), (None, None, 0.0)], None, (0, 0, 0)),
    ],
)
def test_zeros_have_no_ratio_and_what_is_within_the_target_is_equal(values, ratio, won) -> None:
    figures = Figures.of(values, by_trial=True)
    assert figures.ratio == ratio
    assert figures.wins == won


# -- Two solvers --------------------------------------------------------------------------------


def solver(name: str, times: list[float], game: str = "kuhn2", **fields: Any) -> list[CellRecord]:
    return [
        cell(
            f"{game}-{name}-{s}",
            **{"game": game, "game_spec": game, "solver": name, "solver_spec": name},
            **{"seed": None if len(times) == 1 else s, "elapsed_s": t, **fields},
        )
        for s, t in enumerate(times)
    ]


def test_solver_without_chance_is_held_against_every_seed(folder) -> None:
    run = folder("run", *solver("a", [1.0]), *solver("b", [3.0, 2.0, 0.5]), *solver("c", [9.0]))
    figures = compare_solvers(run, ["a,b"]).pairs[0].figures("elapsed_s")
    assert (figures.base, figures.new, figures.ratio, figures.seeds) == (1.0, 2.0, 2.0, 3)
    assert figures.wins == (1, 0, 2)


def test_seeds_are_held_against_equal_seeds_and_games_against_the_same(folder) -> None:
    cells = [solver(name, times, g) for g in ("g", "h") for name, times in SEEDS.items()]
    cells.append(solver("b", [5.0], "only b takes it"))
    run = folder("run", *(each for own in cells for each in own))
    comparison = compare_solvers(run, ["a", "b"])
    assert [pair.cell.game for pair in comparison.pairs] == ["g", "h"]
    assert {(old.record.seed, new.record.seed) for old, new in comparison.trials} == {
        (0, 0),
        (1, 1),
    }
    figures = comparison.figures("elapsed_s")
    assert (figures.ratio, figures.seeds) == (2.5, 4)  # the median of 2, 3, 2, 3
    document = comparison_json(comparison)
    assert document["overall"]["elapsed_s"]["ratio"] == 2.5
    assert document["solvers"] == ["a", "b"]
    json.dumps(document, allow_nan=False)


SEEDS = {"a": [1.0, 2.0], "b": [2.0, 6.0]}


def test_who_alone_reaches_a_regret_wins_it(folder) -> None:
    late = replace(solver("b", [2.0])[0], max_regret=1e-6, status="limit")
    run = folder("run", *solver("a", [1.0]), late)
    comparison = compare_solvers(run, ["a,b"])
    (pair,) = comparison.pairs
    found = [pair.figures(regret) for regret in ("1e-05", "1e-09")]
    assert [(each.ratio, each.wins) for each in found] == [(2.0, (0, 0, 1)), (None, (0, 0, 1))]
    table = printed(comparison)
    assert "b has 2.00 times the solving time of a, over 1 trial: less in 0, more in 1" in table
    assert "A: a: ok; found –" in table


@pytest.mark.parametrize("regret", [None, 1e-6])
def test_what_neither_has_is_not_called_equal(folder, regret: float | None) -> None:
    run = folder("run", *(replace(solver(n, [1.0])[0], max_regret=regret) for n in "ab"))
    table = printed(compare_solvers(run, ["a,b"]))
    assert "Their solving time is the same in every trial, to 1%." in table
    said = "Their max regret is the same in every trial, to 1% or within the target." in table
    assert said is (regret is not None)


def test_solving_times_say_nothing_where_all_cells_used_up_theirs(folder) -> None:
    for last, is_said in ((10.5, False), (9.5, True)):
        run = folder(f"run{last}", *solver("a", [10.0]), *solver("b", [last]))
        table = printed(compare_solvers(run, ["a,b"]))
        assert ("solving time" in table) is is_said
        assert "max regret" in table


@pytest.mark.parametrize("named", [[], ["a"], ["a,a"], ["a,b,cfr"], ["a,cfr"]])
def test_one_run_needs_two_solvers(folder, named: list[str]) -> None:
    more = solver("cfr(start=random)", [1.0])
    run = folder("run", *(solver(n, [1.0])[0] for n in ("a", "b", "cfr")), *more)
    with pytest.raises(UsageError, match=r"two solvers of this one .* has a, b, cfr, cfr"):
        compare_solvers(run, named)


@pytest.mark.parametrize("status", ["crashed", "refuted"])
def test_what_crashed_or_was_refuted_wins_nothing(folder, status: Any) -> None:
    good = cell("01", solver="a", solver_spec="a", elapsed_s=9.0)
    bad = cell("02", solver="b", solver_spec="b", elapsed_s=0.1, status=status)
    figures = compare_solvers(folder("run", good, bad), ["a,b"]).figures("elapsed_s")
    assert (figures.base, figures.new, figures.ratio, figures.wins) == (9.0, None, None, (0, 0, 1))


def test_command_takes_two_solvers_of_a_run_and_conditions_on_them(folder) -> None:
    run = str(folder("run", *solver("a", [1.0]), *solver("b", [2.0])).path)
    call = ["compare", run, "--solver", "a,b"]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0
    assert "b has 2.00 times the solving time of a" in done.output
    assert CliRunner().invoke(app, [*call, "--fail-if", "elapsed_s>1.5x"]).exit_code == 3


# -- Regressions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "is_broken"),
    [
        ("elapsed_s>1.2x", True),
        ("elapsed_s > 2x", False),
        ("elapsed_s>=2x", True),
        ("elapsed_s>x+0.9", True),
        ("elapsed_s>x+1", False),
        ("elapsed_s>1.9", True),
        ("elapsed_s>2", False),
        ("elapsed_s<=2e0", True),
        ("elapsed_s<.5x", False),
        ("cpu_s>x", False),
    ],
)
def test_conditions_hold_new_figures_against_limits(folder, condition, is_broken) -> None:
    base, new = folder("base", cell("01", elapsed_s=1.0)), folder("new", cell("01", elapsed_s=2.0))
    found = broken(compare_runs(base, new), condition)
    assert found == (["".join(condition.split())] if is_broken else [])


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_looked_at(folder, metric: str) -> None:
    old = cell("01")
    new = replace(old, **{metric: 3 * getattr(old, metric)})
    comparison = compare_runs(folder("base", old), folder("new", new))
    assert broken(comparison, *(f"{name}>2x" for name in METRICS)) == [f"{metric}>2x"]


@pytest.mark.parametrize(
    ("before", "after", "is_worse"),
    [
        ("ok", "limit", True),
        ("limit", "timeout", True),
        ("limit", "unavailable", True),
        ("timeout", "crashed", True),
        ("limit", "refuted", True),
        ("ok", "ok", False),
        ("limit", "ok", False),
        ("unsupported", "timeout", False),
        ("crashed", "refuted", False),
    ],
)
def test_worse_statuses_are_regressions(folder, before, after, is_worse) -> None:
    base = folder("base", cell("01", status=before))
    new = folder("new", cell("01", status=after, reason="because"))
    comparison = compare_runs(base, new)
    assert broken(comparison) == (["status"] if is_worse else [])
    assert replace(comparison, allow_worse_status=True).regressions == []
    assert (f"kuhn2/cfr_plus: {before} → {after}: because [status]" in printed(comparison)) == (
        is_worse
    )


def test_one_worse_seed_is_enough_and_is_named(folder) -> None:
    base = folder("base", *seeds([1.0, 1.0, 1.0]))
    records = seeds([1.0, 1.0, 1.0])
    records[1] = replace(records[1], status="limit")
    comparison = compare_runs(base, folder("new", *records))
    assert broken(comparison) == ["status"]
    assert "(seed 1)" in printed(comparison)


def test_lost_figure_breaks_every_rule_about_it(folder) -> None:
    spec = cell("01").solver_spec
    lost = without_figures("02", solver="cfr_plus", solver_spec=spec, status="crashed")
    comparison = compare_runs(folder("base", cell("01")), folder("new", lost))
    assert broken(comparison, "max_regret<1", "elapsed_s>100") == [
        "status",
        "max_regret<1",
        "elapsed_s>100",
    ]
    assert "1 of 1 cells have no max_regret any more" in printed(comparison, "max_regret<1")


@pytest.mark.parametrize("scale", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("limit", [">1.2x", ">=x", ">0.5x", ">0x", "<2x", "<=1x", "<x+1"])
def test_run_does_not_regress_against_itself_by_a_ratio(folder, scale: float, limit: str) -> None:
    run = folder("base", with_candidate(cell("01"), scale))
    assert broken(compare_runs(run, run), *(f"{metric}{limit}" for metric in METRICS)) == []


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (-1e-16, ["max_regret<0.5x"]),
        (-1e-17, []),
        (1e-17, ["max_regret>1.2x"]),
    ],
)
def test_multiple_of_a_negative_base_is_zero(folder, new: float, found: list[str]) -> None:
    sides = [replace(cell("01"), max_regret=regret) for regret in (-7e-17, new)]
    comparison = compare_runs(folder("base", sides[0]), folder("new", sides[1]))
    assert broken(comparison, "max_regret>1.2x", "max_regret<0.5x") == found


def test_missing_cells_are_regressions_and_new_ones_are_not(folder) -> None:
    lost = cell("99", solver="dcfr", solver_spec="dcfr")
    base = folder("base", *seeds([1.0] * 6), lost)
    new = folder("new", seeds([1.0])[0], cell("04", solver="added", solver_spec="added"))
    comparison = compare_runs(base, new)
    assert broken(comparison, "elapsed_s>2x") == ["missing", "missing"]
    assert replace(comparison, allow_missing=True).regressions == []
    assert "seeds 1, 2, 3, 4, 5" in comparison.regressions[0]["text"]
    assert "regression: only in base: 6 cells, kuhn2/cfr_plus/1" in printed(comparison)
    assert broken(compare_runs(new, folder("more", *base.cells, *new.cells))) == []


def test_cells_that_were_not_chosen_are_not_missing(folder) -> None:
    lost = cell("02", solver="dcfr", solver_spec="dcfr")
    base, new = folder("base", cell("01"), lost), folder("new", cell("01"))
    assert broken(compare_runs(base, new)) == ["missing"]
    assert broken(compare_runs(base, new, solvers=["cfr_plus"])) == []


def test_unfinished_cells_of_the_new_run_are_missing(folder) -> None:
    stopped = cell("01", status="interrupted")
    both = cell("02", solver="dcfr", solver_spec="dcfr")
    base, new = folder("base", cell("01"), both), folder("new", stopped, both)
    assert broken(compare_runs(base, new)) == ["missing"]


# -- Conditions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("elapsed>1.2x", "did you mean elapsed_s"),
        ("payoffs>1", r"known: cpu_s, .*peak_memory"),
        ("elapsed_s>1.2y", "'elapsed_s>1.2y' is not a condition"),
        ("elapsed_s>1e999", "LIMIT a finite number"),
        ("elapsed_s==2", "not a condition"),
        ("elapsed_s>1x if 1 else 2", "not a condition"),
        ("", "not a condition"),
        ("status", "A worse status counts without being asked for"),
    ],
)
def test_what_is_no_condition_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Rule.of(text)


# -- The command --------------------------------------------------------------------------------


def test_exit_code_tells_a_regression(folder) -> None:
    base = str(folder("base", cell("01", elapsed_s=1.0)).path)
    new = str(folder("new", cell("01", elapsed_s=1.5)).path)
    run = CliRunner().invoke
    assert run(app, ["compare", base, new]).exit_code == 0
    assert run(app, ["compare", base, new, "--fail-if", "elapsed_s>1.6x"]).exit_code == 0
    done = run(app, ["compare", base, new, "--fail-if", "elapsed_s>1.2x"])
    assert done.exit_code == 3
    assert "[elapsed_s>1.2x]" in done.output
    worse = str(folder("worse", cell("01", status="timeout")).path)
    assert run(app, ["compare", base, worse]).exit_code == 3
    assert run(app, ["compare", base, worse, "--allow", "worse-status"]).exit_code == 0
    both = str(folder("both", cell("01", elapsed_s=1.0), cell("02", seed=1)).path)
    assert run(app, ["compare", both, base]).exit_code == 3
    assert run(app, ["compare", both, base, "--allow", "missing"]).exit_code == 0


def test_json_has_the_figures_of_the_comparison(folder) -> None:
    base = str(folder("base", *seeds([1.0, 3.0])).path)
    new = str(folder("new", *seeds([3.0, 3.0])).path)
    arguments = ["compare", base, new, "--fail-if", "elapsed_s>1.2x"]
    document = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert document["schema"] == "eqbench.compare/1"
    (found,) = document["cells"]
    assert found["seeds"] == [0, 1]
    figures = {"base": 2.0, "new": 3.0, "ratio": 1.5, "seeds": 2, "interval": None}
    assert found["metrics"]["elapsed_s"].items() >= figures.items()
    assert [each["rule"] for each in document["regressions"]] == document["rules"]


# -- What changed alone -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "conditions", "is_shown"),
    [
        ({}, [], False),
        ({"elapsed_s": 2.6}, [], False),
        ({"elapsed_s": 2.8}, [], True),
        ({"elapsed_s": 1.4}, [], True),
        ({"elapsed_s": 2.6}, ["elapsed_s>1.2x"], True),
        ({"status": "limit"}, [], True),
        ({"max_regret": 3e-11}, [], False),
        ({"max_regret": 3e-3}, [], True),
        ({"iterations": 7}, [], False),
        ({"equilibria": identified(cell("01"), identity("kuhn2")).equilibria}, [], True),
    ],
)
def test_rows_that_differ_by_noise_alone_are_left_out_and_counted(
    folder, tmp_path: Path, changes: dict[str, Any], conditions: list[str], *, is_shown: bool
) -> None:
    other = cell("02", solver="lcp", solver_spec="lcp")
    folder("base", cell("01", elapsed_s=2.0), other)
    folder("new", replace(cell("01", elapsed_s=2.0), **changes), other)
    words = ["compare", "base", "new", "--only-changed"]
    words += [word for text in conditions for word in ("--fail-if", text)]
    done, found = eqbench(*words, cwd=tmp_path), eqbench(*words, "--json", cwd=tmp_path).json
    assert [each["solver"] for each in found["cells"]] == ["cfr_plus"] * is_shown
    assert found["left_out"] == 2 - is_shown
    assert f"{2 - is_shown} row" in done.out
    assert eqbench(*words, "--format", "md", cwd=tmp_path).out.count("| cfr") == is_shown
    assert eqbench(*words, "--format", "html", cwd=tmp_path).code == done.code
