"""The published sets of a game as far as the verifier agrees: members, corners, ends, in words.

Payoffs are linear in each player's realization plan, so what holds at the corners of a set of
plans, such as a lower bound of a payoff, holds for all of it.

Symbols in shapes: V named frequencies, K parameters, C constraints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.published import documents
from eqbench.equilibria.reference import TOLERANCE, Formulas, KnownSet, published_sets
from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.polytope import Affine, Number, value_at, vertices
from eqbench.model.profile import BehaviorProfile, label_parts
from eqbench.model.tree import FloatArray
from eqbench.model.words import clause
from eqbench.verification import Verifier

_ROUNDING = 1e-9  # share of the payoff range
_ROUNDS = 10
_SETTLED = 1e-11  # of a step of the parameters
_INSIDE = 0.99  # upper bound where the search starts; formulas may have poles at 1
_FITS = 6
_DRAWS = 8
_STEP = 1e-5  # of difference quotients; the formulas are of low degree
_FEASIBLE = 1e-10  # as exactly as HiGHS can hold constraints
SAME_PAYOFF = 1e-9  # of payoffs, or of their range; sets meet where their ranges of the pot end


def known_sets(game: Game) -> tuple[KnownSet, ...]:
    """The published sets of equilibria of a game, in the order in which names are chosen.

    Of each one member is measured: its regret must be rounding and its payoffs as published.
    So a plugin's game that only has the name and the labels of another is not mistaken for it.

    Raises
    ------
    UsageError
        If a document that is not eqbench's has mistakes, or some members that are no equilibria.
    """
    published = published_sets(game)
    if not published:
        return ()
    verifier = Verifier(game.tree)
    held = []
    for known in published:
        points = [some_member(known)]
        if known.file:
            points += _spread(known)
        wrong = next(filter(None, (_misfit(game, verifier, known, own) for own in points)), "")
        if wrong and known.file:
            raise UsageError(f"{known.file}: {known.name}: {wrong}; correct it, or take it out")
        if not wrong:
            held.append(known)
    return tuple(held)


def check_documents(game: Game) -> None:
    """Measure what documents that are not eqbench's say of a game; errors as in `known_sets`."""
    if any("file" in document for document in documents()):
        known_sets(game)


def _spread(known: KnownSet) -> list[FloatArray]:
    """Parameters of some members (K,) that are nearest to pure profiles drawn at random."""
    draws = np.random.default_rng(0).integers(0, 2, (_DRAWS, len(known.layout.variables)))
    return [nearest_member(known, draw.astype(float), np.ones(len(draw))) for draw in draws]


def _misfit(game: Game, verifier: Verifier, known: KnownSet, parameters: FloatArray) -> str:
    """What is wrong with a member of a set; empty if it is an equilibrium as it was published."""
    tree = game.tree
    frequencies, payoffs = known.frequencies(parameters), known.payoffs_near(parameters)
    behavior = known.layout.behavior(frequencies)
    figures = zip(known.parameters, parameters.tolist(), strict=True)
    member = ", ".join(f"{name} = {value:.6g}" for name, value in figures)
    of = f"its member with {member}" if member else "its only member"
    broken = known.violations(parameters).max(initial=0.0)
    if known.file and not (
        broken <= TOLERANCE and -TOLERANCE <= behavior.min() <= behavior.max() <= 1 + TOLERANCE
    ):
        return f"{of} breaks a constraint, or has frequencies outside [0, 1]"
    measured = verifier.verify(BehaviorProfile.of(tree, np.clip(behavior, 0.0, 1.0)))
    if measured.max_regret > _ROUNDING * tree.payoff_scale:
        return f"{of} is no equilibrium, its max regret is {measured.max_regret:.3g}"
    gaps = np.abs(np.array(measured.payoffs, dtype=float) - payoffs)
    if not gaps.max() <= _ROUNDING * tree.payoff_range:
        found = ", ".join(f"{value:.6g}" for value in measured.payoffs)
        return f"{of} has the payoffs {found}, not {', '.join(f'{v:.6g}' for v in payoffs)}"
    return ""


@lru_cache(64)
def some_member(known: KnownSet) -> FloatArray:
    """Parameters (K,) of a member of a set; they are read-only."""
    count = len(known.layout.variables)
    member = nearest_member(known, np.full(count, 0.5), np.ones(count))
    member.flags.writeable = False
    return member


