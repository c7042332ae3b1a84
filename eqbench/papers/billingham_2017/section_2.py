"""Section 2 and Figure 1: the rules, and what the simplification rests on."""

from __future__ import annotations

from collections.abc import Callable

from eqbench.papers.billingham_2017.found import NAMES, PLACES, ROUNDING
from eqbench.papers.claims import Claim, Part, Picture, Reading, holds
from eqbench.papers.stored import Stored

CARDS = {"2": "Q", "3": "K", "4": "A"}
# what Figure 1 has at its nodes: the history, who decides, and the frequencies with Q, K and A
NODES = (
    *(("", 1, "b1, 0, a1"), ("K", 2, "b2, 0, a2"), ("KK", 3, "b3, 0, 1"), ("KKB", 1, "0, c1, 1")),
    *(("KKBF", 2, "0, d2, 1"), ("KKBC", 2, "0, 0, 1"), ("KB", 3, "0, c3, 1")),
    *(("KBF", 1, "0, d1, 1"), ("KBC", 1, "0, 0, 1"), ("B", 2, "0, c2, 1")),
    *(("BF", 3, "0, d3, 1"), ("BC", 3, "0, 0, 1")),
)
_SPOKEN = {"K": "check", "B": "bet", "F": "fold", "C": "call"}


def _sizes(job: str, key: str, theirs: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        ours = stored[job].printed_json["sizes"][key]
        return holds(ours == theirs, f"{ours} {key}", f"{ours - theirs:+}")

    return read


def _counted(key: str, theirs: int, thing: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        ours = stored["rules"].summary[key]
        return holds(ours == theirs, f"{ours} {thing}", f"{ours - theirs:+}")

    return read


def _passive_j(stored: Stored) -> Reading:
    choices = {k: v for k, v in stored["rules"].summary["actions"].items() if k.startswith("1:")}
    passive = all(actions in (["check"], ["fold"]) for actions in choices.values())
    ours = f"{len(choices)} information sets with J have no other action"
    return holds(passive, ours, "at some of them it may bet or call")


def _aces_beside_k(stored: Stored) -> Reading:
    found = stored["rules"].summary["beside_k"]
    ours = "; ".join(
        f"player {player}: A with another in {aces} of {deals} deals"
        for player, (deals, aces) in enumerate(found, 1)
    )
    return holds(all(3 * aces == 2 * deals > 0 for deals, aces in found), ours, "another share")


def _dominated(*names: str) -> Callable[[Stored], Reading]:
    """Whether alternatives never gain against the better ones, and each loses somewhere."""

    def read(stored: Stored) -> Reading:
        found = stored["rules"].summary
        gains = [found["gains"][name] for name in names]
        low, high = min(gain[0] for gain in gains), max(gain[1] for gain in gains)
        least = 0.0 if abs(low) <= ROUNDING else low
        ours = f"24 E falls by {least:.3g} to {high:.3g} at pots {', '.join(found['pots'])}"
        strict = all(gain[1] > ROUNDING for gain in gains)
        return holds(least >= 0 and strict, ours, f"somewhere it gains {-low:.3g}, or never loses")

    return read


def _below_two(stored: Stored) -> Reading:
    found = stored["rules"].summary["below_two"]
    largest = max(max(row["largest"].values()) for row in found.values())
    complete = all(row["complete"] for row in found.values())
    ours = (
        f"in all equilibria at pots {', '.join(found)}, bets and calls with Q or K have "
        f"frequency {largest:.3g}"
    )
    return holds(complete and largest <= ROUNDING, ours, "such a bet or call occurs")


RULES = Part(
    title="Section 2: the game",
    note=(
        "Sizes are those of the game as built. For dominance, payoffs in full Kuhn poker are "
        "compared against all pure choices that the others have in the simplified game; a player "
        "who checks with K calls later. At pots below 2 all equilibria are enumerated."
    ),
    claims=(
        Claim(
            "Deals", "", "24 distinct deals of three of the four cards",
            _counted("deals", 24, "deals"),
        ),
        Claim(
            "Frequencies, simplified game", "", "11 nontrivial betting frequencies",
            _sizes("game", "free frequencies", 11),
        ),
        Claim(
            "Frequencies, standard game", "", "23 nontrivial betting frequencies",
            _sizes("full_game", "free frequencies", 23),
        ),
        Claim("J", "", "must be checked and folded at each decision", _passive_j),
        Claim(
            "Pots below 2", "", "no incentive to bet or call with worse than A", _below_two
        ),
        *(
            Claim(
                f"Betting with K, player {player}", "", "dominated by checking",
                _dominated(f"bet K, P{player}"),
            )
            for player in (1, 2, 3)
        ),
        Claim(
            "Who holds K", "", "two thirds of the time another player holds A", _aces_beside_k
        ),
        *(
            Claim(
                f"After a bet and a call, player {player}", "", "calls only with A",
                _dominated(f"overcall K, P{player}", f"overcall Q, P{player}"),
            )
            for player in (1, 2, 3)
        ),
        Claim(
            "Player 3 with A after two checks", "", "betting dominates checking: a3 = 1",
            _dominated("check A, P3"),
        ),
    ),
)  # fmt: skip


def _node(history: str, player: int, printed: str) -> Claim:
    spoken = ", ".join(_SPOKEN[letter] for letter in history) or "at first"
    named = {(place[0], place[1]): name for name, place in PLACES.items()}

    def read(stored: Stored) -> Reading:
        actions = stored["rules"].summary["actions"]
        shown = []
        for card in CARDS:
            choice = actions[f"{card}:{history}"]
            only = str(int(choice[-1] in ("bet", "call")))
            shown.append(named[f"P{player}", f"{card}:{history}"] if len(choice) > 1 else only)
        ours = ", ".join(shown)
        return holds(ours == printed, ours, "another set of choices")

    return Claim(f"After {spoken}" if history else "At first", f"player {player}", printed, read)


def _all_drawn(stored: Stored) -> Reading:
    drawn = stored["tree"].printed
    missing = [name for name in NAMES if f">{PLACES[name][1]}<" not in drawn]
    nodes = stored["game"].printed_json["sizes"]["nodes"]
    ours = f"{len(NAMES) - len(missing)} of them are labels in the drawing, of {nodes} nodes"
    return holds(not missing, ours, f"{', '.join(missing)} missing")


FIGURE_1 = Part(
    title="Figure 1: the decision tree",
    note=(
        "Theirs has one node for each sequence of public actions; `eqbench draw` draws the game "
        "tree with its 24 deals, so a node of theirs is a set of nodes of ours. Cells have the "
        "frequencies of betting or calling with Q, K and A."
    ),
    claims=(
        Claim(
            "Open circles", "", "12 decision nodes",
            _counted("decisions", 12, "sequences of public actions after which somebody decides"),
        ),
        Claim(
            "Solid circles", "", "13 terminal nodes",
            _counted("ends", 13, "sequences of public actions that end a hand"),
        ),
        Claim("Frequencies", "", "11 frequencies at the nodes", _all_drawn),
        *(_node(*node) for node in NODES),
    ),
    pictures=(
        Picture(
            "Figure 1",
            "The game tree at pot 3, from the deal on the left; dashed lines join nodes that a "
            "player cannot tell apart. Labels are card (1 = J to 4 = A) and history (K check, "
            "B bet, F fold, C call).",
            lambda stored: stored["tree"].printed,
        ),
    ),
)  # fmt: skip
