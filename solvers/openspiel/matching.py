"""A game and its profiles in OpenSpiel: which game it is there, and which state is which set.

The latter is found by playing both games through.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from eqbench.errors import SolverUnavailableError, SpecError, UsageError
from eqbench.model.game import Game
from eqbench.model.inspection import on_the_way
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import CHANCE, TERMINAL, FloatArray
from eqbench.spec import OPENSPIEL, Value, parse_spec

from ..search import importable

TOLERANCE = 1e-12
ROUNDING = 1e-9  # of policies, as far as rows of profiles may be off
# OpenSpiel's text for a family or matrix, and the options that its rules imply for n players.
_FAMILIES: dict[str, tuple[str, Callable[[Any], dict[str, Value]]]] = {
    "kuhn": (
        "kuhn_poker(players={players})",
        lambda n: {"cards": n + 1, "pot": n, "reduce": "none", "raises": 0},
    ),
    "leduc": (
        "leduc_poker(players={players})",
        lambda n: {"ranks": n + 1, "suits": 2, "raises": 2},
    ),
    "liars_dice": ("liars_dice(dice_sides={sides})", lambda n: {"dice": 1, "players": 2}),
    "goofspiel": (
        "goofspiel(imp_info=True,num_cards={cards},players={players},points_order={prizes},"
        "returns_type=win_loss)",
        lambda n: {},
    ),
    "matching_pennies": ("matrix_mp", lambda n: {}),
    "rock_paper_scissors": ("matrix_rps", lambda n: {}),
    "jordan": ("matching_pennies_3p", lambda n: {}),
}


class Match:
    """A game in OpenSpiel, and which of its information states is which information set.

    Both trees are walked together, children in the same order. Chance moves that follow each
    other count as one, since cards may be dealt at once or one by one. A game that came from
    OpenSpiel is walked as far as it takes to meet every information set.

    Attributes
    ----------
    theirs : pyspiel.Game
        In which one player moves at a time.
    decisions : list of I (str, list of int, pyspiel.State)
        Information state strings, the keys of tabular policies; OpenSpiel's numbers of the
        actions, in the order of the tree; a state in the information set.

    Raises UsageError if OpenSpiel does not have the game, or it differs in whatever respect. Raises
    SolverUnavailableError if OpenSpiel is not installed.
    """

    def __init__(self, game: Game) -> None:
        self.theirs = _their_game(game.spec)
        self._spec, self._tree = game.spec, game.tree
        self._needed = np.ones(game.tree.n_nodes, dtype=bool)
        if game.spec.startswith(OPENSPIEL):
            first_of_each = np.unique(game.tree.infoset, return_index=True)[1]
            self._needed = on_the_way(game.tree, first_of_each)
        self._first_child = np.searchsorted(game.tree.parent, np.arange(game.tree.n_nodes + 1))
        self._tolerance = TOLERANCE * max(1.0, game.tree.payoff_range)
        self._row = np.cumsum(game.tree.player == TERMINAL) - 1  # of terminals, in the payoffs
        met = self._walk(self.theirs.new_initial_state())
        self.decisions = [met[infoset] for infoset in range(game.tree.n_infosets)]
        texts = [text for text, _, _ in self.decisions]
        if len(set(texts)) < len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise UsageError(
                f"OpenSpiel calls several information sets of {game.spec} {twice!r}, and its "
                "solvers and policies cannot tell them apart; use other solvers"
            )

    def frequencies(self, policy: Any) -> FloatArray:
        """Frequencies (A,) of a policy; what rounding puts outside 0 and 1 is put back."""
        values: list[float] = []
        for _, actions, state in self.decisions:
            row = policy.action_probabilities(state)
            values += [row.get(action, 0.0) for action in actions]
        array = np.array(values)
        bounded = np.clip(array, 0.0, 1.0)
        return np.where(np.abs(array - bounded) < ROUNDING, bounded, array)

    def _walk(self, root: Any) -> dict[int, tuple[str, list[int], Any]]:
        """Text, actions and a state of each information set."""
        met: dict[int, tuple[str, list[int], Any]] = {}
        if root.num_players() != self._tree.n_players:
            raise self._differs(0, f"it has {root.num_players()} players")
        stack = [(0, root)]
        while stack:
            node, state = stack.pop()
            player, children = self._tree.player[node], self._children(node)
            if player == CHANCE or state.is_chance_node():
                stack += self._outcomes(node, state)
            elif player == TERMINAL or state.is_terminal():
                self._compare_payoffs(node, state)
            else:
                infoset, actions = int(self._tree.infoset[node]), state.legal_actions()
                if state.current_player() != player:
                    raise self._differs(node, "another player moves there")
                if len(actions) != len(children):
                    raise self._differs(node, f"there are {len(actions)} actions there")
                decision = (state.information_state_string(), actions)
                if met.setdefault(infoset, (*decision, state))[:2] != decision:
                    raise self._differs(node, "the player knows more or less there")
                below = zip(children, actions, strict=True)
                stack += [(c, state.child(a)) for c, a in below if self._needed[c]]
        return met

    def _outcomes(self, node: int, state: Any) -> list[tuple[int, Any]]:
        """What a run of chance moves leads to, in both trees."""
        ours, theirs = _after_chance(node, self._chance), _after_chance(state, _their_chance)
        if len(ours) != len(theirs):
            raise self._differs(node, f"chance has {len(theirs)} outcomes there")
        both = list(zip(ours, theirs, strict=True))
        if any(abs(mine - their) > TOLERANCE for (mine, _), (their, _) in both):
            raise self._differs(node, "chance has other probabilities there")
        return [(c, below) for (_, c), (_, below) in both if self._needed[c]]

    def _compare_payoffs(self, node: int, state: Any) -> None:
        if not (state.is_terminal() and self._tree.player[node] == TERMINAL):
            raise self._differs(node, "only one of both games is over there")
        off = np.abs(self._tree.payoffs.table[self._row[node]] - state.returns()).max()
        if off > self._tolerance:
            raise self._differs(node, f"it pays {state.returns()} there")

    def _differs(self, node: int, how: str) -> UsageError:
        return UsageError(
            f"OpenSpiel's game is not {self._spec}: {how} (node {node}); use one of its own games "
            "by --game openspiel:NAME"
        )

    def _children(self, node: int) -> range:
        return range(self._first_child[node], self._first_child[node + 1])

    def _chance(self, node: int) -> list[tuple[int, float]]:
        children = self._children(node) if self._tree.player[node] == CHANCE else range(0)
        return [(child, self._tree.chance_probability[child]) for child in children]


# Whether a game is supported, its preparation and its solution need the last one.
match = lru_cache(maxsize=1)(Match)


def tabular_policy(game: Game, profile: BehaviorProfile) -> Any:
    """`pyspiel.TabularPolicy` of a profile, for OpenSpiel's form of the game.

    That form has simultaneous moves in turn (`pyspiel.load_game_as_turn_based`).
    Raises as :class:`Match`.
    """
    found = match(game)
    import pyspiel

    rows = np.split(profile.probabilities, game.tree.action_start[1:-1])
    table = {
        text: list(zip(actions, row.tolist(), strict=True))
        for (text, actions, _), row in zip(found.decisions, rows, strict=True)
    }
    return pyspiel.TabularPolicy(table)


def profile_of_policy(game: Game, policy: Any) -> BehaviorProfile:
    """Profile of a policy of OpenSpiel, one of its C++ or of its Python classes.

    An action that the policy does not name has frequency 0.

    Raises ProfileError if the policy is no distribution somewhere. Raises UsageError and
    SolverUnavailableError as :class:`Match`.
    """
    return BehaviorProfile.of(game.tree, match(game).frequencies(policy))


def _their_game(spec: str) -> Any:
    """OpenSpiel's game of a canonical spec, with simultaneous moves in turn; raises as `Match`."""
    if missing := importable("pyspiel").reason:
        raise SolverUnavailableError(missing)
    import pyspiel

    if spec.startswith(OPENSPIEL):
        import open_spiel.python.games  # noqa: F401 - its import registers further games
    game = pyspiel.load_game(_their_name(spec))
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    return game


