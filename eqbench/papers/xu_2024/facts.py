"""Values for the claims of the paper, from our stored results."""

from __future__ import annotations

from eqbench.papers.stored import Stored
from eqbench.spec import parse_spec

# their names of our solvers
NAMES = {
    "cfr_plus": "CFR+",
    "dcfr": "DCFR",
    "pcfr_plus_alternating": "PCFR+",
    "dcfr_plus": "DCFR+",
    "pdcfr_plus": "PDCFR+",
}
OTHERS = ("CFR+", "DCFR", "PCFR+")


def _exploitability(stored: Stored, job: str) -> dict[str, dict[str, float]]:
    """Exploitability of the average profile by game and method."""
    found: dict[str, dict[str, float]] = {}
    for cell in stored[job].cells:
        (average,) = [each for each in cell.equilibria if each.claim == "average"]
        game, method = (parse_spec(spec).name for spec in (cell.game, cell.solver))
        found.setdefault(game, {})[NAMES[method]] = average.nash_conv / len(average.payoffs)
    return found


def converges(stored: Stored) -> dict[str, list[float]]:
    """Exploitability of PDCFR+ by game, after 100 and 1,000 iterations."""
    early, late = (_exploitability(stored, f"after_{n}") for n in (100, 1000))
    return {game: [early[game]["PDCFR+"], late[game]["PDCFR+"]] for game in late}


def times_smaller(stored: Stored) -> dict[str, float]:
    """How many times smaller PDCFR+ is after 1,000 iterations than the best of the others."""
    found = _exploitability(stored, "after_1000")
    return {
        game: min(own[name] for name in OTHERS) / own["PDCFR+"] for game, own in found.items()
    }


def exponents(stored: Stored) -> dict[str, dict[str, object]]:
    """Options of our solvers by method; exponents of averages as numbers."""
    words = {"linear": 1.0, "quadratic": 2.0}
    found = {}
    for cell in stored["kuhn"].cells:
        options = dict(parse_spec(cell.solver_spec).options)
        averaging = options["averaging"]
        own = {name: options.get(name) for name in ("alpha", "beta")}
        found[NAMES[parse_spec(cell.solver).name]] = own | {
            "gamma": words.get(str(averaging), averaging)
        }
    return found


def exploitability(stored: Stored) -> dict[str, dict[str, float]]:
    """Exploitability by game and method, after as many iterations as the program did."""
    return _exploitability(stored, "kuhn") | _exploitability(stored, "leduc")
