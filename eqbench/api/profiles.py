"""A profile of a game: measured, named, judged, and held against sets of equilibria."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eqbench.api.shown import Picture, ReportText
from eqbench.documents import checked
from eqbench.equilibria import Identifier, Identity, known_sets
from eqbench.equilibria.identity import Membership, in_component, in_published
from eqbench.equilibria.reference import TOLERANCE
from eqbench.errors import (
    EqbenchError,
    ProfileError,
    UsageError,
    counted,
    first_of,
    known_labels,
    nearest,
)
from eqbench.harness.inprocess import CellResult, Equilibrium
from eqbench.model.game import Game
from eqbench.model.inspection import excerpt, node_at
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile, completed_rows
from eqbench.model.rational import short_figure
from eqbench.model.tree import GameTree, sum_by
from eqbench.model.words import Wording
from eqbench.registry import default_registry, load_game
from eqbench.report.profile_picture import Shown, draw_profiles
from eqbench.store.named import identified_as, in_run, named_profile, profile_of_cell
from eqbench.text import Displayed
from eqbench.verdict import judge_measured
from eqbench.verification import (
    DEFAULT_TOLERANCE,
    JointVerification,
    Verification,
    Verifier,
    certify,
    verify_exactly,
)
from eqbench.verification import verify_joint as measure_joint
from eqbench.verification.sweep import TreeSweep


def _loaded(game: Game | GameTree | str, profile: Any) -> tuple[GameTree, BehaviorProfile]:
    """The tree of a game, and a profile of it."""
    game = load_game(game) if isinstance(game, str) else game
    return game.tree if isinstance(game, Game) else game, load_profile(game, profile)


@checked
def load_profile(game: Game | GameTree | str, profile: Any = None) -> BehaviorProfile:
    """Profile of a game from any of its forms; both are needed.

    Parameters
    ----------
    game : Game, tree or spec
    profile : BehaviorProfile, the interchange form as a dictionary, the path of its JSON file,
        a cell of a run as ``RUN/CELL``, an Equilibrium, or the result of a cell, of which the best
        is taken

    Raises
    ------
    SpecError, ProfileError
        If the spec is wrong, or the profile does not fit the game.

    Examples
    --------
    >>> import eqbench
    >>> run = eqbench.run("kuhn2", "lcp", out="one")
    >>> eqbench.load_profile("kuhn2", "one/lcp")
    <BehaviorProfile of kuhn(players=2,cards=3,pot=2,reduce=none,raises=0): 24 frequencies...>
    """
    if profile is None:
        raise UsageError(
            "give a game and its profile, for example load_profile('kuhn2', 'mine.json')"
        )
    game = load_game(game) if isinstance(game, str) else game
    if isinstance(profile, CellResult | Equilibrium):
        profile = profile.profile
    if isinstance(profile, str | Path):
        profile, _ = named_profile(str(profile))
    if isinstance(profile, dict):
        return BehaviorProfile.from_json(game, profile)
    if not isinstance(profile, BehaviorProfile):
        raise ProfileError(
            f"cannot read {type(profile).__name__} as a profile; give a BehaviorProfile (for "
            "example BehaviorProfile.of(game, frequencies)), a dict or the path of a JSON file"
        )
    return profile.on(game)


def with_words(profile: BehaviorProfile) -> Game:
    """The game of a profile, with what its labels mean if that is known without building it."""
    words = None
    with suppress(EqbenchError):  # a tree may have any spec, or a file that is gone
        words = getattr(default_registry().describe_game(profile.spec)[0], "wording", None)
    return Game(
        profile.spec, profile.known_tree, wording=words if isinstance(words, Wording) else None
    )


@checked
def profile_figure(profile: BehaviorProfile, other: Any = None) -> Picture:
    """Picture of what one or two profiles play; see :meth:`BehaviorProfile.figure`."""
    game = with_words(profile)
    shown = [Shown(profile)]
    if other is not None:
        shown = [Shown(profile, "first"), Shown(load_profile(game, other), "second")]
    return Picture(draw_profiles(game, shown), game.spec)


@checked
def explored(profile: BehaviorProfile, at: str = "", depth: int | None = None) -> ReportText:
    """Page of the tree with a profile; see :meth:`BehaviorProfile.explore`."""
    from eqbench.report.html.tree import tree_page  # needs Jinja

    game = with_words(profile)
    part = excerpt(game.tree, node_at(game.tree, at, game.wording), depth)
    return ReportText(tree_page(game, profile, part), "html")


@checked
def verify(game: Game | GameTree | str, profile: Any, *, exact: bool = False) -> Verification:
    """Measure payoffs and regrets of a profile; in Fractions if `exact`.

    In exact mode the floats of a BehaviorProfile count as they are stored: as decimals, the
    largest at an information set as what the others leave of 1. The numbers of a dict or a file
    count as they are written.

    Parameters
    ----------
    game : Game, tree or spec
    profile : as in :func:`load_profile`

    Raises
    ------
    SpecError, ProfileError
        If the spec is wrong, or the profile does not fit the game.

    Examples
    --------
    >>> import eqbench
    >>> game = eqbench.load_game("kuhn2")
    >>> eqbench.verify(game, eqbench.BehaviorProfile.uniform(game), exact=True).nash_conv
    Fraction(11, 12)
    >>> found = eqbench.solve(game, "sequence_lp")
    >>> eqbench.verify(game, found).max_regret < 1e-15
    True
    """
    tree, profile = _loaded(game, profile)
    return verify_exactly(tree, profile) if exact else Verifier(tree).verify(profile)


@checked
def verify_joint(
    game: Game | str, profiles: Sequence[Any], weights: Sequence[Any] = (), *, exact: bool = False
) -> JointVerification:
    """Measure joint play: one of the profiles is drawn for all players, by their weights.

    Its gap is the sum of what players gain by a strategy of their own instead, counted from 0: that
    of a coarse correlated equilibrium is 0.

    Parameters
    ----------
    profiles : each as in :func:`load_profile`
    weights : their probabilities; equal ones unless given
    exact : as in :func:`verify`

    Raises
    ------
    SpecError, ProfileError
        If the spec is wrong, a profile does not fit, or the weights are no distribution.

    Examples
    --------
    >>> import eqbench
    >>> game = eqbench.load_game("battle_of_sexes")
    >>> both = [eqbench.BehaviorProfile.of(game, row) for row in ([1, 0, 1, 0], [0, 1, 0, 1])]
    >>> eqbench.verify_joint(game, both, exact=True).gap
    Fraction(0, 1)
    """
    game = load_game(game) if isinstance(game, str) else game
    read = [load_profile(game, profile) for profile in profiles]
    shares = weights if len(weights) else [Fraction(1, len(read) or 1)] * len(read)
    return measure_joint(game.tree, read, shares, exact=exact)


@checked
def identify(game: Game | str, profile: Any) -> Identity | None:
    """Name the known equilibrium that a profile is, or is nearest to; None if none is near.

    Whether it is an equilibrium at all is for the regrets of :func:`verify` to say; they are
    measured here to tell what is near from what is something else. Clusters of unknown ones
    are made in runs only.

    Parameters
    ----------
    game : Game or spec; a tree alone does not say which game it is
    profile : as in :func:`load_profile`

    Raises
    ------
    UsageError, SpecError, ProfileError
        If it is not a game, the spec is wrong, or the profile does not fit the game.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.identify("kuhn2", eqbench.solve("kuhn2", "sequence_lp")).name
    'kuhn2'
    """
    game = load_game(game) if isinstance(game, str) else game
    profile = load_profile(game, profile)
    max_regret = float(Verifier(game.tree).verify(profile).max_regret)
    return Identifier(game).identify(profile, max_regret)


@checked
def kind(game: Game | GameTree | str, profile: Any, *, exact: bool = False) -> Any:
    """Judge whether an equilibrium is undominated, subgame-perfect, sequential, and regular.

    Returns an `eqbench.verdicts.Kind`, or None if it is no equilibrium, by a max regret above 1e-10
    of the payoff scale, or too much work.

    Parameters
    ----------
    game : Game, tree or spec
    profile : as in :func:`load_profile`
    exact : whether to judge in Fractions, if the profile is an equilibrium without any regret;
        floats are read as in :func:`verify`

    Raises
    ------
    SpecError, ProfileError
        If the spec is wrong, or the profile does not fit the game.
    UsageError
        If `exact` is given for a game whose payoffs are floats.

    Examples
    --------
    >>> import eqbench
    >>> found = eqbench.kind("kuhn2", eqbench.solve("kuhn2", "logit"))
    >>> found.undominated, found.to_json()["sequential"]
    ('certified', 'certified')
    >>> found.proofs()["trembles"][0]["action"]
    'bet'
    """
    tree, profile = _loaded(game, profile)
    certified = verify_exactly(tree, profile) if exact else None
    measured = Verifier(tree).verify(profile)
    return judge_measured(tree, profile, measured, certified, ["kind"]).get("kind")


class Deviation(NamedTuple):
    """A better action at an information set, and the share of its player's regret from there."""

    player: str
    infoset: str
    action: str
    gain: Any


