"""Games as Gambit has them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.verification import verify, verify_exactly

# -- Which games each of Gambit's methods gets done with, as far as tests in one process go


_CLASSICS = ("matching_pennies", "battle_of_sexes")
_TWO_PLAYERS = (*_CLASSICS, "prisoners_dilemma")
_PATHS = (*_TWO_PLAYERS, "jordan", "kuhn2")
ENDS_ON = {
    "gambit_logit": _PATHS,
    "gambit_enumpure": _PATHS,
    "gambit_gnm": _PATHS,
    "gambit_enumpoly": _TWO_PLAYERS,
    "gambit_enummixed": _TWO_PLAYERS,
    "gambit_liap": _TWO_PLAYERS,
    "gambit_simpdiv": _TWO_PLAYERS,
    "gambit_hp": _TWO_PLAYERS,
    "gambit_ipa": _CLASSICS,
}


def ends_on(solver: str, game: str) -> bool:
    """Whether a test may run the solver on the game in its own process."""
    return solver not in ENDS_ON or game in ENDS_ON[solver]


# -- Compare games that came different ways, whatever their labels are


def matching_sets(a: GameTree, b: GameTree) -> list[int]:
    """Information set of `b` for each of `a`, found node by node.

    Both trees are in breadth-first order, so that equal shapes have equal nodes.
    """
    for name in ("parent", "move", "player"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    pairs = sorted(set(zip(a.infoset.tolist(), b.infoset.tolist(), strict=True)) - {(-1, -1)})
    assert [i for i, _ in pairs] == list(range(a.n_infosets))
    assert sorted(j for _, j in pairs) == list(range(b.n_infosets))
    return [j for _, j in pairs]


def random_frequencies(tree: GameTree, seed: int) -> list[list[Fraction]]:
    """Random exact frequencies at each information set, none of them zero."""
    rng = np.random.default_rng(seed)
    weights = [rng.integers(1, 9, len(actions)).tolist() for actions in tree.infoset_actions]
    return [[Fraction(weight, sum(row)) for weight in row] for row in weights]


def assert_same_game(a: GameTree, b: GameTree, *, seeds: int = 1) -> None:
    """Payoffs and regrets at random profiles are identical, exactly where the games are exact."""
    sets = matching_sets(a, b)
    assert np.array_equal(a.payoffs.table, b.payoffs.table)
    for seed in range(seeds):
        rows = random_frequencies(a, seed)
        carried: list[list[Fraction]] = [[]] * len(rows)
        for i, j in enumerate(sets):
            carried[j] = rows[i]
        profiles = [
            BehaviorProfile.of_exact(tree, [value for row in given for value in row])
            for tree, given in ((a, rows), (b, carried))
        ]
        measure = verify_exactly if a.exact else verify
        first, second = (
            measure(tree, profile) for tree, profile in zip((a, b), profiles, strict=True)
        )
        if a.exact:
            assert b.exact
            assert list(first.payoffs) == list(second.payoffs)
            assert list(first.regrets) == list(second.regrets)
        else:  # chance may differ in the last digit, since it is made to sum to one exactly
            np.testing.assert_allclose(first.payoffs, second.payoffs, rtol=0, atol=1e-12)
            np.testing.assert_allclose(first.regrets, second.regrets, rtol=0, atol=1e-12)


def depth_first_sets(tree: GameTree) -> list[list[int]]:
    """Information sets of each player in the order in which a depth-first walk meets them."""
    first = np.searchsorted(tree.parent, np.arange(tree.n_nodes + 1))
    first[0] = 1
    met: list[dict[int, None]] = [{} for _ in tree.players]
    stack = [0]
    while stack:
        node = stack.pop()
        if tree.infoset[node] >= 0:
            met[tree.player[node]].setdefault(int(tree.infoset[node]))
        stack.extend(reversed(range(first[node], first[node + 1])))
    return [list(sets) for sets in met]
