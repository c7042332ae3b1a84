"""What the studies are asked for; the docstring of a request is the help of its command."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from eqbench.requests import (
    DURATION,
    FILE,
    FLAG,
    GAME,
    JOBS,
    NODES,
    NUMBER_OR_NONE,
    POSITIVE,
    SEED,
    SOLVER,
    THREADS,
    Choice,
    Exact,
    Integer,
    Interval,
    Kind,
    Number,
    Option,
)

if TYPE_CHECKING:
    from eqbench.registry import Registry


@dataclass(frozen=True, kw_only=True)
class StudyRequest:
    """What all studies are asked for.

    Attributes
    ----------
    command : name of the command
    study : where its class is, as ``module:class``
    draws : what ``--figures`` draws; empty if there are no figures
    """

    command: ClassVar[str]
    study: ClassVar[str] = ""
    draws: ClassVar[str] = ""

    max_nodes: Annotated[
        int, Option("Refuse games with more nodes than this.", NODES, "max-nodes")
    ] = 10_000_000
    plugins: Annotated[
        tuple[str, ...],
        Option(
            "Python file that registers games or solvers; may be given several times.",
            FILE,
            "plugin",
            extends=True,
        ),
    ] = ()

    def registry(self) -> Registry:
        """The names that the specs of the request may use."""
        from eqbench.registry import default_registry

        return default_registry().with_plugins(self.plugins)


@dataclass(frozen=True, kw_only=True)
class QuantalRequest(StudyRequest):
    """Follow branches of logit quantal response equilibria from lambda 0 to large lambda.

    At every information set log(p_a / p_b) = log(prior_a / prior_b) + lambda (v_a - v_b), where
    v are values of actions conditional on reaching it (Turocy 2010). The principal branch begins
    at uniform behavior. Writes points.csv, summary.json and profiles. Exit code: 0 done, also
    where a branch was lost on its way, which the summary says; 2 usage, 130 interrupted.
    """

    command = "qre"
    study = "eqbench.studies.qre:QuantalStudy"
    draws = "the frequencies against lambda"

    game: Annotated[str, Option("Game, for example kuhn3 or a file such as game.efg.", GAME)]
    last: Annotated[
        float,
        Option("Lambda at which branches end.", Number("LAMBDA", positive=True, most=1e15), "to"),
    ] = 1e6
    at: Annotated[
        tuple[float, ...],
        Option(
            "Put a point at exactly this lambda, verify it and write its profile; may be given "
            "several times.",
            Number("LAMBDA", positive=True, most=1e15),
        ),
    ] = ()
    branches: Annotated[
        int,
        Option(
            "Also follow N branches that begin at priors drawn at random.",
            NUMBER_OR_NONE,
            extends=True,
        ),
    ] = 0
    seed: Annotated[int, Option("Of the first of these.", SEED)] = 0
    solver: Annotated[str, Option("Solver that follows such branches.", SOLVER)] = "logit"


MOST = "most"
_OF_SOLVER = "that of the solver"


@dataclass(frozen=True, kw_only=True)
class TraceRequest(StudyRequest):
    """Follow a branch of regularized equilibria along a payoff parameter.

    Writes points.csv and summary.json. A trace that was interrupted or stopped goes on with
    --resume. What is counted are equilibria on this branch, for the epsilon and the
    regularization that are printed with them; others may exist beside it. Exit code: 0 traced
    or stopped at a limit, 1 the branch was lost or has no start, 2 usage, 130 interrupted.
    """

    command = "trace"
    study = "eqbench.studies.trace.study:TraceStudy"
    draws = "payoffs, frequencies and counts"

    game: Annotated[
        str,
        Option(
            "Game with a payoff parameter, for example skp or 'kuhn(players=3, cards=10)'.", GAME
        ),
    ]
    parameter: Annotated[
        str, Option("The parameter.", Kind("NAME"), default="that of the game")
    ] = ""
    first: Annotated[Fraction, Option("Where the branch begins.", Exact(), "from")]
    last: Annotated[
        Fraction,
        Option(
            "Towards where it is followed, up or down, until it leaves the range at either end.",
            Exact(),
            "to",
        ),
    ]
    epsilon: Annotated[
        float | None,
        Option("Strength of the regularization in payoff units.", POSITIVE, default=_OF_SOLVER),
    ] = None
    regularization: Annotated[
        str | None,
        Option(
            "How frequencies are kept inside their bounds.",
            Choice(words=("log", "arctan", "rational")),
            default=_OF_SOLVER,
        ),
    ] = None
    derivative: Annotated[
        str | None,
        Option(
            "Action values, without or with the own reach.",
            Choice(words=("counterfactual", "raw")),
            default=_OF_SOLVER,
        ),
    ] = None
    solver: Annotated[str, Option("Solver that follows branches.", SOLVER)] = "arclength"
    at: Annotated[
        tuple[Fraction | str, ...],
        Option(
            "Polish and verify the equilibria on the branch at this value, or where it has `most` "
            "points at one value, for which the branch is followed a second time; may be given "
            "several times.",
            Exact(words=(MOST,)),
        ),
    ] = ()
    starts: Annotated[
        int,
        Option(
            "At each such value, also look beside the branch from N random starts; they take time "
            "beyond --time.",
            NUMBER_OR_NONE,
        ),
    ] = 0
    seed: Annotated[int, Option("Of the random starts.", SEED)] = 0
    most_points: Annotated[
        int | None,
        Option(
            "Stop when the branch has N points; --resume goes on.",
            Integer("N", 2),
            "most-points",
            once=True,
        ),
    ] = None
    time_s: Annotated[
        float | None,
        Option(
            "Stop after S seconds of tracing; --resume goes on. What --at and --starts ask for is "
            "done after that, however long it takes.",
            DURATION,
            "time",
            once=True,
        ),
    ] = None
    close_ups: Annotated[
        tuple[tuple[float, float], ...],
        Option(
            "With --figures: also show this range of the parameter by itself; may be given "
            "several times.",
            Interval(),
            "close-up",
            once=True,
        ),
    ] = ()
    animate: Annotated[
        int | None,
        Option(
            "Three-player Kuhn poker: write the strategies along the branch as animation.gif.",
            Integer("FRAMES", 2, 10_000),
            once=True,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RangesRequest:
    """Find the smallest and largest payoffs and frequencies over all equilibria of a game.

    Each end of a range is a cell of an ordinary run, verified as any other, with a bound proved
    to the solver's tolerance; beside it stands the range over the published equilibria. Into
    the folder go summary.json, ranges.md, ranges.csv and ranges.tex. Exit codes as those of
    `eqbench run`.
    """

    game: Annotated[str, Option("The game; needed unless a run goes on.", GAME)] = ""
    of: Annotated[
        tuple[str, ...],
        Option(
            'A payoff, such as P1, or a frequency, such as "P3|3:KB|call"; may be given several '
            "times.",
            Kind("NAME"),
        ),
    ] = ()
    payoffs: Annotated[bool, Option("All payoffs; so it is without any selection.", FLAG)] = False
    first_actions: Annotated[
        bool,
        Option(
            "Frequencies where the player has a choice and has not moved before; of two actions "
            "only the last one, such as bet or call.",
            FLAG,
            "first-actions",
        ),
    ] = False
    all_actions: Annotated[
        bool,
        Option(
            "Frequencies wherever there is a choice. Where the plan of an equilibrium never "
            "leads, any frequency counts.",
            FLAG,
            "all-actions",
        ),
    ] = False
    solver: Annotated[
        str,
        Option("Solver that looks for optima; its options sense and of are set here.", SOLVER),
    ] = "ncp"
    backend: Annotated[
        str | None,
        Option(
            "Program behind the solver, where it has such an option.",
            Choice(words=("auto", "gurobi", "scip")),
        ),
    ] = None
    timeout_s: Annotated[
        float,
        Option(
            "Seconds of solving per optimum; what was found and proved until then is shown.",
            DURATION,
            "timeout",
        ),
    ] = 60.0
    threads: Annotated[int, Option("Threads per optimum.", THREADS)] = 1
    jobs: Annotated[
        int,
        Option(
            "Cells that are solved at the same time; more than there are cores spoils the times.",
            JOBS,
            short="j",
        ),
    ] = 1
    plugins: Annotated[
        tuple[str, ...],
        Option(
            "Python file that registers games or solvers; may be given several times.",
            FILE,
            "plugin",
        ),
    ] = ()