def deviations(play: Play) -> list[Deviation]:
    """All gains above the tolerance, the largest first; those of a player sum to their regret.

    At sets that their own play admits with probability r, the gain is r times the counterfactual
    value of the best action less that of what is played, both followed by a best response.
    """
    players = range(play.tree.n_players)
    found = [_deviation(play, *each) for p in players for each in _losses(play, p)]
    return sorted((each for each in found if each.gain > play.tolerance), key=lambda e: -e.gain)


def _losses(play: Play, player: int) -> Iterator[tuple[int, int, Any]]:
    """Information sets of a player from the last to the first, with the best action and the loss.

    It is what the frequencies there lose, in counterfactual value, before a best response.
    """
    tree, reach = play.tree, play.reach(play.mover == player)[play.tree.terminals]
    last_own = TreeSweep(tree).last_own[player]
    value = sum_by(last_own, reach * play.payoffs[:, player], tree.n_actions + 1)[1:]
    for i in reversed(tree.infosets_of(player)):  # later decisions stand behind earlier ones
        here = slice(tree.action_start[i], tree.action_start[i + 1])
        best = int(np.argmax(value[here]))
        yield i, best, value[here][best] - play.frequency[here] @ value[here]
        if (above := tree.infoset_parent[i]) >= 0:
            value[above] += value[here][best]


