"""What no command prints: the conditions, a hand, the family changed, Gambit's words, times."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from io import StringIO
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
from scipy.optimize import linprog

from eqbench.equilibria.reference import published_sets
from eqbench.model.gambit_text import efg_text
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json, profile_text, read_profile
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray, GameTree
from eqbench.registry import load_game
from eqbench.spec import parse_spec
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run
from eqbench.verification import verify, verify_exactly

FULL, STRATEGIC = "kuhn3", "random(players=3,actions=3,seed=0)"
Summary = dict[str, Any]  # JSON values


def conditions(_folder: Path, jobs: Path, *, full: bool) -> Summary:
    """Least complementarity beside regrets, slacks in strategic form, and the last line of the LCP.

    For fixed plans the conditions are linear in multipliers and slacks. Over all multipliers
    lambda with slacks r = E' lambda - V >= 0, the smallest x r is a linear program, which is dual
    to the best response: it is the regret of the player. So it is 0 in equilibria and in no other
    profile. Random profiles stand beside the equilibria of the job `checked`.
    """
    found = _equilibria(jobs / "two_players") | _equilibria(jobs / "checked")
    rng = np.random.default_rng(0)
    profiles = []
    for spec in (FULL, STRATEGIC):
        game = load_game(spec)
        sizes = [len(actions) for actions in game.tree.infoset_actions]
        drawn = [[rng.dirichlet(np.ones(size)) for size in sizes] for _ in range(20)]
        for behavior in (found[spec], *map(np.concatenate, drawn)):
            profiles.append({"game": spec} | least_gaps(game, behavior))
    form = load_game(STRATEGIC).sequence_form
    plans = RealizationPlan.of(form, found[STRATEGIC]).weights
    values = [sequence_values(form, plans, player)[1:] for player in range(form.n_players)]
    two = next(spec for spec in found if spec.startswith("random_tree"))
    pair = load_game(two).sequence_form
    return {
        "profiles": profiles,
        "matrix": list(_constraint_matrix(load_game(FULL).sequence_form, 0).shape),
        "slacks": [(own.max() - own).round(9).tolist() for own in values],
        "two_players": {
            "game": two,
            "shape": [len(_sequences(pair, player)) for player in range(2)],
            "with_transpose": _least_gap(pair, RealizationPlan.of(pair, found[two]).weights, 1),
        },
    }


def least_gaps(game: Game, behavior: FloatArray) -> dict[str, list[float]]:
    """Smallest sums of x_s r_s that any multipliers leave, and regrets, of each player."""
    form = game.sequence_form
    plans = RealizationPlan.of(form, behavior).weights
    measured = verify(game.tree, BehaviorProfile.of(game.tree, behavior))
    return {
        "gaps": [_least_gap(form, plans, player) for player in range(form.n_players)],
        "regrets": [float(regret) for regret in measured.regrets],
    }


def _least_gap(form: SequenceForm, plans: FloatArray, player: int) -> float:
    matrix, values = _constraint_matrix(form, player), sequence_values(form, plans, player)
    goal = np.eye(len(matrix))[0]  # x E' lambda is the root's multiplier
    answer = linprog(goal, A_ub=-matrix.T, b_ub=-values, bounds=(None, None), method="highs")
    return float(answer.fun - plans[_sequences(form, player)] @ values)


def _constraint_matrix(form: SequenceForm, player: int) -> FloatArray:
    """E of a player, float64 (information sets + 1, sequences); its first row is the root's."""
    own, sequences = np.flatnonzero(form.infoset_player == player), _sequences(form, player)
    matrix = np.zeros((len(own) + 1, len(sequences)))
    matrix[0, 0] = 1
    for row, infoset in enumerate(own, start=1):
        matrix[row, sequences == form.parent[infoset]] = -1
        matrix[row, 1:][form.sequence_infoset[sequences[1:]] == infoset] = 1
    return matrix


def sequence_values(form: SequenceForm, plans: FloatArray, player: int) -> FloatArray:
    """V of each sequence of a player: payoff times the others' weights, by its columns."""
    weights = np.delete(plans[form.columns], player, axis=1).prod(axis=1)
    total = np.zeros(form.n_sequences)
    np.add.at(total, form.columns[:, player], form.payoffs[:, player] * weights)
    return total[_sequences(form, player)]


def _sequences(form: SequenceForm, player: int) -> FloatArray:
    """Ids of a player's sequences, the empty one first."""
    own = np.flatnonzero(form.infoset_player[form.sequence_infoset[form.n_players :]] == player)
    return np.concatenate([[player], own + form.n_players])


def _equilibria(folder: Path) -> dict[str, FloatArray]:
    """Frequencies (A,) of the best profile of each game of a run, by the game's spec."""
    return {
        cell.game: profile_from_json(load_game(cell.game).tree, document).probabilities
        for cell, document in _best_profiles(folder)
    }


