"""The figures of Billingham 2018, and some that it does not have.

    python benchmarks/billingham_2018_figures.py            # all of them
    python benchmarks/billingham_2018_figures.py fig05 n5   # those whose names begin so

Branches begin below the least pot at which anybody can gain and are followed with eps=1e-7 up to
16; those of 26 cards with 1e-6, and those of 52 with 1e-4, up to 10. Single profiles are polished
and verified. A figure that would be large as SVG becomes a PNG.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from branches import Followed, first_pot, follow, kuhn
from measuring import use_one_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eqbench.model.game import Game
    from eqbench.model.tree import FloatArray
    from eqbench.studies.branch import Branch

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "figures" / "billingham_2018"
LARGEST_SVG = 300_000
SMALL_DECKS = range(4, 14)
# Last pot and strength of the barrier by the number of cards.
LARGE = {26: (10.0, 1e-6), 52: (10.0, 1e-4)}
USUAL = (16.0, 1e-7)
FRAMES, FILMED = 32, (1.5, 3.0)
# A pot at which player 3 bets the cards 5 and 6, as in the paper's Figure 10.
TWO_WAY_POT, QUANTILE_POT = 9.0, 5.0


def main() -> None:
    """Draw the figures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="beginnings of names; all figures unless given")
    wanted = parser.parse_args().names
    use_one_thread()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in FIGURES.items():
        if not wanted or any(name.startswith(start) for start in wanted):
            make(name)


def save(figure: Figure, name: str) -> None:
    """Write a figure as SVG, or as PNG if that is too large."""
    from eqbench.plots.style import save_figure

    files = [FOLDER / f"{name}{suffix}" for suffix in (".svg", ".png")]
    for file in files:
        file.unlink(missing_ok=True)
    save_figure(figure, files[0])
    if files[0].stat().st_size > LARGEST_SVG:
        files[0].unlink()
        save_figure(figure, files[1])
        with_few_colors(files[1])
    kept = next(file for file in files if file.exists())
    print(f"{kept.name}: {kept.stat().st_size / 1000:,.0f} kB", flush=True)


def with_few_colors(file: Path) -> None:
    """Make a PNG smaller by a palette."""
    from PIL import Image

    covering = Image.Quantize.MAXCOVERAGE  # thin lines count too
    Image.open(file).convert("RGB").quantize(64, covering, dither=Image.Dither.NONE).save(file)


@cache
def followed(cards: int) -> Followed:
    """The branch with so many cards."""
    from eqbench.registry import load_game

    last, epsilon = LARGE.get(cards, USUAL)
    return follow(load_game(kuhn(cards)), (first_pot(cards), last), epsilon)


@cache
def branch(cards: int) -> Branch:
    """The same as what figures are drawn from."""
    from eqbench.registry import load_game

    return followed(cards).branch(load_game(kuhn(cards)))


def branches(decks: Iterable[int]) -> Mapping[str, Branch]:
    """Branches by the name that figures show."""
    return {title(cards): branch(cards) for cards in decks}


def title(cards: int) -> str:
    """Number of cards, and the strength of the barrier if it is not the usual one."""
    own = f", eps = {LARGE[cards][1]:g}" if cards in LARGE else ""
    return f"N = {cards}{own}"


def payoffs(
    decks: Iterable[int],
    windows: Iterable[tuple[float, ...]] = (),
    players: Iterable[int] | None = None,
) -> Callable[[str], None]:
    """A figure of expectations with close-ups."""

    def make(name: str) -> None:
        from eqbench.plots.branches import Window, payoff_figure

        chosen = None if players is None else list(players)
        shown = [Window(*window) for window in windows]
        drawn = branches(decks)
        folds = len(drawn) == 1
        save(payoff_figure(drawn, windows=shown, players=chosen, folds=folds), name)

    return make


def frequencies(cards: int, window: tuple[float, float] | None = None) -> Callable[[str], None]:
    """A figure of frequencies by node."""

    def make(name: str) -> None:
        from eqbench.plots.branches import frequency_figure

        save(frequency_figure(branch(cards), window), name)

    return make


