"""Profiles from and to the forms of Gambit and OpenSpiel.

What needs pygambit or pyspiel is reached by name, as all plugins are.
"""

from __future__ import annotations

import pkgutil
from fractions import Fraction
from typing import Any

from eqbench.documents import checked
from eqbench.errors import ProfileError, SolverUnavailableError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.rational import parse_rational
from eqbench.model.tree import GameTree
from eqbench.registry import load_game

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
    _refuse_other(theirs, "game", "a profile of pygambit, or the line of a command of Gambit")
    gambit = _gambit("to_gambit")(game)
    if _decisions(gambit.game) != _decisions(theirs.game):
        raise ProfileError(f"Gambit's profile is of another game than {game.spec}")
    found: BehaviorProfile = gambit.behavior(theirs)
    return found.on(game)


@checked
def to_gambit(profile: BehaviorProfile) -> Any:
    """The same as pygambit's behavior profile, of rationals if it is known exactly."""
    game = Game(profile.spec, profile.known_tree)
    return _gambit("to_gambit")(game).profile(profile)


@checked
def gambit_line(profile: BehaviorProfile) -> str:
    """The line that a command of Gambit prints for it.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.gambit_line(eqbench.BehaviorProfile.uniform(eqbench.load_game("matching_pennies")))
    'NE,1/2,1/2,1/2,1/2'
    """
    tree, values = profile.known_tree, profile.exact or profile.probabilities.tolist()
    places = [int(a) for i in _order(tree) for a in _places(tree, i)]
    return ",".join(["NE", *(str(values[a]) for a in places)])


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
    _refuse_other(policy, "action_probabilities", "a policy of OpenSpiel")
    found: BehaviorProfile = _openspiel("profile_of_policy")(game, policy)
    return found.on(game)


@checked
def to_openspiel(profile: BehaviorProfile) -> Any:
    """`pyspiel.TabularPolicy` of a profile, with simultaneous moves in turn.

    Raises as :func:`from_openspiel`.
    """
    return _openspiel("tabular_policy")(Game(profile.spec, profile.known_tree), profile)


def _refuse_other(theirs: Any, attribute: str, allowed: str) -> None:
    if not hasattr(theirs, attribute):
        raise ProfileError(f"{theirs!r:.60} is not {allowed}")


def _gambit(name: str) -> Any:
    try:
        import pygambit  # noqa: F401
    except ImportError:
        raise SolverUnavailableError(
            "pygambit is not installed; install it by: pip install 'eqbench[gambit]'"
        ) from None
    return pkgutil.resolve_name(f"eqbench.solvers.gambit:{name}")


def _decisions(theirs: Any) -> list[int]:
    """Number of information sets of each player of a pygambit game."""
    return [len(list(theirs.get_infosets(player))) for player in theirs.players]


def _openspiel(name: str) -> Any:
    return pkgutil.resolve_name(f"eqbench.solvers.openspiel:{name}")


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
    for infoset in _order(tree):
        places = _places(tree, infoset)
        row = _distribution([next(given) for _ in places])
        for place, value in zip(places, row, strict=True):
            behavior[place] = value
    return BehaviorProfile.of_exact(game, behavior)


def _distribution(row: list[Fraction]) -> list[Fraction]:
    """The row without the rounding of printed decimals; uniform where there are no frequencies."""
    total = sum(row, Fraction(0))
    if total == 0:
        return [Fraction(1, len(row))] * len(row)
    return [value / total for value in row] if abs(total - 1) <= ROUNDING else row


def _places(tree: GameTree, infoset: int) -> range:
    return range(int(tree.action_start[infoset]), int(tree.action_start[infoset + 1]))


def _order(tree: GameTree) -> list[int]:
    """Information sets as Gambit numbers them: by player, and as play in depth first meets them."""
    infosets = tree.infoset.tolist()
    met = dict.fromkeys(infosets[node] for node in tree.in_depth() if infosets[node] >= 0)
    return sorted(met, key=lambda i: int(tree.infoset_player[i]))  # which keeps that order
