"""Equilibria of three-player Kuhn poker by programs with bilinear constraints.

Ganzfried 2025, "Quadratic Programming Approach for Nash Equilibrium Computation in Multiplayer
Imperfect-Information Games", section 4; Szafron, Gibson and Sturtevant 2013 for the family that
it compares with. Gurobi's size-limited license and SCIP are enough: both come with their wheels.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from helpers.kuhn_and_skp import largest_b32, member, szafron_profile

import eqbench
from eqbench.model.play import Play
from eqbench.model.profile_json import profile_from_json
from eqbench.verdicts import Proof, credibility, decide, dominated_actions
from eqbench.verification import verify, verify_exactly

BACKENDS = ("gurobi", "scip")
HALF = Fraction(1, 2)


def solve(game: str, solver: str, seed: int = 0) -> Any:
    return eqbench.solve(game, solver, eqbench.Limits(timeout_s=600), seed=seed)


# -- the program -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "solver", "seed"),
    [
        *(("kuhn3_reduced", f"ncp(backend={name})", 0) for name in BACKENDS),
        *(("kuhn3_reduced", f"ncp(formulation=elimination,backend={b})", 0) for b in BACKENDS),
        ("kuhn3_reduced", "ncp(formulation=paper,backend=scip)", 0),  # as printed
        # the paper left it unsolved after 24 hours
        *(("kuhn3", f"ncp(backend={name})", seed) for name in BACKENDS for seed in range(2)),
        *(("jordan", f"{s}(backend={name})", 0) for s in ("ncp", "mip") for name in BACKENDS),
        ("random(players=4,actions=2,seed=1)", "ncp(backend=scip)", 0),
        ("random(players=5,actions=2,seed=1)", "ncp(backend=gurobi)", 0),
        ("random_tree(players=3,depth=4,actions=2,seed=1)", "ncp(backend=gurobi)", 0),
        ("random_tree(players=4,depth=5,actions=2,seed=2)", "ncp(backend=scip)", 0),
    ],
)
def test_games_of_several_players_are_solved_to_rounding(game: str, solver: str, seed: int) -> None:
    result = solve(game, solver, seed)
    assert result.status == "ok"
    tree, profile = eqbench.load_game(game).tree, result.equilibria[0].profile
    assert verify(tree, profile).max_regret == result.max_regret
    assert result.max_regret <= 1e-12 * (1.0 if "kuhn3" in game else max(1.0, tree.payoff_range))
    if "paper" in solver:
        assert not result.statistics["bounds"]
    elif game == "jordan":  # everybody mixes evenly
        assert profile.probabilities == pytest.approx([0.5] * 6, abs=1e-12)
    elif "kuhn3" in game and "formulation" not in solver:
        assert result.statistics["formulation"] == "constant_sum"
        assert result.statistics["raw_max_regret"] <= 1e-4
        # as in the family, where player 2 gets -1/48 and the other two share 1/48
        first, second, third = result.payoffs
        assert second == pytest.approx(-1 / 48, abs=1e-12)
        assert first + third == pytest.approx(1 / 48, abs=1e-12)
        assert -1 / 32 - 1e-12 <= first <= -1 / 48 + 1e-12


@pytest.mark.parametrize("name", BACKENDS)
def test_full_game_has_an_equilibrium_in_fractions(name: str) -> None:
    result = solve("kuhn3", f"ncp(backend={name},exact=true)")
    best = result.equilibria[0]
    assert best.is_proved
    assert (best.exact["regrets"], best.exact["payoffs"][1]) == (["0", "0", "0"], "-1/48")
    assert verify_exactly(eqbench.load_game("kuhn3").tree, best.profile).regrets == (0, 0, 0)


# -- the difference to the published family --------------------------------------------------------


@pytest.mark.parametrize("b32", [Fraction(0), Fraction(1, 4), HALF])
def test_reported_equilibrium_is_credible_and_not_sequential(b32: Fraction) -> None:
    """Section 4 prints no profile, but says where it leaves the family; the rest was free.

    Each set is supported by limits of trembles; beliefs of several sets contradict each other.
    """
    tree = eqbench.load_game("kuhn3").tree
    for c11, c34 in product((Fraction(0), Fraction(1, 4), HALF), (Fraction(0), Fraction(1, 4))):
        frequencies = member(b11=0, b21=0, b32=b32, c11=c11, c33=HALF - b32, c34=c34)
        named = szafron_profile(frequencies | {"a33": Fraction(0), "c32": HALF})
        play = Play.exactly(tree, profile_from_json(tree, named))
        assert str(credibility(play)) == "48/48"
        assert dominated_actions(play) == {}
        assert decide(play).proof is Proof.REFUTED


# -- all equilibria of the reduced game ------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "largest"),
    [
        ("P1|1:|bet", Fraction(0)),  # a11
        ("P2|3:B|call", largest_b32(Fraction(1, 4), Fraction(1, 4))),
        ("P2|4:K|bet", Fraction(1)),  # b41 = 2 b11 + 2 b21
        ("P3|3:KB|call", HALF),  # c32: 0 in the family, but see above
    ],
)
def test_largest_frequency_is_proved(of: str, largest: Fraction) -> None:
    result = solve("kuhn3_reduced", f'ncp(sense=max,of="{of}",backend=gurobi)')
    assert result.status == "ok"
    assert result.statistics["bound"] == pytest.approx(float(largest), abs=1e-4)
    player, infoset, action = of.split("|")
    tree = eqbench.load_game("kuhn3_reduced").tree
    place = tree.infoset_of(int(player[1]) - 1, infoset)
    move = tree.infoset_actions[place].index(action)
    best = result.equilibria[0]
    assert best.max_regret <= 1e-12
    reached = best.profile.probabilities[tree.action_start[place] + move]
    assert reached == pytest.approx(float(largest), abs=1e-3)
