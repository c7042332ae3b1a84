"""Sections 4.1 and 4.2: the differential equations and how they are solved."""

from __future__ import annotations

from collections.abc import Callable

from eqbench.papers.billingham_2017.expected_profits import polynomial
from eqbench.papers.billingham_2017.found import rounded
from eqbench.papers.billingham_2017.jobs import CASES
from eqbench.papers.billingham_2017.polynomials import derivative, printed, text
from eqbench.papers.billingham_2017.stability import entries
from eqbench.papers.claims import Claim, Part, Reading, holds, reproduced, source_error
from eqbench.papers.stored import Stored

ROUNDING = 1e-9
MOVES = 1e-3


def _first_equation(stored: Stored) -> Reading:
    slope = derivative(polynomial(stored, 1), "a1")
    theirs = printed("-2*b2 + 2*c2 - 2*b3 + 2*d3 - b2*c3")
    return holds(slope == theirs, f"24 ∂E1/∂a1 = {text(slope)}", "other coefficients")


def _equation(key: str, what: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        worst = stored["equations"].summary[key]
        ours = f"{what} of our flow at random states differ from it by {rounded(worst)}"
        return holds(worst <= ROUNDING, ours, f"by {worst:.3g}")

    return read


def _confined(stored: Stored) -> Reading:
    found = stored["equations"].summary
    still, moving = found["faces"], found["beside_faces"]
    ours = (
        f"at random states with one frequency at 0 or 1 its velocity is {rounded(still)}; others "
        f"have up to {moving:.2g}"
    )
    return holds(still <= ROUNDING and moving > MOVES, ours, "it can be left there")


def _factor(stored: Stored) -> Reading:
    worst = stored["equations"].summary["integrators"]["without_24"]
    ours = f"without it, log-odds at t = 2,400 are those with it at t = 100, to {worst:.1g}"
    return holds(worst <= 1e-6, ours, f"only to {worst:.3g}")


def _at_rest(stored: Stored) -> Reading:
    found = entries(stored)
    worst = max(entry["speed"] for entry in found)
    members = sum(entry["members"]["examined"] for entry in found)
    refuted = sum(entry["members"]["refuted"] for entry in found)
    ours = f"velocities at most {rounded(worst)} at solutions, {members} members looked at"
    return holds(worst <= ROUNDING and not refuted, ours, f"{refuted} are no rest points")


def _other_rest_points(stored: Stored) -> Reading:
    found = stored["rest_points"].summary["rest_points"]
    counts = [row["distinct"] for row in found]
    ours = f"found {min(counts)} to {max(counts)} at each of {len(counts)} pots"
    return holds(min(counts) > 0, ours, "none")


def _they_are_unstable(key: str, words: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = stored["rest_points"].summary["rest_points"]
        total, unstable = sum(r["distinct"] for r in found), sum(r[key] for r in found)
        ours = f"{unstable} of {total} {words}"
        return holds(total > 0 and total == unstable, ours, f"{total - unstable} do not")

    return read


def _no_steady_state(stored: Stored) -> Reading:
    runs = stored["regimes"].summary["runs"]
    least = min(run["profiles"]["final"]["max_regret"] for run in runs)
    ours = f"in {len(runs)} trajectories the last state has a regret of at least {least:.2g}"
    return holds(least > MOVES, ours, "one of them is near an equilibrium")


def _coordinates(stored: Stored) -> Reading:
    count = stored["game"].printed_json["sizes"]["free frequencies"]
    ours = f"{count} frequencies have their own equation"
    if count == 3:
        return reproduced(ours)
    return source_error(ours, f"the boundary is where any of {count} is 0 or 1; 3 are the players")


MODEL = Part(
    title="Section 4.1: the differential equations",
    note=(
        "The flow is that of `replicator`, with k = 1 and the factor 24; equations (23) and (24) "
        "are put together from the polynomials of equations (1) to (3). Rest points that are no "
        "equilibria are searched on random faces."
    ),
    claims=(
        Claim("(22)", "", "da1/dt = a1(1−a1)(−2b2 + 2c2 − 2b3 + 2d3 − b2 c3)", _first_equation),
        Claim(
            "(23)", "", "df/dt = 24 f(1−f) ∂E/∂f for each frequency",
            _equation("frequencies", "velocities of frequencies"),
        ),
        Claim(
            "(24)", "", "dF/dt = 24 ∂E/∂f for F = log f/(1−f)",
            _equation("log_odds", "velocities of log-odds"),
        ),
        Claim(
            "The factor 24", "", "has no effect on the qualitative nature of the dynamics", _factor
        ),
        Claim(
            "Frequencies", "", "f(1−f) keeps f in [0, 1]: df/dt = 0 where f = 0 or 1", _confined
        ),
        Claim("Equilibria of the game", "", "are equilibria of the equations", _at_rest),
        Claim(
            "Other equilibria of the equations", "", "exist, and are no equilibria of the game",
            _other_rest_points,
        ),
        Claim(
            "Other equilibria of the equations", "why", "a condition on the sign of ∂E/∂f fails",
            _they_are_unstable("unstable_across", "grow where a frequency of 0 or 1 would gain"),
        ),
        Claim(
            "Other equilibria of the equations", "stability", "unstable",
            _they_are_unstable("unstable", "are unstable"),
        ),
        Claim(
            "Boundary of the phase space", "", "f_i = 0 or 1 for i = 1, 2, 3", _coordinates
        ),
        Claim(
            "Trajectories", "", "never asymptote to a steady, stable equilibrium", _no_steady_state
        ),
    ),
)  # fmt: skip


_COMPARED = ("dormand_prince_5", "the pair of ode45 at tolerance 1e-11"), ("lsoda", "LSODA")


def _integrator(stored: Stored) -> Reading:
    found = stored["equations"].summary["integrators"]
    ours = "order 8; at t = 100 log-odds agree " + ", ".join(
        f"with {name} to {found[key]:.1g}" for key, name in _COMPARED
    )
    return holds(max(found.values()) <= 1e-6, ours, f"only to {max(found.values()):.3g}")


INTEGRATION = Part(
    title="Section 4.2: numerical solution",
    note=(
        "Log-odds are integrated as in the paper; ours is the method of Dormand and Prince of "
        f"order 8 at tolerance 1e-10. Compared at the pots {', '.join(CASES)}."
    ),
    claims=(
        Claim("Integrator", "", "Runge–Kutta of fifth order (ode45), in log-odds", _integrator),
    ),
)
