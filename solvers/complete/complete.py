"""All Nash equilibria: of two players as polytopes, of more players in certified boxes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError, counted
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.sequence_form import last_sequences
from eqbench.model.tree import CHANCE
from eqbench.solver import Availability, Claim, Monitor, Termination
from eqbench.text import short_number

from ..handover import MOST_CANDIDATES
from ..ncp.rational import ExactGame
from ..search import BudgetSpentError, check_budget, importable


@dataclass(frozen=True)
class Complete:
    """Complete list of equilibria, in exact arithmetic or in boxes that are proved to hold one.

    Of two players, in any game with perfect recall, equilibria form products of polytopes of
    realization plans, the maximal Nash subsets (Millham 1974). A search on the faces of both
    players' polyhedra finds all of them in integers (after Audet, Hansen, Jaumard and Savard
    2001), and their extreme points are handed over exactly. What a player does at information
    sets that their own moves avoid is not determined, and uniform.

    Of three and more players, in strategic forms, each combination of played actions has a
    system of polynomial equations. Its solutions are enclosed in boxes, each of which is proved
    to hold exactly one (Krawczyk 1969), or is proved to hold none, or stays open. Solutions
    that are not isolated stay open; then the list is complete but for these supports.

    If nothing is open, the claim is `complete list`, otherwise `equilibrium`. Statistics are
    the components (dimension, number of extreme equilibria), what is open, and whether the list
    is complete. Payoffs that are floats count as what they are, binary fractions.

    An iteration is a face, or a batch of boxes.

    Parameters
    ----------
    sequences : most sequences of a game of two players, both taken together
    combinations : most combinations of played actions of a game of more players
    """

    sequences: int = 100
    combinations: int = 20_000

    deterministic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if min(self.sequences, self.combinations) < 1:
            raise UsageError(
                f"sequences={self.sequences}, combinations={self.combinations}; give numbers >= 1"
            )

    def availability_for(self, game: Game) -> Availability:
        """Whether python-flint is installed, which games of more than two players need."""
        return importable("flint") if game.tree.n_players > 2 else Availability()

    def supports(self, game: Game) -> bool | str:
        """True for small games of two players and small strategic forms, otherwise why not."""
        tree = game.tree
        if tree.n_players < 2:
            return "complete lists equilibria of two and more players; this game has one"
        if not tree.exact and (tree.player == CHANCE).any():
            return "complete works in exact arithmetic; chance of this game is in floats"
        if tree.n_players == 2:
            count = tree.n_actions + 2
            return count <= self.sequences or (
                f"complete would search the faces of polyhedra with {count:,} labels, of which up "
                f"to 2^{count} have to be looked at; sequences={self.sequences} allows "
                f"{self.sequences} sequences"
            )
        if (np.bincount(tree.infoset_player, minlength=tree.n_players) > 1).any():
            return (
                "complete solves strategic forms of three and more players; a player of this game "
                "decides at more than one information set"
            )
        actions = map(len, tree.infoset_actions)
        number = prod(2**count - 1 for count in actions)
        return number <= self.combinations or (
            f"complete would go through {short_number(number)} combinations of played actions; "
            f"combinations={self.combinations} allows {self.combinations:,}"
        )

    def prepare(self, game: Game) -> None:
        """Import what `solve` uses."""
        if game.tree.n_players > 2:
            from . import points  # noqa: F401
        from . import pairs  # noqa: F401

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Go through faces or supports within the budget; `rng` is not used."""

        def check() -> None:
            check_budget(monitor)
            monitor.work += 1

        of = _of_pairs if game.tree.n_players == 2 else _of_points
        profiles, figures, spent = of(game, check)
        whole = bool(profiles) and not spent and not figures["open"]  # every game has one
        claim: Claim = "complete list" if whole else "equilibrium"
        if len(profiles) > MOST_CANDIDATES:
            claim = "equilibrium"
        monitor.record(complete=whole, equilibria=len(profiles), **figures)
        for profile in profiles[:MOST_CANDIDATES]:
            monitor.candidate(profile, claim=claim)
        parts = figures["components"]
        listed = counted(len(profiles), "equilibrium", "equilibria")
        if any(part["dimension"] for part in parts):  # there are infinitely many
            places = counted(len(parts), "component")
            listed = f"infinitely many equilibria in {places}, {len(profiles)} of them extreme"
        if spent:
            return Termination(
                "limit" if profiles else "not_found", f"{spent}; found {listed} so far"
            )
        if not whole:
            left = counted(len(figures["open"]), "support")
            return Termination("stopped", f"found {listed}, all but on {left} left open")
        if len(profiles) > MOST_CANDIDATES:
            listed += f", of which {MOST_CANDIDATES:,} are handed over"
        return Termination("converged", f"all found: {listed}")


