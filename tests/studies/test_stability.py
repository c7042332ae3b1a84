"""The stability of published sets, of given profiles and of rest points; their eigenvalues."""

from __future__ import annotations

import csv
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.command import eqbench_here
from helpers.figures import drawn, handed
from scipy.optimize import linear_sum_assignment

import eqbench
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.plots.stability import draw_stability, eigenvalue_figure, verdict_panel
from eqbench.report.terminal import plain_text, print_report
from eqbench.requests import GivenProfile
from eqbench.studies.flow.rest_points import (
    COUNTS,
    TOLERANCE,
    Spectrum,
    eigenvalues,
    on_face,
    rest_points,
    spectrum,
    verdicts,
)
from eqbench.studies.flow.stability import StabilityDocument, StabilityStudy
from eqbench.studies.frame import Session, StudyFolder, answer
from eqbench.studies.requests import StabilityRequest
from eqbench.verification import verify


@cache
def flow(spec: str) -> Any:
    return eqbench.load_solver("replicator").flow(eqbench.load_game(spec))


def study(game: str, folder: Path | None = None, **options: Any) -> StabilityDocument:
    """Document of a study of stability, in a folder of its own unless one is given."""
    begun = StabilityStudy(StabilityRequest(game=game, **options))
    if folder is None:
        return answer(begun)
    return StudyFolder.create(begun, folder).carry_out(begun, Session(folder))


def given(spec: str, behavior: list[float], name: str = "mine") -> tuple[GivenProfile, ...]:
    tree = eqbench.load_game(spec).tree
    profile = BehaviorProfile.of(tree, np.array(behavior))
    return (GivenProfile(name, profile.on(tree).to_json()),)


def printed(document: StabilityDocument, width: int = 160) -> str:
    return plain_text(lambda console: print_report(document.tables(), console), width)


# -- published sets -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "counts"),
    [
        ("matching_pennies", {"matrix:matching_pennies": (0, 2, 0, 0)}),
        ("rock_paper_scissors", {"matrix:rock_paper_scissors": (0, 4, 0, 0)}),
        ("prisoners_dilemma", {"matrix:prisoners_dilemma": (0, 0, 0, 2)}),
        ("kuhn2", {"kuhn2": (0, 4, 1, 7)}),
    ],
)
def test_equilibria_have_the_eigenvalues_of_their_game(
    spec: str, counts: dict[str, tuple[int, ...]]
) -> None:
    found = verdicts(eqbench.load_game(spec), flow(spec))
    assert {v.name: tuple(v.looked[0].spectrum.counts.values()) for v in found} == counts


def test_members_that_deviate_are_found_and_reported() -> None:
    """At alpha = 0 the first player bluffs with no card: two imaginary eigenvalues vanish."""
    (verdict,) = verdicts(eqbench.load_game("kuhn2"), flow("kuhn2"))
    inside = verdict.looked[0].spectrum.verdict
    (other,) = (each for each in verdict.looked if each.spectrum.verdict != inside)
    assert (other.place, other.figures) == ("corner", {"alpha": pytest.approx(0, abs=1e-14)})
    assert other.spectrum.counts == {
        "unstable": 0,
        "centre_oscillatory": 2,
        "zero": 5,
        "stable": 5,
    }
    entry = verdict.entry().members
    assert entry.verdicts == {
        "centre manifold of oscillatory dimension 4": entry.examined - 1,
        "centre manifold of oscillatory dimension 2": 1,
    }
    assert (entry.same_everywhere, entry.zero, entry.stable) == (False, (1, 5), (5, 7))
    assert "alpha=0" in printed(study("kuhn2"))


def test_set_at_which_a_flow_does_not_rest_is_no_matter_of_its_stability() -> None:
    game, real = eqbench.load_game("matching_pennies"), flow("matching_pennies")
    drifting = SimpleNamespace(
        choices=real.choices,
        frequency_velocity=lambda behavior: np.ones(real.choices.size),
        frequency_jacobian=real.frequency_jacobian,
    )
    with pytest.raises(UsageError, match="matrix"):
        verdicts(game, drifting)  # type: ignore[arg-type]


# -- the document -------------------------------------------------------------------------------


