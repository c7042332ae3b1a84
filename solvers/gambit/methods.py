"""Gambit's methods as a table: what each needs, how it is called, and what is promised of it.

A class is a row: its name and its fields are those of the method and its options in Gambit, and
the attributes below them are what differs from :class:`GambitMethod`, where all of the work is.
What an option means stands in :data:`OPTIONS`, and from there in the docstrings of the classes.
None of the lists of equilibria is claimed to be complete: poker games mostly have infinitely many
equilibria, of which only some can be listed, and Gambit does not say whether a game has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from inspect import get_annotations, signature
from typing import Any, ClassVar, Literal

import numpy as np

from eqbench.errors import GameFormatError, ProfileError, SpecError, counted
from eqbench.model.gambit_text import exact_sums
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.solver import Availability, Monitor, Termination, warm_up
from eqbench.text import short_number

from ..search import BudgetSpentError, bounded, check_time, importable
from .conversion import converted, decisions_in_turn

# Relative distance from the last lambda requested within which the path has come there.
ARRIVED = 1e-6

# Gambit lists the 82,097 strategies of three-player Kuhn poker in a second and 95 MiB, but what
# follows grows with the square. A contingency of two-player Kuhn poker takes it 0.13 ms, one of
# a larger game longer, so that more than these are a matter of many hours.
MOST_STRATEGIES = 20_000
MOST_CONTINGENCIES = 100_000_000

# What an option is, a test of its values, and what they must be in words.
_POSITIVE = (lambda value: value > 0, "a positive number")
_LIMIT = (lambda value: value >= 0, "a number >= 1, or 0 for no limit")
_ANY = (lambda value: True, "")
OPTIONS: dict[str, tuple[str, Callable[[Any], bool], str]] = {
    "rational": ("whether to compute with rationals, otherwise with floats", *_ANY),
    "use_strategic": ("whether to use the strategic form, otherwise the tree", *_ANY),
    "stop_after": ("most equilibria to look for, 0 for all", *_LIMIT),
    "maxregret": ("regret that is accepted, as a share of the range of payoffs", *_POSITIVE),
    "maxiter": ("most iterations of the minimization", *_POSITIVE),
    "refine": ("factor by which the grid becomes finer", lambda value: value >= 2, "a number >= 2"),
    "leash": ("most steps on one grid, 0 for no limit", *_LIMIT),
    "end_lambda": ("bonus at which the path is left", lambda value: value < 0, "a number < 0"),
    "steps": ("steps within a support; more are safer and slower", *_POSITIVE),
    "end": ("lambda at which to stop, in units of one over payoff", *_POSITIVE),
    "first_step": ("length of the first step along the path", *_POSITIVE),
    "max_accel": ("largest growth of a step", lambda value: value >= 1, "a number >= 1"),
}


class GambitMethod:
    """A method of Gambit as a solver."""

    deterministic: ClassVar[bool] = True
    # whether it is for such games only
    two_players: ClassVar[bool] = False
    constant_sum: ClassVar[bool] = False
    # whether it is called with the game or with mixed strategies at equal weights
    start: ClassVar[Literal["game", "floats", "rationals"]] = "game"
    many: ClassVar[bool] = False  # whether it looks for more than one equilibrium
    exact: ClassVar[bool] = False  # whether it computes with rationals, where this is no option
    # sentence on what is handed over, for the docstring
    claims: ClassVar[str] = (
        "Results are claimed to be equilibria, up to the regret that Gambit promises."
    )

    def __init_subclass__(cls) -> None:
        """Describe the options of a method in its docstring, where all solvers have theirs."""
        lines = [f"{name} : {OPTIONS[name][0]}" for name in get_annotations(cls)]
        head = ["Parameters", "----------"] if lines else []
        parts = [f"{cls.__doc__}".rstrip(), cls.claims, "", *head, *lines]
        cls.__doc__ = "\n    ".join(parts)

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            _, accepts, wanted = OPTIONS[name]
            if not accepts(value):
                raise SpecError(f"{name}={value}; choose {wanted}")

    def availability(self) -> Availability:
        """Whether pygambit can be imported."""
        return importable("pygambit")

    def supports(self, game: Game) -> bool | str:
        """True, or why the players, the payoffs or the size of the strategic form do not fit."""
        name, tree = f"gambit_{self._name}", game.tree
        if self.two_players and tree.n_players != 2:
            players = counted(tree.n_players, "player")
            return f"{name} solves two-player games; this game has {players}"
        sums = exact_sums(tree) if self.constant_sum else ()
        if len(sums) > 1:
            return (
                f"{name} solves two-player constant-sum games; here the payoffs sum to "
                f"{float(min(sums)):.6g} up to {float(max(sums)):.6g} "
                "(gambit_lcp solves such games)"
            )
        # those without the option have no other form
        strategic = vars(self).get("use_strategic", True)
        counts = game.plan_form.strategy_counts if strategic else [1]
        contingencies = math.prod(counts)
        if sum(counts) <= MOST_STRATEGIES and contingencies <= MOST_CONTINGENCIES:
            return True
        return (
            "the method works on the strategic form, and that of this game has "
            f"{' x '.join(map(short_number, counts))} = {short_number(contingencies)} "
            f"contingencies; at most {MOST_STRATEGIES:,} strategies and {MOST_CONTINGENCIES:,} "
            "contingencies are tried (gambit_logit_path works on the tree)"
        )

    def prepare(self, game: Game) -> None:
        """Convert the game to Gambit and compile what measures snapshots."""
        with suppress(GameFormatError):  # `solve` ends with the reason
            converted(game)
        warm_up(game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over equilibria as Gambit finds them within the budget; `rng` is not used."""
        try:
            run = GambitRun(game, monitor, self._promised(game), many=self.many)
        except GameFormatError as error:
            return Termination("failed", str(error))
        result = run.call(self._call)
        if isinstance(result, Termination):
            return result
        words = str(getattr(getattr(result, "reason", None), "name", "")).lower().replace("_", " ")
        report = f" (Gambit: {words})" if words else ""
        if not result.success:
            return Termination("stopped", f"Gambit reports no success{report}")
        if not run.found:
            return Termination(
                "not_found", f"Gambit reports success without an equilibrium{report}"
            )
        ending = "um" if run.found == 1 else "a"
        return Termination("converged", f"{run.found} equilibri{ending}{report}")

    @property
    def _name(self) -> str:
        """The name of the method in Gambit."""
        return type(self).__name__.removeprefix("Gambit").lower()

    def _promised(self, game: Game) -> float | None:
        """Return the max regret that Gambit promises of equilibria, as a share of the payoff range.

        It is 0 for exact methods and None where nothing is promised.
        """
        options = vars(self)
        if "maxregret" in options:
            tree = not options.get("use_strategic", True)
            agents = decisions_in_turn(game.sequence_form) if tree else 1
            return float(options["maxregret"] * agents)
        return 0.0 if options.get("rational", self.exact) else None

    def _call(self, run: GambitRun) -> Any:
        """Return Gambit's result, or a Termination; what it found is handed over."""
        from pygambit import Rational, nash

        start, options = run.gambit.game, self._options(run)
        if self.start != "game":
            start = start.mixed_strategy_profile(rational=self.start == "rationals")
        if self.start == "rationals":
            options["maxregret"] = Rational(repr(options["maxregret"]))
        for limit in {"stop_after", "leash"} & options.keys():
            options[limit] = options[limit] or None
        function = getattr(nash, f"{self._name}_solve")
        callbacks = {
            name: run.guarded(work)
            for name, work in (("nash_callback", run.take), ("event_callback", run.follow))
            if name in signature(function).parameters
        }
        result = function(start, **options, **callbacks)
        if "nash_callback" not in callbacks and result.equilibrium is not None:
            run.take(result.equilibrium)
        if not run.found:
            self._leave(run)
        return result

    def _options(self, run: GambitRun) -> dict[str, Any]:
        """Return the keywords of Gambit's function."""
        return dict(vars(self))

    def _leave(self, run: GambitRun) -> None:
        """Hand over where a method stands that found nothing, if that is worth anything."""


