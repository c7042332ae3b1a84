"""Section 5.1: four cards (Figures 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from eqbench.papers.billingham_2018.multiplicity import coexisting
from eqbench.papers.billingham_2018.readings import EXACT, at, drawn, payoffs, statement
from eqbench.papers.claims import Part, Reading, differs, holds, number, reproduced
from eqbench.papers.stored import Stored

# Closed forms of the pots of vertical pieces; the paper's text has lost all but the first.
_PIECES = ((3.0, "3"), ((5 + sqrt(65)) / 4, ""), ((3 + sqrt(23)) / 2, ""), (5.0, ""))


def _piece(place: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        pot, known = _PIECES[place]
        pieces = [p for p in stored["four_cards"].summary["pieces"] if max(p["ranges"]) > 1e-3]
        if place >= len(pieces):
            return differs("no such piece", f"there are {len(pieces)}")
        found = pieces[place]
        ranges = ", ".join(f"P{k + 1} {r:.5f}" for k, r in enumerate(found["ranges"]))
        two = sum(r > 1e-3 for r in found["ranges"]) == 2 and min(found["ranges"]) < EXACT
        ours = f"pot {found['pot']:.10g}: {ranges}"
        right = two and abs(found["pot"] - pot) < 1e-8
        return holds(
            right, ours, "another pot or other players", "" if known else "pot lost in the text"
        )

    return read


def _four_pieces(stored: Stored) -> Reading:
    pieces = stored["four_cards"].summary["pieces"]
    large = [p["pot"] for p in pieces if max(p["ranges"]) > 1e-3]
    small = sorted({round(p["pot"], 6) for p in pieces if max(p["ranges"]) <= 1e-3})
    ours = f"{len(large)}: {', '.join(f'{pot:.6g}' for pot in large)}"
    places = ", ".join(f"{pot:g}" for pot in small)
    detail = f"at {places} payoffs move as well, by less than 1e-4" if small else ""
    return holds(len(large) == 4, ours, f"{len(large) - 4:+d}", detail)


def _simpler(stored: Stored) -> Reading:
    folds = {job: len(stored[job].summary["folds"]) for job in ("n4", "skp", "n5")}
    ours = f"folds: N = 4 {folds['n4']}, SKP {folds['skp']}, N = 5 {folds['n5']}"
    return holds(folds["n4"] < folds["skp"] < folds["n5"], ours, "another order")


def _szafron(stored: Stored) -> Reading:
    facts = stored["four_cards"].summary["family"]
    ours = (
        f"{facts['on_path']} of {facts['points']} points at a pot of 3 are members, beta from "
        f"{facts['beta'][0]:.4f} to {facts['beta'][1]:.4f}"
    )
    error = facts["largest_payoff_error"]
    detail = f"distance at most {facts['largest_distance']:.0e}, payoffs within {error:.0e}"
    right = facts["on_path"] == facts["points"] and error < 1e-9
    return holds(right, ours, "some are not members", detail)


def _similar(stored: Stored) -> Reading:
    entry = at(stored, "n4", 4.19)
    vectors = np.array([item["payoffs"] for item in entry["equilibria"]])
    apart = float(np.ptp(vectors, axis=0).max())
    whole = float(np.ptp(payoffs(stored, "n4").payoffs))
    ours = (
        f"at 4.19 payoffs differ by at most {apart:.1e}, {apart / whole:.2%} of the figure's height"
    )
    return holds(entry["distinct_payoffs"] > 1 and apart / whole < 0.01, ours, "clearly apart")


def _check(stored: Stored) -> Reading:
    facts = stored["four_cards"].summary["before_three"]
    bets = facts["bets_of_players_1_and_2"]
    ours = f"bets of players 1 and 2 at most {bets:.0e} at {facts['points']} points"
    detail = f"player 3 bets card 4 with {facts['bets_of_player_3']:g}"
    return holds(bets <= EXACT, ours, f"they bet with {bets:.1e}", detail)


def _revolves(stored: Stored) -> Reading:
    facts = stored["four_cards"].summary["before_three"]
    calls = facts["calls_with_card_3"]
    ours = f"largest call with card 3: {', '.join(f'{c:.3f}' for c in calls)} at nodes 4, 5, 6"
    return holds(max(calls) > 0.1, ours, "nobody calls with card 3")


def _bets_from(node: int, pot: float) -> Callable[[Stored], Reading]:
    return lambda stored: number(
        pot, stored["four_cards"].summary["bets_from"][node]["first"], 1e-8, digits=10
    )


def _later(stored: Stored) -> Reading:
    first, second = (entry["first"] for entry in stored["four_cards"].summary["bets_from"])
    ours = f"player 2 from {second:.6g}, player 1 from {first:.6g}"
    return holds(first > second + 0.1, ours, "player 1 is not later")


def _values_and_bluffs(stored: Stored) -> Reading:
    openings = stored["four_cards"].summary["openings"]
    used = [[card for card, most in bets.items() if most > 1e-6] for bets in openings]
    ours = "; ".join(f"node {k + 1}: {', '.join(cards)}" for k, cards in enumerate(used))
    third = stored["four_cards"].summary["third_card"]
    if all("3" not in cards for cards in used):
        return holds({"1", "2", "4"} == set(used[0]), ours, "other cards")
    return differs(
        ours,
        f"card 3 is bet at {third['points']} points; before, players 1 and 2 bet card 4 with at "
        f"least {third['top_bet_before']:.4f} there, so that no better card is left",
    )


def _callers(stored: Stored) -> Reading:
    callers = stored["four_cards"].summary["callers"]
    second = max(calls["2"] for calls in callers)
    third = max(calls["3"] for calls in callers)
    ours = f"where a bet is made: card 3 up to {third:.2f}, card 2 up to {second:.2g}"
    if second <= 1e-6:
        return reproduced(ours)
    return differs(ours, "card 2 calls bets that are made")


def _tension(stored: Stored) -> Reading:
    shares = stored["four_cards"].summary["top_card_mixed"]
    ours = f"card 4 is mixed at nodes 1 and 2 at {shares[0]:.0%} and {shares[1]:.0%} of the points"
    return holds(min(shares) > 0, ours, "it is never mixed", "pots above 3")


FOUR = Part(
    title="Section 5.1, Figures 6 and 7: four cards",
    claims=(
        statement(
            "Figure 6, structure", "simple; even simpler than simplified Kuhn poker", _simpler
        ),
        statement("Figure 6, special pots", "four pots with a range of expectations", _four_pieces),
        *(
            statement(
                f"Figure 6, pot {'3' if place == 0 else f'number {place + 1}'}",
                "a range for two of the three players",
                _piece(place),
            )
            for place in range(4)
        ),
        statement("pot 3", "consistent with the solutions of Szafron et al.", _szafron),
        statement("Figure 7, multiplicity", "up to 3 distinct equilibria", coexisting(4, 3)),
        statement("Figure 7, expectations", "with very similar expectations", _similar),
        statement(
            "2 < P < 3, players 1 and 2",
            "players 1 and 2 check everything; nodes 7 to 12 are not reached",
            _check,
        ),
        statement("2 < P < 3, answers", "the others decide whether to call with card 3", _revolves),
        statement("from a pot of 3 on", "player 2 bets", _bets_from(1, 3.0)),
        statement("larger pots", "player 1 becomes active", _later),
        statement("bets", "bluffs with 1 and 2, value bets with 4 only", _values_and_bluffs),
        statement("calls", "with card 3 only, beside 4", _callers),
        statement("card 4", "tension between value bets and sandbagging", _tension),
    ),
    pictures=(
        drawn(
            "Figure 6: N = 4",
            "Expectations; the close-up shows the fold near 4.2.",
            "n4",
            "figures/payoffs.svg",
        ),
        drawn(
            "Figure 7: frequencies",
            "Bets and calls by node and card.",
            "n4",
            "figures/frequencies.svg",
        ),
        drawn("Figure 7, close-up", "Pots from 4.15 to 4.23.", "n4", "figures/frequencies-1.svg"),
    ),
    note="Exact equilibria: all points of a branch at eps = 1e-9 from 2.05 to 16, polished and "
    "verified. A pot at which neighboring points have different payoffs is a vertical piece. "
    "For counts, folds that are less than 1e-4 of pot apart are one.",
)
