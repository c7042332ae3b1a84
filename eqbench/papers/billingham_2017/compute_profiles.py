"""Profiles of the published solutions: as printed, along the pot, and to start beside them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.expressions import evaluate
from eqbench.equilibria.members import members
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2017.found import NAMES, layout_of
from eqbench.papers.billingham_2017.jobs import BESIDE, ENDS, PRINTED
from eqbench.registry import load_game
from eqbench.studies.study_files import write_texts
from eqbench.verification import Verifier

BESIDE_BY = 0.01
SAMPLES = 4
SUMS = ("c2+d3", "c3+d1", "c1+d2")
BOUND_POTS = ("5/2", "3.1", "3.35", "3.45", "3.7")  # where player 1 does not bet
BEYOND = Fraction(1, 20)

_L, _U = "(2*P-4)/(P+1)", "2/(P+1)"
_SOLUTION_1 = {
    **{"a1": "0", "b1": "0", "a2": "0", "b2": "0", "b3": _U, "c1": "0", "d2": _L},
    **dict.fromkeys(("c2", "d3", "c3", "d1"), f"({_L} + {_U})/4"),
}
_SOLUTION_2 = {
    **{"a1": "0", "b1": "0", "a2": "1/2", "b2": "1/(P+1)", "b3": _U, "c1": "2*P-6"},
    **{"d2": "(3+6*P-2*P**2)/(P+1)", "c3": "0", "d1": _L},
    **dict.fromkeys(("c2", "d3"), f"({_L} + 3/(P+1))/4"),
}
_SOLUTION_10A = {
    **{"a1": "1", "b1": "2/5", "a2": "1", "b2": "1/3", "b3": "5/18", "c1": "2/3", "d2": "1"},
    **{"c3": "1", "d1": "1/3", "c2": "0", "d3": "1"},
}
# the corrected profile of each, and the one entry that is put back to what is printed
_PROFILES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "1": (_SOLUTION_1, {"d2": "2/(P+1)"}),
    "2": (_SOLUTION_2, {"b3": "1/(P+1)"}),
    "10a_b1": (_SOLUTION_10A, {"b1": "1/2"}),
    "10a_b2": (_SOLUTION_10A, {"b2": "1/2"}),
    "10a_d1": (_SOLUTION_10A, {"d1": "1/2"}),
    "1_corrected": (_SOLUTION_1, {}),
    "2_corrected": (_SOLUTION_2, {}),
    "10a_corrected": (_SOLUTION_10A, {}),
}


def printed(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Members of solutions with an error in them as printed, and corrected, as profiles."""
    texts, frequencies = {}, {}
    for name, (member, as_printed) in _PROFILES.items():
        pot = Fraction(PRINTED[name])
        game = load_game("skp").at(pot=pot)
        values = {key: evaluate(text, {"P": pot}) for key, text in (member | as_printed).items()}
        profile = layout_of(game).exact_profile([values[key] for key in NAMES])
        texts[f"{name}.json"] = profile_text(game.tree, profile, game.spec)
        frequencies[name] = {key: str(value) for key, value in values.items()}
    write_texts(folder, texts)
    return frequencies


