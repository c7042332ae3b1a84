"""Games of OpenSpiel (Lanctot et al. 2019, arXiv:1908.09453), played through node by node."""

from __future__ import annotations

import math
import os
import re
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np

from eqbench.errors import GameFormatError, GameTooLargeError, SpecError, UsageError, nearest
from eqbench.extras import needed_for
from eqbench.model.builder import Number, TreeBuilder
from eqbench.model.size_limit import max_nodes
from eqbench.model.tree import GameTree

PREFIX = "openspiel:"
# OpenSpiel says fractions in float64; a larger denominator would be guessed, not recognized.
LARGEST_DENOMINATOR = 100_000
PROBES = 10
# OpenSpiel's states keep their history, and those above the present one are held.
DEEPEST = 1_000
_SOURCE_LINE = re.compile(r"^\S+\.(?:cc|h):\d+\s+")


@dataclass(frozen=True)
class OpenSpielGame:
    """A game of OpenSpiel, named as in `pyspiel.load_game`.

    Information sets are labeled by OpenSpiel's information state strings, the keys of its
    tabular policies, and actions by its action strings. Players are P1, P2, … in OpenSpiel's
    order. Simultaneous moves are made one after another, none seen before all are made.

    Payoffs and chance are exact where each float64 is the one nearest to a fraction with a
    small denominator, and the probabilities of all chance moves then sum to exactly 1.

    Parameters
    ----------
    text : ``openspiel:`` and the name, with parameters in parentheses
    """

    text: str

    def __post_init__(self) -> None:
        game = self._loaded
        facts = game.get_type()
        reason = _refusal(facts)
        if reason:
            raise GameFormatError(f"{PREFIX}{facts.short_name} {reason}; choose another game")

    @cached_property
    def spec(self) -> str:
        """Canonical spec: all parameters, in OpenSpiel's order.

        Of a few games OpenSpiel cannot read that back; theirs has the parameters that were given.
        """
        import pyspiel

        game = self._loaded
        named = {"name": game.get_type().short_name, **game.get_parameters()}
        text = str(pyspiel.game_parameters_to_string(named))
        try:
            same = _load(text).get_parameters() == game.get_parameters()
        except SpecError:
            same = False
        return PREFIX + (text if same else str(game))

    def cache_key(self) -> str:
        """Version of OpenSpiel; empty if the game also depends on a file that may change."""
        import pyspiel

        game = self._loaded
        own = type(game).__module__.startswith(("pyspiel", "open_spiel."))
        reads = any(os.path.isfile(text) for text in _texts(game.get_parameters()))
        return str(pyspiel.__version__) if own and not reads else ""

    def build(self) -> GameTree:
        """Game tree, by playing the game in all possible ways.

        Raises
        ------
        GameFormatError
            If OpenSpiel fails on the way, or the game breaks a rule of the model; as
            GameTooLargeError or ImperfectRecallError where that is the reason.
        """
        import pyspiel

        try:
            with _silence():
                game = self._loaded
                if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
                    game = pyspiel.convert_to_turn_based(game)
                _check_size(game)
                return _played_through(game)
        except GameFormatError as error:
            raise type(error)(f"{self.spec}: {error}") from None
        except MemoryError:
            raise
        except Exception as error:
            raise GameFormatError(
                f"{self.spec}: OpenSpiel fails while the game is played through: {_line(error)}; "
                "choose other parameters or another game"
            ) from error

    @cached_property
    def _loaded(self) -> Any:
        # OpenSpiel would take a space before a name for a part of it
        name = self.text.strip().removeprefix(PREFIX).strip()
        return _load(re.sub(r"\s*([(),=])\s*", r"\1", name))


def _load(text: str) -> Any:
    """OpenSpiel's game of this name and these parameters.

    Raises
    ------
    SpecError
        If there is none.
    UsageError
        If OpenSpiel is not installed.
    """
    with needed_for(f"{PREFIX}{text}"):
        import pyspiel
    with _silence():
        try:
            _check_names(pyspiel.game_parameters_from_string(text), pyspiel)
            return pyspiel.load_game(text)
        except UsageError:
            raise
        except Exception as error:
            raise SpecError(
                f"OpenSpiel refuses {text!r}: {_line(error)}; check the parameters, and the files "
                "that they name"
            ) from error


def _check_names(parameters: dict[str, Any], pyspiel: Any) -> None:
    """Raise SpecError unless a game and its parameters are known, and those of games inside."""
    name = parameters.get("name")
    if name is None:
        raise SpecError(f"{PREFIX} names no game; write for example {PREFIX}kuhn_poker")
    if name not in pyspiel.registered_names():
        import open_spiel.python.games  # noqa: F401 - its import registers further games
    known = {facts.short_name: facts for facts in pyspiel.registered_games()}
    if name not in known:
        raise SpecError(f"unknown game {name!r} of OpenSpiel: {nearest(name, known)}")
    allowed = known[name].parameter_specification
    for key, value in parameters.items():
        if key != "name" and key not in allowed:
            raise SpecError(f"unknown parameter {key!r} of {name}: {nearest(key, allowed)}")
        if isinstance(value, dict):
            _check_names(value, pyspiel)


