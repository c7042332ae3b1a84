"""Ganzfried 2025 against ours: the list of claims, and readings that notice a changed store."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ganzfried_store import CLAIMS, cell, store, stored_in, the_claim, verdict, verdict_of_cells
from stored_runs import identity

import eqbench
from eqbench.model.realization import RealizationPlan
from eqbench.papers.ganzfried import SOURCE
from eqbench.papers.ganzfried.conditions import least_gap
from eqbench.papers.ganzfried.gurobi import read_log
from eqbench.papers.ganzfried.hand import hand
from eqbench.papers.ganzfried.jobs import EXACT, FULL, PAPER_MODEL, REDUCED
from eqbench.papers.ganzfried.off_path import grid, profiles
from eqbench.papers.ganzfried.presolve import PaperModel, missing_actions
from eqbench.papers.jobs import Workshop
from eqbench.papers.judge import judge
from eqbench.store.schema import EquilibriumRecord
from eqbench.verification import verify

# -- the list of claims ----------------------------------------------------------------------------


def test_no_cell_stands_twice_in_a_part() -> None:
    counted = Counter(
        (part.title, claim.row, claim.column) for part in SOURCE.parts for claim in part.claims
    )
    assert max(counted.values()) == 1


def test_table_1_has_every_printed_runtime() -> None:
    cells = {
        (row, column): claim.theirs
        for (title, row, column), claim in CLAIMS.items()
        if title.startswith("Table 1")
    }
    assert len(cells) == 6 * 2
    assert cells["n = 3, m = 6", "MIP avg. runtime"] == "18.8500"
    assert cells["n = 5, m = 2", "NCP avg. runtime"] == "0.1858"


def test_every_method_of_gambit_that_the_paper_names_has_a_row() -> None:
    rows = {row for title, row, _ in CLAIMS if title.endswith("methods of Gambit")}
    methods = "enummixed lcp lp enumpoly simpdiv gnm ipa enumpure liap logit"
    assert rows == {*methods.split(), "all methods"}


def test_nothing_is_answered_from_an_empty_store(tmp_path: Path) -> None:
    judged = judge(SOURCE, Workshop("ganzfried", tmp_path, full=False))
    assert judged["counts"]["not_attempted"] == len(CLAIMS) > 150
    assert all(picture["missing"] for part in judged["parts"] for picture in part["pictures"])


def test_every_computation_can_be_called() -> None:
    targets = [job.compute for job in SOURCE.jobs if job.compute]
    for target in targets:
        module, name = target.split(":")
        assert callable(getattr(importlib.import_module(module), name))


# -- sizes of the models ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models() -> dict[str, dict[str, int]]:
    game = eqbench.load_game(FULL)
    found = {"full": PaperModel.of(game.sequence_form, ()).sizes()}
    for count in (21, 22):
        reduced = eqbench.load_game(f"kuhn(players=3,cards=4,reduce=dominated{count})")
        missing = missing_actions(game.tree, reduced.tree)
        found[str(count)] = PaperModel.of(game.sequence_form, [*missing.values()]).sizes()
    return found


def test_first_presolves_of_the_paper_fit_21_fixed_actions(
    models: dict[str, dict[str, int]],
) -> None:
    """Ganzfried 2025, section 4: 45 rows and 57 columns; of the full model 3 and 6."""
    names = ("rows", "columns", "presolve_rows", "presolve_columns", "complementarities")
    sizes = {name: tuple(model[key] for key in names) for name, model in models.items()}
    assert sizes["full"] == (51, 249, 3, 6, 96)
    assert sizes["21"] == (72, 249, 45, 57, 66)
    assert sizes["22"] == (73, 249, 47, 60, 64)
    assert models["full"]["products"] == 396


def test_rows_of_the_reduced_model_are_an_error_only_while_22_actions_are_missing(
    tmp_path: Path, models: dict[str, dict[str, int]]
) -> None:
    claim = the_claim("rows of the input", "reduced game")
    for name, nodes in (("info_21", 421), ("info_reduced", 415)):
        store(tmp_path, name, {}, json.dumps({"sizes": {"nodes": nodes}}))
    store(tmp_path, "program", {"models": models})
    assert verdict(claim, tmp_path) == "source_error"
    store(tmp_path, "program", {"models": models | {"22": models["21"]}})
    assert verdict(claim, tmp_path) == "reproduced"
    store(tmp_path, "program", {"models": models | {"21": models["full"]}})
    assert verdict(claim, tmp_path) == "differs"


def test_figures_of_gurobi_without_a_license_are_not_attempted(tmp_path: Path) -> None:
    claim = the_claim("rows in the end", "full game")
    store(tmp_path, "program", {"gurobi": {"full": {"unavailable": "243 columns"}}})
    assert verdict(claim, tmp_path) == "not_attempted"
    answer = {"presolved": [1728, 637, 4357], "version": "12.0"}
    store(tmp_path, "program", {"gurobi": {"full": answer}})
    assert verdict(claim, tmp_path) == "reproduced"
    answer["presolved"] = [1700, 637, 4357]
    store(tmp_path, "program", {"gurobi": {"full": answer}})
    assert verdict(claim, tmp_path) == "differs"


def test_constraints_in_the_end_are_those_of_the_log_and_not_of_our_count(
    tmp_path: Path, models: dict[str, dict[str, int]]
) -> None:
    """Ganzfried 2025, section 4: 66 SOS constraints, as many as pairs x, r in our model."""
    claim = the_claim("SOS constraints in the end", "reduced game")
    for log, expected in (({"sos": [66]}, "reproduced"), ({}, "differs")):
        answer = log | {"version": "12.0"}
        store(tmp_path, "program", {"models": models, "gurobi": {"21": answer}})
        assert verdict(claim, tmp_path) == expected
        assert "66 pairs x, r before it" in claim.read(stored_in(tmp_path)).detail


@pytest.mark.parametrize(("regret", "expected"), [(1e-6, "reproduced"), (1e-2, "differs")])
def test_time_of_gurobi_counts_only_for_an_equilibrium(
    tmp_path: Path, regret: float, expected: str
) -> None:
    answer = {"status": "optimal", "time_s": 0.5, "version": "13.0", "regrets": [regret, 0.0]}
    longer = {"status": "time_limit", "time_s": 100.0}
    store(tmp_path, "program", {"gurobi": {"21": answer, "22": longer}})
    claim = the_claim("reduced game, on Gurobi")
    assert verdict(claim, tmp_path) == expected
    detail = claim.read(stored_in(tmp_path)).detail
    assert "with 22 actions fixed 100 s, not solved until then" in detail


def test_log_of_gurobi_is_read() -> None:
    text = (
        "Gurobi Optimizer version 13.0.3 build v13\nPresolve added 12 rows and 0 columns\n"
        "Presolve removed 0 rows and 9 columns\nPresolve time: 0.02s\n"
        "Presolved: 17 rows, 6 columns, 43 nonzeros\n"
        "Presolved model has 4 SOS constraint(s)\n"
        "Presolved model has 252 bilinear constraint(s)\nVariable types: 6 continuous, 0 integer\n"
        "Cutting planes:\n  Gomory: 7\n  Flow cover: 3\n\nExplored 9 nodes\n"
    )
    assert read_log(text) == {
        "added": [12, 0],
        "taken": [0, 9],
        "time": [0.02],
        "presolved": [17, 6, 43],
        "sos": [4],
        "bilinear": [252],
        "kinds": [6, 0],
        "cuts": {"Gomory": 7, "Flow cover": 3},
        "version": "13.0.3",
    }


# -- conditions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["kuhn2", "random(players=3,actions=3,seed=1)"])
def test_least_complementarity_is_the_regret(spec: str) -> None:
    """Ganzfried 2025, section 2, by duality of linear programs."""
    game, rng = eqbench.load_game(spec), np.random.default_rng(1)
    rows = [rng.dirichlet(np.ones(len(actions))) for actions in game.tree.infoset_actions]
    behavior = np.concatenate(rows)
    plans = RealizationPlan.of(game.sequence_form, behavior).weights
    regrets = verify(game.tree, eqbench.BehaviorProfile.of(game.tree, behavior)).regrets
    gaps = [least_gap(game.sequence_form, plans, player) for player in range(len(regrets))]
    assert gaps == pytest.approx(regrets, abs=1e-9)
    assert max(gaps) > 1e-3


def test_conditions_that_are_met_elsewhere_are_noticed(tmp_path: Path) -> None:
    claim = the_claim("conditions are sufficient")
    for gap, expected in ((0.25, "reproduced"), (0.0, "differs")):
        found = [{"gaps": [gap, 0.0], "regrets": [0.25, 0.0]}]
        store(tmp_path, "conditions", {"profiles": found})
        assert verdict(claim, tmp_path) == expected


# -- the equilibrium -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("grid")
    return grid(folder, folder, full=False)


def test_half_of_the_kings_is_an_error_only_while_player_2_gains(
    tmp_path: Path, measured: dict[str, Any]
) -> None:
    claim = the_claim("player 3, king, the half")
    printed = {"exact": {"regrets": ["0", "1/6", "0"]}}
    store(tmp_path, "verify_as_described", {}, json.dumps(printed))
    store(tmp_path, "grid", measured)
    assert verdict(claim, tmp_path) == "source_error"
    readings = measured["readings"]
    for changed in (
        readings | {"as_described": readings["as_named"]},
        readings | {"as_named": readings["as_described"]},
    ):
        store(tmp_path, "grid", measured | {"readings": changed})
        assert verdict(claim, tmp_path) == "differs"


@pytest.mark.parametrize(
    ("payoff", "raw", "as_printed", "exact"),
    [(-1 / 48, 1e-17, "reproduced", "reproduced"), (-0.03, 4e-10, "differs", "differs")],
)
def test_payoffs_and_gain_are_those_of_the_program_itself(
    payoff: float, raw: float, as_printed: str, exact: str
) -> None:
    best = EquilibriumRecord(
        *("equilibrium", [0.0] * 3, [0.0] * 3, 0.0, 0.0), identity=identity("szafron:c11=0")
    )
    run = cell(
        REDUCED,
        PAPER_MODEL,
        status="ok",
        max_regret=1e-16,
        payoffs=[payoff, -1 / 48, -1 / 48 - payoff],
        regrets=[0.0] * 3,
        statistics={"raw_max_regret": raw},
        equilibria=[best],
    )
    certified = cell(REDUCED, EXACT, status="ok", max_regret=0.0)
    (found,) = [
        claim
        for (title, row, _), claim in CLAIMS.items()
        if title.startswith("Section 4: the equilibrium") and row == "payoff of player 1"
    ]
    assert verdict_of_cells(found, race=[run]) == as_printed
    gain = CLAIMS["Section 4: solving the reduced and the full game", "gain by deviating", ""]
    assert verdict_of_cells(gain, race=[run], equilibria=[certified]) == exact


def test_range_at_check_bet_fold_is_an_error_only_while_player_3_stays(
    tmp_path: Path, measured: dict[str, Any]
) -> None:
    claim = the_claim("at check-bet-fold")
    printed = {"exact": {"regrets": ["0", "1/6", "0"]}}
    store(tmp_path, "verify_a33_alone", {}, json.dumps(printed))
    store(tmp_path, "grid", measured)
    assert verdict(claim, tmp_path) == "source_error"
    assert "1/4: 1/48; 1/2: 1/24" in claim.read(stored_in(tmp_path)).detail
    pairs = [item | {"regrets": ["0", "0", "0"]} for item in measured["pairs"]]
    store(tmp_path, "grid", measured | {"pairs": pairs})
    assert verdict(claim, tmp_path) == "reproduced"


def test_exact_regrets_off_the_path(measured: dict[str, Any]) -> None:
    """Only a33 + c32 = 1/2 keeps the equilibrium: player 2 gains by betting if there are too few
    calls, and by checking if there are too many."""
    for item in measured["pairs"]:
        total = Fraction(item["a33"]) + Fraction(item["c32"]) - Fraction(1, 2)
        gain = Fraction(1, 12) * total if total > 0 else Fraction(-1, 3) * total
        assert [Fraction(text) for text in item["regrets"]] == [0, gain, 0]


def test_profiles_are_written_for_every_reading(tmp_path: Path) -> None:
    names = profiles(tmp_path, tmp_path, full=False)["profiles"]
    written = {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in names}
    king = {name: document["behavior"] for name, document in written.items()}
    assert king["as_named"]["P3"]["3:KB"] == {"fold": "1/2", "call": "1/2"}
    assert king["as_described"]["P3"]["3:BF"] == {"fold": "1/2", "call": "1/2"}
    assert king["family"]["P1"]["3:KBF"] == {"fold": "1/2", "call": "1/2"}
    assert king["a33_alone"]["P1"]["3:KBF"] == {"fold": "1", "call": "0"}


def test_hand_of_the_paper() -> None:
    """Ganzfried 2025, section 3: a profit of 3; the others lose 1 and 2."""
    found = hand(Path(), Path(), full=False)
    assert found["kuhn3"]["profits"] == [-1, -2, 3]
    assert found["kuhn3"]["pot"] == 5
