"""What stored trajectories do, and readings of the statements of section 4.2 on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eqbench.papers.billingham_2017.expected_profits import polynomial
from eqbench.papers.billingham_2017.jobs import LONG, dotted
from eqbench.papers.billingham_2017.polynomials import derivative
from eqbench.papers.claims import Reading, differs, holds, reproduced
from eqbench.papers.stored import Stored

Read = Callable[[Stored], Reading]
CHAOTIC = ("chaotic_transient", "boundary_absorption")
REGULAR = ("periodic", "quasi_periodic")
ABSORBED = "boundary_absorption"
GROWS = 10.0  # times 1 over the time: by far more than where displacements grow in proportion to t
RETURNS = 1e-2  # share of the swing by which an orbit may miss where it was
EARLY, LATE = 1e3, 1e4


def runs_at(stored: Stored, pot: str, job: str = "regimes") -> list[dict[str, Any]]:
    """The trajectories at a pot, with the paper's names of frequencies."""
    summary = stored[job].summary
    names = summary["names"]
    lists = ("to_zero", "to_one", "at_zero", "at_one")
    return [
        run | {key: [names[place] for place in run[key]] for key in lists} | _parts(run, names)
        for run in summary["runs"]
        if run["parameter"] == float(pot)
    ]


def _parts(run: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The components of a run: sets of frequencies that drive each other."""
    return {
        "parts": [sorted(names[place] for place in part["actions"]) for part in run["components"]]
    }


def spoken(word: str) -> str:
    """A regime as people say it."""
    return word.replace("quasi_", "quasi-").replace("_", " ")


def words_of(runs: Sequence[Mapping[str, Any]]) -> str:
    """Which regimes were found, and how often."""
    counts = Counter(run["regime"] for run in runs).most_common()
    return ", ".join(f"{spoken(word)} in {count}" for word, count in counts) + f" of {len(runs)}"


def listed(values: Sequence[float]) -> str:
    """A few figures, or of many the least and the largest."""
    if len(values) > 4:
        return f"{min(values):.3f} to {max(values):.3f}"
    return ", ".join(f"{value:.3f}" for value in values)


def limit(pot: str, name: str, end: int) -> Read:
    """Whether a frequency goes to 0 or 1 in all trajectories."""
    moving, staying = ("to_one", "at_one") if end else ("to_zero", "at_zero")

    def read(stored: Stored) -> Reading:
        runs = runs_at(stored, pot)
        to = sum(name in run[moving] for run in runs)
        near = sum(name in run[staying] for run in runs)
        ours = f"{name} → {end} in {to} of {len(runs)}"
        ours += f", within 0.001 all the last half in {near}" if near else ""
        if to + near == len(runs):
            return reproduced(ours)
        return differs(ours, f"not in {len(runs) - to - near}: {_swing(stored, pot, name)}")

    return read


def _swing(stored: Stored, pot: str, name: str) -> str:
    found = [run["frequencies"][name] for run in stored["motion"].summary["regimes"][pot]]
    low, high = max(found, key=lambda ends: ends[1] - ends[0])
    return f"there {name} goes from {low:.2g} to {high:.2g} in the last half"


def behavior(pot: str, allowed: Sequence[str]) -> Read:
    """Whether all trajectories are in one of these regimes."""

    def read(stored: Stored) -> Reading:
        runs = runs_at(stored, pot)
        others = [run for run in runs if run["regime"] not in allowed]
        return holds(not others, words_of(runs), f"otherwise in {len(others)} of {len(runs)}")

    return read


def one_type(pot: str) -> Read:
    """Whether all trajectories at a pot are in the same regime."""

    def read(stored: Stored) -> Reading:
        runs = runs_at(stored, pot)
        # a chaotic transient and the boundary after it are one type
        kinds = {ABSORBED if run["regime"] in CHAOTIC else run["regime"] for run in runs}
        return holds(len(kinds) == 1, words_of(runs), f"{len(kinds)} types of behavior")

    return read


def nontrivial(pot: str, names: str) -> Read:
    """Whether exactly these frequencies go on moving in all trajectories."""

    def read(stored: Stored) -> Reading:
        runs = runs_at(stored, pot)
        moving = Counter(" ".join(sorted(n for part in run["parts"] for n in part)) for run in runs)
        ours = "; ".join(f"{found or 'none'} in {count}" for found, count in moving.items())
        wanted = " ".join(sorted(names.split()))
        return holds(set(moving) == {wanted}, ours, f"not in {len(runs) - moving[wanted]} of them")

    return read


def still_moving(pot: str, names: str) -> Read:
    """Whether these frequencies are among those that move in all trajectories."""

    def read(stored: Stored) -> Reading:
        found = stored["motion"].summary["regimes"][pot]
        swings = {
            name: min(run["frequencies"][name][1] - run["frequencies"][name][0] for run in found)
            for name in names.split()
        }
        ours = "least swings in the last half: " + ", ".join(
            f"{name} {swing:.2f}" for name, swing in swings.items()
        )
        at_rest = [name for name, swing in swings.items() if swing < 1e-3]
        return holds(not at_rest, ours, f"{', '.join(at_rest)} at rest in some")

    return read


def pair_returns(pot: str, pair: str, job: str = "regimes") -> Read:
    """Whether the orbit of a pair of frequencies closes in all trajectories."""

    def read(stored: Stored) -> Reading:
        found = [run["pairs"][pair] for run in stored["motion"].summary[job][pot]]
        if any(row["spread"] is None for row in found):
            return differs("an orbit does not return often enough", "no closed orbit")
        worst = max(max(row["spread"], row["period_spread"]) for row in found)
        periods = listed([row["period"] for row in found])
        ours = f"periods {periods}; returns miss by at most {worst:.1g} of the swing"
        return holds(worst <= RETURNS, ours, f"returns miss by {worst:.3g} of the swing")

    return read


def common_period(pot: str, pairs: Sequence[str]) -> Read:
    """Whether two closed orbits have one period, so that the whole motion is periodic."""

    def read(stored: Stored) -> Reading:
        runs = stored["motion"].summary["regimes"][pot]
        ratios = [
            run["pairs"][pairs[1]]["period"] / run["pairs"][pairs[0]]["period"] for run in runs
        ]
        words = words_of(runs_at(stored, pot))
        ours = f"{words}; ratios of the two periods {listed(ratios)}"
        same = all(run["regime"] == "periodic" for run in runs_at(stored, pot))
        return holds(same, ours, "each pair is periodic, but with a period of its own")

    return read


def amplitude(pot: str, name: str) -> Read:
    """Whether the swing of a frequency depends on the start."""

    def read(stored: Stored) -> Reading:
        found = [run["frequencies"][name] for run in stored["motion"].summary["regimes"][pot]]
        swings = sorted(high - low for low, high in found)
        ours = f"{name} swings by {listed(swings)}"
        return holds(swings[-1] - swings[0] > 0.01, ours, "the same from all starts")

    return read


def around(pot: str, solution: Mapping[str, float]) -> Read:
    """Whether the means of frequencies are those of a solution."""

    def read(stored: Stored) -> Reading:
        found = [run["means"] for run in stored["motion"].summary["regimes"][pot]]
        gaps = [max(abs(run[name] - value) for run in found) for name, value in solution.items()]
        ours = "late means differ from it by at most " + ", ".join(
            f"{gap:.2g} in {name}" for name, gap in zip(solution, gaps, strict=True)
        )
        return holds(max(gaps) <= 0.02, ours, "by more than 0.02")

    return read


def driven_by(pot: str, name: str, driver: str) -> Read:
    """Whether of all that a frequency of player 3 responds to only `driver` goes on moving."""

    def read(stored: Stored) -> Reading:
        slope = derivative(polynomial(stored, 3), name)
        names = sorted({n for key in slope for n in key.split()})
        found = stored["motion"].summary["regimes"][pot]
        swings = {
            n: max(run["frequencies"][n][1] - run["frequencies"][n][0] for run in found)
            for n in names
        }
        moving = [n for n, swing in swings.items() if swing >= 1e-3]
        ours = (
            f"∂(24 E3)/∂{name} depends on {', '.join(names)}; largest swings in the last half: "
            + ", ".join(f"{n} {swing:.2g}" for n, swing in swings.items() if n in moving)
            + ", the others at rest"
        )
        return holds(moving == [driver], ours, f"{', '.join(moving)} move")

    return read


def transient(pot: str) -> Read:
    """Whether chaos ends between 1,000 and 10,000 in all trajectories."""

    def read(stored: Stored) -> Reading:
        runs = runs_at(stored, pot)
        over = sorted(run["transient"] for run in runs if run["regime"] == ABSORBED)
        within = [time for time in over if EARLY <= time <= LATE]
        ours = f"over in {len(over)} of {len(runs)} by t = {LATE:,.0f}"
        ours += f", after {over[0]:,.0f} to {over[-1]:,.0f}" if over else ""
        return holds(len(within) == len(runs), ours, f"not within it in {len(runs) - len(within)}")

    return read


def eventually(pot: str) -> Read:
    """Whether all trajectories end at the boundary; the longest ones that are stored decide."""

    def read(stored: Stored) -> Reading:
        followed = stored.full and pot in LONG
        runs = runs_at(stored, pot, "regimes_long" if followed else "regimes")
        absorbed = [run for run in runs if run["regime"] == ABSORBED]
        shares = [run["near_face_fraction"] for run in runs]
        ours = (
            f"{words_of(runs)} by t = {runs[0]['time']:,.0f}; what moves is near 0 or 1 during "
            f"{min(shares):.0%} to {max(shares):.0%} of the last half"
        )
        by = (
            f"not in {len(runs) - len(absorbed)} by t = {runs[0]['time']:,.0f}, the horizon of ours"
        )
        return holds(len(absorbed) == len(runs), ours, by)

    return read


def chaotic_at_first(pot: str) -> Read:
    """Whether trajectories are chaotic, or were before they came to the boundary.

    At first a displacement grows fast in periodic motion, too; late its rate falls as 1/t there.
    """

    def read(stored: Stored) -> Reading:
        runs = runs_at(stored, pot)
        rates = [_late_growth(run) for run in runs]
        chaotic = [
            run
            for run, rate in zip(runs, rates, strict=True)
            if run["regime"] in CHAOTIC and rate > GROWS / run["time"]
        ]
        last = runs[0]["lyapunov_windows"][-1]
        ours = (
            f"{words_of(runs)}; from t = {last['start']:,.0f} to {last['end']:,.0f} a displacement "
            f"grows at a rate of {min(rates):.2g} to {max(rates):.2g}"
        )
        regular = [
            _late_growth(run)
            for run in stored["regimes"].summary["runs"]
            if run["regime"] in REGULAR
        ]
        ours += f", in regular motion at most at {max(regular):.1g}" if regular else ""
        return holds(len(chaotic) == len(runs), ours, f"not in {len(runs) - len(chaotic)}")

    return read


def _late_growth(run: Mapping[str, Any]) -> float:
    """Mean rate at which a displacement grows in the last window of a trajectory."""
    return float(run["lyapunov_windows"][-1]["mean"])


def orbit_figure(pot: str, name: str) -> Callable[[Stored], str]:
    """A picture that the simulation at a pot left."""
    return lambda stored: stored[f"orbits_{dotted(pot)}"].text(f"{name}.svg")