@dataclass(frozen=True)
class LP(GambitMethod):
    """Gambit's linear program for two players with constant sum (Koller et al. 1996).

    `pygambit.nash.lp_solve`, by default on the sequence form and in rationals: one equilibrium,
    exactly. It cannot be stopped but by killing it.
    """

    rational: bool = True
    use_strategic: bool = False

    two_players = constant_sum = True


@dataclass(frozen=True)
class GambitLCP(GambitMethod):
    """Gambit's complementary pivoting for two players (Lemke and Howson 1964; Lemke 1965).

    `pygambit.nash.lcp_solve`, in rationals by default. On the sequence form it finds one
    equilibrium, as Koller, Megiddo and von Stengel (1996) describe; on the strategic form all
    that paths of Lemke and Howson lead to, which need not be all that there are.
    """

    rational: bool = True
    use_strategic: bool = False
    stop_after: int = 0

    two_players = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stop_after and not self.use_strategic:
            raise SpecError(
                f"stop_after={self.stop_after} without use_strategic: on the sequence form there "
                "is one equilibrium to find; leave stop_after out or add use_strategic=true"
            )

    def _call(self, run: GambitRun) -> Any:
        run.many = self.use_strategic
        return super()._call(run)

    def _options(self, run: GambitRun) -> dict[str, Any]:
        # a table has no sequence form, and there Gambit would look for all
        only_one = run.gambit.is_table and not self.use_strategic
        return super()._options(run) | ({"stop_after": 1} if only_one else {})


