"""Section 7: the equilibria of two-player Kuhn poker, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.documents import read_file
from eqbench.equilibria import local_dimension
from eqbench.model.game import Game
from eqbench.model.profile_json import MOST_PROFILE_BYTES, parse_profile, profile_from_json
from eqbench.registry import load_game
from eqbench.store.stored_run import read_run
from eqbench.verification import verify_exactly

RUN = "two_player_list"  # job that lists all equilibria
_ZERO = Fraction(0)


def compute(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Kuhn's line of equilibria by γ, and what differs in the list of all equilibria."""
    game = load_game("kuhn2")
    return _line(game) | _listed(game, jobs / RUN)


def _line(game: Game) -> dict[str, Any]:
    """Exact regrets, payoffs and dimension of Kuhn's equilibria."""
    rows = []
    for gamma in (Fraction(k, 6) for k in range(7)):
        profile = profile_from_json(game.tree, two_player_document(gamma))
        found = verify_exactly(game.tree, profile)
        rows.append((Fraction(found.max_regret), found.payoffs[0], profile))
    around = local_dimension(game, rows[3][2].probabilities)
    return {
        "members": len(rows),
        "equilibria": sum(regret == 0 for regret, *_ in rows),
        "values": sorted({str(payoff) for _, payoff, _ in rows}),
        "dimension": None if around is None else around.total,
    }


def _listed(game: Game, run: Path) -> dict[str, Any]:
    """Whether the list is complete, and how many frequencies of each player differ in it.

    A piece is the hull of what is listed of it, so that what is the same at all of that is fixed.
    """
    (cell,) = read_run(run).cells
    texts = [read_file(run / str(item.profile), MOST_PROFILE_BYTES) for item in cell.equilibria]
    rows = [profile_from_json(game.tree, parse_profile(text)).probabilities for text in texts]
    owner = np.repeat(game.tree.infoset_player, np.diff(game.tree.action_start))
    moving = np.ptp(rows, axis=0) > 0
    return {
        "listed": len(rows),
        "complete": all(item.claim == "complete list" for item in cell.equilibria),
        "exact": cell.max_regret == 0,
        # two actions each, so that a frequency is counted once
        "moving": [int(moving[owner == player].sum()) // 2 for player in (0, 1)],
    }


def two_player_document(gamma: Fraction) -> dict[str, Any]:
    """Kuhn's equilibrium in which the first player bets the highest card with frequency γ."""
    third = Fraction(1, 3)
    first = {1: (gamma / 3, _ZERO), 2: (_ZERO, (gamma + 1) / 3), 3: (gamma, Fraction(1))}
    second = {1: (third, _ZERO), 2: (_ZERO, third), 3: (Fraction(1), Fraction(1))}

    def row(meek: str, bold: str, frequency: Fraction) -> dict[str, str]:
        return {meek: str(1 - frequency), bold: str(frequency)}

    behavior: dict[str, Any] = {"P1": {}, "P2": {}}
    for card in (1, 2, 3):
        bet, call = first[card]
        behavior["P1"] |= {
            f"{card}:": row("check", "bet", bet),
            f"{card}:KB": row("fold", "call", call),
        }
        bet, call = second[card]
        behavior["P2"] |= {
            f"{card}:K": row("check", "bet", bet),
            f"{card}:B": row("fold", "call", call),
        }
    return {"behavior": behavior}
