"""What becomes of what a child streamed: kept within bounds, measured, and stored as it was."""

from __future__ import annotations

import json
import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frame_cases import candidate as candidate_of
from frame_cases import snapshot as snapshot_of
from numpy.typing import ArrayLike
from stored_runs import write_run

from eqbench import BehaviorProfile, load_game, solve
from eqbench.errors import StoreError
from eqbench.harness import attempt, judge
from eqbench.harness.attempt import Place, Result, judged, not_loaded
from eqbench.harness.judge import Received, measure, measure_all
from eqbench.harness.plan import Cell, make_plan
from eqbench.harness.record import Recorder
from eqbench.harness.request import Request
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
def cell(tmp_path: Path) -> Cell:
    (planned,) = make_plan(Request(["kuhn2"], ["cfr"]), default_registry(), tmp_path)
    return planned


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(write_run(tmp_path / "run"))


def result_of(cell: Cell, outcome: Outcome | None, received: Received) -> Result:
    if outcome is None:
        return not_loaded(cell)
    return judged(cell, Place(), outcome, received)


def recorded(folder: RunFolder, cell: Cell, outcome: Outcome | None, *frames: Frame) -> CellRecord:
    """Record of a cell, read back from its folder."""
    streamed = Received(TREE.n_actions)
    for frame in frames:
        streamed.add(frame)
    record = Recorder(folder).store(cell, result_of(cell, outcome, streamed))
    assert record in folder.cells()
    return record


# -- what is kept of a stream ----------------------------------------------------------------


def test_profiles_of_another_length_are_not_kept(cell: Cell, folder: RunFolder) -> None:
    streamed = Received(TREE.n_actions)
    wrong = [candidate(UNIFORM.probabilities[:-1]), candidate(exact=["1/2"]), snapshot([])]
    for frame in (*wrong, DONE, candidate(), snapshot()):
        streamed.add(frame)
    assert streamed.misfit == f"a profile of this game has {TREE.n_actions} frequencies; got 23"
    assert (len(streamed.candidates), len(streamed.snapshots), streamed.dropped) == (1, 1, 0)
    record = recorded(folder, cell, Outcome(last=DONE, clocks=CLOCKS), *wrong, candidate())
    assert (record.status, record.equilibria) == ("crashed", [])
    assert streamed.misfit in record.reason


def test_bounds_are_those_that_are_documented() -> None:
    assert (judge.MAX_SNAPSHOTS, judge.MAX_CANDIDATES) == (64, 1024)
    assert judge.MAX_CANDIDATE_BYTES == 2**29


def test_snapshots_become_sparser_and_the_newest_stays() -> None:
    streamed = Received(TREE.n_actions)
    for work in range(300):
        streamed.add(snapshot(work=work))
    works = [frame.clocks.work for frame in streamed.snapshots]
    assert works[-1] == 299
    assert works[0] == 0
    assert 32 <= len(works) <= 64
    streamed = Received(TREE.n_actions)
    for work in range(64):
        streamed.add(snapshot(work=work))
    assert len(streamed.snapshots) == 64


def test_candidates_beyond_a_number_or_a_size_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "MAX_CANDIDATES", 3)
    streamed = Received(TREE.n_actions)
    for _ in range(5):
        streamed.add(candidate())
    assert (len(streamed.candidates), streamed.dropped) == (3, 2)

    size = len(candidate().profile)
    monkeypatch.setattr(judge, "MAX_CANDIDATE_BYTES", 2 * size)
    streamed = Received(TREE.n_actions)
    for _ in range(3):
        streamed.add(candidate())
    assert (len(streamed.candidates), streamed.dropped) == (2, 1)
    streamed = Received(TREE.n_actions)
    streamed.add(candidate(exact=["0" * 999 + "1"] * TREE.n_actions))  # texts take memory too
    assert (len(streamed.candidates), streamed.dropped) == (0, 1)


def test_dropped_candidates_stand_in_the_reason(
    cell: Cell, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "MAX_CANDIDATES", 1)
    outcome = Outcome(last=DONE, clocks=CLOCKS)
    assert recorded(folder, cell, outcome, candidate()).reason == "enough"
    record = recorded(folder, cell, outcome, candidate(), candidate(), candidate())
    assert record.reason == "enough; dropped 2 further candidates"


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


def test_record_says_which_cell_it_is_and_what_was_measured(cell: Cell, folder: RunFolder) -> None:
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
    cell: Cell, folder: RunFolder
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


def test_cell_without_any_profile_has_neither_curve_nor_figures(
    cell: Cell, folder: RunFolder
) -> None:
    record = recorded(folder, cell, Outcome(last=DONE, clocks=CLOCKS))
    assert record.trace is None
    assert record.log is None
    assert record.equilibria == []
    assert record.max_regret is None
    assert record.payoffs is None


def test_clocks_of_a_child_that_died_are_those_seen_from_outside(
    cell: Cell, folder: RunFolder
) -> None:
    never = recorded(folder, cell, Outcome(exit_code=1, solve_s=3.0, setup_s=1.0))
    assert (never.elapsed_s, never.cpu_s, never.overhead_s, never.iterations) == (None,) * 4
    assert never.statistics == {}
    silent = recorded(folder, cell, Outcome(exit_code=1, ready=True, solve_s=3.0))
    assert (silent.elapsed_s, silent.cpu_s, silent.overhead_s, silent.iterations) == (
        *(3.0, None, None),
        None,
    )
    heard = recorded(folder, cell, Outcome(exit_code=1, ready=True, solve_s=3.0, clocks=CLOCKS))
    assert heard.elapsed_s == 3.0 - CLOCKS.overhead_s
    assert (heard.cpu_s, heard.iterations) == (CLOCKS.cpu_s, CLOCKS.work)


