"""The solvers: CFR over the whole game, whose variants differ only in options, and sampled.

With two players and constant sum the average profile converges to an equilibrium. Otherwise
nothing is promised, and the verified regret decides.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from eqbench.errors import SpecError
from eqbench.model.game import Game
from eqbench.solver import Monitor, Termination, usable_cores

from ..search import first_profile, repeat

if TYPE_CHECKING:
    from .iteration import CFRRule, State
    from .joint import JointPlay

DISCOUNT_EXPONENTS = (1.5, 0.0)
AVERAGING_EXPONENT = {"uniform": 0.0, "linear": 1.0, "quadratic": 2.0}
LARGEST_EXPONENT = 20.0  # so that sums of weights stay far from the largest float
Averaging = Literal["uniform", "linear", "quadratic"] | float
Advance = Callable[[int, int], None]


class RegretMinimizer:
    """What solvers share that repeat an iteration on a :class:`State`."""

    averaging: Averaging
    start: Any
    joint: bool = False  # an option of those that declare it

    def __post_init__(self) -> None:
        if not isinstance(self.averaging, str) and not 0 <= self.averaging <= LARGEST_EXPONENT:
            raise SpecError(
                f"averaging={self.averaging:g}; choose uniform, linear, quadratic or an exponent "
                f"from 0 to {LARGEST_EXPONENT:g}"
            )

    @property
    def _exponent(self) -> float:
        """Exponent of t in the weight of iteration t."""
        return float(AVERAGING_EXPONENT.get(self.averaging, self.averaging))  # type: ignore[arg-type]

    @property
    def deterministic(self) -> bool:
        """Whether all seeds give the same result."""
        return self.start == "uniform"

    @property
    def by_products(self) -> bool:
        """Whether large dealt games are solved without their trees."""
        return not self.joint

    def prepare(self, game: Game) -> None:
        """Compile everything that `solve` runs; keeps nothing but the machine code."""
        from . import iteration

        rng = np.random.default_rng(0)
        state = iteration.begin(game.plan_form, first_profile(game.tree, "uniform", rng))
        self._advance(game, state, rng, threads=1)(0, 0)
        if self.joint:
            self._joint_play(game).keep(1, state)
        iteration.better_candidate(game.payoff_model(), game, state)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Iterate until the budget or the target ends; all draws come from `rng`."""
        from . import iteration

        joint = self._joint_play(game) if self.joint else None
        model, first = game.payoff_model(), first_profile(game.tree, self.start, rng)
        state = iteration.begin(game.plan_form, first)
        advance = self._advance(game, state, rng, monitor.budget.threads)
        repeat(
            monitor,
            advance if joint is None else functools.partial(joint.advance, advance, state),
            lambda: iteration.better_candidate(model, game, state),
        )
        for behavior, claim in iteration.profiles(game, state):
            monitor.candidate(behavior, claim)
        if joint is not None and monitor.work:
            monitor.joint_play(*joint.mixture(), iterations=monitor.work)
        return monitor.termination()

    def _advance(self, game: Game, state: State, rng: np.random.Generator, threads: int) -> Advance:
        """Function ``(start, count)`` that does these iterations on `state`."""
        raise NotImplementedError

    def _joint_play(self, game: Game) -> JointPlay:
        from .joint import JointPlay

        return JointPlay(game.sequence_form, self._exponent)

    def _rule(self, game: Game, **variant: Any) -> CFRRule:
        from .iteration import NEGLIGIBLE, CFRRule

        return CFRRule(
            averaging=self._exponent,
            negligible=NEGLIGIBLE * game.tree.payoff_range,
            **variant,
        )


