"""A payoff model of three-player Kuhn poker that sums over ranks instead of terminals."""

from eqbench.model.rank_sums.model import RankSums

__all__ = ["RankSums"]
