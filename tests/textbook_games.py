"""Games of textbooks and of the literature on refinements, written as nested moves.

Most stand in a table, with what is known of their equilibria; those that repeat a pattern are made
here. A text of numbers is an end with its payoffs. A pair is a node: the label of its information
set, which begins with the number of its player, and what follows each action. At a chance node the
label is empty, and actions end with their probabilities.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from eqbench.model.builder import Place, TreeBuilder
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.model.trembles import Trembles

Node: TypeAlias = "str | tuple[str, Mapping[str, Node]]"
TABLE = Path(__file__).parent / "data" / "textbooks.toml"
BOOKS: dict[str, dict[str, Any]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))


def tree_of(root: Node) -> GameTree:
    """The game tree of nested moves."""
    end = root
    while not isinstance(end, str):
        end = next(iter(end[1].values()))
    builder = TreeBuilder([f"P{i + 1}" for i in range(len(end.split()))])

    def grow(place: Place, node: Node) -> None:
        if isinstance(node, str):
            builder.terminal(place, [Fraction(value) for value in node.split()])
            return
        label, moves = node
        if label:
            here = builder.decision(place, int(label[0]) - 1, label, list(moves))
        else:
            here = builder.chance(place, [Fraction(move.split()[-1]) for move in moves])
        for move, after in enumerate(moves.values()):
            grow((here, move), after)

    grow(None, root)
    return builder.tree()


def matrix(rows: str) -> Node:
    """P1 chooses a row and P2, who does not see it, a column; payoffs as in ``1,1 0,0``."""
    return (
        "1",
        {
            f"r{i}": (
                "2",
                {f"c{j}": cell.replace(",", " ") for j, cell in enumerate(row.split(), start=1)},
            )
            for i, row in enumerate(rows.split("/"), start=1)
        },
    )


def one_card_poker(folded: str) -> Node:
    """Half of the cards win; P1 sees theirs and raises or folds, P2 meets or passes."""
    return (
        "",
        {
            "high 1/2": (
                "1 high",
                {"raise": ("2", {"meet": "2 -2", "pass": "1 -1"}), "fold": folded},
            ),
            "low 1/2": (
                "1 low",
                {"raise": ("2", {"meet": "-2 2", "pass": "1 -1"}), "fold": "-1 1"},
            ),
        },
    )


def signals(kinds: Mapping[str, str], messages: Sequence[str], answers: Sequence[str]) -> Node:
    """P1 knows the kind and sends a message, on which P2 acts.

    `kinds` are ``name probability``, each with payoffs ``1,1`` by message and answer.
    """
    outcomes = {}
    for kind, payoffs in kinds.items():
        ends = iter(payoffs.replace(",", " ").split())
        sent = {
            message: (f"2 {message}", {answer: f"{next(ends)} {next(ends)}" for answer in answers})
            for message in messages
        }
        outcomes[kind] = (f"1 {kind.split()[0]}", sent)
    return ("", outcomes)


def centipede(ends: Sequence[str]) -> Node:
    """Players take turns to stop, which leads to the ends one after another, or to go on."""
    node: Node = ends[-1]
    for turn in reversed(range(len(ends) - 1)):
        node = (f"{1 + turn % 2} turn {turn + 1}", {"D": ends[turn], "A": node})
    return node


BATTLE = {  # of the sexes, as it goes on after a move of P1
    "T": {"L": "3 1", "R": "0 0"},
    "B": {"L": "0 0", "R": "1 3"},
}


def battle(after: str, burnt: Fraction | int = 0) -> Node:
    """Battle of the sexes after a move of P1, who has burnt some of their payoff."""

    def paid(payoffs: str) -> str:
        mine, yours = payoffs.split()
        return f"{Fraction(mine) - burnt} {yours}"

    rows = {
        row: (f"2{after}", {column: paid(cell) for column, cell in cells.items()})
        for row, cells in BATTLE.items()
    }
    return (f"1{after}", rows)


def vote() -> Node:
    """Mertens (1995): whoever is elected by secret votes does an easy task well or badly.

    If both vote for themselves one of them is drawn, and is not told so; if each votes for the
    other, somebody else does it well.
    """
    done = [(f"{i} elected", {"well": "1 1", "badly": "0 0"}) for i in (1, 2)]
    return (
        "1",
        {
            "self": ("2", {"self": ("", {"1 1/2": done[0], "2 1/2": done[1]}), "other": done[0]}),
            "other": ("2", {"self": done[1], "other": "1 1"}),
        },
    )


def repeated_dilemma() -> Node:
    """Shoham and Leyton-Brown (2008), figure 6.2: the prisoners' dilemma twice."""
    years = {"Cc": (-1, -1), "Cd": (-4, 0), "Dc": (0, -4), "Dd": (-3, -3)}

    def stage(before: str) -> Node:
        def after(now: str) -> Node:
            if not before:
                return stage(now)
            return " ".join(str(a + b) for a, b in zip(years[before], years[now], strict=True))

        moves = {a: (f"2{before}", {b: after(a + b) for b in "cd"}) for a in "CD"}
        return (f"1{before}", moves)

    return stage("")