@dataclass(frozen=True)
class CFR(RegretMinimizer):
    """Counterfactual regret minimization (Zinkevich et al. 2007) and its full-width variants.

    At each information set, regrets of the actions add up over the iterations, and the next
    frequencies are proportional to the positive ones. The defaults are the original method
    with alternating updates.

    - CFR+ (Tammelin 2014): clipped regrets, linear averaging.
    - DCFR (Brown and Sandholm 2019): discounted regrets with exponents alpha and beta; their
      gamma is the exponent of averaging, 0 with uniform, 1 with linear and 2 with quadratic.
      Linear CFR is DCFR with alpha = beta = gamma = 1.
    - Predictive CFR+ (Farina, Kroer and Sandholm 2021): clipped regrets, prediction,
      quadratic averaging. The prediction is the last counterfactual regret of the
      information set itself.
    Positive regrets up to 1e-12 times the payoff range count as zero, because otherwise
    rounding decides between actions that are equally good.

    An iteration updates every player once. The average profile is handed over, and nothing is
    claimed about its regret.

    With joint=true every iterate is played with its weight in the average, by all players together.
    Of this mixture as many profiles are kept as payoffs and values of all deviations need. Without
    alternating updates its gap falls like the regrets, in any game: it nears the coarse correlated
    equilibria. An iteration takes 2 to 50 times longer, and games of more than 1,000 sequences are
    refused.

    Threads share a large game if its players' first decisions are in many information sets, as
    where cards are dealt. The results are the same to the last bit.

    Parameters
    ----------
    regrets : what happens to accumulated regrets
        `plain` keeps them, `clipped` sets negative ones to zero, `discounted` multiplies
        positive ones by t^alpha / (t^alpha + 1) and negative ones by t^beta / (t^beta + 1)
        after iteration t.
    alpha : exponent of positive regrets where regrets=discounted, 1.5 unless given
    beta : exponent of negative regrets where regrets=discounted, 0 unless given
    predictive : whether the last regret counts once more for the next frequencies
    averaging : weight of iteration t in the average profile: constant, t, t squared or t to a power
    alternating : whether players move in turn, each facing the others' newest frequencies
    start : frequencies of the first iteration, uniform or drawn from all simplices
    joint : whether the mixture of all iterates is kept and the gains against it are measured
    """

    regrets: Literal["plain", "clipped", "discounted"] = "plain"
    alpha: float | None = None
    beta: float | None = None
    predictive: bool = False
    averaging: Averaging = "uniform"
    alternating: bool = True
    start: Literal["uniform", "random"] = "uniform"
    joint: bool = False

    def supports(self, game: Game) -> bool | str:
        """True; or why the joint play of this game cannot be kept."""
        from .joint import joint_refusal

        return joint_refusal(game) if self.joint else True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, usual in zip(("alpha", "beta"), DISCOUNT_EXPONENTS, strict=True):
            value = getattr(self, name)
            if self.regrets != "discounted":
                if value is not None:
                    raise SpecError(
                        f"{name}={value:g} has no meaning with regrets={self.regrets}; "
                        f"leave it out (or {name}=none), or use regrets=discounted"
                    )
            elif value is None:
                object.__setattr__(self, name, usual)
            elif math.isnan(value):
                raise SpecError(f"{name} is not a number; the usual choice is {name}={usual:g}")

    @property
    def _weights(self) -> dict[str, float]:
        """Further fields of a rule."""
        return {}

    def _advance(self, game: Game, state: State, rng: np.random.Generator, threads: int) -> Advance:
        from eqbench.model.interleaved import interleave

        from . import iteration

        form, entries = game.plan_form.arrays, game.interleaved
        threads = min(threads, usable_cores()) if iteration.is_shareable(entries) else 1
        if game.product_form is not None:
            entries = game.product_form.parted(threads)
        elif threads > entries.parts:
            entries = interleave(game.sequence_form, threads)
        exponents = {"plain": (math.inf, math.inf), "clipped": (math.inf, -math.inf)}
        alpha, beta = exponents.get(self.regrets, (self.alpha, self.beta))
        assert alpha is not None
        assert beta is not None
        rule = self._rule(
            game,
            alpha=float(alpha),
            beta=float(beta),
            predictive=self.predictive,
            alternating=self.alternating,
            **self._weights,
        )
        work = functools.partial(iteration.advance_with, threads, form, entries, rule)
        return lambda start, count: work(start, count, state)


@dataclass(frozen=True)
class WeightedCFR(CFR):
    """Variants of CFR that weigh discounts and predictions differently.

    - DCFR+ and PDCFR+ (Xu et al., IJCAI 2024): discounted and clipped regrets, beta = -inf, without
      and with prediction, averaging 4 and 5. PDCFR+ is that of the authors' program, and DCFR+ is
      with shift=3/2.
    - Simple asymmetric PCFR+ (Meng et al., AAAI 2026): predictive CFR+ with asymmetry=2.

    The average profile is handed over, and nothing is claimed about its regret.

    Parameters
    ----------
    regrets, alpha, beta, predictive, averaging, alternating, start, joint : as of `cfr`
    shift : regrets are multiplied by t^alpha / (t^alpha + shift) after iteration t
    asymmetry : the last regret counts 1 / (1 + asymmetry) times more for the next frequencies
    """

    shift: float = 1.0
    asymmetry: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, needs, is_so in (
            ("shift", "regrets=discounted", self.regrets == "discounted" or self.shift == 1),
            ("asymmetry", "predictive=true", self.predictive or self.asymmetry == 0),
        ):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise SpecError(f"{name}={value:g}; it must be a finite number >= 0")
            if not is_so:
                raise SpecError(f"{name}={value:g} has no meaning without {needs}; add that")

    @property
    def _weights(self) -> dict[str, float]:
        return {"shift": float(self.shift), "prediction": 1 / (1 + self.asymmetry)}


