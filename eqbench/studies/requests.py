"""Requests of the studies; the docstring of a request is the help of its command."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar

from eqbench.registry import NameOptions
from eqbench.requests import (
    DURATION,
    FLAG,
    FOLDER,
    GAME,
    JOBS,
    MILLION,
    MOST_NODES,
    NODES,
    NUMBER,
    NUMBER_OR_NONE,
    POSITIVE,
    PROFILE,
    RUN,
    SEED,
    SHARE,
    SOLVER,
    THREADS,
    Bounds,
    Choice,
    Exact,
    GivenProfile,
    Integer,
    Kind,
    MaxNodes,
    Number,
    Option,
    Pair,
    ReadProfile,
    Scheduler,
)


@dataclass(frozen=True, kw_only=True)
class StudyCommand:
    """The command of a study.

    Attributes
    ----------
    command : name of the command
    study : where its class is, as ``module:class``
    draws : what ``--figures`` draws; empty if there are no figures
    writes_always : whether it writes a folder without ``--out`` too; if not, it cannot be resumed
    together : options of which none is kept if a study is resumed and one of them is given again
    """

    command: ClassVar[str]
    study: ClassVar[str] = ""
    draws: ClassVar[str] = ""
    writes_always: ClassVar[bool] = True
    together: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, kw_only=True)
class StudyRequest(StudyCommand, NameOptions):
    """The base of the requests of studies of games."""

    max_nodes: MaxNodes = MOST_NODES


_game = partial(Option, kind=GAME, argument=True, named=True)
_LAMBDA = Number("LAMBDA", positive=True, most=1e15)


@dataclass(frozen=True, kw_only=True)
class QuantalRequest(StudyRequest):
    """Follow branches of logit quantal response equilibria from lambda 0 to large lambda.

    At every information set log(p_a / p_b) = log(prior_a / prior_b) + lambda (v_a - v_b), where
    v are values of actions conditional on reaching it (Turocy 2010). The principal branch begins
    at uniform behavior; `check` in the summary is `checked` if no step seemed to leave it, which is
    no proof, else where one did or another branch met it. Writes points.csv, summary.json and
    profiles; with --figures also points-seed0.csv and so on, with at least 20 points for each
    decade of lambda from 0.1 on. Exit code: 0 done, also where a branch was lost, which the
    summary says; 2 usage, 130 interrupted.
    """

    command = "qre"
    study = "eqbench.studies.qre:QuantalStudy"
    draws = "the frequencies against lambda"

    game: Annotated[str, _game("Game, for example kuhn3 or a file such as game.efg.")]
    last: Annotated[float, Option("Lambda at which branches end.", _LAMBDA, "to")] = 1e6
    at: Annotated[
        tuple[float, ...],
        Option("Put a point at exactly this lambda, verify it and write its profile.", _LAMBDA),
    ] = ()
    branches: Annotated[
        int,
        Option("Also follow N branches from priors drawn at random.", NUMBER_OR_NONE, extends=True),
    ] = 0
    seed: Annotated[int, Option("Of the first of these.", SEED)] = 0
    solver: Annotated[str, Option("Solver that follows such branches.", SOLVER)] = "logit"


MOST = "most"
_BARRIERS = Choice(words=("log", "arctan", "rational"))
_DERIVATIVES = Choice(words=("counterfactual", "raw"))


def _of_solver(text: str, kind: Kind) -> Option:
    return Option(text, kind, default="that of the solver")


@dataclass(frozen=True, kw_only=True)
class TraceRequest(StudyRequest):
    """Follow a branch of regularized equilibria along a payoff parameter.

    Writes points.csv and summary.json. A trace that was interrupted or stopped continues with
    --resume. What is counted are equilibria on this branch, for the epsilon and the
    regularization that are printed with them; others may exist off it. Exit code: 0 traced
    or stopped at a limit, 1 the branch was lost or has no start, 2 usage, 130 interrupted.
    """

    command = "trace"
    study = "eqbench.studies.trace.study:TraceStudy"
    draws = "payoffs, frequencies and counts"

    game: Annotated[
        str, _game("Game with a payoff parameter, such as skp or 'kuhn(players=3, cards=10)'.")
    ]
    parameter: Annotated[
        str, Option("The parameter.", Kind("NAME"), default="that of the game")
    ] = ""
    first: Annotated[Fraction, Option("Where the branch begins.", Exact(), "from")]
    last: Annotated[
        Fraction,
        Option(
            "Towards where it is followed, up or down, until it leaves the range for good.",
            Exact(),
            "to",
        ),
    ]
    beyond: Annotated[
        float | None,
        Option(
            "How far it may go outside the range and come back; 0 ends it where it leaves. What is "
            "outside is not kept.",
            Number("LENGTH", most=1e9),
            default="the length of the range",
        ),
    ] = None
    epsilon: Annotated[
        float | None, _of_solver("Strength of the regularization in payoff units.", POSITIVE)
    ] = None
    regularization: Annotated[
        str | None, _of_solver("How frequencies are kept inside their bounds.", _BARRIERS)
    ] = None
    derivative: Annotated[
        str | None, _of_solver("Action values, without or with the own reach.", _DERIVATIVES)
    ] = None
    solver: Annotated[str, Option("Solver that follows branches.", SOLVER)] = "arclength"
    at: Annotated[
        tuple[Fraction | str, ...],
        Option(
            "Polish and verify the equilibria on the branch at this value, or where it has `most` "
            "points at one value, for which the branch is followed a second time.",
            Exact(words=(MOST,)),
        ),
    ] = ()
    starts: Annotated[
        int,
        Option(
            "At each such value, also look off the branch from N random starts; they take time "
            "beyond --timeout.",
            NUMBER_OR_NONE,
        ),
    ] = 0
    seed: Annotated[int, Option("Of the random starts.", SEED)] = 0
    most_points: Annotated[
        int | None,
        Option("Stop at N points of the branch; --resume continues.", Integer("N", 2), once=True),
    ] = None
    timeout_s: Annotated[
        float | None,
        Option(
            "Stop after S seconds of tracing; --resume continues. What --at and --starts request "
            "is done after that, however long it takes.",
            DURATION,
            "timeout",
            once=True,
            formerly="time",
        ),
    ] = None
    close_ups: Annotated[
        tuple[tuple[float, float], ...],
        Option("With --figures: show this range by itself.", Bounds(), "close-up", once=True),
    ] = ()
    animate: Annotated[
        int | None,
        Option(
            "Three-player Kuhn poker: write the strategies along the branch as animation.gif.",
            Integer("FRAMES", 2, 10_000),
            once=True,
        ),
    ] = None


_replaceable = partial(Option, extends=True)


@dataclass(frozen=True, kw_only=True)
class RangesRequest(StudyRequest):
    """Find the smallest and largest payoffs and frequencies over all equilibria of a game.

    Each end of a range is a cell of an ordinary run, verified as any other, with a bound proved
    to the solver's tolerance; next to it stands the range over the published equilibria. Into
    the folder go summary.json, ranges.md, ranges.csv, ranges.tex and the run. With --resume
    options that are given again replace those of the run, and a new selection replaces the old
    one. Exit codes as those of `eqbench run`.
    """

    command = "ranges"
    study = "eqbench.studies.ranges:RangesStudy"
    together = ("of", "payoffs", "first-actions", "all-actions")

    game: Annotated[str, _game("The game; needed unless a run is resumed.")]
    of: Annotated[
        tuple[str, ...],
        _replaceable(
            'A payoff, such as P1, the sum of all, or a frequency, such as "P3|3:KB|call".',
            Kind("NAME"),
        ),
    ] = ()
    payoffs: Annotated[bool, _replaceable("All payoffs; so it is without any selection.", FLAG)] = (
        False
    )
    first_actions: Annotated[
        bool,
        _replaceable(
            "Frequencies where the player has a choice and has not moved before; of two actions "
            "only the last one, such as bet or call.",
            FLAG,
        ),
    ] = False
    all_actions: Annotated[
        bool,
        _replaceable(
            "Frequencies wherever there is a choice. Where the plan of an equilibrium never "
            "leads, any frequency counts.",
            FLAG,
        ),
    ] = False
    solver: Annotated[
        str,
        _replaceable(
            "Solver that looks for optima; its options sense and of are set here.", SOLVER
        ),
    ] = "ncp"
    timeout_s: Annotated[
        float,
        _replaceable(
            "Seconds of solving per optimum; what was found and proved until then is shown.",
            DURATION,
            "timeout",
        ),
    ] = 60.0
    threads: Annotated[int, _replaceable("Threads per optimum.", THREADS)] = 1
    jobs: Annotated[
        int | None,
        _replaceable(
            "Cells that are solved at the same time; more than there are cores spoils the times.",
            JOBS,
            short="j",
            default="1; twice the threads of a cluster",
        ),
    ] = None
    scheduler: Scheduler = None
    verbose: Annotated[
        bool, Option("Say what each cell did as it ends.", FLAG, short="v", once=True)
    ] = False


@dataclass(frozen=True, kw_only=True)
class CrossplayRequest(StudyRequest):
    """Let players prepare for different equilibria of one game, and measure what comes of it.

    Takes the equilibria that runs have found, mixes them in all ways and says which combinations
    are equilibria again, what each strategy earns in the worst case, and which to choose.
    RUN is the folder of a run, or `latest`; a word that is none is the game. Of the last iterate
    and the average of a cell the better one is taken. With --out also writes summary.json and
    combinations.csv.
    """

    command = "crossplay"
    study = "eqbench.studies.crossplay.study:CrossplayStudy"
    writes_always = False

    runs: Annotated[
        tuple[str, ...], Option("Folders of runs, or `latest`; or the game.", RUN, argument=True)
    ] = ()
    game: Annotated[
        str | None, Option("Game; needed if the runs have several, or there is no run.", GAME)
    ] = None
    known: Annotated[bool, Option("Add the corners of the known families of the game.", FLAG)] = (
        False
    )
    profiles: Annotated[
        tuple[str, ...],
        Option("Add an equilibrium: a file in JSON, or RUN/CELL.", PROFILE, "profile"),
    ] = ()
    tolerance: Annotated[
        float, Option("Regret that an equilibrium may have, as a share of the payoff range.", SHARE)
    ] = 1e-6
    most: Annotated[
        int | None, Option("Keep at most N equilibria, of each name in turn.", NUMBER)
    ] = None
    limit: Annotated[
        int,
        Option("Refuse more combinations than this; n equilibria of N players have n^N.", NODES),
    ] = MILLION
    exact: Annotated[
        bool,
        Option(
            "Compute in fractions; a combination is then an equilibrium if its regret is exactly "
            "0.",
            FLAG,
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ProveRequest(StudyRequest):
    """Prove that a list of equilibria is complete, with certificates that anyone can check.

    Branches over which actions are played and closes cases by linear programs, whose duals become
    combinations in integers. Writes proof.jsonl, which `eqbench check proof` checks without the
    search, and summary.json. Every equilibrium is in a published set that is named or in a face
    that is listed; faces of games with two players are polytopes. At the time limit or after Ctrl-C
    what is still open counts as faces, and --resume continues. Exit code: 0 complete or all cases
    decided, 1 some left open by a limit, 2 usage, 130 interrupted.
    """

    command = "prove"
    study = "eqbench.studies.prove:ProofStudy"

    game: Annotated[str, _game("Game with exact payoffs, for example kuhn3_reduced.")]
    time: Annotated[
        float, Option("End the search after so many seconds.", DURATION, extends=True)
    ] = 600.0
    limit: Annotated[
        int, Option("Refuse a search that is expected to need more nodes than this.", NODES)
    ] = MILLION
    most_terms: Annotated[
        int, Option("Refuse games whose payoffs have more terms than this.", NODES)
    ] = 20_000


UNIFORM = "uniform"
# Default times of `simulate`, in units of time of the flow: three-player Kuhn poker
# with few cards moves with periods from 5 on, and some of its transients last for 1e4. Hand by hand
# 1e3 take seconds for each start.
HORIZON, HORIZON_BY_HAND, SPACING = 10_000.0, 1000.0, 0.25
REMEMBERED = 20  # hands
RANDOM_STARTS = 3
SAMPLES = 16
_GAME_OF_FLOW = _game("Game, for example 'skp(pot=3.1)' or a file such as game.efg.")


@dataclass(frozen=True, kw_only=True)
class FlowRequest(StudyRequest):
    """Requests that studies of a flow share."""

    game: str
    solver: Annotated[str, Option("Solver whose method is a flow.", SOLVER)] = "replicator"
    parameter: Annotated[
        str,
        Option("Payoff parameter that --at is about.", Kind("NAME"), default="that of the game"),
    ] = ""
    at: Annotated[tuple[Fraction, ...], Option("Value of it.", Exact())] = ()


@dataclass(frozen=True, kw_only=True)
class SimulationRequest(FlowRequest):
    """Follow trajectories of a flow: where frequencies go, how they move, what players earn.

    Writes summary.json, points.csv and profiles. All starts are followed at each value of --at.
    Of a long run points.csv has at most 4,000 points, half of them the last ones and the others
    spread over all of it. Its columns are run, with --at the parameter, time, payoffs such as u:P1,
    payoffs integrated over time such as p:P1, and frequencies. Profits are averages over windows of
    time, next to the payoffs of published equilibria. Ctrl-C ends the present trajectory and keeps
    what was computed; a second one discards that trajectory. Exit code: 0 done, also where a
    trajectory broke off, which the summary says; 2 usage, 130 interrupted.
    """

    command = "simulate"
    study = "eqbench.studies.flow.simulate:SimulationStudy"
    draws = "orbits, frequencies and profits"

    game: Annotated[str, _GAME_OF_FLOW]
    model: Annotated[
        str,
        Option(
            "The flow itself, or hand-by-hand repeated play that it imitates.",
            Choice(words=("ode", "hands")),
        ),
    ] = "ode"
    remember: Annotated[
        int | None,
        Option(
            "With --model hands: how many hands players remember.",
            NUMBER,
            default=f"{REMEMBERED}",
            formerly="memory",
        ),
    ] = None
    starts: Annotated[
        int | None,
        Option(
            "Starts drawn at random.", NUMBER_OR_NONE, default=f"{RANDOM_STARTS}, without --start"
        ),
    ] = None
    seed: Annotated[int, Option("Of the first of these.", SEED)] = 0
    spread: Annotated[
        float, Option("Standard deviation of their log-odds, which are normal.", SHARE)
    ] = 1.0
    profiles: Annotated[
        tuple[GivenProfile, ...],
        Option(
            "Start at uniform behavior or at a profile: a file in JSON, - for standard input, or "
            "RUN/CELL, but not at frequencies of 0 and 1, which final and average profiles of a "
            "long simulation have by rounding.",
            ReadProfile(f"{UNIFORM}|PROFILE", (UNIFORM,)),
            "start",
        ),
    ] = ()
    duration: Annotated[
        float | None,
        Option(
            "How far trajectories are followed, in units of time of the flow.",
            POSITIVE,
            default=f"{HORIZON:.0f}, with --model hands {HORIZON_BY_HAND:.0f}",
            formerly="time",
        ),
    ] = None
    every: Annotated[
        float,
        Option(
            "Distance of the times at which states are kept; a tenth of the shortest period or "
            "less.",
            POSITIVE,
        ),
    ] = SPACING
    pairs: Annotated[
        tuple[tuple[str, str], ...],
        Option(
            "With --figures: draw the orbits of these two frequencies, by their published names, "
            "such as b3,d2 of skp, or as 'P1|1:|bet,P2|2:B|call'.",
            Pair(),
            "pair",
            extends=True,
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class StabilityRequest(FlowRequest):
    """Say which equilibria of a game are stable under a flow, such as replicator dynamics.

    Eigenvalues of the Jacobian in frequencies are computed at members of all published sets of
    equilibria, inside and at the corners, and at given profiles, which must be rest points. A
    real part up to 1e-9 of the spectral norm is zero. Linearization does not decide whether a
    rest point with a centre manifold is stable. Writes summary.json, and points.csv with the
    profiles of its entries. Exit code: 0 done, 2 usage, 130 interrupted.
    """

    command = "stability"
    study = "eqbench.studies.flow.stability:StabilityStudy"
    draws = "the eigenvalues, or with several --at the verdicts along the parameter"

    game: Annotated[str, _GAME_OF_FLOW]
    profiles: Annotated[
        tuple[GivenProfile, ...],
        Option(
            "Also look at this profile: a file in JSON, - for standard input, or RUN/CELL.",
            ReadProfile(),
            "profile",
        ),
    ] = ()
    rest_points: Annotated[
        int, Option("Search N random faces for rest points besides the equilibria.", NUMBER_OR_NONE)
    ] = 0
    samples: Annotated[
        int,
        Option(
            "Members drawn at random from each published set, besides one inside and the corners.",
            NUMBER_OR_NONE,
        ),
    ] = SAMPLES
    seed: Annotated[int, Option("Of the members and of the faces.", SEED)] = 0


@dataclass(frozen=True, kw_only=True)
class ChallengeRequest(StudyCommand):
    """Measure answers to a standing challenge, 25 games with five questions, and rank them.

    A DIR holds a submission, with submission.json, or a run; without any, the best known answers
    are measured again. Every answer is measured from its files, in fractions where these do not
    take too long, and refused with a reason where there is nothing to measure. Only times are as
    submissions state them. With --out the leaderboard is written as a page too. Exit code: 0 all
    answers are as claimed, 1 one is refused or claims more than is there, 2 usage.
    """

    command = "challenge"
    study = "eqbench.studies.challenge.study:ChallengeStudy"
    writes_always = False

    folders: Annotated[
        tuple[str, ...], Option("Folders of submissions or runs.", FOLDER, argument=True)
    ] = ()
