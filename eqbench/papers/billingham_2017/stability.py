"""Section 4.1: stability of the solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eqbench.equilibria.expressions import evaluate
from eqbench.papers.billingham_2017.found import equilibria, inside
from eqbench.papers.billingham_2017.jobs import BESIDE, ENDS
from eqbench.papers.billingham_2017.printed_solutions import BORDERS, P3, P8, SOLUTIONS
from eqbench.papers.claims import Claim, Part, Reading, differs, holds, reproduced
from eqbench.papers.stored import NotStoredError, Stored

NEARBY = 0.1  # ten times the distance at which trajectories start
MOVES = 1e-3
UNSTABLE = ("2", "3", "6", "7", "8")
OSCILLATORY = {"1": 2, "4": 4, "5": 4, "9": 6, "10": 6}
# which of the pots that were looked at stands for an end of a range
_ENDS = {text: float(ENDS[name]) for name, (text, _) in BORDERS.items()}


def entries(stored: Stored, name: str = "") -> list[dict[str, Any]]:
    """Stability of published sets at all pots, or of one of them."""
    found: list[dict[str, Any]] = stored["stability"].summary["equilibria"]
    return [entry for entry in found if not name or entry["name"] == f"skp:{name}"]


def end_of(arithmetic: str) -> float:
    """The pot that stands for an end of a range; infinite where there is none."""
    if not arithmetic:
        return float("inf")
    return _ENDS.get(arithmetic) or float(evaluate(arithmetic, {}, exact=False))


def _spoken(verdict: str) -> str:
    return verdict.replace("centre manifold of oscillatory dimension", "center manifold, dimension")


def _theirs(name: str) -> str:
    if name in UNSTABLE:
        return "unstable"
    return f"centre manifold of oscillatory dimension {OSCILLATORY[name]}"


def _verdicts(found: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for entry in found:
        for verdict, count in entry["members"]["verdicts"].items():
            counts[verdict] = counts.get(verdict, 0) + count
    return counts


def _counted(found: Sequence[Mapping[str, Any]]) -> str:
    """How many eigenvalues grow and oscillate, over all members."""
    shown = []
    for key, word in (("unstable", "unstable"), ("centre_oscillatory", "oscillating")):
        low = min(entry["members"][key][0] for entry in found)
        high = max(entry["members"][key][1] for entry in found)
        shown.append(f"{low}{f' to {high}' if high > low else ''} {word}")
    return " and ".join(shown) + " eigenvalues"


def _stability(name: str, where: str) -> Claim:
    solution = next(each for each in SOLUTIONS if each.name == name)
    low, high = end_of(solution.start), end_of(solution.end)
    keep: dict[str, Callable[[float], bool]] = {
        "inside its range": lambda pot: low < pot < high,
        "lower end": lambda pot: pot == low,
        "upper end": lambda pot: pot == high,
    }

    def read(stored: Stored) -> Reading:
        found = [entry for entry in entries(stored, name) if keep[where](entry["value"])]
        if not found:
            raise NotStoredError(f"Solution {name} was not looked at: {where}")
        counts = _verdicts(found)
        pots = f" at {len(found)} pots" if where.startswith("inside") else ""
        ours = f"{', '.join(map(_spoken, counts))}{pots}; {_counted(found)}"
        others = {verdict: n for verdict, n in counts.items() if verdict != _theirs(name)}
        if not others:
            return reproduced(ours)
        return differs(ours, f"in {sum(others.values())} of {sum(counts.values())} members")

    return Claim(f"Solution {name}", where, _spoken(_theirs(name)), read)


def _columns(name: str) -> tuple[str, ...]:
    ends = ("lower end", "upper end") if name != "10" else ("lower end",)
    return ("inside its range", *ends)


def _beside(name: str) -> Claim:
    def read(stored: Stored) -> Reading:
        found = stored["motion"].summary["beside"][name]
        ours = (
            f"from {found['at_first']:.2g} away at P = {BESIDE[name]}, at most "
            f"{found['farthest']:.2g} away until t = {found['end']:g}"
        )
        if name in UNSTABLE:
            return holds(found["farthest"] > NEARBY, ours, "it stays nearby")
        stays = found["farthest"] <= NEARBY and found["late"] > MOVES
        return holds(stays, ours, "it goes away, or comes to rest")

    theirs = "unstable" if name in UNSTABLE else "remains nearby, without coming to rest"
    return Claim(f"Solution {name}", "a trajectory beside it", theirs, read)


def _all_unstable(low: str, high: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        start, end = (float(evaluate(each, {}, exact=False)) for each in (low, high))
        found = [entry for entry in entries(stored) if start < entry["value"] < end]
        counts = _verdicts(found)
        pots = len({entry["value"] for entry in found})
        ours = f"{', '.join(map(_spoken, counts))} in all solutions at {pots} pots"
        return holds(set(counts) == {"unstable"}, ours, "some are not")

    return read


def none_attracts(stored: Stored) -> Reading:
    """Whether no solution is asymptotically stable at any pot."""
    found = entries(stored)
    counts = _verdicts(found)
    attracting = counts.get("asymptotically stable", 0)
    pots = len({entry["value"] for entry in found})
    ours = f"{attracting} of {sum(counts.values())} members, at {pots} pots"
    return holds(bool(found) and not attracting, ours, "some are")


def _dimension_and_bluffs(stored: Stored) -> Reading:
    """Whether each of players 1 and 2 that bluffs adds two dimensions."""
    rows = {}
    for solution in SOLUTIONS:
        if solution.name in OSCILLATORY:
            low, high = end_of(solution.start), end_of(solution.end)
            members = [e for e in inside(equilibria(stored)) if e.solutions[0] == solution.name]
            rows[solution.name] = (
                {sum(each.values[name] > 0 for name in ("b1", "b2")) for each in members},
                {
                    entry["centre_oscillatory"]
                    for entry in entries(stored, solution.name)
                    if low < entry["value"] < high
                },
            )
    ours = "; ".join(
        f"Solution {name}: {' or '.join(map(str, bluffing))} of them, dimension "
        f"{' or '.join(map(str, dimensions))}"
        for name, (bluffing, dimensions) in rows.items()
    )
    truth = all(dims == {2 + 2 * number for number in bluff} for bluff, dims in rows.values())
    return holds(truth, ours, "dimension and bluffs do not go together")


def _seven(stored: Stored) -> Reading:
    found = [entry for entry in entries(stored, "9") if entry["value"] < 5]
    counts = {(e["centre_oscillatory"], e["zero"]) for e in found if e["value"] > end_of(P8)}
    ours = " or ".join(f"{a} imaginary and {b} zero" for a, b in sorted(counts)) + " eigenvalues"
    return holds(counts == {(6, 1)}, ours, "other numbers")


STABILITY = Part(
    title="Section 4.1: stability of the solutions",
    note=(
        "Eigenvalues of the Jacobian in frequencies, at the middle, the corners and random members "
        "of each solution, at pots 0.05 apart. Irrational ends of ranges are approached to 1e-12 "
        "from inside, where what vanishes at the end is zero within rounding. Trajectories begin "
        "with every frequency 0.01 beside a solution; nearby means at most 0.1 away, in what the "
        "solution determines."
    ),
    claims=(
        *(_stability(n, where) for n in (*OSCILLATORY, *UNSTABLE) for where in _columns(n)),
        *(_beside(name) for name in (*OSCILLATORY, *UNSTABLE)),
        Claim("All solutions", "asymptotic stability", "none asymptotically", none_attracts),
        Claim("All solutions", "3 < P < P3", "unstable", _all_unstable("3", P3)),
        Claim("All solutions", "4 < P < P8", "unstable", _all_unstable("4", P8)),
        Claim(
            "Dimension", "with P", "it grows as player 2, then player 1, begins to bluff",
            _dimension_and_bluffs,
        ),
        Claim(
            "Solution 9", "center manifold",
            "seven-dimensional: six imaginary eigenvalues and a zero for c1 and d2", _seven,
        ),
    ),
)  # fmt: skip
