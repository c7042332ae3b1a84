"""Section 4: Gambit's logit path, on the reduced and on the full game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from eqbench.papers.claims import Part, Reading, holds, not_attempted, number
from eqbench.papers.ganzfried.found import (
    TIME_RULE,
    cell_of,
    cells_of,
    exceeding,
    is_near,
    median_time,
    payoffs_of,
    regret_of,
    seconds,
    statement,
    timed,
)
from eqbench.papers.ganzfried.jobs import EXACT, FULL, LOGIT, LOGIT_CALL, PAPER_MODEL, REDUCED
from eqbench.papers.ganzfried.solving import raw_regret
from eqbench.papers.stored import NotStoredError, Stored

# Both ends of Gambit's path are good to 2e-5.
NEAR = 1e-4


def _end(stored: Stored) -> dict[str, Any]:
    """The rounded end of the path on the reduced game."""
    found: dict[str, Any] | None = stored["rounded"].summary.get(REDUCED)
    if found is None:
        raise NotStoredError("Gambit's path left no profile on the reduced game")
    return found


def _time(game: str, theirs_s: float) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        cells = cells_of(stored, "race", game, LOGIT)
        return timed(theirs_s, cells, NEAR, _stock(stored, game))

    return read


def _over(game: str, theirs_s: float) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        cells = cells_of(stored, "race", game, LOGIT)
        return exceeding(theirs_s, cells, NEAR, _stock(stored, game))

    return read


def _stock(stored: Stored, game: str) -> str:
    """How Gambit's own call ended, whose time is printed; ours is that of the path alone."""
    call = cell_of(stored, "gambit", game, LOGIT_CALL)
    ended = "" if call.status == "ok" else f" and was ended without a result: {call.reason}"
    return (
        "this is the path alone; the stock call, which theirs is, scans all payoffs first, took "
        f"{seconds(call.elapsed_s or 0.0)}{ended}"
    )


def _rounded(theirs: float, tolerance: float) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        regrets = _end(stored)["regrets"]
        return number(theirs, float(max(map(Fraction, regrets))), tolerance, digits=5)

    return read


def _cause(stored: Stored) -> Reading:
    before = regret_of(cell_of(stored, "race", REDUCED, LOGIT))
    after = float(max(map(Fraction, _end(stored)["regrets"])))
    ours = f"{before:.3e} before rounding to four digits, {after:.3e} after"
    by = "all of it comes from rounding" if before <= 1e-6 else "rounding does not add to the gain"
    return holds(1e-6 < before < after, ours, f"{after - before:+.2e}; {by}")


def _larger(stored: Stored) -> Reading:
    logit = float(max(map(Fraction, _end(stored)["regrets"])))
    ncp = raw_regret(cells_of(stored, "race", REDUCED, PAPER_MODEL))
    ours = f"{logit:.2e} against {ncp:.1e} of the program, before polishing"
    return holds(logit > 10 * ncp, ours, f"{logit / ncp:.2g} times")


def _payoff(player: int, theirs: float) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        payoffs = payoffs_of(cell_of(stored, "race", REDUCED, LOGIT))
        return number(theirs, payoffs[player], 5e-5, digits=4)

    return read


def _a33(stored: Stored) -> Reading:
    return number(0.5002, float(Fraction(_end(stored)["a33"])), 5e-5)


def _family(stored: Stored) -> Reading:
    best = cell_of(stored, "race", REDUCED, LOGIT).equilibria
    known = best[0].identity if best else None
    identity: Mapping[str, Any] = known or {"name": "none", "distance": 1.0}
    beta = identity.get("parameters", {}).get("beta", float("nan"))
    ours = f"{identity['name']}, β = {beta:.4g}; outcomes agree to {identity['distance']:.0e}"
    good = identity["name"].startswith("szafron") and identity["distance"] <= NEAR
    return holds(good, ours, "not near the family")


def _other(stored: Stored) -> Reading:
    """Against each run of the paper's program, which ends in one equilibrium or another."""
    logit = payoffs_of(cell_of(stored, "race", REDUCED, LOGIT))[0]
    ncp = [payoffs_of(cell)[0] for cell in cells_of(stored, "race", REDUCED, PAPER_MODEL)]
    least = min(abs(logit - value) for value in ncp)
    listed = ", ".join(f"{value:.4f}" for value in ncp)
    ours = f"payoff of player 1: {logit:.4f} against {listed}"
    return holds(least > 1e-3, ours, f"{least:.1e} in one of {len(ncp)} runs")


def _window(_: Stored) -> Reading:
    return not_attempted("Gambit's window is not used here")


def _approximate(stored: Stored) -> Reading:
    worst = regret_of(cell_of(stored, "race", FULL, LOGIT))
    return holds(worst <= NEAR, f"max regret {worst:.2e}", "no approximate equilibrium")


