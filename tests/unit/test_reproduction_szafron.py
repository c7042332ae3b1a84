"""Szafron, Gibson and Sturtevant 2013 as a source: its claims, and readings that can fail."""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reproduction_store import mark_run

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.studies.reproduction.claims import Part
from eqbench.studies.reproduction.judge import judge
from eqbench.studies.reproduction.szafron import SOURCE
from eqbench.studies.reproduction.szafron.appendix import EQUATIONS, LEMMAS, TABLE_2
from eqbench.studies.reproduction.szafron.certificates import changes, measured
from eqbench.studies.reproduction.szafron.family import corner_members, sample
from eqbench.studies.reproduction.szafron.formulas import (
    dominance,
    in_family,
    payoff_polynomials,
    reach_polynomial,
)
from eqbench.studies.reproduction.szafron.notation import (
    NECESSARY,
    SUB_FAMILIES,
    in_kappa,
    load_kuhn3,
    member,
    profile,
    violated,
)
from eqbench.studies.reproduction.szafron.open_question_part import METHODS, SUMMARY
from eqbench.studies.reproduction.szafron.polish import exact_near, polished
from eqbench.studies.reproduction.szafron.polynomials import Polynomial, parsed
from eqbench.studies.reproduction.szafron.printed_formulas import REACH_C43, STEPS, U1, U2, U3
from eqbench.studies.reproduction.szafron.selection import table_4_values, two_player_document
from eqbench.studies.reproduction.szafron.sub_families import DIMENSIONS
from eqbench.studies.reproduction.szafron.table_3 import TABLE_3
from eqbench.studies.reproduction.szafron.table_4 import TABLE_4
from eqbench.studies.reproduction.szafron.text import compute as compute_text
from eqbench.verification import verify, verify_exactly

QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)


# -- structure -----------------------------------------------------------------------------


def test_every_cell_of_a_part_has_a_place_of_its_own() -> None:
    for part in SOURCE.parts:
        places = Counter((claim.row, claim.column) for claim in part.claims)
        assert max(places.values()) == 1, (part.title, places.most_common(1))
    assert len({part.title for part in SOURCE.parts}) == len(SOURCE.parts)


def test_tables_have_as_many_cells_as_in_the_paper() -> None:
    """Szafron et al. 2013: 12 cells in Table 1, 21 values in Table 2; Table 3 has 9 rows of three
    with three more bounds for player 2, Table 4 has 9 rows; both end with three utilities."""
    titles = {part.title.partition(":")[0]: len(part.claims) for part in SOURCE.parts}
    assert titles["Table 1"] == 12
    assert titles["Table 2"] == 21
    assert titles["Table 3"] == 9 * 3 + 3 + 3
    assert titles["Table 4"] == 9 * 3 + 3
    assert {f"Figure {number}" for number in range(1, 8)} <= set(titles)


def test_every_figure_has_a_picture() -> None:
    for part in SOURCE.parts:
        if part.title.startswith("Figure"):
            assert part.pictures


def test_jobs_that_are_read_exist_and_have_names_of_their_own() -> None:
    names = [job.name for job in SOURCE.jobs]
    assert len(set(names)) == len(names)
    needed = {name for job in SOURCE.jobs for name in job.required(full=True)}
    assert needed <= set(names)


@cache
def kuhn3_payoffs() -> list[Polynomial]:
    return payoff_polynomials(load_kuhn3().tree)


# -- computations --------------------------------------------------------------------------


def test_payoffs_have_as_many_terms_as_the_paper_counts() -> None:
    """Szafron et al. 2013, appendix: 333, 457 and 457 terms, then 134, 158 and 167."""
    payoffs = kuhn3_payoffs()
    assert [len(each) for each in payoffs] == [333, 457, 457]
    assert [len(each.at(NECESSARY)) for each in payoffs] == [134, 158, 167]


