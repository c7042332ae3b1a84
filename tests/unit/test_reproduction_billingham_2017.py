"""Claims on Billingham 2017 (arXiv:1707.01392), held against stores made by hand.

Complete lists are made of members of the published sets, at the pots of the paper's own job.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eqbench
from eqbench.equilibria import known_sets
from eqbench.equilibria.members import members
from eqbench.model.profile_json import profile_from_json
from eqbench.papers.billingham_2017 import compute, lists, motion
from eqbench.papers.billingham_2017.lists import NAMES, PAPER, PLACES, Found
from eqbench.papers.checks import Missing, passes
from eqbench.papers.paper import Claim
from eqbench.papers.verdicts import Facts
from eqbench.verification import verify_exactly

MISPRINTS = ("1", "2", "10a_b1", "10a_b2", "10a_d1")
CORRECTED = ("1_corrected", "2_corrected", "10a_corrected")


class Jobs(dict[str, Any]):
    """Jobs as they would be stored."""

    full = False
    used: tuple[str, ...] = ()

    def listen(self) -> None:
        """Nothing is noted."""


def claim_at(title: str, row: str, column: str = "") -> Claim:
    """The claim at a place, in the part whose title begins like this."""
    (part,) = [part for part in PAPER.parts if part.title.startswith(title)]
    (found,) = [c for c in part.claims if (c.row, c.column) == (row, column)]
    return found


def verdict(claim: Claim, facts: Facts) -> str:
    """What comes of a claim."""
    value, _ = facts.at(claim.fact)
    if isinstance(value, Missing):
        return "not_attempted"
    if passes(claim.check, value, claim.printed):
        return "reproduced"
    is_wrong = bool(claim.evidence) and facts.at(claim.evidence)[0] is True
    return "source_error" if is_wrong else "differs"


def facts_of(jobs: Jobs) -> Facts:
    """Facts as they are read off these jobs."""
    return Facts(PAPER, jobs)  # type: ignore[arg-type]


def regret(value: str) -> SimpleNamespace:
    """What a job ``verify --exact`` has printed."""
    return SimpleNamespace(printed_json={"exact": {"regrets": ["0", value, "0"]}})


def stored() -> Jobs:
    """An enumeration that closed all its cases, and the misprinted profiles."""
    cell = SimpleNamespace(game_spec="skp(pot=3)", status="ok", equilibria=[])
    cell.statistics = {"unresolved": 0, "cases": 3**11}
    jobs = Jobs(enumeration=SimpleNamespace(cells=[cell]))
    jobs |= {f"printed_{name}": regret("1/100") for name in MISPRINTS}
    jobs |= {f"printed_{name}": regret("0") for name in CORRECTED}
    return jobs


def published() -> Iterator[Found]:
    """Members of the published sets at all pots of the job ``enumeration``."""
    (job,) = [job for job in PAPER.jobs if job.name == "enumeration"]
    for spec in (word for word in job.command if word.startswith("skp(")):
        pot = Fraction(spec[len("skp(pot=") : -1])
        game = eqbench.load_game("skp").at(pot=pot)
        for known in known_sets(game):
            for member in members(known, 1, np.random.default_rng(0)):
                own = known.frequencies(member.parameters).tolist()
                values = dict(zip(known.layout.variables, map(_exact, own), strict=True))
                payoffs = tuple(24 * known.payoffs_near(member.parameters))
                yield Found(pot, (known.name.removeprefix("skp:"),), values, payoffs, 0.0)


def _exact(value: float) -> Fraction | float:
    near = Fraction(value).limit_denominator(10**5)
    return near if abs(near - value) < 1e-12 else value


@pytest.fixture(scope="module")
def complete() -> list[Found]:
    return list(published())


@pytest.fixture
def judged(complete: list[Found], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Verdict of a claim after changes to members of a solution; Facts if no claim is given."""

    def judge(
        place: tuple[str, ...] = (), solution: str = "", jobs: Jobs | None = None, **changes: Any
    ) -> Any:
        regrets = {key: changes.pop(key) for key in ("max_regret",) if key in changes}
        found = [
            replace(each, values=each.values | changes, **regrets)
            if each.solutions == (solution,)
            else each
            for each in complete
        ]
        monkeypatch.setattr(lists, "equilibria", lambda _: found)
        facts = facts_of(jobs or stored())
        return verdict(claim_at(*place), facts) if place else facts

    return judge


