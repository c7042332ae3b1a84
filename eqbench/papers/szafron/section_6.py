"""Section 6, equilibrium selection, and section 7 on two players."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from eqbench.papers.claims import Part, Reading, differs, holds, reproduced, source_error
from eqbench.papers.stored import Stored
from eqbench.papers.szafron.notation import in_kappa
from eqbench.papers.szafron.readings import Read, rows, statement

# -- section 6 -----------------------------------------------------------------------------


def _switch(stored: Stored) -> Reading:
    ends = stored["selection"].summary["ends"]
    first, last = ends["β = 0"], ends["β = 1/4"]
    both = first["regrets"] == last["regrets"] == ["0"] * 3
    return holds(
        both and first["payoffs"] != last["payoffs"],
        f"({rows(first, 'payoffs')}) and ({rows(last, 'payoffs')})",
        "the same payoffs",
    )


def _together(stored: Stored) -> Reading:
    found = stored["crossplay"].summary["combinations"]
    equilibria, count = found["equilibria"], found["count"]
    return holds(
        0 < equilibria < count,
        f"{equilibria} of {count} combinations of the strategies of 24 corners are equilibria",
        f"{equilibria} of {count}",
    )


def _no_equilibrium(stored: Stored) -> Reading:
    exact = stored["table_4"].printed_json["exact"]
    gains = [in_kappa(Fraction(text)) for text in exact["regrets"]]
    return holds(
        Fraction(exact["max_regret"]) > 0,
        f"gains of players 1, 2 and 3 by deviating: {', '.join(gains)}",
        "nobody gains",
    )


def _gain_of_second(stored: Stored) -> Reading:
    summary = stored["selection"].summary
    gains = {beta: found["regrets"][1] for beta, found in summary["table_4"].items()}
    wanted = {beta: in_kappa(Fraction(beta) / 24) for beta in gains}
    ours = ", ".join(f"{gain} at β = {beta}" for beta, gain in gains.items())
    answer = summary["table_4_answer"]["payoffs"][1]
    return holds(
        gains == wanted and answer == "−κ/2",
        f"{ours}; with b11 = b21 = 0 player 2 gets {answer}",
        "another gain",
    )


def _only_second(stored: Stored) -> Reading:
    """That player 2 gains is given as the reason, and is one; player 1 gains as well."""
    summary = stored["selection"].summary
    first, second, _ = summary["table_4"]["1/4"]["regrets"]
    repaired = summary["table_4_c33"]["1/2"]["regrets"]
    return holds(
        second == "κ/4",
        f"player 2 gains {second} = κβ by deviating",
        f"player 2 gains {second}",
        f"player 1 gains {first} as well, since c33 = 1/4 is below 1/2 − b32 = 1/2; with "
        f"c33 = 1/2 the gains are {', '.join(repaired)}, and no payoff changes",
    )


def _second_safe(stored: Stored) -> Reading:
    found = stored["selection"].summary["second"]
    equal, safe = found["equal"]
    unequal, also = found["unequal_b23_0"]
    calling, few = found["b23_positive"]
    return holds(
        safe == equal > 0 and found["best_worst"] == "−κ/2",
        f"worst case −κ/2 for {safe} of {equal} strategies with b11 = b21; none has a better one",
        f"{equal - safe} are not safe",
        f"true, but not sharp: so have {also} of {unequal} others with b23 = 0, and {few} "
        f"of {calling} with b23 > 0",
    )


def _positive_slope(stored: Stored) -> Reading:
    found = stored["selection"].summary["second"]
    zero, all_ = found["slopes_zero"], found["strategies"]
    if found["slopes_as_formula"] != all_:
        return differs("another slope", f"{found['slopes_as_formula']} of {all_} are as printed")
    if not zero:
        return reproduced("4κ b23(1 − b21), positive at all strategies measured")
    return source_error(
        "4κ b23(1 − b21) ≥ 0",
        f"it is 0 at {zero} of {all_} strategies of player 2, all those with b23 = 0; the "
        "conclusion, that c11 = 0 is player 2's worst case, holds",
    )


def _equal_bluffs(stored: Stored) -> Reading:
    found = stored["selection"].summary["equal_bluffs"]
    inside, zero, beyond = found["inside"], found["inside_zero"], found["beyond"]
    return holds(
        inside == zero > 0 and found["others"] == 0 and found["u2"] == ["−κ/2"],
        f"regret 0 at all {inside} combinations of b11 = b21, b32, c33 and c34 in which c33 is as "
        f"in Table 3; u2 = {', '.join(found['u2'])} and players 2 and 3 gain nothing at any",
        f"{inside - zero} of {inside} are none; players 2 or 3 gain at {found['others']}; u2 = "
        f"{', '.join(found['u2'])}",
        f"the exception is real: with another c33 player 1 gains at {found['beyond_first']} of "
        f"{beyond}, up to {found['most']}",
    )


def _least_bluffs(stored: Stored) -> Reading:
    """An equilibrium at one value of c33 and none at others, with the same payoffs."""
    found = stored["selection"].summary["least_bluffs"]
    others = {c33: each["regrets"] for c33, each in found.items() if c33 != "1/2"}
    payoffs = {rows(each, "payoffs") for each in found.values()}
    gains = ", ".join(f"{gain} at c33 = {c33}" for c33, (gain, *_) in others.items())
    return holds(
        payoffs == {"−κ/2, −κ/2, κ"}
        and found["1/2"]["regrets"] == ["0"] * 3
        and all(gain != "0" and rest == ["0"] * 2 for gain, *rest in others.values()),
        f"regret 0 with c33 = 1/2; payoffs {'; '.join(sorted(payoffs))} for any c33",
        f"gains {found}",
        f"the exception is real: player 1 gains {gains}",
    )


def _third_safe(stored: Stored) -> Reading:
    found: Any = stored["selection"].summary["third"]
    zero = found["0"]
    others = ", ".join(
        f"{each['worst']} with c11 = {c11}" for c11, each in found.items() if c11 != "0"
    )
    return holds(
        zero["worst"] == zero["against_nothing"] == "κ",
        "worst case κ with c11 = 0, against b11 = b21 = b23 = 0",
        f"{zero['worst']} with c11 = 0",
        f"true, but not sharp: {others}",
    )


def _third_at_most(stored: Stored) -> Reading:
    found: Any = stored["selection"].summary["third"]
    worst = {each["worst"] for each in found.values()}
    return holds(worst == {"κ"}, f"best worst case {', '.join(sorted(worst))}", "it is another")


def _no_negative_slope(stored: Stored) -> Reading:
    found = stored["selection"].summary["slopes_of_u3"]
    slopes = found["by"]
    ours = ", ".join(
        f"{name}: {each['formula']}, from {each['least']} to {each['most']}"
        for name, each in slopes.items()
    )
    return holds(
        all(Fraction(each["least"]) >= 0 for each in slopes.values()),
        f"in κ, over {found['strategies']} strategies of player 2: {ours}",
        "one is negative",
    )


def _interchangeable(stored: Stored) -> Reading:
    """Two-player Kuhn poker as an instance; three players are the claims after it."""
    found = stored["crossplay_two_players"].summary
    count, equilibria = found["combinations"]["count"], found["combinations"]["equilibria"]
    payoffs = {
        tuple(each) for player in found["interchange"] for row in player["payoffs"] for each in row
    }
    return holds(
        equilibria == count > 1 and len(payoffs) == 1,
        f"two-player Kuhn poker: {equilibria} of {count} combinations of its corners are "
        f"equilibria, with payoffs {', '.join(f'{p:+.6f}' for p in sorted(payoffs)[0])}",
        f"{equilibria} of {count} are equilibria, with {len(payoffs)} different payoffs",
    )


def _first_fixed(stored: Stored) -> Reading:
    count = stored["crossplay"].summary["combinations"]["strategies"]
    ours = "strategies of players 1, 2 and 3 among 24 corners: " + ", ".join(map(str, count))
    return holds(count[0] == 1, ours, f"player 1 has {count[0]}")


def _c33_irrelevant(stored: Stored) -> Reading:
    found = stored["selection"].summary["table_4_c33"]
    payoffs = {tuple(each["payoffs"]) for each in found.values()}
    regrets = {each["regrets"][0] for each in found.values()}
    return holds(
        len(payoffs) == 1,
        f"payoffs {', '.join(next(iter(payoffs)))} for c33 = {', '.join(found)}",
        "payoffs change",
        f"but what player 1 gains by deviating does depend on it: {', '.join(sorted(regrets))}",
    )


SECTION_6 = Part(
    title="Section 6: equilibrium selection",
    claims=(
        statement(
            "Equilibria of two-player zero-sum games",
            "interchangeable, the payoff stays",
            _interchangeable,
        ),
        statement("If all switch to another equilibrium", "payoffs can change", _switch),
        statement("Strategies of different equilibria", "need not be an equilibrium", _together),
        statement("Table 4 is no equilibrium", "somebody gains", _no_equilibrium),
        statement("Player 2 gains by a strategy with c11 = 0", "κβ", _gain_of_second),
        statement("Why Table 4 is no equilibrium", "because player 2 can deviate", _only_second),
        statement("Player 1 has no free parameter", "one strategy", _first_fixed),
        statement("c33 is irrelevant for payoffs", "player 1 never bets", _c33_irrelevant),
        statement("Player 2 is safe with b11 = b21", "worst case −κ/2, the best", _second_safe),
        statement("∂u2/∂c11 = κ[8b23(1 − b21)]/2", "> 0", _positive_slope),
        statement(
            "(σ1, σ2, σ3), b11 = b21, c11 = 0",
            "an equilibrium except possibly at c33",
            _equal_bluffs,
        ),
        statement("Player 3's best worst case", "at most κ", _third_at_most),
        statement("Player 3 is safe with c11 = 0", "worst case κ", _third_safe),
        statement(
            "∂u3 by player 2's free parameters, c11 = 0", "all at least 0", _no_negative_slope
        ),
        statement(
            "(σ1, σ2′, σ3), b11 = b21 = b23 = b32 = 0",
            "an equilibrium except possibly at c33, u3 = κ",
            _least_bluffs,
        ),
    ),
    note=(
        "Worst cases are over strategies of the family: payoffs are linear in each player's plan, "
        "so that lattices with the corners suffice. Combinations: eqbench crossplay with the "
        "corners of c11 = 0 and c11 = 1/2. All in exact arithmetic. More is in "
        "docs/szafron_section_6.md."
    ),
)


# -- section 7 -----------------------------------------------------------------------------


def _two_players(check: Callable[[Any], bool], ours: Callable[[Any], str]) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["two_players"].summary
        return holds(check(found), ours(found), f"found {found}")

    return read


SECTION_7 = Part(
    title="Section 7: two-player Kuhn poker",
    claims=(
        statement(
            "Equilibria have one parameter γ, bet with the highest card",
            "γ from 0 to 1",
            _two_players(
                lambda f: f["equilibria"] == f["members"] and f["dimension"] == 1,
                lambda f: (
                    f"{f['equilibria']} of {f['members']} members from γ = 0 to 1 are exact "
                    f"equilibria; dimension {f['dimension']}"
                ),
            ),
        ),
        statement(
            "The second player has no free parameter",
            "one strategy",
            _two_players(
                lambda f: f["complete"] and f["exact"] and f["moving"][0] > f["moving"][1] == 0,
                lambda f: (
                    f"in the complete list of equilibria, {f['listed']} points with exact "
                    f"certificates, {f['moving'][1]} frequencies of the second player differ, and "
                    f"{f['moving'][0]} of the first"
                ),
            ),
        ),
    ),
    note=(
        "Kuhn's line of equilibria and the list of all equilibria by case enumeration, in exact "
        "arithmetic; see also the encyclopedia's page."
    ),
)

PARTS = (SECTION_6, SECTION_7)
