"""Sections 4.2.1 to 4.7 with Figures 7 to 14: what trajectories do at each pot."""

from __future__ import annotations

from collections import Counter
from typing import Any

from eqbench.papers.billingham_2017.curves import border
from eqbench.papers.billingham_2017.drawings import svg_text
from eqbench.papers.billingham_2017.found import counted
from eqbench.papers.billingham_2017.regimes import (
    CHAOTIC,
    Read,
    amplitude,
    around,
    behavior,
    chaotic_at_first,
    common_period,
    driven_by,
    eventually,
    limit,
    nontrivial,
    one_type,
    orbit_figure,
    pair_returns,
    still_moving,
    transient,
    words_of,
)
from eqbench.papers.billingham_2017.stability import entries
from eqbench.papers.claims import Claim, Part, Picture, Reading, holds, not_attempted
from eqbench.papers.stored import Stored
from eqbench.plots.stability import Published, regime_diagram

PERIODIC, WHITE, CLOSE = "periodic", "chaotic transient", "close to periodic"
_COLORS = {PERIODIC: "#2e9e5b", WHITE: "#ffffff", CLOSE: "#3b82c4"}
_ALLOWED = {
    PERIODIC: ("periodic",),
    WHITE: CHAOTIC,
    CLOSE: ("periodic", "quasi_periodic"),
}
_LAST = 6.0
# ends, as printed, the paper's word, and the solution that it calls Lyapunov stable
RANGES = (
    (2.0, 3.0, "2 < P < 3", PERIODIC, "1"),
    (3.0, border("P3"), "3 < P < P3", WHITE, ""),
    (border("P3"), 3.5, "P3 < P < 7/2", CLOSE, "4"),
    (3.5, 4.0, "7/2 < P < 4", PERIODIC, "5"),
    (4.0, border("P8"), "4 < P < P8", WHITE, ""),
    (border("P8"), 5.0, "P8 < P < 5", CLOSE, "9"),
    (5.0, float("inf"), "P > 5", CLOSE, "10"),
)
_NOTE = (
    "Ours are trajectories from random starts (log-odds are normal), followed to t = 10,000. A "
    "frequency counts as gone to a limit if it is within 0.001 of it for the whole last half. A "
    "statement is reproduced if it holds in all of them. The paper gives neither its starts nor "
    "its times, and late parts of chaotic trajectories depend on rounding."
)


def _color(low: float, high: float, word: str) -> Read:
    def read(stored: Stored) -> Reading:
        job = "regimes_along_the_pot" if stored.full else "regimes"
        runs = [run for run in stored[job].summary["runs"] if low < run["parameter"] < high]
        others = [run for run in runs if run["regime"] not in _ALLOWED[word]]
        pots = len({run["parameter"] for run in runs})
        ours = f"{words_of(runs)}, at {counted(pots, 'pot')}"
        return holds(not others, ours, f"otherwise in {len(others)} of {len(runs)}")

    return read


def _stable(low: float, high: float, name: str) -> Read:
    def read(stored: Stored) -> Reading:
        # ends of ranges have rows of their own in the part on stability
        found = [e for e in entries(stored) if low + 1e-9 < e["value"] < high - 1e-9]
        stable = sorted({e["name"][4:] for e in found if e["verdict"] != "unstable"})
        pots = len({e["value"] for e in found})
        ours = f"not unstable: {', '.join(stable) or 'none'}, at {counted(pots, 'pot')}"
        return holds(stable == ([name] if name else []), ours, "others are not unstable")

    return read


def _diagram(stored: Stored) -> str:
    words: dict[float, Counter[str]] = {}
    job = "regimes_along_the_pot" if stored.full else "regimes"
    for run in stored[job].summary["runs"]:
        words.setdefault(run["parameter"], Counter())[run["regime"]] += 1
    strips = [(low, min(high, _LAST), word) for low, high, _, word, _ in RANGES]
    figure = regime_diagram(
        entries(stored), words, "pot", published=Published("Billingham 2017", strips, _COLORS)
    )
    return svg_text(figure)


