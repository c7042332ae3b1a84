"""The diagram of stability and regimes along a parameter, and what it shares with other figures."""

from __future__ import annotations

from eqbench.plots.stability import REGIME_COLORS, regime_diagram, verdict_colors
from eqbench.plots.style import by_name
from eqbench.studies.flow.rest_points import STABLE, UNSTABLE


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
