"""Measure the regret of every player on the tree, in floats or integers, and judge claims by it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from eqbench.model.dealt_form import UnbuiltTree
from eqbench.model.profile import BehaviorProfile, completed, completed_rows, exact_frequencies
from eqbench.model.rational import not_to_zero, rational, short_figure
from eqbench.model.tree import CHANCE, INT64_SAFE, FloatArray, GameTree, largest_integer
from eqbench.text import Displayed
from eqbench.verification.products import ProductSweep, count_terms, integer_parts
from eqbench.verification.sweep import SMALLEST, UNIT, Numbers, TreeSweep

if TYPE_CHECKING:
    from eqbench.verification.compiled_sweep import CompiledSweep

DEFAULT_TOLERANCE = 1e-6
CLAIMED_REGRET_SLACK = 1e-9
UNRESOLVED = "it cannot be measured: floats do not resolve its regrets, integers take too long"
BY_PRODUCTS = "measured by sums over hands"
# Nodes; loading machine code takes as long as thirty profiles of so many without it.
COMPILED_FROM = 250_000
LONGEST_FRACTION = 40  # characters that a person still reads
# Exact mode handles an integer of so many digits at every terminal. Up to here that takes about
# a second (20 to 60 ns per terminal and digit once the integers are long); the number of digits
# has a bound of its own, since the time grows with its square and Python prints at most 4,300.
MOST_TERMINAL_DIGITS = 2 * 10**7
MOST_DIGITS = 4000
# However short the integers are, a terminal costs 2 to 3 microseconds: as much as so many digits.
CHARGED_DIGITS = 50
# A pass over the tree takes 2 to 3 microseconds for a node in floats, and about 20 in Fractions.
NODE_DIGITS = 50
EXACT_NODE_DIGITS = 400
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


@dataclass(frozen=True, repr=False)
class Verification(Displayed):
    """What a profile is worth, in payoff units; floats, or Fractions from exact mode.

    Attributes
    ----------
    payoffs : tuple of length N
        Expected payoff of each player.
    regrets : tuple of length N
        Best-response gain of each player; floats that rounding brings below zero are 0.
    resolved : bool
        False for floats in a wide game (`GameTree.is_wide`), which say nothing of regrets:
        these are then only bounds from above, twice the largest payoff of the player.
    error : float
        No regret is farther from the exact one, that of the profile as it is stored, in payoff
        units; 0 for Fractions.
    """

    payoffs: tuple[float, ...] | tuple[Fraction, ...]
    regrets: tuple[float, ...] | tuple[Fraction, ...]
    resolved: bool = True
    error: float = 0.0

    def __repr__(self) -> str:
        payoffs, regrets = (
            ", ".join(map(short_figure, row)) for row in (self.payoffs, self.regrets)
        )
        conv = short_figure(self.nash_conv)
        return f"<Verification: payoffs ({payoffs}), regrets ({regrets}), nash_conv {conv}>"

    def rounded(self) -> Verification:
        """The same in floats; no regret is rounded to 0."""
        regrets = tuple(not_to_zero(Fraction(value)) for value in self.regrets)
        pairs = zip(regrets, map(Fraction, self.regrets), strict=True)
        error = max(abs(Fraction(given) - value) for given, value in pairs)
        return replace(
            self,
            payoffs=tuple(map(float, self.payoffs)),
            regrets=regrets,
            error=math.nextafter(float(error), math.inf if error else 0.0),
        )

    @property
    def nash_conv(self) -> float | Fraction:
        """Sum of the regrets."""
        return sum(self.regrets)

    @property
    def max_regret(self) -> float | Fraction:
        """Largest regret."""
        return max(self.regrets)

    @property
    def exploitability(self) -> float | Fraction:
        """NashConv divided by the number of players."""
        return self.nash_conv / len(self.regrets)


@dataclass(frozen=True)
class ExactRules:
    """Chances and payoffs of a game as integers.

    Attributes
    ----------
    chance : (M,)
        As `GameTree.chance`: probabilities of chance outcomes times `chance_denominator`.
    payoffs : (Z, N)
        Times `payoff_denominator`.
    """

    chance: NDArray
    chance_denominator: int
    payoffs: NDArray
    payoff_denominator: int

    @classmethod
    def of(cls, tree: GameTree) -> ExactRules:
        """The rules of a game; its floats count as the decimals that they print as."""
        chance, chance_denominator = tree.chance, tree.chance_denominator
        if chance.dtype.kind != "i":
            chance, chance_denominator = _over_one_denominator(_chances(tree))
        if tree.payoffs.exact:
            payoffs, payoff_denominator = tree.payoffs.rational()
        else:
            values = list(map(rational, tree.payoffs.table.ravel().tolist()))
            payoffs, payoff_denominator = _over_one_denominator(values)
        return cls(
            chance, chance_denominator, payoffs.reshape(-1, tree.n_players), payoff_denominator
        )


def _chances(tree: GameTree) -> list[Fraction]:
    """Probabilities of chance outcomes (M,) from floats, completed at every chance node."""
    chances = list(map(rational, (tree.chance / tree.chance_denominator).tolist()))
    # of the same dtype: otherwise all parents would be converted
    nodes = np.flatnonzero(tree.player == CHANCE).astype(tree.parent.dtype)
    starts, stops = (np.searchsorted(tree.parent, nodes, side).tolist() for side in _SIDES)
    for first, stop in zip(starts, stops, strict=True):
        chances[first:stop] = completed(chances[first:stop])
    return chances


def _over_one_denominator(values: Sequence[Fraction]) -> tuple[NDArray, int]:
    common = math.lcm(*{value.denominator for value in values})
    numerators = [value.numerator * (common // value.denominator) for value in values]
    return np.array(numerators, dtype=object), common


def verify_exactly(tree: GameTree, profile: BehaviorProfile) -> Verification:
    """Payoffs and regrets as Fractions, computed in integers.

    Frequencies are read, and refused, as by :func:`~eqbench.model.profile.exact_frequencies`.
    """
    exact = exact_frequencies(tree, profile)
    if isinstance(tree, UnbuiltTree):
        return measure_product(ProductSweep(tree.form), exact)
    return measure_exactly(TreeSweep(tree), ExactRules.of(tree), exact)


def measure_product(sweep: ProductSweep, exact: Sequence[Fraction]) -> Verification:
    """Payoffs and regrets of frequencies (A,) as :func:`measure_exactly`, by sums over hands."""
    means, best = sweep.evaluate_exactly(exact)
    gains = (value - mean for value, mean in zip(best, means, strict=True))
    return Verification(tuple(means), tuple(gains))


def measure_exactly(sweep: TreeSweep, rules: ExactRules, exact: Sequence[Fraction]) -> Verification:
    """Payoffs and regrets of frequencies (A,) whose rows sum to exactly 1, computed in integers.

    The frequencies of player p are integers over one denominator d_p. A path with m of their
    moves carries d_p^m; it is lifted to d_p^(most moves on any path). These powers are taken out
    of the results, as are that of chance and the denominator of the payoffs.
    """
    tree = sweep.tree
    owner = np.repeat(tree.infoset_player, np.diff(tree.action_start))
    common = [
        math.lcm(*(exact[int(a)].denominator for a in np.flatnonzero(owner == p)))
        for p in range(tree.n_players)
    ]
    action = [
        value.numerator * (common[p] // value.denominator)
        for value, p in zip(exact, owner, strict=True)
    ]
    drawn = np.zeros(tree.n_nodes, dtype=np.int64)  # moves of chance before each node
    for level in tree.levels[1:]:
        above = tree.parent[level]
        drawn[level] = drawn[above] + (tree.player[above] == CHANCE)
    most_drawn = int(drawn.max())
    # own moves of an action's owner up to and including it, (A+1,); 0 before the first
    moves = np.concatenate(([0], np.repeat(sweep.own_depth, np.diff(tree.action_start)) + 1))
    most = [int(moves[last].max()) for last in sweep.last_own]
    powers = [common[p] ** most[p] for p in range(tree.n_players)]
    everyone = math.prod([*powers, rules.chance_denominator**most_drawn])
    # whatever a player does, the others and chance lead to one terminal with probability 1, so
    # no sum of weighted payoffs exceeds the largest payoff
    fits = everyone * max(largest_integer(rules.payoffs), 1) < INT64_SAFE
    dtype: type = np.int64 if fits else object
    chance: NDArray = rules.chance.astype(dtype)
    chance[tree.incoming >= 0] = 1
    chance[0] = 1
    scale: list[NDArray] = [
        np.array([common[p] ** max(most[p] - m, 0) for m in moves.tolist()], dtype=dtype)
        for p in range(tree.n_players)
    ]
    lifts = [rules.chance_denominator ** (most_drawn - m) for m in range(most_drawn + 1)]
    by_chance: NDArray = np.array(lifts, dtype=dtype)[drawn[tree.terminals]]
    numbers = Numbers(
        np.array(action, dtype=dtype), chance, rules.payoffs.astype(dtype), [*scale, by_chance]
    )
    payoffs, best = sweep.evaluate(numbers)
    everyone *= rules.payoff_denominator
    means = [Fraction(int(value), everyone) for value in payoffs]
    gains = [Fraction(int(value), everyone // powers[p]) - means[p] for p, value in enumerate(best)]
    return Verification(tuple(means), tuple(gains))


@dataclass
class Allowance:
    """What the exact measurements of one cell may cost together: about a second, by an estimate.

    It is an estimate and not the clock, so that the same candidates are certified everywhere.
    They are served in the order in which they come; one that costs more than what is left goes
    without, and a later one that costs less does not.

    Attributes
    ----------
    left : digits at terminals that are not used up
    """

    left: int = field(default_factory=lambda: MOST_TERMINAL_DIGITS)

    def covers(self, tree: GameTree) -> bool:
        """Whether it is worth it to read the game and a profile as integers at all."""
        # floats take as long to read as a terminal takes to be measured
        least = 1 if tree.exact else CHARGED_DIGITS
        return self.left >= least * _terms(tree)

    def spend(self, digits: int) -> bool:
        """Whether so much is left; if so, it is taken off."""
        is_enough = self.left >= digits
        self.left -= digits * is_enough
        return is_enough

    def take(
        self, tree: GameTree, rules: Callable[[], ExactRules], exact: Sequence[Fraction]
    ) -> bool:
        """Whether frequencies (A,) can be measured exactly; if so, the cost is taken off.

        To look at the frequencies costs their length, also if they are too long.
        """
        if not self.covers(tree):
            return False
        self.left -= length(exact)
        most = min(MOST_DIGITS, self.left // _terms(tree))
        if most < 1:
            return False
        known = None if isinstance(tree, UnbuiltTree) else rules()
        digits = _digits(tree, known, exact, most)
        if digits is None:
            return False
        self.left -= _terms(tree) * max(digits, CHARGED_DIGITS)
        return True


def certify(
    tree: GameTree, profile: BehaviorProfile, allowance: Allowance | None = None
) -> Verification | None:
    """Payoffs and regrets as Fractions; None if they are not known exactly, or cost too much.

    Parameters
    ----------
    profile : a profile of this tree
    allowance : what this may cost, and from which it is taken off; a new one unless given

    Raises
    ------
    ProfileError
        If a row of the exact frequencies does not sum to exactly 1.
    """
    if profile.exact is None or not tree.exact:
        return None
    allowance = Allowance() if allowance is None else allowance
    if not allowance.take(tree, lambda: ExactRules.of(tree), profile.exact):
        return None
    return verify_exactly(tree, profile)


def length(exact: Sequence[Fraction]) -> int:
    """Number of digits of fractions, by the bits that they have."""
    bits = sum(each.numerator.bit_length() + each.denominator.bit_length() for each in exact)
    return math.ceil(bits * math.log10(2))


def _terms(tree: GameTree) -> int:
    """Number of integers that exact mode handles."""
    return count_terms(tree.form) if isinstance(tree, UnbuiltTree) else tree.n_terminals


def _digits(
    tree: GameTree, rules: ExactRules | None, exact: Sequence[Fraction], most: int
) -> int | None:
    """Bound from above on the digits of an integer of exact mode; None if it exceeds `most`.

    A path is a product of at most as many factors of one player, or of chance, as there are
    levels on which they move.
    """
    allowed = most / math.log10(2)
    if isinstance(tree, UnbuiltTree):
        movers, bits = integer_parts(tree.form)
    else:
        assert rules is not None
        movers = [set(np.unique(tree.player[level]).tolist()) for level in tree.levels]
        bits = largest_integer(rules.payoffs).bit_length() + rules.payoff_denominator.bit_length()
        bits += sum(CHANCE in here for here in movers) * rules.chance_denominator.bit_length()
    for player in range(tree.n_players):
        moves = sum(player in here for here in movers)
        own = tree.infosets_of(player)
        common = 1
        for value in exact[tree.action_start[own.start] : tree.action_start[own.stop]]:
            common = math.lcm(common, value.denominator)
            if bits + moves * common.bit_length() > allowed:
                return None
        bits += moves * common.bit_length()
    return math.ceil(bits * math.log10(2)) if bits <= allowed else None


def refutation(
    max_regret: float,
    *,
    claim: str,
    claimed_regret: float | None,
    scale: float,
    tolerance: float = DEFAULT_TOLERANCE,
) -> str | None:
    """Reason why a measured candidate is refuted, or None if it stands.

    A claim of equilibrium stands or falls by the tolerance, whatever bound the solver names.

    Parameters
    ----------
    max_regret : measured by the verifier, in payoff units
    claim : `iterate`, `average`, `equilibrium` or `complete list`
    claimed_regret : the solver's own bound, in payoff units, or None
    scale : what regrets of the game are measured against, `GameTree.payoff_scale`
    tolerance : share of the scale up to which an equilibrium claim stands
    """
    if claim in ("equilibrium", "complete list"):
        allowed = tolerance * scale
        if not max_regret <= allowed:
            return (
                f"claimed {'an equilibrium' if claim == 'equilibrium' else 'a complete list'}, "
                f"but a player gains {max_regret:.3g} by deviating (allowed: {allowed:.3g})"
            )
    if claimed_regret is not None and claimed_regret < max_regret - (CLAIMED_REGRET_SLACK * scale):
        return f"claimed max regret {claimed_regret:.3g}, measured {max_regret:.3g}"
    return None


def means_of_measuring(tree: GameTree) -> dict[str, str]:
    """What figures rest on, if not on the tree: a clause under the key `means`."""
    if not isinstance(tree, UnbuiltTree):
        return {}
    return {"means": f"{BY_PRODUCTS}, without the tree of {tree.n_nodes:,} nodes"}


def beyond_floats(tree: GameTree) -> str:
    """Continuation of a reason for a wide game: the arithmetic of the solver; otherwise empty."""
    if not tree.is_wide:
        return ""
    times = min(tree.largest_payoff / tree.stakes, 1e300)
    return (
        f"; the largest payoff of this game is {times:.0e} times what some decision is about, "
        "which a solver's floating-point arithmetic cannot resolve"
    )


def exact_refutation(max_regret: Fraction, *, claimed_regret: float | None) -> str | None:
    """Reason why a claim of no regret at all is refuted, or None if it stands or is not made.

    Other claims are floats, which are rounded themselves; they are for :func:`refutation`.

    Parameters
    ----------
    max_regret : computed exactly, in payoff units
    claimed_regret : the solver's own bound, in payoff units, or None
    """
    if claimed_regret != 0 or max_regret <= 0:
        return None
    shown = str(max_regret)
    if len(shown) > LONGEST_FRACTION:  # as a float it could be 0
        shown = f"{Decimal(max_regret.numerator) / Decimal(max_regret.denominator):.3g}"
    return f"claimed a max regret of exactly 0, computed exactly it is {shown}"


class Verifier:
    """Measures many profiles of one game."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self._smallest = tree.n_nodes * (SMALLEST * tree.largest_payoff + 2.0**-1070)

    @cached_property
    def _rules(self) -> ExactRules:
        return ExactRules.of(self.tree)

    @cached_property
    def _sweep(self) -> TreeSweep:
        return TreeSweep(self.tree)

    @cached_property
    def _product(self) -> ProductSweep | None:
        return ProductSweep(self.tree.form) if isinstance(self.tree, UnbuiltTree) else None

    @cached_property
    def _compiled(self) -> CompiledSweep:
        # loading Numba takes longer than measuring most games
        from eqbench.verification.compiled_sweep import CompiledSweep

        return CompiledSweep(self.tree)

    def _in_floats(self, frequencies: FloatArray) -> Verification:
        """What floats measure, and the bound on their errors."""
        tree = self.tree
        if self._product is not None:
            payoffs, best = self._product.evaluate(frequencies)
            errors = self._product.errors(frequencies)
        elif tree.n_nodes >= COMPILED_FROM:
            payoffs, best = self._compiled.evaluate(frequencies)
            errors = self._compiled.errors(frequencies)
        else:
            numbers = Numbers(frequencies, tree.chance_probability, tree.payoffs.table)
            payoffs, best = self._sweep.evaluate(numbers)
            errors = self._sweep.errors(numbers)
        gains = best - payoffs
        error = float((errors + UNIT * np.abs(gains)).max()) + self._smallest
        # no best response earns less; what is farther below zero would be a mistake of ours
        gains[(gains < 0) & (gains >= -error)] = 0.0
        return Verification(tuple(payoffs.tolist()), tuple(gains.tolist()), error=error)

    def _in_integers(
        self, profile: BehaviorProfile, allowance: Allowance | None
    ) -> Verification | None:
        """The exact figures of a checked profile, rounded; None if they cost too much."""
        tree, allowance = self.tree, Allowance() if allowance is None else allowance
        if not allowance.covers(tree):
            return None
        if profile.exact is not None:
            profile = BehaviorProfile.of_exact(tree, profile.exact)
        # completed rows have no larger common denominators
        read = profile.exact or tuple(map(rational, profile.probabilities.tolist()))
        if not allowance.take(tree, lambda: self._rules, read):
            return None
        rows = completed_rows(tree, profile)
        if self._product is not None:
            return measure_product(self._product, rows).rounded()
        return measure_exactly(self._sweep, self._rules, rows).rounded()

    def verify(
        self,
        profile: BehaviorProfile,
        allowance: Allowance | None = None,
        target: float | None = None,
    ) -> Verification:
        """Measured payoffs and regrets of a profile of this tree, in floats.

        What is measured is the profile as it is stored: floats count as the decimals that they
        print as, and the largest of an information set as what the others leave of 1. `error`
        bounds what rounding does to the regrets. A regret that it has brought below zero is 0.

        In a wide game (`GameTree.is_wide`), and where the error leaves open whether the largest is
        within a target, they are measured in integers and then rounded; where that is too much
        work, those of a wide game are not `resolved`, and each is the most that it can be.

        Parameters
        ----------
        allowance : for measurements in integers; one for this profile alone unless given
        target : in payoff units

        Raises
        ------
        ProfileError
            If the profile is not a distribution at every information set.
        """
        tree = self.tree
        checked = BehaviorProfile.of(tree, profile.probabilities)

        def in_integers() -> Verification | None:
            return self._in_integers(checked if profile.exact is None else profile, allowance)

        if tree.is_wide and (measured := in_integers()) is not None:
            return measured
        found = self._in_floats(checked.probabilities)
        if tree.is_wide:
            most = tuple((2 * np.abs(tree.payoffs.table).max(axis=0)).tolist())
            return replace(found, regrets=most, resolved=False, error=max(most))
        if target is None or not found.max_regret <= target < found.max_regret + found.error:
            return found
        return in_integers() or found


def verify(tree: GameTree, profile: BehaviorProfile, target: float | None = None) -> Verification:
    """Measured payoffs and regrets of one profile, as :meth:`Verifier.verify` measures them."""
    return Verifier(tree).verify(profile, target=target)