@dataclass(frozen=True)
class EnumPure(GambitMethod):
    """Gambit's search through all combinations of pure strategies.

    `pygambit.nash.enumpure_solve`: all equilibria in pure strategies of the reduced strategic
    form, exactly. Those in mixed strategies are not looked for.
    """

    many = exact = True


@dataclass(frozen=True)
class EnumMixed(GambitMethod):
    """Gambit's extreme equilibria of two-player games (Mangasarian 1964; Avis et al. 2010).

    `pygambit.nash.enummixed_solve`: those of which all others are mixtures, exactly by default.
    """

    rational: bool = True

    two_players = many = True


@dataclass(frozen=True)
class EnumPoly(GambitMethod):
    """Gambit's search through supports, with a polynomial system for each.

    `pygambit.nash.enumpoly_solve`, on the tree unless set otherwise. Supports whose systems
    are singular are passed over, as are those on which it spends too many rectangles; how many
    is recorded.
    An iteration is a support.
    """

    maxregret: float = 1e-8
    stop_after: int = 0
    use_strategic: bool = False

    many = True

    def _call(self, run: GambitRun) -> Any:
        run.monitor.record(singular_supports=0, abandoned_supports=0)
        return super()._call(run)


@dataclass(frozen=True)
class Liap(GambitMethod):
    """Gambit's minimization of a Lyapunov function (McKelvey 1991).

    `pygambit.nash.liap_solve` from the strategies at equal weights. It may end in a local
    minimum that is no equilibrium, and it can be stopped only by killing it.
    """

    maxregret: float = 1e-4
    maxiter: int = 1000

    start = "floats"

    def _leave(self, run: GambitRun) -> None:
        run.leave(run.last_event.profile)


@dataclass(frozen=True)
class Simpdiv(GambitMethod):
    """Gambit's simplicial subdivision (van der Laan, Talman and van der Heyden 1987).

    `pygambit.nash.simpdiv_solve` from the strategies at equal weights, in rationals.
    An iteration is a refinement of the grid.
    """

    maxregret: float = 1e-7
    refine: int = 2
    leash: int = 0

    start = "rationals"


