"""Szafron, Gibson and Sturtevant 2013 as a source: its claims, and readings that can fail."""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reproduction_store import mark_run

from eqbench.papers.claims import Part
from eqbench.papers.judge import judge
from eqbench.papers.szafron import SOURCE
from eqbench.papers.szafron.appendix import EQUATIONS, LEMMAS, TABLE_2
from eqbench.papers.szafron.certificates import changes
from eqbench.papers.szafron.game import FIGURE_1
from eqbench.papers.szafron.methods import METHODS
from eqbench.papers.szafron.notation import NECESSARY, SUB_FAMILIES
from eqbench.papers.szafron.open_question_part import OFF_PATH, SUMMARY
from eqbench.papers.szafron.printed_formulas import STEPS
from eqbench.papers.szafron.section_5 import TEXT
from eqbench.papers.szafron.section_6 import SECTION_6, SECTION_7
from eqbench.papers.szafron.selection import compute as compute_selection
from eqbench.papers.szafron.sub_families import COMMON, DIMENSIONS
from eqbench.papers.szafron.table_3 import TABLE_3
from eqbench.papers.szafron.table_4 import TABLE_4

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
    "rules": {
        "unreached_124": ["BCF", "BFF", "KBCC", "KBF", "KBFC", "KBFF", "KKBC", "KKBCC", "KKBCF"]
    },
    "text": {
        "low c33 least": {"difference": "0", "members": 4, "not_equilibria": 0, "most": "κ"}
        | {"beyond": {"profiles": 4, "not_equilibria": 4}, "table_3_equilibria": 4, "of": 4}
    },
    "selection": {
        "table_4": {"1/4": {"regrets": ["2κ", "κ/4", "0"]}},
        "table_4_c33": {"1/2": {"regrets": ["0", "κ/4", "0"]}},
        "equal_bluffs": {"inside": 4, "inside_zero": 4, "beyond": 4, "beyond_first": 4}
        | {"others": 0, "u2": ["−κ/2"], "most": "κ"},
    },
    "two_players": {"listed": 3, "complete": True, "exact": True, "moving": [3, 0]},
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
        (SUMMARY, ("Strict members", ""), "open_question all strict", 0, "differs"),
        (
            *(SUMMARY, ("Equilibria collected", "")),
            *("open_question all different_outcomes", 1, "differs"),
        ),
        (
            *(FIGURE_1, ("Nodes marked ∅ in deal 124", "")),
            *("rules unreached_124 0", "BFF", "differs"),
        ),
        (
            *(TEXT, ("c11 = 0: c33, lower end", "")),
            *("text low~c33~least not_equilibria", 1, "differs"),
        ),
        (
            *(TEXT, ("c11 = 0: c33, lower end", "")),
            *("text low~c33~least beyond not_equilibria", 0, "differs"),
        ),
        (
            *(SECTION_6, ("Why Table 4 is no equilibrium", "")),
            *("selection table_4 1/4 regrets 1", "0", "differs"),
        ),
        (
            *(SECTION_6, ("(σ1, σ2, σ3), b11 = b21, c11 = 0", "")),
            *("selection equal_bluffs inside_zero", 3, "differs"),
        ),
        (
            *(SECTION_7, ("The second player has no free parameter", "")),
            *("two_players moving 1", 1, "differs"),
        ),
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
    *keys, last = (key.replace("~", " ") for key in path.split(" "))
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


def test_one_parameter_transfers_unless_c11_is_between(tmp_path: Path) -> None:
    """Szafron et al. 2013, §5: b21 for c11 = 0 and b11 otherwise; where 0 < c11 < 1/2 Table 3
    has b21 = b11, so that both have to move."""
    selection = compute_selection(tmp_path, tmp_path, full=False)
    store = {"selection": selection}
    place = "Player 2 transfers by a single parameter, c11 = {}".format
    verdicts = [verdict(tmp_path, COMMON, (place(c11), ""), store) for c11 in ("0", "1/4", "1/2")]
    assert verdicts == ["reproduced", "source_error", "reproduced"]
    selection["alone"]["1/4"]["both"]["regrets"][2] = "κ/32"
    assert verdict(tmp_path, COMMON, (place("1/4"), ""), store) == "differs"
    slopes = "∂u3 by player 2's free parameters, c11 = 0"
    assert verdict(tmp_path, SECTION_6, (slopes, ""), store) == "reproduced"
    selection["slopes_of_u3"]["by"]["b23"]["least"] = "-1/8"
    assert verdict(tmp_path, SECTION_6, (slopes, ""), store) == "differs"


def test_inexact_methods_count_as_near_only_if_they_are(tmp_path: Path) -> None:
    changed = copy.deepcopy(STORE)
    solvers = changed["open_question"]["solvers"]
    for name in ("cfr", "mccfr", "fictitious_play", "replicator"):
        solvers[f"{name}(start=random)"] = ALL | {"cells": 1, "equilibria": 0, "outside": 0}
    solvers["gambit_logit_path"] = ALL | {"cells": 1, "equilibria": 0, "outside": 0}
    run = {"max_regret": 1e-4, "distance": 1e-3}
    changed["open_question"]["unfinished"]["solvers"] = {"cfr(start=random)": [run]}
    place = ("Methods too inexact to count", "")
    assert verdict(tmp_path, METHODS, place, changed) == "reproduced"
    run["distance"] = 1e-2
    assert verdict(tmp_path, METHODS, place, changed) == "differs"
    solvers["gambit_logit_path"]["outside"] = 1
    assert verdict(tmp_path, METHODS, place, changed) == "differs"


def test_error_about_unseen_behavior_needs_equal_payoffs(tmp_path: Path) -> None:
    changed = copy.deepcopy(STORE)
    found = {
        "as in Table 3 (a33 = 1/2, c32 = 0)": {"payoffs": ["0"] * 3, "regrets": ["0"] * 3},
        "a33 = 0, c32 = 0": {"payoffs": ["0"] * 3, "regrets": ["0", "4κ", "0"]},
    }
    changed["open_question"]["off_path"] = found
    place = ("Behavior that is never seen", "")
    assert verdict(tmp_path, OFF_PATH, place, changed) == "source_error"
    found["a33 = 0, c32 = 0"]["payoffs"] = ["κ", "0", "0"]
    assert verdict(tmp_path, OFF_PATH, place, changed) == "differs"


@pytest.mark.parametrize(
    ("low", "closed", "expected"),
    [
        (-1 / 32, "True", "reproduced"),
        (-1 / 32, "False", "differs"),
        (-1 / 30, "True", "differs"),
    ],
)
def test_range_of_a_payoff_counts_only_if_it_is_proved(
    tmp_path: Path, low: float, closed: str, expected: str
) -> None:
    (tmp_path / "ranges_of_payoff").mkdir()
    (tmp_path / "ranges_of_payoff" / "ranges.csv").write_text(
        "min_found,max_found,min_bound,max_bound,min_closed,max_closed\n"
        f"{low},{-1 / 48},{low},{-1 / 48},{closed},True\n"
    )
    place = ("Payoff of player 1 over all equilibria", "")
    assert verdict(tmp_path, SUMMARY, place, {"ranges_of_payoff": {}}) == expected
