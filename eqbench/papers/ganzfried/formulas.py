"""Section 2: the programs and the conditions that they stand for."""

from __future__ import annotations

from typing import Any

from eqbench.papers.claims import Part, Reading, differs, holds, source_error
from eqbench.papers.ganzfried.found import cell_of, regret_of, statement, statistic
from eqbench.papers.ganzfried.jobs import TWO_PLAYER_GAMES
from eqbench.papers.stored import Stored

ROUNDING = 1e-9
_FOUR_PLAYERS = "random(players=4,actions=3,seed=0)"
_NCP = "ncp(formulation=paper,polish=false)"


def _two_players(stored: Stored, game: str, solver: str) -> Reading:
    cell = cell_of(stored, "two_players", game, solver)
    ours = f"{solver} on {cell.game}: max regret {regret_of(cell):.1e}"
    # payoffs of the random tree have a range of 200
    return holds(cell.status == "ok" and regret_of(cell) <= 1e-7, ours, cell.reason)


def _last_line(stored: Stored) -> Reading:
    found = stored["conditions"].summary["two_players"]
    rows, columns = found["shape"]
    ours = f"yᵀ(−Bᵀx + Fᵀq) = {found['with_transpose']:.1g} at an equilibrium"
    if rows == columns or abs(found["with_transpose"]) > 1e-6:
        return differs(ours, f"B is {rows} × {columns}, so this is no test of the printed line")
    return source_error(
        ours,
        f"Bᵀ is meant, as in the line above: on {found['game']} B is {rows} × {columns} and x has "
        f"{rows} entries, so that Bx is not defined",
    )


def _shape(stored: Stored) -> Reading:
    shape = stored["conditions"].summary["matrix"]
    return holds(shape == [17, 33], f"{shape[0]} × {shape[1]} for player 1", "other shape")


def _profiles(stored: Stored) -> list[tuple[float, float]]:
    """Largest gap and largest regret of each profile."""
    found: list[dict[str, Any]] = stored["conditions"].summary["profiles"]
    return [(max(item["gaps"]), max(item["regrets"])) for item in found]


def _necessary(stored: Stored) -> Reading:
    gaps = [gap for gap, regret in _profiles(stored) if regret <= ROUNDING]
    worst = max(map(abs, gaps), default=1.0)
    ours = f"least x·r at {len(gaps)} verified equilibria: {worst:.0e} at most"
    return holds(bool(gaps) and worst <= ROUNDING, ours, "the conditions are violated")


def _sufficient(stored: Stored) -> Reading:
    found = stored["conditions"].summary["profiles"]
    others = [item for item in found if max(item["regrets"]) > ROUNDING]
    off = max(
        (
            abs(gap - regret)
            for item in others
            for gap, regret in zip(item["gaps"], item["regrets"], strict=True)
        ),
        default=1.0,
    )
    least = min((max(item["gaps"]) for item in others), default=0.0)
    ours = f"least x·r at {len(others)} other profiles: {least:.2g} or more"
    detail = f"it is each player's regret, to {off:.0e}"
    return holds(bool(others) and least > 0 and off <= ROUNDING, ours, detail, detail)


def _four_players(stored: Stored) -> Reading:
    cell = cell_of(stored, "table_1_run", _FOUR_PLAYERS, _NCP)
    columns = int(statistic(cell, "columns"))
    others = 12 + 4 + 12
    products = columns - others
    ours = f"{products} product variables beside {others} others"
    return holds(
        products == 2 * 3 * 3, ours, f"{products - 18:+}", "4 players with 3 strategies: 9 + 9"
    )


def _strategic(stored: Stored) -> Reading:
    own = [cell for cell in stored["table_1_run"].cells if cell.solver == _NCP]
    ended = [cell for cell in own if cell.status == "ok"]
    games, solved, worst = len(own), len(ended), max(map(regret_of, ended), default=0.0)
    ours = f"{solved} of {games} random games, max regret {worst:.0e} at most"
    return holds(
        solved == games > 0 and worst <= 1e-4, ours, "a game is not solved, or to no equilibrium"
    )


def _scalars(stored: Stored) -> Reading:
    slacks = stored["conditions"].summary["slacks"]
    spreads = [max(own) - min(own) for own in slacks]
    spread = max(spreads)
    player = spreads.index(spread)
    text = f"r of player {player + 1}: {', '.join(f'{value:.3g}' for value in slacks[player])}"
    if spread <= ROUNDING:
        return differs(text, "all entries agree, so a scalar would do")
    return source_error(
        text,
        "one slack for each pure strategy is needed; in this equilibrium of a game with 3 × 3 × 3 "
        f"strategies those of one player differ by {spread:.3g}",
    )


def _quadratic_constraints(stored: Stored) -> Reading:
    found = stored["program"].summary["models"]["full"]["quadratic_constraints"]
    sequences = 3 * stored["conditions"].summary["matrix"][1]
    ours = f"{found} quadratic constraints for {sequences} sequences"
    detail = "one derivative and one complementarity for each"
    return holds(found == 2 * sequences, ours, f"{found - 2 * sequences:+}", detail)


FORMULAS = Part(
    title="Section 2: programs and conditions",
    claims=(
        statement(
            "size of E",
            "information sets × sequences, the empty ones included",
            _shape,
        ),
        statement(
            "two players, zero sum",
            "a pair of linear programs gives an equilibrium",
            lambda stored: _two_players(stored, TWO_PLAYER_GAMES[0], "sequence_lp"),
        ),
        statement(
            "two players, any sum",
            "a linear complementarity problem, solved by Lemke's algorithm",
            lambda stored: _two_players(stored, TWO_PLAYER_GAMES[1], "lcp"),
        ),
        statement("last line of that problem", "yᵀ(−Bx + Fᵀq) = 0", _last_line),
        statement(
            "conditions are necessary",
            "first-order conditions of all best responses hold in equilibrium",
            _necessary,
        ),
        statement(
            "conditions are sufficient",
            "best responses are convex problems, so the conditions hold in no other profile",
            _sufficient,
        ),
        statement(
            "quadratic constraints with three players",
            "products yz, xz, xy in the derivatives and x r in complementarity",
            _quadratic_constraints,
        ),
        statement(
            "four players",
            "two families of product variables are enough: x¹x² and x³x⁴",
            _four_players,
        ),
        statement(
            "strategic form",
            "the same program applies to games in strategic form",
            _strategic,
        ),
        statement("slacks in strategic form", "r¹, r² and r³ are scalars", _scalars),
    ),
    note=(
        "For given plans the conditions are linear in multipliers and slacks; a linear program "
        "finds the smallest x·r that any multipliers leave (job conditions), which is 0 exactly "
        "where the conditions can be met. It is held against regrets measured on the tree, at "
        "equilibria and at 20 random profiles each of kuhn3 and of a random 3 × 3 × 3 game."
    ),
)
