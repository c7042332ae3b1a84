"""From an equilibrium to rounding to one of rationals whose regret is exactly 0.

Equilibria of games with rational payoffs often form continua with rational points. What varies
freely is set to simple fractions, one frequency after the other, each time going to an
equilibrium nearby with what is set held. What is then determined is computed to hundreds of bits
and read off them by continued fractions. The result is checked in integers. Isolated equilibria
of three and more players are algebraic numbers, in general irrational ones.

Symbols: N players, I information sets, A actions, S sequences, Z columns, E equations, K unknown
weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, permutations
from math import ceil, lcm

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.realization import realization
from eqbench.model.sequence_form import last_sequences
from eqbench.model.tree import FloatArray

from ..polish.plans import (
    SOLVED,
    Equations,
    Held,
    PlanGame,
    PolishedPlans,
    by_newton,
    held_rows,
    improve,
)
from .presolve import in_integers

MOST_DENOMINATOR = 10**60
REASON = "no rational equilibrium with denominators up to 10**60 found near this one"
# Half widths of the intervals in which simple fractions are looked for.
READ = tuple(4.0**-k for k in range(2, 8))
# Frequencies are not computed but equal where no player leads, so their denominators are numbers of
# actions.
MOST_ACTIONS = 10**6
# Half widths of the intervals in which a frequency that may vary is set.
MOVE = (2.0**-4, 2.0**-6, 2.0**-8, 2.0**-11, 2.0**-14)
# Where a random frequency cannot be had, what is tried next: shares of the way to it.
DRAWN = (1.0, 0.5, 0.25, 0.125)
# Orders of the players in which frequencies are set: after a bad one square roots are left.
ORDERS = 6
# Singular values below this share of the largest, and changes below it, count as none.
FREE = 1e-8


def exact_equilibrium(
    game: Game,
    plans: NDArray,
    stop: Callable[[], bool] = lambda: False,
    rng: np.random.Generator | None = None,
) -> tuple[Fraction, ...] | None:
    """Frequencies (A,) of an equilibrium, as rationals; None if none is found: see `REASON`.

    Parameters
    ----------
    plans : float64 (S,)
        Realization plans near an equilibrium.
    stop : polled between steps of the search; abandons it if true
    rng : chooses the equilibrium where there is a choice; unless given, the simplest is taken

    Raises UsageError if payoffs or chance of the game are not rational, or the plans do not fit it.
    """
    if not game.tree.exact:
        raise UsageError(
            f"{game.spec} has payoffs or probabilities that are floating-point numbers; exact "
            "equilibria need rational ones"
        )
    plan_game, exact = PlanGame(game), ExactGame(game)
    start = improve(plan_game, plan_game.feasible(plans))
    if start.regret > SOLVED * plan_game.scale:
        return None
    found = None
    if rng is not None:
        order = tuple(rng.permutation(game.tree.n_players).tolist())
        settled, held = settle(plan_game, start, order, stop, rng)
        if held:
            found = read_digits(plan_game, exact, settled, held)
    found = found or read_off(plan_game, exact, start)
    for order in islice(permutations(range(game.tree.n_players)), ORDERS):
        if found is not None or stop():
            break
        settled, held = settle(plan_game, start, order, stop)
        found = read_digits(plan_game, exact, settled, held)
        if not held:
            break  # nothing can be chosen, so no order matters
    return found


# -- what can be chosen ----------------------------------------------------------------------------


def settle(
    game: PlanGame,
    start: PolishedPlans,
    order: tuple[int, ...],
    stop: Callable[[], bool],
    rng: np.random.Generator | None = None,
) -> tuple[PolishedPlans, Held]:
    """An equilibrium near `start` with simple fractions for what can be chosen, and these.

    They are set player by player in some `order` and, unless `rng` chooses them, near those of
    `start`. If `stop` ends it, the rest is not simple.
    """
    held: Held = ()
    present = start
    done: set[int] = set()
    while True:
        free = [s for s in _free_sequences(game, present, held) if s not in done]
        if not free or stop():
            return present, held
        s = min(free, key=lambda s: order.index(game.form.sequence_player[s]))
        done.add(s)
        for candidate in _candidates(game, present, s, rng):
            moved = _moved(game, present, (*held, (s, candidate)))
            if moved is not None:
                present, held = moved, (*held, (s, candidate))
                break


def _free_sequences(game: PlanGame, present: PolishedPlans, held: Held) -> list[int]:
    """Played sequences whose frequency may vary while the support's equations hold."""
    plans, equations = present.weights, _equations(game, present, held)
    own = equations.unknown
    if not len(own):
        return []
    values, rows = np.linalg.svd(equations.scaled(plans)[0])[1:]
    rank = int((values > FREE * values.max(initial=0.0)).sum())
    moves = np.zeros((len(rows) - rank, game.form.n_sequences))
    moves[:, own] = rows[rank:]
    above = game.form.parent[game.infoset[own - game.form.n_players]]
    share = plans[own] / plans[above]
    change = np.abs(moves[:, own] - share * moves[:, above]).max(axis=0, initial=0.0)
    return [int(s) for s in own[change > FREE]]


