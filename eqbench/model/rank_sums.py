"""Values and derivatives of three-player Kuhn poker without raises, by sums over ranks.

With N cards, values take O(N) operations and derivatives O(N^2), where the generic kernels visit
all O(N^3) deals. Sums over ranks instead of pairs of hands are due to Johanson, Waugh, Bowling
and Zinkevich 2011, "Accelerating best response calculation in large extensive games", for two
players; here they are for three, and for derivatives too.

The public play has twelve situations and thirteen endings. A situation is a history in which a
player decides; they stand player by player, four each. Move ``2 * situation`` is the passive action
there (check or fold) and the next number the active one (bet or call). Every player moves once or
twice before the play ends.

Symbols in kernels: N cards by rank, 24 moves, 13 endings, 3 players, F rows and columns of a
layout. Given the own card c and functions f, g of the cards of the two others, everything comes
from four sums over pairs of different other cards: both below c, one below and one above (in two
ways), both above. Running over the ranks, all of them are sums of products; nothing is subtracted,
so small values keep their digits. Only derivatives exclude a card by a difference.

`weight` is payoff times probability of a deal by ending, player and rank, float64 (13, 3, 4).
The rank is 1 if the first of the two others (in playing order) is above, plus 2 if the second
is.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.choices import Choices
from eqbench.model.compiled import kernel
from eqbench.model.payoff_model import Linearization, PayoffModel
from eqbench.model.tree import CHANCE, FloatArray, GameTree, frozen

PLAYERS = 3
SITUATIONS = ("", "KKB", "KBF", "KBC", "K", "B", "KKBF", "KKBC", "KK", "KB", "BF", "BC")
MOVES = 2 * len(SITUATIONS)


def _paths() -> NDArray[np.int64]:
    paths = np.full((len(ENDINGS), PLAYERS, 2), -1)
    for path, history in zip(paths, ENDINGS, strict=True):
        for length, letter in enumerate(history):
            situation = SITUATIONS.index(history[:length])
            own = path[situation // 4]
            own[0 if own[0] < 0 else 1] = 2 * situation + (letter in "BC")
    return frozen(paths)


def _earlier() -> NDArray[np.int64]:
    earlier = np.full(len(SITUATIONS), -1)
    for first, second in PATHS.reshape(-1, 2):
        if second >= 0:
            earlier[second // 2] = first
    return frozen(earlier)


_AFTER = [h + letter for h in SITUATIONS for letter in ("FC" if "B" in h else "KB")]
ENDINGS = tuple(history for history in _AFTER if history not in SITUATIONS)
# What each move leads to: a situation, or 12 + an ending.
LEADS_TO = frozen(np.array([(*SITUATIONS, *ENDINGS).index(history) for history in _AFTER]))
# Own moves on the way to each ending, int64 (13, 3, 2); -1 where there is no second one.
PATHS = _paths()
# The own move before each situation, -1 at first decisions.
EARLIER = _earlier()
N_ENDINGS, N_SITUATIONS = len(PATHS), len(EARLIER)  # for kernels


# -- which trees are such a game: checked node by node, payoffs are read from the tree -------------


class RankGame(NamedTuple):
    """A tree in terms of moves and cards; arrays are read-only.

    Attributes
    ----------
    n_cards : int
    place : int64 (A,)
        ``move * n_cards + card`` of every action, cards from 0.
    base, slope : float64 (13, 3, 4), slope None without a payoff parameter
        Payoff by ending, player and rank times the probability of a
        deal; 0 where the tree has no such terminal.
    """

    n_cards: int
    place: NDArray[np.int64]
    base: FloatArray
    slope: FloatArray | None


def recognize(tree: GameTree) -> RankGame | None:
    """The tree in terms of moves and cards, None if it is another game.

    Also None if its actions are not ordered by situation, card and move.
    """
    if tree.n_players != PLAYERS or tree.n_infosets == 0:
        return None
    sets = _infosets(tree)
    if sets is None:
        return None
    situation, card = sets
    n = int(card.max()) + 1
    infoset = tree.action_infoset
    active = [a in ("bet", "call") for actions in tree.infoset_actions for a in actions]
    move = 2 * situation[infoset] + active
    if np.any(np.diff(2 * (situation * n + card)[infoset] + active) <= 0):
        return None
    cards, over = _cards(tree, card, n), len(SITUATIONS)
    here = np.append(situation, over)[tree.infoset]  # the last one where no player decides
    expected = np.minimum(LEADS_TO, over)[move[tree.incoming]]
    expected[tree.levels[1]] = 0
    if cards is None or not np.array_equal(here[1:], expected[1:]):
        return None
    ending = LEADS_TO[move[tree.incoming[tree.terminals]]] - over
    others = (cards[:, [1, 2]], cards[:, [0, 2]], cards[:, [0, 1]])
    rank = [(other > own[:, None]) @ [1, 2] for other, own in zip(others, cards.T, strict=True)]
    scale = 1 / (tree.payoffs.denominator * (n * (n - 1) * (n - 2)))
    tables: list[FloatArray] = []
    for table in (each for each in (tree.payoffs.base, tree.payoffs.slope) if each is not None):
        payoffs = np.zeros((len(ENDINGS), PLAYERS, 4))
        for player, ranks in enumerate(rank):
            payoffs[ending, player, ranks] = table[:, player]
            if not np.array_equal(payoffs[ending, player, ranks], table[:, player]):
                return None  # something else matters
        tables.append(frozen(payoffs * scale))
    slope = tables[1] if len(tables) > 1 else None
    return RankGame(n, frozen(move * n + card[infoset]), tables[0], slope)


def _infosets(tree: GameTree) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Situation and card (from 0) of every information set, read from its label."""
    # every card has an information set, so there are no more cards than these
    cards = {str(number + 1): number for number in range(tree.n_infosets)}
    situation, card = [], []
    for label in tree.infoset_labels:
        name, _, history = label.partition(":")
        if name not in cards or history not in SITUATIONS:
            return None
        situation.append(SITUATIONS.index(history))
        card.append(cards[name])
    return np.array(situation), np.array(card)