def _best_profiles(folder: Path) -> list[tuple[CellRecord, Any]]:
    """Cells of a run that found something, with their best profiles as documents."""
    return [
        (cell, read_profile(str(folder / cell.equilibria[0].profile)))
        for cell in read_run(folder).cells
        if cell.equilibria and cell.equilibria[0].profile
    ]


# Queen, King and Ace; player 3 bets, player 1 folds, player 2 calls.
_MOVES = (("2:", "check"), ("3:K", "check"), ("4:KK", "bet"), ("2:KKB", "fold"), ("3:KKBF", "call"))


def hand(_folder: Path, _jobs: Path, *, full: bool) -> Summary:
    """Profits and pot of the hand, and how many information sets each player has."""
    tree = load_game(FULL).tree
    ends = (_profits(tree, int(deal)) for deal in np.flatnonzero(tree.parent == 0))
    earned, infosets = next(filter(None, ends)), np.bincount(tree.infoset_player).tolist()
    stake = 2  # ante and bet of player 3, taken back with the pot
    return {FULL: {"profits": earned, "pot": earned[2] + stake, "infosets": infosets}}


def _profits(tree: GameTree, node: int) -> list[float] | None:
    """Payoffs (N,) at the end of the hand if it can be played from a deal's node, else None."""
    for label, action in _MOVES:
        infoset = int(tree.infoset[node])
        if infoset < 0 or tree.infoset_labels[infoset] != label:
            return None
        move = tree.infoset_actions[infoset].index(action)
        node = int(np.flatnonzero((tree.parent == node) & (tree.move == move))[0])
    payoffs: list[float] = tree.payoffs.table[tree.terminals == node][0].tolist()
    return payoffs


_HALF, _NOTHING = Fraction(1, 2), Fraction(0)
# The paper says that its solution is in the family but for a33 = 0, and for a half that it names
# c32 (check, bet) and describes as c33 (bet, fold), which is 1/2 - b32 in the family at beta = 0.
READINGS: dict[str, dict[str, Fraction]] = {
    "family": {},
    "as_named": {"a33": _NOTHING, "c32": _HALF},
    "as_described": {"a33": _NOTHING, "c33": _HALF},
    "a33_alone": {"a33": _NOTHING},
}


def profiles(folder: Path, _jobs: Path, *, full: bool) -> Summary:
    """Names of the profiles written into the folder, one for each reading, at b32 = c11 = 1/4."""
    quarter = Fraction(1, 4)
    for name, changed in READINGS.items():
        text = profile_text(load_game(FULL).tree, _member(quarter, quarter, changed), FULL)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return {"profiles": sorted(READINGS)}


def grid(_folder: Path, _jobs: Path, *, full: bool) -> Summary:
    """Exact regrets of each reading over free parameters, and of pairs (a33, c32)."""
    eighths, quarters = ([Fraction(k, n) for k in range(5)] for n in (8, 4))
    middle = quarters[1]
    return {
        "readings": {
            name: [_measured(b32, c11, changed) for b32 in eighths for c11 in eighths]
            for name, changed in READINGS.items()
        },
        "pairs": [
            {"a33": str(a33), "c32": str(c32)} | _measured(middle, middle, {"a33": a33, "c32": c32})
            for a33 in quarters
            for c32 in quarters
        ],
    }


def _member(b32: Fraction, c11: Fraction, changed: dict[str, Fraction]) -> BehaviorProfile:
    """The family's member with beta = 0 and c34 = 0, with some frequencies changed."""
    sets = published_sets(load_game(FULL))
    known = next(one for one in sets if one.name == "szafron:0<c11<1/2")
    parameters = dict.fromkeys(known.parameters, _NOTHING)
    names = known.exact.names(parameters | {"b32": b32, "c11": c11, "c33": _HALF - b32}) | changed
    return known.layout.exact_profile([names[variable] for variable in known.layout.variables])


def _measured(b32: Fraction, c11: Fraction, changed: dict[str, Fraction]) -> Summary:
    found = verify_exactly(load_game(FULL).tree, _member(b32, c11, changed))
    return {
        "b32": str(b32),
        "c11": str(c11),
        "regrets": [str(regret) for regret in found.regrets],
        "payoffs": [str(payoff) for payoff in found.payoffs],
    }