def _deviation(play: Play, infoset: int, best: int, loss: Any) -> Deviation:
    tree = play.tree
    labels = tree.infoset_labels[infoset], tree.infoset_actions[infoset][best]
    return Deviation(tree.players[tree.infoset_player[infoset]], *labels, play.own[infoset] * loss)


@dataclass(frozen=True)
class BestResponse(Displayed):
    """A best response of one player to a profile of all, and what it gains where.

    Attributes
    ----------
    player : label
    payoff, gain : of the player, and over the given profile; Fractions where all is known exactly
    profile : the given one with the best response in it
    deviations : what it changes, the largest gain first. Gains sum to that of the whole; one is 0
        where the player's own play never leads, so that only the changed play may get there.
    """

    player: str
    payoff: Any
    gain: Any
    profile: BehaviorProfile
    deviations: tuple[Deviation, ...]

    def __repr__(self) -> str:
        changed, gain = counted(len(self.deviations), "information set"), short_figure(self.gain)
        return f"<BestResponse of {self.player}: gains {gain}, changes {changed}>"


@checked
def best_response(game: Game | GameTree | str, profile: Any, player: str) -> BestResponse:
    """Find a best response of a player, the play of all others fixed.

    It is also best at every information set to which the others' play can lead. Where what is
    played is as good as anything it stays; else the first best action is played for sure. In
    Fractions where game and profile are known exactly and that costs no more than about a second.

    Parameters
    ----------
    game, profile : as of :func:`eqbench.verify`, with its errors
    player : label, such as P2

    Raises
    ------
    UsageError
        If there is no such player, or floats do not resolve what decisions of the game are about.

    Examples
    --------
    >>> import eqbench
    >>> game = eqbench.load_game("kuhn2")
    >>> found = eqbench.best_response(game, eqbench.BehaviorProfile.uniform(game), "P2")
    >>> found
    <BestResponse of P2: gains 13/24, changes 6 information sets>
    >>> found.deviations[0].infoset, found.deviations[0].action, found.profile["P2", "3:B"]
    ('3:B', 'call', {'fold': 0.0, 'call': 1.0})
    """
    tree, given = _loaded(game, profile)
    if player not in tree.players:
        known = known_labels(player, tree.players)
        raise UsageError(f"there is no player {player!r} in this game: {known}")
    number = tree.players.index(player)
    exact = given.exact is not None and completed_rows(tree, given) == given.exact
    before: Verification | None = certify(tree, given) if exact else None
    if before is not None:
        play = Play.exactly(tree, given)
    else:
        before = Verifier(tree).verify(given)
        play = Play.of(tree, given, tolerance=0, unplayed=0)
        play.tolerance = before.error
    frequencies = list(given.probabilities.tolist() if given.exact is None else given.exact)
    found = []
    for infoset, best, loss in _losses(play, number):
        if loss > play.tolerance:
            start, stop = tree.action_start[infoset : infoset + 2].tolist()
            frequencies[start:stop] = [int(start + best == action) for action in range(start, stop)]
            found.append(_deviation(play, infoset, best, loss))
    make = BehaviorProfile.of if given.exact is None else BehaviorProfile.of_exact
    response = replace(make(tree, frequencies), spec=given.spec)
    exactly = certify(tree, response) if play.exact else None
    after = exactly or Verifier(tree).verify(response)
    gain = after.payoffs[number] - before.payoffs[number]
    ordered = tuple(sorted(found, key=lambda each: -each.gain))
    return BestResponse(player, after.payoffs[number], gain, response, ordered)


