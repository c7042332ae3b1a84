"""What becomes of what a child streamed: kept within bounds, measured, and stored as it was."""

from __future__ import annotations

import io
import json
import shutil
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.runs import candidate as candidate_of
from helpers.runs import snapshot as snapshot_of
from helpers.runs import write_run
from numpy.typing import ArrayLike

from eqbench import BehaviorProfile, load_game, solve
from eqbench.errors import StoreError, UsageError
from eqbench.harness import attempt, judge
from eqbench.harness.attempt import Attempt, Machine, judged, not_loaded
from eqbench.harness.experiment import Experiment, Request
from eqbench.harness.judge import Received, measure, measure_all
from eqbench.harness.plan import PlannedCell, make_plan
from eqbench.harness.run import Recorder, folder_begun
from eqbench.isolation.child import Outcome
from eqbench.isolation.messages import (
    CandidateFrame,
    Clocks,
    DoneFrame,
    ErrorFrame,
    Frame,
    SnapshotFrame,
)
from eqbench.registry import default_registry
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import CellRecord
from eqbench.verification import Allowance, Verifier

TREE = load_game("kuhn2").tree
UNIFORM = BehaviorProfile.uniform(TREE)
PURE = [1.0, 0.0] * (TREE.n_actions // 2)
CLOCKS = Clocks(elapsed_s=0.5, cpu_s=0.25, overhead_s=0.125, work=7)
DONE = DoneFrame(reason="limit", detail="enough", clocks=CLOCKS, statistics={"depth": 3})
RAISED: dict[str, Any] = {"type": "OSError", "message": "no such card", "traceback": "line 1"}
KINDS = {"usage": False, "memory": False, "unavailable": False}


def candidate(frequencies: ArrayLike = UNIFORM.probabilities, **changes: Any) -> CandidateFrame:
    return candidate_of(np.asarray(frequencies), **({"clocks": CLOCKS} | changes))


def snapshot(frequencies: ArrayLike = UNIFORM.probabilities, *, work: int = 1) -> SnapshotFrame:
    return snapshot_of(work, np.asarray(frequencies))


@pytest.fixture
def cell(tmp_path: Path) -> PlannedCell:
    (planned,) = make_plan(Request(["kuhn2"], ["cfr"]), default_registry(), tmp_path)
    return planned


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(write_run(tmp_path / "run"))


def result_of(cell: PlannedCell, outcome: Outcome | None, received: Received) -> Attempt:
    if outcome is None:
        return not_loaded(cell)
    return judged(cell, Machine(), outcome, received)


def recorded(
    folder: RunFolder, cell: PlannedCell, outcome: Outcome | None, *frames: Frame
) -> CellRecord:
    """Record of a cell, read back from its folder."""
    streamed = Received(TREE.n_actions)
    for frame in frames:
        streamed.add(frame)
    record = Recorder(folder).store(cell, result_of(cell, outcome, streamed))
    assert record in folder.cells()
    return record


# -- what is kept of a stream ----------------------------------------------------------------


def test_profiles_of_another_length_are_not_kept(cell: PlannedCell, folder: RunFolder) -> None:
    streamed = Received(TREE.n_actions)
    wrong = [candidate(UNIFORM.probabilities[:-1]), candidate(exact=["1/2"]), snapshot([])]
    for frame in (*wrong, DONE, candidate(), snapshot()):
        streamed.add(frame)
    assert streamed.misfit == f"a profile of this game has {TREE.n_actions} frequencies; got 23"
    assert (len(streamed.candidates), len(streamed.snapshots), streamed.dropped) == (1, 1, 0)
    record = recorded(folder, cell, Outcome(last=DONE, clocks=CLOCKS), *wrong, candidate())
    assert (record.status, record.equilibria) == ("crashed", [])
    assert streamed.misfit in record.reason


def test_snapshots_become_sparser_and_the_newest_stays() -> None:
    assert (judge.MAX_SNAPSHOTS, judge.MAX_CANDIDATES) == (64, 1024), "as documented"
    assert judge.MAX_CANDIDATE_BYTES == 2**29
    for count in (64, 300):
        streamed = Received(TREE.n_actions)
        for work in range(count):
            streamed.add(snapshot(work=work))
        works = [frame.clocks.work for frame in streamed.snapshots]
        assert (works[0], works[-1]) == (0, count - 1)
        assert len(works) == 64 if count == 64 else 32 <= len(works) <= 64


def test_candidates_beyond_a_number_or_a_size_are_counted(
    cell: PlannedCell, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kept(*frames: CandidateFrame) -> tuple[int, int]:
        streamed = Received(TREE.n_actions)
        for frame in frames:
            streamed.add(frame)
        return len(streamed.candidates), streamed.dropped

    monkeypatch.setattr(judge, "MAX_CANDIDATES", 3)
    assert kept(*[candidate()] * 5) == (3, 2)
    monkeypatch.setattr(judge, "MAX_CANDIDATE_BYTES", 2 * len(candidate().profile))
    assert kept(*[candidate()] * 3) == (2, 1)
    assert kept(candidate(exact=["0" * 999 + "1"] * TREE.n_actions)) == (0, 1), "texts count too"
    outcome = Outcome(last=DONE, clocks=CLOCKS)
    assert recorded(folder, cell, outcome, candidate()).reason == "enough"
    record = recorded(folder, cell, outcome, *[candidate()] * 3)
    assert "dropped 1 " in record.reason


# -- what is measured ------------------------------------------------------------------------


def test_frames_of_a_cell_share_an_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Allowance | None] = []

    def kept(*arguments: Any, **named: Any) -> None:
        given.append(arguments[3])

    monkeypatch.setattr(judge, "measure", kept)
    measure_all([candidate(), candidate()], Verifier(TREE), 1e-6)
    assert given[0] is given[1]
    assert isinstance(given[0], Allowance)


@pytest.mark.parametrize(
    ("claim", "claimed", "proved"),
    [
        ("equilibrium", None, True),
        ("complete list", None, True),
        ("iterate", 0.0, True),
        ("iterate", None, False),
        ("average", 0.6, False),
    ],
)
def test_claim_of_an_equilibrium_or_of_no_regret_is_measured_exactly(
    claim: str, claimed: float | None, proved: bool
) -> None:
    frame = candidate(claim=claim, claimed_regret=claimed, exact=["1/2"] * TREE.n_actions)
    found = measure(frame, Verifier(TREE), 1e-6)
    assert (found.exact is not None) == proved
    assert (found.refuted is not None) == proved  # uniform play is no equilibrium
    assert found.max_regret == pytest.approx(13 / 24)
    assert (found.work, found.elapsed_s) == (CLOCKS.work, CLOCKS.elapsed_s)


def test_tolerance_of_a_cell_is_what_claims_are_held_against() -> None:
    verifier = Verifier(TREE)
    frame = candidate(claim="equilibrium")
    regret = measure(frame, verifier, 1.0).max_regret
    share = regret / TREE.payoff_scale
    assert measure(frame, verifier, 1.001 * share).refuted is None
    assert measure(frame, verifier, 0.999 * share).refuted is not None


# -- what is stored --------------------------------------------------------------------------


def test_record_says_which_cell_it_is_and_what_was_measured(
    cell: PlannedCell, folder: RunFolder
) -> None:
    outcome = Outcome(
        last=DONE, ready=True, clocks=CLOCKS, setup_s=0.25, peak_memory_bytes=5000, log="printed"
    )
    record = recorded(folder, cell, outcome, snapshot(), candidate(PURE), candidate())
    named = (record.key, record.game, record.game_spec, record.solver, record.solver_spec)
    assert named == (cell.key, "kuhn2", cell.game.game.spec, "cfr", cell.solver.spec)
    assert (record.seed, record.target) == (cell.seed, cell.target)
    tree = cell.game.game.tree
    assert record.tolerance == cell.request.tolerance * tree.payoff_scale
    assert (record.game_content, record.solver_version) == (cell.game.content, cell.solver.version)
    assert (record.status, record.reason) == ("limit", "enough")
    assert record.elapsed_s == CLOCKS.elapsed_s
    assert record.cpu_s == CLOCKS.cpu_s
    assert record.overhead_s == CLOCKS.overhead_s
    assert record.iterations == CLOCKS.work
    assert record.setup_s == 0.25
    assert record.statistics == {"depth": 3}
    assert record.peak_memory_bytes == 5000

    regrets = [item.max_regret for item in record.equilibria]
    assert regrets == sorted(regrets)
    assert record.max_regret == regrets[0]
    first = record.equilibria[0]
    assert record.nash_conv == first.nash_conv == pytest.approx(sum(first.regrets))
    assert record.exploitability == pytest.approx(sum(first.regrets) / 2)
    assert first.profile is not None
    stored = json.loads((folder.path / first.profile).read_text())
    assert stored["game"] == cell.game.game.spec
    assert record.log is not None
    assert (folder.path / record.log).read_text() == "printed"


def test_cell_without_candidates_shows_where_its_method_was_last(
    cell: PlannedCell, folder: RunFolder
) -> None:
    path = [snapshot(work=1), snapshot(work=2), snapshot(PURE, work=4)]
    record = recorded(folder, cell, Outcome(last=DONE, clocks=CLOCKS), *path)
    (shown,) = record.equilibria
    verifier = Verifier(TREE)
    assert shown.max_regret == measure(path[-1], verifier, 1e-6).max_regret
    assert shown.max_regret != measure(path[0], verifier, 1e-6).max_regret
    assert record.trace is not None
    with np.load(folder.path / record.trace) as arrays:
        assert arrays["work"].tolist() == [1, 2, 4]


CASES: dict[str, tuple[Outcome | None, dict[str, Any], str | None]] = {
    "there is no profile": (
        Outcome(last=DONE, clocks=CLOCKS),
        {"trace": None, "equilibria": [], "max_regret": None, "payoffs": None},
        None,
    ),
    "it died in its set-up": (
        Outcome(exit_code=1, solve_s=3.0, setup_s=1.0),
        {
            "elapsed_s": None,
            "cpu_s": None,
            "overhead_s": None,
            "iterations": None,
            "statistics": {},
        },
        None,
    ),
    "it died before it sent anything": (
        Outcome(exit_code=1, ready=True, solve_s=3.0),
        {"elapsed_s": 3.0, "cpu_s": None, "overhead_s": None, "iterations": None},
        None,
    ),
    "it died later": (
        Outcome(exit_code=1, ready=True, solve_s=3.0, clocks=CLOCKS),
        {"elapsed_s": 3.0 - CLOCKS.overhead_s, "cpu_s": CLOCKS.cpu_s, "iterations": CLOCKS.work},
        None,
    ),
    "its clock ran ahead": (
        Outcome(exit_code=1, ready=True, solve_s=0.1, clocks=CLOCKS),
        {"elapsed_s": 0.0},
        None,
    ),
    "it raised an error": (
        Outcome(
            last=ErrorFrame(**RAISED, **KINDS, clocks=CLOCKS, statistics={"depth": 1}),
            ready=True,
            clocks=CLOCKS,
            solve_s=99.0,
            log="printed",
        ),
        {
            "status": "crashed",
            "reason": "OSError: no such card",
            "elapsed_s": CLOCKS.elapsed_s,
            "statistics": {"depth": 1},
        },
        "printed\nline 1",
    ),
    "its reason is long": (
        Outcome(last=DoneFrame(reason="limit", detail=f"\x1b[2J{'x' * 5000}"), clocks=CLOCKS),
        {"status": "limit"},
        f"\x1b[2J{'x' * 5000}",
    ),
    "its error is long": (  # a traceback ends with the message, so it is not written twice
        Outcome(last=ErrorFrame(**(RAISED | {"message": "y" * 5000}), **KINDS)),
        {"status": "crashed"},
        "line 1",
    ),
    "its solver could not be loaded": (
        None,
        {"status": "unavailable", "reason": "no licence", "elapsed_s": None},
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_record_of_a_cell_says_how_it_ended(
    case: str, cell: PlannedCell, folder: RunFolder
) -> None:
    outcome, expected, log = CASES[case]
    broken = replace(cell, solver=replace(cell.solver, problem=("unavailable", "no licence")))
    record = recorded(folder, cell if outcome else broken, outcome)
    assert {name: getattr(record, name) for name in expected} == expected
    assert len(record.reason) <= 300
    assert record.reason.isprintable()
    assert (record.log and (folder.path / record.log).read_text()) == log


def finding(work: int, regret: float, claim: str) -> Any:
    return SimpleNamespace(
        work=work,
        elapsed_s=work / 10,
        max_regret=regret,
        rank=(True, regret),
        candidate=SimpleNamespace(claim=claim),
        measured=SimpleNamespace(regrets=(regret, 0.0), payoffs=(1.0, -1.0)),
    )


@pytest.mark.parametrize(("last", "works"), [(12, [4, 8, 12]), (8, [4, 8])])
def test_anytime_curve_ends_with_the_profile_that_the_cell_shows(
    last: int, works: list[int]
) -> None:
    path = [finding(4, 0.5, "average"), finding(8, 0.25, "average")]
    curve = attempt.trace_of(path, [finding(last, 0.2, "iterate"), finding(last, 0.1, "average")])
    assert curve is not None
    with np.load(io.BytesIO(curve)) as arrays:
        assert arrays["work"].tolist() == works
        if last == 12:
            assert arrays["regrets"][-1].tolist() == [0.1, 0.0]
            assert arrays["claim"][-1] == "average"


def test_what_cannot_be_used_makes_its_cell_crashed_and_nothing_else(
    cell: PlannedCell, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("\x1b" + "z" * 1000)

    monkeypatch.setattr("eqbench.harness.judge.measure_all", fail)
    record = recorded(folder, cell, Outcome(last=DONE, clocks=CLOCKS), candidate())
    assert record.status == "crashed"
    assert record.reason.startswith("what the solver sent cannot be used: \\x1bzzz")
    assert len(record.reason) <= 300


def test_tries_of_a_cell_have_files_of_their_own(cell: PlannedCell, folder: RunFolder) -> None:
    outcome = Outcome(last=DONE, clocks=CLOCKS, log="printed")
    records = [recorded(folder, cell, outcome, candidate(), snapshot()) for _ in range(2)]
    for name in ("trace", "log"):
        assert len({getattr(record, name) for record in records}) == 2
    assert len({record.equilibria[0].profile for record in records}) == 2


def test_cell_that_cannot_be_stored_is_an_error_and_no_result(
    cell: PlannedCell, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(record: CellRecord, reader: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(folder, "append", full)
    with pytest.raises(StoreError, match="disk"):
        Recorder(folder).store(
            cell, result_of(cell, Outcome(ended="exit", last=DONE), Received(TREE.n_actions))
        )


def test_building_the_game_is_part_of_the_set_up(
    cell: PlannedCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt, "run_child", lambda *job: Outcome(setup_s=0.25))
    seen, _ = attempt.observe(cell, threading.Event())
    assert seen.setup_s == 0.25 + cell.game.build_s


# -- when the run ends ------------------------------------------------------------------------


@pytest.fixture
def unknown(tmp_path: Path) -> PlannedCell:
    """A cell of a game of which no equilibrium is published."""
    game = "random(actions=4,seed=1)"
    (planned,) = make_plan(Request([game], ["cfr"]), default_registry(), tmp_path)
    return planned


def equilibrium_of(cell: PlannedCell) -> CandidateFrame:
    solved = solve(cell.game.game, "lcp").equilibria[0]
    return candidate(solved.profile.probabilities, claim="equilibrium")


def test_clusters_are_the_same_for_another_runner(unknown: PlannedCell, folder: RunFolder) -> None:
    recorder, received = Recorder(folder), Received(unknown.game.game.tree.n_actions)
    received.add(equilibrium_of(unknown))
    recorder.store(unknown, result_of(unknown, Outcome(last=DONE, clocks=CLOCKS), received))
    recorder.conclude([unknown], 1e-6)
    named = recorder.records[unknown.key].equilibria[0].identity
    assert named is not None
    assert named["name"] == "cluster:1"
    written = (folder.path / "clusters.json").read_bytes()
    elsewhere = Recorder(folder)
    elsewhere.conclude([unknown], 1e-6)
    assert (folder.path / "clusters.json").read_bytes() == written
    assert elsewhere.records[unknown.key] == recorder.records[unknown.key]


def test_judges_of_games_at_work_are_kept(cell: PlannedCell, unknown: PlannedCell) -> None:
    for games, kept in ((1, False), (2, True)):
        place = Machine(games)
        first, second = place.judge_of(cell), place.judge_of(unknown)
        assert (place.judge_of(cell) is first) == kept
        assert (place.judge_of(unknown) is second) == kept


def test_stored_result_counts_and_not_the_interrupted_try_after_it(
    cell: PlannedCell, folder: RunFolder
) -> None:
    before = recorded(folder, cell, Outcome(last=DONE, clocks=CLOCKS), candidate())
    recorder = Recorder(folder)
    stopped = recorder.store(
        cell, result_of(cell, Outcome(ended="interrupted"), Received(TREE.n_actions))
    )
    assert stopped.status == "interrupted"
    recorder.conclude([cell], 1e-6)
    assert recorder.records == {cell.key: before}


def test_what_this_runner_stored_is_not_read_again(unknown: PlannedCell, folder: RunFolder) -> None:
    recorder, received = Recorder(folder), Received(unknown.game.game.tree.n_actions)
    received.add(equilibrium_of(unknown))
    recorder.store(unknown, result_of(unknown, Outcome(last=DONE, clocks=CLOCKS), received))
    shutil.rmtree(folder.path / "profiles")
    (folder.path / "runs.jsonl").unlink()
    recorder.conclude([unknown], 1e-6)
    (found,) = recorder.records[unknown.key].equilibria
    assert found.identity is not None
    assert found.identity["name"] == "cluster:1"
    assert unknown.game.content in recorder.completeness


def test_folder_of_another_experiment_is_refused(folder: RunFolder, tmp_path: Path) -> None:
    unnamed = Experiment(())
    assert folder_begun(tmp_path / "new", unnamed) is None
    begun = folder_begun(folder.path, unnamed)
    assert begun is not None
    assert begun.path == folder.path
    with pytest.raises(UsageError, match="--out"):
        folder_begun(folder.path, replace(unnamed, name="another"))
