"""The article on the two-player game: rules, equilibria, and its drawing of the tree."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from eqbench.papers.claims import Claim, Part, Picture, Reading, differs, holds, reproduced
from eqbench.papers.stored import Stored

# history, what the article says about it, payoff of player 1 with the higher and the lower card
_HISTORIES = (
    ("check check", "showdown for a pot of 2: the higher card wins 1", "1", "-1"),
    ("check bet fold", "player 2 takes the pot of 3 and wins 1", "-1", "-1"),
    ("check bet call", "showdown for a pot of 4: the higher card wins 2", "2", "-2"),
    ("bet fold", "player 1 takes the pot of 3 and wins 1", "1", "1"),
    ("bet call", "showdown for a pot of 4: the higher card wins 2", "2", "-2"),
)
_ZERO, _ONE, _THIRD = Fraction(0), Fraction(1), Fraction(1, 3)


def _rule(history: str, higher: str, lower: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        hands = [h for h in stored["two_player_rules"].summary["hands"] if h["history"] == history]
        found = {(h["cards"][0] > h["cards"][1], *h["payoffs"]) for h in hands}
        wanted = {
            (True, higher, str(-int(higher))),
            (False, lower, str(-int(lower))),
        }
        ours = f"player 1 gets {higher} with the higher card, {lower} with the lower"
        if found == wanted:
            return reproduced(ours, f"{len(hands)} hands")
        return differs(str(sorted(found)), "payoffs of (higher card?, player 1, player 2)")

    return read


def _deck(stored: Stored) -> Reading:
    hands = stored["two_player_rules"].summary["hands"]
    deals = {tuple(hand["cards"]) for hand in hands}
    cards = {card for deal in deals for card in deal}
    ours = f"{len(cards)} cards, {len(deals)} deals, {len(hands)} ways a hand can end"
    return holds((len(cards), len(deals)) == (3, 6), ours, "another deck")


def _value(player: int, value: Fraction) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        cells = stored["two_player_equilibria"].cells
        exact = {e.exact["payoffs"][player] for cell in cells for e in cell.equilibria if e.exact}
        floats = [cell.payoffs[player] for cell in cells if cell.payoffs]
        near = all(abs(payoff - value) < 1e-12 for payoff in floats)
        ours = ", ".join(sorted(exact))
        return holds(
            exact == {str(value)} and near, ours, "another value", "complete list, exactly"
        )

    return read


def _one_parameter(stored: Stored) -> Reading:
    """Whether the listed equilibria are one segment: its two ends and a point between them."""
    seen = sorted(_profiles(stored), key=lambda profile: profile["P1"]["1:"])
    alphas = [profile["P1"]["1:"] for profile in seen]
    bends = any(
        abs((last - first) * (alpha - alphas[0]) - (middle - first) * (alphas[-1] - alphas[0]))
        for alpha, profile in zip(alphas, seen, strict=True)
        for player, rows in profile.items()
        for first, middle, last in (
            (seen[0][player][place], value, seen[-1][player][place])
            for place, value in rows.items()
        )
    )
    ours = f"{len(seen)} listed points on one line, α = {', '.join(map(str, alphas))}"
    segment = len(set(alphas)) == len(seen) > 2
    return holds(segment and not bends, ours, "no single line", "complete list, exactly")


def _pure(stored: Stored) -> Reading:
    found = stored["two_player_rules"].summary["pure"]
    least = found["smallest_max_regret"]
    ours = f"of {found['profiles']:,} pure profiles the best has max regret {least:.4g}"
    return holds(least > 1e-9, ours, "a pure profile without regret")


def _profiles(stored: Stored) -> list[dict[str, dict[str, Fraction]]]:
    """Frequencies of the aggressive action at each information set, of all listed equilibria."""
    job = stored["two_player_equilibria"]
    cell = next(cell for cell in job.cells if cell.solver == "case_enumeration")
    return [_aggressive(job.json(item.profile)) for item in cell.equilibria if item.profile]


def _aggressive(document: dict[str, Any]) -> dict[str, dict[str, Fraction]]:
    return {
        player: {
            infoset: Fraction(row.get("bet", row.get("call", 0))) for infoset, row in rows.items()
        }
        for player, rows in document["behavior"].items()
    }


def _relation(
    infoset: str, expected: Callable[[Fraction], Fraction], formula: str
) -> Callable[[Stored], Reading]:
    """Whether a frequency of player 1 follows from α in every listed equilibrium."""

    def read(stored: Stored) -> Reading:
        seen = [(p["P1"]["1:"], p["P1"][infoset]) for p in _profiles(stored)]
        wrong = [pair for pair in seen if pair[1] != expected(pair[0])]
        ours = ", ".join(f"{value} at α = {alpha}" for alpha, value in sorted(set(seen)))
        return holds(not wrong, ours, f"not {formula}", "complete list, exactly")

    return read


def _alpha_range(stored: Stored) -> Reading:
    seen = sorted({p["P1"]["1:"] for p in _profiles(stored)})
    members = stored["two_player_family"].summary["members"]
    inside = all(member["max_regret"] == "0" for member in members)
    listed = ", ".join(map(str, seen))
    ours = f"α = {listed} in the complete list; no regret at {len(members)} α from 0 to 1/3"
    ends = [min(seen), max(seen)]
    return holds(inside and ends == [Fraction(0), Fraction(1, 3)], ours, "another range")


def _second(infoset: str, value: Fraction) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        seen = {p["P2"][infoset] for p in _profiles(stored)}
        ours = ", ".join(map(str, sorted(seen)))
        return holds(seen == {value}, ours, f"not {value} alone", "complete list, exactly")

    return read


def _count(stored: Stored) -> Reading:
    plans = {tuple(sorted(p["P2"].items())) for p in _profiles(stored)}
    ours = f"{len(plans)} strategy of player 2 in the complete list"
    return holds(len(plans) == 1, ours, "more than one strategy of player 2")


def _tree(stored: Stored) -> str:
    return stored["two_player_tree"].printed


def _dotted(stored: Stored) -> Reading:
    """Whether dotted is exactly what no strategy reaches that survives iterated dominance."""
    idle = stored["two_player_family"].summary["idle_edges"]
    drawn = _tree(stored).count('stroke-dasharray="0.1 4"')
    ours = f"{drawn} dotted edges, {idle['dominated']} below dominated moves"
    return holds(
        drawn == idle["count"] == idle["dominated"] == idle["both"],
        ours,
        f"of {idle['count']} edges that are never reached {idle['both']} belong to dominated moves",
        "dotted is what is never reached: the very edges to which no pure strategy leads that is "
        "left when weakly dominated ones are taken away again and again",
    )


def _probabilities(stored: Stored) -> Reading:
    """Whether the profile of the drawn tree has the probabilities of the article's sentences."""
    drawn = _aggressive(stored["two_player_family"].json("alpha_1_6.json"))
    alpha = Fraction(1, 6)
    wanted = {
        "P1": {"1:": alpha, "2:": _ZERO, "3:": 3 * alpha}
        | {"1:KB": _ZERO, "2:KB": alpha + _THIRD, "3:KB": _ONE},
        "P2": {"1:K": _THIRD, "2:K": _ZERO, "3:K": _ONE}
        | {"1:B": _ZERO, "2:B": _THIRD, "3:B": _ONE},
    }
    pairs = [
        (drawn[p][place], value) for p, rows in wanted.items() for place, value in rows.items()
    ]
    right = sum(found == value for found, value in pairs)
    ours = f"{right} of {len(pairs)} probabilities of betting or calling, at α = {alpha}"
    return holds(
        right == len(pairs),
        ours,
        "the tree has others",
        "as in the sentences of the article; its picture is not in the text that we have",
    )