def integer_payoffs(game: Game) -> NDArray:
    """Chance-weighted payoffs of the columns of the sequence form, object (Z, N), in one unit.

    Floats are binary fractions; there is no chance then.
    """
    tree = game.tree
    if tree.exact:
        return ExactGame(game).payoffs
    ratios = [value.as_integer_ratio() for value in tree.payoffs.table.ravel().tolist()]
    unit = max(denominator for _, denominator in ratios)
    values = np.array([p * (unit // q) for p, q in ratios], dtype=object)
    _, column = np.unique(last_sequences(tree), axis=0, return_inverse=True)
    payoffs = np.zeros(game.sequence_form.columns.shape, dtype=object)
    np.add.at(payoffs, column.ravel(), values.reshape(-1, tree.n_players))
    return payoffs


Found = tuple[list[BehaviorProfile], dict[str, Any], str]


def _of_pairs(game: Game, check: Any) -> Found:
    """Extreme equilibria of two players, figures of their components, and what ended the search."""
    from .pairs import components, frequencies, product_sets

    form, spent = game.sequence_form, ""
    sets: list[Any] = []
    try:
        product_sets(form, integer_payoffs(game), check, sets)
    except BudgetSpentError as error:
        spent = str(error)
    listed = dict.fromkeys(pair for each in sets for pair in product(*each.plans))
    profiles = [BehaviorProfile.of_exact(game.tree, frequencies(form, pair)) for pair in listed]
    parts = [[sets[k] for k in part] for part in components(sets)]
    figures = [
        {
            "dimension": max(each.dimension for each in part),
            "sets": len(part),
            "extreme": len({pair for each in part for pair in product(*each.plans)}),
        }
        for part in parts
    ]
    return profiles, {"components": figures, "open": []}, spent


def _of_points(game: Game, check: Any) -> Found:
    """Isolated equilibria of more players, their boxes, and what ended the search."""
    from .points import CertifiedPoint, Strategic, certified_points

    tree, spent = game.tree, ""
    shape = [1] * tree.n_players
    for player, actions in zip(tree.infoset_player.tolist(), tree.infoset_actions, strict=True):
        shape[player] = len(actions)
    form = game.sequence_form
    start = [0, *np.cumsum(shape)[:-1].tolist()]
    payoffs = np.zeros((tree.n_players, *shape), dtype=object)
    for column, values in zip(form.columns.tolist(), integer_payoffs(game), strict=True):
        # an empty sequence goes with all of the player's actions
        sequences = zip(column, start, strict=True)
        moves = [
            c - tree.n_players - s if c >= tree.n_players else slice(None) for c, s in sequences
        ]
        payoffs[(slice(None), *moves)] += values.reshape(-1, *[1] * moves.count(slice(None)))
    found: list[CertifiedPoint] = []
    left: list[list[list[int]]] = []
    try:
        for support, points, boxes in certified_points(Strategic(payoffs), check):
            found += points
            if boxes:
                left.append([list(own) for own in support])
    except BudgetSpentError as error:
        spent = str(error)
    profiles = [
        BehaviorProfile.of(tree, point.frequencies)
        if point.exact is None
        else BehaviorProfile.of_exact(tree, point.exact)
        for point in found
    ]
    widths = [
        max((float(x.rad()) for own in point.box for x in own), default=0.0) for point in found
    ]
    figures = [{"dimension": 0, "sets": 1, "extreme": 1, "radius": width} for width in widths]
    return profiles, {"components": figures, "open": left}, spent