def test_document_has_one_entry_per_set_and_value_of_the_parameter() -> None:
    found = study("skp", parameter="pot", at=(Fraction(3), Fraction(61, 20)))
    names = [(entry.name, entry.value) for entry in found.equilibria]
    assert names == [("skp:2a", 3), ("skp:1", 3), ("skp:2", 3), ("skp:2", 3.05)]
    assert found.at == [3, 3.05]
    for entry in found.equilibria:
        counted = [getattr(entry, key) for key in COUNTS]
        assert sum(counted) == len(entry.eigenvalues) == 11
        assert entry.is_equilibrium
        assert entry.members.refuted == 0
    assert found.equilibria[-1].verdict == "unstable"
    assert "3.05" in printed(found)


def test_rates_scale_eigenvalues_and_change_no_verdict() -> None:
    slow = study("skp(pot=3.1)", solver="replicator(rate=1)").equilibria[0]
    fast = study("skp(pot=3.1)").equilibria[0]
    assert np.allclose(24 * np.array(slow.eigenvalues), fast.eigenvalues, atol=1e-13)
    assert slow.verdict == fast.verdict
    assert slow.zero == fast.zero


def test_given_rest_point_that_is_no_equilibrium_is_called_that() -> None:
    spec = "rock_paper_scissors"
    pure = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    found = study(spec, profiles=given(spec, pure))
    entry = found.equilibria[-1]
    assert (entry.is_equilibrium, entry.max_regret, entry.verdict) == (
        False,
        1,
        "unstable",
    )
    assert entry.across == 1
    assert "mine !" in printed(found)
    assert "! is not an equilibrium." in printed(found)
    assert "no equilibrium" not in printed(study(spec))


def test_profile_that_moves_is_refused_with_how_fast() -> None:
    spec = "matching_pennies"
    moved = [0.5, 0.5, 0.5 + 1e-6, 0.5 - 1e-6]
    with pytest.raises(UsageError, match=r"P1\|\|tails") as refused:
        study(spec, profiles=given(spec, moved))
    assert "2e-06" in str(refused.value)


def test_equilibrium_that_moves_where_its_own_play_never_leads_is_refused_as_such() -> None:
    """At alpha = 1/3 the first player always bets the king, and so never has to call with it."""
    game = eqbench.load_game("kuhn2")
    (verdict,) = verdicts(game, flow("kuhn2"))
    (last,) = [each for each in verdict.looked if abs(each.figures["alpha"] - 1 / 3) < 1e-12]
    behavior = last.behavior.copy()
    start = game.tree.action_start[game.tree.infoset_of(0, "3:KB")]
    behavior[start : start + 2] = 0.5
    regret = float(verify(game.tree, BehaviorProfile.of(game.tree, behavior)).max_regret)
    assert regret <= 1e-15
    with pytest.raises(UsageError, match="rest") as refused:
        study("kuhn2", profiles=given("kuhn2", behavior.tolist()))
    assert "so it is an equilibrium, but actions that are played where its own" in str(
        refused.value
    )


