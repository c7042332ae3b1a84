"""Equations (19) to (21), and the borders of the ranges."""

from __future__ import annotations

from fractions import Fraction

from eqbench.equilibria.expressions import evaluate
from eqbench.papers.billingham_2017.expected_profits import spoken
from eqbench.papers.billingham_2017.found import ROUNDING, by_pot, equilibria, present, shown
from eqbench.papers.billingham_2017.printed_solutions import BORDERS, PAYOFFS
from eqbench.papers.billingham_2017.solutions import NEAREST, members_of, shown_pot, value_of
from eqbench.papers.claims import Claim, Part, Reading, differs, holds, reproduced, source_error
from eqbench.papers.stored import NotStoredError, Stored


def _payoff(name: str, player: int, text: str) -> Claim:
    def read(stored: Stored) -> Reading:
        found = members_of(stored, name)
        gaps = [abs(float(value_of(text, each) - each.payoffs[player])) for each in found]
        values = [each.payoffs[player] for each in found]
        ours = " to ".join(dict.fromkeys([shown(min(values)), shown(max(values))]))
        return holds(max(gaps) <= ROUNDING, ours, f"by up to {max(gaps):.3g}")

    return Claim(f"Solution {name}", f"24 E{player + 1}", spoken(text), read)


def _transfer(name: str, payer: int, others: tuple[int, int]) -> Claim:
    def read(stored: Stored) -> Reading:
        found = members_of(stored, name)
        spread = [
            max(e.payoffs[p] for e in found) - min(e.payoffs[p] for e in found) for p in range(3)
        ]
        ours = "24 E varies by " + ", ".join(shown(each) for each in spread)
        truth = spread[payer] == 0 and spread[others[0]] == spread[others[1]] > 0
        return holds(truth, ours, "not a transfer between those two")

    names = f"{others[0] + 1} and {others[1] + 1}"
    theirs = f"player {payer + 1} can transfer profit between {names} at no cost to herself"
    return Claim(f"Solution {name}", "transfer", theirs, read)


def _jump(name: str, pot: int | str, players: tuple[int, ...]) -> Claim:
    """Discontinuity of the profits at the pot of a continuum."""

    def read(stored: Stored) -> Reading:
        groups = by_pot(equilibria(stored))
        middle = Fraction(pot)
        below = groups[max(p for p in groups if p < middle)]
        above = groups[min(p for p in groups if p > middle)]
        jumps = [round(float(above[0].payoffs[p] - below[0].payoffs[p]), 4) + 0.0 for p in range(3)]
        ours = "24 E jumps by " + ", ".join(f"{jump:+.4f}" for jump in jumps)
        found = tuple(p for p in range(3) if abs(jumps[p]) > 1e-3)
        return holds(found == players, ours, "other players' profits jump")

    return Claim(f"Solution {name}", "Figure 6", "a discontinuity of the expected profits", read)


def _not_unique(stored: Stored) -> Reading:
    found = [each for each in equilibria(stored) if each.pot == Fraction(7, 2)]
    payoffs = {each.payoffs for each in found}
    ours = f"{len(found)} corners and middles with {len(payoffs)} vectors of payoffs"
    return holds(len(payoffs) > 1, ours, "one equilibrium only")


TRANSFERS = Part(
    title="Equations (19) to (21): profits where they are not unique",
    note="From the complete lists at pots 3, 7/2 and 5, and 1e-6 beside them; times 24.",
    claims=(
        *(
            _payoff(name, player, text)
            for name, (_, texts) in PAYOFFS.items()
            for player, text in enumerate(texts)
        ),
        _transfer("2a", 1, (0, 2)),
        _transfer("5a", 1, (0, 2)),
        _transfer("10a", 0, (1, 2)),
        _jump("2a", 3, (0, 2)),
        _jump("5a", "7/2", (0, 2)),
        _jump("10a", 5, (1, 2)),
        Claim("Solution 5a", "uniqueness", "not the only one at P = 7/2", _not_unique),
    ),
)


def _border(name: str) -> Claim:
    text = BORDERS[name][0]

    def read(stored: Stored) -> Reading:
        low, high = _bracket(stored, name)
        ours = f"the solutions change between {shown_pot(low)} and {shown_pot(high)}"
        return holds(high - low <= NEAREST, ours, "no change close to it")

    return Claim(name, "exact", text.replace("sqrt", "√"), read)


def _decimals(name: str) -> Claim:
    text, digits = BORDERS[name]

    def read(stored: Stored) -> Reading:
        low, high = (float(pot) for pot in _bracket(stored, name))
        rounded = {f"{low:.2f}", f"{high:.2f}"}
        ours = " or ".join(sorted(rounded))
        if rounded == {digits}:
            return reproduced(ours)
        if low <= evaluate(text, {}, exact=False) <= high:
            return source_error(
                ours, f"the change between {low:.6f} and {high:.6f} fits its formula"
            )
        return differs(ours, f"by {(low + high) / 2 - float(digits):+.4f}")

    return Claim(name, "decimals", f"≈ {digits}", read)


def _bracket(stored: Stored, name: str) -> tuple[Fraction, Fraction]:
    """The closest pots at either side of a border, if other solutions were found there."""
    pots = present(equilibria(stored))
    value = evaluate(BORDERS[name][0], {}, exact=False)
    low, high = max(p for p in pots if p < value), min(p for p in pots if p > value)
    if pots[low] == pots[high]:
        raise NotStoredError(f"the same solutions at pots {shown_pot(low)} and {shown_pot(high)}")
    return low, high


BORDERS_PART = Part(
    title="Borders of the ranges",
    note=(
        "Complete lists of equilibria 1e-6 apart, with different solutions at either side. The "
        "paper gives two decimals, rounded."
    ),
    claims=tuple(claim(name) for name in BORDERS for claim in (_border, _decimals)),
)
