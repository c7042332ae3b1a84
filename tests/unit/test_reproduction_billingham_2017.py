"""What is read for Billingham 2017 (arXiv:1707.01392) from small stores made by hand."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reproduction_store import mark_run
from stored_runs import cell, identified, identity, write_run

import eqbench
from eqbench.equilibria.expressions import evaluate
from eqbench.model.profile_json import profile_from_json
from eqbench.papers.billingham_2017 import SOURCE, compute_motion, compute_profiles
from eqbench.papers.billingham_2017.found import NAMES, PLACES
from eqbench.papers.billingham_2017.printed_solutions import SOLUTIONS, Value
from eqbench.papers.claims import Part, Reading
from eqbench.papers.jobs import Workshop
from eqbench.papers.stored import NotStoredError, Stored
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


def enumeration(
    store: Store, *, pot: str = "6", solution: str = "10", cases: int = 3**11, **changes: str
) -> None:
    """A run that found the equilibrium of Solution 10 at pot 6, perhaps with other values."""
    values = {
        **{"a1": "1", "b1": "1/3", "a2": "1", "b2": "2/7", "b3": "12/49", "c1": "5/7"},
        **{"d2": "1", "c3": "1", "d1": "3/7", "c2": "1/7", "d3": "1"},
    } | changes
    behavior: dict[str, Any] = {"P1": {}, "P2": {}, "P3": {}}
    for name, (player, infoset, action) in PLACES.items():
        behavior[player][infoset] = {action: values[name]}
    spec = f"skp(pot={pot})"
    record = cell("0f", game=spec, game_spec=spec, solver="case_enumeration")
    found = replace(
        identified(record, identity(f"skp:{solution}")).equilibria[0],
        **({"profile": "one.json"} | dict.fromkeys(("payoffs", "regrets"), [0.0] * 3)),
        exact=dict.fromkeys(("payoffs", "regrets"), ["0"] * 3),
    )
    place = store.folder / "enumeration"
    shutil.rmtree(place, ignore_errors=True)
    record = replace(record, payoffs=[0.0] * 3, regrets=[0.0] * 3, equilibria=[found])
    write_run(place, replace(record, statistics={"unresolved": 0, "cases": cases}, cpu_s=1.5))
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
    """With b3 = 0, condition 11(b) holds beyond the bound of c1 + d2 only, 12/7 here."""
    title = "Section 3: what is ruled out"
    verdicts = []
    for changes in ({}, {"b3": "0"}, {"b3": "0", "c1": "1"}):
        enumeration(store, **changes)
        rows = ("0 < b3", "11(b) cannot hold")
        verdicts.append([store.read(title, row).verdict for row in rows])
    error = "source_error"
    assert verdicts == [["reproduced", "reproduced"], [error, "reproduced"], [error, error]]


def test_entries_that_the_paper_has_right_elsewhere_are_so_in_its_neighbors() -> None:
    """Solution 10a exists at pot 5, where equations (16) and (18) meet; (16) has b1 = 1/3."""
    at = {each.name: each for each in SOLUTIONS}
    corrected = {e.of: e for e in at["10a"].entries if e.elsewhere}
    assert set(corrected) == {"b1", "b2", "d1"}
    for name in ("9", "10"):
        own = {e.of: e.printed for e in at[name].entries if isinstance(e, Value)}
        for of in ("b2", "d1"):
            assert evaluate(own[of], {"P": Fraction(5)}) == evaluate(
                str(corrected[of].corrected), {}
            )
        assert str(evaluate(own["b1"], {"P": Fraction(5)})) in corrected["b1"].corrected


def test_a_garbled_entry_is_reproduced_if_regret_confirms_the_right_one(store: Store) -> None:
    """Equation (17): b2 is 1/3, garbled as 1/2."""
    values = {"b1": "2/5", "b2": "1/3", "b3": "5/18", "c1": "2/3", "d1": "1/3", "c2": "0"}
    enumeration(store, pot="5", solution="10a", **values)
    for regret, verdict in (("7/216", "reproduced"), ("0", "differs")):
        for job, own in (("printed_10a_b2", regret), ("printed_10a_corrected", "0")):
            (store.folder / f"{job}.out").write_text(json.dumps({"exact": {"regrets": [own]}}))
            mark_run(SOURCE, store.folder, {"enumeration", "printed", job})
        reading = store.read("Equations (5) to (18)", "Solution 10a", "b2")
        assert reading.verdict == verdict
        assert ("garbled in our text" in reading.detail) == (verdict == "reproduced")


def test_a_cell_that_no_equilibrium_shows_is_tried_on_others(store: Store) -> None:
    """Table 1, 4(a) and 1(b)."""
    counts: dict[str, Any] = {"first": 0, "printed": 0, "corrected": 0, "added": []}
    for without, verdict in (([5, 5], "reproduced"), ([5, 4], "differs"), ([0, 0], "differs")):
        cells = {"4a": counts | {"without": without}}
        store.put("table_1", summary={"equilibria": 3, "cells": cells})
        assert store.read("Table 1", "4.", "(a)").verdict == verdict
    added = [{"a1": "1", "regret": 0.0, "solutions": ["10"]}]
    cells = {"1b": counts | {"corrected": 1, "added": added, "without": [0, 0]}}
    store.put("table_1", summary={"equilibria": 3, "cells": cells})
    reading = store.read("Table 1", "1.", "(b)")
    assert reading.verdict == "source_error"
    assert reading.detail.endswith("exclude the paper's own equilibria, in Solutions 10")


def test_printed_profiles_have_regret_and_corrected_ones_have_none(tmp_path: Path) -> None:
    """Equations (6), (8) and (17), each with the printed entry that is wrong."""
    compute_profiles.printed(tmp_path, tmp_path, full=False)
    for job in (job for job in SOURCE.jobs if job.name.startswith("printed_")):
        game = eqbench.load_game(job.command[job.command.index("--game") + 1])
        data = json.loads((tmp_path / f"{job.name.removeprefix('printed_')}.json").read_text())
        regret = verify_exactly(game.tree, profile_from_json(game.tree, data)).max_regret
        assert (regret == 0) == job.name.endswith("corrected"), job.name


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