def _their_name(spec: str) -> str:
    """Text for `pyspiel.load_game` of a game of ours; UsageError if there is none."""
    if spec.startswith(OPENSPIEL):
        return spec.removeprefix(OPENSPIEL)
    name, options = "", {}
    with suppress(SpecError):  # a game that was not named by a spec
        parsed = parse_spec(spec)
        options = dict(parsed.options)
        name = str(options.get("name")) if parsed.name == "matrix" else parsed.name
    if name not in _FAMILIES:
        raise UsageError(
            f"OpenSpiel has no game that is known to be {spec}; use one of its own by "
            f"--game openspiel:NAME, or one of {', '.join(_FAMILIES)}"
        )
    text, implied = _FAMILIES[name]
    wanted = implied(options.get("players", 0))
    wrong = [f"{key}={wanted[key]}" for key in wanted if options.get(key) != wanted[key]]
    if wrong:
        raise UsageError(
            f"OpenSpiel has this game only with {', '.join(wrong)}, not {spec}; choose that, "
            "or one of its own games by --game openspiel:NAME"
        )
    return text.format(**options)


def _their_chance(state: Any) -> list[tuple[Any, float]]:
    outcomes = state.chance_outcomes() if state.is_chance_node() else []
    return [(state.child(outcome), share) for outcome, share in outcomes]


def _after_chance(
    place: Any, moves: Callable[[Any], list[tuple[Any, float]]]
) -> list[tuple[float, Any]]:
    """Probabilities and places after chance moves that follow each other.

    `moves` gives the places that chance may lead to with their probabilities.
    """
    return [
        (share * rest, end)
        for below, share in moves(place)
        for rest, end in _after_chance(below, moves)
    ] or [(1.0, place)]
