"""The solvers: one equilibrium, or the best one in some respect, by branch and bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from eqbench.errors import ProfileError, SpecError, UsageError, known_labels
from eqbench.model.facts import constant_sum, payoff_sums
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, action_labels, label_parts
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray
from eqbench.solver import Availability, Candidate, Monitor, Termination

from ..handover import OffPath, handed_over, warm_up
from ..logit.logit import Logit
from ..polish.plans import SOLVED, PlanGame, PolishedPlans, measured, polish, warm_up_polish
from ..search import bounded, memory_refusal
from ..semismooth import Semismooth
from .backends import BackendAnswer, BackendLimits, Gurobi, Scip, backends, choose
from .formulations import Formulated, Formulation, Target, TargetKind, formulate
from .presolve import CompactGame, dominated_actions, value_bounds
from .rational import REASON, ExactGame, exact_equilibrium

BackendName = Literal["auto", "gurobi", "scip"]
Fallback = Literal["auto", "none", "semismooth", "logit"]


# Terms of polynomials that are put together one by one; 10 s for building alone.
MOST_TERMS = 1_000_000
# Dense matrices over sequences that polishing has at a time, and the memory they may take.
MATRICES, MOST_BYTES = 4, 2**30


class ByProgram:
    """What the solvers share; of the options of `ncp` those that `mip` does not have."""

    formulation: Formulation | Literal["auto"] = "mip"
    backend: BackendName
    bounds: str = "off"
    dominated: str = "keep"
    polish: bool
    exact: bool
    sense: str = "none"
    of: str = ""
    feasibility: float
    gap: float = 0.0
    fallback: Fallback = "none"
    offpath: OffPath = "keep"

    def __post_init__(self) -> None:
        # what both backends take
        if not 1e-9 <= self.feasibility <= 1e-3:
            raise SpecError(f"feasibility={self.feasibility}; choose a number from 1e-9 to 1e-3")

    def availability(self) -> Availability:
        """Whether a backend can run here."""
        return choose(self.backend)[1]

    def supports(self, game: Game) -> bool | str:
        """True, or the reason why the formulation or the objective does not fit the game."""
        form, formulation = game.sequence_form, self.formulation
        if formulation == "mip" and not is_one_shot(form):
            return (
                "mip solves games in strategic form, where every player moves once without knowing "
                f"anything; this game has {form.n_infosets:,} information sets (ncp takes any game)"
            )
        unfit = memory_refusal(
            f"derivatives by {form.n_sequences:,} sequences, for polishing,",
            8 * MATRICES * form.n_sequences**2,
            MOST_BYTES,
            "a smaller game (cfr_plus and its relatives take larger ones)",
        )
        if unfit:
            return unfit
        terms = len(form.columns) * form.n_players
        if terms > MOST_TERMS:
            return (
                f"the program of this game would have about {terms:,} bilinear terms; at most "
                f"{MOST_TERMS:,} are taken (cfr_plus and its relatives take larger games)"
            )
        if self.exact and not game.tree.exact:
            return (
                "exact=true needs payoffs and probabilities in fractions; those of this game are "
                "floating-point numbers (leave exact out)"
            )
        if formulation == "constant_sum" and constant_sum(game) is None:
            lowest, highest = payoff_sums(form)
            return (
                "formulation=constant_sum needs payoffs that sum to a constant; here the sum "
                f"varies from {lowest:.6g} to {highest:.6g} (formulation=elimination takes any "
                "game)"
            )
        if formulation == "sos1" and form.n_players != 2:
            return (
                f"formulation=sos1 takes two players, this game has {form.n_players} "
                "(formulation=elimination takes any game)"
            )
        if formulation == "paper" and self.dominated == "remove":
            return "formulation=paper is the model without presolve; use dominated=keep"
        if formulation == "paper" and self.bounds == "on":
            return "formulation=paper is the model without presolve; use bounds=auto or off"
        try:
            find_target(self, game)
        except SpecError as error:
            return f'of="{self.of}": {error}'
        return True

    def availability_for(self, game: Game) -> Availability:
        """Whether the license that is here admits the program of this game."""
        here = set_up(self, game).available
        if here.state != "licence_size":
            return here
        return replace(here, reason=here.reason + alternatives(self, game))

    def prepare(self, game: Game) -> None:
        """Import the backends that may be used and compile what polishes."""
        for backend in backends(self.backend):
            backend.availability()
        if method := fallback_method(self, game):
            method.prepare(game)
        if self.polish or self.exact:
            warm_up_polish(game)
        warm_up(self.offpath, game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over what the backend found, and the outcome of it."""
        return ProgramRun(self, game, monitor, rng).run(set_up(self, game))


