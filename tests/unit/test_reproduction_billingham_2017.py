"""What is read for Billingham 2017 (arXiv:1707.01392) from small stores made by hand."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reproduction_store import mark_run
from stored_runs import cell, identified, identity, write_run

import eqbench
from eqbench.model.profile_json import profile_from_json
from eqbench.studies.reproduction.billingham_2017 import (
    SOURCE,
    compute_motion,
    compute_profiles,
    compute_rules,
)
from eqbench.studies.reproduction.billingham_2017.found import NAMES, PLACES
from eqbench.studies.reproduction.billingham_2017.polynomials import (
    derivative,
    printed,
    read,
    text,
)
from eqbench.studies.reproduction.billingham_2017.printed_solutions import SOLUTIONS
from eqbench.studies.reproduction.claims import Part, Reading
from eqbench.studies.reproduction.jobs import Workshop
from eqbench.studies.reproduction.judge import judge
from eqbench.studies.reproduction.stored import NotStoredError, Stored
from eqbench.verification import verify_exactly


class Store:
    """Jobs as they would be stored, made one by one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, job: str, *, summary: Any = None) -> None:
        """Store what a job left."""
        place = self.folder / job
        place.mkdir(parents=True, exist_ok=True)
        if summary is not None:
            (place / "summary.json").write_text(json.dumps(summary), "utf-8")
        mark_run(SOURCE, self.folder, {path.parent.name for path in self.folder.glob("*/*.json")})

    def read(self, title: str, row: str, column: str = "") -> Reading:
        """What is read for a claim."""
        workshop = Workshop(SOURCE.name, self.folder, full=False)
        stored = Stored(workshop, SOURCE.jobs)
        (claim,) = [
            each
            for each in part(title).claims
            if each.row == row and each.column.startswith(column)
        ]
        return claim.read(stored)


def part(title: str) -> Part:
    """The part whose title begins like this."""
    (found,) = [each for each in SOURCE.parts if each.title.startswith(title)]
    return found


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_every_claim_has_a_place_of_its_own() -> None:
    for each in SOURCE.parts:
        places = Counter((claim.row, claim.column) for claim in each.claims)
        assert max(places.values()) == 1, (each.title, places.most_common(1))
    assert len({each.title for each in SOURCE.parts}) == len(SOURCE.parts)


def test_parts_have_as_many_cells_as_the_paper() -> None:
    """14 brackets of (1) to (3) and their shape; 11 conditions; Table 1 with 24 cells."""
    assert len(part("Equations (1) to (3)").claims) == 14 + 1
    assert _numbered(part("Section 3: the eleven conditions")) == 11
    assert _numbered(part("Table 1")) == 24
    rows = Counter(claim.row for claim in part("Equations (5) to (18)").claims)
    assert set(rows) == {f"Solution {solution.name}" for solution in SOLUTIONS}
    assert all(rows[f"Solution {each.name}"] >= len(each.entries) + 1 for each in SOLUTIONS)
    assert len(SOLUTIONS) == 14


def _numbered(of: Part) -> int:
    return sum(claim.row[:-1].isdigit() for claim in of.claims)


def test_every_figure_has_a_picture_of_ours() -> None:
    titles = [picture.title.partition(",")[0] for each in SOURCE.parts for picture in each.pictures]
    assert titles == [f"Figure {number}" for number in range(1, 16)]


def test_every_frequency_of_a_solution_is_a_claim() -> None:
    for solution in SOLUTIONS:
        named = " ".join(entry.of for entry in solution.entries)
        missing = [name for name in NAMES if name not in named]
        # equation (17) says what c1 and d2 are in sentences of its own
        assert missing == (["c1", "d2"] if solution.name == "10a" else []), solution.name


def test_polynomials_are_read_from_text_and_from_payoffs(tmp_path: Path) -> None:
    found = compute_rules.profits(tmp_path, tmp_path, full=False)
    second = read(found["polynomials"]["E2"])
    assert derivative(second, "c2") == printed("P*b1 - 2*a1")
    assert text(derivative(second, "c2")) == "−2·a1 + P·b1"
    assert derivative(second, "c2") != printed("P*b1 - a1")
    assert printed("(P + a1)*((2 - b1)*a2/(P + a1))") == printed("2*a2 - b1*a2")


