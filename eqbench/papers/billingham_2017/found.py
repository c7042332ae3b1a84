"""The equilibria that case enumeration found, by the paper's names of the frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from eqbench.equilibria.layout import Layout
from eqbench.model.game import Game
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
ROUNDING = 1e-9
NOTHING = 1e-13  # what double precision leaves of 0 in these figures


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
        """Frequencies and pot, by which the paper's formulas are evaluated."""
        return self.values | {"P": self.pot}

    @property
    def is_rational(self) -> bool:
        """Whether all frequencies are rational and known exactly."""
        return not any(isinstance(value, float) for value in self.values.values())


def equilibria(stored: Stored, job: str = "enumeration") -> list[Found]:
    """All equilibria of that run, by ascending pot."""
    found = []
    for cell in stored[job].cells:
        if cell.game_spec.startswith("skp"):
            pot = Fraction(dict(parse_spec(cell.game_spec).options)["pot"])
            found += [_found(stored, job, pot, record) for record in cell.equilibria]
    return sorted(found, key=lambda each: each.pot)


def _found(stored: Stored, job: str, pot: Fraction, record: Any) -> Found:
    behavior = stored[job].json(record.profile)["behavior"]
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
    """By pot the names of the published sets that were found."""
    return {
        pot: {name for each in group for name in each.solutions}
        for pot, group in by_pot(found).items()
    }


def same(one: Any, other: Any) -> bool:
    """Whether two figures are equal: exactly if both are rational, else within 1e-9."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one == other
    return abs(float(one) - float(other)) <= ROUNDING


def shown(value: Any) -> str:
    """A figure for a page: a fraction where it is short, else six digits."""
    if isinstance(value, Fraction) and value.denominator < 1000:
        return str(value)
    return f"{float(value):.6g}" if abs(float(value)) > NOTHING else "0"


def rounded(size: float) -> str:
    """A distance or a regret for a page, with one digit, if it is more than rounding."""
    if size == 0:
        return "0"
    return f"{size:.1g}" if abs(size) > NOTHING else "0 within rounding"


def counted(number: int, thing: str) -> str:
    """``1 pot``, ``3 pots``."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
