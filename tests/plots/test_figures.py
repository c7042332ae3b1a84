"""Figures of branches, regimes, strategies and simulations: what they show and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from helpers.branches import curves, dots, made_up_branch, texts
from PIL import Image

import eqbench
from eqbench.errors import UsageError
from eqbench.model.profile import random_profile
from eqbench.plots.branches import frequency_figure, frequency_table, payoff_figure
from eqbench.plots.kuhn import bar_figure, write_animation
from eqbench.plots.stability import REGIME_COLORS, regime_diagram, verdict_colors
from eqbench.plots.style import by_name, log_log_figure, ordered_colors, power_law, save_figure
from eqbench.studies.branch import Branch
from eqbench.studies.flow.rest_points import STABLE, UNSTABLE
from eqbench.studies.kuhn_ranges import NODES, KuhnNodes, held

if TYPE_CHECKING:
    from matplotlib.axes import Axes
from eqbench.equilibria import known_sets
from eqbench.model.choices import Choices
from eqbench.plots.flow import (
    MARK,
    coupled_pairs,
    couplings,
    frequency_names,
    last_turns,
    phase_figure,
    planes_of,
    profit_figure,
    series_figure,
)
from eqbench.studies.flow.points import SimulatedRun

FOLDED = (2.0, 3.0, 3.0, 2.5, 4.0)


@cache
def branch(spec: str = "skp", values: tuple[float, ...] = FOLDED) -> Branch:
    return made_up_branch(spec, values)


# -- expectations ---------------------------------------------------------------------------------


def test_one_branch_has_a_line_for_each_player_and_dots_at_its_folds() -> None:
    figure = payoff_figure({"SKP": branch()})
    (ax,) = figure.axes
    shown = [(x, y) for x, y in curves(ax) if not np.isnan(y).any()]
    assert shown == [(list(FOLDED), column.tolist()) for column in branch().payoffs.T]
    assert dots(ax) == [3.0, 2.5] * 3
    assert {"SKP", "pot", "P1", "P2", "P3", "fold"} <= set(texts(figure))


def test_lines_are_broken_where_the_branch_was_outside_its_range() -> None:
    """It left at the second point and came back at the third one."""
    arclength = branch().arclength.copy()
    arclength[2:] -= arclength[2] - arclength[1]
    left = replace(branch(), arclength=arclength)
    broken = [2.0, 3.0, np.nan, 3.0, 2.5, 4.0]
    for figure in (payoff_figure({"SKP": left}), frequency_figure(left)):
        assert figure.axes[0].get_xlim() == pytest.approx((2, 4), abs=0.1)
        for x, y in curves(figure.axes[0]):
            assert np.array_equal(x, broken, equal_nan=True)
            assert np.flatnonzero(np.isnan(y)).tolist() == [2]
    assert dots(payoff_figure({"SKP": left}).axes[0]) == [2.5] * 3
    assert branch().broken().values.tolist() == list(FOLDED)


def test_close_up_shows_all_that_passes_through_it_and_is_marked() -> None:
    figure = payoff_figure({"SKP": branch()}, windows=[(3.2, 3.4), (2, 3, -1, 1)])
    main, first, second = figure.axes
    assert first.get_xlim() == (3.2, 3.4)
    assert second.get_ylim() == (-1, 1)
    last = branch().payoffs[3:]  # from pot 2.5 to pot 4
    between = [np.interp([3.2, 3.4], [2.5, 4], column) for column in last.T]
    bottom, top = first.get_ylim()
    assert bottom < np.min(between) < np.max(between) < top
    assert top - bottom < 1.2 * float(np.ptp(between))
    boxes = [x for x, y in curves(main) if len(x) == 5 and x[0] == x[-1]]
    assert [box[0] for box in boxes] == [3.2, 2]
    assert [ax.get_title(loc="left") for ax in (first, second)] == ["1", "2"]
    assert {"1", "2"} <= {text.get_text() for text in main.texts}


@pytest.mark.parametrize("window", [(5, 6), (2, 3, 7, 8)])
def test_close_up_of_nothing_is_refused(window: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="close-up"):
        payoff_figure({"SKP": branch()}, windows=[window])


def test_more_panels_than_can_be_read_are_refused() -> None:
    with pytest.raises(UsageError, match="1 to 60"):
        frequency_table(eqbench.load_game("leduc").tree)


# -- frequencies ----------------------------------------------------------------------------------


def test_three_player_kuhn_has_its_nodes_in_order_with_a_line_for_each_card() -> None:
    branches = branch("kuhn3", FOLDED)
    tree = branches.game.tree
    figure = frequency_figure(branches)
    assert len(figure.axes) == 12
    for ax, node in zip(figure.axes, NODES, strict=True):
        assert ax.get_title(loc="left").endswith(node.title)
        for card, curve in enumerate(curves(ax), start=1):
            infoset = tree.infoset_of(node.player, f"{card}:{node.history}")
            action = tree.action_start[infoset] + 1
            column = int(np.searchsorted(branches.choices.action, action))
            assert curve == (list(FOLDED), branches.free[:, column].tolist())
        assert len(curves(ax)) == 4


def test_other_games_have_a_panel_for_each_public_history() -> None:
    table = frequency_table(eqbench.load_game("kuhn2").tree)
    titles = ["P1", "P1 after KB", "P2 after K", "P2 after B"]
    assert table["panel"].unique().tolist() == titles
    assert table["label"].tolist() == ["1", "2", "3"] * 4
    assert sorted(table.index) == [*range(12)]
    assert len(frequency_figure(branch("kuhn2")).axes) == 4


def test_nodes_at_which_nothing_is_free_are_named_and_take_no_panel() -> None:
    """Simplified Kuhn poker has no choice at the nodes 6, 9 and 12."""
    figure = frequency_figure(branch(), title="SKP")
    numbers = [ax.get_title(loc="left").split()[0] for ax in figure.axes]
    assert numbers == ["1", "2", "3", "4", "5", "7", "8", "10", "11"]
    assert figure.get_suptitle() == "SKP; nothing is free at 6, 9, 12"


def test_what_lies_on_another_line_is_dashed() -> None:
    """P1 and P2 have the same payoffs up to the third point."""
    payoffs = branch().payoffs.copy()
    payoffs[:3, 1] = payoffs[:3, 0]
    payoffs[3:, 1] = payoffs[3:, 0] + 1
    (ax,) = payoff_figure({"SKP": replace(branch(), payoffs=payoffs)}, folds=False).axes
    lines = [line for line in ax.get_lines() if len(line.get_xdata())]
    assert [line.get_linestyle() for line in lines] == ["-", "-", "--", "-"]
    assert np.flatnonzero(np.isfinite(lines[1].get_ydata())).tolist() == [2, 3, 4]
    assert np.flatnonzero(np.isfinite(lines[2].get_ydata())).tolist() == [0, 1, 2]


def test_ordered_colors_are_seen_on_white() -> None:
    """By the contrast of the Web Content Accessibility Guidelines, for graphics at least 3."""
    colors = np.array(ordered_colors(9))
    linear = np.where(colors > 0.04045, ((colors + 0.055) / 1.055) ** 2.4, colors / 12.92)
    assert np.all(1.05 / (linear @ (0.2126, 0.7152, 0.0722) + 0.05) > 3)


# -- counts and power laws ------------------------------------------------------------------------


def test_power_law_is_recovered() -> None:
    x = np.array([4.0, 5.0, 13.0, 26.0])
    assert power_law(x, 3 * x**2.5) == pytest.approx((3, 2.5))
    figure = log_log_figure({"cost": (x, 3 * x**2.5)}, x_label="cards", y_label="seconds")
    assert "cost: slope 2.50" in texts(figure)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], [0, 1], "positive"),
        ([-1, 2], [1, 1], "positive"),
        ([1, 2], [1, np.inf], "positive"),
        ([2, 2], [1, 3], "several x"),
    ],
)
def test_what_has_no_power_law_is_refused(x: list[float], y: list[float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        log_log_figure({"series": (x, y)}, x_label="x", y_label="y")


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_same_data_give_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    contents = []
    for name in "ab":
        path = tmp_path / f"{name}{suffix}"
        save_figure(payoff_figure({"SKP": branch()}, windows=[(2, 3)]), path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    assert contents[0].startswith(b"<?xml" if suffix == ".svg" else b"\x89PNG")


def entries_at(values, name, verdict):
    return [{"name": name, "value": value, "verdict": verdict} for value in values]


def runs_at(value, *words):
    return [{"parameter": value, "regime": word} for word in words]


def marks(ax):
    """Places and colors of the diamonds of a panel."""
    drawn = [line for line in ax.get_lines() if line.get_marker() == "D" and len(line.get_xdata())]
    return sorted((line.get_xdata()[0], line.get_color()) for line in drawn)


def bars(ax):
    """Ends of the bars of a panel, from the top."""
    drawn = [line.get_xdata() for line in ax.get_lines() if len(line.get_xdata()) > 1]
    return [(min(x), max(x)) for x in drawn]


def test_regime_diagram_has_bars_of_ranges_and_shares_of_words():
    center = "centre manifold of oscillatory dimension 2"
    entries = [
        *entries_at((2.0, 2.5, 3.0), "skp:1", center),
        *entries_at((3.0, 3.5, 4.0), "skp:2", "unstable"),
        *entries_at((2.0,), "skp:1a", "unstable"),
    ]
    runs = runs_at(2.5, *["periodic"] * 3)
    runs += runs_at(3.5, "undecided", *["chaotic_transient"] * 3)
    figure = regime_diagram(entries, runs, "pot", title="skp")
    above, below = figure.axes
    assert figure.get_suptitle() == "skp"
    assert [label.get_text() for label in above.get_yticklabels()] == ["skp:1a", "skp:1", "skp:2"]
    assert bars(above) == [(2.0, 3.0), (3.0, 4.0)]
    assert marks(above) == [(2.0, "#d6336c")]  # the diamond of 1a
    assert "wherever they exist" in above.get_title(loc="left")  # also where nothing was simulated
    shown = {
        (round(bar.get_x() + bar.get_width() / 2, 6), bar.get_facecolor()): bar.get_height()
        for bar in below.patches
        if bar.get_height()
    }
    assert sorted(shown.values()) == [0.25, 0.75, 1.0]
    assert {place for place, _ in shown} == {2.5, 3.5}


def test_every_regime_word_and_every_verdict_has_its_own_color():
    centers = [f"centre manifold of oscillatory dimension {number}" for number in (0, 2, 4, 6, 8)]
    colors = verdict_colors([UNSTABLE, STABLE, *centers[::-1]])
    assert list(colors) == [*centers, STABLE, UNSTABLE]
    assert len({*REGIME_COLORS.values(), *colors.values()}) == 12


def test_published_sets_are_ordered_by_their_numbers():
    names = ["skp:10", "skp:9", "skp:2", "skp:10a", "skp:1", "skp:2a", "skp:2", "skp:1a"]
    ordered = ["skp:1a", "skp:1", "skp:2a", "skp:2", "skp:9", "skp:10a", "skp:10"]
    assert by_name(names) == ordered
    assert by_name(["szafron:c11=1/2", "szafron:0<c11<1/2"])[0] == "szafron:0<c11<1/2"


def test_bars_join_neighbors_with_one_verdict_and_marks_are_the_others():
    """As Solution 2 of Billingham (2017), which meets Solution 1 at a pot of 3."""
    center = "centre manifold of oscillatory dimension 4"
    entries = [
        *entries_at((3.0,), "skp:2", center),
        *entries_at((3.5, 4.0), "skp:2", UNSTABLE),
        *entries_at((5.0,), "skp:2", UNSTABLE),  # it does not exist at 4.5
        *entries_at((4.5,), "skp:8", UNSTABLE),
    ]
    runs = runs_at(3.5, "periodic") + runs_at(4.5, "periodic")
    above, _ = regime_diagram(entries, runs, "pot").axes
    assert bars(above) == [(3.5, 4.0)]
    colors = verdict_colors((center, UNSTABLE))
    pink = colors[UNSTABLE]
    assert marks(above) == [(3.0, colors[center]), (4.5, pink), (5.0, pink)]


# -- bars -----------------------------------------------------------------------------------------


def bar_heights(ax: Axes) -> tuple[list[float], list[float]]:
    """Heights of the bars of a panel, and of their black parts."""
    whole, black, *_ = ax.containers
    return [bar.get_height() for bar in whole], [bar.get_height() for bar in black]


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn(players=3,cards=17,reduce=billingham)"])
def test_bars_are_shortened_by_what_was_bet_before(spec: str) -> None:
    tree = eqbench.load_game(spec).tree
    behavior = random_profile(tree, np.random.default_rng(3))
    figure = bar_figure(tree, behavior, title="a title")
    aggression = KuhnNodes.of(tree).aggression(behavior)
    for row, ax in enumerate(figure.axes):
        whole, black = bar_heights(ax)
        assert whole == pytest.approx(held(aggression)[row])
        assert black == pytest.approx(held(aggression)[row] * aggression[row])
        assert ax.get_title(loc="left") == f"{row + 1} · {NODES[row].title}"
    assert "a title" in texts(figure)


def test_ranges_stand_below_the_bars() -> None:
    tree = eqbench.load_game("kuhn3").tree
    nodes = KuhnNodes.of(tree)
    behavior = np.zeros(tree.n_actions)
    for row, bets in {0: [1, 0, 0, 0.5], 9: [0, 0, 1, 1], 10: [0, 0, 1, 1]}.items():
        behavior[nodes.action[row]] = bets
    figure = bar_figure(tree, behavior)
    shown = [{(t.get_position()[0], t.get_text()) for t in ax.texts} for ax in figure.axes]
    assert shown[0] == {(1, "B"), (4, "V")}
    assert shown[9] == {(3, "C")}
    nobody = [row for row, panel in enumerate(shown) if (2.5, "nobody makes this bet") in panel]
    assert nobody == [*range(3, 9)]


# -- animations -----------------------------------------------------------------------------------


def test_animation_has_its_frames(tmp_path: Path) -> None:
    contents = []
    for name in "ab":
        path = tmp_path / f"{name}.gif"
        write_animation(branch(), path, 4)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == 4
        assert image.info["duration"] == 250
        frames = [np.asarray(image.convert("RGB")) for k in range(4) if image.seek(k) is None]
    assert all((frame != frames[0]).any() for frame in frames[1:])


def test_animation_that_cannot_be_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "film.gif"
    with pytest.raises(UsageError, match="poker"):
        write_animation(branch("kuhn2"), path, 2)
    with pytest.raises(UsageError, match="write"):
        write_animation(branch(), tmp_path / "no folder" / "figures" / "film.gif", 2)


TIMES = np.linspace(0, 40, 401)


@pytest.fixture(scope="module")
def game():
    return eqbench.load_game("skp(pot=3.75)")


@pytest.fixture(scope="module")
def names(game):
    return list(frequency_names(game))


def run_of(game, names, values, *, name="seed 0", times=TIMES):
    """A run in which the named frequencies are functions of time, or numbers; the others 0.5."""
    choices = Choices.of(game.tree)
    free = np.full((len(times), choices.size), 0.5)
    for short, value in values.items():
        free[:, names.index(short)] = value
    behavior = np.array([choices.behavior(row) for row in free])
    payoffs = np.array([game.payoff_model().expected_payoffs(row) for row in behavior])
    return SimulatedRun(name, times, behavior, payoffs, payoffs[:1] * (times - times[0])[:, None])


@pytest.fixture(scope="module")
def two_oscillators(game, names):
    """Solution 5's neighborhood: b2 with d1, and b3 with d2, circle at two frequencies."""
    slow, fast = TIMES, 1.7 * TIMES
    values = {
        **{"a1": 0.0, "b1": 0.0, "c3": 0.0, "a2": 1.0, "c1": 1.0},
        **{"b2": 0.4 + 0.2 * np.sin(slow), "d1": 0.7 + 0.2 * np.cos(slow)},
        **{"b3": 0.4 + 0.3 * np.sin(fast), "d2": 0.3 + 0.2 * np.cos(fast)},
    }
    return run_of(game, names, values)