def test_equations_of_the_paper_are_the_game_s_own_payoffs() -> None:
    """Szafron et al. 2013, equations (1) to (5)."""
    tree = load_kuhn3().tree
    payoffs = kuhn3_payoffs()
    for player, text in enumerate((U1, U2, U3)):
        assert not (in_family(payoffs[player], player) - parsed(text, {})).terms
    reach = reach_polynomial(tree, "c43")
    assert not (reach - parsed(REACH_C43, {})).terms
    assert not (payoffs[2].derivative("c43") - 4 * reach).terms


def test_polynomials_agree_with_the_verifier_at_a_profile() -> None:
    game, one = load_kuhn3(), sample(1, seed=5)[-1]
    payoffs = verify_exactly(game.tree, profile(game, one.values)).payoffs
    found = [each.value(one.values) / 24 for each in kuhn3_payoffs()]
    assert found == list(payoffs)


def test_polynomials_are_written_and_parsed_alike() -> None:
    text = parsed("2*x - (x - 1/2)*y + x*x", {"z": Polynomial({})})
    assert str(text) == "2*x + 1/2*y + x*x - x*y"
    assert text.derivative("x").at({"y": 3}).value({"x": Fraction(1)}) == 1


def test_values_of_table_2_are_forced_and_others_are_not() -> None:
    found = dominance(load_kuhn3().tree)
    assert {name: int(each["least"] > 0) for name, each in found.items()} == NECESSARY
    assert all(each["most"] < 0 or each["least"] > 0 for each in found.values())
    assert all(each["histories"] == 6 for each in found.values())


def test_members_keep_table_3_and_what_is_broken_does_not() -> None:
    members = [*corner_members()[::7], *sample(2, seed=6)[-6:]]
    assert {one.sub_family for one in members} == set(SUB_FAMILIES)
    assert not any(violated(one.values) for one in members)
    for name, change in changes().items():
        for one in members:
            assert all(violated(values) for values in change(one.values)), name


def test_regret_of_a_member_is_zero_and_beyond_a_bound_it_is_not() -> None:
    game, one = load_kuhn3(), sample(1, seed=7)[-1]
    assert measured(game, one.values).max_regret == 0
    (beyond,) = changes()["b32"](one.values)
    assert measured(game, beyond).max_regret > 0


def test_table_4_gives_player_1_a_gain_that_the_paper_does_not_mention() -> None:
    """Szafron et al. 2013, §6, Table 4: c33 = 1/4 is below 1/2 - b32."""
    found = measured(load_kuhn3(), table_4_values())
    assert [in_kappa(Fraction(regret)) for regret in found.regrets] == ["2κ", "κ/4", "0"]


def test_sub_family_between_is_not_convex() -> None:
    """Its bound (2 - b11)/(3 + 4 b11) of c11 is a convex function of b11."""
    game, ends = load_kuhn3(), ((Fraction(1, 6), Fraction(479, 960)), (QUARTER, Fraction(7, 16)))

    def regret(bluff: Fraction, c11: Fraction) -> Any:
        free = {"b11": bluff, "b21": bluff, "b32": HALF, "c11": c11, "c33": Fraction(0)}
        return measured(game, member(free)).max_regret

    assert [regret(*end) for end in ends] == [0, 0]
    middle = [(a + b) / 2 for a, b in zip(*ends, strict=True)]
    assert regret(*middle) > 0


def test_line_of_two_player_equilibria_is_exact_and_a_change_is_noticed() -> None:
    """Kuhn 1950; Szafron et al. 2013, §7."""
    tree = eqbench.load_game("kuhn2").tree
    document = two_player_document(HALF)
    assert verify_exactly(tree, profile_from_json(tree, document)).max_regret == 0
    document["behavior"]["P2"]["1:K"] = {"check": "1/2", "bet": "1/2"}
    assert verify_exactly(tree, profile_from_json(tree, document)).max_regret > 0


