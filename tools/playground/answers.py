"""What the page asks of eqbench: functions from and to JSON values, in one process.

Nothing here starts a process or a thread, and what is pasted is a game file, never code.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import eqbench
from eqbench.errors import EqbenchError, UsageError
from eqbench.model.facts import kind_of_game
from eqbench.model.game import Game
from eqbench.model.rational import short_figure
from eqbench.registry import default_registry
from eqbench.report.profile_picture import Shown, draw_profiles
from eqbench.report.profile_view import figures_table
from eqbench.report.tree_drawing import draw_tree
from eqbench.solver import obstacle_of
from eqbench.verdict import judge_measured, stored
from eqbench.verification import DEFAULT_TOLERANCE, verify_exactly

GAMES = (
    *("kuhn2", "kuhn3", "kuhn3_reduced", "skp", "leduc", "matching_pennies"),
    *("rock_paper_scissors", "prisoners_dilemma", "battle_of_sexes", "shapley", "jordan"),
)
# the first that takes a game is chosen for it
METHODS = (
    *("sequence_lp", "lcp", "logit", "semismooth", "arclength", "complete", "case_enumeration"),
    *("cfr_plus", "pdcfr_plus", "mmd", "fictitious_play"),
)
PASTED = "pasted"
MOST_NODES = 20_000  # of a game; larger ones take minutes without machine code
MOST_DRAWN = 700  # nodes of a tree
MOST_TEXT = 2_000_000  # characters of a game file
MOST_SHOWN = 12  # profiles
MOST_SECONDS = 120.0


def catalog() -> dict[str, Any]:
    """Games that come with eqbench and are small enough, with what they are."""
    known = default_registry()
    return {
        "version": eqbench.__version__,
        "games": [[name, known.game_entry(name).summary] for name in GAMES],
    }


def look(request: dict[str, Any]) -> dict[str, Any]:
    """Size and parameter of a game, the solvers that take it, and its tree."""
    game, known = _game(request), default_registry()
    tree, solvers = game.tree, {name: known.load_solver(name).instance for name in METHODS}
    return {
        "title": _sizes(game),
        "parameter": tree.payoffs.parameter or None,
        "value": float(tree.payoffs.value) if tree.payoffs.parameter else None,
        "methods": [
            [name, known.solver_entry(name).summary]
            for name, solver in solvers.items()
            if obstacle_of(solver, game) is None
        ],
        "tree": _tree(game, None),
    }


def solve(request: dict[str, Any]) -> dict[str, Any]:
    """Solve a game by one method; every figure on what it finds is measured on the tree."""
    game, seconds = _game(request), float(request["seconds"])
    if not 0 < seconds <= MOST_SECONDS:
        raise UsageError(f"{seconds:g} seconds; give a number up to {MOST_SECONDS:g}")
    result = eqbench.solve(game, request["method"], timeout_s=seconds)
    return {
        "title": _sizes(game),
        "status": result.status,
        "reason": result.reason or "",
        "seconds": result.elapsed_s,
        "players": list(game.tree.players),
        "found": [_measured(game, each) for each in result.equilibria[:MOST_SHOWN]],
        "more": max(len(result.equilibria) - MOST_SHOWN, 0),
    }


def draw(request: dict[str, Any]) -> dict[str, Any]:
    """Pictures of what a profile plays, and of the tree with it, as SVG."""
    game = _game(request)
    profile = eqbench.load_profile(game, request["profile"])
    played = draw_profiles(game, [Shown(profile)], title=_title(game))
    return {"played": played, "tree": _tree(game, profile)}


def call(name: str, request: str) -> str:
    """Answer of one of the functions, as JSON texts; what goes wrong is in `error`."""
    known = {"look": look, "solve": solve, "draw": draw}
    try:
        answer = known[name](json.loads(request)) if name in known else catalog()
    except EqbenchError as error:
        answer = {"error": str(error)}
    except MemoryError:
        answer = {"error": "the memory of the browser is full; choose a smaller game"}
    except Exception as error:  # a defect, which must not leave the page waiting
        answer = {"error": f"{type(error).__name__}: {error}"}
    return json.dumps(answer, allow_nan=False)


def _game(request: dict[str, Any]) -> Game:
    """The game of a request: a pasted file, or a spec with a parameter."""
    text, pot = request.get("text"), request.get("parameter")
    if text is None:
        options = {pot["name"]: pot["value"]} if pot else {}
        return eqbench.load_game(request["game"], max_nodes=MOST_NODES, **options)
    if len(text) > MOST_TEXT:
        raise UsageError(f"{len(text):,} characters; paste a game file of at most {MOST_TEXT:,}")
    with TemporaryDirectory() as folder:
        kind = "nfg" if text.lstrip("\ufeff \t\r\n").startswith("NFG") else "efg"
        file = Path(folder, f"{PASTED}.{kind}")
        file.write_text(text, encoding="utf-8")
        try:
            return eqbench.load_game(str(file), max_nodes=MOST_NODES)
        except EqbenchError as error:
            raise UsageError(str(error).replace(f"{folder}/", "")) from None


def _title(game: Game) -> str:
    return game.spec if PASTED not in game.spec else f"{PASTED} game"


def _sizes(game: Game) -> str:
    tree, facts = game.tree, kind_of_game(game).items()
    sizes = (
        f"{tree.n_players} players, {tree.n_nodes:,} nodes, {tree.n_infosets:,} information sets"
    )
    return ", ".join(
        [f"{_title(game)}: {sizes}", *(name for name, is_so in facts if is_so is True)]
    )


def _tree(game: Game, profile: Any) -> str | None:
    """Picture of the tree, None where it is too large to be read."""
    if game.tree.n_nodes > MOST_DRAWN:
        return None
    return draw_tree(game.tree, _title(game), profile, wording=game.wording)


def _measured(game: Game, found: Any) -> dict[str, Any]:
    """Figures of a profile that a solver handed over, and what it is in words."""
    tree, profile = game.tree, found.profile
    exact = verify_exactly(tree, profile) if profile.exact is not None else None
    figures = eqbench.verify(tree, profile) if exact is None else exact.rounded()
    is_equilibrium = figures.max_regret <= DEFAULT_TOLERANCE * tree.payoff_scale
    document = {
        **{"payoffs": list(figures.payoffs), "regrets": list(figures.regrets)},
        **{"nash_conv": figures.nash_conv, "max_regret": figures.max_regret},
        "resolved": figures.resolved,
        "identity": None if found.identity is None else found.identity.to_json(),
        **stored(judge_measured(tree, profile, figures, exact, ["kind"])),
    }
    if exact is not None:
        regrets = [str(value) for value in exact.regrets]
        document["exact"] = {"payoffs": [str(value) for value in exact.payoffs], "regrets": regrets}
    words = figures_table(
        tree.players, document, is_equilibrium=bool(is_equilibrium), wording=game.wording
    )
    shown = figures if exact is None else exact
    return {
        "claim": found.claim,
        "refuted": found.refuted,
        "payoffs": [short_figure(value, 12) for value in shown.payoffs],
        "regret": short_figure(shown.max_regret, 12, 2),
        "words": [line.strip() for line in words.lines],
        "profile": replace(profile, spec=_title(game)).to_json(),
    }
