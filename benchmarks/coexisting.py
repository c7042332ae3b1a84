"""How many equilibria of three-player Kuhn poker coexist on one branch (Billingham 2018, §5).

    python benchmarks/coexisting.py              # measures, then draws
    python benchmarks/coexisting.py --draw-only  # draws again from the raw results

With N cards the branch is followed from just below the least pot at which anybody can gain up to
16. Looked at is the middle of the widest interval in which it has most points at one pot, and the
pots in `POTS`. There all points are polished, and those count whose max regret is at most
1e-13 of the payoff range by the verifier; equilibria are different if a payoff differs by more
than 1e-8. Beside the branch, homotopies from random weights of the barrier are polished and
measured in the same way. The dimension of the set of equilibria around each of those of the
branch says whether there are more.

Where the regularized branch is nearly vertical it winds, and more so for larger epsilon. Ends and
folds that are no further apart than `TOLERANCE` therefore count as one; how many points there are
at most without that is recorded too.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from branches import first_pot, follow, kuhn
from measuring import read_results, use_one_thread, write_results

if TYPE_CHECKING:
    from branches import Followed

NAME = "coexisting"
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / f"{NAME}.svg"
CARDS, LAST_POT, EPSILONS = range(4, 14), 16, (1e-7, 1e-9)
TOLERANCE, NARROW = 1e-4, 1e-6
STARTS = 20
POTS = {4: "4.19", 5: "5.202", 10: "3.5"}
# "up to" so many, §5 and §5.2; 24 is said of a neighborhood of one pot in Figures 11 and 12.
PAPER = {4: 3, 5: 5, 10: 15}
PAPER_MOST = 24


def main() -> None:
    """Measure, write the raw results, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draw-only", action="store_true", help="draw from the raw results")
    if not parser.parse_args().draw_only:
        use_one_thread()
        rows = [measure(cards, epsilon) for epsilon in EPSILONS for cards in CARDS]
        tolerances = {"tolerance": TOLERANCE, "narrow": NARROW, "starts": STARTS}
        paper = {"paper": {str(cards): most for cards, most in PAPER.items()}}
        write_results(NAME, {**tolerances, **paper, "paper_most": PAPER_MOST, "rows": rows})
    draw(read_results(NAME), FIGURE)


def measure(cards: int, epsilon: float, starts: int = STARTS) -> dict[str, Any]:
    """Raw results of one branch."""
    import numpy as np

    from eqbench.studies.requests import TraceRequest
    from eqbench.studies.trace.follow import Setting
    from eqbench.studies.trace.study import counts_of, in_the_middle_of_most

    first, last = Fraction(repr(first_pot(cards))), Fraction(LAST_POT)
    solver = f"arclength(epsilon={epsilon})"
    request = TraceRequest(game=kuhn(cards), solver=solver, first=first, last=last, starts=starts)
    setting = Setting.of(request)
    followed = follow(setting.game, (float(first), float(last)), epsilon)
    values = np.array([point.value for point in followed.points])
    counts = counts_of(values, (), TOLERANCE)
    fixed = [Fraction(pot) for deck, pot in POTS.items() if deck == cards]
    pots = dict.fromkeys([in_the_middle_of_most(counts), *fixed])
    row = {
        "cards": cards,
        "epsilon": epsilon,
        "points": len(values),
        "reached": float(values[-1]),
        "stalled": followed.stalled,
        "most": counts.most,
        "most_narrow": counts_of(values, (), NARROW).most,
        "intervals": counts.intervals(counts.most),
        "at": [look_at(setting, followed, pot) for pot in pots if pot <= values.max()],
    }
    print(f"{cards} cards, eps={epsilon:g}: {counts.most} up to {row['reached']:.4g}", flush=True)
    return row


def look_at(setting: Any, followed: Followed, pot: Fraction) -> dict[str, Any]:
    """What is found at one pot, on the branch and beside it."""
    from eqbench.equilibria.dimension import local_dimension
    from eqbench.studies.frame import Session
    from eqbench.studies.trace.study import equilibria_at

    game = setting.game_at(pot)
    with tempfile.TemporaryDirectory() as folder:
        crossings = followed.crossings(float(pot))
        entry = equilibria_at(setting, pot, crossings, "at", Session(Path(folder)))
    equilibria = entry.pop("equilibria")
    polished = (followed.continuation.polish(point, float(pot))[0] for point in crossings)
    found = [local_dimension(game, behavior) for behavior in polished]
    return entry | {
        "dimensions": [None if size is None else size.on_path for size in found],
        "max_regrets": [item["max_regret"] for item in equilibria],
        "payoffs": [item["payoffs"] for item in equilibria],
    }


def draw(data: dict[str, Any], path: Path) -> None:
    """Figure of the numbers of points and of verified equilibria by the number of cards."""
    from matplotlib.ticker import MaxNLocator

    from eqbench.plots.style import add_legend, label_axes, new_figure, save_figure
    from eqbench.report.svg import COLORS, GRAY

    rows = complete(data)
    figure = new_figure(7.2, 3.8)
    ax = figure.subplots()
    label_axes(ax, "cards", "at one pot, at most")
    series = {
        "points of the branch": [row["most"] for row in rows],
        "different equilibria": [row["at"][0]["distinct_payoffs"] for row in rows],
    }
    cards = [row["cards"] for row in rows]
    for (name, counts), color, marker in zip(series.items(), COLORS, "os", strict=False):
        ax.plot(cards, counts, marker=marker, color=color, linewidth=1, markersize=5, label=name)
    known = {int(number): most for number, most in data["paper"].items()}
    style = {"marker": "x", "color": "black", "linestyle": "none", "markersize": 9}
    ax.plot(list(known), list(known.values()), label="Billingham 2018", **style)
    ax.axhline(data["paper_most"], color=GRAY, linewidth=0.8, linestyle="--")
    place = (cards[0], data["paper_most"])
    style = {
        "xytext": (0, 3),
        "textcoords": "offset points",
        "color": GRAY,
        "fontsize": 8,
    }
    ax.annotate(f"Billingham 2018: up to {data['paper_most']}", place, **style)
    ax.set_ylim(bottom=0)
    ax.set_xticks(cards)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    add_legend(figure, ax.get_legend_handles_labels()[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    save_figure(figure, path)


def complete(data: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Of each number of cards the branch with the smallest eps that went all the way."""
    arrived = {row["cards"]: row for row in data["rows"] if not row["stalled"]}
    return [arrived[cards] for cards in sorted(arrived)]


if __name__ == "__main__":
    main()