def test_polishing_brings_a_blurred_member_back_and_fractions_certify_it() -> None:
    game = load_kuhn3()
    values = member({"b11": QUARTER, "b21": QUARTER, "b32": HALF, "c11": QUARTER, "c33": QUARTER})
    exact = profile(game, values)
    away = np.clip(exact.probabilities + 1e-7 * np.tile([1.0, -1.0], 48), 0.0, 1.0)
    away /= np.repeat(away.reshape(-1, 2).sum(axis=1), 2)
    tree = game.tree
    before = verify(tree, BehaviorProfile.of(tree, away)).max_regret
    after = min(verify(tree, each).max_regret for each in polished(game, away))
    assert after < 1e-14 < 1e-9 < before
    certified = exact_near(game, exact.probabilities)
    assert certified is not None
    assert verify_exactly(game.tree, certified).max_regret == 0


# -- readings ------------------------------------------------------------------------------

FORMULA = {
    "difference": "0",
    "ours": "0",
    "smallest": "0",
    "largest": "0",
    "sign": "= 0",
    "printed_minus_exact": ["0", "0"],
    "members": 3,
    "terms": 9,
}
ALL = {
    **{"equilibria": 3, "sharp": 3, "different": 3, "different_outcomes": 2, "strict": 1},
    **{"on_path": 2, "outside": 0, "polished": 0, "moved": 0.0, "beta": [0.0, 0.25]},
    "names": {"c11=0": 1, "0<c11<1/2": 1, "c11=1/2": 1},
    **{"largest_regret": 1e-16, "first_bets": 0.0, "off_table_2": 0.0, "off_segment": 0.0},
}
STORE: dict[str, Any] = {
    "formulas": {
        "steps": [dict(FORMULA, sign=step.sign or "= 0") for step in STEPS],
        "dominance": {
            name: {"least": 4 if value else -1, "most": 4 if value else -1, "histories": 6}
            for name, value in NECESSARY.items()
        },
        "terms": [333, 457, 457],
        "terms_necessary": [134, 158, 167],
        "derivative_minus_4_reach": 0,
        "reach_c43": FORMULA,
        "derivative_c43": FORMULA,
        "equations": {"3": FORMULA, "4": FORMULA, "5": FORMULA},
    },
    "certificates": {
        "step": "1/64",
        "certificates": {
            name: {"members": 5, "equilibria": 5, "corners": 2, "payoffs_as_printed": [5, 5, 5]}
            | {"dimensions": [5 if name == "c11=1/2" else 4] * 5}
            for name in SUB_FAMILIES
        },
        "beyond": {
            name: {"profiles": 4, "not_equilibria": 4, "least": "κ/64", "most": "κ"}
            for name in changes()
        },
        "convexity": {
            name: {"pairs": 6, "not_equilibria": 0, "worst": "0", "example": []}
            for name in SUB_FAMILIES
        },
    },
    "open_question": {
        "threshold": 6e-9,
        "all": ALL,
        "solvers": {"logit(prior=random)": ALL | {"cells": 3}},
        "outside": [],
        "unfinished": {"solvers": {}, "at_random": 0.03},
    },
}


def verdict(folder: Path, part: Part, place: tuple[str, str], store: dict[str, Any]) -> str:
    """Verdict of a cell on summaries that are laid down as if their jobs had been run."""
    for name, summary in store.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "summary.json").write_text(json.dumps(summary))
    (claim,) = (each for each in part.claims if (each.row, each.column) == place)
    alone = replace(SOURCE, parts=(Part(part.title, (claim,)),))
    judged = judge(alone, mark_run(SOURCE, folder, store))
    found: str = judged["parts"][0]["claims"][0]["verdict"]
    return found