def _equations(game: PlanGame, present: PolishedPlans, held: Held) -> Equations:
    played = present.weights > 0
    return Equations(game, present.weights, played, played, held)


def _candidates(
    game: PlanGame, present: PolishedPlans, sequence: int, rng: np.random.Generator | None
) -> Iterator[Fraction]:
    """Simple fractions closer and closer to the present frequency of a sequence.

    The first are on the way there from a random one, if there is a generator.
    """
    frequency = float(present.behavior[sequence - game.form.n_players])
    places = [(frequency, width) for width in MOVE]
    if rng is not None:
        away = rng.uniform() - frequency
        places = [*((frequency + share * away, MOVE[0]) for share in DRAWN), *places]
    intervals = ((max(place - width, 0.0), min(place + width, 1.0)) for place, width in places)
    fractions = (simplest_between(Fraction(low), Fraction(high)) for low, high in intervals)
    return iter(dict.fromkeys(fractions))


def _moved(game: PlanGame, present: PolishedPlans, held: Held) -> PolishedPlans | None:
    """An equilibrium near `present` that satisfies what is held, None if none is found."""
    for made in by_newton(game, present.weights, held):
        off = np.abs(held_rows(game, held) @ made.weights).max(initial=0.0)
        if made.regret <= SOLVED * game.scale and off <= SOLVED:
            return made
    return None


# -- from digits to fractions ----------------------------------------------------------------------


def read_off(game: PlanGame, exact: ExactGame, near: PolishedPlans) -> tuple[Fraction, ...] | None:
    """The simplest of the equilibria got by rounding all frequencies alike, if there is one."""
    frequencies = [Fraction(f) for f in near.behavior.tolist()]
    for width in READ:
        made = _simplified(game, frequencies, Fraction(width))
        if made is None:
            continue
        regret = game.measure.regrets(np.array([float(f) for f in made])).max()
        if regret <= SOLVED * game.scale and exact.is_equilibrium(made):
            return made
    return None


def read_digits(
    game: PlanGame, exact: ExactGame, near: PolishedPlans, held: Held
) -> tuple[Fraction, ...] | None:
    """The equilibrium whose frequencies are simple in many digits, if there is one."""
    weights = refined(exact, _equations(game, near, held), near.weights)
    if weights is None:
        return None
    weights[weights < NOTHING] = 0
    n = game.form.n_players
    frequencies = []
    for s in range(n, len(weights)):
        total = int(weights[game.above(s)])
        near_at_hand = Fraction(near.behavior[s - n]).limit_denominator(MOST_ACTIONS)
        frequencies.append(Fraction(int(weights[s]), total) if total else near_at_hand)
    made = _simplified(game, frequencies, DIGITS)
    return made if made is not None and exact.is_equilibrium(made) else None