@dataclass(frozen=True)
class GNM(GambitMethod):
    """Gambit's global Newton method (Govindan and Wilson 2003).

    `pygambit.nash.gnm_solve`, from a bonus on the first strategy of every player: the
    equilibria that its path comes through, often several and sometimes none.
    An iteration is a step along the path.
    """

    end_lambda: float = -10.0
    steps: int = 100

    many = True


@dataclass(frozen=True)
class IPA(GambitMethod):
    """Gambit's iterated polymatrix approximation (Govindan and Wilson 2004).

    `pygambit.nash.ipa_solve`, from a bonus on the first strategy of every player. It need not
    converge. An iteration is one of the method.
    """


@dataclass(frozen=True)
class HP(GambitMethod):
    """Gambit's homotopy from best replies to a prior (Herings and Peeters 2001).

    `pygambit.nash.hp_solve`, from the prior that gives all strategies equal weights.
    An iteration is a point on the path.
    """

    maxregret: float = 1e-8

    start = "floats"


@dataclass(frozen=True)
class GambitLogit(GambitMethod):
    """Gambit's equilibrium at the end of the logit path, as it stands (Turocy 2005, 2010).

    `pygambit.nash.logit_solve`: the path of `gambit_logit_path` until the regret is small. It
    first looks for the range of all expected payoffs, during which it cannot be stopped and which
    takes longer than minutes on three-player Kuhn poker.
    An iteration is a point on the path.
    """

    maxregret: float = 1e-8
    first_step: float = 0.03
    max_accel: float = 1.1
    use_strategic: bool = False

    def _leave(self, run: GambitRun) -> None:
        run.leave_latest()


@dataclass(frozen=True)
class LogitPath(GambitMethod):
    """Gambit's logit path, followed up to a given lambda (Turocy 2005, 2010).

    `pygambit.qre.logit_solve_lambda`: quantal response equilibria on the principal branch, from
    uniform play at lambda = 0. On trees these are of agents, whose action values are
    conditional on their information set. A point on the path is an approximation and is handed
    over as an iterate. The path is left before `end` where a snapshot has the target's regret.
    Where rounding ends it early, Gambit returns the last point without a word; here the reason
    says so.
    An iteration is a point on the path.
    """

    end: float = 1e6
    first_step: float = 0.03
    max_accel: float = 1.1
    use_strategic: bool = False

    claims = ""

    def _call(self, run: GambitRun) -> Termination:
        from pygambit.qre import logit_solve_lambda

        options = dict(vars(self), event_callback=run.guarded(run.follow))
        last = logit_solve_lambda(run.gambit.game, [options.pop("end")], **options)[-1]
        regret = run.leave(last.profile)
        reached = f"lambda = {last.lam:.6g}, max regret {regret:.3g}"
        if regret <= run.monitor.target:
            return Termination("converged", f"followed the path to {reached}")
        if last.lam < self.end * (1 - ARRIVED):
            return Termination("stopped", f"Gambit's path ends at {reached}, before {self.end:g}")
        return Termination("stopped", f"followed the path to {reached}")


# -- one call of Gambit: its callbacks serve the monitor, the only way to stop it ------------------

# Events that tell of a step, most of them with where it led to.
STEPS = (
    *("EnumPolyCandidateSupportEvent", "LogitPathEvent", "SimpdivRefinementEvent"),
    *("IPAStepEvent", "HPStepEvent", "GNMStepEvent"),
)
PASSED_OVER = {
    "EnumPolySingularSupportEvent": "singular_supports",
    "EnumPolyBudgetExceededSupportEvent": "abandoned_supports",
}