def lines_of(ax):
    """The orbits in a plane."""
    return [
        line for line in ax.get_lines() if line.get_color() != MARK and len(line.get_xdata()) > 1
    ]


def marked(ax):
    """Published sets in a plane."""
    return [line for line in ax.get_lines() if line.get_color() == MARK and len(line.get_xdata())]


def ring(ax):
    """The mark of a published equilibrium that is a point of the plane."""
    (found,) = [line for line in marked(ax) if line.get_marker() == "o"]
    return found


def test_frequencies_are_named_as_in_the_publication(game, names):
    assert sorted(names) == ["a1", "a2", "b1", "b2", "b3", "c1", "c2", "c3", "d1", "d2", "d3"]
    labels = [game.tree.infoset_labels[i] for i in Choices.of(game.tree).infoset]
    assert labels[names.index("b3")] == "2:KK"


def test_other_frequencies_keep_their_labels():
    game = eqbench.load_game("leduc")
    names = list(frequency_names(game))
    assert len(names) == Choices.of(game.tree).size
    assert all(name.startswith(("P1|", "P2|")) for name in names)


def test_couplings_are_derivatives_of_both_gains(game, names, two_oscillators):
    """Billingham (2017, eqs. 2 and 3): 24 dE3/db3 has -(P+1) d2 and 24 dE2/dd2 has (P+1) b3."""
    strength = couplings(game, [two_oscillators])
    b3, d2, b2 = (names.index(name) for name in ("b3", "d2", "b2"))
    assert strength[b3, d2] == pytest.approx(4.75 / 24, rel=1e-12)
    assert strength[b2, d2] == 0.0
    np.testing.assert_array_equal(strength, strength.T)