def _refusal(facts: Any) -> str | None:
    """Why no tree can be made of games of this type, None if one can."""
    import pyspiel

    kinds = pyspiel.GameType
    if facts.dynamics == kinds.Dynamics.MEAN_FIELD:
        return "is a mean-field game, which has no tree"
    if facts.chance_mode == kinds.ChanceMode.SAMPLED_STOCHASTIC:
        return "draws its chance moves itself and does not tell their probabilities"
    if not facts.provides_information_state_string:
        return "does not tell what players know: OpenSpiel has no information states for it"
    return None


def _check_size(game: Any) -> None:
    """Refuse a game that is far too large before memory is spent on it.

    A random line of play weights each of its nodes by the number of lines that it could have
    taken. The sum is the number of nodes in expectation (Knuth 1975), so by Markov's inequality
    all of ten independent sums exceed ten times that number in one of 10^10 cases at most.
    """
    rng = np.random.default_rng(0)
    guesses = [_guessed_nodes(game.new_initial_state(), rng) for _ in range(PROBES)]
    if min(guesses) > PROBES * max_nodes():
        raise GameTooLargeError(
            f"the game has far more than {max_nodes():,} nodes, as many as are allowed (random "
            f"lines of play suggest 10^{math.log10(statistics.median(guesses)):.0f} or more); "
            "choose smaller parameters, or allow more with --max-nodes"
        )


def _guessed_nodes(state: Any, rng: np.random.Generator) -> float:
    nodes = lines = 1.0
    for _ in range(DEEPEST):
        actions = state.legal_actions()
        if state.is_terminal() or not actions or lines > 1e300:
            break
        lines *= len(actions)
        nodes += lines
        state.apply_action(actions[rng.integers(len(actions))])
    return nodes


def _played_through(game: Any) -> GameTree:
    """Tree of a game in which one player moves at a time."""
    builder = TreeBuilder([f"P{p + 1}" for p in range(game.num_players())])
    fraction = cache(_fraction)  # even large games have few different numbers
    known: dict[tuple[int, str], tuple[list[int], list[str]]] = {}
    start = (0, None, game.new_initial_state(), -1)
    stack: list[tuple[int, tuple[int, int] | None, Any, int]] = [start]
    while stack:
        depth, place, above, action = stack.pop()
        state = above if place is None else above.child(action)
        if depth > DEEPEST:
            raise GameTooLargeError(
                f"a line of play has more than {DEEPEST:,} moves, as many as are allowed; choose "
                "parameters that end the game earlier, if it has any"
            )
        if state.is_terminal():
            builder.terminal(place, [fraction(value) for value in state.returns()])
            continue
        outcomes = state.chance_outcomes() if state.is_chance_node() else []
        actions = [action for action, _ in outcomes] or state.legal_actions()
        if not actions:
            raise GameFormatError(
                "OpenSpiel has no move at a node where the game is not over; choose other "
                "parameters or another game"
            )
        if outcomes:
            probabilities = [probability for _, probability in outcomes]
            exact = [fraction(value) for value in probabilities]
            labels = [state.action_to_string(action) for action in actions]
            node = builder.chance(place, exact if sum(exact) == 1 else probabilities, labels)
        else:
            player, label = state.current_player(), state.information_state_string()
            if known.get((player, label), ([],))[0] != actions:
                known[player, label] = (actions, _names(state, actions))
            node = builder.decision(place, player, label, known[player, label][1])
        moves = reversed(range(len(actions)))
        stack.extend((depth + 1, (node, move), state, actions[move]) for move in moves)
    return builder.tree()


def _names(state: Any, actions: Sequence[int]) -> list[str]:
    """Texts of actions; those that several share get OpenSpiel's numbers."""
    texts = [state.action_to_string(action) for action in actions]
    if len(set(texts)) == len(texts):
        return texts
    return [f"{text} ({action})" for text, action in zip(texts, actions, strict=True)]


def _fraction(value: float) -> Number:
    """The fraction with a small denominator that a float64 is nearest to, otherwise the float."""
    if not math.isfinite(value):
        return value
    near = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    return near if float(near) == value else value


def _texts(parameters: dict[str, Any]) -> Iterator[str]:
    for value in parameters.values():
        if isinstance(value, dict):
            yield from _texts(value)
        elif isinstance(value, str) and value:
            yield value


@contextmanager
def _silence() -> Iterator[None]:
    """Drop what native code prints: OpenSpiel says every error on standard error as well."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    kept = []
    for descriptor in (1, 2):
        with suppress(OSError):  # a closed one need not be kept
            kept.append((descriptor, os.dup(descriptor)))
    with open(os.devnull, "wb") as nothing:
        try:
            for descriptor, _ in kept:
                os.dup2(nothing.fileno(), descriptor)
            yield
        finally:
            for descriptor, copy in kept:
                os.dup2(copy, descriptor)
                os.close(copy)


def _line(error: Exception) -> str:
    """First lines of an error's text as one; OpenSpiel may list all that it knows below.

    Where in OpenSpiel's sources it was raised is left out.
    """
    text = _SOURCE_LINE.sub("", str(error)) or type(error).__name__
    return " ".join(text.splitlines()[:2])
