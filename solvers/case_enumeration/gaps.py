"""Value gaps of a game tree as polynomials in the frequencies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from eqbench.model.tree import CHANCE, GameTree


def binary_sets(tree: GameTree) -> list[int]:
    """Information sets with two actions; the k-th of them has frequency k."""
    return [i for i, actions in enumerate(tree.infoset_actions) if len(actions) == 2]


@dataclass(frozen=True, eq=False)
class Gaps:
    """Value gaps of the n information sets with two actions.

    Attributes
    ----------
    context : of the polynomials
        Its variables are the n frequencies of action 1.
    polynomials : n polynomials with rational coefficients
        The counterfactual value of action 1 less that of action 0: the owner's payoff,
        weighted with chance and with the moves of the others on the whole path, but with the
        owner's moves only from the information set on. Every frequency has degree at most 1.
    """

    context: fmpq_mpoly_ctx
    polynomials: tuple[fmpq_mpoly, ...]


def value_gaps(tree: GameTree, check: Callable[[], None]) -> Gaps:
    """Value gaps of an exact tree with at most two actions at every information set.

    `check` is called at every node and may raise to break off.
    """
    sets = binary_sets(tree)
    context = fmpq_mpoly_ctx.get([f"f{k}" for k in range(len(sets))], Ordering.lex)
    steps = _steps(tree, dict(zip(sets, context.gens(), strict=True)), context)
    reach = _reaches(tree, steps, context, check)
    values = _terminal_values(tree, context)
    zero = context.constant(0)
    gaps = dict.fromkeys(sets, zero)
    parent, mover, infoset = tree.parent.tolist(), tree.player.tolist(), tree.infoset.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        check()
        above, own = parent[node], values.pop(node)
        if infoset[above] in gaps:
            part = reach[above][mover[above]] * own[mover[above]]
            gaps[infoset[above]] += part if tree.move[node] else -part
        sums = values.setdefault(above, [zero] * tree.n_players)
        values[above] = [a + steps[node] * b for a, b in zip(sums, own, strict=True)]
    return Gaps(context, tuple(gaps.values()))


def _steps(
    tree: GameTree, variables: dict[int, fmpq_mpoly], context: fmpq_mpoly_ctx
) -> list[fmpq_mpoly]:
    """Probability of the move that leads to each node, 1 at the root."""
    one = context.constant(1)
    steps = [one]
    for node in range(1, tree.n_nodes):
        above = tree.parent[node]
        if tree.player[above] == CHANCE:
            weight = fmpq(int(tree.chance[node]), int(tree.chance_denominator))
            steps.append(context.constant(weight))
            continue
        variable = variables.get(int(tree.infoset[above]))
        if variable is None:
            steps.append(one)
        else:
            steps.append(variable if tree.move[node] else one - variable)
    return steps


def _reaches(
    tree: GameTree,
    steps: Sequence[fmpq_mpoly],
    context: fmpq_mpoly_ctx,
    check: Callable[[], None],
) -> list[list[fmpq_mpoly]]:
    """For each node and player: probability of the path as far as the player does not move."""
    reach = [[context.constant(1)] * tree.n_players]
    for node in range(1, tree.n_nodes):
        check()
        above = tree.parent[node]
        mover = tree.player[above]
        reach.append(
            [
                old if player == mover else old * steps[node]
                for player, old in enumerate(reach[above])
            ]
        )
    return reach


def _terminal_values(tree: GameTree, context: fmpq_mpoly_ctx) -> dict[int, list[fmpq_mpoly]]:
    """Payoffs of all players at each terminal."""
    table, denominator = tree.payoffs.rational()
    return {
        node: [context.constant(fmpq(int(payoff), int(denominator))) for payoff in row]
        for node, row in zip(tree.terminals.tolist(), table.tolist(), strict=True)
    }
