"""Papers: computations on small inputs, and verdicts on stores made by hand and changed.

What quick jobs have stored is changed in ``tests/literature/test_claims.py``.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path
from types import SimpleNamespace as Job
from typing import Any

import numpy as np
import pytest

import eqbench
from eqbench.equilibria import known_sets
from eqbench.equilibria.members import members
from eqbench.model.profile import BehaviorProfile
from eqbench.papers.billingham_2017 import lists, motion
from eqbench.papers.billingham_2017.lists import Found, layout
from eqbench.papers.billingham_2018 import branches, compute
from eqbench.papers.billingham_2018.facts import _film, _losers
from eqbench.papers.checks import Interval, Missing
from eqbench.papers.ganzfried.compute import least_gaps, rounded_rows
from eqbench.papers.ganzfried.facts import FULL, LOGIT, PAPER, REDUCED, table_1
from eqbench.papers.ganzfried.program import program, read_log
from eqbench.papers.paper import SHIPPED, Claim, load_paper
from eqbench.papers.stored import NotStoredError
from eqbench.papers.szafron import compute as polynomials
from eqbench.papers.szafron import family
from eqbench.papers.szafron.certificates import moved
from eqbench.papers.szafron.family import QUARTER, kuhn3, measured, sample
from eqbench.papers.szafron.open_question import polished, settled
from eqbench.papers.verdicts import Facts, verdict_of
from eqbench.store.schema import CellRecord
from eqbench.studies.flow.points import SimulatedRun
from eqbench.studies.kuhn_ranges import Range, kinds_of
from eqbench.verification import verify

PAPERS = {name: load_paper(folder) for name, folder in SHIPPED.items()}


class Jobs(dict[str, Any]):
    """Jobs by name, as they would be stored."""

    full = False
    used: tuple[str, ...] = ()

    def __missing__(self, name: str) -> Any:
        raise NotStoredError(name)


def facts_of(paper: str, jobs: dict[str, Any]) -> Facts:
    return Facts(PAPERS[paper], Jobs(jobs))  # type: ignore[arg-type]


def judged_claim(claim: Claim, facts: Facts) -> str:
    return verdict_of(claim, facts.at(claim.fact)[0], facts)[0]


def verdict(paper: str, row: str, column: str, jobs: dict[str, Any], title: str = "") -> str:
    """Verdict on the claim at a place, in the parts whose title begins like this."""
    parts = [part for part in PAPERS[paper].parts if part.title.startswith(title)]
    claims = [claim for part in parts for claim in part.claims]
    (claim,) = [claim for claim in claims if (claim.row, claim.column) == (row, column)]
    return judged_claim(claim, facts_of(paper, jobs))


def with_value(jobs: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Jobs with another value at ``job/attribute/key/…``."""
    *keys, last = path.split("/")
    place: Any = jobs
    for key in keys:
        index: Any = int(key) if isinstance(place, list) else key
        place = place[index] if isinstance(place, dict | list) else getattr(place, key)
    if isinstance(place, dict | list):
        place[int(last) if isinstance(place, list) else last] = value
    else:
        object.__setattr__(place, last, value)
    return jobs


# -- Stores made by hand, on which most claims of `CHANGES` are reproduced


def cell(game: str, solver: str, **changes: Any) -> CellRecord:
    return CellRecord("k", game, solver, game, solver, 0, **changes)


def ganzfried() -> dict[str, Any]:
    logit: Any = {"max_regret": 1.9e-5, "elapsed_s": 5.0, "status": "ok"}
    program: Any = {"elapsed_s": 0.3, "status": "ok", "statistics": {"raw_max_regret": 1e-10}}
    race = [cell(REDUCED, LOGIT, **logit)]
    race += [cell(game, PAPER, max_regret=1e-16, **program) for game in (REDUCED, FULL)]
    timeout = cell(REDUCED, "gambit_gnm", status="timeout", reason="still running")
    return {
        "rounded": Job(summary={"gain": 1 / 59994}),
        "race": Job(cells=race),
        "gambit": Job(cells=[timeout, cell(REDUCED, LOGIT, **logit)]),
    }


