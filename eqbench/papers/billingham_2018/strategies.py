"""Ranges of strategies: section 2."""

from __future__ import annotations

from collections.abc import Callable

from eqbench.papers.billingham_2018.jobs import SMALL_DECKS
from eqbench.papers.billingham_2018.readings import card_list, deck, statement
from eqbench.papers.claims import Part, Reading, holds
from eqbench.papers.stored import Stored


def _ranges(stored: Stored, cards: int, kind: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = deck(stored, cards)["cards_in_ranges"][kind]
    return found


def _bets(stored: Stored) -> Reading:
    found = {n: deck(stored, n)["value_and_bluffs_from"] for n in SMALL_DECKS}
    ends = {n: deck(stored, n)["ends"][1] for n in SMALL_DECKS}
    ours = (
        "at all three nodes from pots of " + ", ".join(f"{p:.2f}" for p in found.values()) + " on"
    )
    right = all(found[n] < ends[n] / 2 for n in found)
    return holds(right, ours, "not at large pots", "N = 4 to 13; at smaller pots some check all")


def _bluffs_low(stored: Stored) -> Reading:
    rows = [deck(stored, n) for n in SMALL_DECKS]
    wrong = [row["cards"] for row in rows if row["bluffs_below_value"] < row["examined"]]
    total = sum(row["examined"] for row in rows)
    fine = sum(row["bluffs_below_value"] for row in rows)
    ours = f"all bluffs below all value bets at {fine:,} of {total:,} points"
    return holds(
        fine / total > 0.99,
        ours,
        f"not with {wrong} cards",
        f"exceptions with N in {wrong}" if wrong else "",
    )


def _catchers(stored: Stored) -> Reading:
    lowest, highest = {}, {}
    for n in SMALL_DECKS:
        found = [card for cards in _ranges(stored, n, "bluff-catch").values() for card in cards]
        lowest[n], highest[n] = min(found), max(found)
    ours = "; ".join(f"N = {n}: {lowest[n]} to {highest[n]}" for n in (4, 5, 10, 13))
    right = all(highest[n] == n - 1 and lowest[n] > 1 for n in SMALL_DECKS)
    return holds(right, ours, "other cards", "never the best or the worst card")


def _sandbags(stored: Stored) -> Reading:
    found = {n: _ranges(stored, n, "sandbag") for n in SMALL_DECKS}
    ours = "; ".join(
        f"N = {n}: {card_list(found[n]['1'])} and {card_list(found[n]['2'])}"
        for n in (4, 5, 10, 13)
    )
    right = all(max(f["1"]) == n == max(f["2"]) for n, f in found.items())
    return holds(right, ours, "no sandbagging somewhere", "cards at nodes 1 and 2")


def _four(kind: str, expected: list[int]) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = _ranges(stored, 4, kind)
        ours = "; ".join(f"node {node}: {card_list(cards)}" for node, cards in found.items())
        return holds(all(c == expected for c in found.values()), ours, "other cards")

    return read


def _wider(stored: Stored) -> Reading:
    width = {n: max(map(len, _ranges(stored, n, "value bet").values())) for n in (4, 5, 10, 13)}
    ours = "; ".join(f"N = {n}: {count}" for n, count in width.items())
    return holds(
        list(width.values()) == sorted(width.values()), f"cards bet for value: {ours}", "not so"
    )


RANGES = Part(
    title="Section 2: value bets, bluffs, bluff-catchers and sandbags",
    claims=(
        statement("nodes 1, 2 and 3, bets", "bets with some high and some low cards", _bets),
        statement("nodes 1, 2 and 3, order", "value bets high, bluffs low", _bluffs_low),
        statement("other nodes, calls", "calls with mid to high cards catch bluffs", _catchers),
        statement("nodes 1 and 2, checks", "some high cards are checked to call later", _sandbags),
        statement("N = 4, value bets", "value bets with card 4 only", _four("value bet", [4])),
        statement("N = 4, sandbagging", "sandbagging with card 4 only", _four("sandbag", [4])),
        statement(
            "N = 4, bluff-catching", "bluff-catching with card 3 only", _four("bluff-catch", [3])
        ),
        statement("N = 4, bluffs", "bluffs with either of cards 1 and 2", _four("bluff", [1, 2])),
        statement("more cards", "the ranges become more complex", _wider),
    ),
    note="Ranges by the definitions in eqbench/plots/kuhn.py at up to 1,500 points "
    "of each branch, N = 4 to 13, from below P_min to 16; frequencies above 0.02 count.",
)