@dataclass(frozen=True)
class NCP(ByProgram):
    """Equilibria by a program with bilinear constraints (Ganzfried 2025).

    The complementarity conditions of the sequence form become constraints of a nonconvex
    quadratic program, which spatial branch and bound solves. Its point is good to the tolerance
    of constraints; Newton's method makes it good to rounding. With `sense` and `of` the program
    looks for the largest or smallest payoff or frequency over all equilibria, and proves a bound,
    to the tolerance of constraints.

    auto takes the constant-sum form where payoffs sum to a constant, else special ordered sets
    for two players, else complementarity in the sum for one-shot games and with elimination for
    others, and for an optimum always elimination; Gurobi where it is installed and its license
    admits the program, else SCIP.

    Branch and bound is meant for two players, and for three or more where Gurobi's license admits
    the program. Beyond, it rarely gets past its first node. Where it has no point after half of
    the time, another method takes over, which the result names; fallback=none does without.

    An iteration is a node of branch and bound, or a step of the method that took over. The result
    is claimed to be an equilibrium.

    Parameters
    ----------
    formulation : form of the program; paper is Ganzfried's word for word, auto depends on the game
    backend : what solves it; auto is Gurobi if its license admits the program, else SCIP
    bounds : on, off or auto: whether payoffs bound multipliers and slacks, which often helps Gurobi
        With auto one-shot games of three or more players have them in the second half of the time.
    dominated : keep, or remove actions that are found to be dominated (other equilibria are lost)
    polish : whether to improve the result to machine precision
    exact : whether to look for an equilibrium in fractions near the result; the seed chooses which
    sense : whether to look for the smallest or largest of what `of` names, over all equilibria
    of : payoff such as P1, frequency such as "P3|3:KB|call", sum, smallest, spread, nearest:FILE
        The last four are the sum of the payoffs, the smallest of them (with sense=max), the
        difference of the largest and the smallest (with sense=min), and the distance from the
        profile in a JSON file (with sense=min): the sum, over all actions at choices, of how much
        the probabilities differ with which their player's own play takes them.
    feasibility : how far constraints may be off, 1e-9 to 1e-3
    gap : relative gap between bound and best point at which an optimum counts as proved
    fallback : method that takes over, or none; auto is semismooth if the other options are as given
    offpath : whether to keep the play off the path of play, or to make it credible by logit
    """

    formulation: Literal["auto", "paper", "elimination", "aggregated", "constant_sum", "sos1"] = (
        "auto"
    )
    backend: BackendName = "auto"
    bounds: Literal["auto", "on", "off"] = "auto"
    dominated: Literal["keep", "remove"] = "keep"
    polish: bool = True
    exact: bool = False
    sense: Literal["none", "min", "max"] = "none"
    of: str = ""
    feasibility: float = 1e-6
    gap: float = 1e-4
    fallback: Fallback = "auto"
    offpath: OffPath = "logit"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.gap < 1:
            raise SpecError(f"gap={self.gap}; choose a number from 0 to 1, for example 1e-4")
        if (self.sense == "none") != (self.of == ""):
            raise SpecError(
                f'sense={self.sense} with of="{self.of}"; give both, for example sense=max with '
                "of=P1 or of=sum, or none"
            )
        nearest = self.of.startswith(f"{NEAREST}:")
        if self.of and not nearest and len(label_parts(self.of)) not in (1, 3):
            raise SpecError(
                f'of="{self.of}"; choose a player, such as "P1", or player, information set and '
                'action, such as "P3|3:KB|call", or sum, smallest, spread or "nearest:FILE"'
            )
        if self.of and self.dominated == "remove":
            raise SpecError(
                "dominated=remove loses equilibria, so it gives no statement about all of them; "
                "leave it out, or sense and of"
            )
        if self.fallback in ("semismooth", "logit") and not takes_any_equilibrium(self):
            raise SpecError(
                f"fallback={self.fallback} hands over any equilibrium; leave out sense and of, "
                "dominated=remove, exact=true and polish=false, or choose fallback=none"
            )