GAMES: dict[str, Node] = {
    **{name: book["game"] for name, book in BOOKS.items() if "game" in book},
    "cho_kreps_1987": signals(
        {"strong 9/10": "1,0 3,1 0,0 2,1", "weak 1/10": "0,1 2,0 1,1 3,0"},
        ["beer", "quiche"],
        ["duel", "no"],
    ),
    "myerson_1978_1": matrix("1,1 0,0 / 0,0 0,0"),
    "myerson_1978_2": matrix("1,1 0,0 -9,-9 / 0,0 0,0 -7,-7 / -9,-9 -7,-7 -7,-7"),
    "myerson_1991_2_1": one_card_poker(folded="1 -1"),
    "reiley_2008": one_card_poker(folded="-1 1"),
    "slb_5_1": (
        "1",
        {
            split: (f"2 {split}", {"no": "0 0", "yes": split.replace("-", " ")})
            for split in ("2-0", "1-1", "0-2")
        },
    ),
    "slb_5_9": centipede(["1 0", "0 2", "3 1", "2 4", "4 3", "3 5"]),
    "slb_6_2": repeated_dilemma(),
    "watson_2013_29_1": signals(
        {"high 1/3": "6,10 0,4 10,10 4,4", "low 2/3": "3,0 -3,4 10,0 4,4"}, ["E", "N"], ["M", "C"]
    ),
    "watson_2013_29_6": signals(
        {"strong 1/2": "1,0 0,-2 1,0 0,-2", "weak 1/2": "-1,0 -3,1 1,0 -1,1"},
        ["up", "stay"],
        ["yield", "fight"],
    ),
    "bagwell_1995": (
        "1",
        {
            lead: (
                "",
                {
                    f"{seen} {likely}": (f"2 {seen}", {"S": follow[0], "C": follow[1]})
                    for seen, likely in zip("sc", chances, strict=True)
                },
            )
            for lead, chances, follow in (
                ("S", ("99/100", "1/100"), ("5 2", "3 1")),
                ("C", ("1/100", "99/100"), ("6 3", "4 4")),
            )
        },
    ),
    "gibbons_1992_4_2_2": signals(
        {"t1 1/2": "1,3 4,0 2,1 0,0", "t2 1/2": "2,4 0,1 1,0 1,2"}, ["L", "R"], ["u", "d"]
    ),
    "rasmusen_6_entry_2": (
        "",
        {
            f"{kind} 1/2": (
                f"1 {kind}",
                {"enter": ("2", {"collude": "40 50", "fight": fought}), "out": "0 100"},
            )
            for kind, fought in (("strong", "-10 0"), ("weak", "-10 1"))
        },
    ),
    "outside_option": ("1", {"out": "2 2", "in": battle(" in")}),
    "burning_money": ("1", {"keep": battle(" kept"), "burn": battle(" burnt", Fraction(3, 2))}),
    "mertens_1995": vote(),
}


def textbook_game(name: str) -> GameTree:
    """One of the games."""
    return tree_of(GAMES[name])


def selten_horse() -> GameTree:
    """Selten (1975), figure 1: P1 and P2 go across or down, P3 does not know who went down.

    Actions in order: P1 down, across; P2 down, across; P3 left, right.
    """
    return textbook_game("selten_1975_1")


def horse(first: int, left: str) -> Play:
    """P1 of Selten's horse goes down (0) or across (1), P2 across, and P3 left so often."""
    tree = selten_horse()
    rows = (1 - first, first), (0, 1), (left, 1 - Fraction(left))
    return Play.exactly(tree, exact_profile(tree, *rows))


def entry_deterrence() -> GameTree:
    """Selten (1978), one market: P1 stays out or enters, P2 fights or yields."""
    return textbook_game("selten_1978")


def beer_and_quiche() -> GameTree:
    """Cho and Kreps (1987), section II; the labels are those of `GAMES`."""
    return textbook_game("cho_kreps_1987")


def profile_of(tree: GameTree, moves: str) -> BehaviorProfile:
    """Profile from one word for each information set: an action, or frequencies ``1/3,2/3``."""
    rows = []
    for actions, word in zip(tree.infoset_actions, moves.split(), strict=True):
        pure = [int(action == word) for action in actions]
        rows.append(word.split(",") if "," in word else pure)
    return exact_profile(tree, *rows)


def exact_profile(tree: GameTree, *rows: Sequence[Fraction | int | str]) -> BehaviorProfile:
    """Profile from the rows of all information sets."""
    return BehaviorProfile.of_exact(tree, [Fraction(value) for row in rows for value in row])


def horse_trembles(first: tuple[int, str], second: tuple[int, str]) -> Trembles:
    """Trembles of the horse's P1 and P2, each with order and weight; others count for nothing."""
    order, weight = np.ones(6, dtype=np.int64), np.full(6, Fraction(1), dtype=object)
    for action, (power, value) in ((0, first), (2, second)):
        order[action], weight[action] = power, Fraction(value)
    return Trembles(order, weight)
