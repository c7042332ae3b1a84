"""Shares of targets and of games over time: what counts, and what is left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_pages import material_of, shares_of_targets, titles_of, write_trace
from stored_runs import cell, with_candidate, without_figures, write_run

from eqbench.report.html.document import Figure
from eqbench.report.html.tracks import GameFacts, GameTracks, collect
from eqbench.report.html.views import (
    TARGETS,
    common_trials,
    memory,
    performance_profiles,
    times,
    why_not_all,
)
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run

OTHER = {"game": "shapley", "game_spec": "matrix(name=shapley)"}


def profiles(games: Sequence[GameTracks]) -> list[Figure]:
    return performance_profiles(games, common_trials(games))


def test_share_of_targets_counts_unsupported_games_as_never_reached(tmp_path: Path) -> None:
    reached = cell("01", elapsed_s=1.0)  # a regret of 1.2e-11 with a range of 4: beyond all targets
    unsupported = without_figures("02", solver="cfr_plus", status="unsupported", **OTHER)
    material = material_of(tmp_path / "run", reached, unsupported)
    assert titles_of(shares_of_targets(material.games)) == ["cfr_plus: 50% in the end"]


def test_share_of_targets_follows_the_snapshots(tmp_path: Path) -> None:
    run = tmp_path / "run"
    facts = {cell("01").game_spec: GameFacts(1.0)}
    record = write_trace(run, cell("01"), times=(0.01, 1.0), regrets=((1e-3, 0.0), (1e-6, 0.0)))
    record = replace(record, nash_conv=None, max_regret=None, exploitability=None)
    found = titles_of(shares_of_targets(material_of(run, record, facts=facts).games))
    share = sum(target >= 1e-6 for target in TARGETS) / len(TARGETS)
    assert found == [f"cfr_plus: {share:.0%} in the end"]


def test_share_of_targets_is_of_the_same_seeds_for_all_solvers(tmp_path: Path) -> None:
    records = [
        cell("01", solver="by chance", seed=0),
        without_figures("02", solver="by chance", seed=1, status="crashed"),
        cell("03", solver="two seeds", seed=0),
        cell("04", solver="two seeds", seed=1),
        cell("05", solver="two seeds", seed=2),
        cell("06", solver="no chance"),
    ]
    figure = shares_of_targets(material_of(tmp_path / "run", *records).games)
    assert titles_of(figure) == [
        "by chance: 50% in the end",
        "two seeds: 100% in the end",
        "no chance: 100% in the end",
    ]


def test_only_games_that_all_solvers_were_asked_to_solve_count(tmp_path: Path) -> None:
    records = cell("01"), cell("02", **OTHER), cell("03", solver="one game")
    games = material_of(tmp_path / "run", *records).games
    figure = shares_of_targets(games)
    assert figure is not None
    assert titles_of(figure) == ["cfr_plus: 100% in the end", "one game: 100% in the end"]
    assert profiles(games) == []
    (note,) = why_not_all(games, common_trials(games))
    assert "there is only kuhn2" in note.paragraphs[0]


def test_runs_of_different_games_have_no_shares_and_the_page_says_why(tmp_path: Path) -> None:
    paths = write_run(tmp_path / "a", cell("01")), write_run(tmp_path / "b", cell("02", **OTHER))
    games = collect(list(map(read_run, paths)), {}).games
    assert shares_of_targets(games) is None
    assert profiles(games) == []
    assert len(why_not_all(games, common_trials(games))) == 1


def test_profile_ignores_a_game_that_one_solver_was_not_asked_to_solve(tmp_path: Path) -> None:
    third = {"game": "third", "game_spec": "third"}
    records = [*two_games(), cell("03", solver="strict", **third)]
    games = material_of(tmp_path / "run", *records).games
    coarse, _ = profiles(games)
    assert titles_of(coarse) == ["strict: 100% in the end", "loose: 100% in the end"]
    assert why_not_all(games, common_trials(games)) == []


def test_no_share_of_targets_without_profiles(tmp_path: Path) -> None:
    material = material_of(tmp_path / "run", without_figures("01", status="crashed"))
    assert shares_of_targets(material.games) is None
    assert memory(material.games) is None
    assert times(material.games) is None


def test_performance_profile_needs_two_games_and_who_never_gets_there_never_counts(
    tmp_path: Path,
) -> None:
    records = [
        cell("01", solver="quick", elapsed_s=1.0),
        cell("02", solver="slow", elapsed_s=10.0),
        cell("03", solver="quick", elapsed_s=2.0, **OTHER),
        replace(cell("04", solver="slow", **OTHER), max_regret=1.0),
    ]
    assert profiles(material_of(tmp_path / "one", *records[:2]).games) == []
    coarse, target = profiles(material_of(tmp_path / "two", *records).games)
    for figure in (coarse, target):
        assert titles_of(figure) == ["quick: 100% in the end", "slow: 50% in the end"]


def two_games(**fields: Any) -> list[CellRecord]:
    """Cells of two games, each with solvers that end at 1.2e-11 and 1.2e-9."""
    return [
        record
        for k, game in enumerate(({}, OTHER))
        for record in (
            cell(f"{k}1", solver="strict", **(fields | game)),
            with_candidate(cell(f"{k}2", solver="loose", **(fields | game)), 100.0),
        )
    ]


@pytest.mark.parametrize("target", [0.0, None])
def test_no_performance_profile_for_a_target_that_none_has_to_reach(
    tmp_path: Path, target: float | None
) -> None:
    records = two_games(target=target)
    records[0] = replace(records[0], max_regret=-1e-17)  # by rounding
    games = material_of(tmp_path / "run", *records).games
    assert [figure.name for figure in profiles(games)] == ["profile-coarse"]


def test_performance_profile_has_one_target_for_all_solvers_of_a_game(tmp_path: Path) -> None:
    records = two_games(target=4e-10)
    records[1] = replace(records[1], target=1e-8)  # which it reaches, and its rival's it does not
    records[3] = replace(records[3], max_regret=1e-10)
    _, figure = profiles(material_of(tmp_path / "run", *records).games)
    assert titles_of(figure) == ["strict: 100% in the end", "loose: 50% in the end"]
