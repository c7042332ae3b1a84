"""Profiles from and to the forms of Gambit and OpenSpiel.

What needs pygambit or pyspiel is reached by name, as all plugins are.
"""

from __future__ import annotations

import pkgutil
from fractions import Fraction
from typing import Any

from eqbench.documents import checked
from eqbench.errors import ProfileError, SolverUnavailableError
from eqbench.extras import reason_of
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.rational import parse_rational
from eqbench.model.tree import GameTree
from eqbench.registry import load_game

_OPENSPIEL = "eqbench.solvers.openspiel"
ROUNDING = 1e-5  # of frequencies that Gambit prints with six decimals


@checked
def from_gambit(game: Game | str, theirs: Any) -> BehaviorProfile:
    """Profile of what Gambit has found.

    Parameters
    ----------
    game : Game or spec; the game that Gambit has solved, for example after ``eqbench export``
    theirs : a profile of pygambit, of behavior or mixed strategies, or a line ``NE,1/2,…`` of
        behavior that a command of Gambit has printed

    Raises
    ------
    ProfileError
        If it is not a profile of this game.
    SolverUnavailableError
        If it is an object and pygambit is not installed.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.from_gambit("matching_pennies", "NE,1/2,1/2,0.25,0.75")["P2", "", "tails"]
    0.75
    """
    game = load_game(game) if isinstance(game, str) else game
    if isinstance(theirs, str):
        return _of_line(game, theirs)
    if not hasattr(theirs, "game"):
        allowed = "a profile of pygambit, or the line of a command of Gambit"
        raise ProfileError(f"{theirs!r:.60} is not {allowed}")
    gambit = _gambit(game)
    sizes = [
        [len(list(each.get_infosets(player))) for player in each.players]
        for each in (gambit.game, theirs.game)
    ]
    if sizes[0] != sizes[1]:
        raise ProfileError(f"Gambit's profile is of another game than {game.spec}")
    found: BehaviorProfile = gambit.behavior(theirs)
    return found.on(game)


@checked
def to_gambit(profile: BehaviorProfile) -> Any:
    """The same as pygambit's behavior profile, of rationals if it is known exactly."""
    return _gambit(Game(profile.spec, profile.known_tree)).profile(profile)


@checked
def gambit_line(profile: BehaviorProfile) -> str:
    """The line that a command of Gambit prints for it.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.gambit_line(eqbench.BehaviorProfile.uniform(eqbench.load_game("matching_pennies")))
    'NE,1/2,1/2,1/2,1/2'
    """
    values = profile.exact or profile.probabilities.tolist()
    places = (place for own in _places(profile.known_tree) for place in own)
    return ",".join(["NE", *(str(values[place]) for place in places)])


@checked
def from_openspiel(game: Game | str, policy: Any) -> BehaviorProfile:
    """Profile of a policy of OpenSpiel, one of its C++ or of its Python classes.

    The game is ``openspiel:…``, or a built-in one that OpenSpiel has as well.

    Raises
    ------
    ProfileError
        If the policy is not a distribution somewhere.
    UsageError, SolverUnavailableError
        If OpenSpiel does not have the game, it differs there, or OpenSpiel is not installed.
    """
    game = load_game(game) if isinstance(game, str) else game
    if not hasattr(policy, "action_probabilities"):
        raise ProfileError(f"{policy!r:.60} is not a policy of OpenSpiel")
    found: BehaviorProfile = pkgutil.resolve_name(f"{_OPENSPIEL}:profile_of_policy")(game, policy)
    return found.on(game)


@checked
def to_openspiel(profile: BehaviorProfile) -> Any:
    """`pyspiel.TabularPolicy` of a profile, with simultaneous moves in turn.

    Raises as :func:`from_openspiel`.
    """
    game = Game(profile.spec, profile.known_tree)
    return pkgutil.resolve_name(f"{_OPENSPIEL}:tabular_policy")(game, profile)


def _gambit(game: Game) -> Any:
    try:
        import pygambit  # noqa: F401
    except ImportError as error:
        raise SolverUnavailableError(reason_of("pygambit", error)) from None
    return pkgutil.resolve_name("eqbench.solvers.gambit:to_gambit")(game)


def _of_line(game: Game, line: str) -> BehaviorProfile:
    tree, (word, *texts) = game.tree, line.strip().split(",")
    numbers = [parse_rational(text.strip()) for text in texts]
    values = [value for value in numbers if value is not None]
    if word != "NE" or len(values) < len(numbers):
        raise ProfileError(
            f"{line[:60]!r} is not a line of Gambit; it begins with NE, then numbers"
        )
    if len(values) != tree.n_actions:
        raise ProfileError(
            f"the line has {len(values)} numbers, and behavior in {game.spec} has "
            f"{tree.n_actions}; ask Gambit for behavior strategies, without -S"
        )
    behavior, given = [Fraction(0)] * tree.n_actions, iter(values)
    for places in _places(tree):
        row = [next(given) for _ in places]
        total = sum(row, Fraction(0))
        if total == 0:  # where play never comes Gambit prints no frequencies
            row = [Fraction(1, len(row))] * len(row)
        elif abs(total - 1) <= ROUNDING:  # of printed decimals
            row = [value / total for value in row]
        for place, value in zip(places, row, strict=True):
            behavior[place] = value
    return BehaviorProfile.of_exact(game, behavior)


def _places(tree: GameTree) -> list[range]:
    """Places of the actions of each information set, as Gambit numbers these.

    By player, and as play in depth first meets them.
    """
    infosets, starts = tree.infoset.tolist(), tree.action_start.tolist()
    met = dict.fromkeys(infosets[node] for node in tree.in_depth() if infosets[node] >= 0)
    ordered = sorted(met, key=lambda i: int(tree.infoset_player[i]))  # which keeps that order
    return [range(starts[i], starts[i + 1]) for i in ordered]