def test_parts_have_as_many_cells_as_the_paper() -> None:
    parts = {part.title: part.claims for part in PAPER.parts}
    assert sum(map(len, parts.values())) == 454
    assert len(lists.printed_cells()) == 24
    named: dict[str, str] = {}
    for claim in parts["Equations (5) to (18): the solutions"]:
        named[claim.row] = named.get(claim.row, "") + claim.column
    assert set(named) == {f"Solution {name}" for name in (*lists.ISOLATED, *lists.CONTINUA)}
    assert all(name in columns for columns in named.values() for name in NAMES)


def test_published_sets_are_as_the_paper_says_but_for_its_errors(judged: Any) -> None:
    """Every claim on complete lists; the errors are those of the reference run."""
    facts = judged()
    verdicts = {
        f"{claim.row} {claim.column}": verdict(claim, facts)
        for part in PAPER.parts
        for claim in part.claims
        if claim.fact.startswith("lists:")
    }
    errors = {place for place, found in verdicts.items() if found == "source_error"}
    assert errors == {
        "0 < b3 the aside, from c1 + d2 = 0 < (2P−4+2a1+2a2)/(P+1)",
        "(4) P = 5",
        *("1. (b)", "1. (c)", "All necessary"),
        *("Solution 1 d2", "Solution 8 range", "P4 decimals"),
        *("P > 5 callers", "P9 < P < 5 c1 and d1"),
    }
    assert set(verdicts.values()) == {"source_error", "reproduced"}


def test_a_changed_frequency_turns_what_is_said_of_it(judged: Any) -> None:
    for of in ("b1", "c2", "d1"):
        assert judged(("Equations (5)", "Solution 10", of), solution="10", **{of: 0.9}) == "differs"
        assert (
            judged(("Equations (5)", "Solution 9", of), solution="10", **{of: 0.9}) == "reproduced"
        )
    place = ("Table 1", "3.", "(a)")
    assert judged(place) == "reproduced"
    assert judged(place, solution="10", c3=0.5) == "differs"
    place = ("Equations (5)", "Solution 9", "c1 + d2")
    assert judged(place, solution="9", c1=0.5) == "differs"


def test_changed_last_digits_turn_printed_formulas(judged: Any) -> None:
    facts = judged()
    checked = [
        claim
        for part in PAPER.parts
        for claim in part.claims
        if claim.fact.startswith("lists:") and claim.check in ("formula", "bounds", "~ digits")
        if verdict(claim, facts) == "reproduced" and claim.column != "range"
    ]
    for claim in random.Random(0).sample(checked, 50):
        digit = list(re.finditer(r"(?<![a-zA-Z\d])\d+", claim.printed))[-1].end() - 1
        other = str((int(claim.printed[digit]) + 1) % 10)
        changed = claim.printed[:digit] + other + claim.printed[digit + 1 :]
        assert verdict(replace(claim, printed=changed), facts) != "reproduced", claim


def test_evidence_has_no_regret(judged: Any) -> None:
    """An equilibrium that was ruled out is evidence; a profile with regret is not."""
    title = "Section 3: what is ruled out"
    place = (title, "11(b) cannot hold")
    assert judged(place, solution="10", b3=0.0) == "reproduced"
    assert judged(place, solution="10", b3=0.0, c1=1.0) == "source_error"
    assert judged(place, solution="10", b3=0.0, c1=1.0, max_regret=0.1) == "differs"
    assert judged((title, "(4)", "P = 5"), solution="10a", max_regret=0.1) == "reproduced"


def test_who_calls_always_is_an_error_only_if_it_is_player_3(judged: Any) -> None:
    place = ("Figure 3", "P > 5", "callers")
    assert judged(place) == "source_error"
    assert judged(place, solution="10", c1=1.0) == "reproduced"
    assert judged(place, solution="10", d3=0.9) == "differs"


def test_misprints_need_regret_as_printed_and_none_corrected(judged: Any) -> None:
    """Equations (6), (8) and (17)."""
    claims = {
        ("Solution 1", "d2"): ("1", "source_error"),
        ("Solution 2", "b3"): ("2", "reproduced"),
        ("Solution 10a", "b1"): ("10a_b1", "reproduced"),
        ("Solution 10a", "b2"): ("10a_b2", "reproduced"),
        ("Solution 10a", "d1"): ("10a_d1", "reproduced"),
    }
    for (row, column), (name, expected) in claims.items():
        place = ("Equations (5)", row, column)
        assert judged(place) == expected
        for job, value in ((name, "0"), (f"{name.partition('_')[0]}_corrected", "1/9")):
            jobs = stored() | {f"printed_{job}": regret(value)}
            assert judged(place, jobs=Jobs(jobs)) == "differs"