@pytest.mark.parametrize(
    ("game", "options", "words"),
    [
        ("leduc", {}, "give some with --profile"),
        ("skp", {"parameter": "ante", "at": (Fraction(3),)}, "its parameter is 'pot'"),
        ("skp", {"parameter": "pot"}, "--parameter pot needs the values that it shall take"),
        ("jordan", {"at": (Fraction(1),)}, "no payoff parameter"),
        ("skp", {"at": (Fraction(1),)}, "pot"),
        ("skp", {"at": (Fraction(3),), "profiles": (GivenProfile("p", {}),)}, "leave out --at"),
        ("kuhn2", {"profiles": (GivenProfile("p", {}),)}, "'behavior' is missing"),
        ("kuhn2", {"solver": "cfr"}, "cfr offers no `flow`"),
    ],
)
def test_what_cannot_be_done_is_refused(game: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        study(game, **options)


# -- other rest points --------------------------------------------------------------------------


def test_rest_points_are_no_equilibria_and_all_unstable() -> None:
    """Billingham 2017, section 4.1."""
    spec = "skp(pot=2.5)"
    game = eqbench.load_game(spec)
    found, figures = rest_points(game, flow(spec), 300, 1)
    assert figures.draws == 300
    assert figures.distinct == figures.unstable == figures.unstable_across == len(found)
    mixed = 0
    for each in found:
        measured = verify(game.tree, BehaviorProfile.of(game.tree, each.behavior))
        assert measured.max_regret > 1e-3
        assert np.abs(flow(spec).frequency_velocity(each.behavior)).max() <= 1e-12
        mixed += bool(np.any((each.behavior > 0) & (each.behavior < 1)))
    assert len(found) - mixed >= 10  # pure ones
    assert mixed >= 3


def test_faces_have_the_eigenvalues_of_the_whole_jacobian() -> None:
    """Whichever actions are played, and whichever of them gives way to the others."""
    spec = "shapley"
    found, figures = rest_points(eqbench.load_game(spec), flow(spec), 400, 2)
    assert figures.faces > 12
    for each in found:
        whole = np.linalg.eigvals(flow(spec).frequency_jacobian(each.behavior))
        gaps = np.abs(each.spectrum.eigenvalues[:, None] - whole)
        assert gaps[linear_sum_assignment(gaps)].max() <= 1e-7


def test_rest_points_are_distinct_and_equilibria_are_not_among_them() -> None:
    spec = "rock_paper_scissors"
    found, figures = rest_points(eqbench.load_game(spec), flow(spec), 800, 3)
    rows = np.round([each.behavior for each in found], 6)
    assert len(np.unique(rows, axis=0)) == len(found) == figures.distinct
    pure = 9
    assert len(found) == pure + mixed_rest_points()
    assert figures.equilibria > 0


def mixed_rest_points() -> int:
    """Rest points of rock, paper, scissors where both mix two actions, by Cramer's rule."""
    payoff, count = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]), 0
    pairs = [(0, 1), (0, 2), (1, 2)]
    for rows in pairs:
        for columns in pairs:
            (a, b), (c, d) = payoff[np.ix_(rows, columns)].astype(float)
            weight = a - b - c + d
            if weight:
                count += 0 < (d - c) / weight < 1 and 0 < (d - b) / weight < 1
    return count


def test_search_is_in_the_document_and_the_table() -> None:
    found = study("shapley", rest_points=20)
    (search,) = found.rest_points
    assert search.distinct == len(search.points) > 0
    for point in search.points:
        assert set(point.frequencies.values()) <= {*point.frequencies.values()} - {0.0}
        assert (point.is_equilibrium, point.verdict) == (False, "unstable")
    assert f"Rest points: 20 faces searched; found {search.distinct} besides" in printed(found)
    assert study("shapley", rest_points=20) == found


# -- files ---------------------------------------------------------------------------------------