def test_decoupled_oscillators_get_a_plane_each(game, names, two_oscillators):
    found = coupled_pairs(game, [two_oscillators], 8)
    assert {frozenset(names[p] for p in pair) for pair in found} == {
        frozenset({"b2", "d1"}),
        frozenset({"b3", "d2"}),
    }


def test_planes_form_no_circle_and_are_not_too_many(game, names):
    rng = np.random.default_rng(0)
    values = {name: rng.random(len(TIMES)) for name in names}
    run = run_of(game, names, values)
    assert len(coupled_pairs(game, [run], 20)) == len(names) - 1
    assert len(coupled_pairs(game, [run], 3)) == 3


def test_planes_can_be_named_either_way(game, names, two_oscillators):
    wanted = [("P3|2:KK|bet", "d2")]
    assert planes_of(game, [two_oscillators], wanted) == [(names.index("b3"), names.index("d2"))]


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("b3", "b4"), r"'b4' is not a frequency of this game.*b3"),
        (("b3", "P3|2:KK|bet"), "names one frequency twice"),
    ],
)
def test_pair_that_spans_no_plane_is_refused(game, pair, message):
    with pytest.raises(UsageError, match=message):
        planes_of(game, (), [pair])


def test_last_turns_begin_with_a_rise_through_the_middle():
    times = np.arange(0, 100, 0.01)
    motion = np.column_stack((0.5 - 0.4 * np.sin(2 * np.pi * times), 0.1 * np.sin(times)))
    # it rises through the middle halfway through each unit of time
    assert len(last_turns(motion, 30)) == pytest.approx((100 - 69.5) * 100, abs=2)
    assert last_turns(motion, 30)[-1].tolist() == motion[-1].tolist()
    assert len(last_turns(motion[:2000], 30)) == 2000
    assert len(last_turns(motion, 0)) < 100


