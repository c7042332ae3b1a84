"""Lists of equilibria whose indices do not sum to 1, and what is never said of lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.made_games import exact_profile
from helpers.solver_cases import bimatrix, run, with_payoffs
from helpers.study_cases import battle, kuhn2_member

import eqbench
from eqbench.equilibria import Completeness
from eqbench.equilibria import completeness as completeness_or_none
from eqbench.equilibria.clusters import connected_components
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import Claim, Monitor, Termination
from eqbench.verification import Allowance, verify


def completeness(*given: Any, **options: Any) -> Completeness:
    """What is found of a list, which is something for all games here."""
    found = completeness_or_none(*given, **options)
    assert found is not None
    return found


def assert_missed(game: Game, profiles: list[BehaviorProfile]) -> None:
    """A list is proved incomplete whichever of its equilibria is left out."""
    for left_out in range(len(profiles)):
        rest = completeness(game, profiles[:left_out] + profiles[left_out + 1 :])
        assert rest.verdict == "proved incomplete"


COORDINATION, EQUILIBRIA = battle()
POTS = ("83/20", "17/4", "11/2", "6", "7")  # where simplified poker has no continuum


def coordination_equilibria() -> list[BehaviorProfile]:
    return [profile for _, profile in EQUILIBRIA]


def rounded(profiles: Sequence[BehaviorProfile], error: float = 0.0) -> list[BehaviorProfile]:
    """The same without their fractions, and mixtures off by an error."""
    found = []
    for profile in profiles:
        p = profile.probabilities
        mixed = (p > 0) & (p < 1)
        found.append(BehaviorProfile(p + error * np.where(mixed, [1.0, -1.0] * (len(p) // 2), 0)))
    return found


def enumerated(game: str | Game, solver: str = "case_enumeration") -> list[BehaviorProfile]:
    result = run(eqbench.load_solver(solver), game)
    return [candidate.profile for candidate in result.candidates]


KUHN = eqbench.load_game("kuhn2")
CONTINUUM = [kuhn2_member(Fraction(k, 12)) for k in range(5)]
PURE, OTHER, MIXED = coordination_equilibria()
ALL = [PURE, OTHER, MIXED]


@pytest.mark.parametrize(
    ("game", "profiles", "indices", "verdict", "exact"),
    [
        (COORDINATION, ALL, (1, 1, -1), "consistent", True),
        (COORDINATION, rounded(ALL), (1, 1, -1), "consistent", False),
        (COORDINATION, [PURE], (1,), "consistent", True),
        (COORDINATION, [MIXED], (-1,), "proved incomplete", True),
        (COORDINATION, [], (), "proved incomplete", True),
        # repetitions count once, even if inexact
        (COORDINATION, [*ALL, *ALL, *rounded(ALL, 1e-11)], (1, 1, -1), "consistent", None),
        (COORDINATION, [PURE, OTHER, *rounded([MIXED], 1e-11)], (1, 1, -1), "consistent", False),
        # what is known roughly has no index, nor have members of a continuum, one or many
        (COORDINATION, [PURE, OTHER, *rounded([MIXED], 1e-7)], (1, 1, None), "not decided", False),
        (KUHN, CONTINUUM, (None,), "not decided", None),
        (KUHN, CONTINUUM[:1], (None,), "not decided", None),
        (KUHN, rounded(CONTINUUM), (None,), "not decided", None),
    ],
)
def test_lists(
    game: Game,
    profiles: list[BehaviorProfile],
    indices: tuple[int | None, ...],
    verdict: str,
    exact: bool | None,
) -> None:
    found = completeness(game, profiles)
    assert (found.indices, found.verdict) == (indices, verdict)
    assert exact in (None, found.exact)


@pytest.mark.parametrize("are_exact", [True, False])
def test_battle_of_the_sexes_less_one(are_exact: bool) -> None:
    profiles = ALL if are_exact else rounded(ALL)
    assert_missed(COORDINATION, profiles)
    part = completeness(COORDINATION, profiles[:2])
    assert ("in floats" in str(part), str(part).startswith("proved")) == (not are_exact, are_exact)
    assert "its 2" in str(part)


@pytest.mark.parametrize("game", ["matching_pennies", "rock_paper_scissors"])
def test_what_is_alone_is_consistent(game: str) -> None:
    loaded = eqbench.load_game(game)
    found = completeness(loaded, [BehaviorProfile.uniform(loaded.tree)])
    assert (found.indices, found.verdict) == ((1,), "consistent")


def test_behavior_that_the_own_moves_avoid_makes_no_difference() -> None:
    """P1 stays out for 2; what P1 would do after going in is not part of the plan."""
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "first", ["out", "in"])
    builder.terminal((root, 0), [2])
    later = builder.decision((root, 1), 0, "later", ["a", "b"])
    builder.terminal((later, 0), [1])
    builder.terminal((later, 1), [0])
    game = Game("out", builder.tree())
    rows = [((1, 0), after) for after in ((1, 0), (0, 1), ("1/2", "1/2"))]
    found = completeness(game, [exact_profile(game.tree, *each) for each in rows])
    assert (found.indices, found.verdict) == ((1,), "consistent")


@pytest.mark.parametrize("pot", POTS)
def test_the_complete_list_of_simplified_poker_and_the_same_with_one_removed(pot: str) -> None:
    pytest.importorskip("flint", reason="python-flint is not installed")
    game = eqbench.load_game(f"skp(pot={pot})")
    profiles = enumerated(game)
    whole, rest = completeness(game, profiles), completeness(game, profiles[1:])
    assert (whole.verdict, whole.indices) == ("consistent", (1,))
    assert rest.verdict == "proved incomplete"


def test_simplified_poker_with_a_continuum_is_not_decided() -> None:
    pytest.importorskip("flint", reason="python-flint is not installed")
    game = eqbench.load_game("skp(pot=4)")
    found = completeness(game, enumerated(game))
    assert sorted(map(str, found.indices)) == ["1", "None"]
    assert found.verdict == "not decided"


@pytest.mark.parametrize("seed", range(8))
def test_any_regular_equilibrium_removed_from_a_complete_list_is_missed(seed: int) -> None:
    """Three players with two actions each, without ties: all their equilibria are regular."""
    pytest.importorskip("flint", reason="python-flint is not installed")
    base = eqbench.load_game("random(players=3,actions=2)")
    game = with_payoffs(base, np.random.default_rng(seed).integers(-1000, 1000, (8, 3)))
    profiles = enumerated(game)
    whole = completeness(game, profiles)
    assert whole.verdict == "consistent"
    assert_missed(game, profiles)


def test_enumeration_of_a_bimatrix_game_by_gambit() -> None:
    pytest.importorskip("pygambit", reason="Gambit is not installed")
    profiles = enumerated(COORDINATION, "gambit_enummixed")
    whole = completeness(COORDINATION, profiles)
    assert sorted(map(str, whole.indices)) == ["-1", "1", "1"]
    assert_missed(COORDINATION, profiles)


def test_too_little_allowance_decides_nothing() -> None:
    found = completeness(COORDINATION, coordination_equilibria(), allowance=Allowance(left=10))
    assert found.verdict == "not decided"


class Enumerates:
    """Hands over some equilibria of the coordination game and says that these are all."""

    deterministic = True

    def __init__(self, numbers: Sequence[int], claim: Claim = "complete list") -> None:
        self.numbers, self.claim = numbers, claim

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        for number in self.numbers:
            monitor.candidate(coordination_equilibria()[number], self.claim)
        return Termination("converged", "looked everywhere")


MISSING = "proved incomplete: the indices of its 2 equilibria sum to 0, not 1; "


@pytest.mark.parametrize(
    ("solver", "claim", "before"),
    [
        (Enumerates([0, 1, 2]), "complete list", ""),
        (Enumerates([0, 1, 2, 0]), "complete list", ""),
        (Enumerates([0, 2], "equilibrium"), "equilibrium", ""),
        (Enumerates([0, 2]), "equilibrium", MISSING),
    ],
)
def test_a_list_that_is_proved_incomplete_is_not_reported_as_complete(
    solver: Enumerates, claim: str, before: str
) -> None:
    found = eqbench.solve(COORDINATION, solver)
    assert (found.status, found.reason) == ("ok", f"{before}looked everywhere")
    assert {item.claim for item in found.equilibria} == {claim}


def test_a_run_says_that_equilibria_are_missing(tmp_path: Path) -> None:
    run = eqbench.run("matrix(name=battle_of_sexes)", "logit", out=tmp_path / "one")
    said = "The index of the only equilibrium that was found, computed in floats, is -1, not 1"
    assert said in run.answer
    stored = run.stored.completeness[run[0].game_content]
    assert (stored["verdict"], stored["indices"]) == ("proved incomplete", [-1])
    verdict = run.completeness()["matrix(name=battle_of_sexes)"]
    assert str(verdict).startswith(
        "incomplete: the indices of its 1 equilibrium, computed in floats"
    )


def test_a_run_with_a_continuum_says_nothing(tmp_path: Path) -> None:
    run = eqbench.run("kuhn2", "sequence_lp", out=tmp_path / "one")
    assert "missing" not in run.answer
    (stored,) = run.stored.completeness.values()
    assert (stored["verdict"], stored["indices"]) == ("not decided", [None])


def test_nothing_is_said_while_cells_are_missing_or_what_is_stored_is_damaged(
    tmp_path: Path,
) -> None:
    run = eqbench.run("matrix(name=battle_of_sexes)", "logit", out=tmp_path / "one")
    game = run[0].game_content
    assert run.stored.missed(game) is not None
    plan = run.stored.plan | {"cells": [*run.stored.plan["cells"], "another"]}
    assert replace(run.stored, plan=plan).missed(game) is None
    (run.path / "completeness.json").write_text('{"matrix": 7}')
    damaged = eqbench.Run(run.path)
    assert damaged.stored.missed(game) is None
    assert any("completeness.json" in note for note in damaged.stored.notes)


def folding(constant: Fraction, unit: int = 1) -> Game:
    """P1 gains y - z by the second action, P2 x - z and P3 xy - (x + y)/2 + constant.

    So x = y = z with z(1 - z) = constant are mixed equilibria: two, one or none.
    """
    builder = TreeBuilder(["P1", "P2", "P3"])
    first = builder.decision(None, 0, "1", ["0", "1"])
    second = [builder.decision((first, x), 1, "2", ["0", "1"]) for x in (0, 1)]
    third = {(x, y): builder.decision((second[x], y), 2, "3", ["0", "1"]) for x, y in PAIRS}
    for (x, y), node in third.items():
        for z in (0, 1):
            last = x * y - Fraction(x + y, 2) + constant
            gains = (x * (y - z), y * (x - z), z * last)
            builder.terminal((node, z), [unit * gain for gain in gains])
    return Game("folding", builder.tree())


PAIRS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def all_at(game: Game, z: Fraction) -> BehaviorProfile:
    return exact_profile(game.tree, *[(1 - z, z)] * 3)


@pytest.mark.parametrize("are_exact", [True, False])
@pytest.mark.parametrize("distance", ["1/10", "1e-3", "1e-5", "2e-7", "1e-8", "1e-10", "1e-12"])
def test_two_equilibria_are_not_taken_for_one_however_near(distance: str, are_exact: bool) -> None:
    """Counted once, they would prove the incompleteness of complete lists."""
    apart = Fraction(distance)
    game = folding(Fraction(1, 4) - apart**2)
    profiles = [all_at(game, Fraction(1, 2) + sign * apart) for sign in (1, -1)]
    if not are_exact:
        profiles = rounded(profiles)
    found = completeness(game, profiles)
    assert found.indices in ((1, -1), (-1, 1), (None,), (None, None))
    if apart > 1e-4:
        assert None not in found.indices


@pytest.mark.parametrize("distance", ["1e-5", "1e-6", "1e-7"])
def test_what_is_near_no_equilibrium_at_all_has_no_index(distance: str) -> None:
    """Its regret is about the square of the distance."""
    apart = Fraction(distance)
    game = folding(Fraction(1, 4) + apart**2)
    for share in (0, 1, 3):
        found = completeness(game, [all_at(game, Fraction(1, 2) + share * apart)])
        assert found.indices == (None,)


def members_of_components(game: Game, profiles: list[BehaviorProfile]) -> list[tuple[int, ...]]:
    regrets = [float(verify(game.tree, profile).max_regret) for profile in profiles]
    return [part.members for part in connected_components(game, profiles, regrets)]


@pytest.mark.parametrize("unit", [1, 10**6])
def test_inexact_equilibria_are_told_apart_and_rough_ones_belong_to_the_nearest(unit: int) -> None:
    apart = Fraction(1, 1000)
    game = folding(Fraction(1, 4) - apart**2, unit)
    shares = (Fraction(1), Fraction(-1), Fraction(1, 10), Fraction(9, 10))
    profiles = rounded([all_at(game, Fraction(1, 2) + share * apart) for share in shares])
    assert members_of_components(game, profiles) == [(0, 2, 3), (1,)]


def test_member_of_a_continuum_is_not_taken_for_an_isolated_equilibrium_hardly_strict() -> None:
    """(B, L) is isolated; T with at least 1e-8 of R is a continuum; (T, L) nearly joins both."""
    game = bimatrix([[0, 0], [Fraction(1, 10**8), -1]], [[0, 0], [1, 0]])
    isolated, joint, end, middle = (
        exact_profile(game.tree, *rows)
        for rows in (((0, 1), (1, 0)), ((1, 0), (1, 0)), ((1, 0), (0, 1)), ((1, 0), (".5", ".5")))
    )
    profiles = [isolated, *rounded([joint]), end, *rounded([middle])]
    assert members_of_components(game, profiles) == [(0, 1), (2, 3)]