def _slower(stored: Stored) -> Reading:
    """The printed 17.4, which 43 s / 2.47 s gives."""
    path = median_time(cells_of(stored, "race", REDUCED, LOGIT))
    ncp = median_time(cells_of(stored, "race", REDUCED, PAPER_MODEL))
    ratio = path / ncp
    ours = f"{ratio:.2g} times: {seconds(path)} (path) against {seconds(ncp)} (NCP on SCIP)"
    by = f"{ratio / 17.4:.2g} times theirs; {_stock(stored, REDUCED)}"
    return holds(is_near(ratio / 17.4), ours, by, by)


def _scales(stored: Stored) -> Reading:
    logit = cell_of(stored, "race", FULL, LOGIT)
    ncp = cell_of(stored, "race", FULL, PAPER_MODEL)
    ours = (
        f"logit to {regret_of(logit):.0e} in {seconds(logit.elapsed_s or 0.0)}, "
        f"NCP to {regret_of(ncp):.0e} in {seconds(ncp.elapsed_s or 0.0)}"
    )
    return holds(regret_of(logit) <= NEAR and regret_of(ncp) > NEAR, ours, "both solve it here")


def _limit(stored: Stored) -> Reading:
    branches = stored["qre"].summary["branches"]
    ends = [branch["max_regret"] for branch in branches]
    principal = [point["max_regret"] for point in branches[0]["at"]]
    falls = all(later < earlier for earlier, later in pairwise(principal))
    ours = (
        f"max regret {principal[0]:.0e} at λ = 10, {principal[-1]:.0e} at 100,000; "
        f"{max(ends):.0e} at most at 1e6 on {len(ends)} branches"
    )
    return holds(falls and max(ends) <= 1e-5, ours, "regrets do not vanish")


def _threshold(stored: Stored) -> Reading:
    """On the paper's game; the path of two players does get to Gambit's default threshold."""
    two = cell_of(stored, "gambit_two_players", "kuhn2", LOGIT_CALL)
    path = cell_of(stored, "race", REDUCED, LOGIT)
    ours = f"on the reduced game {path.status} at a max regret of {regret_of(path):.1e}"
    kuhn2 = f"on kuhn2 {two.status} at a max regret of {regret_of(two):.1e}"
    return holds(path.status == "ok", ours, f"{path.reason}; {kuhn2}", kuhn2)


def _superior(stored: Stored) -> Reading:
    ncp = cell_of(stored, "equilibria", REDUCED, EXACT)
    logit = regret_of(cell_of(stored, "race", REDUCED, LOGIT))
    proved = any(item.is_proved for item in ncp.equilibria)
    ours = f"NCP: {'exactly 0' if proved else regret_of(ncp)}; Gambit's logit: {logit:.1e}"
    return holds(proved and logit > 0, ours, "no exact result")


LOGIT_PATH = Part(
    title="Section 4: logit equilibria with Gambit",
    claims=(
        statement("reduced game, window", "43 s", _time(REDUCED, 43.0)),
        statement("reduced game, command line", "49 s", _time(REDUCED, 49.0)),
        statement("introduction: time", "over 40 s", _over(REDUCED, 40.0)),
        statement("gain by deviating", "1.667e-5 at most", _rounded(1.667e-5, 5e-9)),
        statement("introduction: gain", "1.67e-5 at most", _rounded(1.67e-5, 5e-8)),
        statement("gain", "significantly larger than with NCP", _larger),
        statement(
            "why larger", "approximation, roundoff, and only four digits in the window", _cause
        ),
        statement("payoff of player 1", "-0.0276", _payoff(0, -0.0276)),
        statement("payoff of player 2", "-0.0208", _payoff(1, -0.0208)),
        statement("payoff of player 3", "0.0484", _payoff(2, 0.0484)),
        statement("a33", "0.5002", _a33),
        statement("in the published family", "yes, to numerical precision", _family),
        statement("beside the NCP solution", "differs significantly", _other),
        statement("full game, window", "hung for 10 minutes", _window),
        statement("full game, command line", "2 minutes and 34 seconds", _time(FULL, 154.0)),
        statement("full game, result", "presumably a close approximation", _approximate),
        statement("reduced game, logit beside NCP", "takes 17.4 times as long", _slower),
        statement("full game, logit beside NCP", "logit solves it, NCP does not", _scales),
        statement("as λ → ∞", "every branch approaches a Nash equilibrium", _limit),
        statement("when Gambit stops", "at a threshold of regret", _threshold),
        statement("exact equilibria of small games", "NCP is superior to logit", _superior),
    ),
    note=(
        f"{TIME_RULE} The same is a max regret of 1e-4 or less. Gambit is pygambit 17.0.0b2; its "
        "path is followed as far as it goes (λ ≈ 11,400, where probabilities underflow). The "
        "printed gains are for probabilities of four digits: the profile is rounded likewise (the "
        "last action of each row is what the others leave) and measured in integers."
    ),
)
