"""The methods of LiteEFG (Liu, Farina and Ozdaglar 2024, arXiv:2407.20351) as solvers.

A game is handed over in LiteEFG's own text, in which nodes and information sets are named by our
numbers, and profiles come back by these. The clock covers reading the text, not writing it.
"""

from __future__ import annotations

import io
import tempfile
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar, Literal

import numpy as np

from eqbench.model.game import Game
from eqbench.model.tree import CHANCE, TERMINAL, FloatArray, GameTree
from eqbench.solver import Availability, Monitor, Termination

from .search import importable, repeat, without_choice

# The extra also brings jax, optax and flax, which are not needed here.
REMEDY = (
    "pip install 'eqbench[peers]' && pip install --no-deps LiteEFG==1.0.0, which compiles for a "
    "minute or two"
)
# LiteEFG's module of each method, and which average is its result; DCFR's is one of its own, and
# the last three are about the last iterate.
METHODS: dict[str, tuple[str, str]] = {
    "cfr": ("CFR", "avg-iterate"),
    "cfr_plus": ("CFRplus", "linear-avg-iterate"),
    "dcfr": ("DCFR", "default"),
    "pcfr_plus": ("PCFR", "linear-avg-iterate"),
    "mmd": ("MMD", ""),
    "qfr": ("QFR", ""),
    "reg_cfr": ("Reg_CFR", ""),
}
FIRST_TWO = ("cfr_plus", "dcfr", "pcfr_plus")


@dataclass(frozen=True)
class LiteEFG:
    """A method of LiteEFG with its own defaults, over the whole game in each iteration.

    The average profile, if the method is about one, and the last iterate are handed over, without a
    claim. Averages are over the profiles that were played, the uniform one first; LiteEFG's own
    `train` leaves that one out and counts the one that comes next.

    Parameters
    ----------
    method : LiteEFG's baseline
    updates : whom cfr_plus, dcfr and pcfr_plus update; other methods update all players
        LiteEFG's own loops of these three update players 1 and 2 only, so that others stay uniform.
        `checked` refuses games with more players, `first_two` runs these loops nevertheless, and
        `all` updates all players in turn.
    """

    method: Literal["cfr", "cfr_plus", "dcfr", "pcfr_plus", "mmd", "qfr", "reg_cfr"] = "cfr_plus"
    updates: Literal["checked", "first_two", "all"] = "checked"

    deterministic: ClassVar[bool] = True

    def availability(self) -> Availability:
        """Whether LiteEFG is installed."""
        return importable("LiteEFG", remedy=REMEDY)

    def supports(self, game: Game) -> bool | str:
        """True, or why LiteEFG's own loop does not solve the game."""
        players = game.tree.n_players
        if self.method in FIRST_TWO and self.updates == "checked" and players > 2:
            return (
                f"LiteEFG's own loop of {self.method} updates players 1 and 2 only, and this game "
                f"has {players}, of whom the others would stay uniform; use updates=all to update "
                "all, or updates=first_two to see what comes out of it"
            )
        return True

    def prepare(self, game: Game) -> None:
        """Import LiteEFG and write the text of the game."""
        import_module("LiteEFG.baselines")
        game_text(game.tree)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Iterate until the budget or the target ends."""
        import LiteEFG

        if done := without_choice(game, monitor):
            return done
        tree, (module, kind) = game.tree, METHODS[self.method]
        LiteEFG.set_threads(monitor.budget.threads)
        with redirect_stdout(io.StringIO()):  # where it greets
            graph = import_module(f"LiteEFG.baselines.{module}").graph()
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(game_text(tree))
            file.flush()
            environment = LiteEFG.FileEnv(file.name)
        environment.set_graph(graph)
        current = averaged = graph.current_strategy()
        if self.method == "dcfr":
            averaged = graph.current_strategy("average-iterate")
        in_turn = self.method in FIRST_TWO and self.updates == "all"
        players = range(1, tree.n_players + 1) if in_turn else ()

        def steps(_: int, count: int) -> None:
            for _ in range(count):
                if kind.endswith("avg-iterate"):
                    environment.update_strategy(current)
                for player in players:
                    environment.update(current, upd_player=player)
                if not players:
                    graph.update_graph(environment)

        def reached() -> FloatArray:
            return _frequencies(environment, tree, averaged, kind or "default")

        repeat(monitor, steps, reached)
        if kind and monitor.work:
            monitor.candidate(reached(), claim="average")
        monitor.candidate(_frequencies(environment, tree, current, "default"), claim="iterate")
        return monitor.termination()


def _frequencies(environment: Any, tree: GameTree, strategy: Any, kind: str) -> FloatArray:
    """Frequencies (A,) of a strategy or of an average of it."""
    rows: list[list[float]] = [[]] * tree.n_infosets
    for player in range(tree.n_players):
        for name, row in environment.get_strategy(player + 1, strategy, kind):
            rows[int(name)] = row
    return np.concatenate(rows)


@lru_cache(maxsize=1)  # the preparation of a game and its solution need it
def game_text(tree: GameTree) -> str:
    """Text of a game that LiteEFG's `FileEnv` reads.

    After a header come the nodes from the root on, in the form in which OpenSpiel's games are
    written, whose actions are the names of the nodes that they lead to, and the information sets.
    """
    first_child = tree.first_children().tolist()
    payoffs, chance = iter(tree.payoffs.table.tolist()), tree.chance_probability.tolist()
    lines = ["# Opt {", "#     openspiel,", f"#     players: {tree.n_players},", "# }", "#"]
    for node, player in enumerate(tree.player.tolist()):
        children = range(first_child[node], first_child[node + 1])
        if player == TERMINAL:
            what = ["leaf payoffs", *(f"{i}={u!r}" for i, u in enumerate(next(payoffs), start=1))]
        elif player == CHANCE:
            what = ["chance actions", *(f"{child}={chance[child]!r}" for child in children)]
        else:
            what = [f"player {player + 1} actions", *map(str, children)]
        lines.append(f"node {node} {' '.join(what)}")
    decisions = np.flatnonzero(tree.infoset >= 0)
    members = decisions[np.argsort(tree.infoset[decisions], kind="stable")]
    starts = np.searchsorted(tree.infoset[members], np.arange(1, tree.n_infosets))
    for infoset, nodes in enumerate(np.split(members, starts)):
        lines.append(f"infoset {infoset} nodes {' '.join(map(str, nodes.tolist()))}")
    return "\n".join(lines) + "\n"