@dataclass(frozen=True)
class MIP(ByProgram):
    """Mixed-integer program for games in strategic form (after Ganzfried 2024).

    The baseline of Ganzfried 2025, Table 1: a binary variable for each pure strategy says
    whether it has no probability or no regret (Sandholm, Gilpin and Conitzer 2005, there for
    two players). Probabilities are multiplied as in `ncp`. An iteration is a node. The
    result is claimed to be an equilibrium.

    Parameters
    ----------
    backend : what solves it; auto is Gurobi if its license admits the program, else SCIP
    polish : whether to improve the result to machine precision
    exact : whether to look for an equilibrium in fractions near the result
    feasibility : how far constraints may be off, 1e-9 to 1e-3; 1e-4 as in the paper
    """

    backend: BackendName = "auto"
    polish: bool = True
    exact: bool = False
    feasibility: float = 1e-4


# -- what the options say of a game ----------------------------------------------------------------


def find_target(options: ByProgram, game: Game) -> Target | None:
    """What `of` names, with a sequence of the game's own, None if there is no target.

    Raises SpecError if the game has no such thing, or a frequency is always 1.
    """
    if options.sense == "none":
        return None
    tree, maximize = game.tree, options.sense == "max"
    if options.of not in tree.players:
        word, colon, file = options.of.partition(":")
        useful = _OVER_ALL.get(word) if bool(colon) == (word == NEAREST) else None
        if useful not in (None, "any", options.sense):
            raise SpecError(f"there is sense={useful} only")
        if useful is not None:
            plan = _plan_in(file, game) if colon else None
            return Target(cast(TargetKind, word), maximize, plan=plan)
    player, *place = label_parts(options.of)
    who = _position("player", player, tree.players)
    if not place:
        return Target("payoff", maximize, who)
    own = tree.infosets_of(who)
    labels = tree.infoset_labels[own.start : own.stop]
    infoset = own[_position("information set", place[0], labels)]
    action = _position("action", place[1], tree.infoset_actions[infoset])
    if len(tree.infoset_actions[infoset]) == 1:
        raise SpecError("this is the only action there, so its frequency is 1")
    sequence = int(tree.action_start[infoset]) + action + tree.n_players
    return Target("frequency", maximize, who, sequence)


NEAREST = "nearest"
# What concerns all players, by the sense that a program can express: the largest of smallest
# payoffs is one over a convex set, the smallest is not.
_OVER_ALL = {"sum": "any", "smallest": "max", "spread": "min", NEAREST: "min"}


def _plan_in(file: str, game: Game) -> FloatArray:
    """Realization plans (S,) of the profile in a file."""
    if file in ("", "-"):
        raise SpecError("name the JSON file of a profile, for example nearest:mine.json")
    try:
        profile = profile_from_json(game.tree, read_profile(file))
    except (ProfileError, UsageError) as error:
        raise SpecError(str(error)) from None
    return RealizationPlan.of(game.sequence_form, profile.probabilities).weights


def _position(kind: str, name: str, labels: tuple[str, ...]) -> int:
    if name not in labels:
        raise SpecError(f"no {kind} {name!r}; {known_labels(name, labels)}")
    return labels.index(name)


def takes_any_equilibrium(options: ByProgram) -> bool:
    """Whether any equilibrium in floats will do, as another method finds it."""
    plain = options.sense == "none" and options.dominated == "keep"
    return plain and options.polish and not options.exact


def fallback_method(options: ByProgram, game: Game) -> Semismooth | Logit | None:
    """What takes over where branch and bound has no point after half of the time.

    `auto` leaves a formulation that is named to branch and bound, and linear programs to simplex.
    """
    name = options.fallback
    if name == "auto":
        linear = game.tree.n_players == 2 and constant_sum(game) is not None
        plain = options.formulation == "auto" and takes_any_equilibrium(options)
        name = "semismooth" if plain and not linear else "none"
    if name == "none":
        return None
    method = Logit() if name == "logit" else Semismooth(offpath=options.offpath)
    return method if method.supports(game) is True else None


def is_one_shot(form: SequenceForm) -> bool:
    """Whether every player has one information set at most, and first moves there."""
    return len(np.unique(form.infoset_player)) == form.n_infosets


# -- the program of a game -------------------------------------------------------------------------

