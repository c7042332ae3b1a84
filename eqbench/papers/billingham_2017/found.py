"""The equilibria that case enumeration found, by the paper's names of the frequencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from eqbench.equilibria.layout import Layout
from eqbench.model.game import Game
from eqbench.papers.formulas import is_true
from eqbench.papers.jobs import Workshop
from eqbench.papers.paper import load_paper
from eqbench.papers.stored import Stored
from eqbench.spec import parse_spec

# a: bet with A, b: bet with Q, c: call with K, d: call with K after a fold; then the player
PLACES = {
    **{"a1": ("P1", "4:", "bet"), "b1": ("P1", "2:", "bet")},
    **{"a2": ("P2", "4:K", "bet"), "b2": ("P2", "2:K", "bet"), "b3": ("P3", "2:KK", "bet")},
    **{"c1": ("P1", "3:KKB", "call"), "c2": ("P2", "3:B", "call"), "c3": ("P3", "3:KB", "call")},
    **{"d1": ("P1", "3:KBF", "call"), "d2": ("P2", "3:KKBF", "call"), "d3": ("P3", "3:BF", "call")},
}
NAMES = tuple(PLACES)
SUMS = ("c2 + d3", "c3 + d1", "c1 + d2")  # of which the paper gives bounds
PAPER = load_paper(Path(__file__).parent)
ROUNDING = 1e-9
NEAREST = Fraction(2, 10**6)  # how far apart two pots may be that bracket the end of a range


@dataclass(frozen=True)
class Found:
    """One equilibrium of a complete list: a corner of a piece, or the middle of one.

    Attributes
    ----------
    pot : Fraction
    solutions : names of the published sets that it belongs to, such as ``2a``
    values : the eleven frequencies, Fractions where they are rational, else floats
    payoffs : 24 times the expected profits, likewise
    max_regret : as the verifier measured it
    """

    pot: Fraction
    solutions: tuple[str, ...]
    values: dict[str, Any]
    payoffs: tuple[Any, ...]
    max_regret: Any

    @property
    def names(self) -> dict[str, Any]:
        """What the letters of a printed formula stand for; E1 to E3 are 24 times the profits."""
        profits = {f"E{player}": payoff for player, payoff in enumerate(self.payoffs, 1)}
        return self.values | profits | {"P": self.pot}


def stored_in(jobs: Path, *, full: bool) -> Stored:
    """What the jobs of this paper have stored in their folder."""
    return Stored(Workshop(jobs.name, jobs, full=full), PAPER.jobs)


def layout_of(game: Game) -> Layout:
    """Where the eleven frequencies stand in a game.

    Raises
    ------
    ValueError
        If it has not all of them.
    """
    layout = Layout.of(game.tree, {name: "|".join(place) for name, place in PLACES.items()})
    if layout is None:
        raise ValueError(f"{game.spec} has not the frequencies {', '.join(NAMES)}")
    return layout


def equilibria(stored: Stored) -> list[Found]:
    """All equilibria of the job ``enumeration``, by ascending pot."""
    found = []
    for cell in stored["enumeration"].cells:
        if cell.game_spec.startswith("skp"):
            pot = Fraction(dict(parse_spec(cell.game_spec).options)["pot"])
            found += [_found(stored, pot, record) for record in cell.equilibria]
    return sorted(found, key=lambda each: each.pot)


def _found(stored: Stored, pot: Fraction, record: Any) -> Found:
    behavior = stored["enumeration"].json(record.profile)["behavior"]
    exact = record.exact is not None
    number = Fraction if exact else float
    values = {
        name: number(behavior[player][infoset].get(action, 0))
        for name, (player, infoset, action) in PLACES.items()
    }
    identity = record.identity or {"name": "", "also": []}
    names = [name.removeprefix("skp:") for name in (identity["name"], *identity["also"])]
    payoffs = record.exact["payoffs"] if exact else record.payoffs
    regret = max(map(Fraction, record.exact["regrets"])) if exact else record.max_regret
    return Found(pot, tuple(names), values, tuple(24 * number(p) for p in payoffs), regret)


def inside(found: Sequence[Found]) -> list[Found]:
    """Those at pots that are not there only to bracket the end of a range."""
    return [each for each in found if each.pot.limit_denominator(100) == each.pot]


def by_pot(found: Sequence[Found]) -> dict[Fraction, list[Found]]:
    """Those of each pot, ascending."""
    groups: dict[Fraction, list[Found]] = {}
    for each in found:
        groups.setdefault(each.pot, []).append(each)
    return groups


def present(found: Sequence[Found]) -> dict[Fraction, set[str]]:
    """Names of the published sets that were found, by pot."""
    groups = by_pot(found)
    return {pot: {name for e in group for name in e.solutions} for pot, group in groups.items()}


def borders(found: Sequence[Found]) -> dict[str, Fraction]:
    """Pots at which the solutions change, P1 to P10, each the middle of where it was bracketed."""
    pots = list(present(found).items())
    brackets: list[list[Fraction]] = []
    for (low, before), (high, after) in pairwise(pots):
        if before != after and high - low <= NEAREST:
            if brackets and brackets[-1][-1] == low:
                brackets[-1].append(high)  # a border with solutions of its own
            else:
                brackets.append([low, high])
    if brackets and brackets[0][0] == pots[0][0]:
        brackets[0] = [pots[0][0]]  # the first pot is a border and not bracketed from below
    return {f"P{k}": (ends[0] + ends[-1]) / 2 for k, ends in enumerate(brackets, 1)}


def misprint_regrets(stored: Stored, name: str) -> dict[str, Fraction]:
    """Max regrets of a profile with a printed entry that is wrong, and of the corrected one."""

    def regret(job: str) -> Fraction:
        return max(map(Fraction, stored[job].printed_json["exact"]["regrets"]))

    solution = name.partition("_")[0]
    return {"w": regret(f"printed_{name}"), "r": regret(f"printed_{solution}_corrected")}


def printed_claims(title: str, column: str | None = None) -> Iterator[tuple[str, str]]:
    """Printed texts of a part by the row, without a full stop, and of one column if it is given."""
    (part,) = (part for part in PAPER.parts if part.title == title)
    for claim in part.claims:
        if column is None or claim.column == column:
            yield claim.row.removesuffix("."), claim.printed


def printed_cells() -> dict[str, str]:
    """The cells of Table 1 as printed, such as ``4a``; the first relation says where it applies."""
    return {
        number + letter: printed
        for letter, column in (("a", "(a)"), ("b", "(b)"), ("c", "(c)"), ("", "equation"))
        for number, printed in printed_claims("Table 1: the nine conditions", column)
    }


def corrected(cell: str) -> str:
    """A cell with a1 ≤ 1 in place of a1 < 1."""
    return cell.replace("a1 < 1", "a1 ≤ 1")


def meets(cells: Mapping[str, str], names: Mapping[str, Any]) -> bool:
    """Whether at least one cell of each condition holds."""
    met = {name[0] for name, cell in cells.items() if is_true(cell, names)}
    return met == {name[0] for name in cells}
