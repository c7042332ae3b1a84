"""Claims on Billingham 2017 (arXiv:1707.01392), held against stores made by hand.

Complete lists are made of members of the published sets, at the pots of the paper's own job.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers import study_cases as paper_cases
from helpers.study_cases import Jobs, summaries, verdict

import eqbench
from eqbench.equilibria import known_sets
from eqbench.papers.billingham_2017 import lists, motion
from eqbench.papers.billingham_2017.lists import LAYOUT, NAMES, PAPER, PLACES, Found
from eqbench.papers.paper import Claim
from eqbench.papers.verdicts import Facts
from eqbench.studies.flow.members import members
from eqbench.studies.flow.points import SimulatedRun


def claim_at(title: str, row: str, column: str = "") -> Claim:
    return paper_cases.claim_at(PAPER, row, column, title=title)


def facts_of(**found: Any) -> Facts:
    """Facts as they are read off jobs with these summaries."""
    return paper_cases.facts_of(PAPER, summaries(**found))


def stored() -> Jobs:
    """An enumeration that closed all its cases, and regrets of the misprinted profiles."""
    cell = SimpleNamespace(game_spec="skp(pot=3)", status="ok", equilibria=[])
    cell.statistics = {"unresolved": 0, "cases": 3**11}
    wrong = {"1": ["d2"], "2": ["b3"], "10a": ["b1", "b2", "d1", "c1 + d2"]}
    regrets = {name: dict.fromkeys(columns, "1/100") for name, columns in wrong.items()}
    return Jobs(enumeration=SimpleNamespace(cells=[cell]), printed=SimpleNamespace(summary=regrets))


def published() -> Iterator[Found]:
    """Members of the published sets at all pots of the job ``enumeration``."""
    (job,) = [job for job in PAPER.jobs if job.name == "enumeration"]
    for spec in (word for word in job.words(full=False) if word.startswith("skp(")):
        pot = Fraction(spec[len("skp(pot=") : -1])
        game = eqbench.load_game("skp").at(pot=pot)
        for known in known_sets(game):
            for member in members(known, 1, np.random.default_rng(0)):
                own = known.frequencies(member.parameters).tolist()
                names = dict(zip(known.layout.variables, map(_exact, own), strict=True))
                payoffs = (24 * known.payoffs_near(member.parameters)).tolist()
                names |= {f"E{k}": payoff for k, payoff in enumerate(payoffs, 1)}
                yield Found((known.name.removeprefix("skp:"),), names | {"P": pot, "r": 0})


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
        found = [
            each._replace(names=each.names | changes) if each.solutions == (solution,) else each
            for each in complete
        ]
        monkeypatch.setattr(lists, "equilibria", lambda _: found)
        facts = paper_cases.facts_of(PAPER, jobs or stored())
        return verdict(claim_at(*place), facts) if place else facts

    return judge


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


SOLUTIONS, RULED_OUT = "Equations (5)", "Section 3: what is ruled out"
CHANGES: list[tuple[tuple[str, ...], str, dict[str, float], str]] = [
    *[((SOLUTIONS, "Solution 10", of), "10", {of: 0.9}, "differs") for of in ("b1", "c2", "d1")],
    *[((SOLUTIONS, "Solution 9", of), "10", {of: 0.9}, "reproduced") for of in ("b1", "c2", "d1")],
    ((SOLUTIONS, "Solution 9", "c1 + d2"), "9", {"c1": 0.5}, "differs"),
    (("Table 1", "3.", "(a)"), "", {}, "reproduced"),
    (("Table 1", "3.", "(a)"), "10", {"c3": 0.5}, "differs"),
    # an equilibrium that was ruled out is evidence; a profile with regret is not
    ((RULED_OUT, "11(b) cannot hold"), "10", {"b3": 0.0}, "reproduced"),
    ((RULED_OUT, "11(b) cannot hold"), "10", {"b3": 0.0, "c1": 1.0}, "source_error"),
    ((RULED_OUT, "11(b) cannot hold"), "10", {"b3": 0.0, "c1": 1.0, "r": 0.1}, "differs"),
    ((RULED_OUT, "(4)", "P = 5"), "10a", {"r": 0.1}, "reproduced"),
    # who calls always is an error only if it is player 3
    (("Figure 3", "P > 5", "callers"), "", {}, "source_error"),
    (("Figure 3", "P > 5", "callers"), "10", {"c1": 1.0}, "reproduced"),
    (("Figure 3", "P > 5", "callers"), "10", {"d3": 0.9}, "differs"),
]


@pytest.mark.parametrize(("place", "solution", "changes", "expected"), CHANGES)
def test_changed_equilibria_turn_what_is_said_of_them(
    judged: Any, place: tuple[str, ...], solution: str, changes: dict[str, float], expected: str
) -> None:
    assert judged(place, solution, **changes) == expected


def test_changed_last_digits_turn_formulas_and_numbers(judged: Any) -> None:
    facts = judged()
    checked = [
        claim
        for part in PAPER.parts
        for claim in part.claims
        if claim.fact.startswith("lists:") and re.match(r"(formula|bounds|close)\(", claim.check)
        if verdict(claim, facts) == "reproduced" and claim.column != "range"
    ]
    for claim in random.Random(0).sample(checked, 50):
        text = claim.check.partition(", abs")[0]
        digit = list(re.finditer(r"(?<![a-zA-Z\d])[\d.]+", text))[-1].end() - 1
        other = str((int(claim.check[digit]) + 1) % 10)
        changed = claim.check[:digit] + other + claim.check[digit + 1 :]
        assert verdict(replace(claim, check=changed), facts) != "reproduced", claim


def test_misprints_need_regret_as_printed_and_none_in_what_is_listed(judged: Any) -> None:
    """Equations (6), (8) and (17)."""
    claims = {
        ("1", "d2"): "source_error",
        **dict.fromkeys((("2", "b3"), ("10a", "b1"), ("10a", "b2"), ("10a", "d1")), "reproduced"),
    }
    for (name, column), expected in claims.items():
        place = (SOLUTIONS, f"Solution {name}", column)
        assert judged(place) == expected
        assert judged(place, solution=name, r=Fraction(1, 9)) == "differs"
        jobs = stored()
        jobs["printed"].summary[name][column] = "0"
        assert judged(place, jobs=jobs) == "differs"


def test_a_cell_that_no_equilibrium_shows_is_tried_on_others() -> None:
    """Table 1, 4(a)."""
    for as_said, of, expected in ((5, 5, "reproduced"), (4, 5, "differs"), (0, 0, "differs")):
        summary = {"without": {"4a": {"as said": as_said, "all": of}}}
        claim = claim_at("Table 1", "4.", "(a)")
        assert verdict(claim, facts_of(table_1=summary)) == expected


def orbit(drift: float) -> SimulatedRun:
    """Frequencies on a circle, or on a spiral."""
    times = np.arange(0.0, 200.0, 0.25)
    radius = 0.2 * (1 + drift * times / times[-1])
    moving = {"b3": 0.5 + radius * np.sin(times), "d2": 0.5 + radius * np.cos(times)}
    frequencies = np.array([moving.get(name, np.full(len(times), 0.5)) for name in NAMES])
    behavior = np.array([LAYOUT.behavior(row) for row in frequencies.T])
    nothing = np.zeros((len(times), 3))
    return SimulatedRun("seed 0", times, behavior, nothing, nothing)


def test_closed_orbits_are_told_from_others() -> None:
    for drift, expected in ((0.0, "reproduced"), (0.5, "differs")):
        summary = {"2.5": motion.late_motion([orbit(drift)], "2.5", {}, [])}
        claim = claim_at("Section 4.2.1", "P = 2.5", "orbits of b3 and d2")
        assert verdict(claim, facts_of(motion=summary)) == expected


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
            facts = facts_of(regimes={"names": names, "runs": runs})
            assert verdict(claim, facts) == expected, column
