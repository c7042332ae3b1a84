"""Szafron, Gibson and Sturtevant 2013 as a source: its claims, and readings that can fail."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from reproduction_store import mark_run

from eqbench.papers.claims import Part
from eqbench.papers.judge import judge
from eqbench.papers.szafron import SOURCE
from eqbench.papers.szafron.appendix import LEMMAS
from eqbench.papers.szafron.notation import SUB_FAMILIES
from eqbench.papers.szafron.open_question_part import OFF_PATH
from eqbench.papers.szafron.printed_formulas import STEPS
from eqbench.papers.szafron.section_6 import SECTION_6
from eqbench.papers.szafron.selection import compute as compute_selection
from eqbench.papers.szafron.sub_families import COMMON, DIMENSIONS

# -- structure -----------------------------------------------------------------------------


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
STORE: dict[str, Any] = {
    "formulas": {"steps": [dict(FORMULA, sign=step.sign or "= 0") for step in STEPS]},
    "certificates": {
        "step": "1/64",
        "convexity": {
            name: {"pairs": 6, "not_equilibria": 0, "worst": "0", "example": []}
            for name in SUB_FAMILIES
        },
    },
    "open_question": {},
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


def test_set_is_not_convex_only_if_a_midpoint_is_no_equilibrium(tmp_path: Path) -> None:
    place = ("Convex, c11 = 0", "")
    assert verdict(tmp_path, DIMENSIONS, place, STORE) == "reproduced"
    changed = copy.deepcopy(STORE)
    changed["certificates"]["convexity"]["c11=0"]["not_equilibria"] = 1
    assert verdict(tmp_path, DIMENSIONS, place, changed) == "source_error"


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