# Tolerances of backends are absolute. Payoff ranges between these are left as they are; others
# become 5, where Gurobi solves Kuhn games that it does not solve at 1.
SMALLEST_RANGE, LARGEST_RANGE, GOOD_RANGE = 0.1, 1000.0, 5.0


@dataclass(frozen=True, eq=False)
class SetUp:
    """A program with remarks on it."""

    formulated: Formulated
    backend: Gurobi | Scip  # the one that takes it, if `available` says so
    available: Availability
    figures: dict[str, Any]  # what presolve did, and the sizes of the program
    unit: float  # payoff that is 1 in the program
    target: Target | None  # what is optimized, None for nothing


def set_up(options: ByProgram, game: Game) -> SetUp:
    """The program of a game that the solver supports, and the backend for it."""
    formulation = chosen_formulation(options, game)
    figures: dict[str, Any] = {"formulation": formulation}
    removed = None
    if options.dominated == "remove":
        rounds = dominated_actions(game.tree)
        removed = rounds > 0
        figures |= {
            "dominated_actions": np.array(action_labels(game.tree))[removed].tolist(),
            "dominated_rounds": int(rounds.max(initial=0)),
        }
    form, unit = _in_units(game)
    # in strategic form the paper has no empty sequences, and so has the compact game
    verbatim = formulation == "paper" and not is_one_shot(form)
    compact = CompactGame.of(form, removed, verbatim=verbatim)
    constant = constant_sum(game)
    if constant is not None:
        constant /= unit
    target = find_target(options, game)
    if target is not None and target.kind == "frequency":
        target = replace(target, sequence=int(compact.alias[target.sequence]))
    if target is not None and target.plan is not None:
        plan = np.ones(compact.n_sequences)
        plan[compact.alias] = target.plan
        target = replace(target, plan=plan)
    formulated = formulate(compact, formulation, constant=constant, target=target)
    size = formulated.program.size  # bounds do not change it
    backend, available = choose(options.backend, size)
    bounded = _wants_bounds(options, game, formulation, backend.name)
    if bounded:
        formulated.tighten(*value_bounds(compact, game.tree, unit))
    figures |= {"backend": backend.name, "bounds": bounded, **size._asdict()}
    if formulation == "mip":
        del figures["bounds"]
        figures["binaries"] = sum(formulated.program.binary)
    return SetUp(formulated, backend, available, figures, unit, target)


def chosen_formulation(options: ByProgram, game: Game) -> Formulation:
    """The formulation that `auto` stands for, found by trial (docs/explanation/ncp.md)."""
    if options.formulation != "auto":
        return options.formulation
    if options.sense == "none" and constant_sum(game) is not None:
        return "constant_sum"
    if options.sense == "none" and game.tree.n_players == 2:
        return "sos1"
    one_shot = is_one_shot(game.sequence_form)
    return "aggregated" if one_shot and options.sense == "none" else "elimination"


def alternatives(options: ByProgram, game: Game) -> str:
    """What to do where a license does not admit a program: what is here and takes it."""
    ways = ["backend=scip"] if Scip().availability().state == "available" else []
    if isinstance(options, NCP):
        for name in ("elimination", "aggregated", "constant_sum", "sos1"):
            other = replace(options, formulation=name)
            if name != chosen_formulation(options, game) and other.supports(game) is True:
                made = set_up(other, game)
                if made.available.state == "available":
                    ways.append(f"formulation={name} ({made.figures['columns']:,} variables)")
    return "".join(f"; another way: {way}" for way in ways)


def _wants_bounds(options: ByProgram, game: Game, formulation: str, backend: str) -> bool:
    """Bounds help Gurobi on games in extensive form; without a target they hinder SCIP.

    With one, Gurobi proves nothing about payoffs that it takes for unbounded. Special ordered
    sets branch well with bounds only.
    """
    if formulation == "paper":
        return False
    if options.bounds != "auto":
        return options.bounds == "on"
    if options.sense != "none" or formulation == "sos1":
        return True
    return backend == "gurobi" and not is_one_shot(game.sequence_form)


def _in_units(game: Game) -> tuple[SequenceForm, float]:
    """The sequence form with payoffs that suit absolute tolerances, and what is 1 there."""
    form, span = game.sequence_form, game.tree.payoff_range
    if span == 0 or SMALLEST_RANGE <= span <= LARGEST_RANGE:
        return form, 1.0
    unit = span / GOOD_RANGE
    return replace(form, base=form.payoffs / unit, slope=None, value=0.0), unit


