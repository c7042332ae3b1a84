"""Section 5: ten and five cards (Figures 5, 8 and 9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eqbench.papers.billingham_2018.jobs import SMALL_DECKS
from eqbench.papers.billingham_2018.multiplicity import coexisting
from eqbench.papers.billingham_2018.readings import (
    EXACT,
    at,
    card_list,
    deck,
    drawn,
    payoffs,
    rounding,
    statement,
    worst_regret,
)
from eqbench.papers.claims import Part, Reading, differs, holds, not_attempted, reproduced
from eqbench.papers.stored import Stored

_WORSE = 1e-8


def biggest_loser(cards: int) -> Callable[[Stored], Reading]:
    """Whether player 2 loses most from some pot on, and both others profit from some pot on."""

    def read(stored: Stored) -> Reading:
        pots, (first, second, third) = _columns(stored, f"n{cards}_wide")
        loses = second < first - _WORSE
        if not loses[-1]:
            return differs(f"not up to a pot of {pots.max():g}", "player 1 loses most")
        both = (first > 0) & (third > 0) & loses
        begin, end = pots[loses].min(), pots[~loses].max() if not loses.all() else 0.0
        ours = f"from a pot of {begin:.2f} on"
        if end > begin:
            ours = f"first at a pot of {begin:.2f}, at all points above {end:.2f}"
        if not both[-1]:
            return differs(ours, f"player 1 does not profit up to a pot of {pots.max():g}")
        return reproduced(f"{ours}; both others profit above {pots[~both].max():.2f}")

    return read


def _columns(stored: Stored, job: str) -> tuple[Any, Any]:
    found = payoffs(stored, job)
    return found.pots, found.payoffs.T


def _never_with_four(stored: Stored) -> Reading:
    margins, tops = [], []
    for job in ("n4", "n4_wide"):
        pots, (first, second, _) = _columns(stored, job)
        margins.append(float((second - first).min()))
        tops.append(float(pots.max()))
    ours = f"payoff of player 2 less that of player 1 at least {min(margins):.0e}"
    return holds(
        min(margins) >= -1e-7, ours, "player 2 loses more", f"up to a pot of {max(tops):g}"
    )


def _positions(stored: Stored) -> Reading:
    whole = [_columns(stored, job) for job in ("n10", "n10_wide")]
    pots = np.concatenate([found for found, _ in whole])
    first, second, third = np.concatenate([found for _, found in whole], axis=1)
    wrong = ~((first <= second + 1e-6) & (second <= third + 1e-6))
    end = float(pots[wrong].min() if wrong.any() else pots.max())
    ours = f"at all points in that order up to a pot of {end:.4g}"
    detail = f"N = 10, followed to a pot of {pots.max():g}, with all that comes back below 16"
    if wrong.any():
        detail += f"; at some points above, up to {pots[~wrong].max():.4g}"
    return holds(end > 10, ours, "another order at small pots", detail)


def _all_connected(stored: Stored) -> Reading:
    rows = {n: stored[f"n{n}"].summary for n in SMALL_DECKS}
    ours = ", ".join(f"{n}: {s['points']:,}" for n, s in rows.items())
    lost = [n for n, s in rows.items() if s["outcome"] != "arrived" or s["branch_points"]]
    return holds(not lost, f"points by N: {ours}", f"not with {lost} cards", "no branch points")


def _beside(stored: Stored) -> Reading:
    entry = at(stored, "n4_beside", 3.1)
    beside = entry["beside"]
    ours = f"{beside['not_on_branch']} other payoff vectors, N = 4, pot 3.1"
    if not beside["not_on_branch"]:
        return reproduced(ours)
    low, high = beside["payoff_ranges"][1]
    return differs(
        ours,
        f"verified equilibria from {beside['polished']} random starts; player 2 gets {low:.5f} to "
        f"{high:.5f} there",
    )


def _lost_pot(stored: Stored) -> Reading:
    return not_attempted("the pot is lost in the text of the paper that we have")


TEN = Part(
    title="Section 5 and Figure 5: connected branches, ten cards",
    claims=(
        statement("every N", "a connected branch of solutions", _all_connected),
        statement("beside the branch", "plausible that no other solutions exist", _beside),
        statement(
            "N = 10",
            "up to 15 distinct equilibria at one pot",
            coexisting(10, 15),
        ),
        statement(
            "N = 10, small pots",
            "the later a player acts, the greater the profit",
            _positions,
        ),
        statement(
            "N = 10, large pots",
            "player 2 becomes the biggest loser; both others profit",
            biggest_loser(10),
        ),
        statement("N = 10, pot of the change", "the pot from which on", _lost_pot),
        statement("N = 5", "player 2 becomes the biggest loser", biggest_loser(5)),
        statement("N = 6", "player 2 becomes the biggest loser", biggest_loser(6)),
        statement("N = 4", "player 2 does not become the biggest loser", _never_with_four),
    ),
    pictures=(
        drawn(
            "Figure 5: N = 10",
            "Expectations of the players along the branch; dots are folds.",
            "figures",
            "fig05.svg",
        ),
    ),
    note="Branches at eps = 1e-7 with the logarithmic barrier, from below P_min up to where they "
    "first reach 16; from pots of 10 (N = 10: 13) on branches that are followed further, with what "
    "comes back below 16, as it does with 6 and 10 cards. Equilibria are points of the branch, "
    "polished and verified; they count as different if a payoff differs by more than 1e-8. "
    "For counts, folds that are less than 1e-4 of pot apart are one: a figure cannot show them.",
)


def _more_striking(stored: Stored) -> Reading:
    four, five = (max(deck(stored, n)["largest_range"]) for n in (4, 5))
    ours = f"largest range of a payoff at one pot: N = 5 {five:.4f}, N = 4 {four:.4f}"
    return holds(five > 10 * four, ours, "not ten times as large")


def _several_ranges(stored: Stored) -> Reading:
    five, four = (deck(stored, n)["ranges_with_several"] for n in (5, 4))
    return holds(
        five > four, f"{five} ranges of the pot; {four} with N = 4", "no more than with N = 4"
    )


def _irregular(stored: Stored) -> Reading:
    turns = {n: deck(stored, n)["turns_of_top_at_node_1"] for n in (4, 5)}
    ours = f"it turns around {turns[5]} times along the branch, with N = 4 {turns[4]} times"
    return holds(turns[5] > 3 * turns[4], ours, "no more than with N = 4")


def _best_two(stored: Stored) -> Reading:
    value = deck(stored, 5)["cards_in_ranges"]["value bet"]
    from_pots = deck(stored, 5)["second_best_bet"]
    ours = "; ".join(
        f"node {k + 1}: cards {card_list(value[str(k + 1)])}, card 4 from {p:.2f}"
        for k, p in enumerate(from_pots)
    )
    return holds(all(value[str(k)] == [4, 5] for k in (1, 2, 3)), ours, "other cards")


def _only_best(stored: Stored) -> Reading:
    value = deck(stored, 4)["cards_in_ranges"]["value bet"]
    ours = "; ".join(f"node {node}: {card_list(cards)}" for node, cards in value.items())
    return holds(all(cards == [4] for cards in value.values()), ours, "other cards too")


def _distinct(stored: Stored) -> Reading:
    facts = deck(stored, 5)
    ours = f"bluffs below value bets at {facts['bluffs_below_value']} of {facts['examined']} points"
    right = not facts["two_way"] and facts["bluffs_below_value"] == facts["examined"]
    return holds(right, ours, "they overlap", "no two-way bets")


def _regret_five(stored: Stored) -> Reading:
    worst = worst_regret(at(stored, "n5", 5.202))
    return holds(worst <= EXACT, f"max regret {rounding(worst)}", "they are no equilibria")


FIVE = Part(
    title="Section 5.2, Figures 8 and 9: five cards",
    claims=(
        statement(
            "Figure 8, ranges", "several ranges of pots with several equilibria", _several_ranges
        ),
        statement("Figure 8, multiplicity", "up to 5 distinct equilibria", coexisting(5, 5)),
        statement("Figure 8, verified", "these are equilibria", _regret_five),
        statement(
            "Figure 8, expectations", "differences more striking than with N = 4", _more_striking
        ),
        statement(
            "Figure 9, ranges", "value bets, bluffs and calls are clearly distinct", _distinct
        ),
        statement("Figure 9, player 1", "bets of card 5 at node 1 vary irregularly", _irregular),
        statement("Figure 9, value bets", "value bets may include the best two cards", _best_two),
        statement("N = 4", "only the best card is ever bet for value", _only_best),
        statement(
            "Figure 9, pot of the change", "the pot from which on player 1 varies", _lost_pot
        ),
    ),
    pictures=(
        drawn("Figure 8: N = 5", "Expectations with two close-ups.", "n5", "figures/payoffs.svg"),
        drawn(
            "Figure 9: frequencies",
            "Bets and calls by node and card.",
            "n5",
            "figures/frequencies.svg",
        ),
    ),
    note="Ranges by the definitions in eqbench/plots/kuhn.py, frequencies above "
    "0.02, at up to 1,500 points of each branch. Ranges of payoffs at one pot are looked at on "
    "600 pots. "
    "For counts, folds that are less than 1e-4 of pot apart are one.",
)
