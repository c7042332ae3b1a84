"""Games in strategic form with random payoffs.

Unless said otherwise, numbers come from ``numpy.random.default_rng(seed)``: with one version of
NumPy a seed is the same game on every platform. GAMUT (Nudelman et al. 2004) has other streams of
numbers, so its games are not these, though they follow the same distributions, but for the
interval of the payoffs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import SpecError
from eqbench.model.tree import GameTree

from .strategic import check_at_least, check_players, strategic_form, strategic_form_nodes


@dataclass(frozen=True)
class RandomGame:
    """All payoffs are independent and uniform in [0, 1].

    Parameters
    ----------
    players : 2 to 20
    actions : number of actions of every player
    seed : of the random numbers
    """

    players: int = 2
    actions: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        check_players(self.players)
        check_at_least(2, actions=self.actions)
        check_at_least(0, seed=self.seed)

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return strategic_form_nodes([self.actions] * self.players)

    def build(self) -> GameTree:
        """Game tree with actions a1, a2, ... of every player."""
        shape = (self.actions,) * self.players
        payoffs = np.random.default_rng(self.seed).random((*shape, self.players))
        return with_numbered_actions(payoffs)


@dataclass(frozen=True)
class SignedRandomGame(RandomGame):
    """All payoffs are independent and uniform in [-1, 1], drawn as by Černý et al.

    The very games of Černý, Das Gupta and Kroer 2026 (arXiv:2508.10204): one player after the
    other gets numbers of NumPy's older generator, the Mersenne twister.

    Parameters
    ----------
    players : 2 to 20
    actions : number of actions of every player
    seed : of the random numbers, below 2^32
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seed >= 2**32:
            raise SpecError(f"seed={self.seed} is too large; choose seed < {2**32}")

    def build(self) -> GameTree:
        """Game tree with actions a1, a2, ... of every player."""
        shape = (self.players, *[self.actions] * self.players)
        payoffs = np.random.RandomState(self.seed).uniform(-1, 1, shape)
        return with_numbered_actions(np.moveaxis(payoffs, 0, -1))


@dataclass(frozen=True)
class CovarianceGame:
    """Payoffs are standard normal, with one covariance between players at each profile.

    Payoffs at different profiles are independent. This is the covariant game of Rinott and
    Scarsini 2000, the class CovariantGame of GAMUT (Nudelman et al. 2004). With rho 1 all
    players have the same payoffs; with -1 / (players - 1) payoffs sum to zero, up to rounding.

    Parameters
    ----------
    players : 2 to 20
    actions : number of actions of every player
    rho : covariance, from -1 / (players - 1) to 1
    seed : of the random numbers
    """

    players: int = 2
    actions: int = 2
    rho: Fraction = Fraction(1, 2)
    seed: int = 0

    def __post_init__(self) -> None:
        check_players(self.players)
        check_at_least(2, actions=self.actions)
        check_at_least(0, seed=self.seed)
        least = Fraction(-1, self.players - 1)
        if not least <= self.rho <= 1:
            raise SpecError(
                f"rho={self.rho} is not a covariance of {self.players} players; allowed are "
                f"{least} to 1"
            )

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return strategic_form_nodes([self.actions] * self.players)

    def build(self) -> GameTree:
        """Game tree with actions a1, a2, ... of every player.

        The symmetric root of the covariance matrix scales the mean of independent normals by
        sqrt(1 + (N - 1) rho) and the deviations from it by sqrt(1 - rho). GAMUT takes the
        Cholesky factor, which does not exist at both ends of the range of rho.
        """
        shape = (self.actions,) * self.players
        normal = np.random.default_rng(self.seed).standard_normal((*shape, self.players))
        mean = normal.mean(axis=-1, keepdims=True)
        common = float(1 + (self.players - 1) * self.rho) ** 0.5
        return with_numbered_actions(common * mean + float(1 - self.rho) ** 0.5 * (normal - mean))


def with_numbered_actions(payoffs: NDArray) -> GameTree:
    """Tree of payoffs (A, ..., A, N) with actions a1 to aA."""
    labels = [f"a{action + 1}" for action in range(payoffs.shape[0])]
    return strategic_form([labels] * payoffs.shape[-1], payoffs)
