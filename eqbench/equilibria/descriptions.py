"""Clusters of equilibria by what is played in them: ``P1 always plays beer``.

A clause says what a player does at one information set, at all with the same history, or wherever
it can take the action, and speaks only of where play gets to. It holds for all members of its
cluster; of the other clusters it rules out those that clearly break it where their play gets to.
A last one may say what deters a player: what is played at a set that no member gets to, and without
which the others would gain by deviating.

Symbols in shapes: A actions, n clusters, N players, C clauses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile
from eqbench.model.size_limit import MOST_DESCRIBED
from eqbench.model.tree import FloatArray
from eqbench.model.words import AT_START, deed, situation
from eqbench.text import printable, shortened
from eqbench.verification import Verifier

REACHED = 1e-6  # least probability with which play gets to an information set
NEGLIGIBLE = 1e-4  # frequency that counts as never
CLEAR = 0.01  # least difference by which a clause is broken
DIGITS = (2, 4)  # of a frequency or payoff; the second where the first does not tell clusters apart
LONGEST = 90  # characters of what describes a cluster that is the only one
_MOST_CLUSTERS = 200
_MOST_SUBJECTS = 40_000  # in all clusters; more would take seconds
_MOST_NUMBERS = 20_000_000  # frequencies that are compared, and nodes that are swept
_MOST_TRIED = 5_000_000  # nodes that are swept for what deters players
_LONGEST_LABEL = 40
# ranks of clauses on two actions, up to which they have always or never, and of deterrents
_TWO, _CERTAIN, _OFF_PATH = 1, 2, 6
_TELLING = (0, _TWO, 4, 2, 3, 5)  # ranks by what clauses tell of a cluster that is the only one
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


@dataclass(frozen=True)
class _Subject:
    """Actions of a player, and words: one at each of some sets, or with `verbs` all of one set."""

    actions: tuple[int, ...]
    player: str
    verb: str
    where: str
    verbs: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Clause:
    """A statement on the play of a cluster.

    Attributes
    ----------
    text : the statement in words
    player : whom it is about
    actions : indices among the A actions; empty if it is about payoffs
    low, high : frequencies that it allows where play gets to, for all actions or for each
    rules_out : bool (n,), the other clusters that clearly break it
    rank : smaller is better among clauses that rule out as many; the largest is of one on what is
        played where no member gets to
    reach : probability with which play gets to what it is about, at most 1; 0 if it never does
    """

    text: str
    player: str
    actions: tuple[int, ...]
    low: float | tuple[float, ...]
    high: float | tuple[float, ...]
    rules_out: NDArray[np.bool_]
    rank: int
    reach: float = 0.0


def describe(
    game: Game, clusters: Sequence[Sequence[BehaviorProfile]]
) -> list[tuple[Clause, ...] | None]:
    """Clauses by which each cluster of equilibria differs from all the others, most reached first.

    Parameters
    ----------
    clusters : profiles of the members of each

    Returns
    -------
    list
        None where no clauses tell a cluster from all others, and in games or lists that are too
        large. Of a single cluster what is played most.
    """
    tree, members = game.tree, sum(map(len, clusters))
    sizes = [len(clusters) ** 2 * tree.n_actions, members * tree.n_nodes]
    if game.product is not None and tree.n_infosets <= MOST_DESCRIBED:
        sizes.pop()
    if not 0 < len(clusters) <= _MOST_CLUSTERS or max(sizes) > _MOST_NUMBERS:
        return [None] * len(clusters)
    bounds = [_bounds(game, own) for own in clusters]
    table = _Table(*(np.array(own) for own in zip(*bounds, strict=True)))
    most = _MOST_SUBJECTS // len(clusters)
    subjects = [own for own in _subjects(game) if table.is_telling(own.actions)][:most]
    if len(clusters) == 1:
        known = list(table.clauses(0, subjects, DIGITS[0]))
        found = [_alone(known) or _alone(list(_payoff_clauses(game, 0, clusters)))]
    else:
        found = [_apart(game, table, at, subjects, clusters) for at in range(len(clusters))]
    if len(clusters) * tree.n_actions * tree.n_nodes > _MOST_TRIED:
        return found
    return [
        chosen and (*chosen, *_deterrents(game, own, LONGEST - len(text_of(chosen))))
        for chosen, own in zip(found, clusters, strict=True)
    ]


def text_of(clauses: Sequence[Clause] | None) -> str:
    """Clauses in one line; empty without any."""
    return "; ".join(clause.text for clause in clauses or ())


def _bounds(game: Game, members: Sequence[BehaviorProfile]) -> tuple[NDArray, ...]:
    """Least and largest frequency (A,) of each action where members get to, NaN where none does.

    Also the least probability (A,) with which members get there.
    """
    tree = game.tree
    reach = [infoset_reach(tree, own.probabilities)[tree.action_infoset] for own in members]
    played = [
        np.where(there > REACHED, own.probabilities, np.nan)
        for own, there in zip(members, reach, strict=True)
    ]
    return np.fmin.reduce(played), np.fmax.reduce(played), np.minimum.reduce(reach)


def _subjects(game: Game) -> list[_Subject]:
    """What clauses can be about, those with the fewest words first.

    A clause on several sets needs the action at all of them, be it the only one there: a player
    does not always fold who can only call with the best card.
    """
    tree, start = game.tree, game.tree.action_start.tolist()
    single, by_history, everywhere = (dict[tuple[int, str, str], list[int]]() for _ in range(3))
    sets_of, partial = dict[tuple[int, str], list[int]](), set[tuple[int, str]]()
    for i, (player, label) in enumerate(zip(tree.infoset_player, tree.infoset_labels, strict=True)):
        own, names, where = situation(label, game), tree.infoset_actions[i], _where(i, game)
        sets_of.setdefault((player, own.history), []).append(i)
        for action, name in enumerate(names, start=start[i]):
            everywhere.setdefault((player, name, ""), []).append(action)
            if len(names) > 1:
                single.setdefault((player, name, where), []).append(action)
    for (player, history), sets in sets_of.items():
        rows = [tree.infoset_actions[i] for i in sets] if history else []
        for name in dict.fromkeys(name for row in rows for name in row):
            if all(name in row for row in rows):
                places = [start[i] + row.index(name) for i, row in zip(sets, rows, strict=True)]
                by_history[player, name, f" {history}"] = places
            else:
                partial.add((player, name))
    found = dict[tuple[int, ...], _Subject]()
    for (player, name, where), actions in (
        *everywhere.items(),
        *by_history.items(),
        *single.items(),
    ):
        if where or (player, name) not in partial:
            verb, who = printable(deed(name, game)), printable(tree.players[player])
            found.setdefault(tuple(actions), _Subject(tuple(actions), who, verb, where))
    for i, names in enumerate(tree.infoset_actions):
        own_actions = tuple(range(start[i], start[i + 1]))
        who, where = printable(tree.players[tree.infoset_player[i]]), _where(i, game)
        verbs = tuple(printable(deed(name, game)) for name in names)
        if len(own_actions) > 2:
            found[own_actions] = _Subject(own_actions, who, "", where, verbs)
    return list(found.values())


def _where(i: int, game: Game) -> str:
    """Words for an information set, behind those for what is done there."""
    tree, label = game.tree, game.tree.infoset_labels[i]
    if (own := situation(label, game)).private:
        return f" with {own.private} {own.history}"
    if any(map(str.isalnum, label)):
        return f" at {shortened(printable(label), _LONGEST_LABEL)}"
    place = int(np.count_nonzero(tree.infoset_player[:i] == tree.infoset_player[i]))
    if np.count_nonzero(tree.infoset_player == tree.infoset_player[i]) == 1:
        return ""
    if game.product is None and i == tree.infoset[0]:
        return f" {AT_START}"
    number = f"{_ORDINALS[place]} set" if place < len(_ORDINALS) else f"set {place + 1}"
    return f" at {printable(tree.players[tree.infoset_player[i]])}'s {number}"


class _Table:
    """Frequencies that clusters play, float64 (n, A): the least and the largest; least reach."""

    def __init__(self, low: FloatArray, high: FloatArray, reach: FloatArray) -> None:
        self.low, self.high, self.reach, self.reached = low, high, reach, reach > REACHED

    def reach_of(self, at: int, actions: Sequence[int]) -> float:
        """Probability with which a cluster gets to one of some sets, at most 1."""
        return min(1.0, float(self.reach[at, actions].sum()))

    def is_telling(self, actions: Sequence[int]) -> bool:
        """Whether clusters differ in these actions, or there is only one cluster."""
        low, high = self.low[:, actions], self.high[:, actions]
        return len(low) == 1 or bool(np.any(np.fmax.reduce(high) - np.fmin.reduce(low) > 0))

    def clauses(self, at: int, subjects: Sequence[_Subject], digits: int) -> Iterator[Clause]:
        """Yield the clauses that hold in a cluster; frequencies have so many digits."""
        for own in subjects:
            if own.verbs:
                yield from self._two(at, own, digits)
                continue
            for text, *facts, rank in self._statements(at, own, digits):
                reach = self.reach_of(at, own.actions)
                low, high, out = facts
                who = own.player
                yield Clause(f"{who} {text}", who, own.actions, low, high, out, rank, reach)

    def _statements(self, at: int, own: _Subject, digits: int) -> Iterator[tuple[Any, ...]]:
        low, high = self.low[:, own.actions], self.high[:, own.actions]
        least, most = np.fmin.reduce(low[at]), np.fmax.reduce(high[at])
        text = f"{own.verb}{own.where}"
        if not self.reached[at, own.actions].any():  # play of some member does not get there
            return
        if least >= 1 - NEGLIGIBLE:
            out = np.fmin.reduce(high, axis=1) < 1 - CLEAR
            yield f"always {text}", 1 - NEGLIGIBLE, 1.0, out, 0
        elif most <= NEGLIGIBLE:
            out = np.fmax.reduce(low, axis=1) > CLEAR
            yield f"never {text}", 0.0, NEGLIGIBLE, out, 2
        elif len(own.actions) == 1 and least > CLEAR and most < 1 - CLEAR:
            out = ((high <= NEGLIGIBLE) | (low >= 1 - NEGLIGIBLE))[:, 0]
            yield f"at times {text}", CLEAR, 1 - CLEAR, out, 3
            value, half = round((least + most) / 2, digits), 0.5 * 10.0**-digits
            if value - half <= least and most <= value + half:
                out = ((low > value + 2 * half) | (high < value - 2 * half))[:, 0]
                yield f"{text} {value:g} of the time", value - half, value + half, out, 4

    def _two(self, at: int, own: _Subject, digits: int) -> Iterator[Clause]:
        """Yield what is played at an information set if that is two actions of more."""
        low, high = self.low[:, own.actions], self.high[:, own.actions]
        played = np.flatnonzero(high[at] > NEGLIGIBLE)
        if len(played) != 2 or not self.reached[at, own.actions].all():
            return
        low, high, half = low[:, played], high[:, played], 0.5 * 10.0**-digits
        share = round(float(low[at, 0] + high[at, 0]) / 2, digits)
        values = np.array([share, 1 - share])
        ends = values - half, values + half
        if low[at].min() > CLEAR and np.all((ends[0] <= low[at]) & (high[at] <= ends[1])):
            out = np.any((low > values + 2 * half) | (high < values - 2 * half), axis=1)
            one, other = (own.verbs[k] for k in played)
            often = "each half" if share == 0.5 else f"the first {share:g}"
            other = other.removeprefix("plays ") if one.startswith("plays ") else other
            text = f"{own.player} {one} or {other}{own.where}, {often} of the time"
            actions = tuple(own.actions[k] for k in played)
            least, most = (tuple(end.tolist()) for end in ends)
            reach = self.reach_of(at, own.actions[:1])
            yield Clause(text, own.player, actions, least, most, out, _TWO, reach)


def _apart(
    game: Game,
    table: _Table,
    at: int,
    subjects: Sequence[_Subject],
    clusters: Sequence[Sequence[BehaviorProfile]],
) -> tuple[Clause, ...] | None:
    """Clauses that hold in a cluster and of which each other cluster breaks one."""
    left, chosen = np.arange(len(clusters)) != at, list[Clause]()
    for last, digits in ((_CERTAIN, DIGITS[0]), *((math.inf, number) for number in DIGITS)):
        known = [own for own in table.clauses(at, subjects, digits) if own.rank <= last]
        while left.any() and known:
            counts = np.array([np.count_nonzero(clause.rules_out & left) for clause in known])
            if not counts.max():
                break
            best = (known[k] for k in np.flatnonzero(counts == counts.max()))
            chosen.append(
                min(best, key=lambda own: (own.rank, -round(own.reach, 2), len(own.text)))
            )
            left &= ~chosen[-1].rules_out
    if left.any():
        for clause in _payoff_clauses(game, at, clusters):
            if not left.any():
                break
            if (clause.rules_out & left).any():
                chosen.append(clause)
                left &= ~clause.rules_out
    return None if left.any() else _in_order(chosen)


def _deterrents(game: Game, members: Sequence[BehaviorProfile], room: int) -> Iterator[Clause]:
    """Yield what is played off the path where another player gains most if it is not."""
    tree, verifier, first = game.tree, Verifier(game.tree), members[0].probabilities
    played = np.array([profile.probabilities for profile in members])
    reached = np.max([infoset_reach(tree, own) for own in played], axis=0)
    before, gains = np.asarray(verifier.verify(members[0]).regrets, float), dict[Clause, float]()
    for i in np.flatnonzero((reached <= REACHED) & (np.diff(tree.action_start) > 1)).tolist():
        own, who = slice(*tree.action_start[i : i + 2].tolist()), int(tree.infoset_player[i])
        kept = own.start + int(played[:, own].min(axis=0).argmax())
        least, name = float(played[:, kept].min()), tree.players[who]
        share, is_sure = math.floor(100 * least + NEGLIGIBLE) / 100, least >= 1 - NEGLIGIBLE
        where = _where(i, game)
        verb = printable(deed(tree.infoset_actions[i][kept - own.start], game))
        often = f"always {verb}" if is_sure else f"{verb} at least {share:g} of the time"
        text = f"if ever{where}, {printable(name)} {often}"
        if share <= CLEAR or not where or len(text) + 2 > room:
            continue
        facts = (kept,), min(least, 1 - NEGLIGIBLE if is_sure else share), 1.0
        clause = Clause(text, name, *facts, np.zeros(0, dtype=bool), _OFF_PATH)
        for action in {*range(own.start, own.stop)} - {kept}:
            other = first.copy()
            other[own], other[action] = 0.0, 1.0
            regrets = np.asarray(verifier.verify(BehaviorProfile.of(tree, other)).regrets, float)
            gain = float(np.delete(regrets - before, who).max(initial=0.0))
            gains[clause] = max(gain, gains.get(clause, 0.0))
    if gains and max(gains.values()) > CLEAR * tree.payoff_range:
        yield max(gains, key=gains.__getitem__)


def _payoff_clauses(
    game: Game, at: int, clusters: Sequence[Sequence[BehaviorProfile]]
) -> Iterator[Clause]:
    """Yield what players have in a cluster, where that is one payoff."""
    model = game.payoff_model()
    payoffs = [[model.expected_payoffs(own.probabilities) for own in each] for each in clusters]
    low, high = (np.array([bound(own, axis=0) for own in payoffs]) for bound in (np.min, np.max))
    for digits in DIGITS:
        half = 0.5 * 10.0**-digits
        for player, name in enumerate(game.tree.players):
            value = round((low[at, player] + high[at, player]) / 2, digits) + 0.0
            least, most = value - half, value + half
            if least <= low[at, player] and high[at, player] <= most:
                out = (low[:, player] > most + half) | (high[:, player] < least - half)
                text = f"{printable(name)} gets {value:g}"
                yield Clause(text, name, (), least, most, out, 5)


def _alone(known: Sequence[Clause]) -> tuple[Clause, ...] | None:
    """What is played at most information sets, one clause for each player while there is room."""
    chosen = list[Clause]()
    for player in dict.fromkeys(clause.player for clause in known):
        about = (clause for clause in known if clause.player == player)
        own = min(about, key=_first_of_all)
        if not chosen or len(text_of([*chosen, own])) <= LONGEST:
            chosen.append(own)
    return _in_order(chosen) or None


def _in_order(chosen: Sequence[Clause]) -> tuple[Clause, ...]:
    """Clauses with what play gets to most first."""
    return tuple(sorted(chosen, key=lambda clause: -round(clause.reach, 6)))


def _first_of_all(clause: Clause) -> tuple[int, int, int]:
    """Sort key of what is told first: about most information sets, then more, then in short."""
    sets = 1 if clause.rank == _TWO else len(clause.actions)
    return -sets, _TELLING.index(clause.rank), len(clause.text)