def curves(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """The least and the largest value of all figures over each published set, along the pot.

    Each member that is looked at is measured by the verifier.
    """
    step = Fraction(1, 100 if full else 50)
    grid = {2 + step * k for k in range(int(4 / step) + 1)}
    rows: list[dict[str, Any]] = []
    for pot in sorted(grid | {Fraction(text) for text in ENDS.values()}):
        game = load_game("skp").at(pot=pot)
        verifier, sets = Verifier(game.tree), _pieces(game)
        for name, pieces in sets.items():
            figures = [row for known in pieces for row in _figures(known, verifier)]
            low, high = np.min(figures, axis=0), np.max(figures, axis=0)
            columns = (*NAMES, *SUMS, "E1", "E2", "E3", "max_regret")
            ends = np.transpose([low, high]).tolist()
            rows.append({"pot": float(pot), "name": name} | dict(zip(columns, ends, strict=True)))
    return {"rows": rows, "max_regret": max(row["max_regret"][1] for row in rows)}


def _pieces(game: Game) -> dict[str, list[KnownSet]]:
    """Published sets by name; the convex pieces of one set share it."""
    pieces: dict[str, list[KnownSet]] = {}
    for known in known_sets(game):
        pieces.setdefault(known.name.removeprefix("skp:"), []).append(known)
    return pieces


def _figures(known: KnownSet, verifier: Verifier) -> Iterator[FloatArray]:
    """Frequencies, sums, 24 times the payoffs, and the regret, of members of a set."""
    for member in members(known, SAMPLES, np.random.default_rng(0)):
        frequencies = np.clip(known.frequencies(member.parameters), 0.0, 1.0)
        value = dict(zip(known.layout.variables, frequencies.tolist(), strict=True))
        behavior = known.layout.behavior(frequencies)
        measured = verifier.verify(BehaviorProfile.of(verifier.tree, behavior))
        sums = [sum(value[name] for name in names.split("+")) for names in SUMS]
        payoffs = [24 * float(payoff) for payoff in measured.payoffs]
        own = [value[name] for name in NAMES]
        yield np.array([*own, *sums, *payoffs, float(measured.max_regret)])


def starts(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Interior profiles beside a member of each solution, for trajectories to start from."""
    texts: dict[str, str] = {}
    document: dict[str, Any] = {}
    for name, pot in BESIDE.items():
        game = load_game("skp").at(pot=Fraction(pot))
        (known,) = _pieces(game)[name]
        found = members(known, SAMPLES, np.random.default_rng(0))
        variables = known.layout.variables
        member = known.frequencies(found[0].parameters)
        others = np.array([known.frequencies(other.parameters) for other in found])
        start = np.clip(member + BESIDE_BY, BESIDE_BY, 1 - BESIDE_BY)
        profile = BehaviorProfile.of(game.tree, known.layout.behavior(start))
        texts[f"beside_{name}.json"] = profile_text(game.tree, profile, game.spec)
        fixed = np.ptp(others, axis=0) <= 1e-12
        document[name] = {
            "pot": pot,
            "member": dict(zip(variables, member.tolist(), strict=True)),
            "determined": [v for v, same in zip(variables, fixed.tolist(), strict=True) if same],
        }
    write_texts(folder, texts)
    return document


def bounds(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """What player 1 gains, times 24, where c2 + d3 is beyond its bounds, and by what."""
    found: dict[str, list[dict[str, Any]]] = {"above": [], "below": []}
    for pot in BOUND_POTS:
        game = load_game("skp").at(pot=Fraction(pot))
        model = game.payoff_model()
        for known in known_sets(game):
            choices = [
                known.frequencies(m.parameters)
                for m in members(known, SAMPLES, np.random.default_rng(0))
            ]
            variables = known.layout.variables
            c2, d3 = variables.index("c2"), variables.index("d3")
            sums = [choice[c2] + choice[d3] for choice in choices]
            for side, extreme, step in (("above", max, BEYOND), ("below", min, -BEYOND)):
                choice = choices[sums.index(extreme(sums))].copy()
                # one of the two stays inside [0, 1], whatever the other is
                moved = d3 if 0 <= choice[d3] + step <= 1 else c2
                choice[moved] += float(step)
                found[side].append(
                    {"pot": pot, "name": known.name} | _best_deviation(known, model, choice)
                )
    return found


def _best_deviation(known: KnownSet, model: Any, choice: FloatArray) -> dict[str, Any]:
    """The frequency of player 1 that gains most, at 0 or 1, and its gain times 24."""
    variables = known.layout.variables
    base = float(model.expected_payoffs(known.layout.behavior(choice))[0])
    gains = {}
    for place, name in enumerate(variables):
        if name[1] == "1":
            for value in (0.0, 1.0):
                other = choice.copy()
                other[place] = value
                payoff = float(model.expected_payoffs(known.layout.behavior(other))[0])
                gains[f"{name} = {value:g}"] = 24 * (payoff - base)
    best = max(gains, key=gains.__getitem__)
    return {"best": best, "max_gain": gains[best]}
