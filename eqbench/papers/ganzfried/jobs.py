"""The commands and computations that answer Ganzfried 2025."""

from __future__ import annotations

from eqbench.papers.jobs import Job

_HERE = "eqbench.papers.ganzfried"
REDUCED, FULL = "kuhn3_reduced", "kuhn3"
PAPER_MODEL = "ncp(formulation=paper,backend=scip)"
PAPER_MODEL_GUROBI = "ncp(formulation=paper,backend=gurobi)"
OTHER_FORM = "ncp(formulation=elimination,backend=gurobi)"
OURS, EXACT, LARGEST = "ncp", "ncp(exact=true)", 'ncp(sense=max,of="P1")'
DOMINATED = "ncp(dominated=remove,backend=scip)"
LOGIT, LOGIT_CALL, OUR_LOGIT = "gambit_logit_path", "gambit_logit", "logit"
TWO_PLAYER_GAMES = ("kuhn2", "random_tree(players=2,depth=5,actions=3,seed=1)")
STRATEGIC = "random(players=3,actions=3,seed=0)"
STRATEGIC_FIVE = tuple(f"random(players=3,actions=5,seed={seed})" for seed in range(1, 9))
STRATEGIC_FEW = STRATEGIC_FIVE[:4]
RANDOM_CFR, RANDOM_PLAY = "cfr(start=random)", "fictitious_play(start=random)"


def _run(games: tuple[str, ...], solvers: tuple[str, ...], *options: str) -> tuple[str, ...]:
    words = ["run", "-q"]
    for game in games:
        words += ["--game", game]
    for solver in solvers:
        words += ["--solver", solver]
    return (*words, *options)


def _starts(name: str, games: tuple[str, ...], solver: str, more: tuple[str, ...] = ()) -> Job:
    limits = ("--seeds", "6", "--iterations", "2000", "--target", "0")
    full = _run(more, (solver,), *limits) if more else ()
    return Job(name, _run(games, (solver,), *limits), full_command=full)


def _gambit(timeout_s: int) -> tuple[str, ...]:
    return _run((REDUCED, FULL), ("gambit_all",), "--timeout", str(timeout_s))


def _race(seeds: int) -> tuple[str, ...]:
    return _run(
        (REDUCED, FULL),
        (PAPER_MODEL, PAPER_MODEL_GUROBI, OURS, OTHER_FORM, LOGIT, OUR_LOGIT),
        *("--seeds", str(seeds), "--timeout", "30"),
    )


def _verify(name: str) -> Job:
    words = ("verify", "--profile", f"{{profiles}}/{name}.json", "--exact", "--json")
    return Job(f"verify_{name}", words, out=False)


def _info(name: str, game: str) -> Job:
    return Job(name, ("info", game, "--json"), out=False)


JOBS = (
    Job(
        "table_1_run",
        ("run", "ganzfried_table_1_quick", "-q"),
        full_command=("run", "ganzfried_table_1", "-q"),
        alone=True,
    ),
    Job("table_1", compute=f"{_HERE}.times:table_1", needs=("table_1_run",)),
    _info("info_full", FULL),
    _info("info_reduced", REDUCED),
    _info("info_21", "kuhn(players=3,cards=4,reduce=dominated21)"),
    Job("hand", compute=f"{_HERE}.hand:hand"),
    Job("program", compute=f"{_HERE}.program:program", alone=True),
    Job("race", _race(1), full_command=_race(5), alone=True),
    Job("checked", _run((FULL, STRATEGIC), ("ncp(backend=scip)",), "--timeout", "30")),
    Job("two_players", _run(TWO_PLAYER_GAMES, ("sequence_lp", "lcp"), "--timeout", "10")),
    Job("conditions", compute=f"{_HERE}.conditions:conditions", needs=("checked", "two_players")),
    Job(
        "equilibria",
        _run((REDUCED, FULL), (EXACT, DOMINATED, LARGEST), "--timeout", "60"),
    ),
    Job("profiles", compute=f"{_HERE}.off_path:profiles"),
    *map(_verify, ("family", "as_named", "as_described", "a33_alone")),
    Job("grid", compute=f"{_HERE}.off_path:grid"),
    # a method that crashes is a finding here
    Job("gambit", _gambit(2), full_command=_gambit(15), accept=(0, 1)),
    Job("gambit_says", compute=f"{_HERE}.gambit_says:gambit_says"),
    Job("gambit_two_players", _run(("kuhn2",), ("gambit_lp", "gambit_lcp", LOGIT_CALL))),
    Job("rounded", compute=f"{_HERE}.rounded:rounded", needs=("race",)),
    Job(
        "qre",
        (
            *("qre", "--game", REDUCED, "--branches", "5", "--json", "-q"),
            *(word for at in ("10", "100", "1000", "10000", "100000") for word in ("--at", at)),
        ),
    ),
    Job(
        "self_play",
        _run((FULL,), ("cfr", "cfr_plus", "fictitious_play"), "--iterations", "20000"),
    ),
    Job(
        "small_games",
        _run(
            ("jordan",),
            (RANDOM_CFR, RANDOM_PLAY),
            *("--seeds", "3", "--iterations", "20000", "--target", "0"),
        ),
    ),
    _starts("starts_strategic", STRATEGIC_FEW, RANDOM_PLAY, STRATEGIC_FIVE),
    _starts("starts_kuhn", (FULL, REDUCED), RANDOM_CFR),
)
