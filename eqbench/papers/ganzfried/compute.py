"""Results that no command prints: the conditions, a hand, the family changed, Gambit's words."""

from __future__ import annotations

from fractions import Fraction
from io import StringIO
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

from eqbench.extras import reason_of
from eqbench.model.gambit_text import efg_text
from eqbench.model.game import Game
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.profile import BehaviorProfile, action_labels, random_profile
from eqbench.model.profile_json import profile_from_json, profile_text, read_profile
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray, GameTree
from eqbench.papers.encyclopedia.compute import hands
from eqbench.papers.records import Table
from eqbench.papers.szafron import family
from eqbench.registry import load_game
from eqbench.store.results import equilibrium_frame, stored_runs
from eqbench.verification import verify, verify_exactly

FULL, REDUCED = "kuhn3", "kuhn3_reduced"
STRATEGIC = "random(players=3,actions=3,seed=0)"
TWO_PLAYERS = "random_tree(players=2,depth=5,actions=3,seed=1)"


def conditions(_folder: Path, jobs: Path, *, full: bool) -> Table:
    """Least complementarity with regrets, slacks in strategic form, and the last line of the LCP.

    For fixed plans the conditions are linear in multipliers and slacks. Over all multipliers
    lambda with slacks r = E' lambda - V >= 0, the smallest x r is a linear program, which is dual
    to the best response: it is the regret of the player. So it is 0 in equilibria and in no other
    profile. Random profiles stand next to the equilibria of the job `checked`.
    """
    rng = np.random.default_rng(0)
    found = {spec: found_by(jobs / "checked", spec)[0] for spec in (FULL, STRATEGIC)}
    games = {spec: load_game(spec) for spec in (*found, TWO_PLAYERS)}
    at = {spec: least_gaps(games[spec], own) for spec, own in found.items()}
    drawn = [(games[spec], random_profile(games[spec].tree, rng)) for spec in at for _ in range(20)]
    others = [least_gaps(*one) for one in drawn]
    gaps, regrets = (np.array([one[name] for one in others]) for name in ("gaps", "regrets"))
    slacks = max(at[STRATEGIC]["slacks"][3:].reshape(3, 3).round(9), key=np.ptp)
    whole, pair = (games[spec].sequence_form for spec in (FULL, TWO_PLAYERS))
    matrix = whole.flow()[:, whole.sequence_player == 0]
    rows, columns = np.bincount(pair.sequence_player).tolist()
    of_two = least_gaps(games[TWO_PLAYERS], found_by(jobs / "two_players", TWO_PLAYERS)[0])
    return {
        "E": [matrix.any(axis=axis).sum() for axis in (1, 0)],
        "equilibria": {"least x·r": [one["gaps"].max() for one in at.values()]},
        "other profiles": {
            "least x·r": gaps.max(axis=1).min(),
            "off the regret by": np.abs(gaps - regrets).max(),
        },
        "B": {"rows": rows, "columns": columns, "with Bᵀ": of_two["gaps"][1]},
        "slacks": {
            "of a player": slacks,
            "apart": np.ptp(slacks),
            "max regret": at[STRATEGIC]["regrets"].max(),
        },
    }


def found_by(folder: Path, game: str, solver: str = "") -> list[FloatArray]:
    """Frequencies (A,) of the best profiles of a game in a run, of some solver if one is named."""
    best, tree = equilibrium_frame(stored_runs(folder)), load_game(game).tree
    best = best[(best["rank"] == 0) & (best["game"] == game)].dropna(subset=["profile"])
    files = best["profile"][best["solver"] == solver] if solver else best["profile"]
    return [profile_from_json(tree, read_profile(file)).probabilities for file in files]


def least_gaps(game: Game, behavior: FloatArray) -> dict[str, FloatArray]:
    """Smallest sums of x_s r_s that any multipliers leave each player, slacks r, and regrets."""
    form, matrix = game.sequence_form, game.sequence_form.flow()
    plans = RealizationPlan.of(form, behavior).weights.copy()
    values = SequenceFormModel(form).direct_values(plans)
    goal = 1.0 * (np.arange(len(matrix)) < form.n_players)  # x E' lambda is the roots' multipliers
    answer = linprog(goal, A_ub=-matrix.T, b_ub=-values, bounds=(None, None), method="highs")
    slacks = matrix.T @ np.asarray(answer.x) - values
    measured = verify(game.tree, BehaviorProfile.of(game.tree, behavior))
    return {
        "gaps": np.bincount(form.sequence_player, plans * slacks),
        "slacks": slacks,
        "regrets": np.array(measured.regrets, dtype=float),
    }