def counts(name: str) -> None:
    """How many points of the branch there are at each pot."""
    from eqbench.plots.branches import crossing_figure

    save(crossing_figure(branches(SMALL_DECKS)), name)


def two_way(name: str) -> None:
    """Bars of one equilibrium with 13 cards that has two-way bets."""
    from eqbench.model.profile import BehaviorProfile
    from eqbench.plots.kuhn import bar_figure
    from eqbench.registry import load_game
    from eqbench.verification import verify

    found = followed(13)
    behavior, _ = found.continuation.polish(found.crossings(TWO_WAY_POT)[0], TWO_WAY_POT)
    tree = load_game(kuhn(13, TWO_WAY_POT)).tree
    regret = float(verify(tree, BehaviorProfile.of(tree, behavior)).max_regret)
    heading = f"13 cards, pot {TWO_WAY_POT:g}: an equilibrium, max regret {abs(regret):.0e}"
    save(bar_figure(tree, behavior, title=heading), name)


def quantiles(name: str) -> None:
    """Payoffs and strategies of three players against the quantile of the card."""
    from large_n import THREE_PLAYERS, solve

    profiles = {}
    for cards in THREE_PLAYERS:
        solved = solve(kuhn(cards, QUANTILE_POT), QUANTILE_POT)
        profiles[f"N = {cards}"] = (solved.game, solved.behavior)
    save(quantile_figure(profiles), name)


def quantile_figure(profiles: Mapping[str, tuple[Game, FloatArray]]) -> Figure:
    """Payoffs by player and frequencies by node against the quantile of the card.

    Parameters
    ----------
    profiles : a game and frequencies float64 (A,), by the name that the legend shows
    """
    from eqbench.equilibria.kuhn_ranges import NODES, KuhnNodes, node_title
    from eqbench.plots.style import add_legend, label_axes, new_figure, ordered_colors

    figure = new_figure(10.5, 10.0)
    grid = figure.subplots(5, 3, sharex=True, sharey="row")
    titles = [f"payoff of P{p + 1}" for p in range(3)] + [node_title(n) for n in range(len(NODES))]
    for ax, title in zip(grid.flat, titles, strict=True):
        label_axes(ax, title=title)
    colors = ordered_colors(len(profiles))
    for color, (name, (game, behavior)) in zip(colors, profiles.items(), strict=True):
        nodes = KuhnNodes.of(game.tree)
        curves = [*card_payoffs(game, behavior), *nodes.aggression(behavior)]
        style = {"color": color, "marker": ".", "markersize": 3, "linewidth": 0.9, "label": name}
        for ax, curve in zip(grid.flat, curves, strict=True):
            ax.plot(places(nodes.cards), curve, **style)
    for row in grid[1:]:
        row[0].set_ylim(-0.04, 1.04)
        label_axes(row[0], "", "frequency")
    label_axes(grid[0, 0], "", "payoff")
    figure.supxlabel("quantile of the card", fontsize=9)
    add_legend(figure, grid[0, 0].get_legend_handles_labels()[0])
    return figure


def places(cards: int) -> FloatArray:
    """Where the cards stand between 0 and 1, float64 (N,)."""
    import numpy as np

    return (np.arange(cards) + 0.5) / cards


def card_payoffs(game: Game, behavior: FloatArray) -> FloatArray:
    """Expected payoff of each player with each card, float64 (3, N).

    A player's first decision comes in every hand, at one of their first information sets; so
    these share out the payoff.
    """
    import numpy as np

    from eqbench.equilibria.kuhn_ranges import KuhnNodes

    tree = game.tree
    cards = KuhnNodes.of(tree).cards
    values = behavior * game.payoff_model().counterfactual_values(behavior)
    payoffs = np.zeros((tree.n_players, cards))
    for i in np.flatnonzero(tree.infoset_parent < 0).tolist():
        card = int(tree.infoset_labels[i].partition(":")[0]) - 1
        actions = slice(tree.action_start[i], tree.action_start[i + 1])
        payoffs[tree.infoset_player[i], card] += cards * values[actions].sum()
    return payoffs


