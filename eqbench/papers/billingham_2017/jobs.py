"""What is run for Billingham 2017."""

from __future__ import annotations

from collections.abc import Iterator

from eqbench.papers.jobs import Job

_HERE = "eqbench.papers.billingham_2017"
# Runge and Kutta as in the paper; late parts of chaotic trajectories depend on the integrator
_FLOW = "replicator(integrator=dop853)"

# each range of the paper inside, at its ends, and 1e-6 at either side of them
ENUMERATED = (
    *("2", "2.000001", "5/2", "2.9", "2.999999", "3", "3.000001", "3.1", "3.212214", "3.212215"),
    *(
        "3.25",
        "3.35",
        "3.4",
        "3.436491",
        "3.436492",
        "3.45",
        "3.499999",
        "7/2",
        "3.500001",
        "3.7",
        "3.897915",
    ),
    *(
        "3.897916",
        "3.92",
        "3.95",
        "3.999999",
        "4",
        "4.000001",
        "4.2",
        "4.311737",
        "4.311738",
        "4.33",
        "4.36",
    ),
    *("4.4", "4.407536", "4.407537", "4.7", "4.999999", "5", "5.000001", "6", "25"),
)
# the pots of section 4, with what the figures are called in file names
CASES = ("2.5", "3.1", "3.35", "3.75", "4.15", "4.65", "5.5")
LONG = ("3.1", "4.15")  # whose transients may outlast the others
DRAWN = {"2.5": 1000, "3.1": 3000, "3.35": 1000, "3.75": 1000, "4.15": 3000, "4.65": 1000}
# at these pots irrational ends of ranges are approached from inside, to 1e-12
ENDS = {
    **{"P3": "3.212214450450", "P4": "3.436491673103", "P6": "3.897915761657"},
    **{"P8": "4.311737691490", "P9": "4.407536453183"},
}
# where each solution is looked at, and for a trajectory that starts beside it
BESIDE = {
    **{"1": "2.5", "2": "3.1", "3": "3.35", "4": "3.35", "5": "3.75"},
    **{"6": "3.95", "7": "4.15", "8": "4.36", "9": "4.65", "10": "5.5"},
}
# profiles with an entry as printed where that is wrong, and the corrected ones
PRINTED = {
    **{"1": "5/2", "2": "3.1", "10a_b1": "5", "10a_b2": "5", "10a_d1": "5"},
    **{"1_corrected": "5/2", "2_corrected": "3.1", "10a_corrected": "5"},
}


def dotted(pot: str) -> str:
    """A pot as part of a name, such as ``2_5``."""
    return pot.replace(".", "_")


def _at(pots: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for pot in pots for word in ("--at", pot))


def _stability_pots() -> tuple[str, ...]:
    grid = [f"{2 + k / 20:.10g}" for k in range(81)]
    return tuple(sorted({*grid, "3.001", "4.001", *ENDS.values()}, key=float))


def _figures() -> Iterator[Job]:
    for pot, time in DRAWN.items():
        words = ("simulate", "--game", f"skp(pot={pot})", "--solver", _FLOW, "--time", str(time))
        pair = ("--pair", "b3,d2") if pot == "2.5" else ()
        yield Job(f"orbits_{dotted(pot)}", (*words, "--starts", "3", "--figures", *pair))


def _beside() -> Iterator[Job]:
    for name, pot in BESIDE.items():
        words = ("simulate", "--game", f"skp(pot={pot})", "--solver", _FLOW, "--time", "2000")
        file = f"{{starts}}/beside_{name}.json"
        yield Job(f"beside_{name}", (*words, "--start", file))


def _printed() -> Iterator[Job]:
    for name, pot in PRINTED.items():
        words = ("verify", "--game", f"skp(pot={pot})", "--exact", "--json")
        file = f"{{printed}}/{name}.json"
        yield Job(f"printed_{name}", (*words, "--profile", file), out=False)


def _regimes(starts: int) -> tuple[str, ...]:
    simulate = ("simulate", "--game", "skp", "--solver", _FLOW, "--parameter", "pot")
    return (*simulate, *_at(CASES), "--starts", str(starts))


JOBS = (
    Job("tree", ("draw", "skp"), out=False),
    Job("game", ("info", "skp", "--json"), out=False),
    Job(
        "full_game",
        ("info", "kuhn(players=3, cards=4, reduce=dominated25)", "--json"),
        out=False,
    ),
    Job("rules", compute=f"{_HERE}.compute_rules:rules"),
    Job("polynomials", compute=f"{_HERE}.compute_rules:profits"),
    Job(
        "enumeration",
        (
            *("run", "--solver", "case_enumeration", "--timeout", "60"),
            *(word for pot in ENUMERATED for word in ("--game", f"skp(pot={pot})")),
        ),
    ),
    Job("two_players", ("run", "--game", "kuhn2", "--solver", "case_enumeration")),
    Job("table_1", compute=f"{_HERE}.compute_table:table", needs=("enumeration",)),
    Job("printed", compute=f"{_HERE}.compute_profiles:printed"),
    *_printed(),
    Job("curves", compute=f"{_HERE}.compute_profiles:curves"),
    Job("bounds", compute=f"{_HERE}.compute_profiles:bounds"),
    Job(
        "stability",
        (
            *("stability", "--game", "skp", "--parameter", "pot", "--samples", "4"),
            *_at(_stability_pots()),
        ),
    ),
    Job(
        "rest_points",
        (
            *("stability", "--game", "skp", "--parameter", "pot", "--samples", "0"),
            *("--rest-points", "100", *_at(CASES)),
        ),
        full_command=(
            *("stability", "--game", "skp", "--parameter", "pot", "--samples", "0"),
            *("--rest-points", "1000", *_at(CASES)),
        ),
    ),
    Job("equations", compute=f"{_HERE}.compute_motion:equations", needs=("polynomials",)),
    *_figures(),
    Job("regimes", _regimes(4), full_command=_regimes(20)),
    Job(
        "regimes_along_the_pot",
        (
            *("simulate", "--game", "skp", "--solver", _FLOW, "--parameter", "pot"),
            *("--starts", "3", *_at(tuple(f"{2.1 + k * 0.16:.10g}" for k in range(25)))),
        ),
        full=True,
    ),
    Job(
        "regimes_long",
        (
            *("simulate", "--game", "skp", "--solver", _FLOW, "--parameter", "pot"),
            *("--starts", "4", "--time", "100000", "--every", "0.5", *_at(LONG)),
        ),
        full=True,
    ),
    Job("starts", compute=f"{_HERE}.compute_profiles:starts"),
    *_beside(),
    Job(
        "motion",
        compute=f"{_HERE}.compute_motion:motion",
        needs=(
            "regimes",
            "starts",
            *(f"orbits_{dotted(pot)}" for pot in DRAWN),
            *(f"beside_{name}" for name in BESIDE),
        ),
    ),
)
