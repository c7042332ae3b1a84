"""Values for the claims of the paper, from our stored results."""

from __future__ import annotations

from fractions import Fraction

from eqbench.papers.stored import Stored
from eqbench.papers.xu_2024.compute import METHODS
from eqbench.spec import parse_spec

OTHERS = ("CFR+", "DCFR", "PCFR+")
_NAMES = {parse_spec(spec).name: name for name, spec in METHODS.items()}


def _exploitability(stored: Stored, job: str) -> dict[str, dict[str, float]]:
    """Exploitability of the average profile by game and method."""
    found: dict[str, dict[str, float]] = {}
    for cell in stored[job].cells:
        (average,) = [each for each in cell.equilibria if each.claim == "average"]
        game, method = (parse_spec(spec).name for spec in (cell.game, cell.solver))
        found.setdefault(game, {})[_NAMES[method]] = average.nash_conv / len(average.payoffs)
    return found


def converges(stored: Stored) -> dict[str, list[float]]:
    """Exploitability of PDCFR+ by game, after 100 and 1,000 iterations."""
    early, late = (_exploitability(stored, f"after_{n}") for n in (100, 1000))
    return {game: [early[game]["PDCFR+"], late[game]["PDCFR+"]] for game in late}


def times_smaller(stored: Stored) -> dict[str, float]:
    """How many times smaller PDCFR+ is after 1,000 iterations than the best of the others."""
    found = _exploitability(stored, "after_1000")
    return {game: min(own[name] for name in OTHERS) / own["PDCFR+"] for game, own in found.items()}


def exponents(stored: Stored) -> dict[str, dict[str, Fraction]]:
    """Exponents of discounts and averages by method."""
    found = stored["program"].summary["exponents"]
    return {
        name: {which: Fraction(text) for which, text in own.items()} for name, own in found.items()
    }


def exploitability(stored: Stored) -> dict[str, dict[str, float]]:
    """Exploitability by game and method, after as many iterations as the program did."""
    return stored["program"].summary["exploitability"]