def test_points_are_the_profiles_of_the_entries(tmp_path: Path) -> None:
    found = study("skp", tmp_path, at=(Fraction(3), Fraction(61, 20)), rest_points=30)
    with (tmp_path / "points.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:6] == ["parameter", "name", "u:P1", "u:P2", "u:P3", "P1|2:|bet"]
    entries = [(entry.value, entry.name, entry) for entry in found.equilibria]
    for search in found.rest_points:
        entries += [
            (search.value, f"rest point {number}", point)
            for number, point in enumerate(search.points, start=1)
        ]
    assert len(entries) > 4
    expected = {(value, name): entry.payoffs for value, name, entry in entries}
    assert {(float(row["parameter"]), row["name"]) for row in rows} == set(expected)
    for row in rows:
        game = eqbench.load_game("skp").at(pot=float(row["parameter"]))
        choices = Choices.of(game.tree)
        free = np.array([float(text) for text in list(row.values())[5:]])
        measured = verify(game.tree, BehaviorProfile.of(game.tree, choices.behavior(free)))
        payoffs = expected[float(row["parameter"]), row["name"]]
        assert [float(row[f"u:P{p}"]) for p in (1, 2, 3)] == payoffs
        assert list(measured.payoffs) == pytest.approx(payoffs, abs=1e-15)


def test_points_of_a_game_without_parameter_have_none(tmp_path: Path) -> None:
    study("matching_pennies", tmp_path)
    _, row = (tmp_path / "points.csv").read_text(encoding="utf-8").splitlines()
    assert row.startswith(",matrix:matching_pennies,")
    assert row.endswith(",0.5,0.5")


def test_profile_in_a_file_is_looked_at(tmp_path: Path) -> None:
    game = eqbench.load_game("shapley")
    uniform = BehaviorProfile.uniform(game.tree)
    (tmp_path / "given").mkdir()
    (tmp_path / "given/uniform.json").write_text(profile_text(game.tree, uniform, game.spec))
    options = ("stability", "--game", "shapley", "--profile", "given/uniform.json", "--json", "-q")
    done = eqbench_here(*options, "--out", "out", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    entry = done.json["equilibria"][-1]
    assert entry["name"] == "uniform.json"
    assert (entry["is_equilibrium"], entry["verdict"]) == (True, "unstable")  # Shapley 1964
    points = (tmp_path / "out/points.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in points] == ["name", "matrix:shapley", "uniform.json"]


# -- figures ------------------------------------------------------------------------------------


def test_figure_of_eigenvalues_shows_all_of_them() -> None:
    entries = study("skp(pot=3.25)").equilibria
    ((panel,), _) = handed(eigenvalue_figure, entries)
    shown = {series.look["label"]: len(series.data[0]) for series in drawn(panel)}
    assert shown == {f"{entry.name}: {entry.verdict}": 11 for entry in entries}


def test_figure_of_verdicts_joins_neighbors_of_one_verdict_only() -> None:
    pots = (*(Fraction(k, 20) for k in range(56, 66)), Fraction(7, 2), Fraction(4))
    entries = study("skp", at=pots, samples=2).equilibria
    panel = verdict_panel(entries, [float(pot) for pot in pots])
    rows = panel.settings["yticklabels"]
    assert rows == [
        *("skp:1", "skp:2a", "skp:2"),
        *(f"skp:{k}" for k in ["3", "4", "5a", "5", "6", "7"]),
    ]
    spans = {(rows[int(y[0])], x[0], x[-1]) for x, y in (s.data for s in drawn(panel))}
    assert ("skp:1", 2.8, 3.0) in spans
    assert ("skp:2", 3.05, 3.25) in spans  # another verdict at 3
    assert ("skp:4", 3.25, 3.5) in spans  # nothing was computed between
    assert (3.0, 3.0) in {span[1:] for span in spans if span[0] == "skp:2a"}  # at one value only


def test_nothing_is_drawn_without_equilibria() -> None:
    assert not list(draw_stability([], "skp", None))


def behavior(spec: str, **frequencies: float) -> np.ndarray:
    """A profile of a matrix game by the names of its actions, P1_rock for example."""
    tree = eqbench.load_game(spec).tree
    names = [
        f"{tree.players[player]}_{action}"
        for player, actions in zip(tree.infoset_player, tree.infoset_actions, strict=True)
        for action in actions
    ]
    return np.array([frequencies.get(name, 0.0) for name in names])


def largest_gap(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest distance of paired eigenvalues, where pairs are as near as can be."""
    gaps = np.abs(found[:, None] - expected)
    return float(gaps[linear_sum_assignment(gaps)].max())


def similar(matrix: np.ndarray, seed: int) -> np.ndarray:
    """A matrix with the same eigenvalues, by a rotation at random."""
    rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=matrix.shape))[0]
    return rotation @ matrix @ rotation.T


def with_chain() -> np.ndarray:
    """Eigenvalues i, -i and -1, and a chain of three zeros, which rounding tears apart."""
    matrix = np.zeros((6, 6))
    matrix[0, 1], matrix[1, 0], matrix[2, 2] = 1, -1, -1
    matrix[3, 4] = matrix[4, 5] = matrix[0, 3] = 1
    return matrix


@pytest.mark.parametrize("seed", range(5))
def test_zeros_of_a_chain_are_zeros_although_their_computed_values_are_not(seed: int) -> None:
    matrix = similar(with_chain(), seed)
    torn = np.sort(np.abs(np.linalg.eigvals(matrix)))[:3]
    assert torn.max() > 100 * TOLERANCE  # what would have been taken for motion
    found = eigenvalues(matrix, TOLERANCE * np.linalg.norm(matrix, 2))
    assert (found == 0).sum() == 3
    assert largest_gap(found, np.array([1j, -1j, -1, 0, 0, 0])) <= 1e-12


def test_small_eigenvalues_are_no_zeros() -> None:
    matrix = similar(np.diag([1.0, -0.5, 1e-6, -1e-7]), 3)
    found = eigenvalues(matrix, TOLERANCE)
    assert largest_gap(found, np.array([1.0, -0.5, 1e-6, -1e-7])) <= 1e-14


@pytest.mark.parametrize("size", [0, 1, 4])
def test_a_matrix_of_zeros_has_no_other_eigenvalues(size: int) -> None:
    assert eigenvalues(np.zeros((size, size)), 0.0).tolist() == [0] * size


def test_eigenvalues_are_counted_and_not_pairs() -> None:
    limit = TOLERANCE * 2.0
    values = [3, 1.01 * limit + 1j, 1.01 * limit - 1j, 1j, -1j, 0.99 * limit, 0.99j * limit]
    values += [-0.99 * limit, -1.01 * limit, -1 + 1j, -1 - 1j]
    seen = Spectrum(np.array(values), 0.0, 2.0, 0.0)
    assert seen.counts == {"unstable": 3, "centre_oscillatory": 2, "zero": 3, "stable": 3}


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1e-3, 1j, -1j], "unstable"),
        ([-1, 1j, -1j, 0], "centre manifold of oscillatory dimension 2"),
        ([-1, 0], "centre manifold of oscillatory dimension 0"),
        ([-1, -2 + 1j, -2 - 1j], "asymptotically stable"),
    ],
)
def test_verdict_names_the_worst_part(values: list[complex], verdict: str) -> None:
    assert Spectrum(np.array(values), 0.0, 2.0, 0.0).verdict == verdict


def test_matching_pennies_turns_about_its_equilibrium() -> None:
    """Hofbauer and Sigmund 1998, section 10.3: a center; the turn takes 2 pi / omega."""
    half = behavior("matching_pennies", P1_heads=0.5, P1_tails=0.5, P2_heads=0.5, P2_tails=0.5)
    seen = spectrum(flow("matching_pennies"), half)
    # x' = x (1 - x) (4 y - 2) and y' = y (1 - y) (2 - 4 x)
    assert largest_gap(seen.eigenvalues, np.array([1j, -1j])) <= 1e-15
    assert seen.verdict == "centre manifold of oscillatory dimension 2"


def test_strict_equilibrium_attracts() -> None:
    tree = eqbench.load_game("prisoners_dilemma").tree
    last = np.zeros(tree.n_actions)
    last[tree.action_start[1:] - 1] = 1.0
    first = np.zeros(tree.n_actions)
    first[tree.action_start[:-1]] = 1.0
    verdicts = {spectrum(flow("prisoners_dilemma"), x).verdict for x in (first, last)}
    assert verdicts == {"asymptotically stable", "unstable"}


def test_gain_of_an_action_that_is_not_played_is_an_eigenvalue() -> None:
    point = behavior("rock_paper_scissors", P1_rock=1, P2_rock=1)
    seen = spectrum(flow("rock_paper_scissors"), point)
    assert sorted(seen.eigenvalues.real.tolist()) == [-1, -1, 1, 1]  # scissors lose, paper wins
    assert (seen.across, seen.verdict, seen.speed) == (1, "unstable", 0)


def test_tiny_frequencies_count_as_not_played() -> None:
    choices = Choices.of(eqbench.load_game("rock_paper_scissors").tree)
    point = behavior("rock_paper_scissors", P1_rock=1 - 3e-10, P1_paper=3e-10, P2_rock=1)
    assert on_face(choices, point).tolist() == [1, 0, 0, 1, 0, 0]
    apart = behavior("rock_paper_scissors", P1_rock=1 - 3e-9, P1_paper=3e-9, P2_rock=1)
    assert on_face(choices, apart)[1] == 3e-9
    assert on_face(choices, apart).reshape(2, 3).sum(axis=1).tolist() == [1, 1]


def test_jacobian_that_is_not_finite_is_refused() -> None:
    choices = Choices.of(eqbench.load_game("matching_pennies").tree)
    broken = SimpleNamespace(
        choices=choices,
        frequency_velocity=lambda x: np.zeros(2),
        frequency_jacobian=lambda x: np.full((2, 2), np.nan),
    )
    with pytest.raises(UsageError, match="Jacobian"):
        spectrum(broken, np.full(4, 0.5))  # type: ignore[arg-type]