def test_a_changed_coefficient_of_the_profits_is_a_difference(store: Store) -> None:
    polynomials = {
        "E1": {"b2 d1": ["1", "1"], "a2 d1": ["-2", "0"]},
        "E2": {"b1 c2": ["0", "1"], "a1 c2": ["-2", "0"]},
    }
    store.put("polynomials", summary={"polynomials": polynomials})
    assert store.read("Equations (1) to (3)", "24 E1", "times d1").verdict == "reproduced"
    polynomials["E1"]["a2 d1"] = ["-3", "0"]
    store.put("polynomials", summary={"polynomials": polynomials})
    reading = store.read("Equations (1) to (3)", "24 E1", "times d1")
    assert reading.verdict == "differs"
    assert reading.detail == "ours less theirs is −a2"


def enumeration(store: Store, **changes: str) -> None:
    """A run that found the equilibrium of Solution 10 at pot 6, perhaps with other values."""
    values = {
        **{"a1": "1", "b1": "1/3", "a2": "1", "b2": "2/7", "b3": "12/49", "c1": "5/7"},
        **{"d2": "1", "c3": "1", "d1": "3/7", "c2": "1/7", "d3": "1"},
    } | changes
    behavior: dict[str, Any] = {"P1": {}, "P2": {}, "P3": {}}
    for name, (player, infoset, action) in PLACES.items():
        behavior[player][infoset] = {action: values[name]}
    record = cell("k", game="skp(pot=6)", game_spec="skp(pot=6)", solver="case_enumeration")
    found = replace(
        identified(record, identity("skp:10")).equilibria[0],
        profile="one.json",
        exact={"payoffs": ["0", "0", "0"], "regrets": ["0", "0", "0"]},
    )
    place = store.folder / "enumeration"
    shutil.rmtree(place, ignore_errors=True)
    write_run(place, replace(record, equilibria=[found], statistics={"unresolved": 0, "cases": 1}))
    (place / "one.json").write_text(json.dumps({"behavior": behavior}), "utf-8")
    store.put("enumeration")


def test_a_printed_formula_is_held_against_what_was_found(store: Store) -> None:
    """Equation (18): b1 = 2/P."""
    enumeration(store)
    reading = store.read("Equations (5) to (18)", "Solution 10", "b1")
    assert (reading.verdict, reading.ours) == ("reproduced", "1/3 at P = 6")
    enumeration(store, b1="1/4")
    reading = store.read("Equations (5) to (18)", "Solution 10", "b1")
    assert (reading.verdict, reading.detail) == ("differs", "by up to 0.0833")


def test_a_solution_that_was_not_found_is_not_attempted(store: Store) -> None:
    enumeration(store)
    with pytest.raises(NotStoredError, match="no member of Solution 9"):
        store.read("Equations (5) to (18)", "Solution 9", "a1")


def test_who_calls_always_is_an_error_of_the_source_only_if_it_is_player_3(store: Store) -> None:
    enumeration(store)
    reading = store.read("Figure 3", "P > 5", "callers")
    assert reading.verdict == "source_error"
    assert "d3 is a frequency of player 3" in reading.detail
    enumeration(store, c1="1")
    assert store.read("Figure 3", "P > 5", "callers").verdict == "reproduced"


def test_an_equilibrium_that_was_ruled_out_is_evidence(store: Store) -> None:
    row = ("Section 3: what is ruled out", "11(b) cannot hold")
    enumeration(store)
    assert store.read(*row).verdict == "reproduced"
    enumeration(store, b3="0")
    assert store.read(*row).verdict == "source_error"


def test_printed_profiles_have_regret_and_corrected_ones_have_none(tmp_path: Path) -> None:
    """Equations (6), (8) and (17), each with the printed entry that is wrong."""
    compute_profiles.printed(tmp_path, tmp_path, full=False)
    for job in (job for job in SOURCE.jobs if job.name.startswith("printed_")):
        game = eqbench.load_game(job.command[job.command.index("--game") + 1])
        data = json.loads((tmp_path / f"{job.name.removeprefix('printed_')}.json").read_text())
        regret = verify_exactly(game.tree, profile_from_json(game.tree, data)).max_regret
        assert (regret == 0) == job.name.endswith("corrected"), job.name


def stability(verdict: str, value: float) -> dict[str, Any]:
    counts = {key: [0, 0] for key in ("unstable", "centre_oscillatory", "zero", "stable")}
    members = {"examined": 3, "refuted": 0, "verdicts": {verdict: 3}, **counts}
    return {"name": "skp:4", "value": value, "verdict": verdict, "members": members, "speed": 0.0}