def test_planes_show_the_late_orbit_and_published_solutions(game, names, two_oscillators, tmp_path):
    """Billingham (2017, Figure 12): Solution 5 has b3 = 2 / (P + 1) and c3 + d1 = 2 (P-2)/(P+1)."""
    figure = phase_figure(
        game, [two_oscillators], planes_of(game, [two_oscillators], [("b3", "d1")])
    )
    (ax,) = figure.axes
    (orbit,) = lines_of(ax)
    b3, d1 = (
        two_oscillators.behavior[:, Choices.of(game.tree).action[names.index(n)]]
        for n in ("b3", "d1")
    )
    np.testing.assert_array_equal(orbit.get_xdata(), b3)
    np.testing.assert_array_equal(orbit.get_ydata(), d1)
    (end,) = [
        line for line in ax.get_lines() if len(line.get_xdata()) == 1 and line is not ring(ax)
    ]
    assert end.get_xydata().tolist() == [[b3[-1], d1[-1]]]
    np.testing.assert_allclose(ring(ax).get_xydata()[0], [2 / 4.75, 2 * 1.75 / 4.75], rtol=1e-9)
    assert [(text.get_text(), text.xyann) for text in ax.texts] == [("5", (6, 0))]  # at the right
    again = phase_figure(game, [two_oscillators], planes_of(game, (), [("b3", "d1")]))
    for name, drawn in (("one.svg", figure), ("two.svg", again)):
        save_figure(drawn, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("b3\nP3|2:KK|bet", "d1\nP1|3:KBF|call")


def test_series_show_what_moves_and_list_the_rest(game, names, two_oscillators):
    figure = series_figure(game, [two_oscillators])
    left = [ax for ax in figure.axes if ax.get_ylabel()]
    assert [ax.get_ylabel().split()[0] for ax in left] == [
        n for n in names if n in {"b2", "d1", "b3", "d2"}
    ]
    title = figure.get_suptitle()
    assert "a2 1.00" in title
    assert "c3 0.00" in title
    assert "b3" not in title


def test_profits_stand_beside_lines_of_published_payoffs(game, two_oscillators):
    """At pot 3.75 only Solution 5 exists, with payoffs of one value for each player."""
    figure = profit_figure(game, [two_oscillators])
    (known,) = {known.name: known for known in known_sets(game)}.values()
    expected = known.payoffs_near(np.full(len(known.parameters), 0.5))
    for player in range(3):
        above, below = figure.axes[player], figure.axes[3 + player]
        profit, published = above.get_lines()
        assert published.get_ydata()[-1] == pytest.approx(40 * expected[player], abs=1e-6)
        np.testing.assert_allclose(profit.get_ydata()[-1], two_oscillators.profits[-1, player])
        average, level = below.get_lines()
        assert level.get_ydata()[0] == pytest.approx(expected[player], abs=1e-8)
        np.testing.assert_allclose(average.get_ydata(), two_oscillators.payoffs[0, player])


def test_averages_begin_where_points_are_dense(game, names):
    """Early points of a long run are further apart than a period, so their averages would jump."""
    times = np.concatenate((np.linspace(0, 950, 191), np.linspace(950.5, 1000, 100)))
    figure = profit_figure(game, [run_of(game, names, {}, times=times)])
    average = figure.axes[3].get_lines()[0]
    assert average.get_xdata()[0] == pytest.approx(50 * 5, rel=0.03)
    even = np.linspace(0, 1000, 10_001)
    figure = profit_figure(game, [run_of(game, names, {}, times=even)])
    assert figure.axes[3].get_lines()[0].get_xdata()[0] == pytest.approx(5.0, abs=0.2)
    assert figure.get_suptitle() == "skp(pot=3.75)"