def billingham_2017() -> dict[str, Any]:
    """Two trajectories at pot 3.1 that end at the boundary, a1 = 0, and a cell of Table 1."""
    names = {place: name for name, place in zip(layout().variables, layout().places, strict=True)}
    to_zero = [place for place, name in names.items() if name == "a1"]
    run = {"parameter": 3.1, "regime": "boundary_absorption", "to_zero": to_zero, "components": []}
    run |= {"to_one": [], "at_zero": [], "at_one": [], "transient": 2000.0, "time": 1e4}
    run |= {"lyapunov_windows": [{"start": 5e3, "end": 1e4, "mean": 0.01}]}
    run |= {"profiles": {"final": {"max_regret": 0.01}}}
    return {
        "regimes": Job(summary={"names": names, "runs": [dict(run), dict(run)]}),
        "table_1": Job(summary={"without": {"4a": {"as said": 5, "all": 5}}}),
    }


def billingham_2018() -> dict[str, Any]:
    most = {str(n): {10: 15, 5: 5}.get(n, 3) for n in range(4, 14)}

    def at(pot: float, payoff: float, distinct: int) -> dict[str, Any]:
        item = {"payoffs": [0.0, payoff, -payoff], "max_regret": 1e-16}
        return {"parameter": pot, "equilibria": [item], "distinct_payoffs": distinct}

    def trace(cards: int, distinct: int, outcome: str = "arrived") -> Job:
        border = 2 / (cards - 3)
        ends = [at(0.9 * border, 0.0, distinct), at(1.1 * border, 0.01, distinct)]
        vertical = [{"parameter": 9.0}, {"parameter": border}]
        return Job(summary={"at": ends, "vertical": vertical, "outcome": outcome})

    widths = {"n9": 5e-3, "n13": 9e-4, "n13_1e_6": 8e-4, "n26": 1e-4, "n13_1e_4": 6e-5, "n52": 0.0}
    counts = {n: {"most": most[n], "folds": 20 * int(n)} for n in most}
    large = {"mean_range": widths, "counts": {"n26": {"folds": 276, "most": 17}}}
    return {
        **{f"n{n}": trace(int(n), found) for n, found in most.items()},
        **{"n26": trace(26, 1), "n52": trace(52, 1, "lost")},
        "large_branches": Job(summary=large),
        "branches": Job(summary={"counts": counts}),
    }


STORES = {"G": ganzfried, "B7": billingham_2017, "B8": billingham_2018}
# paper; row, column; where what is stored changes, to what (JSON, A1 is the place of a1); verdict
CHANGES = """
G  | introduction: gain           |      | rounded/summary/gain      | 0.00002       | differs
G  | reduced game, on SCIP        |      | race/cells/1/max_regret   | 1e-9         | not_comparable
G  | reduced game, on SCIP        |      | race/cells/1/elapsed_s    | 24.0          | reproduced
G  | reduced game, on SCIP        |      | race/cells/1/elapsed_s    | 25.0         | not_comparable
G  | removal of dominated actions |      |                           |               | differs
G  | removal of dominated actions |      | race/cells/2/max_regret   | 0.1           | reproduced
G  | removal of dominated actions |      | race/cells/2/status       | "unavailable" | not_attempted
G  | gnm         | result on the reduced game |                      |               | not_attempted
G  | gnm         | result on the reduced game | gambit/cells/0/status | "failed"     | reproduced
G  | gnm         | result on the reduced game | gambit/cells/0/status | "crashed"    | differs
G  | gnm         | result on the reduced game | gambit/cells/0/max_regret | 1e-5     | differs
G  | all methods | result on the reduced game | gambit/cells/0/status | "failed"     | reproduced
G  | all methods | result on the reduced game | gambit/cells/0/max_regret | 1e-5     | differs
B8 | N = 6       | P_min | n6/summary/vertical/1           | {"parameter": 9.0}   | differs
B8 | N = 6       | P_min | n6/summary/vertical/1/parameter | 0.666666667          | differs
B8 | N = 4 | largest payoff below it | n4/summary/at/0/equilibria/0/payoffs | [1e-9] | differs
B8 | N = 4 | largest payoff below it | n4/summary/at/0/equilibria/0/max_regret | 1e-9 | differs
B8 | N = 26 | largest payoff above it | n26/summary/at/1/equilibria/0/payoffs | [0.0] | differs
B8 | N = 26 | largest payoff above it | n26/summary/at/1/equilibria/0/max_regret | 1e-9 | differs
B8 | Figure 13         |    | large_branches/summary/mean_range/n26   | 0.001     | differs
B8 | Figure 14, N = 26 |    | large_branches/summary/counts/n26/folds | 4         | differs
B8 | Figure 14, N = 26 |    | large_branches/summary/counts/n26/most  | 1         | differs
B8 | N = 26, limit     |    | n52/summary/outcome                     | "arrived" | not_comparable
B8 | N = 10            |    | branches/summary/counts/10/most         | 14        | differs
B8 | N = 10            |    | n10/summary/at/0/distinct_payoffs       | 16        | differs
B7 | P = 3.1 | a1           | regimes/summary/runs/1/to_one  | ["A1"]              | differs
B7 | P = 3.1 | a1           | regimes/summary/runs/1/at_zero | ["A1"]              | reproduced
B7 | P = 3.1 | length of it | regimes/summary/runs/1/regime  | "chaotic_transient" | differs
B7 | P = 3.1 | at first     | regimes/summary/runs/1/regime  | "chaotic_transient" | reproduced
B7 | P = 3.1 | at first     | regimes/summary/runs/1/regime  | "quasi_periodic"    | differs
B7 | P = 3.1 | eventually   | regimes/summary/runs/1/regime  | "chaotic_transient" | differs
B7 | 4.      | (a)          | table_1/summary/without/4a/as said | 4 | differs
B7 | 4.      | (a)          | table_1/summary/without/4a | {"as said": 0, "all": 0} | differs
"""
TITLES = {"P = 3.1": "Section 4.3", "4.": "Table 1"}  # of parts, where rows alone do not tell them
AS_MADE = {"removal of dominated actions": "differs"}
AS_MADE |= dict.fromkeys(("gnm", "all methods"), "not_attempted")