def test_stability_is_judged_inside_a_range_and_at_its_ends(store: Store) -> None:
    """Section 4.1: Solution 4 has a center manifold of dimension four."""
    title, row = "Section 4.1: stability", "Solution 4"
    center = "centre manifold of oscillatory dimension 4"
    entries = [stability(center, 3.35), stability("unstable", 3.5)]
    store.put("stability", summary={"equilibria": entries})
    assert store.read(title, row, "inside").verdict == "reproduced"
    reading = store.read(title, row, "upper end")
    assert (reading.verdict, reading.detail) == ("differs", "in 3 of 3 members")
    entries[0] = stability("unstable", 3.35)
    store.put("stability", summary={"equilibria": entries})
    assert store.read(title, row, "inside").verdict == "differs"


def simulation(pot: float, *, regime: str, to_zero: list[str], payoff: float) -> dict[str, Any]:
    run = {
        **{"parameter": pot, "regime": regime, "to_zero": to_zero, "to_one": []},
        **{"at_zero": [], "at_one": [], "components": [], "transient": None, "time": 1e4},
        **{"payoffs": [payoff] * 3, "whole": {"payoffs": [payoff] * 3}},
        **{"near_face_fraction": 0.5, "lyapunov_windows": [{"mean": 0.05}]},
    }
    known = [{"name": name, "payoffs": [[0.05, 0.05]] * 3} for name in ("skp:2", "skp:7")]
    return {
        "names": {"|".join(place): name for name, place in PLACES.items()},
        "values": [{"parameter": pot, "solutions": known}],
        "runs": [run],
    }


def test_limits_and_words_of_trajectories_are_counted(store: Store) -> None:
    """Section 4.6: c3 is said to go to 0 and the end to be the boundary."""
    title, row = "Section 4.6", "P = 4.15"
    c3 = ["P3|3:KB|call"]
    motion = {"regimes": {"4.15": [{"frequencies": {"c3": [0.0, 1.0]}}]}}
    store.put("motion", summary=motion)
    store.put(
        "regimes",
        summary=simulation(4.15, regime="boundary_absorption", to_zero=c3, payoff=0.05),
    )
    assert store.read(title, row, "c3").verdict == "reproduced"
    assert store.read(title, row, "eventually").verdict == "reproduced"
    assert store.read("Section 4.7: profits", row, "whole").verdict == "reproduced"
    store.put(
        "regimes",
        summary=simulation(4.15, regime="chaotic_transient", to_zero=[], payoff=0.053),
    )
    reading = store.read(title, row, "c3")
    assert reading.verdict == "differs"
    assert reading.ours == "c3 → 0 in 0 of 1"
    assert store.read(title, row, "eventually").verdict == "differs"
    reading = store.read("Section 4.7: profits", row, "whole")
    assert (reading.verdict, reading.detail) == ("differs", "by up to 6.0%")


def orbit(drift: float) -> dict[str, np.ndarray]:
    """Frequencies on a circle, or on a spiral."""
    times = np.arange(0.0, 200.0, 0.25)
    radius = 0.2 * (1 + drift * times / times[-1])
    run = {name: np.full(len(times), 0.5) for name in NAMES} | {"time": times}
    run["b3"], run["d2"] = 0.5 + radius * np.sin(times), 0.5 + radius * np.cos(times)
    return run


def test_closed_orbits_are_told_from_others(store: Store, tmp_path: Path) -> None:
    for drift, verdict in ((0.0, "reproduced"), (0.5, "differs")):
        points = tmp_path / "points.csv"
        run = orbit(drift)
        columns = {"|".join(place): run[name] for name, place in PLACES.items()}
        table = pd.DataFrame({"run": "seed 0", "time": run["time"], **columns})
        table.to_csv(points, index=False)
        store.put("motion", summary={"orbits": {"2.5": compute_motion.late_motion(points, "2.5")}})
        assert store.read("Section 4.2.1", "P = 2.5", "orbits").verdict == verdict


def test_jobs_that_are_only_in_full_are_few(tmp_path: Path) -> None:
    judged = judge(SOURCE, Workshop(SOURCE.name, tmp_path, full=False))
    details = [claim["detail"] for each in judged["parts"] for claim in each["claims"]]
    assert not [detail for detail in details if "belongs to --full" in detail]
    never = [detail for detail in details if "was not run" not in detail]
    assert len(never) <= len(details) / 10
