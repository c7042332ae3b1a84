"""How many equilibria coexist (Figures 11 and 12)."""

from __future__ import annotations

from collections.abc import Callable

from eqbench.papers.billingham_2018.jobs import DECKS, SMALL_DECKS
from eqbench.papers.billingham_2018.readings import deck, drawn, spans, statement
from eqbench.papers.claims import Part, Reading, differs, holds, not_attempted, reproduced
from eqbench.papers.stored import Stored

_PUBLISHED_MOST = 24


def coexisting(cards: int, theirs: int) -> Callable[[Stored], Reading]:
    """Whether at most so many points coexist, and so many verified equilibria at the same pot."""

    def read(stored: Stored) -> Reading:
        facts = deck(stored, cards)
        entries = stored[f"n{cards}"].summary["at"]
        verified = {e["parameter"]: e["distinct_payoffs"] for e in entries}
        most = max(verified.values())
        where = ", ".join(f"{count} at {pot:g}" for pot, count in verified.items() if count > 1)
        ours = f"up to {facts['most']}; verified {where}"
        detail = f"most at pots {spans(facts['most_at'])}"
        if facts["most_narrow"] > facts["most"]:
            detail += (
                f"; {facts['most_narrow']} in a range {facts['narrow_width']:.0e} wide at "
                f"{facts['narrow_from']:.6g}, too narrow for a figure"
            )
        if facts["most"] == theirs == most:
            return reproduced(ours, detail)
        return differs(ours, f"{max(most, facts['most']) - theirs:+d}; {detail}")

    return read


def verified_most(stored: Stored) -> dict[int, int]:
    """The largest number of verified equilibria with different payoffs at a pot, by N."""
    return {
        n: max(entry["distinct_payoffs"] for entry in stored[f"n{n}"].summary["at"])
        for n in SMALL_DECKS
    }


def _as_many(stored: Stored) -> Reading:
    found = verified_most(stored)
    ours = "; ".join(f"N = {n}: {count}" for n, count in found.items())
    return holds(max(found.values()) >= _PUBLISHED_MOST, ours, "nowhere as many", "verified")


def _at_most(stored: Stored) -> Reading:
    found = verified_most(stored)
    cards = max(found, key=lambda n: found[n])
    most = found[cards]
    if most == _PUBLISHED_MOST:
        return reproduced(f"{most} with N = {cards}")
    pot = DECKS[cards].at[-1]
    return differs(
        f"{most} with N = {cards} at a pot of {pot}",
        f"{most - _PUBLISHED_MOST:+d}, all verified; such counts depend on eps and on g, which are "
        "lost for the paper",
    )


def _lost(stored: Stored) -> Reading:
    return not_attempted("which N and which pot the figure shows is lost in the text that we have")


def _grows(stored: Stored) -> Reading:
    folds = {n: deck(stored, n)["folds"] for n in SMALL_DECKS}
    ours = "; ".join(f"N = {n}: {count}" for n, count in folds.items())
    return holds(
        folds[4] == min(folds.values()) and folds[5] > 10 * folds[4],
        f"folds: {ours}",
        "five cards are as simple as four",
    )


MULTIPLICITY = Part(
    title="Figures 11 and 12: how many equilibria coexist",
    claims=(
        statement("Figure 11", "N = 5 and more: much more complex than N = 4", _grows),
        statement(
            "Figure 12, as many", "24 distinct equilibria coexist for some N and pot", _as_many
        ),
        statement("Figure 12, at most", "not more than 24", _at_most),
        statement("Figure 12, where", "its N and its pots", _lost),
    ),
    pictures=(
        drawn(
            "Figure 11: N = 4 to 13",
            "Expectations of each player, a curve for each N.",
            "figures",
            "fig11.svg",
        ),
        drawn(
            "Figure 12: a close-up with N = 9",
            "Expectation of player 3 where our branches have most points at one pot; dots are "
            "folds.",
            "figures",
            "fig12.svg",
        ),
        drawn(
            "Points of the branch at each pot",
            "Not in the paper: how often each branch crosses a pot; folds closer than 1e-4 are "
            "one.",
            "figures",
            "counts.svg",
        ),
    ),
    note="Counts are of payoff vectors more than 1e-8 apart among points of the branch at one pot "
    "that polish to a verified max regret below 1e-13 of the payoff range; eps = 1e-7, "
    "logarithmic barrier. They are equilibria on this branch; others exist beside it.",
)
