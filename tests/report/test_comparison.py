"""Two runs beside each other: what is matched, what is a regression, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command import eqbench_here as eqbench
from helpers.runs import cell, identified, identity, with_candidate, without_figures, write_run
from scipy import stats

from eqbench.errors import UsageError
from eqbench.report.comparison import (
    METRICS,
    Comparison,
    Figures,
    RegressionRule,
    compare_runs,
    compare_solvers,
    comparison_json,
    comparison_report,
)
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, cell_name, read_run


@pytest.fixture
def folder(tmp_path: Path):
    """Function that writes a run of these records and reads it back."""

    def write(name: str, *records: CellRecord) -> StoredRun:
        return read_run(write_run(tmp_path / name, *records))

    return write


def with_rules(comparison: Comparison, *conditions: str) -> Comparison:
    return replace(comparison, rules=tuple(map(RegressionRule.of, conditions)))


def broken(comparison: Comparison, *conditions: str) -> list[str]:
    """Rules that are broken when worse statuses and missing cells count too."""
    return [each["rule"] for each in with_rules(comparison, *conditions).regressions]


def seeds(elapsed: list[float], **fields: Any) -> list[CellRecord]:
    return [cell(f"{s:02}", seed=s, elapsed_s=t, **fields) for s, t in enumerate(elapsed)]


# -- Matching -----------------------------------------------------------------------------------


def game_file(key: str, path: str, content: str = "") -> CellRecord:
    return cell(key, game=path, game_spec=path, game_content=content)


@pytest.mark.parametrize(
    ("base", "new", "pairs", "lost"),
    [
        # canonical specs count, not what was typed
        ([cell("01")], [cell("02", game="kuhn(players=2)", solver="cfr_plus()")], ["01 02"], []),
        # game files match by what they hold, wherever they are
        (
            [game_file("c1", "a/game.efg", "1"), game_file("c2", "b/game.efg", "2")],
            [game_file("d2", "new/game.efg", "2"), game_file("c3", "a/game.efg", "3")],
            ["c2 d2"],
            ["a/game.efg/cfr_plus"],
        ),
        # files that are alike are each compared with itself
        (
            [game_file("a", "a.efg", "same"), game_file("b", "b.efg", "same")],
            [game_file("B", "b.efg", "same"), game_file("A", "a.efg", "same")],
            ["b B", "a A"],
            [],
        ),
        # old runs keep no content, so that only the path is known
        ([game_file("a", "a.efg"), game_file("b", "b.efg")], [game_file("A", "a.efg")], ["a A"],
         ["b.efg/cfr_plus"]),
    ],
)  # fmt: skip
def test_cells_match_by_what_they_are(
    folder, base: list[CellRecord], new: list[CellRecord], pairs: list[str], lost: list[str]
) -> None:
    comparison = compare_runs(folder("base", *base), folder("new", *new))
    found = [pair.trials[0] for pair in comparison.pairs]
    assert [f"{old.record.key} {now.record.key}" for old, now in found] == pairs
    assert [*map(cell_name, comparison.only_base)] == lost


def test_games_of_one_name_with_different_trees_are_warned_of(folder) -> None:
    base, new = (
        folder(name, cell("01", game_content=name), cell("02", game="g", game_spec="g"))
        for name in ("base", "new")
    )
    assert compare_runs(base, new).warnings == ["the tree differs: kuhn2"]
    assert compare_runs(base, base).warnings == []


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
    with pytest.raises(UsageError, match="'cfr_pluss'"):
        compare_runs(base, new, solvers=["cfr_pluss"])


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


def ended(name: str, seconds: float, **fields: Any) -> CellRecord:
    """The only cell of a solver, with figures that may differ from those of the others."""
    return replace(solver(name, [seconds])[0], **fields)


@pytest.mark.parametrize(
    ("first", "others", "metric", "base", "new", "ratio", "wins"),
    [
        # a solver without chance is held against every seed
        (ended("a", 1.0), solver("b", [3.0, 2.0, 0.5]), "elapsed_s", 1.0, 2.0, 2.0, (1, 0, 2)),
        # who alone reaches a regret wins it
        (ended("a", 1.0), [ended("b", 2.0, max_regret=1e-6)], "1e-05", 1.0, 2.0, 2.0, (0, 0, 1)),
        (ended("a", 1.0), [ended("b", 2.0, max_regret=1e-6)], "1e-09", 1.0, None, None, (0, 0, 1)),
        # what crashed or was refuted wins nothing
        *(
            (ended("a", 9.0), [ended("b", 0.1, status=status)], "elapsed_s", 9.0, None, None,
             (0, 0, 1))
            for status in ("crashed", "refuted")
        ),
    ],
)  # fmt: skip
def test_figures_of_two_solvers_are_those_of_their_trials(
    folder, first: CellRecord, others: list[CellRecord], metric: str, base, new, ratio, wins
) -> None:
    run = folder("run", first, *others, *solver("c", [9.0]))
    figures = compare_solvers(run, ["a,b"]).figures(metric)
    assert (figures.base, figures.new, figures.ratio, figures.wins) == (base, new, ratio, wins)


@pytest.mark.parametrize(
    ("fields", "seconds", "said"),
    [
        ({}, 1.0, {"time": "same", "regret": "same"}),
        ({"max_regret": None}, 1.0, {"time": "same"}),
        ({}, 9.5, {"time": "0.95 times", "regret": "same"}),
        ({}, 10.5, {"regret": "same"}),  # all cells used up their time, which says nothing
    ],
)
def test_answer_is_about_what_both_solvers_have(
    folder, fields: dict[str, Any], seconds: float, said: dict[str, str]
) -> None:
    first = 1.0 if seconds == 1.0 else 10.0
    run = folder("run", ended("a", first, **fields), ended("b", seconds, **fields))
    answer = comparison_report(compare_solvers(run, ["a,b"])).answer
    assert len(answer) == len(said)
    for sentence, (name, word) in zip(answer, said.items(), strict=True):
        assert name in sentence
        assert word in sentence


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


@pytest.mark.parametrize("named", [[], ["a"], ["a,a"], ["a,b,cfr"], ["a,cfr"]])
def test_one_run_needs_two_solvers(folder, named: list[str]) -> None:
    more = solver("cfr(start=random)", [1.0])
    run = folder("run", *(solver(n, [1.0])[0] for n in ("a", "b", "cfr")), *more)
    with pytest.raises(UsageError, match="solvers"):
        compare_solvers(run, named)


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


def test_lost_figure_breaks_every_rule_about_it(folder) -> None:
    spec = cell("01").solver_spec
    lost = without_figures("02", solver="cfr_plus", solver_spec=spec, status="crashed")
    comparison = compare_runs(folder("base", cell("01")), folder("new", lost))
    rules = ["max_regret<1", "elapsed_s>100"]
    assert broken(comparison, *rules) == ["status", *rules]


OTHER = cell("99", solver="dcfr", solver_spec="dcfr")


@pytest.mark.parametrize(
    ("base", "new", "solvers", "missing"),
    [
        ([*seeds([1.0] * 6), OTHER], [seeds([1.0])[0]], [], 2),  # once for each solver
        ([cell("01"), OTHER], [cell("01"), OTHER, cell("98", seed=7)], [], 0),
        ([cell("01"), OTHER], [cell("01")], ["cfr_plus"], 0),  # not chosen, so not missing
        ([cell("01"), OTHER], [cell("01", status="interrupted"), OTHER], [], 1),
    ],
)
def test_missing_cells_are_regressions_and_new_ones_are_not(
    folder, base: list[CellRecord], new: list[CellRecord], solvers: list[str], missing: int
) -> None:
    comparison = compare_runs(folder("base", *base), folder("new", *new), solvers=solvers)
    assert broken(comparison) == ["missing"] * missing
    assert replace(comparison, allow_missing=True).regressions == []


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
        RegressionRule.of(text)


# -- The command --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("base new", 0),
        ("base new --fail-if elapsed_s>1.6x", 0),
        ("base new --fail-if elapsed_s>1.2x", 3),
        ("base worse", 3),
        ("base worse --allow worse-status", 0),
        ("both base", 3),
        ("both base --allow missing", 0),
        ("both --solver cfr_plus,lcp", 0),
        ("both --solver cfr_plus,lcp --fail-if elapsed_s>1.2x", 3),
        ("base nowhere", 2),
    ],
)
def test_exit_code_tells_a_regression(folder, tmp_path: Path, words: str, code: int) -> None:
    folder("base", cell("01", elapsed_s=1.0))
    folder("new", cell("01", elapsed_s=1.5))
    folder("worse", cell("01", status="timeout"))
    lcp = cell("02", solver="lcp", solver_spec="lcp", elapsed_s=2.0)
    folder("both", cell("01", elapsed_s=1.0), lcp)
    assert eqbench("compare", *words.split(), cwd=tmp_path).code == code


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