RULES = Part(
    "Rules for two players",
    (
        Claim("deck", "", "three cards, one to each player", _deck),
        *(
            Claim(history, "", says, _rule(history, higher, lower))
            for history, says, higher, lower in _HISTORIES
        ),
    ),
    note="Read off every terminal of the game tree that all solvers work on.",
)

EQUILIBRIA = Part(
    "Equilibria for two players",
    (
        Claim("value for player 1", "", "-1/18", _value(0, Fraction(-1, 18))),
        Claim("value for player 2", "", "+1/18", _value(1, Fraction(1, 18))),
        Claim("pure equilibria", "", "none", _pure),
        Claim("equilibria of player 1", "", "a continuum with one parameter", _one_parameter),
        Claim("α, bet with J", "", "any in [0, 1/3]", _alpha_range),
        Claim("J facing a bet", "", "fold", _relation("1:KB", lambda a: _ZERO, "0")),
        Claim("K, bet", "", "3α", _relation("3:", lambda a: 3 * a, "3α")),
        Claim("Q, bet", "", "never", _relation("2:", lambda a: _ZERO, "0")),
        Claim(
            "Q facing a bet, call",
            "",
            "α + 1/3",
            _relation("2:KB", lambda a: a + _THIRD, "α + 1/3"),
        ),
        Claim("K facing a bet", "", "call", _relation("3:KB", lambda a: _ONE, "1")),
        Claim("player 2's equilibrium strategy", "", "a single one", _count),
        Claim("player 2, K after a check", "", "bet", _second("3:K", _ONE)),
        Claim("player 2, K facing a bet", "", "call", _second("3:B", _ONE)),
        Claim("player 2, Q after a check", "", "check", _second("2:K", _ZERO)),
        Claim("player 2, Q facing a bet", "", "call with 1/3", _second("2:B", _THIRD)),
        Claim("player 2, J after a check", "", "bet with 1/3", _second("1:K", _THIRD)),
        Claim("player 2, J facing a bet", "", "fold", _second("1:B", _ZERO)),
    ),
    note="The complete list of equilibria by enumeration of cases, in fractions. A set of "
    "equilibria is given by its corners and a point inside. J, Q, K are the cards 1, 2, 3.",
)

TREE = Part(
    "The tree for two players",
    (
        Claim("probabilities", "", "those of a mixed equilibrium, on every edge", _probabilities),
        Claim("dotted lines", "", "subtrees of dominated strategies", _dotted),
    ),
    pictures=(
        Picture(
            "The tree with the equilibrium at α = 1/6",
            "Widths are frequencies; what is not reached is dotted. The article leaves α open.",
            _tree,
        ),
    ),
    note="The article's drawing has the same tree with α as a letter.",
)