@pytest.mark.parametrize("line", CHANGES.strip().splitlines())
def test_a_changed_result_turns_the_verdict(line: str) -> None:
    short, row, column, path, value, expected = (word.strip() for word in line.split(" | "))
    made, title = STORES[short], TITLES.get(row, "")
    other = json.loads(value.replace("A1", layout().places[0]) or "null")
    before, after = made(), with_value(made(), path, other) if path else made()
    assert verdict(made.__name__, row, column, before, title) == AS_MADE.get(row, "reproduced")
    assert verdict(made.__name__, row, column, after, title) == expected


# -- Billingham 2017: complete lists that are made of members of the published sets


def published() -> Iterator[Found]:
    """Members of the published sets at all pots of the job ``enumeration``."""
    (job,) = [job for job in PAPERS["billingham_2017"].jobs if job.name == "enumeration"]
    for spec in (word for word in job.words(full=False) if word.startswith("skp(")):
        pot = Fraction(spec[len("skp(pot=") : -1])
        for known in known_sets(eqbench.load_game("skp").at(pot=pot)):
            for member in members(known, 1, np.random.default_rng(0)):
                own = map(_exact, known.frequencies(member.parameters).tolist())
                names: dict[str, Any] = dict(zip(known.layout.variables, own, strict=True))
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
    wrong = {"1": ["d2"], "2": ["b3"], "10a": ["b1", "b2", "d1", "c1 + d2"]}
    regrets = {name: dict.fromkeys(columns, "1/100") for name, columns in wrong.items()}
    done = Job(game_spec="skp(pot=3)", status="ok", equilibria=[])
    done.statistics = {"unresolved": 0, "cases": 3**11}

    def judge(
        title: str = "", row: str = "", column: str = "", solution: str = "", **changes: Any
    ) -> Any:
        found = [
            each._replace(names=each.names | changes) if each.solutions == (solution,) else each
            for each in complete
        ]
        monkeypatch.setattr(lists, "equilibria", lambda _: found)
        misprints = regrets | {solution: {column: "0"}} if changes.pop("w", 1) == 0 else regrets
        jobs = {"enumeration": Job(cells=[done]), "printed": Job(summary=misprints)}
        if title:
            return verdict("billingham_2017", row, column, jobs, title)
        return facts_of("billingham_2017", jobs)

    return judge


