"""Table 1: both programs on random games in strategic form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqbench.studies.reproduction.claims import (
    Claim,
    Part,
    Reading,
    differs,
    holds,
    not_attempted,
    reproduced,
)
from eqbench.studies.reproduction.ganzfried.found import TIME_RULE, statement
from eqbench.studies.reproduction.ganzfried.jobs import SMALL_SIZES
from eqbench.studies.reproduction.stored import Stored

# Mean seconds as printed: players, strategies, NCP, MIP.
PRINTED = (
    (3, 3, "0.0619", "0.1002"),
    (3, 4, "0.1864", "0.2487"),
    (3, 5, "0.5215", "1.2641"),
    (3, 6, "6.9851", "18.8500"),
    (4, 3, "0.3254", "1.5648"),
    (5, 2, "0.1858", "0.2983"),
)
SIZES = tuple(f"{players}x{actions}" for players, actions, *_ in PRINTED)


def _size(stored: Stored, size: str) -> dict[str, Any]:
    """Figures of a size; both methods solved or timed on all of its games."""
    job = "table_1_small" if size in SMALL_SIZES else f"table_1_{size}"
    sizes: list[dict[str, Any]] = stored[job].summary["sizes"]
    return next(item for item in sizes if item["size"] == size)


def _time(size: str, method: int, theirs: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = _size(stored, size)["solvers"][method]
        games, solved, mean = found["games"], found["solved"], found["mean_with_timeouts_s"]
        if mean is None:
            return not_attempted("; ".join(found["reasons"].values()) or "no game has a time")
        ours = f"{'at least ' * (solved < games)}{mean:.4f} ({solved} of {games} solved)"
        precise = f"max regret 1e-6 or less in {found['precise']}"
        ratio = (
            f"{mean / float(theirs):.2g} times theirs, median {found['median_s']:.4f}; {precise}"
        )
        return reproduced(ours, ratio) if solved == games else differs(ours, ratio)

    return read


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
    medians, means = _ratios(stored, "medians"), _ratios(stored, "means")
    ours = f"MIP / NCP, medians: {medians['3x3']:.2g} at 3x3, {medians['3x6']:.2g} at 3x6"
    detail = f"means: {means['3x3']:.2g} at 3x3, {means['3x6']:.2g} at 3x6"
    return holds(medians["3x6"] > medians["3x3"], ours, detail, detail)


def _quoted(size: str, theirs: float, tolerance: float) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = _size(stored, size)
        ratio = found["ratio"]["of_means"]
        if ratio is None:
            return not_attempted("no game has times of both methods")
        sign = {"lower": "at least ", "upper": "at most "}.get(ratio["bound"], "")
        limit = " with time-outs on both sides" * (ratio["bound"] == "unbounded")
        ours = f"{sign}{ratio['value']:.3g} over {found['ratio']['games']} games{limit}"
        detail = f"{ratio['value'] / theirs:.2g} times theirs"
        return holds(abs(ratio["value"] - theirs) <= tolerance, ours, detail, detail)

    return read


def _tolerances(stored: Stored) -> Reading:
    cells = [cell for cell in stored["table_1_small"].cells if cell.status == "ok"]
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
        "counts as the limit, and the cell then differs. Solving times have heavy tails: means of "
        "so few games are rough. All results are measured by the verifier."
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
        statement("n = 3, m = 6", "NCP is 2.7 times faster", _quoted("3x6", 2.7, 0.05)),
        statement("n = 4, m = 3", "NCP is nearly 5 times faster", _quoted("4x3", 4.8, 0.2)),
        statement(
            "newer methods",
            "other bilinear formulations (Zhang et al. 2023, Černý et al. 2025) are faster still",
            lambda _: not_attempted("these programs are none of the solvers here"),
        ),
    ),
    note=(
        "Who is faster, and whether the advantage grows, is judged by medians, since means of so "
        "few games with heavy tails say little; both are shown. The quoted factors are ratios of "
        "means, with time-outs counted as the limit."
    ),
)