def test_error_is_recorded_with_its_clocks_and_its_traceback(cell: Cell, folder: RunFolder) -> None:
    error = ErrorFrame(**RAISED, **KINDS, clocks=CLOCKS, statistics={"depth": 1})
    outcome = Outcome(last=error, ready=True, clocks=CLOCKS, solve_s=99.0, log="printed")
    record = recorded(folder, cell, outcome)
    assert (record.status, record.reason) == ("crashed", "OSError: no such card")
    assert record.elapsed_s == CLOCKS.elapsed_s
    assert record.statistics == {"depth": 1}
    assert record.log is not None
    assert (folder.path / record.log).read_text() == "printed\nline 1"


def test_long_reason_is_cut_and_kept_whole_in_the_log(cell: Cell, folder: RunFolder) -> None:
    words = "\x1b[2J" + "x" * 5000
    record = recorded(
        folder, cell, Outcome(last=DoneFrame(reason="limit", detail=words), clocks=CLOCKS)
    )
    assert len(record.reason) <= 300
    assert "\x1b" not in record.reason
    assert record.log is not None
    assert (folder.path / record.log).read_text() == words
    # a traceback ends with the message, so it is not written twice
    error = ErrorFrame(**(RAISED | {"message": "y" * 5000}), **KINDS)
    record = recorded(folder, cell, Outcome(last=error))
    assert record.log is not None
    assert (folder.path / record.log).read_text() == "line 1"


def test_solver_that_could_not_be_loaded_is_recorded_with_its_problem(
    cell: Cell, folder: RunFolder
) -> None:
    broken = replace(cell, solver=replace(cell.solver, problem=("unavailable", "no licence")))
    record = recorded(folder, broken, None)
    assert (record.status, record.reason) == ("unavailable", "no licence")
    assert record.elapsed_s is None


def test_what_cannot_be_used_makes_its_cell_crashed_and_nothing_else(
    cell: Cell, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("\x1b" + "z" * 1000)

    monkeypatch.setattr("eqbench.harness.judge.measure_all", fail)
    record = recorded(folder, cell, Outcome(last=DONE, clocks=CLOCKS), candidate())
    assert record.status == "crashed"
    assert record.reason.startswith("what the solver sent cannot be used: \\x1bzzz")
    assert len(record.reason) <= 300


def test_tries_of_a_cell_have_files_of_their_own(cell: Cell, folder: RunFolder) -> None:
    outcome = Outcome(last=DONE, clocks=CLOCKS, log="printed")
    records = [recorded(folder, cell, outcome, candidate(), snapshot()) for _ in range(2)]
    for name in ("trace", "log"):
        assert len({getattr(record, name) for record in records}) == 2
    assert len({record.equilibria[0].profile for record in records}) == 2


def test_cell_that_cannot_be_stored_is_an_error_and_no_result(
    cell: Cell, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(record: CellRecord) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(folder, "append", full)
    with pytest.raises(StoreError, match="disk is full"):
        Recorder(folder).store(
            cell, result_of(cell, Outcome(ended="exit", last=DONE), Received(TREE.n_actions))
        )


def test_building_the_game_is_part_of_the_set_up(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt, "run_child", lambda *job: Outcome(setup_s=0.25))
    seen = attempt.observe(cell, Place(), threading.Event(), Received(TREE.n_actions))
    assert seen.setup_s == 0.25 + cell.game.build_s


# -- when the run ends ------------------------------------------------------------------------


@pytest.fixture
def unknown(tmp_path: Path) -> Cell:
    """A cell of a game of which no equilibrium is published."""
    game = "random(actions=4,seed=1)"
    (planned,) = make_plan(Request([game], ["cfr"]), default_registry(), tmp_path)
    return planned


def equilibrium_of(cell: Cell) -> CandidateFrame:
    solved = solve(cell.game.game, "lcp").equilibria[0]
    return candidate(solved.profile.probabilities, claim="equilibrium")


def test_clusters_are_the_same_for_another_runner(unknown: Cell, folder: RunFolder) -> None:
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


def test_judges_of_games_at_work_are_kept(cell: Cell, unknown: Cell) -> None:
    for games, kept in ((1, False), (2, True)):
        place = Place(games)
        first, second = place.judge_of(cell), place.judge_of(unknown)
        assert (place.judge_of(cell) is first) == kept
        assert (place.judge_of(unknown) is second) == kept


def test_stored_result_counts_and_not_the_interrupted_try_after_it(
    cell: Cell, folder: RunFolder
) -> None:
    before = recorded(folder, cell, Outcome(last=DONE, clocks=CLOCKS), candidate())
    recorder = Recorder(folder)
    stopped = recorder.store(
        cell, result_of(cell, Outcome(ended="interrupted"), Received(TREE.n_actions))
    )
    assert stopped.status == "interrupted"
    recorder.conclude([cell], 1e-6)
    assert recorder.records == {cell.key: before}


def test_what_was_stored_and_is_gone_is_stored_again(cell: Cell, folder: RunFolder) -> None:
    recorder, received = Recorder(folder), Received(TREE.n_actions)
    received.add(candidate())
    recorder.store(cell, result_of(cell, Outcome(last=DONE, clocks=CLOCKS), received))
    shutil.rmtree(folder.path)
    recorder.conclude([cell], 1e-6)
    record = recorder.records[cell.key]
    assert folder.cells() == [record]
    assert (record.equilibria[0].profile, record.max_regret is None) == (None, False)