def _simplified(
    game: PlanGame, frequencies: Sequence[Fraction], width: Fraction
) -> tuple[Fraction, ...] | None:
    """Simple frequencies within `width`; the largest of each row takes what the others leave.

    None if that is negative or a denominator is too large.
    """
    zero, one, n = Fraction(0), Fraction(1), game.form.n_players
    made = [
        f if f in (0, 1) else simplest_between(max(f - width, zero), min(f + width, one))
        for f in frequencies
    ]
    for i in range(game.form.n_infosets):
        row = range(game.form.block_start[i] - n, game.form.block_start[i + 1] - n)
        largest = max(row, key=lambda a: frequencies[a])
        made[largest] += 1 - sum(made[a] for a in row)
        if made[largest] < 0:
            return None
    if max((f.denominator for f in made), default=1) > MOST_DENOMINATOR:
        return None
    return tuple(made)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator in an interval, by continued fractions.

    ``0 <= low <= high``; the smallest of several whole numbers.
    """
    whole = ceil(low)
    if whole <= high:
        return Fraction(whole)
    below = whole - 1
    return below + 1 / simplest_between(1 / (high - below), 1 / (low - below))


# -- more digits than floats have ------------------------------------------------------------------

BITS = 512
# What refinement leaves open of a frequency, and a weight (over 2**BITS) that is 0.
DIGITS = Fraction(1, 2**420)
NOTHING = 2 ** (BITS - 450)
# Steps of so many bits are rounding of the last ones, magnified by the equations.
ROUNDING_BITS = 64
ROUNDS = 60
# Bits that are kept of what is left, and of a step.
KEPT_BITS = 60


def refined(exact: ExactGame, equations: Equations, plans: FloatArray) -> NDArray | None:
    """Weights (S,) as integers over ``2**BITS`` that solve the equations to nearly all bits.

    By iterative refinement of a solution in floats (S,): what is left of the equations is
    computed exactly, the steps with the derivatives of the floats. Each round adds about as many
    digits as the first solution has right. None if that does not converge, or to weights that
    are negative.
    """
    matrix, scale = equations.scaled(plans)
    inverse = np.linalg.pinv(matrix, rcond=FREE)
    weights = np.array([int(Fraction(float(w)) * 2**BITS) for w in plans], dtype=object)
    for _ in range(ROUNDS):
        left = exact.left(equations, weights)
        down = max((abs(v) for v in left), default=0).bit_length() - KEPT_BITS
        step = inverse @ (np.array([float(_shifted(v, -down)) for v in left]) / scale)
        if not np.isfinite(step).all():
            return None
        whole = [_shifted(int(s * 2.0**KEPT_BITS), down - KEPT_BITS) for s in step.tolist()]
        weights[equations.unknown] -= np.array(whole, dtype=object)
        if max((abs(w) for w in whole), default=0).bit_length() <= ROUNDING_BITS:
            return weights if min(weights) >= -(2**ROUNDING_BITS) else None
    return None


def _shifted(value: int, bits: int) -> int:
    return value << bits if bits >= 0 else value >> -bits


class ExactGame:
    """A game in sequence form whose payoffs and chance are exact.

    Attributes
    ----------
    payoffs : object (Z, N)
        Integers: chance-weighted payoffs times a common positive `factor`.
    """

    def __init__(self, game: Game) -> None:
        self.form, tree = game.sequence_form, game.tree
        payoffs, chance, self.factor = in_integers(tree)
        reach = np.where(tree.incoming >= 0, 1, chance)
        reach[0] = 1
        reach = tree.along_paths(reach)
        _, column = np.unique(last_sequences(tree), axis=0, return_inverse=True)
        weighted = payoffs * reach[tree.terminals, None]
        self.payoffs = np.zeros(self.form.columns.shape, dtype=object)
        np.add.at(self.payoffs, column.ravel(), weighted.astype(object))

    def block(self, infoset: int) -> slice:
        """The sequences of an information set."""
        return slice(self.form.block_start[infoset], self.form.block_start[infoset + 1])

    def is_equilibrium(self, frequencies: Sequence[Fraction]) -> bool:
        """Whether all frequencies (A,) are distributions and no player gains by deviating."""
        form, n = self.form, self.form.n_players
        behavior = np.array([*[1] * n, *frequencies], dtype=object)
        rows = [behavior[self.block(i)] for i in range(form.n_infosets)]
        if any(min(row) < 0 or sum(row) != 1 for row in rows):
            return False
        plans = realization(form, behavior[n:])
        common = lcm(*(x.denominator for x in plans))
        plans = np.array([int(x * common) for x in plans], dtype=object)
        direct = self.direct_values(plans)
        best = direct.copy()
        for i in reversed(range(form.n_infosets)):
            best[form.parent[i]] += max(best[self.block(i)])
        gains = plans[:n] * best[:n]
        np.subtract.at(gains, form.sequence_player, plans * direct)
        return not gains.any()

    def direct_values(self, plans: NDArray) -> NDArray:
        """Values of sequences over the terminals that end in them, object (S,).

        From whole plans (S,); in units of `factor`, and of the plans.
        """
        values = np.zeros(len(plans), dtype=object)
        reach = plans[self.form.columns]
        for p in range(self.form.n_players):
            others = np.delete(reach, p, axis=1).prod(axis=1)
            np.add.at(values, self.form.columns[:, p], others * self.payoffs[:, p])
        return values

    def left(self, equations: Equations, weights: NDArray) -> list[int]:
        """What is left of ties, flow and held frequencies, integers (E,) over ``2**BITS``."""
        form, values = self.form, self.direct_values(weights)
        for i in reversed(range(form.n_infosets)):
            values[form.parent[i]] += values[equations.chosen[i]]
        # products of all other players' weights, rounded to the bits of one
        extra = BITS * (form.n_players - 2)
        ties = values[equations.best] - values[equations.tied]
        left = [_shifted(int(v), -extra) // self.factor for v in ties]
        for i, above in enumerate(form.parent):
            left.append(int(weights[self.block(i)].sum() - weights[above]))
        for sequence, frequency in equations.held:
            above = weights[equations.game.above(sequence)]
            product = above * frequency.numerator // frequency.denominator
            left.append(int(weights[sequence] - product))
        return left
