"""Figures of branches, regimes, strategies and simulations: what they show and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from helpers.branches import made_up_branch
from helpers.figures import drawn, handed, lines
from PIL import Image

import eqbench
from eqbench.equilibria import known_sets
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.profile import random_profile
from eqbench.plots.branches import (
    crossing_figure,
    frequency_figure,
    frequency_table,
    payoff_figure,
)
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
from eqbench.plots.kuhn import bar_figure, write_animation
from eqbench.plots.stability import (
    REGIME_COLORS,
    eigenvalue_figure,
    regime_diagram,
    verdict_colors,
    verdict_panel,
)
from eqbench.plots.style import by_name, log_log_figure, ordered_colors, power_law, save_figure
from eqbench.studies.branch import Branch
from eqbench.studies.flow.points import SimulatedRun
from eqbench.studies.flow.rest_points import STABLE, UNSTABLE, SetStability
from eqbench.studies.kuhn_ranges import NODES, KuhnNodes, held

FOLDED = (2.0, 3.0, 3.0, 2.5, 4.0)


@cache
def branch(spec: str = "skp", values: tuple[float, ...] = FOLDED) -> Branch:
    return made_up_branch(spec, values)


# -- expectations and frequencies -----------------------------------------------------------------


def test_one_branch_has_a_line_for_each_player_and_dots_at_its_folds() -> None:
    (panel,), words = handed(payoff_figure, {"SKP": branch()})
    shown = [(x, y) for x, y in lines(panel) if len(x) == 5 and not np.isnan(y).any()]
    assert shown == [(list(FOLDED), column.tolist()) for column in branch().payoffs.T]
    assert [list(s.data[0]) for s in drawn(panel, marker="o")] == [[3.0, 2.5]] * 3
    assert {s.look.get("label") for s in panel.series} >= {"P1", "P2", "P3", "fold"}
    assert (words["title"], words["x_label"]) == ("SKP", "pot")


def test_lines_are_broken_where_the_branch_was_outside_its_range() -> None:
    """It left at the second point and came back at the third one."""
    arclength = branch().arclength.copy()
    arclength[2:] -= arclength[2] - arclength[1]
    left = replace(branch(), arclength=arclength)
    for found in (handed(payoff_figure, {"SKP": left}), handed(frequency_figure, left)):
        shown = [s.data for s in drawn(found.panels[0], linewidth=1.2)]
        for x, y in shown:
            assert np.array_equal(x, [2.0, 3.0, np.nan, 3.0, 2.5, 4.0], equal_nan=True)
            assert np.flatnonzero(np.isnan(y)).tolist() == [2]
    (panel,), _ = handed(payoff_figure, {"SKP": left})
    assert [list(s.data[0]) for s in drawn(panel, marker="o")] == [[2.5]] * 3
    assert branch().broken().values.tolist() == list(FOLDED)


def test_close_up_shows_all_that_passes_through_it_and_is_marked() -> None:
    windows = [(3.2, 3.4), (2, 3, -1, 1)]
    (main, first, second), _ = handed(payoff_figure, {"SKP": branch()}, windows=windows)
    assert first.settings["xlim"] == (3.2, 3.4)
    assert second.settings["ylim"] == (-1, 1)
    last = branch().payoffs[3:]  # from pot 2.5 to pot 4
    between = [np.interp([3.2, 3.4], [2.5, 4], column) for column in last.T]
    bottom, top = first.settings["ylim"]
    assert bottom < np.min(between) < np.max(between) < top
    assert top - bottom < 1.2 * float(np.ptp(between))
    assert [box[0] for box, _ in lines(main) if len(box) == 5 and box[0] == box[-1]] == [3.2, 2]
    assert [panel.title for panel in (first, second)] == ["1", "2"]
    assert [s.data[0] for s in main.series if s.method == "annotate"] == ["1", "2"]


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: payoff_figure({"SKP": branch()}, windows=[(5, 6)]), "close-up"),
        (lambda: payoff_figure({"SKP": branch()}, windows=[(2, 3, 7, 8)]), "close-up"),
        (lambda: frequency_table(eqbench.load_game("leduc").tree), "1 to 60"),
    ],
)
def test_what_shows_nothing_or_too_much_is_refused(draw: Callable[[], Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        draw()


def test_three_player_kuhn_has_its_nodes_in_order_with_a_line_for_each_card() -> None:
    branches = branch("kuhn3", FOLDED)
    tree = branches.game.tree
    panels, _ = handed(frequency_figure, branches)
    for panel, node in zip(panels, NODES, strict=True):
        assert panel.title.endswith(node.title)
        for card, curve in enumerate(lines(panel), start=1):
            infoset = tree.infoset_of(node.player, f"{card}:{node.history}")
            action = tree.action_start[infoset] + 1
            column = int(np.searchsorted(branches.choices.action, action))
            assert curve == (list(FOLDED), branches.free[:, column].tolist())
        assert len(lines(panel)) == 4


def test_other_games_have_a_panel_for_each_public_history() -> None:
    table = frequency_table(eqbench.load_game("kuhn2").tree)
    titles = ["P1: bet", "P1: call after KB", "P2: bet after K", "P2: call after B"]
    assert list(dict.fromkeys(row.panel for row in table)) == titles
    assert [row.label for row in table] == ["1", "2", "3"] * 4
    assert sorted(row.position for row in table) == [*range(12)]
    assert [panel.title for panel in handed(frequency_figure, branch("kuhn2")).panels] == titles


def test_nodes_at_which_nothing_is_free_are_named_and_take_no_panel() -> None:
    """Simplified Kuhn poker has no choice at the nodes 6, 9 and 12."""
    panels, words = handed(frequency_figure, branch(), title="SKP")
    numbers = "1 2 3 4 5 7 8 10 11"
    assert " ".join(panel.title.split()[0] for panel in panels) == numbers
    assert words["title"] == "SKP; nothing is free at 6, 9, 12"


def test_what_lies_on_another_line_is_dashed() -> None:
    """P1 and P2 have the same payoffs up to the third point."""
    payoffs = branch().payoffs.copy()
    payoffs[:3, 1] = payoffs[:3, 0]
    payoffs[3:, 1] = payoffs[3:, 0] + 1
    shown = {"SKP": replace(branch(), payoffs=payoffs)}
    (panel,), _ = handed(payoff_figure, shown, folds=False)
    found = list(drawn(panel))
    assert ["linestyle" in s.look for s in found] == [False, False, True, False]
    assert np.flatnonzero(np.isfinite(found[1].data[1])).tolist() == [2, 3, 4]
    assert np.flatnonzero(np.isfinite(found[2].data[1])).tolist() == [0, 1, 2]


def test_ordered_colors_are_seen_on_white() -> None:
    """By the contrast of the Web Content Accessibility Guidelines, for graphics at least 3."""
    colors = np.array(ordered_colors(9))
    linear = np.where(colors > 0.04045, ((colors + 0.055) / 1.055) ** 2.4, colors / 12.92)
    assert np.all(1.05 / (linear @ (0.2126, 0.7152, 0.0722) + 0.05) > 3)


# -- counts and power laws ------------------------------------------------------------------------


def test_power_law_is_recovered() -> None:
    x = np.array([4.0, 5.0, 13.0, 26.0])
    assert power_law(x, 3 * x**2.5) == pytest.approx((3, 2.5))
    of = {"cost": (x, 3 * x**2.5)}
    (panel,), _ = handed(log_log_figure, of, x_label="cards", y_label="seconds")
    assert panel.series[0].look["label"] == "cost: slope 2.50"


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


# -- regimes --------------------------------------------------------------------------------------

TWO, FOUR = (f"centre manifold of oscillatory dimension {n}" for n in (2, 4))


def entries_at(values: tuple[float, ...], name: str, verdict: str) -> list[SetStability]:
    numbers = dict.fromkeys(
        ("unstable", "centre_oscillatory", "zero", "stable", "scale", "speed", "max_regret"), 0
    )
    rest = {"eigenvalues": [(0, 1)], "across": None, "payoffs": [], "is_equilibrium": True}
    more = numbers | rest | {"place": "inside", "parameters": {}, "name": name, "verdict": verdict}
    return [msgspec.convert(more | {"value": value}, SetStability) for value in values]


RANGES = [
    *entries_at((2.0, 2.5, 3.0), "skp:1", TWO),
    *entries_at((3.0, 3.5, 4.0), "skp:2", UNSTABLE),
    *entries_at((2.0,), "skp:1a", UNSTABLE),
]
# as Solution 2 of Billingham (2017), which meets Solution 1 at a pot of 3
MEETING = [
    *entries_at((3.0,), "skp:2", FOUR),
    *entries_at((3.5, 4.0), "skp:2", UNSTABLE),
    *entries_at((5.0,), "skp:2", UNSTABLE),  # it does not exist at 4.5
    *entries_at((4.5,), "skp:8", UNSTABLE),
]


@pytest.mark.parametrize(
    ("entries", "rows", "bars", "marks"),
    [
        (RANGES, ["skp:1a", "skp:1", "skp:2"], [(2.0, 3.0), (3.0, 4.0)], [(2.0, UNSTABLE)]),
        (
            *(MEETING, ["skp:2", "skp:8"], [(3.5, 4.0)]),
            [(3.0, FOUR), (4.5, UNSTABLE), (5.0, UNSTABLE)],
        ),
    ],
)
def test_bars_join_neighbors_with_one_verdict_and_marks_are_the_others(
    entries: list[SetStability], rows: Any, bars: Any, marks: Any
) -> None:
    values = sorted({entry.value for entry in entries})
    panel, colors = verdict_panel(entries, values, bars=True), {}
    colors = verdict_colors(entry.verdict for entry in entries)
    assert panel.settings["yticklabels"] == rows
    assert [(min(x), max(x)) for x, _ in lines(panel)] == bars
    shown = sorted((s.data[0][0], s.look["color"]) for s in drawn(panel, marker="D"))
    assert shown == [(value, colors[verdict]) for value, verdict in marks]


def test_regime_diagram_has_shares_of_words_below_the_verdicts() -> None:
    runs = [*[(2.5, "periodic")] * 3, (3.5, "undecided"), *[(3.5, "chaotic_transient")] * 3]
    (above, below), words = handed(regime_diagram, RANGES, runs, "pot", "skp")
    assert (words["title"], below.x_label) == ("skp", "pot")
    assert "wherever" in above.title  # also where nothing was simulated
    shares = {s.look["label"]: s.data[1].tolist() for s in below.series if s.look["label"]}
    assert shares == {"periodic": [1, 0], "chaotic transient": [0, 0.75], "undecided": [0, 0.25]}
    assert all(s.data[0].tolist() == [2.5, 3.5] for s in below.series)


def test_every_regime_word_and_every_verdict_has_its_own_color() -> None:
    centers = [f"centre manifold of oscillatory dimension {number}" for number in (0, 2, 4, 6, 8)]
    colors = verdict_colors([UNSTABLE, STABLE, *centers[::-1]])
    assert list(colors) == [*centers, STABLE, UNSTABLE]
    assert len({*REGIME_COLORS.values(), *colors.values()}) == 12


def test_published_sets_are_ordered_by_their_numbers() -> None:
    ordered = [f"skp:{k}" for k in ["1a", "1", "2a", "2", "9", "10a", "10"]]
    assert by_name(["skp:2", *sorted(ordered)]) == ordered
    assert by_name(["szafron:c11=1/2", "szafron:0<c11<1/2"])[0] == "szafron:0<c11<1/2"


# -- bars -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn(players=3,cards=17,reduce=billingham)"])
def test_bars_are_shortened_by_what_was_bet_before(spec: str) -> None:
    tree = eqbench.load_game(spec).tree
    behavior = random_profile(tree, np.random.default_rng(3))
    panels, words = handed(bar_figure, tree, behavior, title="a title")
    aggression = KuhnNodes.of(tree).aggression(behavior)
    for row, panel in enumerate(panels):
        whole, black, *_ = (s.data[1] for s in drawn(panel, "bar"))
        assert whole == pytest.approx(held(aggression)[row])
        assert black == pytest.approx(held(aggression)[row] * aggression[row])
        assert panel.title == f"{row + 1} · {NODES[row].title}"
    assert words["title"] == "a title"


def test_ranges_stand_below_the_bars() -> None:
    tree = eqbench.load_game("kuhn3").tree
    nodes = KuhnNodes.of(tree)
    behavior = np.zeros(tree.n_actions)
    for row, bets in {0: [1, 0, 0, 0.5], 9: [0, 0, 1, 1], 10: [0, 0, 1, 1]}.items():
        behavior[nodes.action[row]] = bets
    panels, _ = handed(bar_figure, tree, behavior)
    shown = [{(s.data[0], s.data[2]) for s in drawn(panel, "text")} for panel in panels]
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


def test_planes_show_the_late_orbit_and_published_solutions(game, names, two_oscillators):
    """Billingham (2017, Figure 12): Solution 5 has b3 = 2 / (P + 1) and c3 + d1 = 2 (P-2)/(P+1)."""
    planes = planes_of(game, [two_oscillators], [("b3", "d1")])
    assert planes == planes_of(game, (), [("b3", "d1")])
    (panel,), _ = handed(phase_figure, game, [two_oscillators], planes)
    columns = [Choices.of(game.tree).action[names.index(name)] for name in ("b3", "d1")]
    orbit = two_oscillators.behavior[:, columns].T
    own = [s for s in drawn(panel) if s.look["color"] != MARK]
    np.testing.assert_array_equal(own[0].data, orbit)
    np.testing.assert_array_equal(own[1].data, orbit[:, -1:])
    (ring,) = drawn(panel, color=MARK)
    np.testing.assert_allclose(np.ravel(ring.data), [2 / 4.75, 2 * 1.75 / 4.75], rtol=1e-9)
    ((text, _, offset),) = (s.data for s in panel.series if s.method == "annotate")
    assert (text, offset) == ("5", (6, 0))  # at the right
    assert (panel.x_label, panel.y_label) == ("b3\nP3|2:KK|bet", "d1\nP1|3:KBF|call")


def test_series_show_what_moves_and_list_the_rest(game, names, two_oscillators):
    panels, words = handed(series_figure, game, [two_oscillators])
    shown = [panel.y_label.split()[0] for panel in panels if panel.y_label]
    assert shown == [name for name in names if name in {"b2", "d1", "b3", "d2"}]
    assert all(word in words["title"] for word in ("a2 1.00", "c3 0.00"))
    assert "b3" not in words["title"]


def test_profits_stand_beside_lines_of_published_payoffs(game, two_oscillators):
    """At pot 3.75 only Solution 5 exists, with payoffs of one value for each player."""
    panels, _ = handed(profit_figure, game, [two_oscillators])
    (known,) = {known.name: known for known in known_sets(game)}.values()
    expected = known.payoffs_near(np.full(len(known.parameters), 0.5))
    for player in range(3):
        (profit, published), (average, level) = (panels[k].series for k in (player, 3 + player))
        assert published.data[1][-1] == pytest.approx(40 * expected[player], abs=1e-6)
        assert profit.data[1][-1] == pytest.approx(two_oscillators.profits[-1, player])
        assert level.data[0] == pytest.approx(expected[player], abs=1e-8)
        np.testing.assert_allclose(average.data[1], two_oscillators.payoffs[0, player])


def test_averages_begin_where_points_are_dense(game, names):
    """Early points of a long run are further apart than a period, so their averages would jump."""
    uneven = np.concatenate((np.linspace(0, 950, 191), np.linspace(950.5, 1000, 100)))
    for times, first in ((uneven, 250), (np.linspace(0, 1000, 10_001), 5.0)):
        panels, words = handed(profit_figure, game, [run_of(game, names, {}, times=times)])
        assert panels[3].series[0].data[0][0] == pytest.approx(first, rel=0.04)
        assert words["title"] == "skp(pot=3.75)"


@pytest.mark.parametrize(
    ("draw", "axes"),
    [
        (lambda game, run: payoff_figure({"SKP": branch()}), 1),
        (lambda game, run: crossing_figure({"SKP": branch()}), 1),
        (lambda game, run: frequency_figure(branch()), 9),
        (lambda game, run: eigenvalue_figure(RANGES), 1),
        (lambda game, run: regime_diagram(RANGES, [(2.5, "periodic"), (3, "periodic")], "pot"), 2),
        (lambda game, run: phase_figure(game, [run], [(0, 1)]), 1),
        (lambda game, run: series_figure(game, [run]), 8),
        (lambda game, run: profit_figure(game, [run]), 6),
    ],
)
def test_every_figure_can_be_drawn(
    game, two_oscillators, tmp_path: Path, draw: Callable[..., Any], axes: int
) -> None:
    figure = draw(game, two_oscillators)
    assert len(figure.axes) == axes
    save_figure(figure, tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()
