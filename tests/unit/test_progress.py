"""How far work is: estimates, what is measured of what runs, and where it is shown."""

from __future__ import annotations

import io
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from frame_cases import candidate, snapshot
from stored_runs import cell as stored

from eqbench import BehaviorProfile, load_game
from eqbench.cli import progress
from eqbench.cli.output import messages
from eqbench.cli.progress import shown
from eqbench.equilibria import known_corners
from eqbench.harness import watch
from eqbench.harness.estimate import DEFAULT_SETUP_S, Estimate
from eqbench.harness.experiment import Experiment
from eqbench.harness.judge import Received
from eqbench.harness.pipeline import Running
from eqbench.harness.plan import Cell, make_plan
from eqbench.harness.request import Request
from eqbench.harness.standing import Standing, Told
from eqbench.harness.watch import Watch
from eqbench.isolation.child import GRACE_S
from eqbench.registry import default_registry
from eqbench.verification import Verifier

TREE = load_game("kuhn2").tree
UNIFORM = BehaviorProfile.uniform(TREE)
_, CORNER = known_corners(load_game("kuhn2"))[0]


@pytest.fixture
def cells(tmp_path: Path) -> list[Cell]:
    asked = Request(["kuhn2"], ["cfr", "mccfr"], seeds=3, timeout_s=7.0)
    return make_plan(asked, default_registry(), tmp_path)


def ended(cell: Cell, elapsed_s: float | None) -> Any:
    names = {"game_spec": cell.game.game.spec, "solver_spec": cell.solver.spec}
    return stored("01", elapsed_s=elapsed_s, **names)


@pytest.mark.parametrize("jobs", [1, 2, 100])
def test_unknown_cells_take_their_limit_and_known_ones_as_long_as_others(
    cells: list[Cell], jobs: int
) -> None:
    estimate, (cfr, *sampled) = Estimate(jobs), cells
    longest = 7.0 + GRACE_S + DEFAULT_SETUP_S
    assert estimate.left_s(cells) == pytest.approx(max(4 * longest / jobs, longest))
    estimate.learn(ended(sampled[0], 0.25), wall_s=0.25 + DEFAULT_SETUP_S)
    assert estimate.cell_s(sampled[1]) == pytest.approx(0.25 + DEFAULT_SETUP_S)
    assert estimate.cell_s(cfr) == pytest.approx(longest)
    estimate.learn(ended(sampled[1], 0.25), wall_s=6.25 + DEFAULT_SETUP_S)
    assert estimate.setup_s == pytest.approx(DEFAULT_SETUP_S + 2.0)
    at_work = {sampled[2].key: 1.75 + DEFAULT_SETUP_S + 2.0}  # longer than both others together
    assert estimate.left_s([sampled[2]], at_work) == pytest.approx(at_work[sampled[2].key])
    spent = {cell.key: 1e9 for cell in cells}
    assert estimate.left_s(cells, spent) == 0.0


def job_of(cells: list[Cell], *, since: float = 0.0) -> Any:
    running = {cell.key: Running(cell, since, Received(TREE.n_actions)) for cell in cells[:1]}
    verifier = Verifier(TREE)
    return SimpleNamespace(
        **{"running": running, "waiting": {cell.key: cell for cell in cells[1:]}},
        **{"experiment": Experiment((cells[0].request,)), "verifier_of": lambda cell: verifier},
    )


def test_best_regret_of_what_runs_is_measured_from_its_newest_profile(
    cells: list[Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(cells)
    (running,) = job.running.values()
    observer = Watch(job)
    observer.planned(cells, finished=0)
    uniform = float(Verifier(TREE).verify(UNIFORM).max_regret)
    monkeypatch.setattr(watch, "COST_SHARE", np.inf)
    for frame, best in [
        (snapshot(1, UNIFORM.probabilities), uniform),
        (candidate(np.tile([1.0, 0.0], TREE.n_actions // 2)), uniform),  # it is worse
        (snapshot(2, CORNER.probabilities), float(Verifier(TREE).verify(CORNER).max_regret)),
    ]:
        running.received.add(frame)
        observer.regrets.measure()
        (line,) = observer.standing().now
        assert line.startswith("cfr on kuhn2: ")
        assert line.endswith(f" s, max regret {best:.1e}")
    standing = observer.standing()
    assert standing.words == "0 of 4 cells done"
    assert standing.left.startswith("up to ")


def test_interrupted_cells_are_not_done_and_what_was_learned_is_no_bound(
    cells: list[Cell],
) -> None:
    job = job_of(cells, since=time.monotonic())
    observer = Watch(job)
    observer.planned(cells, finished=0)
    job.waiting.clear()
    for number, cell in enumerate(cells):
        job.running[cell.key] = Running(cell, time.monotonic(), Received(TREE.n_actions))
        status = "interrupted" if number else "ok"
        observer.finished(replace(ended(cell, 0.1), key=cell.key, status=status))
        del job.running[cell.key]
    standing = observer.standing()
    assert standing.words == "1 of 4 cells done"
    assert standing.left.startswith("about ")


@pytest.mark.parametrize("why", ["young", "large", "slow", "measured lately"])
def test_what_disturbs_is_not_measured(
    why: str, cells: list[Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, asked = job_of(cells, since=time.monotonic() if why == "young" else 0.0), []
    verifier = job.verifier_of(cells[0])
    job.verifier_of = lambda cell: asked.append(cell) or verifier
    if why == "large":
        monkeypatch.setattr(watch, "MOST_NODES", TREE.n_nodes - 1)
    if why == "slow":
        monkeypatch.setattr(watch, "MOST_COST_S", 0.0)
    monkeypatch.setattr(watch, "COST_SHARE", 1e-9 if why == "measured lately" else np.inf)
    observer = Watch(job)
    observer.planned(cells, finished=0)
    for work in (1, 2, 3):
        next(iter(job.running.values())).received.add(snapshot(work, UNIFORM.probabilities))
        observer.regrets.measure()
    assert len(asked) == (0 if why in ("young", "large") else 1)


class Halfway:
    def standing(self) -> Standing:
        return Standing("1 of 2 cells done", 0.5, "up to 0:01:00 left", ("cfr on kuhn2: 3 s",))


@pytest.mark.parametrize("quiet", [True, False])
def test_without_a_terminal_there_is_a_line_now_and_then(
    quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "LINE_S", 0.02)
    monkeypatch.setattr(messages, "quiet", quiet)
    with shown(Halfway()):
        time.sleep(0.3)
    lines = set(stream.getvalue().splitlines())
    expected = "1 of 2 cells done, 50%, up to 0:01:00 left; cfr on kuhn2: 3 s"
    assert lines == (set() if quiet else {expected})


def test_share_that_was_told_never_falls_and_gives_the_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work, now = Told("starting"), time.monotonic()
    assert work.standing() == Standing("starting")
    work.tell("seed 0")
    for share in (0.25, 0.2):
        work.done(share)
    assert work.standing() == Standing("seed 0", 0.25), "it is too early to say more"
    monkeypatch.setattr(time, "monotonic", lambda: now + 20)
    assert work.standing() == Standing("seed 0", 0.25, "about 0:01:00 left")
