"""What our stored results say on the claims of the article."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from eqbench.papers.checks import Finding, Interval
from eqbench.papers.stored import Stored

Play = dict[str, dict[str, Fraction]]  # how often each player is aggressive, by information set


def deck(stored: Stored) -> dict[str, list[int]]:
    """Cards and deals of each game."""
    deals = {tuple(hand["cards"]) for hand in stored["two_player_rules"].summary["hands"]}
    three = stored["two_player_rules"].summary["sizes"]["three players"]
    return {
        "two players": [len({card for deal in deals for card in deal}), len(deals)],
        "three players": [three["cards"], three["deals"]],
    }


def pays(stored: Stored) -> dict[str, list[str]]:
    """Payoffs of both players with the higher card and with the lower one, by history."""
    found: dict[str, set[tuple[bool, str]]] = {}
    for hand in stored["two_player_rules"].summary["hands"]:
        higher = hand["cards"][0] > hand["cards"][1]
        found.setdefault(hand["history"], set()).add((not higher, "/".join(hand["payoffs"])))
    return {history: [payoffs for _, payoffs in sorted(kinds)] for history, kinds in found.items()}


def pure(stored: Stored) -> float:
    """The smallest max regret of all profiles in which nobody mixes."""
    return float(stored["two_player_rules"].summary["pure"]["smallest_max_regret"])


def value(stored: Stored) -> dict[str, set[Fraction]]:
    """Payoffs of each player over all equilibria found: exactly, and rounded to 12 digits."""
    cells = stored["two_player_equilibria"].cells
    return {
        f"player {player + 1}": {
            *(Fraction(e.exact["payoffs"][player]) for c in cells for e in c.equilibria if e.exact),
            *(
                Fraction(cell.payoffs[player]).limit_denominator(10**6)
                for cell in cells
                if cell.payoffs
            ),
        }
        for player in (0, 1)
    }


def listed(stored: Stored) -> dict[str, Any]:
    """The complete list of equilibria: its points, and how frequencies follow from α."""
    profiles = sorted(_profiles(stored), key=lambda play: play["P1"]["1:"])
    alphas = [play["P1"]["1:"] for play in profiles]

    def follows(infoset: str, slope: int, start: Fraction = Fraction(0)) -> Finding:
        values = [play["P1"][infoset] for play in profiles]
        agree = all(v == start + slope * alpha for v, alpha in zip(values, alphas, strict=True))
        return Finding(agree, dict(zip(alphas, values, strict=True)))

    second = {infoset: {play["P2"][infoset] for play in profiles} for infoset in profiles[0]["P2"]}
    return {
        "one segment": Finding(len(set(alphas)) > 2 and _on_a_line(profiles), {"α": alphas}),
        "α": alphas,
        "3α with K": follows("3:", 3),
        "α + a third with Q": follows("2:KB", 1, Fraction(1, 3)),
        "player 1": {
            infoset: {play["P1"][infoset] for play in profiles}
            for infoset in ("1:KB", "2:", "3:KB")
        },
        "player 2": second,
        "strategies of player 2": len({tuple(play["P2"].items()) for play in profiles}),
    }


def family(stored: Stored) -> dict[str, set[Fraction]]:
    """Max regrets of Kuhn's family at values of α from 0 to 1/3."""
    members = stored["two_player_family"].summary["members"]
    return {"regrets": {Fraction(member["max_regret"]) for member in members}}


def alpha(stored: Stored) -> Finding:
    """The range of α, if the family has no regret anywhere in it."""
    alphas = listed(stored)["α"]
    return Finding(
        [min(alphas), max(alphas), max(family(stored)["regrets"])],
        {"listed": alphas, "largest regret of the family": max(family(stored)["regrets"])},
    )


def _profiles(stored: Stored) -> list[Play]:
    job = stored["two_player_equilibria"]
    cell = next(cell for cell in job.cells if cell.solver == "case_enumeration")
    return [_aggressive(job.json(item.profile)) for item in cell.equilibria if item.profile]


def _aggressive(document: dict[str, Any]) -> Play:
    return {
        player: {
            infoset: Fraction(row.get("bet", row.get("call", 0))) for infoset, row in rows.items()
        }
        for player, rows in document["behavior"].items()
    }


