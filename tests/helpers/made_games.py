"""Games made for tests: random, wide, damaged and from textbooks."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from eqbench.model.builder import Place, TreeBuilder
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.profile_json import parse_profile, profile_from_json, profile_text
from eqbench.model.tree import CHANCE, FloatArray, GameTree, Payoffs
from eqbench.model.trembles import Trembles
from eqbench.verification import Verification, Verifier
from eqbench.verification.sweep import TreeSweep
from eqbench.verification.verifier import ExactRules, measure_exactly

# -- Random games with perfect recall and no other regularity


OwnPast = tuple[str, int] | None  # the last own information set and the move there


class _Grower:
    """Grows a tree in random order of depth; chance and every player may move anywhere.

    A node may join any information set that follows the same last own move, at whatever depth
    it stands. That is all that perfect recall asks for.
    """

    def __init__(self, rng: np.random.Generator, players: int, depth: int) -> None:
        self.rng, self.players, self.depth = rng, players, depth
        self.builder = TreeBuilder([f"P{p + 1}" for p in range(players)])
        self.known: dict[tuple[int, OwnPast], list[tuple[str, int]]] = {}
        self.count = 0

    def grow(self, place: tuple[int, int] | None, depth: int, past: tuple[OwnPast, ...]) -> None:
        pick = self.rng.random()
        if depth == self.depth or (depth > 1 and pick < 0.15):
            payoffs = self.rng.integers(-12, 13, self.players).tolist()
            thirds = self.rng.integers(1, 4, self.players).tolist()
            self.builder.terminal(place, [Fraction(a, b) for a, b in zip(payoffs, thirds)])  # noqa: B905
        elif pick < 0.4:
            weights = self.rng.integers(0, 4, self.rng.integers(1, 4)).tolist()
            weights[0] += 1
            total = sum(weights)
            node = self.builder.chance(place, [Fraction(w, total) for w in weights])
            for outcome in range(len(weights)):
                self.grow((node, outcome), depth + 1, past)
        else:
            self._decide(place, depth, past)

    def _decide(self, place: tuple[int, int] | None, depth: int, past: tuple[OwnPast, ...]) -> None:
        player = int(self.rng.integers(self.players))
        sets = self.known.setdefault((player, past[player]), [])
        if not sets or self.rng.random() < 0.35:
            self.count += 1
            sets.append((f"I{self.count}", int(self.rng.integers(1, 4))))
        label, size = sets[self.rng.integers(len(sets))]
        actions = [f"a{move}" for move in range(size)]
        node = self.builder.decision(place, player, label, actions)
        for move in self.rng.permutation(size).tolist():
            after = (*past[:player], (label, move), *past[player + 1 :])
            self.grow((node, move), depth + 1, after)


def random_tree(seed: int, *, depth: int = 6) -> GameTree:
    """Random exact tree of one to four players; the same seed gives the same tree."""
    rng = np.random.default_rng(seed)
    players = 1 + seed % 4
    grower = _Grower(rng, players, depth)
    grower.grow(None, 0, (None,) * players)
    return grower.builder.tree()


def spread_infosets(tree: GameTree) -> int:
    """Number of information sets with nodes at different depths."""
    depths: dict[int, set[int]] = {}
    for depth, level in enumerate(tree.levels):
        for infoset in tree.infoset[level].tolist():
            depths.setdefault(infoset, set()).add(depth)
    return sum(len(found) > 1 for infoset, found in depths.items() if infoset >= 0)


def inner_chance_nodes(tree: GameTree) -> int:
    """Number of chance nodes below the root."""
    return int((tree.player[1:] == CHANCE).sum())


def repeated_movers(tree: GameTree) -> int:
    """Number of players with an information set behind another of their own."""
    return len(Counter(tree.infoset_player[tree.infoset_parent >= 0].tolist()))


def sparse_profile(tree: GameTree, rng: np.random.Generator) -> BehaviorProfile:
    """Profile with small denominators that plays each action with probability near one half."""
    values: list[Fraction] = []
    for actions in tree.infoset_actions:
        weights = rng.integers(1, 5, len(actions)) * (rng.random(len(actions)) < 0.5)
        weights[rng.integers(len(actions))] += 1
        values += [Fraction(int(weight), int(weights.sum())) for weight in weights]
    return BehaviorProfile.of_exact(tree, values)


def scattered_game(seed: int) -> tuple[GameTree, BehaviorProfile]:
    """Random tree with payoffs over twelve orders of magnitude, and a profile in floats.

    They are apart within the game, or from one game to another in floats or in fractions. Every
    third game has chances in floats.
    """
    tree, rng = random_tree(seed, depth=4 + seed % 5), np.random.default_rng(seed)
    shape, scale = tree.payoffs.base.shape, 10.0 ** rng.uniform(-6, 6)
    numbers = rng.normal(size=shape)
    payoffs = (
        Payoffs(np.sign(numbers) * 10.0 ** rng.uniform(-6, 6, shape)),
        Payoffs(scale * numbers),
        Payoffs(rng.integers(-9, 10, shape) * round(1e6 * scale), 7 * 10**6),
    )[seed // 4 % 3]
    tree = replace(tree, payoffs=payoffs)
    if seed % 3 == 0:
        tree = replace(tree, chance=tree.chance / tree.chance_denominator, chance_denominator=1)
    return tree, BehaviorProfile.of(tree, random_profile(tree, rng))


# -- Games in which payoffs are so far apart that floats see only some of them


def wide_game(prize: int | float) -> GameTree:
    """P1 learns a coin and moves, P2 sees the move only; two of eight ends are worth `prize`.

    The sum is zero, so P2 must not let P1 have the prize; the other payoffs are -1, 0 and 1. The
    actions in order: A, B after heads; A, B after tails; X, Y after A; X, Y after B.
    """
    builder = TreeBuilder(["P1", "P2"])
    coin = builder.chance(None, [Fraction(1, 2), Fraction(1, 2)])
    ends = {
        "heads": ((prize, 1), (-1, 0)),
        "tails": ((-1, 1), (0, prize)),
    }
    for outcome, side in enumerate(ends):
        first = builder.decision((coin, outcome), 0, side, ["A", "B"])
        for move, values in enumerate(ends[side]):
            second = builder.decision((first, move), 1, "AB"[move], ["X", "Y"])
            for reply, value in enumerate(values):
                builder.terminal((second, reply), [value, -value])
    return builder.tree()


def long_path(
    spare: float, *, players: int = 1, sets: int = 300, prize: int = 90_000, off: int | None = None
) -> tuple[GameTree, FloatArray]:
    """A path on which each may leave for 1 less than the prize, and P1 leaves at last by 1/50.

    Rows on it, in the order of the tree, sum to 1 + `spare`; of one player alone if `off` is given.
    """
    builder = TreeBuilder([f"P{player + 1}" for player in range(players)])
    place = None
    for depth in range(sets + 1):
        node = builder.decision(place, (sets - depth) % players, f"{depth}", ["on", "stop"])
        builder.terminal((node, 1), [prize - 1] * players)
        place = node, 0
    builder.terminal(place, [prize] * players)
    tree = builder.tree()
    rows = np.tile([1 + min(spare, 0.0), max(spare, 0.0)], (sets + 1, 1))
    rows[[off not in (None, player) for player in tree.infoset_player]] = [1, 0]
    rows[tree.infoset_of(0, f"{sets}")] = [0.98, 0.02]
    return tree, rows.ravel()


def farthest(tree: GameTree, profile: BehaviorProfile, measured: Verification) -> float:
    """Largest difference of measured regrets from those of the stored profile, in fractions."""
    stored = profile_from_json(tree, parse_profile(profile_text(tree, profile)))
    assert stored.exact is not None
    exact = measure_exactly(TreeSweep(tree), ExactRules.of(tree), stored.exact).regrets
    pairs = zip(measured.regrets, exact, strict=True)
    return float(max(abs(Fraction(given) - regret) for given, regret in pairs))


def error_ratio(seed: int) -> float:
    """Error of regrets per largest difference from exact ones, at least 1 if they lie within it."""
    tree, profile = scattered_game(seed)
    measured = Verifier(tree)._in_floats(profile.probabilities)
    off = farthest(tree, profile, measured)
    return measured.error / off if off else math.inf


# -- Games of textbooks and of the literature on refinements, written as nested moves


Node: TypeAlias = "str | tuple[str, Mapping[str, Node]]"
TABLE = Path(__file__).parents[1] / "data" / "textbooks.toml"
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


# Specs of built-in games that have options without a default, by name.
SPECS = {
    "locked": """locked(game=kuhn2,profile='{"behavior": {"P2": {"1:K": {"check": 1}}}}')""",
}