def test_published_sets_are_as_the_paper_says_but_for_its_errors(judged: Any) -> None:
    """Every claim on complete lists; the errors are those of the reference run."""
    facts = judged()
    verdicts = {
        f"{claim.row} {claim.column}": judged_claim(claim, facts)
        for part in PAPERS["billingham_2017"].parts
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
CHANGED_LISTS: list[tuple[str, str, str, str, dict[str, Any], str]] = [
    *[(SOLUTIONS, "Solution 10", of, "10", {of: 0.9}, "differs") for of in ("b1", "c2", "d1")],
    *[(SOLUTIONS, "Solution 9", of, "10", {of: 0.9}, "reproduced") for of in ("b1", "c2", "d1")],
    (SOLUTIONS, "Solution 9", "c1 + d2", "9", {"c1": 0.5}, "differs"),
    ("Table 1", "3.", "(a)", "", {}, "reproduced"),
    ("Table 1", "3.", "(a)", "10", {"c3": 0.5}, "differs"),
    # an equilibrium that was ruled out is evidence; a profile with regret is not
    (RULED_OUT, "11(b) cannot hold", "", "10", {"b3": 0.0}, "reproduced"),
    (RULED_OUT, "11(b) cannot hold", "", "10", {"b3": 0.0, "c1": 1.0}, "source_error"),
    (RULED_OUT, "11(b) cannot hold", "", "10", {"b3": 0.0, "c1": 1.0, "r": 0.1}, "differs"),
    (RULED_OUT, "(4)", "P = 5", "10a", {"r": 0.1}, "reproduced"),
    # who calls always is an error only if it is player 3
    ("Figure 3", "P > 5", "callers", "", {}, "source_error"),
    ("Figure 3", "P > 5", "callers", "10", {"c1": 1.0}, "reproduced"),
    ("Figure 3", "P > 5", "callers", "10", {"d3": 0.9}, "differs"),
    # equations (6), (8) and (17): misprints need regret as printed and none in what is listed
    *[
        (SOLUTIONS, f"Solution {name}", of, name, change, expected)
        for name, of, wrong in (
            *(("1", "d2", "source_error"), ("2", "b3", "reproduced"), ("10a", "b1", "reproduced")),
            *(("10a", "b2", "reproduced"), ("10a", "d1", "reproduced")),
        )
        for change, expected in (
            ({}, wrong),
            ({"r": Fraction(1, 9)}, "differs"),
            ({"w": 0}, "differs"),
        )
    ],
]


@pytest.mark.parametrize(
    ("title", "row", "column", "solution", "changes", "expected"), CHANGED_LISTS
)
def test_changed_equilibria_turn_verdicts(
    judged: Any, title: str, row: str, column: str, solution: str, changes: Any, expected: str
) -> None:
    assert judged(title, row, column, solution, **changes) == expected


def test_changed_last_digits_turn_formulas_and_numbers(judged: Any) -> None:
    facts = judged()
    checked = [
        claim
        for part in PAPERS["billingham_2017"].parts
        for claim in part.claims
        if claim.fact.startswith("lists:") and re.match(r"(formula|bounds|close)\(", claim.check)
        if judged_claim(claim, facts) == "reproduced" and claim.column != "range"
    ]
    for claim in random.Random(0).sample(checked, 50):
        text = claim.check.partition(", abs")[0]
        digit = list(re.finditer(r"(?<![a-zA-Z\d])[\d.]+", text))[-1].end() - 1
        other = str((int(claim.check[digit]) + 1) % 10)
        changed = claim.check[:digit] + other + claim.check[digit + 1 :]
        assert judged_claim(replace(claim, check=changed), facts) != "reproduced", claim


@pytest.mark.parametrize(("drift", "expected"), [(0.0, "reproduced"), (0.5, "differs")])
def test_circles_and_spirals_are_distinguished(drift: float, expected: str) -> None:
    times = np.arange(0.0, 200.0, 0.25)
    radius = 0.2 * (1 + drift * times / times[-1])
    frequencies = np.full((len(layout().variables), len(times)), 0.5)
    for name, swing in (("b3", np.sin(times)), ("d2", np.cos(times))):
        frequencies[layout().variables.index(name)] += radius * swing
    behavior = np.array([layout().behavior(row) for row in frequencies.T])
    nothing = np.zeros((len(times), 3))
    run = SimulatedRun("seed 0", times, behavior, nothing, nothing)
    summary = {"2.5": dict(motion.late_motion([run], "2.5", {}, []))}
    place = "P = 2.5", "orbits of b3 and d2"
    jobs = {"motion": Job(summary=summary)}
    assert verdict("billingham_2017", *place, jobs, "Section 4.2.1") == expected


# -- Billingham 2018


def test_payoffs_that_all_starts_share_are_those_of_either_measure() -> None:
    ranging = [[0.1, 0.2, -0.3], [0.1, 0.3, -0.4]]
    both, alone = ([False] * 2, ranging), ([False] * 2, ranging[:1])
    assert compute._agreement([both], [both]) == {"payoffs apart": 0.0, "no equilibria": 0}
    assert compute._agreement([alone], [both])["no equilibria"] == 1
    other = [[0.2, 0.2, -0.4]]
    assert compute._agreement([([False], other)], [both])["payoffs apart"] == pytest.approx(0.1)


def test_folds_and_payoffs_of_a_branch_are_counted_at_all_crossings() -> None:
    values = np.array([0.0, 2.0, 1.0, 1.5, 1.49999, 4.0])  # the last fold is of a vertical piece
    assert branches.counts(values) == {"most": 3, "ranges with several": 1, "folds": 4}
    branch: Any = Job(values=np.array([0.0, 2.0, 1.0, 3.0]), payoffs=np.array([[0.0, 2, 4, 6]]).T)
    assert branches.payoffs_at(branch, 1.5).ravel().tolist() == [1.5, 3.0, 4.5]


def test_a_bluff_above_a_value_bet_is_out_of_order() -> None:
    branch: Any = Job(values=np.array([1.0, 2.0]))
    deck = branches.Deck(branch)
    kinds = deck.__dict__["kinds"] = np.zeros((2, 2, 12, 5), dtype=np.int8)
    kinds[:, 0, 0, [1, 3]] = [(Range.BLUFF, Range.VALUE_BET), (Range.VALUE_BET, Range.BLUFF)]
    assert branches._out_of_order(deck).tolist() == [False, True]
    assert deck.cards(Range.BLUFF) == {1: [2, 4]}
    assert branches._complete_from(deck) == 2.0
    kinds[1, 0, 1:3, :2] = Range.BLUFF, Range.VALUE_BET
    assert branches._complete_from(deck) == 1.0


def test_features_of_the_published_bars_are_distinguished() -> None:
    played = np.zeros((1, 12, 13))
    played[0, 1, [1, *range(6, 13)]] = 0.5
    played[0, 2, [0, 4, 5, 12]] = 0.5
    found = branches.figure_10(np.array([9.0]), played)
    assert found.pop("most_of_both_two_way") == 0
    assert {name for name, feature in found.items() if feature["points"]} == {
        "node 2 bets the best seven cards",
        "node 2 bets card 2 and none of 3 to 6 beside the best seven",
        "node 3 bets 5 and 6",
        "node 3 bets 5 and 6 apart from other ranges",
    }
    played[0, 2, 6] = 0.5
    joined = branches.figure_10(np.array([9.0]), played)
    assert joined["node 3 bets 5 and 6 apart from other ranges"]["points"] == 0


def test_a_two_way_bet_is_for_value_against_the_player_who_calls_with_worse() -> None:
    played = np.zeros((1, 12, 13))
    played[0, 2, [0, 4, 5, 12]] = 0.5
    played[0, 3, 2:] = 1.0
    played[0, 4, 11:] = 1.0
    assert branches.two_way_at_node_3(played).all()
    played[0, [3, 4]] = played[0, [4, 3]]
    assert (kinds_of(played)[0, 0, 2, 4:6] == Range.TWO_WAY_BET).all()
    assert not branches.two_way_at_node_3(played).any()


def test_who_loses_most_comes_with_the_pot_from_which_on() -> None:
    pots, first = np.array([10.0, 20.0, 30.0]), np.array([-3.0, -1.0, 1.0])
    found = _losers(np.array([pots, first, [-2.0, -2.0, -2.0], [5.0, 3.0, 1.0]]))
    assert found["at the last pot"] == [3.0, 1.0, 1.0]
    assert found["player 2 loses most from"] == 20
    assert (found["always above"], found["both others profit above"]) == (10, 20)


def test_a_video_that_is_missing_or_damaged_is_not_attempted(tmp_path: Path) -> None:
    (tmp_path / "damaged.gif").write_bytes(b"GIF89a")
    assert all(isinstance(_film(tmp_path / f"{name}.gif"), Missing) for name in ("none", "damaged"))


# -- Ganzfried 2025


@pytest.mark.parametrize("spec", ["kuhn2", "random(players=3,actions=3,seed=1)"])
def test_least_complementarity_is_the_regret(spec: str) -> None:
    """Ganzfried 2025, section 2, by duality of linear programs."""
    game, rng = eqbench.load_game(spec), np.random.default_rng(1)
    rows = [rng.dirichlet(np.ones(len(actions))) for actions in game.tree.infoset_actions]
    found = least_gaps(game, np.concatenate(rows))
    assert found["gaps"] == pytest.approx(found["regrets"], abs=1e-9)
    assert max(found["gaps"]) > 1e-3


def test_first_presolves_of_the_paper_fit_21_fixed_actions(tmp_path: Path) -> None:
    """Ganzfried 2025, section 4: 45 rows and 57 columns; of the full model 3 and 6."""
    names = ("nodes", "rows", "columns", "presolve_rows", "presolve_columns", "complementarities")
    found = program(tmp_path, tmp_path, full=False)
    sizes = {name: tuple(model[key] for key in names) for name, model in found["models"].items()}
    assert sizes == {
        0: (601, 51, 249, 3, 6, 96),
        21: (421, 72, 249, 45, 57, 66),
        22: (415, 73, 249, 47, 60, 64),
    }
    assert (found["models"][0]["products"], len(found["removed"])) == (396, 22)


def test_log_of_gurobi_is_read() -> None:
    text = (
        "Gurobi Optimizer version 13.0.3 build v13\nPresolve removed 0 rows and 9 columns\n"
        "Presolve time: 0.02s\nPresolved: 17 rows, 6 columns, 43 nonzeros\n"
        "Cutting planes:\n  Gomory: 7\n  Flow cover: 3\n\nExplored 9 nodes\n"
    )
    found = {name: value for name, value in read_log(text).items() if value}
    presolved = {"columns removed": 9, "rows": 17, "columns": 6, "nonzeros": 43, "time": 0.02}
    assert found == presolved | {"Gomory cuts": 7, "Flow cover cuts": 3, "all cuts": 10}
    assert read_log("")["time"] == []


def test_rounded_profile_still_sums_to_one() -> None:
    tree = eqbench.load_game(FULL).tree
    found = rounded_rows(tree, np.tile([1 / 3, 2 / 3], tree.n_infosets))
    assert found == [Fraction("0.3333"), Fraction("0.6667")] * tree.n_infosets


def of_times(ncp: list[Any], mip: list[Any], size: str = "3x3") -> list[CellRecord]:
    """Cells of a size from the times of both methods; a text is a status without a time."""
    players, actions = size.split("x")
    cells = []
    for method, times in (("ncp", ncp), ("mip", mip)):
        for seed, time in enumerate(times):
            ended: Any = {"status": time, "elapsed_s": 0.25, "reason": f"it was {time}"}
            if isinstance(time, float):
                ended = {"status": "ok", "elapsed_s": time, "max_regret": 1e-9}
            game = f"random(players={players},actions={actions},seed={seed})"
            cells.append(cell(game, f"{method}(polish=false)", **ended))
    return cells


def table(cells: list[CellRecord]) -> dict[str, Any]:
    """The job of Table 1 with a limit of 60 seconds."""
    limits = {"parts": [{"games": [cell.game for cell in cells], "timeout_s": 60.0}]}
    return {"table_1_run": Job(json=lambda _: limits, cells=cells)}


@pytest.mark.parametrize(
    ("ncp", "mip", "low", "high"),
    [
        ([1.0, 2.0, 6.0], [3.0, 4.0, 20.0], 3.0, 3.0),
        ([1.0, 1.0, 1.0], [2.0, 60.0, 60.5], 122 / 3, inf),
        ([1.0, "timeout", "limit"], [2.0, 2.0, 2.0], 0.0, 6 / 121),
        ([1.0, "timeout"], [2.0, "timeout"], 0.0, inf),
        # the games without a time of one of the two are left out
        ([1.0, 2.0, "refuted", 8.0], [2.0, "crashed", 5.0, 16.0], 2.0, 2.0),
    ],
)
def test_time_outs_count_as_the_limit_and_make_ratios_bounds(
    ncp: list[Any], mip: list[Any], low: float, high: float
) -> None:
    stored: Any = Jobs(table(of_times(ncp, mip)))
    ratio = table_1(stored)["3x3"]["ratio"]
    ends = (ratio.low, ratio.high) if isinstance(ratio, Interval) else (ratio, ratio)
    assert ends == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("actions", "mip", "expected"),
    [
        (3, [1.0, 1.0, 1.0], "reproduced"),
        (3, [1.1, 1.1, 1.1], "not_comparable"),
        (3, ["limit", 0.1, 0.1], "not_comparable"),  # a bound beyond ten times theirs
        (6, [1.0, 2.0, "limit"], "reproduced"),
        (6, [1.0, "limit"], "not_attempted"),
    ],
)
def test_a_bound_decides_nothing_unless_most_games_were_solved(
    actions: int, mip: list[Any], expected: str
) -> None:
    place = f"n = 3, m = {actions}", "MIP avg. runtime"
    assert verdict("ganzfried", *place, table(of_times([0.1], mip, f"3x{actions}"))) == expected


