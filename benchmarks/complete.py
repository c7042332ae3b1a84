"""Complete lists of random strategic forms, and how many of these equilibria others find."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from itertools import combinations, product
from math import lcm, prod
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np
from choice import kind_of
from flint import fmpq
from measuring import eqbench_json

from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.proofs.known import Known
from eqbench.proofs.prover import Face, Prover
from eqbench.proofs.rows import Algebra
from eqbench.registry import load_game
from eqbench.report.recall import Recall, recall_rows, recalls
from eqbench.report.trials import entries_of
from eqbench.solver import Limits, Monitor
from eqbench.solvers.case_enumeration.pieces import maximal, rational
from eqbench.solvers.case_enumeration.run import CaseRun
from eqbench.solvers.complete.complete import integer_payoffs
from eqbench.solvers.complete.pairs import product_sets
from eqbench.store.schema import EQUILIBRIA
from eqbench.store.stored_run import read_run
from eqbench.text import grouped

SAME = 1e-5  # largest difference of a frequency between profiles that count as one equilibrium


def generic_games(
    shapes: Sequence[Sequence[int]], methods: Sequence[str], timeout: float
) -> dict[str, Any]:
    """Run `complete` and other methods on games with uniform payoffs, a row for each kind.

    Parameters
    ----------
    shapes : numbers of players, of actions, and of games
    """
    rows = []
    for players, actions, games in shapes:
        specs = [f"random(players={players},actions={actions},seed={k})" for k in range(games)]
        with tempfile.TemporaryDirectory() as folder:
            given = [word for spec in specs for word in ("--game", spec)]
            given += ["--solver", ",".join(["complete", *methods]), "--timeout", f"{timeout:g}"]
            out = Path(folder) / "run"
            cells = eqbench_json("run", *given, "--seeds", "1", "--out", str(out))["cells"]
            profiles = {cell["game"] + cell["solver"]: _profiles(cell, out) for cell in cells}
        lists = {cell["game"]: cell for cell in cells if cell["solver"] == "complete"}
        for method in ["complete", *methods]:
            own = [cell for cell in cells if cell["solver"] == method]
            row: dict[str, Any] = {"shape": f"{actions}" + f"×{actions}" * (players - 1)}
            row |= {"method": method, "games": games, "ended": sum(_ended(c) for c in own)}
            row |= {"equilibria": 0, "found": 0, "others": 0, "seconds": []}
            for cell in own:
                known = profiles[cell["game"] + "complete"]
                found = profiles[cell["game"] + method]
                gaps = np.array([[abs(x - y).max() for y in known] for x in found])
                near = gaps.reshape(len(found), len(known)) <= SAME
                row["equilibria"] += len(known)
                row["found"] += int(near.any(axis=0).sum())
                if lists[cell["game"]]["statistics"].get("complete"):
                    row["others"] += int((~near.any(axis=1)).sum())
                row["seconds"].append(cell["elapsed_s"] or timeout)
            times = row.pop("seconds")
            row |= {"median_s": statistics.median(times), "most_s": max(times)}
            if method == "complete":
                row["complete"] = sum(bool(c["statistics"].get("complete")) for c in own)
                row["indices_sum_to_1"] = sum(_index(cell) == 1 for cell in own)
            rows.append(row)
    return {"rows": rows}


def _ended(cell: dict[str, Any]) -> bool:
    return cell["status"] in ("ok", "not_found", "stopped")


def _index(cell: dict[str, Any]) -> int | None:
    """Sum of the indices of all equilibria of a cell; None if one has none."""
    indices = [(each["kind"] or {}).get("index") for each in cell["equilibria"]]
    return None if None in indices else sum(indices)


def _profiles(cell: dict[str, Any], out: Path) -> list[Any]:
    """Frequencies of what a cell claims to be equilibria."""
    tree = load_game(cell["game"]).tree
    claimed = [each for each in cell["equilibria"] if each["claim"] != "iterate"]
    documents = [json.loads((out / each["profile"]).read_text()) for each in claimed]
    return [BehaviorProfile.from_json(tree, each).probabilities for each in documents]


def recall(words: Sequence[str] = ()) -> dict[str, Any]:
    """Run the experiment `recall`, or go on with it, and sum up by kind of game and solver.

    With `words`, further ones for ``eqbench run``, the run is not kept.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = ("--out", f"{folder}/run") if words else ()
        entries = entries_of([read_run(Path(eqbench_json("run", "recall", *words, *out)["run"]))])
    games = {entry.record.game_spec: entry.record.game for entry in entries}
    kinds = {spec: kind_of(load_game(game)) for spec, game in games.items()}
    of_kind = {"all": entries} | grouped(entries, lambda entry: kinds[entry.record.game_spec])
    rows = [
        {"kind": kind} | _summed(own) for kind, cells in of_kind.items() for own in recalls(cells)
    ]
    steps = [row for row in recall_rows(entries) if row["of"] == "taken"]
    claimed = [
        (entry, item)
        for entry in entries
        for item in entry.record.equilibria
        if item.claim in EQUILIBRIA
        and item.refuted is None
        and item.max_regret <= (entry.record.tolerance or 0.0)
    ]
    others = sum("place" not in item.verdicts for _, item in claimed)
    listed = grouped(
        (pair for pair in claimed if pair[0].record.solver == "complete"),
        lambda pair: pair[0].record.game_spec,
    )
    indices = [[(item.kind or {}).get("index") for _, item in own] for own in listed.values()]
    regular = [own for own in indices if None not in own]
    facts = {"claimed": len(claimed), "others": others, "regular": len(regular)}
    facts["sum_to_1"] = sum(sum(own) == 1 for own in regular)
    return facts | {"rows": rows, "steps": steps}


