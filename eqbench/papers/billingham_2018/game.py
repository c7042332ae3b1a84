"""Section 2: the game, its dominated actions, and the smallest pot with a profit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqbench.papers.billingham_2018.jobs import COUNTED, DECKS
from eqbench.papers.billingham_2018.readings import (
    EXACT,
    at,
    drawn,
    rounding,
    statement,
    worst_regret,
)
from eqbench.papers.claims import Claim, Part, Reading, differs, holds, number, reproduced
from eqbench.papers.stored import Stored


def _size(job: str, name: str, theirs: int) -> Callable[[Stored], Reading]:
    return lambda stored: number(theirs, stored[job].printed_json["sizes"][name], 0)


_FREE = "free frequencies"


def _without_bets(stored: Stored) -> Reading:
    found = _size("info_4_dominated25", _FREE, 23)(stored)
    how = (
        "with bets of card 3 at nodes 1, 2 and 3 left out too, which are not dominated by "
        "themselves: see N = 4, second-best card"
    )
    return reproduced(found.ours, how) if found.verdict == "reproduced" else found


NUMBERS = Part(
    title="Section 2: numbers of betting frequencies",
    claims=(
        *(
            claim
            for n in COUNTED
            for claim in (
                Claim(f"N = {n}", "all (12N)", str(12 * n), _size(f"info_{n}", _FREE, 12 * n)),
                Claim(
                    f"N = {n}",
                    "not fixed by dominance (12N - 22)",
                    str(12 * n - 22),
                    _size(f"info_{n}_reduced", _FREE, 12 * n - 22),
                ),
            )
        ),
        Claim("N = 4", "every dominated one left out", "23", _without_bets),
        Claim("simplified Kuhn poker", "all", "11", _size("info_skp", _FREE, 11)),
    ),
    note="Free frequencies of the games that eqbench builds; 23 and 11 are printed as they are.",
)


def _tree(stored: Stored) -> Reading:
    facts = stored["rules"].summary
    ours = (
        f"{facts['nodes']} decision nodes, {' + '.join(map(str, facts['nodes_of_players']))} by "
        f"player; {facts['outcomes']} ways to end"
    )
    right = (facts["nodes"], facts["nodes_of_players"]) == (12, [4, 4, 4])
    return holds(right, ours, "another tree")


def _zero_sum(stored: Stored) -> Reading:
    largest = stored["rules"].summary["largest_sum_of_payoffs"]
    return holds(largest <= EXACT, f"sum of payoffs at most {largest:g}", f"off by {largest:g}")


def _linear(stored: Stored) -> Reading:
    facts = stored["rules"].summary["multilinear"]
    bend = facts["bend"]
    ours = f"at one half it is the mean of the ends within {rounding(bend)}"
    detail = f"{facts['frequencies']} frequencies of a random profile"
    return holds(bend <= EXACT, ours, f"off by {bend:.1e}", detail)


def _fixed(stored: Stored) -> Reading:
    cases = stored["rules"].summary["fixed"]
    ours = "; ".join(
        f"N = {c['cards']}: {c['dominated']} of {c['deleted']}" for c in cases if c["pot"] == 3
    )
    right = all(c["deleted"] == c["dominated"] == 22 for c in cases)
    detail = "each is no better at any node of its information set, whatever follows; pots 1, 3, 16"
    return holds(right, ours, "not all are dominated", detail)


def _second_best(stored: Stored) -> Reading:
    cases = stored["rules"].summary["second_best"]

    def text(*, caught: bool) -> str:
        chosen = [c for c in cases if c["caught"] == caught]
        least = [min(c["advantage"] for c in chosen if c["node"] == n) for n in (1, 2, 3)]
        return ", ".join(f"{round(value, 3) + 0.0:.3f}" for value in least)

    ours = f"least advantage of the best check at nodes 1, 2, 3: {text(caught=True)}"
    if all(c["advantage"] >= -EXACT for c in cases):
        return reproduced(ours)
    return differs(
        ours,
        "against opponents who call with card 2 betting card 3 is better than every check; if they "
        f"never do so, the least advantage is {text(caught=False)}",
    )


GAME = Part(
    title="Section 2: the game and its decision tree",
    claims=(
        statement("decision tree", "12 nodes, four for each player", _tree),
        statement("values of the players", "their sum is zero", _zero_sum),
        statement("value of a player", "linear in each of the frequencies", _linear),
        statement(
            "dominated strategies",
            "the best card bets or calls at nodes 3 to 12, the worst folds at 4 to 12, the second "
            "worst at 6, 9 and 12: 22 frequencies",
            _fixed,
        ),
        statement(
            "N = 4, second-best card",
            "checking it dominates betting it at nodes 1, 2 and 3",
            _second_best,
        ),
    ),
    pictures=(
        drawn(
            "Decision tree",
            "Nodes carry the paper's numbers; squares are ends of a hand.",
            "figures",
            "tree.svg",
        ),
    ),
    note="Dominance is tested node by node on the payoffs of the trees of 4 to 7 cards. For the "
    "second-best card, the mixture of checks and later calls with the largest worst advantage "
    "over a bet is found by a linear program over all pure strategies of the opponents that use "
    "no action deleted before.",
)


def _border(cards: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        theirs = 2 / (cards - 3)
        pieces = stored[f"n{cards}"].summary["vertical"]
        if not pieces:
            return differs("no vertical piece found", "the regularization is too strong to see it")
        nearest: dict[str, Any] = min(pieces, key=lambda p: abs(p["parameter"] - theirs))
        return number(theirs, nearest["parameter"], 1e-8, digits=10)

    return read


def _profit(cards: int, *, above: bool) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        pot = float(DECKS[cards].above if above else DECKS[cards].below)
        entry = at(stored, f"n{cards}", pot)
        largest = max(abs(u) for item in entry["equilibria"] for u in item["payoffs"])
        regret = worst_regret(entry)
        ours = f"at {pot:g}: {rounding(largest)}, regret {rounding(regret)}"
        if regret > EXACT:
            return differs(ours, "the point did not polish to an equilibrium")
        right = largest > 1e-6 if above else largest <= EXACT
        return holds(right, ours, "no profit" if above else "a profit")

    return read


def _deals(stored: Stored) -> Reading:
    rows = stored["rules"].summary["deals"]
    right = all(abs(row["even_pot"] - 2 / (row["cards"] - 3)) <= EXACT for row in rows)
    ours = "; ".join(
        f"N = {r['cards']}: {r['lowest'] - r['without_highest']}/{r['without_highest']}"
        for r in rows[:4]
    )
    return holds(
        right, f"{ours}; …", "another ratio", f"N = {rows[0]['cards']} to {rows[-1]['cards']}"
    )


# the weak barrier that 52 cards allow hides the border
_BORDERS = tuple(cards for cards in DECKS if cards <= 13)
P_MIN = Part(
    title="Section 2: the smallest pot with a profit, P_min = 2/(N - 3)",
    claims=(
        Claim(
            "argument",
            "P_min",
            "deals with the lowest card where the highest is out, over those where it is not",
            _deals,
        ),
        *(
            claim
            for n in _BORDERS
            for claim in (
                Claim(f"N = {n}", "P_min", f"{2 / (n - 3):.10g}", _border(n)),
                Claim(f"N = {n}", "largest payoff below it", "0", _profit(n, above=False)),
                Claim(f"N = {n}", "largest payoff above it", "not 0", _profit(n, above=True)),
            )
        ),
        Claim("N = 26", "largest payoff below it", "0", _profit(26, above=False)),
        Claim("N = 26", "largest payoff above it", "not 0", _profit(26, above=True)),
    ),
    note="At P_min the branch stands still: that pot is read off the polished points of its "
    "vertical piece. Payoffs are those of equilibria on the branch, polished and verified at a "
    "pot within a few percent of P_min. The formula itself is reconstructed from the argument.",
)