FIGURE_7 = Part(
    title="Figure 7: stable solutions and kinds of behavior",
    note=_NOTE + " Without --full, each range is looked at by the paper's own pot.",
    claims=(
        *(
            Claim(printed, "Lyapunov stable solution", name or "none", _stable(low, high, name))
            for low, high, printed, _, name in RANGES
        ),
        *(
            Claim(printed, "trajectories", word, _color(low, high, word))
            for low, high, printed, word, _ in RANGES
        ),
    ),
    pictures=(
        Picture(
            "Figure 7",
            "Above, the solutions by stability; a diamond is a verdict at one pot only. The strip "
            "has the colors of the paper. Below, what the trajectories did.",
            _diagram,
        ),
    ),
)


def _limits(pot: str, **ends: int) -> tuple[Claim, ...]:
    return tuple(
        Claim(f"P = {pot}", name, f"{name} → {end}", limit(pot, name, end))
        for name, end in ends.items()
    )


def _picture(title: str, pot: str, name: str, what: str) -> Picture:
    return Picture(f"{title}, P = {pot}", what, orbit_figure(pot, name))


_ORBITS = "At most the last 30 turns from three starts, red where the solutions are."
_SERIES = "Frequencies that move, from three starts; bands are ranges, lines running means."


def _part(title: str, claims: tuple[Any, ...], *pictures: Picture) -> Part:
    return Part(title=title, note=_NOTE, claims=claims, pictures=pictures)


def _elsewhere(why: str) -> Read:
    return lambda stored: not_attempted(why)


CASE_1 = _part(
    "Section 4.2.1 and Figure 8: 2 < P < 3",
    (
        *_limits("2.5", a1=0, a2=0, c1=0),
        Claim("P = 2.5", "moving", "only b3 and d2", nontrivial("2.5", "b3 d2")),
        Claim("P = 2.5", "behavior", "periodic", behavior("2.5", ("periodic",))),
        Claim("P = 2.5", "orbits of b3 and d2", "closed", pair_returns("2.5", "b3 d2", "orbits")),
        Claim("P = 2.5", "amplitude", "depends on the start", amplitude("2.5", "b3")),
        Claim(
            "P = 2.5", "center of the orbits", "around Solution 1",
            around("2.5", {"b3": 2 / 3.5, "d2": 1 / 3.5}),
        ),
        Claim(
            "2 < P < 3", "", "dynamics similar to those of the one-third-street game",
            _elsewhere("the one-third-street game is in another paper and not in eqbench"),
        ),
    ),
    _picture("Figure 8", "2.5", "phase", _ORBITS),
)  # fmt: skip

CASE_2 = _part(
    "Section 4.3 and Figure 9: 3 < P < P3",
    (
        *_limits("3.1", a1=0, b1=0, c3=0),
        Claim(
            "P = 3.1", "moving", "b3, c1, d2, a2, b2 and d1 are complicated",
            still_moving("3.1", "b3 c1 d2 a2 b2 d1"),
        ),
        Claim("P = 3.1", "at first", "chaotic", chaotic_at_first("3.1")),
        Claim("P = 3.1", "length of it", "typically until t is 1e3 to 1e4", transient("3.1")),
        Claim("P = 3.1", "eventually", "the boundary, frequencies near 0 or 1", eventually("3.1")),
    ),
    _picture("Figure 9", "3.1", "series", _SERIES),
)  # fmt: skip

CASE_3 = _part(
    "Section 4.4 and Figures 10 and 11: P3 < P < 7/2",
    (
        *_limits("3.35", c3=0, c1=1, d2=0),
        Claim("P = 3.35", "moving", "a2, b2, d1 and b3", nontrivial("3.35", "a2 b2 d1 b3")),
        Claim(
            "P = 3.35", "attracted to", "the center manifold of Solution 4",
            around(
                "3.35",
                {"a2": 0.825, "b2": 1.65 / 4.35, "d1": 2.7 / 4.35, "b3": 4 * 1.35 / (3 * 4.35)},
            ),
        ),
        Claim(
            "P = 3.35", "variations of b3", "driven indirectly, by those of a2",
            driven_by("3.35", "b3", "a2"),
        ),
        Claim(
            "P = 3.35", "behavior", "close to periodic",
            behavior("3.35", ("periodic", "quasi_periodic")),
        ),
    ),
    _picture("Figure 10", "3.35", "phase", _ORBITS),
    _picture("Figure 11", "3.35", "series", _SERIES),
)  # fmt: skip