class GambitRun:
    """One run of a method on one game.

    Attributes
    ----------
    gambit : GambitGame
    many : whether the method looks for more than one equilibrium
    found : number of equilibria that were handed over
    last_event : what Gambit reported last, or None
    """

    def __init__(self, game: Game, monitor: Monitor, promised: float | None, *, many: bool) -> None:
        self.game, self.gambit = game, converted(game)
        self.monitor, self.many = monitor, many
        self._promised = None if promised is None else promised * game.tree.payoff_range
        self.found = 0
        self.last_event: Any = None
        self._place: Any = None
        self._raised: BaseException | None = None
        self._chunks = monitor.chunks()
        self._end, self._due = 0, False
        monitor.record(pygambit=metadata.version("pygambit"))
        counts = game.sequence_form.strategy_counts
        if max(counts) < 2**53:  # beyond it, readers of JSON may lose digits
            monitor.record(strategies=[*counts])

    def call(self, method: Callable[[GambitRun], Any]) -> Any:
        """Result of a method of Gambit, or the Termination if it did not come to one."""
        try:
            self._next_chunk()
            return method(self)
        except (BudgetSpentError, RuntimeError, ValueError, ProfileError) as error:
            # Gambit makes a RuntimeError of whatever a callback raises
            cause = self._raised
            if isinstance(cause or error, BudgetSpentError):
                if not self.found:
                    self.leave_latest()
                return self.monitor.termination()
            if cause is None or isinstance(cause, ProfileError):
                return Termination("failed", f"Gambit: {error}")
            raise cause from error
        finally:
            if self.monitor.work:  # many methods tell of no steps
                self.monitor.record(steps=self.monitor.work)

    def guarded(self, work: Callable[[Any], None]) -> Callable[[Any], None]:
        """Callback for Gambit that keeps what `work` raises, of which Gambit keeps the text."""

        def callback(given: Any) -> None:
            try:
                work(given)
            except BaseException as error:
                self._raised = error
                raise

        return callback

    def follow(self, event: Any) -> None:
        """Count a step, or a support that is passed over; of others only the last is kept.

        Where a step led to becomes a snapshot if one is due, and may end the run at the target.
        BudgetSpentError ends it after the last step allowed.
        """
        self.last_event = event
        kind, statistics = type(event).__name__, self.monitor.statistics
        if kind in PASSED_OVER:
            statistics[PASSED_OVER[kind]] += 1
        if kind not in STEPS:
            return
        self._place = getattr(event, "qre", getattr(event, "profile", None))
        if kind == "LogitPathEvent":
            statistics["lambda"] = self._place.lam
        self.monitor.work += 1
        if self.monitor.work >= self._end:
            # global Newton has further equilibria ahead, so that the target must not end it
            if self._due and self._place is not None and kind != "GNMStepEvent":
                self.monitor.snapshot(self._frequencies)
            self._next_chunk()

    def _frequencies(self) -> FloatArray:
        """Frequencies (A,) where the last step led to."""
        return self.gambit.behavior(self._place).probabilities

    def _next_chunk(self) -> None:
        chunk = next(self._chunks, None)
        if chunk is None:
            raise BudgetSpentError
        start, count, self._due = chunk
        self._end = start + count

    def take(self, profile: Any) -> None:
        """Hand over a pygambit profile that Gambit calls an equilibrium, as far as it is one.

        The regret claimed is the one that Gambit promises. If the method looks for many and
        time is up, BudgetSpentError ends it.
        """
        self.monitor.candidate(bounded(self.game, self.gambit.behavior(profile), self._promised))
        self.found += 1
        if self.many:
            check_time(self.monitor)

    def leave(self, profile: Any) -> float:
        """Hand over where a method ended without an equilibrium; returns the max regret.

        That is as Gambit measures it, of players and on the very behavior that is handed over.
        """
        behavior = self.gambit.behavior(profile)
        regret = max(float(self.gambit.profile(behavior).max_regret()), 0.0)
        self.monitor.candidate(behavior, "iterate", regret)
        return regret

    def leave_latest(self) -> None:
        """Hand over where the method stands, if it has reported."""
        if self._place is not None:
            self.monitor.candidate(self._frequencies(), "iterate")