def _cards(tree: GameTree, card: NDArray, n: int) -> NDArray[np.int64] | None:
    """Cards of the players at the terminals, int64 (Z, 3).

    None unless chance deals in one move, each deal once and all equally likely, and each player has
    one card in each of them. Situations then belong to the players to whom they should:
    information sets stand in order of the players, and one who decides in situations of two players
    would hold two cards.
    """
    first = tree.levels[1]
    count = first.stop - first.start
    even = tree.chance[first] * count == tree.chance_denominator
    chance_nodes = np.flatnonzero(tree.player == CHANCE)
    if count != n * (n - 1) * (n - 2) or chance_nodes.tolist() != [0] or not even.all():
        return None
    deal = np.full(tree.n_nodes, -1, dtype=np.int32)
    deal[first] = np.arange(count)
    for level in tree.levels[2:]:
        deal[level] = deal[tree.parent[level]]
    cards = np.full((count, PLAYERS), -1)
    for player in range(PLAYERS):
        nodes = np.flatnonzero(tree.player == player)
        held, deals = card[tree.infoset[nodes]], deal[nodes]
        cards[deals, player] = held
        if not np.array_equal(cards[deals, player], held):
            return None
    repeated = np.any(cards == np.roll(cards, 1, axis=1))
    if repeated or len(np.unique(cards @ [n * n, n, 1])) < count:
        return None
    return cards[deal[tree.terminals]]


# -- kernels ---------------------------------------------------------------------------------------


@kernel
def counterfactual_values(place, weight, behavior, n):
    """Counterfactual value of every action, float64 (A,)."""
    flat = values_by_move(place, weight, behavior, n).reshape(-1)
    result = np.empty(len(place))
    for a in range(len(place)):
        result[a] = flat[place[a]]
    return result