def test_advantage_is_held_against_all_sizes_and_the_printed_means() -> None:
    growing = {"3x3": 2.0, "5x2": 3.0, "3x4": 4.0, "4x3": 5.0, "3x5": 6.0, "3x6": 7.0}
    for changed, expected in (({}, "reproduced"), ({"4x3": 1.5}, "source_error")):
        sizes = (growing | changed).items()
        cells = [cell for size, ratio in sizes for cell in of_times([1.0], [ratio], size)]
        assert verdict("ganzfried", "advantage", "", table(cells)) == expected


# -- Szafron, Gibson and Sturtevant 2013


def test_polynomials_agree_with_the_verifier_and_are_written_and_parsed_alike() -> None:
    pytest.importorskip("flint", reason="python-flint is not installed")
    values = sample(1, seed=5)["high"][-1]
    found = [polynomials.at(each, values) for each in polynomials.payoff_polynomials()]
    assert [Fraction(str(each)) / 24 for each in found] == list(measured(values).payoffs)
    polynomial = polynomials.parsed("2*b11 - (b11 - 1/2)*b21 + b11**2")
    assert polynomials.parsed(polynomials.written(polynomial)) == polynomial
    assert str(polynomials.at(polynomial.derivative("b11"), {"b21": 3, "b11": "1"})) == "1"


