"""How a run begins: from its request or its manifest, in a new folder or an old one."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from eqbench.harness.experiment import Experiment, experiment_text
from eqbench.harness.pipeline import Run
from eqbench.harness.plan import manifest
from eqbench.harness.request import Request
from eqbench.store.run_folder import RunFolder, game_slug, new_run_path
from eqbench.store.schema import Status


def stored_experiment(folder: RunFolder) -> Experiment:
    """What the run in a folder was last asked for."""
    plan = folder.plan
    parts = plan.get("parts") or [plan["request"]]
    return Experiment(tuple(map(_request, parts)), plan.get("name") or "")


def _request(stored: Mapping[str, Any]) -> Request:
    known = {field.name for field in dataclasses.fields(Request)}
    fields = {"games": [], "solvers": []} | {k: v for k, v in stored.items() if k in known}
    return Request(**fields)


def new_folder(job: Run, out: Path | None = None, slug: str = "") -> RunFolder:
    """Create the folder of a planned run, with its manifest and the experiment as a file.

    Parameters
    ----------
    slug : end of the name of a folder that is not given

    Raises
    ------
    UsageError
        If it holds a run already, or cannot be written.
    """
    experiment = job.experiment
    games = dict.fromkeys(game for part in experiment.parts for game in part.games)
    name = slug or game_slug(experiment.name) or "-".join(map(game_slug, games))
    folder = RunFolder.create(
        out or new_run_path(Path("results"), name), manifest(experiment, job.cells)
    )
    folder.write_experiment(experiment_text(experiment))
    return folder


def go_on(job: Run, folder: RunFolder, again: Collection[Status]) -> list[str]:
    """Note in a folder that its run goes on; return what is to be said about the change.

    Parameters
    ----------
    again : statuses of stored cells that are run once more
    """
    plan, before, said = manifest(job.experiment, job.cells), folder.plan, []
    finished = job.finished_in(folder, again)
    given_up = len(set(before["cells"]) - set(plan["cells"]))
    same = all(before.get(key) == plan.get(key) for key in ("request", "parts"))
    if not same and given_up:
        said.append(
            f"{given_up} of {len(before['cells'])} cells of the run so far are not among those "
            "asked for now, because a game, solver, seed or limit differs; they stay in the "
            "folder, but tables no longer show them"
        )
    if same and before["cells"] != plan["cells"]:
        said.append(
            f"{given_up} of {len(plan['cells'])} cells belong to another version of their game, "
            "solver or packages than what is here now; they are run anew"
        )
    if len(finished) < len(job.cells) or before["cells"] != plan["cells"]:
        folder.resumed(plan)
        folder.write_experiment(experiment_text(job.experiment))
    if len(finished) == len(job.cells):
        said.append(f"all {len(finished)} cells are there already")
    return said