CASE_4 = _part(
    "Section 4.5 and Figure 12: 7/2 < P < 4",
    (
        *_limits("3.75", a2=1, c1=1, c3=0),
        Claim("P = 3.75", "moving", "four dimensions", nontrivial("3.75", "b2 d1 b3 d2")),
        Claim("P = 3.75", "b2 and d1", "periodic", pair_returns("3.75", "b2 d1")),
        Claim("P = 3.75", "b3 and d2", "periodic", pair_returns("3.75", "b3 d2")),
        Claim(
            "P = 3.75", "behavior", "purely periodic", common_period("3.75", ("b2 d1", "b3 d2"))
        ),
        Claim(
            "P = 3.75", "attracted to", "the center manifold of Solution 5",
            around("3.75", {"b2": 2 / 4.75, "d1": 3.5 / 4.75, "b3": 2 / 4.75, "d2": 0.75 / 4.75}),
        ),
    ),
    _picture("Figure 12", "3.75", "phase", _ORBITS),
)  # fmt: skip

CASE_5 = _part(
    "Section 4.6 and Figure 13: 4 < P < P8",
    (
        *_limits("4.15", c1=1, a2=1, c3=0),
        Claim("P = 4.15", "at first", "a complicated, chaotic transient", chaotic_at_first("4.15")),
        Claim(
            "P = 4.15", "eventually", "the boundary, frequencies near 0 or 1", eventually("4.15")
        ),
    ),
    _picture("Figure 13", "4.15", "series", _SERIES),
)

CASE_6 = _part(
    "Section 4.7 and Figure 14: P > P8",
    (
        Claim("P = 4.65", "b1 and d3", "periodic", pair_returns("4.65", "b1 d3")),
        Claim("P = 4.65", "b2 and d1", "periodic", pair_returns("4.65", "b2 d1")),
        Claim(
            "P = 4.65", "b3, c1 and d2", "a long, close to periodic transient",
            behavior("4.65", ("quasi_periodic", "boundary_absorption")),
        ),
        Claim("P = 4.65", "b3, c1 and d2, finally", "the boundary", eventually("4.65")),
        Claim(
            "P = 4.65", "center", "Solution 9",
            around(
                "4.65",
                {
                    **{"b1": 2 / 5.65, "d3": 5.3 / 5.65, "b2": 2 / 5.65, "d1": 1.65 / 5.65},
                    "b3": 9.3 / 5.65**2,
                },
            ),
        ),
        Claim("P = 5.5", "b1 and c2", "similar: periodic", pair_returns("5.5", "b1 c2")),
        Claim("P = 5.5", "b2 and d1", "similar: periodic", pair_returns("5.5", "b2 d1")),
        Claim(
            "P = 5.5", "the rest", "similar: close to periodic",
            behavior("5.5", ("quasi_periodic", "boundary_absorption")),
        ),
        Claim("P = 5.5", "the rest, finally", "similar: the boundary", eventually("5.5")),
        Claim(
            "P = 5.5", "center", "around Solution 10",
            around(
                "5.5",
                {
                    **{"b1": 2 / 5.5, "c2": 0.5 / 6.5, "b2": 2 / 6.5, "d1": 2.5 / 6.5},
                    **{"b3": 11 / 6.5**2, "c1": 4.5 / 6.5, "d2": 1.0},
                },
            ),
        ),
    ),
    _picture("Figure 14", "4.65", "phase", _ORBITS),
)  # fmt: skip

ONE_TYPE = _part(
    "Section 4.1: one type of behavior at each pot",
    (
        *(
            Claim(f"P = {pot}", "", "only one type of behavior, whatever the start", one_type(pot))
            for pot in ("2.5", "3.1", "3.35", "3.75", "4.15", "4.65", "5.5")
        ),
        Claim(
            "Contrast", "", "in the one-third-street game the start decides between two types",
            _elsewhere("the one-third-street game is in another paper and not in eqbench"),
        ),
    ),
)  # fmt: skip