class NotAnEquilibriumError(AssertionError):
    """A player gains by deviating: `verdict` is the measurement, `deviations` say who and where."""

    def __init__(self, verdict: Verification, deviations: Sequence[Deviation]) -> None:
        self.verdict, self.deviations = verdict, deviations
        gains = [f"{who} {short_figure(g)} at {at!r} by {how}" for who, at, how, g in deviations]
        most = short_figure(verdict.max_regret)
        super().__init__(f"no equilibrium: max regret {most}; there gains {first_of(gains, 6)}")


@checked
def assert_equilibrium(
    game: Game | GameTree | str, profile: Any, tolerance: float = DEFAULT_TOLERANCE
) -> Verification:
    """Measure a profile, and raise an AssertionError that says who gains where, if anybody does.

    What is known exactly, as are profiles in dictionaries and files, is measured in Fractions.

    Parameters
    ----------
    game, profile : as of :func:`eqbench.verify`, with its errors
    tolerance : share of the payoff scale that a player may gain; 0 asks for a proof

    Raises
    ------
    NotAnEquilibriumError
        Also under ``python -O``.
    UsageError
        If the tolerance is no number >= 0.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.assert_equilibrium("kuhn2", eqbench.solve("kuhn2", "sequence_lp")).max_regret < 1e-9
    True
    """
    _check(tolerance)
    tree, profile = _loaded(game, profile)
    exact = tree.exact and (profile.exact is not None or tree.is_wide)
    verdict = verify(tree, profile, exact=exact)
    if verdict.max_regret <= (tolerance and tolerance * tree.payoff_scale):  # may be infinite
        return verdict
    play = Play.exactly(tree, profile) if exact else Play.of(tree, profile, tolerance=0, unplayed=0)
    raise NotAnEquilibriumError(verdict, deviations(play))


def _check(tolerance: float) -> None:
    if not tolerance >= 0:  # nan neither
        raise UsageError(f"tolerance={tolerance}; choose a number >= 0, where 0 is exact")


@checked
def contains(
    name: str, profile: Any, game: Game | str | None = None, tolerance: float = TOLERANCE
) -> Membership:
    """Decide whether a profile is in a published set of equilibria, or in a computed component.

    Of a published set all frequencies count, off the path of play too.

    Parameters
    ----------
    name : of a set, such as ``szafron:c11=0``, or what several begin with; or ``RUN/cluster:2`` or
        ``RUN/CELL``, for what is connected with equilibria of a run
    profile : as in :func:`load_profile`, with its errors
    game : Game or spec; that which the profile names unless given
    tolerance : how far conditions of a published set may be missed; 0 decides in Fractions

    Raises
    ------
    UsageError
        If there is no such set, the cell holds no equilibrium, the game is not known, the tolerance
        is no number >= 0, or Fractions cannot decide.

    Examples
    --------
    >>> import eqbench
    >>> uniform = eqbench.BehaviorProfile.uniform(eqbench.load_game("kuhn2"))
    >>> found = eqbench.contains("kuhn2", uniform)
    >>> bool(found), found.broken[0].condition, found.broken[0].left
    (False, 'Q_bets == 0', 0.5)
    """
    _check(tolerance)
    given = getattr(profile, "profile", profile)
    given = named_profile(str(given))[0] if isinstance(given, str | Path) else given
    known_as = given.get("game") if isinstance(given, dict) else getattr(given, "spec", None)
    game = known_as if game is None else game
    if not isinstance(game, Game | str) or game == "":
        raise UsageError("which game? give its spec, or a profile that names it")
    game = load_game(game) if isinstance(game, str) else game
    own = load_profile(game, given)
    if parts := in_run(name):
        files = identified_as(*parts, game)
        if not files and parts[1].startswith("cluster:"):
            hint = f"eqbench report {parts[0]} lists its equilibria"
            raise UsageError(f"{parts[0]} has no {parts[1]} of {game.spec}; {hint}")
        files = files or [profile_of_cell(*parts)[0]]
        return in_component(game, name, [own, *(load_profile(game, file) for file in files)])
    known = known_sets(game)
    sets = [each for each in known if f"{each.name}:".startswith(f"{name}:")]
    if not sets:
        hint = nearest(name, {each.name for each in known}, "of a run it is RUN/cluster:1")
        raise UsageError(f"{game.spec} has no published set {name!r}: {hint}")
    try:
        return in_published(game, sets, own, tolerance)
    except ArithmeticError:
        raise UsageError(f"{name} is not rational; give a tolerance above 0") from None