def hand(_folder: Path, _jobs: Path, *, full: bool) -> Table:
    """Profits and pot of the hand, and how many information sets each player has."""
    tree = load_game(FULL).tree
    # Queen, King and Ace; player 3 bets, player 1 folds, player 2 calls
    played = (2, 3, 4), "check check bet fold call"
    (paid,) = (hand.payoffs for hand in hands(tree) if hand[:2] == played)
    profits = dict(enumerate(map(int, paid), start=1))
    pot = profits[3] + 2  # ante and bet of player 3, taken back with the pot
    return {"profits": profits, "pot": pot, "infosets": np.bincount(tree.infoset_player)}


_HALF, _NOTHING = Fraction(1, 2), Fraction(0)
# The paper says that its solution is in the family but for a33 = 0, and for a half that it names
# c32 (check, bet) and describes as c33 (bet, fold), which is 1/2 - b32 in the family at beta = 0.
READINGS: dict[str, family.Values] = {
    "family": {},
    "as_named": {"a33": _NOTHING, "c32": _HALF},
    "as_described": {"a33": _NOTHING, "c33": _HALF},
    "a33_alone": {"a33": _NOTHING},
}


def readings(folder: Path, _jobs: Path, *, full: bool) -> Table:
    """Exact regrets of each reading over free parameters, and of pairs (a33, c32).

    The profiles of the readings at b32 = c11 = 1/4 are written into the folder.
    """
    quarter = Fraction(1, 4)
    eighths, quarters = ([Fraction(k, n) for k in range(5)] for n in (8, 4))
    for name, changed in READINGS.items():
        profile = family.profile(_member(quarter, quarter, changed))
        text = profile_text(load_game(FULL).tree, profile, FULL)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return {
        "readings": {
            name: [_measured(_member(*values, changed)) for values in product(eighths, eighths)]
            for name, changed in READINGS.items()
        },
        "pairs": [
            {"a33": a33, "c32": c32}
            | _measured(_member(quarter, quarter, {"a33": a33, "c32": c32}))
            for a33, c32 in product(quarters, quarters)
        ],
    }


def _member(b32: Fraction, c11: Fraction, changed: family.Values) -> family.Values:
    """The family's member with beta = 0 and c34 = 0, with some frequencies changed."""
    return family.member({"b32": b32, "c11": c11, "c33": _HALF - b32}) | changed


def _measured(values: family.Values) -> Table:
    found = family.measured(values)
    return {"regrets": found.regrets, "payoffs": found.payoffs}


def gambit_says(_folder: Path, _jobs: Path, *, full: bool) -> Table:
    """Answers of pygambit itself to each method, which may refuse more than two players.

    Methods for two players are called with the reduced game; those for trees, which look for agent
    equilibria, with a small tree of three players.
    """
    try:
        import pygambit
    except ImportError as error:
        return {"unavailable": reason_of("pygambit", error)}
    specs = (REDUCED, "random_tree(players=3,depth=3,actions=2,seed=1)")
    reduced, small = (pygambit.read_efg(StringIO(efg_text(load_game(s).tree))) for s in specs)
    starts = {f"{name}_solve": reduced for name in ("enummixed", "lcp", "lp")}
    starts |= {"enumpure_agent_solve": small, "liap_agent_solve": small.mixed_behavior_profile()}
    found = {}
    for function, start in starts.items():
        try:
            getattr(pygambit.nash, function)(start)
            answer = "it runs"
        # whatever it raises is the answer
        except Exception as error:
            answer = str(error) or type(error).__name__
        found[function] = {"answer": answer, "two players only": "two-player" in answer}
    return found


def rounded(_folder: Path, jobs: Path, *, full: bool) -> Table:
    """Gain at the end of Gambit's path, and rounded to four digits as its window shows it."""
    tree = load_game(REDUCED).tree
    found = found_by(jobs / "race", REDUCED, "gambit_logit_path")
    if not found:
        return {"unavailable": "Gambit's path left no profile on the reduced game"}
    exact = rounded_rows(tree, found[0])
    before = float(verify(tree, BehaviorProfile.of(tree, found[0])).max_regret)
    gain = float(verify_exactly(tree, BehaviorProfile.of_exact(tree, exact)).max_regret)
    a33 = float(exact[action_labels(tree).index("P1|3:KBF|call")])
    return {"gain": gain, "a33": a33, "cause": {"before": before, "rounding adds": gain - before}}


def rounded_rows(tree: GameTree, behavior: FloatArray) -> list[Fraction]:
    """Frequencies (A,) of four digits; the last of each row is what the others leave of 1."""
    exact = [Fraction(str(round(frequency, 4))) for frequency in behavior.tolist()]
    for first, end in pairwise(tree.action_start.tolist()):
        exact[end - 1] = 1 - sum(exact[first : end - 1], Fraction(0))
    return exact
