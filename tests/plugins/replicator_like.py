"""Constant-step multiplicative weights: a discrete relative of the replicator dynamics."""

from dataclasses import dataclass

import numpy as np

import eqbench


@eqbench.register_solver("replicator_like")
@dataclass(frozen=True)
class ReplicatorLike:
    """Hands over the last iterate, from a start drawn at random."""

    step: float = 0.1

    def solve(self, game, monitor, rng):
        model, first = game.payoff_model(), game.tree.action_start
        row = np.repeat(np.arange(len(first) - 1), np.diff(first))
        score = rng.standard_normal(game.tree.n_actions)

        def play():
            weight = np.exp(score - np.maximum.reduceat(score, first[:-1])[row])
            return weight / np.add.reduceat(weight, first[:-1])[row]

        for start, count, due in monitor.chunks():
            for _ in range(count):
                score += self.step * model.counterfactual_values(play())
            if due:
                monitor.snapshot(play, work=start + count)
        monitor.candidate(play(), claim="iterate")
        return monitor.termination()