def nearest_member(known: KnownSet, frequencies: FloatArray, reach: FloatArray) -> FloatArray:
    """Parameters (K,) of a nearest member, owned by the caller.

    First it minimizes the sum of the differences of frequencies, weighted with the reach of
    their information sets; then, among such members, the sum of the differences where that
    reach is 0. So it agrees on the path of play as well as it can, and elsewhere after that.

    The formulas are linear in the parameters but for a few products: it is a sequence of linear
    programs, usually of one or two.

    Parameters
    ----------
    frequencies, reach : float64 (V,)
    """
    parameters = np.nan_to_num(np.clip(known.read(frequencies), 0.0, _INSIDE))
    if not len(parameters):
        return parameters
    reached = reach > 0
    free = np.ones(len(reach), dtype=bool)
    parameters = _fit(known, frequencies, parameters, reach, ~free)
    if not reached.all():
        parameters = _fit(known, frequencies, parameters, (~reached).astype(float), reached)
    return parameters


def _fit(
    known: KnownSet,
    frequencies: FloatArray,
    parameters: FloatArray,
    weights: FloatArray,
    held: NDArray[np.bool_],
) -> FloatArray:
    """Parameters that minimize the weighted sum of differences; those `held` do not grow.

    Each step minimizes sum w |gap + slopes x|, with bounds on what is held and G x <= h.
    """
    from scipy.optimize import linprog  # takes longer to load than most profiles to recognize

    allowed, k = np.abs(known.frequencies(parameters) - frequencies), len(parameters)
    for _ in range(_FITS):
        values, slopes = linearized(known.frequencies, parameters)
        excess, excess_slopes = linearized(known.violations, parameters)
        moving = (np.abs(slopes).max(axis=1) > 0) & (held | (weights > 0))
        gap = (values - slopes @ parameters - frequencies)[moving]
        largest = np.where(held[moving], allowed[moving] + _FEASIBLE, np.inf)
        cost, slopes, identity = weights[moving], slopes[moving], np.eye(len(gap))
        none = np.zeros((len(excess), len(gap)))
        if not np.isfinite([*gap, *excess, *slopes.flat, *excess_slopes.flat]).all():
            break  # where formulas have poles
        program = linprog(
            c=np.concatenate((np.zeros(k), cost / max(cost.max(initial=0.0), 1e-300))),
            A_ub=np.block([[slopes, -identity], [-slopes, -identity], [excess_slopes, none]]),
            b_ub=np.concatenate((-gap, gap, excess_slopes @ parameters - excess)),
            bounds=[(0.0, 1.0)] * k + [(0.0, bound) for bound in largest],
            method="highs",
            options={
                "primal_feasibility_tolerance": _FEASIBLE,
                "dual_feasibility_tolerance": _FEASIBLE,
            },
        )
        if program.x is None:
            break
        step, parameters = np.abs(program.x[:k] - parameters).max(), program.x[:k]
        if step <= _SETTLED:
            break
    return parameters