def test_members_keep_table_3_and_what_is_broken_does_not() -> None:
    for sub_family, own in sample(2, seed=6, every=7).items():
        assert all(family.is_member(values) for values in own)
        entries = {f"{name}=" for name in (*family.constants(), "b33", "b41", "c21")}
        for entry, values in product(entries | {"b32+", "c33+", "c33-"}, own):
            for sign in {"+": (1,), "-": (-1,), "=": (-1, 1)}[entry[-1]]:
                broken = moved(sub_family, values, entry, sign)
                assert not family.is_profile(broken) or not family.is_member(broken), entry


def test_ranges_are_those_of_table_3() -> None:
    """Szafron et al. 2013, Table 3 and §5."""
    quarters = {"b11": QUARTER, "b21": QUARTER}
    assert family.ends("low", {"b21": Fraction(1, 8)}, "b11") == (0, Fraction(1, 8))
    assert family.ends("low", quarters, "b32") == (0, Fraction(15, 16))
    assert family.ends("low", quarters | {"b32": Fraction(7, 8)}, "c33") == (0, Fraction(1, 16))
    assert family.ends("between", {"b11": QUARTER}, "c11") == (0, Fraction(7, 16))
    assert family.ends("high", {"b11": Fraction(1, 5)}, "b21") == (0, Fraction(1, 10))
    assert family.ends("high", {"b11": QUARTER, "b21": Fraction(0)}, "r23") == (0, Fraction(1, 8))


def test_polishing_brings_a_blurred_member_back() -> None:
    exact = family.profile(family.named("b11=1/4 b21=1/4 b32=1/2 c11=1/4 c33=1/4"))
    away = np.clip(exact.probabilities + 1e-7 * np.tile([1.0, -1.0], 48), 0.0, 1.0)
    away /= np.repeat(away.reshape(-1, 2).sum(axis=1), 2)
    tree = kuhn3().tree
    before = verify(tree, BehaviorProfile.of(tree, away)).max_regret
    after = min(verify(tree, each).max_regret for each in polished(away))
    assert after < 1e-14 < 1e-9 < before
    assert settled(away, before)["identity"] == "szafron:0<c11<1/2"
    assert settled(BehaviorProfile.uniform(tree).probabilities, 1e-9) == {}