def half_street(name: str) -> None:
    """Two players on half a street: strategies with many cards, and the continuous solution."""
    from large_n import HALF_STREET, HALF_STREET_POTS, frequencies_after, limit, solve

    from eqbench.plots.style import add_legend, label_axes, new_figure, ordered_colors
    from eqbench.report.svg import GRAY, INK

    figure = new_figure(8.6, 4.8)
    grid = figure.subplots(2, len(HALF_STREET_POTS), squeeze=False, sharex=True, sharey=True)
    for axes, pot in zip(grid.T, HALF_STREET_POTS, strict=True):
        ends = limit(pot)
        edges = [[0, ends.bluffs_below, ends.bets_above, 1], [0, ends.calls_above, 1]]
        for color, cards in zip(ordered_colors(len(HALF_STREET)), HALF_STREET, strict=True):
            solved = solve(f"kuhn(players=2,cards={cards},pot={pot},reduce=half_street)", pot)
            for ax, history in zip(axes, ("K", "KB"), strict=True):
                shown = frequencies_after(solved, history)
                style = {"color": color, "marker": ".", "markersize": 4, "linewidth": 0.8}
                ax.plot(places(cards), shown, label=f"N = {cards}", **style)
        for ax, values, edge in zip(axes, ([1, 0, 1], [0, 1]), edges, strict=True):
            ax.stairs(values, edge, baseline=None, color=INK, linestyle="--", label="continuous")
        label_axes(axes[0], "", "player 2 bets")
        label_axes(axes[1], "quantile of the card", "player 1 calls")
        axes[0].set_title(f"pot {pot}", loc="left", fontsize=9)
        note = {"ha": "right", "color": GRAY, "fontsize": 8, "transform": axes[1].transAxes}
        axes[1].text(0.97, 0.06, "between bluffs and value bets\nonly the sum counts", **note)
    add_legend(figure, grid[0, 0].get_legend_handles_labels()[0])
    save(figure, name)


def film(name: str) -> None:
    """Strategies along a stretch of the branch with five cards, as an animation."""
    import numpy as np

    from eqbench.plots.kuhn import write_animation
    from eqbench.studies.branch import Branch

    whole = branch(5)
    inside = np.flatnonzero((whole.values >= FILMED[0]) & (whole.values <= FILMED[1]))
    rows = slice(inside[0], inside[-1] + 1)
    arrays = (whole.values, whole.arclength, whole.free, whole.payoffs)
    stretch = Branch(whole.game, whole.parameter, *(array[rows] for array in arrays))
    step = float(np.ptp(stretch.arclength)) / (FRAMES - 1)
    file = FOLDER / f"{name}.gif"
    frames = write_animation(stretch, file, step=step)
    print(f"{file.name}: {frames} frames, {file.stat().st_size / 1000:,.0f} kB", flush=True)


def skp(name: str) -> None:
    """Figures 2 to 4 and the error against eps."""
    from skp_figures import draw_skp

    draw_skp(save)


FIGURES: dict[str, Callable[[str], None]] = {
    "skp": skp,
    "fig05_n10_payoffs": payoffs([10], [(3.4, 3.6, 0.0445, 0.0595)]),
    "fig06_n4_payoffs": payoffs([4], [(4.15, 4.23, 0.0476, 0.0486), (4.15, 4.23, 0.0028, 0.0036)]),
    "fig07_n4_frequencies": frequencies(4),
    "fig07_n4_close_up": frequencies(4, (4.15, 4.23)),
    "fig08_n5_payoffs": payoffs([5], [(1.6, 2.5, 0.0345, 0.0445), (4.9, 5.6, -0.047, -0.0415)]),
    "fig09_n5_frequencies": frequencies(5),
    "fig10_n13_bars": two_way,
    "fig11_payoffs_n4_to_n13": payoffs(SMALL_DECKS),
    "fig12_n9_payoff_close_up": payoffs([9], [(7.4, 7.5)], [2]),
    "fig13_payoffs_large": payoffs([13, *LARGE]),
    "fig14_n26_payoffs": payoffs([26], [(4.8, 5.2, 0.0455, 0.0525)]),
    "counts": counts,
    "quantiles": quantiles,
    "half_street": half_street,
    "n5": film,
}

if __name__ == "__main__":
    main()