def _on_a_line(profiles: list[Play]) -> bool:
    """Whether profiles lie on a straight line, in the order of α."""
    points = [[v for rows in play.values() for v in rows.values()] for play in profiles]
    first, last = points[0], points[-1]
    alphas = [play["P1"]["1:"] for play in profiles]
    return all(
        (b - a) * (alpha - alphas[0]) == (value - a) * (alphas[-1] - alphas[0])
        for alpha, point in zip(alphas, points, strict=True)
        for a, value, b in zip(first, point, last, strict=True)
    )


def drawn_tree(stored: Stored) -> str:
    """The tree as a picture."""
    return stored["two_player_tree"].printed


def tree(stored: Stored) -> dict[str, Any]:
    """Edges of the drawn tree, and the probabilities of its profile."""
    idle = stored["two_player_family"].summary["idle_edges"]
    dotted = drawn_tree(stored).count('stroke-dasharray="0.1 4"')
    play = _aggressive(stored["two_player_family"].json("alpha_1_6.json"))
    return {
        "dotted": Finding(
            len({dotted, *idle.values()}) == 1, {"dotted edges": dotted, "by play": idle}
        ),
        "frequencies": [
            *(play["P1"][at] for at in ("1:", "2:", "3:", "1:KB", "2:KB", "3:KB")),
            *(play["P2"][at] for at in ("1:K", "2:K", "3:K", "1:B", "2:B", "3:B")),
        ],
    }


def rules_of_three(stored: Stored) -> dict[str, Any]:
    """Share of hands that go and pay by the rules, and the number of ways to bet."""
    found = stored["two_player_rules"].summary["three_players"]
    return {
        "betting": [Fraction(found["bet_by_rules"], found["hands"]), len(found["histories"])],
        "showdown": Fraction(found["paid_by_rules"], found["hands"]),
    }


def parameters(stored: Stored) -> dict[str, list[int]]:
    """Least and largest number of parameters of a part, all and without those that are idle."""
    sets = stored["three_player_family"].summary["sets"]
    free = [len(one["parameters"]) for one in sets]
    matter = [len(one["parameters"]) - len(one["idle"]) for one in sets]
    return {"all": [min(free), max(free)], "not idle": [min(matter), max(matter)]}


def members(stored: Stored) -> dict[str, Any]:
    """What members of the family of three players have in common, exactly."""
    corners = [c for one in stored["three_player_family"].summary["sets"] for c in one["corners"]]
    payoffs = [[Fraction(value) for value in corner["payoffs"]] for corner in corners]
    betas = [Fraction(corner["beta"]).limit_denominator(1000) for corner in corners]
    strategies = {tuple(corner["player_1"]) for corner in corners}
    gaps = [u[0] - u[1] for u in payoffs]
    without_regret = {corner["max_regret"] for corner in corners} == {"0"}
    equal = [c["max_regret"] == "0" for c, gap in zip(corners, gaps, strict=True) if gap == 0]
    beyond = Fraction(stored["three_player_family"].summary["beyond"]["max_regret"])

    def formula(player: int, start: Fraction, slope: Fraction) -> Finding:
        agree = all(
            u[player] == start + slope * beta for u, beta in zip(payoffs, betas, strict=True)
        )
        return Finding(
            agree, Interval(min(u[player] for u in payoffs), max(u[player] for u in payoffs))
        )

    return {
        # actions stand in pairs, check before bet; the four openings come first
        "player 1": Finding(
            [len(strategies), all(s[place] == "1" for s in strategies for place in (0, 2, 4, 6))],
            {"strategies": len(strategies), "members": len(corners)},
        ),
        "u1": formula(0, Fraction(-1, 48), Fraction(-2, 48)),
        "u2": {u[1] for u in payoffs},
        "u3": formula(2, Fraction(1, 24), Fraction(1, 24)),
        "u1 − u2": gaps,
        "equal payoffs without regret": bool(equal) and all(equal),
        "shift": Finding(
            without_regret
            and len({u[0] + u[2] for u in payoffs}) == len({u[1] for u in payoffs}) == 1
            and len({u[0] for u in payoffs}) > 1,
            {"u1 + u3": {u[0] + u[2] for u in payoffs}, "u2": {u[1] for u in payoffs}},
        ),
        "β": [min(betas), max(betas)],
        "no regret up to the largest β, regret beyond": without_regret and beyond > 0,
    }
