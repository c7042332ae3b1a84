"""Three-player Kuhn poker with four cards in Billingham 2018, section 5.1.

Claims about exact equilibria are tested on points of the branch without regularization.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import pytest
from arclength_cases import EXACT, Trace, game, max_regret, reduced_kuhn, trace

from eqbench.equilibria import Identifier
from eqbench.equilibria.kuhn_ranges import KuhnNodes
from eqbench.model.profile import BehaviorProfile
from eqbench.verification import Verifier

# Figure 6 shows four pots, of which the text names the first; the closed forms are not published.
VERTICAL = [3, (5 + sqrt(65)) / 4, (3 + sqrt(23)) / 2, 5]


@dataclass(frozen=True, eq=False)
class Polished:
    """Points of the branch without regularization: pots, profiles (A,), payoffs (3,)."""

    pots: np.ndarray
    behavior: np.ndarray
    payoffs: np.ndarray
    aggression: np.ndarray


@pytest.fixture(scope="session")
def branch() -> Trace:
    return trace(reduced_kuhn(4), 2.05, 16, 1e-9)


@pytest.fixture(scope="session")
def polished(branch: Trace) -> Polished:
    found = [branch.continuation.polish(point) for point in branch.points]
    nodes = KuhnNodes.of(branch.continuation.system.game.tree)
    return Polished(
        np.array([pot for _, pot in found]),
        np.array([behavior for behavior, _ in found]),
        np.array([branch.payoffs_of(behavior, pot) for behavior, pot in found]),
        np.array([nodes.aggression(behavior) for behavior, _ in found]),
    )


def vertical_pieces(polished: Polished) -> list[tuple[float, np.ndarray]]:
    """Pots at which neighboring points have different payoffs, and how far these range."""
    pieces = []
    breaks = np.flatnonzero(np.abs(np.diff(polished.pots)) > 1e-9) + 1
    for rows in np.split(np.arange(len(polished.pots)), breaks):
        ranges = np.ptp(polished.payoffs[rows], axis=0)
        if ranges.max() > 1e-4:
            pieces.append((float(np.median(polished.pots[rows])), ranges))
    return pieces


def test_all_points_of_the_branch_are_equilibria(branch: Trace, polished: Polished) -> None:
    model = branch.continuation.system.model_at
    regrets = [
        model(pot).regrets(behavior).max()
        for pot, behavior in zip(polished.pots, polished.behavior, strict=True)
    ]
    assert max(regrets) <= EXACT
    for k in range(0, len(polished.pots), 25):  # the verifier agrees
        at = branch.continuation.game_at(float(polished.pots[k]))
        assert max_regret(at, polished.behavior[k]) <= EXACT


def test_ranges_of_expectations_are_possible_at_four_pots(polished: Polished) -> None:
    """Figure 6: "for two of the three players"; which of them is not in the text."""
    pieces = vertical_pieces(polished)
    assert [pot for pot, _ in pieces] == pytest.approx(VERTICAL, abs=1e-9)
    for _, ranges in pieces:
        assert (ranges < 1e-12).sum() == 1
        assert (ranges > 1e-3).sum() == 2


@pytest.mark.parametrize("pot", VERTICAL)
def test_regularized_branch_is_vertical_there_too(pot: float, branch: Trace) -> None:
    close = np.abs(branch.values - pot) <= 1e-3
    assert close.sum() >= 20
    assert np.ptp(branch.payoffs[close], axis=0).max() >= 1e-3


def test_branch_has_three_solutions_with_close_payoffs_near_a_pot_of_4_19(branch: Trace) -> None:
    """Figure 7: distinct solutions, with expectations almost the same in Figure 6."""
    at = branch.continuation.game_at(4.19)
    verifier, payoffs = Verifier(at.tree), []
    for behavior in branch.polished_at("419/100"):
        measured = verifier.verify(BehaviorProfile.of(at.tree, behavior))
        assert float(measured.max_regret) <= EXACT
        payoffs.append([float(payoff) for payoff in measured.payoffs])
    assert len(np.unique(np.round(payoffs, 8), axis=0)) == 3
    assert np.ptp(payoffs, axis=0).max() <= 2e-4


def in_full_game(behavior: np.ndarray, reduced: Any) -> BehaviorProfile:
    """The same profile in the game with all actions; those that were deleted are not played."""
    full = game("kuhn3").tree
    frequencies = np.zeros(full.n_actions)
    for i, label in enumerate(reduced.infoset_labels):
        j = full.infoset_of(reduced.infoset_player[i], label)
        for k, action in enumerate(reduced.infoset_actions[i]):
            place = full.action_start[j] + full.infoset_actions[j].index(action)
            frequencies[place] = behavior[reduced.action_start[i] + k]
    return BehaviorProfile.of(full, frequencies)


def test_solutions_at_a_pot_of_three_are_those_of_szafron(
    branch: Trace, polished: Polished
) -> None:
    """Section 5.1: the analytical solutions of Szafron et al. 2013 are consistent with these."""
    identifier, betas = Identifier(game("kuhn3")), []
    verifier = Verifier(game("kuhn3").tree)
    reduced = branch.continuation.system.game.tree
    for behavior in polished.behavior[np.abs(polished.pots - 3) <= 1e-9]:
        profile = in_full_game(behavior, reduced)
        assert float(verifier.verify(profile).max_regret) <= EXACT
        identity = identifier.identify(profile)
        assert identity is not None
        assert identity.name.startswith("szafron:")
        assert identity.on_path
        assert identity.distance <= 1e-9
        betas.append(identity.parameters["beta"])
    assert min(betas) <= 1e-3
    assert max(betas) >= 0.2498  # of 1/4
    assert np.abs(np.diff(betas)).max() <= 0.03  # and all between


def test_players_one_and_two_check_everything_between_pots_of_two_and_three(
    polished: Polished,
) -> None:
    inside = (polished.pots > 2) & (polished.pots < 3 - 1e-9)
    assert inside.sum() >= 15
    assert polished.aggression[inside, :2].max() <= EXACT
    assert polished.aggression[inside, 2, 3].min() >= 1 - EXACT


def test_player_two_bets_from_a_pot_of_three_on_and_player_one_later(polished: Polished) -> None:
    """Figure 7; player 1 from the third of the four pots on."""
    for node, first in ((1, 3), (0, (3 + sqrt(23)) / 2)):
        bets = polished.aggression[:, node].max(axis=1) > 1e-9
        assert polished.pots[bets].min() == pytest.approx(first, abs=1e-9)
        assert polished.pots[~bets].max() == pytest.approx(first, abs=1e-9)


def test_bets_are_with_the_highest_card_or_one_of_the_two_lowest(polished: Polished) -> None:
    """Section 2: value bets with card 4 only, bluffs with 1 or 2.

    `corrected_by`: at node 3 card 3 may be bet as well where players 1 and 2 never check
    card 4, since then nobody can call. Betting it is dominated only weakly.
    """
    bets = polished.aggression[:, :3]
    assert bets[:, :2, 2].max() <= EXACT
    with_three = bets[:, 2, 2] > EXACT
    assert with_three.any()
    assert bets[with_three, :2, 3].min() >= 1 - EXACT
    for lowest in (0, 1):
        assert bets[:, :, lowest].max() > 0.2


def test_player_two_is_never_the_biggest_loser(branch: Trace) -> None:
    """Section 5: that is a feature of games with five or more cards."""
    for payoffs in (branch.payoffs, trace(reduced_kuhn(4), 10, 200, 1e-7).payoffs):
        assert (payoffs[:, 1] >= payoffs[:, 0] - 1e-8).all()
        assert (payoffs[:, 2] >= payoffs[:, 1] - 1e-8).all()