def gambit_says(_folder: Path, _jobs: Path, *, full: bool) -> Summary:
    """How pygambit itself answers each method, empty text where it ran.

    `refusals` are of methods for two players, called with the reduced game; `agents` of the
    methods for trees that look for agent equilibria, called with a small tree of three players.
    """
    try:
        import pygambit
    except ImportError:
        return {"unavailable": "pygambit is not installed; pip install 'eqbench[gambit]'"}
    specs = ("kuhn3_reduced", "random_tree(players=3,depth=3,actions=2,seed=1)")
    reduced, small = (pygambit.read_efg(StringIO(efg_text(load_game(s).tree))) for s in specs)
    starts = {"enumpure": small, "liap": small.mixed_behavior_profile()}

    def answer(function: str, start: Any) -> str:
        if not hasattr(pygambit.nash, function):
            return f"pygambit has no {function}"
        try:
            getattr(pygambit.nash, function)(start)
        # whatever it raises is the answer
        except Exception as error:
            return str(error) or type(error).__name__
        return ""

    return {
        "version": pygambit.__version__,
        "refusals": {n: answer(f"{n}_solve", reduced) for n in ("enummixed", "lcp", "lp")},
        "agents": {name: answer(f"{name}_agent_solve", starts[name]) for name in starts},
    }


def rounded(folder: Path, jobs: Path, *, full: bool) -> Summary:
    """Exact regrets of the end of Gambit's path, rounded to four digits as its window shows it."""
    found = {}
    for cell, stored in _best_profiles(jobs / "race"):
        if cell.solver != "gambit_logit_path":
            continue
        behavior = {
            player: {label: _rounded_row(row) for label, row in sets.items()}
            for player, sets in stored["behavior"].items()
        }
        document, tree = {"game": cell.game, "behavior": behavior}, load_game(cell.game).tree
        (folder / f"{cell.game}.json").write_text(json.dumps(document, indent=1) + "\n", "utf-8")
        measured = verify_exactly(tree, profile_from_json(tree, document))
        found[cell.game] = {
            "profile": f"{cell.game}.json",
            "regrets": [str(regret) for regret in measured.regrets],
            "a33": behavior["P1"]["3:KBF"]["call"],
        }
    return found


def _rounded_row(row: dict[str, Any]) -> dict[str, str]:
    """A row with all but its last frequency rounded, which is what the others leave of 1."""
    *first, last = row
    values = {action: Fraction(str(round(float(row[action]), 4))) for action in first}
    values[last] = 1 - sum(values.values(), Fraction(0))
    return {action: str(value) for action, value in values.items()}


def table_1(_folder: Path, jobs: Path, *, full: bool) -> Summary:
    """Figures per size and method from the run of the experiment."""
    run = read_run(jobs / "table_1_run")
    parts = run.plan.get("parts") or [run.plan["request"]]
    limits = {spec: part["timeout_s"] for part in parts for spec in part["games"]}
    sizes: dict[str, list[CellRecord]] = {}
    for cell in run.finished:
        options = dict(parse_spec(cell.game).options)
        sizes.setdefault(f"{options['players']}x{options['actions']}", []).append(cell)
    return {"sizes": [of_size(size, own, limits[own[0].game]) for size, own in sizes.items()]}


def of_size(size: str, cells: Sequence[CellRecord], timeout_s: float) -> Summary:
    """Figures of both methods on the games of one size; times in seconds.

    Times are those of games that were solved, which is `ok` within the limit, or came to the
    limit. A game at the limit counts as the limit, so that every mean that it touches is a lower
    bound. Games that failed, or for which a solver never ran, have no time. The ratio is that of
    the second method's mean to the first's, over the games for which both have a time.
    """
    times, solvers = [], []
    for method in ("ncp", "mip"):
        own = [cell for cell in cells if parse_spec(cell.solver).name == method]
        known = {c.game: t for c in own if (t := _time(c, timeout_s)) is not None}
        times.append(known)
        solvers.append(
            {
                "games": len(own),
                "solved": sum(time < timeout_s for time in known.values()),
                "median_s": median(known.values()) if known else None,
                "mean_with_timeouts_s": fmean(known.values()) if known else None,
                "precise": sum(c.max_regret is not None and c.max_regret <= 1e-6 for c in own),
                "reasons": {c.status: c.reason for c in own if c.game not in known},
            }
        )
    common = [game for game in times[0] if game in times[1]]
    means = [fmean(own[game] for game in common) if common else 0.0 for own in times]
    bounded = [any(own[game] >= timeout_s for game in common) for own in times]
    one = "lower" if bounded[1] else "upper"
    bound = "unbounded" if all(bounded) else one if any(bounded) else "exact"
    ratio = {"value": means[1] / means[0], "bound": bound} if means[0] else None
    return {"size": size, "solvers": solvers, "ratio": {"games": len(common), "of_means": ratio}}


def _time(cell: CellRecord, timeout_s: float) -> float | None:
    """Seconds that a cell counts for: less than the limit if it was solved, or the limit."""
    if cell.status in ("timeout", "limit"):
        return timeout_s
    if cell.status != "ok" or cell.elapsed_s is None:
        return None
    # children are killed a little after the limit, and some end well in between
    return min(cell.elapsed_s, timeout_s)