@pytest.mark.parametrize(
    ("part", "place", "path", "value", "expected"),
    [
        (TABLE_2, ("a24", "P1"), "formulas dominance a24 most", 1, "differs"),
        (EQUATIONS, ("Terms of u2", "Table 2 set"), "formulas terms_necessary 1", 159, "differs"),
        (
            *(EQUATIONS, ("(3): u3, others by Table 3", "")),
            *("formulas equations 3 difference", "b21", "differs"),
        ),
        (LEMMAS[0], ("∂u3/∂c22", ""), "formulas steps 3 largest", "1", "differs"),
        (TABLE_3, ("b41", "P2"), "certificates certificates c11=0 equilibria", 4, "differs"),
        (TABLE_3, ("b41", "P2"), "certificates beyond b41 not_equilibria", 0, "differs"),
        (
            *(TABLE_3, ("utility", "P1")),
            *("certificates certificates c11=0 payoffs_as_printed 0", 4, "differs"),
        ),
        (
            *(DIMENSIONS, ("Dimension, c11 = 1/2", "")),
            *("certificates certificates c11=1/2 dimensions 0", 4, "differs"),
        ),
        (
            *(DIMENSIONS, ("Convex, c11 = 0", "")),
            *("certificates convexity c11=0 not_equilibria", 1, "source_error"),
        ),
        (
            *(METHODS, ("logit(prior=random)", "")),
            *("open_question solvers logit(prior=random) outside", 1, "differs"),
        ),
        (
            *(METHODS, ("logit(prior=random)", "")),
            *("open_question solvers logit(prior=random) equilibria", 0, "not_attempted"),
        ),
        (SUMMARY, ("Equilibria outside the family", ""), "open_question all outside", 1, "differs"),
        (SUMMARY, ("Range of β", ""), "open_question all beta 1", 0.3, "differs"),
        (SUMMARY, ("Player 1 checks first", ""), "open_question all first_bets", 0.1, "differs"),
        (
            *(SUMMARY, ("Largest max regret", "")),
            *("open_question all largest_regret", 1e-3, "differs"),
        ),
    ],
)
def test_readings_follow_what_is_stored(
    tmp_path: Path, part: Part, place: tuple[str, str], path: str, value: Any, expected: str
) -> None:
    assert verdict(tmp_path, part, place, STORE) == "reproduced"
    changed = copy.deepcopy(STORE)
    target: Any = changed
    *keys, last = path.split(" ")
    for key in keys:
        target = target[int(key)] if isinstance(target, list) else target[key]
    target[int(last) if isinstance(target, list) else last] = value
    assert verdict(tmp_path, part, place, changed) == expected


def test_error_in_a_derivative_needs_evidence(tmp_path: Path) -> None:
    """Lemma 4 prints ∂u2/∂b23 without its sign."""
    position = next(k for k, step in enumerate(STEPS) if (step.variable, step.sign) == ("b23", ""))
    changed = copy.deepcopy(STORE)
    step = changed["formulas"]["steps"][position]
    step |= {"difference": "4*b21", "printed_minus_exact": ["0", "4"]}
    place = ("∂u2/∂b23", "")
    assert verdict(tmp_path, LEMMAS[1], place, changed) == "source_error"
    step["printed_minus_exact"] = ["0", "0"]
    assert verdict(tmp_path, LEMMAS[1], place, changed) == "differs"


def test_without_its_job_a_cell_says_so(tmp_path: Path) -> None:
    assert verdict(tmp_path, TABLE_4, ("b23", "P2"), {}) == "not_attempted"


def test_of_the_formulas_in_the_text_one_is_not_that_of_table_3(tmp_path: Path) -> None:
    """Szafron et al. 2013, §5: b33 for c11 = 1/2, which lets somebody gain as it is printed."""
    found = compute_text(tmp_path, tmp_path, full=False)
    (wrong,) = (name for name, each in found.items() if each["difference"] != "0")
    assert wrong == "high b33"
    assert found[wrong]["not_equilibria"] > 0
    assert found[wrong]["table_3_equilibria"] == found[wrong]["of"]