# -- a run -----------------------------------------------------------------------------------------

# Share of the payoff range up to which a result counts as an equilibrium to be polished;
# beyond, Newton's method would be another solver and the backend's mistake would be hidden.
POLISHABLE = 1e-3
# Time kept back for what comes after the backend: share of what is left, and seconds.
RESERVE_SHARE, LARGEST_RESERVE_S = 0.1, 2.0


class ProgramRun:
    """The run of one solver on one game."""

    def __init__(
        self, options: ByProgram, game: Game, monitor: Monitor, rng: np.random.Generator
    ) -> None:
        self._options, self._game, self._monitor, self._rng = options, game, monitor, rng
        self._plans = PlanGame(game)

    def run(self, made: SetUp) -> Termination:
        """Solve, hand over and say how it ended."""
        monitor, options, formulated = self._monitor, self._options, made.formulated
        monitor.record(**made.figures)
        if made.available.state != "available":
            return Termination("failed", made.available.reason)
        method = fallback_method(options, self._game)
        kept_s = min(RESERVE_SHARE * monitor.remaining_s, LARGEST_RESERVE_S)
        if method is not None:
            kept_s = monitor.budget.timeout_s / 2
        answer = self._branch_and_bound(made, kept_s)
        if answer.values is None and method is not None and not self._all_nodes(monitor.work):
            return self._take_over(method, answer)
        bound_text = ""
        if made.target is not None:
            unit = made.unit if made.target.in_payoffs else 1.0
            bound_text = self._record_bound(answer, made.target, unit)
        if answer.values is not None:
            self._hand_over(formulated.weights(answer.values), self._allowed(made))
        return self._ending(answer, bound_text)

    def _branch_and_bound(self, made: SetUp, kept_s: float) -> BackendAnswer:
        """The backend's answer until `kept_s` are left, in the second half with bounds."""
        monitor, options, program = self._monitor, self._options, made.formulated.program
        formulation = made.figures["formulation"]
        limits = BackendLimits(
            time_s=0.0,
            nodes=monitor.budget.iterations,
            threads=monitor.budget.threads,
            seed=int(self._rng.integers(2**31)),
            feasibility=options.feasibility,
            gap=options.gap,
            # Gurobi: on 100 seeds of kuhn3 and kuhn3_reduced each, 0.35 s at most instead of 5
            presolve=formulation != "constant_sum",
        )

        def show(values: FloatArray) -> None:
            """A snapshot of what the backend has found, in case that it is killed later."""
            weights = made.formulated.weights(values)
            monitor.snapshot(lambda: self._plans.behavior(self._plans.feasible(weights)))

        answer, nodes = BackendAnswer("limit", "building the program took all the time"), 0
        # Gurobi solves some games without bounds only, others with them only
        unbounded = options.bounds == "auto" and made.figures.get("bounds") is False
        both = unbounded and made.backend.name == "gurobi" and formulation != "paper"
        for share in (0.5, 1.0) if both else (1.0,):
            if both and share == 1.0:
                low, high = value_bounds(made.formulated.game, self._game.tree, made.unit)
                made.formulated.tighten(low, high)
                monitor.record(bounds=True)
                limits = replace(limits, nodes=limits.nodes and limits.nodes - nodes)
            if (time_s := share * (monitor.remaining_s - kept_s)) > 0:
                answer = made.backend.solve(program, replace(limits, time_s=time_s), show)
                nodes += answer.figures.get("nodes", 0)
            if answer.values is not None or answer.ending != "limit" or self._all_nodes(nodes):
                break
        monitor.work = nodes
        monitor.record(backend_status=answer.detail, **answer.figures | {"nodes": nodes})
        return answer

    def _all_nodes(self, nodes: int) -> bool:
        """Whether the budget of iterations is spent."""
        most = self._monitor.budget.iterations
        return most is not None and nodes >= most

    def _take_over(self, method: Semismooth | Logit, answer: BackendAnswer) -> Termination:
        """What another method makes of the time that is left; the record and the reason name it."""
        monitor, name = self._monitor, type(method).__name__.lower()
        before = f"branch and bound had no point after {monitor.elapsed_s:.3g} s ({answer.detail})"
        monitor.record(fallback=name)
        ending = method.solve(self._game, monitor, self._rng)
        return replace(ending, detail=f"{before}; {name}: {ending.detail}")

    def _record_bound(self, answer: BackendAnswer, target: Target, unit: float) -> str:
        """Record the optimum and what was proved, times a unit; returns the same in words."""
        best = None if answer.objective is None else answer.objective * unit
        bound = None if answer.bound is None else answer.bound * unit
        self._monitor.record(
            sense="max" if target.maximize else "min",
            objective=best,
            bound=bound,
            # as a share of the best point; None where that is 0
            gap=abs(bound - best) / abs(best) if best and bound is not None else None,
        )
        if bound is None:
            return "; no bound was proved"
        sign, reached = "<=" if target.maximize else ">=", "none" if best is None else f"{best:.9g}"
        return f"; best {reached}, proved to solver tolerance: all are {sign} {bound:.9g}"

    def _allowed(self, made: SetUp) -> float:
        """The regret that the tolerance of constraints explains, in payoff units.

        A player's gain is the sum of x_s r_s, to which each constraint adds its error, times
        weights (1 at most) or values (about the payoff range at most). Of many constraints few
        are off by that much at a time, so no more than 100 tolerances are excused.
        """
        size = made.formulated.program.size
        errors = min(size.rows + size.quadratic_constraints, 100)
        return errors * self._options.feasibility * max(made.unit, self._plans.scale)

    def _hand_over(self, weights: FloatArray, allowed: float) -> None:
        """The backend's own point, claimed to `allowed`, and a better one that polishing made."""
        monitor = self._monitor
        best = raw = measured(self._plans, self._plans.feasible(weights))
        monitor.record(raw_max_regret=raw.regret)
        if self._options.polish and raw.regret <= POLISHABLE * self._plans.scale:
            best = polish(self._game, weights)
        if best.regret < raw.regret:
            monitor.candidate(raw.behavior, "iterate")
            profile = BehaviorProfile.of(self._game.tree, best.behavior)
            monitor.candidate(self._credible(profile), "equilibrium")
        else:
            profile = self._credible(BehaviorProfile.of(self._game.tree, raw.behavior))
            monitor.candidate(bounded(self._game, profile, allowed))
        if self._options.exact:
            monitor.record(exact=self._hand_over_exact(best))

    def _hand_over_exact(self, near: PolishedPlans) -> str:
        """An equilibrium in fractions near one, if there is one; returns the outcome of it."""
        monitor = self._monitor
        if near.regret > SOLVED * self._plans.scale:
            return f"not tried, since the max regret here is {near.regret:.2g}"
        frequencies = exact_equilibrium(
            self._game, near.weights, stop=lambda: monitor.remaining_s <= 0, rng=self._rng
        )
        if frequencies is None:
            return "not found within the time limit" if monitor.remaining_s <= 0 else REASON
        profile = BehaviorProfile.of_exact(self._game.tree, frequencies)
        credible = self._credible(profile)
        if credible.exact is not None and ExactGame(self._game).is_equilibrium(credible.exact):
            profile = credible
        monitor.candidate(Candidate(profile, "equilibrium", claimed_regret=0.0))
        return "found"

    def _credible(self, profile: BehaviorProfile) -> BehaviorProfile:
        """An equilibrium with the play off its path as the option says.

        A frequency that was to be the largest may lie off the path, as may what was to be near.
        """
        if "|" in self._options.of or self._options.of.startswith(f"{NEAREST}:"):
            return profile
        return handed_over(self._options.offpath, self._game, self._monitor, profile).profile

    def _ending(self, answer: BackendAnswer, bound_text: str) -> Termination:
        found = "" if answer.values is None else "; the best point so far is handed over"
        if answer.ending == "limit":
            nodes, timeout_s = self._monitor.work, self._monitor.budget.timeout_s
            spent = f"{nodes:,} nodes" if self._all_nodes(nodes) else f"{timeout_s:g} s"
            limit = f"stopped after {spent} ({answer.detail}){found}"
            return Termination("limit", limit + bound_text)
        if answer.ending == "infeasible":
            return Termination(
                "failed",
                "the backend calls the program infeasible, but every finite game has an "
                f"equilibrium ({answer.detail}); try another seed, feasibility or formulation",
            )
        if answer.ending == "failed" or answer.values is None:
            return Termination("failed", f"the backend ended with: {answer.detail}{found}")
        return Termination("converged", answer.detail + bound_text)
