"""What is run for the paper."""

from __future__ import annotations

from eqbench.papers.jobs import Job

_HERE = "eqbench.papers.szafron"


def _run(*words: str, solvers: tuple[str, ...], seeds: int) -> tuple[str, ...]:
    """Words of a run of several solvers on three-player Kuhn poker."""
    named = [word for solver in solvers for word in ("--solver", solver)]
    return ("run", "--game", "kuhn3", *named, "--seeds", str(seeds), "--quiet", *words)


MANY = ("semismooth(starts=150,all=true)", "arclength(starts=80,branch=false)")
_MANY_IN_FULL = ("semismooth(starts=1000,all=true)", "arclength(starts=500,branch=false)")
SINGLE = (
    *("logit(prior=random)", "pcfr_plus(start=random)"),
    *("pcfr_plus_alternating(start=random)", "ncp(backend=scip)"),
)
SLOW = (
    *("cfr(start=random)", "mccfr(start=random)", "fictitious_play(start=random)"),
    *("replicator(start=random)", "gambit_logit_path"),
)
# accurate enough to count if they are given the time
PATIENT = ("cfr_plus(start=random)", "dcfr(start=random)")

_SHAPLEY = ("run", "--game", "shapley")

JOBS = (
    Job("game", ("info", "kuhn3", "--json"), out=False),
    Job("game_without_dominated", ("info", "kuhn3(reduce=dominated21)", "--json"), out=False),
    Job("rules", compute=f"{_HERE}.rules:compute"),
    Job("draw", ("draw", "kuhn3", "--profile", "{rules}/table_2.json"), out=False),
    Job("formulas", compute=f"{_HERE}.formulas:compute"),
    Job("text", compute=f"{_HERE}.text:compute"),
    Job("certificates", compute=f"{_HERE}.certificates:compute"),
    Job("domains", compute=f"{_HERE}.domains:compute"),
    Job("selection", compute=f"{_HERE}.selection:compute"),
    Job("allowed", compute=f"{_HERE}.selection:allowed"),
    Job(
        "table_4",
        ("verify", "--game", "kuhn3", "--profile", "{rules}/table_4.json", "--exact", "--json"),
        out=False,
    ),
    Job("crossplay", ("crossplay", "--game", "kuhn3", "--known", "--exact")),
    Job("crossplay_two_players", ("crossplay", "--game", "kuhn2", "--known", "--exact")),
    Job("two_player_list", ("run", "--game", "kuhn2", "--solver", "case_enumeration", "--quiet")),
    Job("two_players", compute=f"{_HERE}.two_players:compute", needs=("two_player_list",)),
    Job("cfr_shapley", (*_SHAPLEY, "--solver", "cfr(start=random)", "--timeout", "1", "--quiet")),
    Job(
        "cfr",
        ("run", "--game", "kuhn3", "--solver", "cfr", "--target", "0.0045", "--quiet"),
    ),
    Job(
        "many_starts",
        _run(
            *("--timeout", "30"),
            solvers=MANY,
            seeds=1,
        ),
        full_command=_run(
            *("--timeout", "120"),
            solvers=_MANY_IN_FULL,
            seeds=4,
        ),
    ),
    Job(
        "single_starts",
        _run(solvers=SINGLE, seeds=6),
        full_command=_run(solvers=SINGLE, seeds=30),
    ),
    Job(
        "slow_methods",
        _run("--timeout", "1", solvers=SLOW, seeds=1),
        full_command=_run("--timeout", "5", solvers=SLOW, seeds=2),
    ),
    Job(
        "patient_methods",
        _run("--timeout", "1", solvers=PATIENT, seeds=1),
        full_command=_run("--timeout", "15", solvers=PATIENT, seeds=2),
    ),
    Job(
        "ranges_of_payoff",
        ("ranges", "--game", "kuhn3", "--of", "P1", "--timeout", "60", "--quiet"),
        full=True,
    ),
    Job(
        "open_question",
        compute=f"{_HERE}.open_question:compute",
        needs=("many_starts", "single_starts", "slow_methods", "patient_methods"),
    ),
)
