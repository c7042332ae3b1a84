"""What the article says about three players."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from eqbench.papers.claims import Claim, Part, Reading, differs, holds, not_attempted, source_error
from eqbench.papers.stored import Stored

# all check, or one of three bets, after which the others call or fold
_WAYS = 1 + 3 * 4


def _corners(stored: Stored) -> list[dict[str, Any]]:
    return [c for s in stored["three_player_family"].summary["sets"] for c in s["corners"]]


def _deck(stored: Stored) -> Reading:
    sizes = stored["two_player_rules"].summary["sizes"]["three players"]
    ours = f"{sizes['cards']} cards, {sizes['deals']} deals"
    return holds(sizes == {"cards": 4, "deals": 24}, ours, "another deck")


def _betting(stored: Stored) -> Reading:
    facts = stored["two_player_rules"].summary["three_players"]
    ours = f"{facts['bet_by_rules']} of {facts['hands']} hands, {len(facts['histories'])} ways"
    complete = facts["bet_by_rules"] == facts["hands"] and len(facts["histories"]) == _WAYS
    return holds(complete, ours, f"{_WAYS} ways follow from the rules")


def _showdown(stored: Stored) -> Reading:
    facts = stored["two_player_rules"].summary["three_players"]
    ours = f"{facts['paid_by_rules']} of {facts['hands']} hands pay so"
    return holds(facts["paid_by_rules"] == facts["hands"], ours, "other payoffs")


def _parameters(stored: Stored) -> Reading:
    sets = stored["three_player_family"].summary["sets"]
    free = [len(one["parameters"]) for one in sets]
    matter = [len(one["parameters"]) - len(one["idle"]) for one in sets]
    idle = ", ".join(sorted({name for one in sets for name in one["idle"]}))
    ours = f"{_counted(free)} in the three parts; {_counted(matter)} without {idle}"
    return holds(
        (4, 6) in ((min(free), max(free)), (min(matter), max(matter))),
        ours,
        f"{idle} changes nobody's payoff, whatever one player does; 4 to 6 mixes both counts",
    )


def _counted(numbers: list[int]) -> str:
    return f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _first_player(stored: Stored) -> Reading:
    strategies = {tuple(corner["player_1"]) for corner in _corners(stored)}
    # actions stand in pairs, check before bet; the four openings come first
    checks = all(strategy[place] == "1" for strategy in strategies for place in (0, 2, 4, 6))
    ours = (
        f"{len(strategies)} strategy of player 1 at {len(_corners(stored))} members; checks first"
    )
    return holds(len(strategies) == 1 and checks, ours, "player 1 has several strategies")


def _payoff(player: int, formula: Callable[[Fraction], Fraction]) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        corners = _corners(stored)
        wrong = [
            corner
            for corner in corners
            if Fraction(corner["payoffs"][player])
            != formula(Fraction(corner["beta"]).limit_denominator(1000))
        ]
        values = sorted({Fraction(corner["payoffs"][player]) for corner in corners})
        ours = " … ".join(map(str, dict.fromkeys((values[0], values[-1]))))
        return holds(
            not wrong, ours, f"{len(wrong)} members differ", f"{len(corners)} members, exactly"
        )

    return read


def _shift(stored: Stored) -> Reading:
    """Whether what β takes from player 1 goes to player 3, and nobody can gain."""
    corners = _corners(stored)
    payoffs = [[Fraction(value) for value in corner["payoffs"]] for corner in corners]
    sums, second = {u[0] + u[2] for u in payoffs}, {u[1] for u in payoffs}
    moved = max(u[0] for u in payoffs) - min(u[0] for u in payoffs)
    exact = {corner["max_regret"] for corner in corners} == {"0"}
    ours = f"{moved} a hand moves from player 1 to player 3; u1 + u3 = {_listed(sums)}"
    right = len(sums) == len(second) == 1 and moved > 0 and exact
    detail = f"u2 = {_listed(second)} at {len(corners)} members without regret, exactly"
    return holds(right, ours, "payoffs of others change too", detail)


def _listed(values: set[Fraction]) -> str:
    return ", ".join(map(str, sorted(values)))


def _open(stored: Stored) -> Reading:
    return not_attempted("an open question and no claim: `eqbench reproduce szafron` is on it")


def _largest(stored: Stored) -> Reading:
    return not_attempted("a statement about the literature, of which nothing can be computed")


def _worse(stored: Stored) -> Reading:
    gaps = [Fraction(c["payoffs"][0]) - Fraction(c["payoffs"][1]) for c in _corners(stored)]
    least, most = min(gaps), max(gaps)
    ours = f"u1 − u2 from {least} to {most}"
    if most < 0:
        return holds(True, ours, "")
    equal = [c for c, gap in zip(_corners(stored), gaps, strict=True) if not gap]
    if most > 0 or any(corner["max_regret"] != "0" for corner in equal):
        return differs(ours, "without a certificate")
    payoffs = sorted({corner["payoffs"][0] for corner in equal})
    return source_error(
        ours,
        f"at {len(equal)} members of the family, with no regret, exactly, both get "
        f"{', '.join(payoffs)}",
    )


def _beta(stored: Stored) -> Reading:
    betas = [Fraction(c["beta"]).limit_denominator(1000) for c in _corners(stored)]
    regrets = {c["max_regret"] for c in _corners(stored)}
    beyond = stored["three_player_family"].summary["beyond"]
    ours = f"{min(betas)} to {max(betas)}"
    if max(betas) >= 1:
        return holds(True, ours, "")
    if regrets == {"0"} and Fraction(beyond["max_regret"]) > 0:
        return source_error(
            ours,
            f"all members, up to β = {max(betas)}, have no regret; the same formulas at "
            f"β = {beyond['beta']} leave a player {beyond['max_regret']} to gain",
        )
    return differs(ours, "without a certificate")


THREE_PLAYERS = Part(
    "Three players",
    (
        Claim("deck", "", "four cards, three of them dealt", _deck),
        Claim("betting", "", "check or bet; facing a bet, call or fold", _betting),
        Claim(
            "showdown",
            "",
            "the best card if all checked or anybody called, else the bettor wins",
            _showdown,
        ),
        Claim("largest game", "", "with more than two players, solved analytically", _largest),
        Claim("parameters of the family", "", "4 to 6", _parameters),
        Claim("player 1's strategy", "", "fixed, and always checks first", _first_player),
        Claim("player 2's payoff", "", "-1/48", _payoff(1, lambda beta: Fraction(-1, 48))),
        Claim(
            "player 1's payoff", "", "-(1 + 2β)/48", _payoff(0, lambda beta: -(1 + 2 * beta) / 48)
        ),
        Claim("player 3's payoff", "", "(1 + β)/24", _payoff(2, lambda beta: (1 + beta) / 24)),
        Claim("player 1 beside player 2", "", "always worse", _worse),
        Claim("player 2, by β", "", "shifts utility between the other two freely", _shift),
        Claim("range of β", "", "0 to 1", _beta),
        Claim("all equilibria", "", "not known if the family covers them", _open),
    ),
    note="The family of Szafron, Gibson and Sturtevant (2013), in fractions, at all corners of "
    "c11 = 0 and c11 = 1/2 and at members of the part between, which is curved; β is the larger "
    "of player 2's bets with the cards 1 and 2.",
)
