"""Kuhn poker multiplied out: how likely nodes are, as polynomials of the frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eqbench.equilibria.reference import Layout

DEALS = 24  # of three cards out of four
Polynomial = Any  # flint.fmpq_mpoly


def variables(names: Sequence[str]) -> dict[str, Polynomial]:
    """The variables of a ring of polynomials with rational coefficients, by name."""
    import flint

    ring = flint.fmpq_mpoly_ctx.get(names, "deglex")
    return dict(zip(ring.names(), ring.gens(), strict=True))


def node_reaches(layout: Layout, frequencies: Mapping[str, Polynomial]) -> list[Polynomial]:
    """Probability of each node of a tree in units of that of a deal."""
    import flint

    tree, own = layout.tree, [frequencies[name] for name in layout.variables]
    behavior = [
        int(rest) + sum(int(slope) * each for slope, each in zip(row, own, strict=True) if slope)
        for rest, row in zip(layout.rest, layout.spread, strict=True)
    ]
    reaches: list[Polynomial] = [0 * own[0] + DEALS]
    for node in range(1, tree.n_nodes):
        action = tree.incoming[node]
        chance = flint.fmpq(int(tree.chance[node]), tree.chance_denominator)
        step = behavior[action] if action >= 0 else chance
        reaches.append(reaches[tree.parent[node]] * step)
    return reaches
