"""What Kuhn poker tends to with many cards: payoffs, and strategies against the card's quantile.

    python benchmarks/large_n.py

Card k of N stands at (k - 1/2)/N. For two players on half a street, player 1 checks and player 2
may bet; with hands uniform on [0, 1] this game has a solution in closed form (`limit`), with which
payoffs and thresholds are compared. Three players play the game of Billingham 2018 with one pot,
and what is compared are decks of N and 2N cards: two cards of the larger deck and the card of the
smaller one that has their quantiles. Whatever is shown was polished and verified; with three
players it is the equilibrium to which the homotopy with uniform weights leads, one of several.
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from branches import kuhn, prepared
from measuring import use_one_thread, write_results

if TYPE_CHECKING:
    from eqbench.model.tree import FloatArray

HALF_STREET, HALF_STREET_POTS = (13, 26, 52, 104), (2, 5)
THREE_PLAYERS, POT = (13, 26, 52), 5
EPSILON = 1e-9


class Limit(NamedTuple):
    """The continuous half-street game with a pot and bets of one unit.

    Attributes
    ----------
    calls_above, bets_above, bluffs_below : hands at which players 1, 2 and 2 change
    gain : payoff of player 2
    """

    calls_above: float
    bets_above: float
    bluffs_below: float
    gain: float


def limit(pot: float) -> Limit:
    """Solution for hands x of player 1 and y of player 2, uniform on [0, 1].

    Player 2 bets above v and below b, player 1 calls above c, with b < c < v. At v a call is as
    often worse as better, v = (1 + c)/2. At c a call wins P + 1 from bluffs and loses 1 to the
    others, (P + 1) b = 1 - v. At b a bluff wins P from hands between b and c and loses 1 to those
    that call, P (c - b) = 1 - c. Hence c. Compared with checking, a bet at y > v gains
    (y - c) - (1 - y) and one at y < b gains P (c - y) - (1 - c); the integrals are (1 - c)^2/4 and
    P b^2/2, in all P^2 / (2 (2P + 1) (P + 2)). Between b and v hands of player 1 only beat bluffs,
    and many other choices of those that call are as good, with 1 - c calling in all.
    """
    calls = (3 * pot + 2) / ((2 * pot + 1) * (pot + 2))
    bluffs = (1 - calls) / (2 * (pot + 1))
    gain = pot**2 / (2 * (2 * pot + 1) * (pot + 2))
    return Limit(calls, (1 + calls) / 2, bluffs, gain)


def main() -> None:
    """Solve all games, print one line each, and write the raw results."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    use_one_thread()
    half_street = [half_street_row(n, pot) for pot in HALF_STREET_POTS for n in HALF_STREET]
    solved = {cards: solve(kuhn(cards, POT), POT) for cards in THREE_PLAYERS}
    write_results(
        "large_n",
        {
            "epsilon": EPSILON,
            "half_street": half_street,
            "limits": {str(pot): limit(pot)._asdict() for pot in HALF_STREET_POTS},
            "pot": POT,
            "three_players": [three_player_row(*entry) for entry in solved.items()],
            "agreement": [
                {"cards": list(pair), "nodes": agreement(*(solved[n] for n in pair))}
                for pair in itertools.pairwise(THREE_PLAYERS)
            ],
        },
    )


class Solved(NamedTuple):
    """An equilibrium with its verified measures."""

    game: Any
    behavior: FloatArray
    payoffs: list[float]
    max_regret: float
    cpu_s: float


def solve(spec: str, pot: float) -> Solved:
    """The polished end of the homotopy with uniform weights."""
    from eqbench.model.profile import BehaviorProfile
    from eqbench.registry import load_game
    from eqbench.verification import verify

    game = load_game(spec)
    continuation = prepared(game, EPSILON).continuation(game)
    begin = time.process_time()
    behavior, _ = continuation.polish(continuation.start(float(pot)), float(pot))
    cpu_s = time.process_time() - begin
    measured = verify(game.tree, BehaviorProfile.of(game.tree, behavior))
    payoffs = [float(payoff) for payoff in measured.payoffs]
    print(f"{spec}: {payoffs}, max regret {measured.max_regret:.1e}, {cpu_s:.1f} s", flush=True)
    return Solved(game, behavior, payoffs, float(measured.max_regret), cpu_s)


def half_street_row(cards: int, pot: int) -> dict[str, Any]:
    """Payoff of player 2 and thresholds: shares of hands that call, bet for value and bluff."""
    solved = solve(f"kuhn(players=2,cards={cards},pot={pot},reduce=half_street)", pot)
    bets, calls = (frequencies_after(solved, history) for history in ("K", "KB"))
    middle = cards // 2
    return {
        "cards": cards,
        "pot": pot,
        "gain": solved.payoffs[1],
        "calls_above": 1 - calls.mean(),
        "bets_above": 1 - bets[middle:].sum() / cards,
        "bluffs_below": bets[:middle].sum() / cards,
        "max_regret": solved.max_regret,
    }


def frequencies_after(solved: Solved, history: str) -> FloatArray:
    """How often each card bets or calls after a history, float64 (N,)."""
    import numpy as np

    tree, found = solved.game.tree, {}
    for i, label in enumerate(tree.infoset_labels):
        card, _, seen = label.partition(":")
        if seen == history:
            names = tree.infoset_actions[i]
            last = solved.behavior[tree.action_start[i] + len(names) - 1]
            found[int(card)] = last if names[-1] in ("bet", "call") else 0.0
    return np.array([found[card] for card in sorted(found)])


def three_player_row(cards: int, solved: Solved) -> dict[str, Any]:
    """Payoffs of an equilibrium of three players."""
    return {
        "cards": cards,
        "payoffs": solved.payoffs,
        "max_regret": solved.max_regret,
        "cpu_s": solved.cpu_s,
    }


def agreement(small: Solved, large: Solved) -> list[dict[str, Any]]:
    """How far frequencies by quantile differ at each of the twelve nodes.

    How many hands bet or call in all, by the share that is still held there; and the mean of the
    difference at equal quantiles.
    """
    import numpy as np

    from eqbench.equilibria.kuhn_ranges import NODES, KuhnNodes, held

    both = []
    for solved in (small, large):
        aggression = KuhnNodes.of(solved.game.tree).aggression(solved.behavior)
        both.append((held(aggression) * aggression).reshape(len(NODES), -1))
    ours, theirs = both
    pairs = theirs.reshape(len(NODES), ours.shape[1], -1).mean(axis=2)
    difference = np.abs(pairs - ours).mean(axis=1)
    return [
        {
            "node": row + 1,
            "shares": [float(ours[row].mean()), float(theirs[row].mean())],
            "mean_difference": float(difference[row]),
        }
        for row in range(len(NODES))
    ]


if __name__ == "__main__":
    main()
