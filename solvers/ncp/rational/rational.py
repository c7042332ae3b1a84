"""From an equilibrium to rounding to one of rationals whose regret is exactly 0.

Equilibria of games with rational payoffs often form continua with rational points. What varies
freely is set to simple fractions, one frequency after the other, each time going to an
equilibrium nearby with what is set held. What is then determined is computed to hundreds of bits
and read off them by continued fractions. The result is checked in integers. Isolated equilibria
of three and more players are algebraic numbers, in general irrational ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, permutations
from math import ceil

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.reference import realization

from ...polish.plan_game import PlanGame
from ...polish.plans import (
    Equations,
    Held,
    Polished,
    Support,
    corrected,
    improve,
    measured,
    rounded,
)
from .digits import BITS, refined
from .exact_slacks import ExactGame

# Regret, as a share of the payoff range, of a profile that counts as an equilibrium.
EQUILIBRIUM = 1e-13
MOST_DENOMINATOR = 10**60
REASON = "no rational equilibrium with denominators up to 10**60 found near this one"
# Half widths of the intervals in which simple fractions are looked for.
READ = tuple(4.0**-k for k in range(2, 8))
# Frequencies are not computed but equal where nobody leads, so their denominators are numbers of
# actions.
MOST_ACTIONS = 10**6
# What refinement leaves open of a frequency, and a weight (over 2**BITS) that is 0.
DIGITS = Fraction(1, 2**420)
NOTHING = 2 ** (BITS - 450)
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
    profile: NDArray,
    stop: Callable[[], bool] = lambda: False,
    rng: np.random.Generator | None = None,
) -> tuple[Fraction, ...] | None:
    """Frequencies (A,) of an equilibrium, as rationals; None if none is found: see `REASON`.

    Parameters
    ----------
    profile : float64 (S,) or (A,)
        Realization plans or behavior near an equilibrium.
    stop : asked between steps of the search; gives it up if true
    rng : chooses the equilibrium where there is a choice; unless given, the simplest is taken

    Raises
    ------
    UsageError
        If payoffs or chance of the game are not rational, or the profile does not fit it.
    """
    if not game.tree.exact:
        raise UsageError(
            f"{game.spec} has payoffs or probabilities that are floating-point numbers; exact "
            "equilibria need rational ones"
        )
    plan_game, exact = PlanGame(game), ExactGame.of(game.tree)
    if np.shape(profile) == (game.tree.n_actions,):
        profile = realization(game.sequence_form, np.asarray(profile, dtype=np.float64))
    start = improve(plan_game, plan_game.feasible(profile))
    if start.regret > EQUILIBRIUM * plan_game.scale:
        return None
    found = None
    if rng is not None:
        order = tuple(rng.permutation(game.tree.n_players).tolist())
        settled, held = settle(plan_game, start, order, stop, rng)
        if held.frequencies:
            found = read_digits(plan_game, exact, settled, held)
    found = found or read_off(plan_game, exact, start)
    for order in islice(permutations(range(game.tree.n_players)), ORDERS):
        if found is not None or stop():
            break
        settled, held = settle(plan_game, start, order, stop)
        found = read_digits(plan_game, exact, settled, held)
        if not held.frequencies:
            break  # nothing can be chosen, so no order matters
    return found


def read_off(game: PlanGame, exact: ExactGame, near: Polished) -> tuple[Fraction, ...] | None:
    """The simplest of the equilibria got by rounding all frequencies alike, if there is one."""
    frequencies = [Fraction(f) for f in near.behavior.tolist()]
    tried = set()
    for width in READ:
        made = _simplified(game, frequencies, Fraction(width))
        if made is None or made in tried:
            continue
        tried.add(made)
        regret = game.measure.regrets(np.array([float(f) for f in made])).max()
        if regret <= EQUILIBRIUM * game.scale and exact.is_equilibrium(made):
            return made
    return None


def read_digits(
    game: PlanGame, exact: ExactGame, near: Polished, held: Held
) -> tuple[Fraction, ...] | None:
    """The equilibrium whose frequencies are simple in many digits, if there is one."""
    plans, played = near.weights, near.weights > 0
    equations = Equations.of(game, plans, Support(played, played), held)
    weights = refined(exact, equations, plans, FREE)
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


def settle(
    game: PlanGame,
    start: Polished,
    order: tuple[int, ...],
    stop: Callable[[], bool],
    rng: np.random.Generator | None = None,
) -> tuple[Polished, Held]:
    """An equilibrium near `start` with simple fractions for all frequencies that can be chosen.

    Also what these are.

    Parameters
    ----------
    order : players in the order in which their frequencies are set
    stop : gives up if true; the rest is not simple then
    rng : chooses the fractions; unless given, they are near those of `start`
    """
    form, present, held = game.form, start, Held.nothing(game)
    done: set[int] = set()
    while True:
        free = [s for s in _free_sequences(game, present, held) if s not in done]
        if not free or stop():
            return present, held
        owner = form.infoset_player[game.infoset[np.array(free) - form.n_players]]
        s = free[int(np.argmin([order.index(p) for p in owner]))]
        done.add(s)
        for candidate in _candidates(game, present, s, rng):
            more = held.also(game, s, candidate)
            moved = _moved(game, present, more)
            if moved is not None:
                present, held = moved, more
                break


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator in an interval, by continued fractions.

    ``0 <= low <= high``; the smallest of several whole numbers.
    """
    # h and k are numerators and denominators of the convergents before
    h, k = (0, 1), (1, 0)
    while True:
        whole = ceil(low)
        if whole <= high:
            return Fraction(h[0] + whole * h[1], k[0] + whole * k[1])
        below = whole - 1
        h, k = (h[1], h[0] + below * h[1]), (k[1], k[0] + below * k[1])
        low, high = 1 / (high - below), 1 / (low - below)


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