def _summed(own: Recall) -> dict[str, Any]:
    figures = {name: sum(asdict(own)[name]) for name in ("found", "of")}
    whole = sum(map(int.__eq__, own.found, own.of))
    time_s = statistics.fmean(own.seconds)
    row: dict[str, Any] = {"solver": own.solver, "games": own.games, "share": own.share}
    return row | figures | {"whole": whole, "time_s": time_s}


def recall_figure(data: Mapping[str, Any]) -> None:
    """Draw the chart of the shares that were found over time."""
    from figures import FOLDER

    from eqbench.api.shown import Chart
    from eqbench.report.charts import looks, whole

    solvers = dict.fromkeys(row["solver"] for row in data["steps"])
    others: dict[str, Any] = dict.fromkeys(("cells", "trials", "equilibria"), ())
    spec = whole("recall", others | {"solvers": looks(solvers), "recall": data["steps"]})
    spec["layer"] = spec["layer"][:2]  # without the points that a pointer finds
    Chart(spec).save(FOLDER / "recall.svg")


# -- Lists of one program proved complete by another ---------------------------------------------


def proved(games: Sequence[str], time_s: float) -> dict[str, Any]:
    """Enumerate all equilibria of each game, and prove with other code that there are no others.

    Games of two players are enumerated by `complete`, others by `case_enumeration`. The pieces are
    the known sets of a proof, unless one has irrational corners. Faces that are left open are
    compared with all corners and with the middles between them.
    """
    return {"rows": [_proved(load_game(spec), spec, time_s) for spec in games]}


def _proved(game: Game, spec: str, time_s: float) -> dict[str, Any]:
    begun = time.process_time()
    found = _pairs(game) if game.tree.n_players == 2 else _cases(game)
    pieces = [corners for _, corners in found]
    listed = time.process_time()
    firsts = {*game.tree.action_start[:-1].tolist()}  # whose weights are what others leave
    names = {f"w{a}": a for a in range(game.tree.n_actions) if a not in firsts}
    is_rational = all(isinstance(x, Fraction) for each in pieces for c in each for x in c)
    known = [
        Known(f"piece {k}", rows_of(each, names)) for k, each in enumerate(pieces) if is_rational
    ]
    prover = Prover(game, known, (), lambda: time.process_time() > listed + time_s)
    deque(prover.lines(), maxlen=0)
    middles = [
        [sum(own) / len(some) for own in zip(*some, strict=True)]
        for each in pieces
        for some in [each, *combinations(each, 2)]
    ]
    corners = [corner for each in pieces for corner in each]
    points = [_point(game, each) for each in [*corners, *middles]]
    empty = sum(not any(holds(face, *point) for point in points) for face in prover.proof.faces)
    return {
        "game": spec,
        "dimensions": sorted(dimension for dimension, _ in found),
        "nodes": prover.proof.nodes,
        "faces": len(prover.proof.faces),
        "empty_faces": empty,
        "enumeration_s": listed - begun,
        "proof_s": time.process_time() - listed,
    }


Corner = list[Any]  # a Fraction, or a float if it is irrational, for the weight of each action


def _pairs(game: Game) -> list[tuple[int, list[Corner]]]:
    """Dimension and extreme points of the maximal products of polytopes of two players."""
    sets: list[Any] = []
    product_sets(game.sequence_form, integer_payoffs(game), lambda: None, sets)
    owner, n = game.sequence_form.sequence_player, game.tree.n_players
    place = np.cumsum(owner[:, None] == np.arange(n), axis=0) - 1
    owners = list(enumerate(owner[n:].tolist(), n))
    found = []
    for each in sets:
        pairs = product(*each.plans)
        corners = [[Fraction(pair[i][place[s, i]]) for s, i in owners] for pair in pairs]
        found.append((each.dimension, corners))
    return found