def linearized(
    function: Callable[[FloatArray], FloatArray], parameters: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Values (·,) of a function and their derivatives (·, K) by the parameters."""
    steps = _STEP * np.eye(len(parameters))
    slopes = [
        (function(parameters + step) - function(parameters - step)) / (2 * _STEP) for step in steps
    ]
    return function(parameters), np.stack(slopes, axis=1)


def known_corners(game: Game) -> list[tuple[str, BehaviorProfile]]:
    """Name and exact profile of the corner members of all published sets of a game.

    At a corner as many independent constraints just hold as there are parameters; parameters
    that change no payoff stay 0. Left out are sets whose constraints are not linear in the
    parameters, and members that are not rational.
    """
    members: dict[str, list[BehaviorProfile]] = {}
    for known in known_sets(game):  # the pieces of one set share its name
        with suppress(ArithmeticError):
            profiles = [known.member(parameters) for parameters in corner_parameters(known)]
            members.setdefault(known.name, []).extend(profiles)
    return [
        (f"{name} corner {number}" if len(profiles) > 1 else name, profile)
        for name, profiles in members.items()
        for number, profile in enumerate(profiles, start=1)
    ]


def corner_parameters(known: KnownSet) -> list[list[Fraction]]:
    """Parameters of the corners of a set in lexicographic order, exactly.

    Empty if the constraints are not linear.

    Raises
    ------
    IrrationalError
        If a constraint is not rational.
    """
    count = len(known.parameters)

    constraints = linear_constraints(known, known.exact, Fraction(1, 4))
    if constraints is None:
        return []
    zeros = [[Fraction(-(i == position)) for i in range(count + 1)] for position in known.idle]
    return sorted(map(list, vertices([*constraints, *zeros], count, Fraction(1))))


def linear_constraints(
    known: KnownSet, formulas: Formulas, base: Number, tolerance: float = 0
) -> list[Affine] | None:
    """Functions of the parameters that are >= 0 in a set; None if they are not affine.

    Parameters
    ----------
    formulas : of the set, in the arithmetic in which the functions are to be
    base : value of all parameters where slopes are measured, by steps as long
    tolerance : how far rounding may lead astray
    """

    def violations(point: Sequence[Number]) -> list[Number]:
        names = formulas.names(dict(zip(known.parameters, point, strict=True)))
        return [violation(names) for violation in formulas.violations]

    count = len(known.parameters)
    start = violations([base] * count)
    steps = [violations([base + base * (i == j) for j in range(count)]) for i in range(count)]
    functions: list[Affine] = []
    for at_base, *ahead in zip(start, *steps, strict=True):
        slopes = [(at_base - each) / base for each in ahead]
        functions.append((*slopes, -at_base - base * sum(slopes)))
    other = [base * (i + 2) / (2 * i + 5) for i in range(count)]  # no entry is that of the base
    pairs = zip(functions, violations(other), strict=True)
    gaps = [value_at(function, other) + violation for function, violation in pairs]
    return functions if max(map(abs, gaps), default=0) <= tolerance else None


def extremes(known: KnownSet, figure: Callable[[FloatArray], float]) -> tuple[float, float]:
    """Smallest and largest value that a figure has over the members of a set.

    Exact to rounding where figure and constraints are linear in the parameters, which takes one
    linear program each. Otherwise (see :func:`is_linear`) it is a sequence of them from one
    member, of which the best counts, so that the range may be too small but never too large. An
    open end belongs to the range.

    Parameters
    ----------
    figure : function of parameters (K,)
    """
    return _extreme(known, figure, sign=-1), _extreme(known, figure, sign=1)


def payoff_ends(known: KnownSet) -> tuple[tuple[float, ...], ...] | None:
    """Payoffs of all players at the two ends of a set, or at its only point.

    None if they neither are a point nor pass between two players.
    """
    first = [float(payoff) for payoff in known.payoffs_near(some_member(known))]
    low, high = list(first), list(first)
    for p in range(len(first)):
        low[p], high[p] = extremes(known, partial(payoff_of, p, known))
    moving = [p for p in range(len(first)) if high[p] - low[p] > SAME_PAYOFF]
    if not moving:
        return (tuple(first),)
    if len(moving) != 2:
        return None
    gains, loses = moving
    ends = ({gains: low[gains], loses: high[loses]}, {gains: high[gains], loses: low[loses]})
    if abs(sum(ends[0].values()) - sum(ends[1].values())) > SAME_PAYOFF:
        return None
    return tuple(tuple(end.get(p, first[p]) for p in range(len(first))) for end in ends)


def payoff_of(player: int, known: KnownSet, parameters: FloatArray) -> float:
    return float(known.payoffs_near(parameters)[player])


def _extreme(known: KnownSet, figure: Callable[[FloatArray], float], *, sign: int) -> float:
    from scipy.optimize import linprog  # takes long to load

    parameters = some_member(known)
    best = figure(parameters)
    for _ in range(_ROUNDS if len(parameters) else 0):
        _, slope = linearized(lambda point: np.array([figure(point)]), parameters)
        excess, slopes = linearized(known.violations, parameters)
        if not np.isfinite([*excess, *slopes.flat, *slope.flat]).all():
            break
        program = linprog(
            c=-sign * slope[0],
            A_ub=slopes,
            b_ub=slopes @ parameters - excess,
            bounds=(0.0, 1.0),
            method="highs",
        )
        if program.x is None:
            break
        step, parameters = np.abs(program.x - parameters).max(), program.x
        if known.violations(parameters).max(initial=0.0) <= TOLERANCE:
            best = sign * max(sign * best, sign * figure(parameters))
        if step <= _SETTLED:
            break
    return float(best)


@dataclass(frozen=True)
class KnownEquilibria:
    """A published set of equilibria as it was written down.

    Attributes
    ----------
    title, sentence : what is played in it, in a few words and in one or two sentences
    family : name of the family that it is one part of; empty if of none
    symbols : what the symbols in its name and in those of its members mean
    constants : values of names in the expressions, such as P for the pot
    parameters : each with its place ``PLAYER|INFOSET|ACTION`` or the expression that it is
    frequencies : the others, but for those that are always 0 or 1, with places and expressions
    figures : further quantities that members are named by
    constraints : besides that all parameters lie in [0, 1]
    transfer : how much payoff moves between whom within the set; empty if payoffs are fixed, and
        where the corners of the set are not known exactly
    """

    name: str
    title: str
    sentence: str
    family: str
    symbols: dict[str, str]
    source: str
    constants: dict[str, str]
    parameters: dict[str, str]
    frequencies: dict[str, tuple[str, str]]
    figures: dict[str, str]
    constraints: tuple[str, ...]
    payoffs: tuple[str, ...]
    transfer: str


def known_equilibria(game: Game) -> list[KnownEquilibria]:
    """The published sets of equilibria of a game, each once; empty if none is known."""
    pieces: dict[str, list[KnownSet]] = {}
    for known in known_sets(game):
        pieces.setdefault(known.name, []).append(known)
    return [_described(game, of) for of in pieces.values()]


def meanings(known: KnownSet, game: Game) -> dict[str, str]:
    """Meanings of the symbols in the name of a set and in the names of its members, in words."""
    layout, texts = known.layout, known.texts
    words = {}
    for name, place in zip(layout.variables, layout.places, strict=True):
        player, infoset, action = label_parts(place)
        words[name] = f"how often {clause(player, action, infoset, game)}"
    found = re.findall(r"[a-z]\w*", known.name.partition(":")[2])
    symbols = {name: words[name] for name in found if name in words}
    if (leading := known.leading) is not None:
        text = texts.figures.get(leading, leading)
        meaning = words.get(texts.readings.get(text, text), text)
        symbols[leading] = meaning if text == leading else f"{text}: {meaning}"
        symbols |= {leading: known.symbols[leading]} if leading in known.symbols else {}
    return symbols


def _described(game: Game, pieces: Sequence[KnownSet]) -> KnownEquilibria:
    known = pieces[0]
    texts, parameters = known.texts, known.parameters
    places = dict(zip(known.layout.variables, known.layout.places, strict=True))
    return KnownEquilibria(
        name=known.name,
        title=known.title,
        sentence=known.sentence,
        family=known.family,
        symbols=meanings(known, game),
        source=known.source,
        constants={name: str(value) for name, value in texts.constants.items()},
        parameters={
            name: places.get(texts.readings[name], texts.readings[name]) for name in parameters
        },
        frequencies={
            name: (places[name], text)
            for name, text in texts.values.items()
            if name not in parameters and text not in ("0", "1")
        },
        figures={n: text for n, text in texts.figures.items() if n not in {*parameters, *places}},
        constraints=texts.constraints,
        payoffs=texts.payoffs,
        transfer=_transfer(game.tree.players, pieces),
    )


def _transfer(players: Sequence[str], pieces: Sequence[KnownSet]) -> str:
    try:
        payoffs = [known.payoffs(point) for known in pieces for point in corner_parameters(known)]
    except ArithmeticError:
        return ""
    ranges = [max(own) - min(own) for own in zip(*payoffs, strict=True)]
    moving = [p for p, width in enumerate(ranges) if width]
    if len(moving) != 2:
        return ""
    first, second = (players[p] for p in moving)
    staying = ", ".join(players[p] for p in range(len(players)) if p not in moving)
    kept = f"; the payoff of {staying} stays" if staying else ""
    return f"up to {ranges[moving[0]]} between {first} and {second}{kept}"
