"""Results that no command prints: hands, dominance, and members of families, exactly.

Symbols in shapes: M nodes, N players, S sequences, Z terminals.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.known import corner_parameters, known_sets
from eqbench.equilibria.reference import KnownSet
from eqbench.model.gambit_text import exact_payoffs
from eqbench.model.game import Game
from eqbench.model.inspection import moves_to, on_the_way
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import last_sequences
from eqbench.model.tree import FloatArray, GameTree
from eqbench.papers.records import Table
from eqbench.registry import load_game
from eqbench.verification import Verifier, verify_exactly

_ALPHAS = tuple(Fraction(n, 12) for n in range(5))
_GRID = tuple(Fraction(n, 8) for n in range(9))
_MOST_MEMBERS = 30
_BETA_BEYOND = Fraction(1, 2)


class Hand(NamedTuple):
    """Cards and payoffs in the order of the players, and the moves in words."""

    cards: tuple[int, ...]
    history: str
    payoffs: tuple[Fraction, ...]


def rules(_folder: Path, _jobs: Path, *, full: bool) -> Table:
    """Every hand of two and of three players, and the least regret of two who never mix."""
    games = {spec: load_game(spec).tree for spec in ("kuhn2", "kuhn3")}
    verifier = Verifier(games["kuhn2"])
    pure = (verifier.verify(BehaviorProfile(own)) for own in _pure_profiles(games["kuhn2"]))
    return {
        "hands": {spec: list(hands(tree)) for spec, tree in games.items()},
        "pure": min(float(measured.max_regret) for measured in pure),
    }


def hands(tree: GameTree) -> Iterator[Hand]:
    """Every hand that can be played; all players move."""
    for end, payoffs in zip(tree.terminals.tolist(), exact_payoffs(tree), strict=True):
        way = moves_to(tree, end)
        cards = {int(tree.infoset_player[i]): int(tree.infoset_labels[i][0]) for i, _ in way}
        moves = " ".join(tree.infoset_actions[i][move] for i, move in way)
        yield Hand(tuple(cards[player] for player in sorted(cards)), moves, tuple(payoffs))


def _pure_profiles(tree: GameTree) -> Iterator[FloatArray]:
    """Frequencies (A,) of all profiles in pure strategies."""
    rows = [np.eye(len(actions)) for actions in tree.infoset_actions]
    return map(np.concatenate, product(*rows))


def family_of_kuhn2(folder: Path, _jobs: Path, *, full: bool) -> Table:
    """Exact regrets of Kuhn's family at a few α; the member at 1/6 is kept as a profile.

    Of that numbers of edges that it never reaches, and that dominated moves lead to.
    """
    game = load_game("kuhn2")
    (known,) = known_sets(game)
    drawn = known.member([Fraction(1, 6)])
    (folder / "drawn.json").write_text(profile_text(game.tree, drawn, game.spec), "utf-8")
    tree, last = game.tree, last_sequences(game.tree)
    plan = RealizationPlan.of(game.sequence_form, drawn.probabilities).weights
    first, second = (own.max(axis=0) for own in _undominated(game, last))
    idle = ~on_the_way(tree, tree.terminals[plan[last].min(axis=1) > 0])
    dominated = ~on_the_way(tree, tree.terminals[first * second > 0])
    edges = {"count": idle, "dominated": dominated, "both": idle & dominated}
    return {
        "idle_edges": {name: own.sum() for name, own in edges.items()},
        "members": [_member(game, known, [alpha]) for alpha in _ALPHAS],
    }


def _undominated(game: Game, last: NDArray) -> list[FloatArray]:
    """Terminals (strategies, Z) that each pure strategy of both players leads to, if it is left.

    In each round all pure strategies go to which another one is never inferior and somewhere
    superior, of both players at once, until none is left to go.
    """
    tree, form = game.tree, game.sequence_form
    plans = np.array([RealizationPlan.of(form, own).weights for own in _pure_profiles(tree)])
    left = [np.unique(plans[:, last[:, player]], axis=0) for player in (0, 1)]
    payoffs, _ = tree.payoffs.rational()
    while True:
        # deals are equally likely, so that sums over terminals order strategies
        tables = [left[player] * payoffs[:, player] @ left[1 - player].T for player in (0, 1)]
        gains = [table[None] - table[:, None] for table in tables]
        better = [(gain.min(axis=2) >= 0) & (gain.max(axis=2) > 0) for gain in gains]
        if not any(own.any() for own in better):
            return left
        left = [own[~beaten.any(axis=1)] for own, beaten in zip(left, better, strict=True)]


def family_of_kuhn3(_folder: Path, _jobs: Path, *, full: bool) -> Table:
    """Members of the three-player family in fractions, and its formulas beyond β = 1/4."""
    game = load_game("kuhn3")
    sets = known_sets(game)
    known = next(one for one in sets if one.name == "szafron:c11=0")
    # b11 = 0, since b41 = 2 (b11 + b21) is a probability
    beyond = dict.fromkeys(known.parameters, Fraction(0))
    beyond |= {"b21": _BETA_BEYOND, "c33": Fraction(1, 2)}
    return {
        "parameters": [len(one.parameters) for one in sets],
        "members": [_member(game, one, values) for one in sets for values in _members(one)],
        "beyond": _member(game, known, [*beyond.values()]),
    }


def _members(known: KnownSet) -> list[list[Fraction]]:
    """Parameters of the corners, or, of a part whose constraints are curved, of some members."""
    if corners := corner_parameters(known):
        return corners
    choices = [_GRID[: 1 if k in known.idle else None] for k in range(len(known.parameters))]
    points = [np.array(choice) for choice in product(*choices)]
    kept = [own for own in points if known.violations(own).max() <= 0]
    inside = [own.tolist() for own in kept if not known.is_at_open_end(own)]
    return inside[:: max(1, len(inside) // _MOST_MEMBERS)]


def _member(game: Game, known: KnownSet, parameters: list[Fraction]) -> Table:
    """The member with these parameters, which may lie beyond the set, measured exactly."""
    names = known.exact.names(dict(zip(known.parameters, parameters, strict=True)))
    profile = known.member(parameters)
    measured = verify_exactly(game.tree, profile)
    own = int(game.tree.action_start[len(game.tree.infosets_of(0))])
    return {
        "beta": known.exact.shown["beta"](names) if "beta" in known.exact.shown else None,
        "player_1": (profile.exact or ())[:own],
        "payoffs": measured.payoffs,
        "max_regret": measured.max_regret,
    }
