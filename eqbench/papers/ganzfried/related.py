"""Sections 1 and 5: what is said about other methods."""

from __future__ import annotations

from statistics import median

from eqbench.papers.claims import Part, Reading, holds
from eqbench.papers.ganzfried.found import cell_of, cells_of, regret_of, statement, statistic
from eqbench.papers.ganzfried.jobs import FULL, LOGIT, RANDOM_CFR, RANDOM_PLAY, REDUCED
from eqbench.papers.stored import Stored

FAR = 0.1
# How many times smaller the regret of the best start has to be than a usual one.
AHEAD = 2.0


def _close(stored: Stored) -> Reading:
    cell = cell_of(stored, "self_play", FULL, "cfr")
    ours = f"max regret {regret_of(cell):.1e} after {cell.iterations:,} iterations"
    return holds(regret_of(cell) <= 0.0045, ours, "not that close")


def _happened(stored: Stored) -> Reading:
    cell = cell_of(stored, "self_play", FULL, "cfr_plus")
    ours = f"CFR+: max regret {regret_of(cell):.0e} after {cell.iterations:,} iterations"
    return holds(regret_of(cell) <= 1e-4, ours, "it does not converge")


def _no_guarantee(stored: Stored) -> Reading:
    counts = []
    for solver in (RANDOM_CFR, RANDOM_PLAY):
        cells = cells_of(stored, "small_games", "jordan", solver)
        far = [regret_of(cell) for cell in cells if regret_of(cell) > FAR]
        counts.append((solver.partition("(")[0], len(far), len(cells), max(far, default=0.0)))
    ours = "; ".join(
        f"{name}: {far} of {all_} starts stay off, max regret {worst:.2g}"
        for name, far, all_, worst in counts
    )
    return holds(all(far for _, far, _, _ in counts), ours, "one of them converges", "jordan")


def _better(stored: Stored, job: str) -> Reading:
    """By how much the best start is ahead of a usual one, over all games of a job."""
    by_game: dict[str, list[float]] = {}
    for cell in stored[job].cells:
        by_game.setdefault(cell.game, []).append(regret_of(cell))
    gains = [median(regrets) / min(regrets) for regrets in by_game.values()]
    starts = min(map(len, by_game.values()))
    listed = ", ".join(f"{gain:.2g}" for gain in gains)
    ours = f"median regret over that of the best of {starts} starts: {listed}"
    middle = f"{median(gains):.2g} in the middle of {len(gains)} games"
    return holds(median(gains) >= AHEAD, ours, f"{middle}, less than {AHEAD:g}", middle)


def _blowup(stored: Stored) -> Reading:
    found = []
    for game in (REDUCED, FULL):
        counts = [
            int(value) for value in statistic(cell_of(stored, "race", game, LOGIT), "strategies")
        ]
        contingencies = counts[0] * counts[1] * counts[2]
        nodes = stored["info_reduced" if game == REDUCED else "info_full"].printed_json["sizes"]
        found.append((game, contingencies, nodes["nodes"]))
    ours = "; ".join(
        f"{game}: {size:.2g} contingencies for {nodes} nodes" for game, size, nodes in found
    )
    growth = found[1][1] / found[0][1]
    detail = f"{growth:.2g} times as many for {found[1][2] / found[0][2]:.2g} times the nodes"
    return holds(growth > 1000, ours, detail, detail)


RELATED = Part(
    title="Sections 1 and 5: other methods",
    claims=(
        statement(
            "CFR on three-player Kuhn poker",
            "nobody gains more than 0.0045 by deviating (Abou Risk and Szafron 2010)",
            _close,
        ),
        statement("CFR, again", "happens to converge there, without a guarantee", _happened),
        statement(
            "CFR and fictitious play",
            "there are small three-player games that they do not solve",
            _no_guarantee,
        ),
        statement(
            "fictitious play from several starts",
            "approximates better in strategic form (Ganzfried 2022)",
            lambda stored: _better(stored, "starts_strategic"),
        ),
        statement(
            "CFR from several starts",
            "so it may in games of imperfect information",
            lambda stored: _better(stored, "starts_kuhn"),
        ),
        statement("conversion to strategic form", "blows games up exponentially", _blowup),
    ),
    note=(
        "Max regrets are measured on the tree. The small game is three-player matching pennies "
        "(Jordan 1993), from random starts, 20,000 iterations. From several starts: 2,000 "
        "iterations each on random games of 5 × 5 × 5 (four, eight with --full), and on kuhn3 and "
        "kuhn3_reduced. The best of some starts is never worse than the usual one; it counts as "
        "better where its regret is at most half the median one, in the middle of the games."
    ),
)