def _free_sequences(game: PlanGame, present: Polished, held: Held) -> list[int]:
    """Played sequences whose frequency may vary while the support's equations hold."""
    form, plans = game.form, present.weights
    played = plans > 0
    equations = Equations.of(game, plans, Support(played, played), held)
    if not len(equations.unknown):
        return []
    matrix = equations.scaled(plans)[0]
    values, rows = np.linalg.svd(matrix)[1:]
    rank = int((values > FREE * values.max(initial=0.0)).sum())
    moves = np.zeros((len(rows) - rank, form.n_sequences))
    moves[:, equations.unknown] = rows[rank:]
    own = equations.unknown
    above = form.parent[game.infoset[own - form.n_players]]
    share = plans[own] / plans[above]
    change = np.abs(moves[:, own] - share * moves[:, above]).max(axis=0, initial=0.0)
    return [int(s) for s in own[change > FREE]]


def _candidates(
    game: PlanGame, present: Polished, sequence: int, rng: np.random.Generator | None
) -> Iterator[Fraction]:
    """Simple fractions closer and closer to the present frequency of a sequence.

    The first are on the way there from a random one, if there is a generator.
    """
    frequency = float(present.behavior[sequence - game.form.n_players])
    places = [(frequency, width) for width in MOVE]
    if rng is not None:
        away = rng.uniform() - frequency
        places = [*((frequency + share * away, MOVE[0]) for share in DRAWN), *places]
    seen = set()
    for place, width in places:
        low, high = max(place - width, 0.0), min(place + width, 1.0)
        made = simplest_between(Fraction(low), Fraction(high))
        if made not in seen:
            seen.add(made)
            yield made


def _moved(game: PlanGame, present: Polished, held: Held) -> Polished | None:
    """An equilibrium near `present` that satisfies what is held, None if none is found."""
    slack = game.slacks(present.weights) / game.scale
    for weights in corrected(game, present.weights, present.weights > slack, held):
        made = measured(game, rounded(game, weights))
        if made.regret <= EQUILIBRIUM * game.scale and held.error(made.weights) <= EQUILIBRIUM:
            return made
    return None