def _cases(game: Game) -> list[tuple[int, list[Corner]]]:
    """Dimension and corners of the pieces of all cases.

    Weights are affine in frequencies where a path has one choice of each player.
    """
    tree = game.tree
    above, sets = tree.infoset_parent.tolist(), tree.action_infoset.tolist()
    choices: list[int] = []
    for actions, parent in zip(tree.infoset_actions, above, strict=True):
        choices.append((len(actions) > 1) + (choices[sets[parent]] if parent >= 0 else 0))
    assert max(choices) == 1
    run = CaseRun(game, Monitor(game, Limits(timeout_s=600.0, target=0.0), lambda _: None), "keep")
    if run.finish().reason != "converged":
        return []
    found = []
    for piece in maximal(run.pieces):
        corners = []
        for corner in piece.corners.values():
            seconds = dict(zip(run.sets, corner, strict=True))
            weights: Corner = []
            for i, parent in enumerate(above):
                reached = weights[parent] if parent >= 0 else Fraction(1)
                exact = rational(seconds.get(i, fmpq(0)))
                own = float(seconds[i]) if exact is None else Fraction(int(exact.p), int(exact.q))
                weights += [reached * (1 - own), reached * own][: len(tree.infoset_actions[i])]
            corners.append(weights)
        found.append((piece.dimension, corners))
    return found


def rows_of(
    corners: Sequence[Corner], names: Mapping[str, int]
) -> tuple[tuple[str, dict[str, int]], ...]:
    """The convex hull of corners, by some of their coordinates, as equations and facets."""
    points = [[*(corner[a] for a in names.values()), Fraction(1)] for corner in corners]
    equations = _nullspace(points)
    facets: dict[tuple[int, ...], None] = {}
    for some in combinations(points, len(points[0]) - len(equations) - 1):
        normals = _nullspace([*some, *equations])
        values = [sum(map(mul, normals[0], each)) for each in points]
        for sign in (1, -1):
            if len(normals) == 1 and any(values) and all(sign * value >= 0 for value in values):
                facets[tuple(_whole([sign * x for x in normals[0]]))] = None
    rows = [("0", _whole(each)) for each in equations] + [("+0", [*each]) for each in facets]
    return tuple(
        (sign, {name: x for name, x in zip([*names, "1"], row, strict=True) if x})
        for sign, row in rows
    )


def _whole(values: Corner) -> list[int]:
    common = lcm(*(value.denominator for value in values))
    return [int(value * common) for value in values]


def _nullspace(rows: Sequence[Corner]) -> list[Corner]:
    """A basis of all that is orthogonal to rows."""
    reduced, pivots, size = [list(row) for row in rows], [], len(rows[0])
    for column in range(size):
        rest = [row for row in reduced[len(pivots) :] if row[column]]
        if not rest:
            continue
        reduced.remove(rest[0])
        pivot = [x / rest[0][column] for x in rest[0]]
        reduced = [
            [x - row[column] * y for x, y in zip(row, pivot, strict=True)] for row in reduced
        ]
        reduced.insert(len(pivots), pivot)
        pivots.append(column)
    basis = []
    for free in (column for column in range(size) if column not in pivots):
        vector = [Fraction(int(column == free)) for column in range(size)]
        for row, pivot in zip(reduced, pivots, strict=False):
            vector[pivot] = -row[free]
        basis.append(vector)
    return basis


def _point(game: Game, weights: Corner) -> tuple[Corner, list[bool]]:
    """Weights, and which actions are as good as any of their sets, up to rounding."""
    algebra, tree = Algebra.of(game), game.tree
    values: dict[int, float] = {}
    worth = [0.0] * tree.n_actions
    for infoset in reversed(range(tree.n_infosets)):
        for action in range(*tree.action_start[infoset : infoset + 2].tolist()):
            terms = algebra.payoff.get(action, {}).items()
            own = sum(c * prod(float(weights[a]) for a in monomial) for monomial, c in terms)
            worth[action] = own + sum(values[i] for i in algebra.following.get(action, ()))
        values[infoset] = max(worth[slice(*tree.action_start[infoset : infoset + 2].tolist())])
    sets = tree.action_infoset.tolist()
    scale = 1e-9 * algebra.unit * tree.payoff_range
    return weights, [values[sets[a]] - worth[a] <= scale for a in range(tree.n_actions)]


def holds(face: Face, weights: Corner, is_best: Sequence[bool]) -> bool:
    """Whether an equilibrium is in a face."""
    signs = {"+": 1, "-": -1, "0": 0}
    splits = [
        (sum(c * prod(float(weights[int(f[1:])]) for f in name.split("*") if f != "1")
             for name, c in form.items()), {signs[each] for each in sign})
        for form, sign in face.splits.values()
    ]  # fmt: skip
    return (
        all(abs(weights[a]) < 1e-9 for a in face.out)
        and all(is_best[a] for a in face.within)
        and all((value > 1e-9) - (value < -1e-9) in allowed for value, allowed in splits)
    )
