"""Table 1: both programs on random games in strategic form."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from eqbench.papers.claims import (
    Claim,
    Part,
    Reading,
    differs,
    holds,
    not_attempted,
    reproduced,
    source_error,
)
from eqbench.papers.ganzfried.found import FACTOR, TIME_RULE, is_near, statement
from eqbench.papers.stored import Stored

# Mean seconds as printed: players, strategies, NCP, MIP.
PRINTED = (
    (3, 3, "0.0619", "0.1002"),
    (3, 4, "0.1864", "0.2487"),
    (3, 5, "0.5215", "1.2641"),
    (3, 6, "6.9851", "18.8500"),
    (4, 3, "0.3254", "1.5648"),
    (5, 2, "0.1858", "0.2983"),
)
# A quoted ratio of means counts as reproduced within this factor, either way.
QUOTED = 2.0
SIZES = tuple(f"{players}x{actions}" for players, actions, *_ in PRINTED)
# By how many payoffs such a game has: players times profiles.
_BY_SIZE = tuple(
    f"{players}x{actions}"
    for players, actions, *_ in sorted(PRINTED, key=lambda row: row[0] * row[1] ** row[0])
)


def _size(stored: Stored, size: str) -> dict[str, Any]:
    """Figures of a size; both methods solved or timed on all of its games."""
    sizes: list[dict[str, Any]] = stored["table_1"].summary["sizes"]
    return next(item for item in sizes if item["size"] == size)


def _time(size: str, method: int, theirs: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = _size(stored, size)["solvers"][method]
        games, solved, mean = found["games"], found["solved"], found["mean_with_timeouts_s"]
        if mean is None:
            return not_attempted("; ".join(found["reasons"].values()) or "no game has a time")
        ours = f"{'at least ' * (solved < games)}{mean:.4f} ({solved} of {games} solved)"
        precise = f"max regret 1e-6 or less in {found['precise']}"
        ratio = mean / float(theirs)
        by = f"{ratio:.2g} times theirs, median {found['median_s']:.4f}; {precise}"
        if solved == games:
            return holds(is_near(ratio), ours, by, by)
        return _limited(ratio, ours, by, most_solved=solved > games / 2)

    return read


def _limited(ratio: float, ours: str, by: str, *, most_solved: bool) -> Reading:
    """Reading of a time of which only a lower bound is known, as games ran into the limit."""
    if ratio > FACTOR:
        return differs(ours, by)
    if most_solved and is_near(ratio):
        return reproduced(ours, f"the bound is {by}")
    return not_attempted(f"too many games ran into the limit: {ours}, a bound that is {by}")


def _ratios(stored: Stored, what: str) -> dict[str, float]:
    """MIP over NCP for each size, of means or of medians."""
    name = {"means": "mean_with_timeouts_s", "medians": "median_s"}[what]
    found = {}
    for size in SIZES:
        ncp, mip = (own[name] for own in _size(stored, size)["solvers"])
        found[size] = mip / ncp if ncp and mip else float("nan")
    return found


def _listed(ratios: dict[str, float]) -> str:
    return ", ".join(f"{value:.2g} at {size}" for size, value in ratios.items())


def _faster(stored: Stored) -> Reading:
    medians, means = _ratios(stored, "medians"), _ratios(stored, "means")
    slower = [size for size, value in medians.items() if not value > 1]
    ours = f"MIP / NCP, medians: {_listed(medians)}"
    detail = f"means: {_listed(means)}"
    return holds(not slower, ours, f"not at {', '.join(slower)}; {detail}", detail)


def _grows(stored: Stored) -> Reading:
    """All sizes in the order of their numbers of payoffs, ours and as printed."""
    medians = _ratios(stored, "medians")
    printed = {
        f"{players}x{actions}": float(mip) / float(ncp) for players, actions, ncp, mip in PRINTED
    }
    ours = f"MIP / NCP, medians by size: {_listed({size: medians[size] for size in _BY_SIZE})}"
    if not _falls(medians):
        return reproduced(ours)
    theirs = "; ".join(_falls(printed))
    return source_error(
        ours,
        f"the printed means do not increase either: {theirs}; ours: {'; '.join(_falls(medians))}",
    )


def _falls(ratios: dict[str, float]) -> list[str]:
    """Where ratios do not grow from one size to the next larger one."""
    return [
        f"{ratios[one]:.3g} at {one}, {ratios[other]:.3g} at {other}"
        for one, other in pairwise(_BY_SIZE)
        if not ratios[other] > ratios[one]
    ]


def _quoted(size: str, theirs: float) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = _size(stored, size)
        ratio = found["ratio"]["of_means"]
        if ratio is None:
            return not_attempted("no game has times of both methods")
        bound, share = ratio["bound"], ratio["value"] / theirs
        sign = {"lower": "at least ", "upper": "at most "}.get(bound, "")
        ours = f"{sign}{ratio['value']:.3g} over {found['ratio']['games']} games"
        detail = f"{share:.2g} times theirs"
        near = 1 / QUOTED <= share <= QUOTED
        beyond = (bound == "lower" and share > 1) or (bound == "upper" and share < 1)
        if near or ((beyond or not sign) and bound != "unbounded"):
            return holds(near, ours, detail, detail)
        return not_attempted(f"time-outs hide it: {ours}, {detail}")

    return read


def _tolerances(stored: Stored) -> Reading:
    cells = [cell for cell in stored["table_1_run"].cells if cell.status == "ok"]
    by_name = {cell.solver.partition("(")[0]: cell.solver_spec for cell in cells}
    wanted = {"ncp": "feasibility=1e-06", "mip": "feasibility=0.0001"}
    kept = {name: text in by_name.get(name, "") for name, text in wanted.items()}
    ours = "; ".join(f"{name}({text})" for name, text in wanted.items())
    return holds(all(kept.values()), ours, f"the run has {by_name}")


TABLE_1 = Part(
    title="Table 1: mean seconds on games with payoffs uniform in [0, 1]",
    claims=tuple(
        Claim(
            f"n = {players}, m = {actions}",
            f"{name} avg. runtime",
            theirs,
            _time(f"{players}x{actions}", method, theirs),
        )
        for players, actions, *times in PRINTED
        for method, (name, theirs) in enumerate(zip(("NCP", "MIP"), times, strict=True))
    ),
    note=(
        f"{TIME_RULE} Theirs are means over 1,000 games without a limit; ours over as many as "
        "stands in each cell (16, 12 at 3 × 5 and 8 at 3 × 6 with --full; 3 without), "
        "with a limit of 60 s (20 s, and 10 s at 3 × 6, without --full). What was not solved "
        "counts as the limit; such a mean is a lower bound, which differs only if it exceeds ten "
        "times theirs, and says nothing unless most games were solved. Solving times have heavy "
        "tails: means of so few games are rough. All results are measured by the verifier."
    ),
)

TABLE_1_TEXT = Part(
    title="What section 4 says about Table 1",
    claims=(
        statement(
            "feasibility tolerances", "1e-6 for NCP (Gurobi's default), 1e-4 for MIP", _tolerances
        ),
        statement("faster", "NCP has the smaller runtime at every size", _faster),
        statement("advantage", "the improvement increases with the size of the game", _grows),
        statement("n = 3, m = 6", "NCP is 2.7 times faster", _quoted("3x6", 2.7)),
        statement("n = 4, m = 3", "NCP is nearly 5 times faster", _quoted("4x3", 4.8)),
        statement(
            "newer methods",
            "other bilinear formulations (Zhang et al. 2023, Černý et al. 2025) are faster still",
            lambda _: not_attempted("these programs are none of the solvers here"),
        ),
    ),
    note=(
        "Who is faster, and whether the advantage grows, is judged by medians, since means of so "
        "few games with heavy tails say little; both are shown. The quoted factors are ratios of "
        "means, with time-outs counted as the limit; within a factor of 2, either way, they count "
        "as reproduced, and a bound differs only if it excludes theirs."
    ),
)
