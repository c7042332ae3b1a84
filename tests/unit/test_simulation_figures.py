"""Figures of simulations: what they select, what they show, and that they are the same again."""

from __future__ import annotations

import numpy as np
import pytest

import eqbench
from eqbench.equilibria import known_sets
from eqbench.errors import UsageError
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
from eqbench.plots.style import save_figure
from eqbench.studies.flow.points import SimulatedRun

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
