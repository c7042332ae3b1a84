"""Sections 1 to 3: the game, Table 1 and Figures 1 and 2."""

from __future__ import annotations

from eqbench.papers.claims import Claim, Part, Picture, Reading, holds, not_attempted
from eqbench.papers.stored import Stored
from eqbench.papers.szafron.notation import SITUATIONS
from eqbench.papers.szafron.readings import Read, equal, file_picture, same, statement

_TOO_LARGE = (
    "another game, Texas hold'em, whose rules the paper does not state; no tree of this size can "
    "be built here"
)
# player 1 has the 1 and never calls; player 3 has the 4 and never folds
_UNREACHED_124 = ("BFF", "BCF", "KBF", "KBFF", "KBFC", "KBCC", "KKBC", "KKBCF", "KKBCC")
_ABOU_RISK = 0.0045  # max regret that Ganzfried (2025, §1) quotes from Abou Risk and Szafron (2010)
_FAR = 0.05  # max regret of what has not converged; payoffs are from 0 to 1


def _situation(letter: str, history: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["rules"].summary["situations"][letter]
        text = history or "the beginning"
        return holds(
            history in found and len(found) == len(SITUATIONS[letter][1]),
            text if history in found else "none",
            f"the game has {', '.join(found)}",
        )

    return read


def _size(name: str, theirs: int) -> Read:
    def read(stored: Stored) -> Reading:
        return equal(theirs, stored["game"].printed_json["sizes"][name])

    return read


def _leaf(history: str, theirs: tuple[str, ...]) -> Read:
    def read(stored: Stored) -> Reading:
        return equal(list(theirs), stored["rules"].summary["leaves"].get(history, []))

    return read


def _deals(stored: Stored) -> Reading:
    found = stored["rules"].summary
    ours = f"{len(found['deals'])} deals, each with probability {', '.join(found['chances'])}"
    return holds(len(found["deals"]) == 24 and found["chances"] == ["1/24"], ours, "other deals")


def _zero_sum(stored: Stored) -> Reading:
    sums = stored["rules"].summary["sums"]
    return holds(sums == ["0"], f"sums of the payoffs at all leaves: {', '.join(sums)}", "not 0")


def _subtree(stored: Stored) -> Reading:
    leaves = stored["rules"].summary["leaves"]
    return holds(len(leaves) == 13, f"{len(leaves)} leaves: {', '.join(leaves)}", "not 13 leaves")


def _cut(stored: Stored) -> Reading:
    found, wanted = stored["rules"].summary["unreached_124"], set(_UNREACHED_124)
    missing, more = sorted(wanted - set(found)), sorted(set(found) - wanted)
    by = f"missing: {', '.join(missing) or 'none'}; too many: {', '.join(more) or 'none'}"
    return holds(not missing and not more, f"never reached in deal 124: {', '.join(found)}", by)


def _figure_2(stored: Stored) -> Reading:
    found = stored["rules"].summary
    ours = f"after {', '.join(found['labels_c43'])} in deals {', '.join(found['histories_c43'])}"
    wanted = ["124", "134", "214", "234", "314", "324"]
    return holds(
        found["histories_c43"] == wanted and found["labels_c43"] == ["BF"],
        ours,
        "another information set",
    )


def _cfr(stored: Stored) -> Reading:
    cell = stored["cfr"].cells[0]
    regret = cell.max_regret
    if regret is None:
        return not_attempted(f"the run ended as {cell.status}: {cell.reason}")
    return holds(
        regret <= _ABOU_RISK,
        f"max regret {regret:.2g} after {cell.iterations:,} iterations",
        f"{regret / _ABOU_RISK:.2g} times theirs",
    )


def _no_guarantee(stored: Stored) -> Reading:
    cell = stored["cfr_shapley"].cells[0]
    regret = cell.max_regret
    if regret is None:
        return not_attempted(f"the run ended as {cell.status}: {cell.reason}")
    return holds(
        regret > _FAR,
        f"on Shapley's game the max regret is still {regret:.2g} after {cell.iterations:,} "
        "iterations",
        f"on Shapley's game it comes down to {regret:.1e}",
    )


def _mccfr(stored: Stored) -> Reading:
    found = stored["open_question"].summary["unfinished"]
    runs = found["solvers"].get("mccfr(start=random)", [])
    if not runs:
        return not_attempted("no run of MCCFR ended with a profile that is still inexact")
    distance, at_random = max(run["distance"] for run in runs), found["at_random"]
    regret = max(run["max_regret"] for run in runs)
    return holds(
        distance < at_random / 10,
        f"{len(runs)} run{'s' if len(runs) > 1 else ''}: max regret up to {regret:.1e}, outcomes "
        f"within {distance:.1e} of a member's",
        f"profiles at random come as near as {at_random:.1e}",
        f"the nearest of 20 random profiles is {at_random:.1e} away",
    )


INTRODUCTION = Part(
    title="Section 1: what is said about other games and about CFR",
    claims=(
        statement(
            "Two-player limit Texas hold'em, information sets",
            "3 × 10^14",
            lambda stored: not_attempted(_TOO_LARGE),
        ),
        statement(
            "Three-player limit Texas hold'em, information sets",
            "5 × 10^17",
            lambda stored: not_attempted(_TOO_LARGE),
        ),
        statement("CFR in games that are not zero-sum", "no guarantee to converge", _no_guarantee),
        statement(
            "CFR on three-player Kuhn poker (Abou Risk and Szafron 2010)",
            "finds approximate equilibria; 0.0045 is the most that anybody gains",
            _cfr,
        ),
        statement(
            "Origin of Table 3 (§5)",
            "seen in solutions of Monte Carlo CFR with different random seeds",
            _mccfr,
        ),
    ),
    note=(
        "That a guarantee is missing is shown by a game of two players that is not zero-sum, with "
        "payoffs 0 and 1: CFR from a random start, stopped after a second. "
        "The paper itself prints no figure for CFR: 0.0045 is in the publication that it cites, as "
        "quoted by Ganzfried (2025, §1). Ours is plain CFR from uniform play, stopped when nobody "
        "gains more than that. For Monte Carlo CFR (external sampling, random starts) we ask how "
        "near the average profile comes to the family in the probability of any outcome; near "
        "means ten times nearer than any of 20 random profiles."
    ),
)

GAME = Part(
    title="Sections 2 and 3: the game",
    claims=(
        statement("Players", "3", _size("players", 3)),
        statement("Hand combinations", "24, each with κ = 1/24", _deals),
        statement("Chance nodes", "1, the root", _size("chance nodes", 1)),
        statement(
            "Information sets, 3 players × 4 cards × 4 situations",
            "48",
            _size("information sets", 48),
        ),
        statement("Independent parameters of a profile", "48", _size("free frequencies", 48)),
        statement(
            "Actions at each information set",
            "check or bet, fold or call",
            same("rules", ["check / bet", "fold / call"], "actions"),
        ),
        statement("Deal 124, KBFC (the leaf a13)", "−2, 3, −1", _leaf("KBFC", ("-2", "3", "-1"))),
        statement(
            "Contribution of that leaf to u1",
            "−2κ (1 − a11) b21 (1 − c42) a13",
            same("rules", "−2κ (1 − a11) b21 (1 − c42) a13", "share_of_a13"),
        ),
        statement(
            "Deal 124, nobody bets: the winner gets 3 chips",
            "−1, −1, 2",
            _leaf("KKK", ("-1", "-1", "2")),
        ),
        statement(
            "Deal 124, bet that nobody calls wins the pot",
            "2, −1, −1",
            _leaf("BFF", ("2", "-1", "-1")),
        ),
        statement("Payoffs of a poker hand", "chips won are lost by others", _zero_sum),
    ),
    note="Ours is the tree of the game kuhn3, as every solver and the verifier see it.",
)

TABLE_1 = Part(
    title="Table 1: betting situations",
    claims=tuple(
        Claim(
            f"Situation {k + 1}",
            player,
            histories[k] or "– (the beginning)",
            _situation(letter, histories[k]),
        )
        for k in range(4)
        for letter, (player, histories) in SITUATIONS.items()
    ),
    note="K check, B bet, F fold, C call. Ours are the histories of the information sets of kuhn3.",
)

FIGURE_1 = Part(
    title="Figure 1: a part of the game tree",
    claims=(
        statement("Subtree of a deal", "all ways to bet, each with three payoffs", _subtree),
        statement(
            "Nodes marked ∅ in deal 124",
            "not reached if nobody breaks Table 2",
            _cut,
        ),
    ),
    pictures=(
        file_picture(
            "Figure 1, deal 124",
            "The subtree that the paper shows: player 1 has card 1, player 2 card 2, player 3 card "
            "4. Dotted is what Table 2 leaves unreached, where the paper has ∅; the other "
            "frequencies are 1/2.",
            "rules",
            "figure_1.svg",
        ),
        Picture(
            "The whole tree",
            "All 24 deals, 601 nodes, drawn by eqbench draw, with the same frequencies.",
            lambda stored: stored["draw"].printed,
        ),
    ),
    note=(
        "The marks and the figures of the drawing are lost in our text of the paper; what they "
        "stand for is in its words, and that is compared."
    ),
)

FIGURE_2 = Part(
    title="Figure 2: the information set of c43",
    claims=(
        statement(
            "Nodes in I(c43)", "player 3 with card 4 after bet and fold, others unknown", _figure_2
        ),
    ),
    pictures=(
        file_picture(
            "Figure 2",
            "Six deals in which player 3 has card 4, after player 1 bets and player 2 folds; the "
            "longest dashed line joins the information set. Other branches are left out.",
            "rules",
            "figure_2.svg",
        ),
    ),
)

PARTS = (INTRODUCTION, GAME, TABLE_1, FIGURE_1, FIGURE_2)