@dataclass(frozen=True)
class MirrorDescent(RegretMinimizer):
    """Mirror descent with entropy at every information set, for the sake of the last iterate.

    The next frequencies are the softmax of discounted regrets. With two players and constant sum
    the last iterate came to rest in our measurements, with a fixed temperature if steps are small,
    and near an equilibrium as the temperature falls; papers prove less, the last one that the best
    of all iterates converges. The average and the last iterate are handed over, without a claim
    about their regret.

    - MMD, magnetic mirror descent (Sokota et al. 2023, section 5): values=behavioral, a uniform
      magnet. It rests at agent logit equilibria, lambda = 1 / (temperature x payoff range).
    - Reg-CFR (Liu, Ozdaglar, Yu and Zhang 2023): values=dilated, predictive, and steps that do
      not adapt. It rests at logit equilibria of the reduced strategic form. LiteEFG's default is
      Euclidean instead of entropy.
    - QFR (Liu, Farina and Ozdaglar 2024): values=bidilated, predictive, and equal steps at all
      information sets, without a lower bound on frequencies. The others' entropy is weighted with
      chance and not relative to equal frequencies; in LiteEFG it is the other way around.

    Parameters
    ----------
    values : what regrets are of
        `behavioral` payoffs if the information set is reached, `dilated` counterfactual payoffs,
        with the player's own later entropy, `bidilated` payoffs if it is reached, with his own
        later entropy and without that of the others. Entropy is weighted by the temperature.
    predictive : whether the last regret counts once more for the next frequencies
    step : of the first iteration, for payoffs divided by their range
    slowing : exponent of the fall of steps, those of iteration t are step / t^slowing
    temperature : weight of the entropy in the first iteration, for payoffs divided by their range
    cooling : exponent of the fall of the temperature, 0 keeps it
    averaging : weight of iteration t in the average profile: constant, t, t squared or t to a power
    alternating : whether players move in turn, each facing the others' newest frequencies
    start : frequencies of the first iteration, uniform or drawn from all simplices
    """

    values: Literal["behavioral", "dilated", "bidilated"] = "behavioral"
    predictive: bool = False
    step: float = 8.0
    slowing: float = 0.25
    temperature: float = 0.25
    cooling: float = 0.75
    averaging: Averaging = "uniform"
    alternating: bool = True
    start: Literal["uniform", "random"] = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("step", "slowing", "temperature", "cooling"):
            value = getattr(self, name)
            if not 0 <= value < math.inf or (name == "step" and value == 0):
                least = "> 0" if name == "step" else ">= 0"
                raise SpecError(f"{name}={value:g}; it must be a finite number {least}")
        if self.temperature == 0 and self.cooling != 0:
            raise SpecError(
                f"cooling={self.cooling:g} has no meaning with temperature=0; "
                "use cooling=0, or a temperature > 0"
            )

    @property
    def by_products(self) -> bool:
        """Whether large dealt games are solved without their trees; others' entropy needs them."""
        return self.values != "bidilated"

    def _advance(self, game: Game, state: State, rng: np.random.Generator, threads: int) -> Advance:
        from . import mirror

        product = game.product_form if self.by_products else None
        form, unit = product or game.sequence_form, game.tree.payoff_range or 1.0
        settings = mirror.Mirror(
            form.arrays,
            ("behavioral", "dilated", "bidilated").index(self.values),
            *(self.step / unit, self.slowing, self.temperature * unit, self.cooling),
            *(self._exponent, self.predictive, self.alternating),
            mirror.chances(form),
            *(np.zeros(size) for size in (form.n_sequences, form.n_infosets, form.n_sequences)),
        )
        # a logit that is not finite would never change again
        state.regrets[:] = np.log(np.maximum(state.behavior, np.finfo(float).tiny))
        advance = mirror.advance if product is None else mirror.advance_products
        return lambda start, count: advance(settings, start, count, state)


@dataclass(frozen=True)
class ExternalSampling(RegretMinimizer):
    """Monte Carlo CFR with external sampling (Lanctot, Waugh, Zinkevich and Bowling 2009).

    An iteration is one walk through the tree per player. A walk tries all actions of its
    player and draws one at chance nodes and at nodes of the others, so that the regrets seen
    on it are unbiased estimates of the counterfactual regrets. They add up as in plain CFR.
    The average profile is handed over, and nothing is claimed about its regret.

    Differs from the paper in the average profile: this adds the whole realization plans of
    all players, which costs time linear in the number of sequences. The usual updates at
    visited nodes of other players are biased with more than two players, since a visit then
    also depends on the frequencies of third players.

    Parameters
    ----------
    averaging : weight of iteration t in the average profile: constant, t, t squared or t to a power
    start : frequencies of the first iteration, uniform or drawn from all simplices
    """

    averaging: Averaging = "uniform"
    start: Literal["uniform", "random"] = "uniform"

    deterministic: ClassVar[bool] = False
    by_products: ClassVar[bool] = False

    def _advance(self, game: Game, state: State, rng: np.random.Generator, threads: int) -> Advance:
        from . import sampling

        arrays, rule = game.sequence_form.arrays, self._rule(game)
        walk, size = sampling.walk_arrays(game.tree), game.tree.n_nodes
        queue = sampling.Queue(np.zeros(size, np.int32), np.zeros(size, np.int32), np.zeros(size))
        return lambda start, count: sampling.advance(
            arrays, walk, rule, start, count, rng, queue, state
        )