@kernel
def values_by_move(place, weight, behavior, n):
    """Counterfactual value of every move by card, float64 (24, N)."""
    frequency = _spread(place, behavior, n)
    values = _direct_values(weight, _reach_sums(frequency))
    _continue_own_play(frequency, values)
    return values


@kernel
def best_responses(place, weight, behavior, n):
    """Expected payoffs and best-response values, float64 (3,) each."""
    frequency = _spread(place, behavior, n)
    there = _spread(place, np.ones(len(place)), n)
    values = _direct_values(weight, _reach_sums(frequency))
    payoffs, best = np.zeros(3), np.zeros(3)
    for situation in range(N_SITUATIONS):
        for move in range(2 * situation, 2 * situation + 2):
            before = EARLIER[situation]
            for c in range(n):
                reach = frequency[move, c]
                if before >= 0:
                    reach *= frequency[before, c]
                payoffs[situation // 4] += reach * values[move, c]
    for back in range(N_SITUATIONS):  # later situations of a player have larger numbers
        situation = N_SITUATIONS - 1 - back
        passive, before = 2 * situation, EARLIER[situation]
        for c in range(n):
            largest = -np.inf
            for move in range(passive, passive + 2):
                if there[move, c] > 0:
                    largest = max(largest, values[move, c])
            if largest > -np.inf:
                if before >= 0:
                    values[before, c] += largest
                else:
                    best[situation // 4] += largest
    return payoffs, best


@kernel
def linearize(place, weight, layout, behavior):
    """Counterfactual values by move and card, (24, N), and derivatives (F, F) in a layout."""
    frequency = _spread(place, behavior, layout.row.shape[1])
    sums = _reach_sums(frequency)
    values = _direct_values(weight, sums)
    _continue_own_play(frequency, values)
    matrix = np.zeros((len(layout.card), len(layout.card)))
    _cross_derivatives((weight, frequency, sums), layout, matrix)
    _own_derivatives(layout, values, matrix)
    return values, matrix


@kernel
def _spread(place, entries, n):
    """Entries of the actions by move and card, float64 (24, N); 0 where there is no action."""
    table = np.zeros((MOVES, n))
    flat = table.reshape(-1)
    for a in range(len(place)):
        flat[place[a]] = entries[a]
    return table


@kernel
def _reach_sums(frequency):
    """Own reach of the endings by card, and the sums of it over lower and over higher cards.

    Three arrays float64 (13, 3, N).
    """
    n = frequency.shape[1]
    reach = np.empty((N_ENDINGS, 3, n))
    below, above = np.empty_like(reach), np.empty_like(reach)
    for e in range(N_ENDINGS):
        for p in range(3):
            first, second = PATHS[e, p]
            total = 0.0
            for c in range(n):
                product = frequency[first, c]
                if second >= 0:
                    product *= frequency[second, c]
                reach[e, p, c] = product
                below[e, p, c] = total
                total += product
            total = 0.0
            for back in range(n):
                c = n - 1 - back
                above[e, p, c] = total
                total += reach[e, p, c]
    return reach, below, above


@kernel
def _direct_values(weight, sums):
    """Values of moves, (24, N), over the endings for which they are the last own move."""
    reach, below, above = sums
    n = reach.shape[2]
    values = np.zeros((MOVES, n))
    for e in range(N_ENDINGS):
        for p in range(3):
            first, second = PATHS[e, p]
            value = values[second if second >= 0 else first]
            s = 1 if p == 0 else 0
            t = 3 - p - s
            both_below, s_above, t_above, both_above = weight[e, p]
            f, f_below, f_above = reach[e, s], below[e, s], above[e, s]
            g, g_below, g_above = reach[e, t], below[e, t], above[e, t]
            pairs = 0.0
            for c in range(n):
                value[c] += both_below * pairs + t_above * (f_below[c] * g_above[c])
                pairs += f[c] * g_below[c] + g[c] * f_below[c]
            pairs = 0.0
            for back in range(n):
                c = n - 1 - back
                value[c] += both_above * pairs + s_above * (f_above[c] * g_below[c])
                pairs += f[c] * g_above[c] + g[c] * f_above[c]
    return values


@kernel
def _continue_own_play(frequency, values):
    """Turn direct values into counterfactual values, in place, with own later play."""
    for situation in range(N_SITUATIONS):
        before = EARLIER[situation]
        if before >= 0:
            for move in range(2 * situation, 2 * situation + 2):
                for c in range(values.shape[1]):
                    values[before, c] += frequency[move, c] * values[move, c]


@kernel
def _cross_derivatives(state, layout, matrix):
    """Add derivatives of values of one player by frequencies of another."""
    _, frequency, (reach, _, _) = state
    columns = (np.empty(len(layout.card)), np.empty(len(layout.card)))
    factor, excluded = columns
    for e in range(N_ENDINGS):
        for other in range(3):
            for j in range(2):
                by, third = PATHS[e, other, j], PATHS[e, other, 1 - j]
                if by < 0:
                    continue
                for k in range(layout.start[by], layout.stop[by]):
                    rest = frequency[third, layout.card[k]] if third >= 0 else 1.0
                    factor[k] = layout.sign[by] * rest
                for player in range(3):
                    if player == other:
                        continue
                    third = 3 - player - other
                    for k in range(layout.start[by], layout.stop[by]):
                        excluded[k] = reach[e, third, layout.card[k]]
                    for i in range(2):
                        of, later = PATHS[e, player, i], PATHS[e, player, 1]
                        if of >= 0:
                            where = (e, player, other, of, later, by)
                            _add_block(state, layout, where, columns, matrix)


@kernel
def _add_block(state, layout, where, columns, matrix):
    """Add the derivatives of the values of one move by the frequencies of another one.

    The third player's cards count without the own one and without that of the column.
    """
    weight, frequency, (_, below, above) = state
    e, player, other, of, later, by = where
    factor, excluded = columns
    third = 3 - player - other
    w = weight[e, player]
    w_other = w[1 if other < third else 2]  # only the other one is above
    w_third = w[2 if other < third else 1]
    for c in range(below.shape[2]):
        row = layout.row[of, c]
        if row >= len(layout.card):
            continue
        own = layout.sign[of]
        if later > of:
            own *= frequency[later, c]
        lower, higher = below[e, third, c], above[e, third, c]
        total, rate = own * (w[0] * lower + w_third * higher), own * w[0]
        for k in range(layout.start[by], layout.low[by, c]):
            matrix[row, k] += factor[k] * (total - rate * excluded[k])
        total, rate = own * (w_other * lower + w[3] * higher), own * w[3]
        for k in range(layout.high[by, c], layout.stop[by]):
            matrix[row, k] += factor[k] * (total - rate * excluded[k])


@kernel
def _own_derivatives(layout, values, matrix):
    """Add derivatives of the value of an own move by the own moves after it."""
    for situation in range(N_SITUATIONS):
        of = EARLIER[situation]
        if of < 0:
            continue
        for by in range(2 * situation, 2 * situation + 2):
            sign = layout.sign[of] * layout.sign[by]
            for k in range(layout.start[by], layout.stop[by]):
                row = layout.row[of, layout.card[k]]
                if row < len(layout.card):
                    matrix[row, k] += sign * values[by, layout.card[k]]


# -- the payoff model ------------------------------------------------------------------------------


class MatrixLayout(NamedTuple):
    """Where derivatives stand in a matrix, by move and card.

    Indices are unsigned, since Numba lets signed ones wrap around, and that check slows the
    innermost loops.

    Attributes
    ----------
    row : uint64 (24, N)
        Row of every move and card, F for none.
    sign : float64 (24,)
        Factor of a move in its rows and columns.
    card : uint64 (F,)
        Card of every column. The columns of a move stand side by side, lowest card first.
    start, stop : uint64 (24,)
        Where the columns of each move begin and end.
    low, high : uint64 (24, N)
        Where the columns of a move with lower cards end, and those with higher ones begin.
    """

    row: NDArray[np.uint64]
    sign: FloatArray
    card: NDArray[np.uint64]
    start: NDArray[np.uint64]
    stop: NDArray[np.uint64]
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]

    @classmethod
    def of_moves(cls, n: int) -> MatrixLayout:
        """A row and a column for every move and card: ``move * n + card``."""
        row = np.arange(MOVES * n).reshape(MOVES, n)
        return cls._of(row, np.ones(MOVES), row.ravel() % n, row[:, 0])

    @classmethod
    def of_choices(cls, game: RankGame, choices: Choices) -> MatrixLayout:
        """A row and a column for each free action, which gains what the passive one loses."""
        n = game.n_cards
        active, passive = game.place[choices.action], game.place[choices.first]
        row = np.full(MOVES * n, choices.size)
        row[active] = row[passive] = np.arange(choices.size)
        start = np.searchsorted(active // n, np.arange(MOVES) | 1)  # active moves are odd
        return cls._of(row.reshape(MOVES, n), np.tile([-1.0, 1.0], MOVES // 2), active % n, start)

    @classmethod
    def _of(cls, row: NDArray, sign: FloatArray, card: NDArray, start: NDArray) -> MatrixLayout:
        there = row < len(card)
        high = start[:, None] + np.cumsum(there, axis=1)
        columns = (card, start, high[:, -1], high - there, high)
        return cls(row.astype(np.uint64), sign, *(array.astype(np.uint64) for array in columns))


class RankSums(PayoffModel):
    """Values and derivatives from sums over ranks; a payoff model for any number of cards."""

    def __init__(self, game: RankGame, choices: Choices) -> None:
        self._game, self._weight, self.n_actions = game, game.base, len(game.place)
        self._layout = MatrixLayout.of_choices(game, choices)
        self._action, self._first = game.place[choices.action], game.place[choices.first]

    @classmethod
    def of(cls, tree: GameTree) -> RankSums | None:
        """The model of a tree, None if it is not three-player Kuhn poker without raises."""
        game = recognize(tree)
        if game is None:
            return None
        model = cls(game, Choices.of(tree))
        return model if tree.payoffs.value is None else model.at(float(tree.payoffs.value))

    def at(self, value: float) -> RankSums:
        if self._game.slope is None:
            raise ValueError("this game has no payoff parameter")
        model = copy(self)
        model._weight = self._game.base + value * self._game.slope
        model._weight.setflags(write=False)  # to Numba a writable array is another type
        return model

    def counterfactual_values(self, behavior: NDArray) -> FloatArray:
        game = self._game
        return counterfactual_values(
            game.place, self._weight, self._checked(behavior), game.n_cards
        )

    def jacobian(self, behavior: NDArray) -> FloatArray:
        place, layout = self._game.place, MatrixLayout.of_moves(self._game.n_cards)
        _, matrix = linearize(place, self._weight, layout, self._checked(behavior))
        return matrix[np.ix_(place, place)]

    def linearize(self, behavior: NDArray) -> Linearization:
        game, behavior = self._game, self._checked(behavior)
        values, jacobian = linearize(game.place, self._weight, self._layout, behavior)
        flat = values.ravel()
        gains, slope = flat[self._action] - flat[self._first], None
        if game.slope is not None:
            flat = values_by_move(game.place, game.slope, behavior, game.n_cards).ravel()
            slope = flat[self._action] - flat[self._first]
        return Linearization(gains, jacobian, slope)

    def _best_responses(self, behavior: NDArray) -> tuple[FloatArray, FloatArray]:
        game = self._game
        return best_responses(game.place, self._weight, self._checked(behavior), game.n_cards)