def test_a_cell_that_no_equilibrium_shows_is_tried_on_others() -> None:
    """Table 1, 4(a)."""
    for without, expected in (([5, 5], "reproduced"), ([5, 4], "differs"), ([0, 0], "differs")):
        summary = {"cells": {"4a": {"without": without}}, "changed": {}, "changed_table": {}}
        jobs = Jobs(table_1=SimpleNamespace(summary=summary))
        assert verdict(claim_at("Table 1", "4.", "(a)"), facts_of(jobs)) == expected


def test_polynomials_come_from_payoffs(tmp_path: Path) -> None:
    summary = compute.profits(tmp_path, tmp_path, full=False)
    facts = facts_of(Jobs(polynomials=SimpleNamespace(summary=summary)))
    claim = claim_at("Equations (1)", "24 E2", "times c2")
    assert claim.printed == "P b1 − 2a1"
    assert verdict(claim, facts) == "reproduced"
    assert verdict(replace(claim, printed="P b1 − a1"), facts) == "differs"
    condition = claim_at("Section 3: the eleven", "1.")
    assert verdict(condition, facts) == "reproduced"
    assert (
        verdict(replace(condition, printed="b1 > 2a1/(P+1): c2 = 1; reversed: 0"), facts)
        == "differs"
    )


def test_printed_profiles_have_regret_and_corrected_ones_have_none(tmp_path: Path) -> None:
    compute.printed(tmp_path, tmp_path, full=False)
    for job in (job for job in PAPER.jobs if job.name.startswith("printed_")):
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


def test_closed_orbits_are_told_from_others(tmp_path: Path) -> None:
    for drift, expected in ((0.0, "reproduced"), (0.5, "differs")):
        run = orbit(drift)
        columns = {"|".join(place): run[name] for name, place in PLACES.items()}
        points = tmp_path / "points.csv"
        pd.DataFrame({"run": "seed 0", "time": run["time"], **columns}).to_csv(points, index=False)
        summary = {"orbits": {"2.5": motion.late_motion(points, "2.5")}, "regimes": {}}
        polynomials = {"polynomials": {"E3": {"b3": ["1", "0"]}}}
        jobs = Jobs(motion=SimpleNamespace(summary=summary), starts=SimpleNamespace(summary={}))
        jobs["polynomials"] = SimpleNamespace(summary=polynomials)
        claim = claim_at("Section 4.2.1", "P = 2.5", "orbits of b3 and d2")
        assert verdict(claim, facts_of(jobs)) == expected


def run_of(regime: str, **places: list[str]) -> dict[str, Any]:
    """A trajectory at pot 3.1, with the frequencies that have a limit."""
    lists_of = {key: places.get(key, []) for key in ("to_zero", "to_one", "at_zero", "at_one")}
    window = {"start": 5000.0, "end": 10000.0, "mean": 0.01}
    rest = {"transient": 2000.0, "time": 10000.0, "lyapunov_windows": [window], "components": []}
    profiles = {"final": {"max_regret": 0.01}}
    return {"parameter": 3.1, "regime": regime, "profiles": profiles} | rest | lists_of


def test_statements_on_trajectories_are_on_all_of_them() -> None:
    names = {"|".join(place): name for name, place in PLACES.items()}
    a1 = "|".join(PLACES["a1"])
    absorbed = run_of("boundary_absorption", to_zero=[a1])
    cases = {
        "a1": (
            [absorbed, run_of("chaotic_transient", at_zero=[a1])],
            [absorbed, run_of("periodic", to_one=[a1])],
        ),
        "length of it": ([absorbed], [absorbed, run_of("chaotic_transient")]),
        "at first": ([absorbed, run_of("chaotic_transient")], [absorbed, run_of("quasi_periodic")]),
        "eventually": ([absorbed], [absorbed, run_of("chaotic_transient")]),
    }
    for column, (right, wrong) in cases.items():
        claim = claim_at("Section 4.3", "P = 3.1", column)
        for runs, expected in ((right, "reproduced"), (wrong, "differs")):
            summary = {"names": names, "runs": runs}
            facts = facts_of(Jobs(regimes=SimpleNamespace(summary=summary)))
            assert verdict(claim, facts) == expected, column
