"""A solver that removes and rewrites files of the run."""

import json
import os
import shutil
import time
from dataclasses import dataclass

import numpy as np
from attack.hostile import Hostile, ends, marks, uniform

import eqbench
from eqbench.solver import Termination


@eqbench.register_solver("places")
@dataclass(frozen=True)
class Places(Hostile):
    """Attacks files; all are inside the folder of the attack."""


def inside(path):
    """The path, if it is one of this attack's own."""
    if marks().parent not in path.parents:
        raise PermissionError(f"{path} is not ours to damage")
    return path


def run():
    return marks().parent / "run"


def arrays(game):
    return sorted(inside(game.folder).glob("*.npy"))


@ends("limit", alone=True)
def removes_the_scratch_folder(game, monitor):
    shutil.rmtree(inside(game.folder.parent))


@ends("limit", alone=True)
def removes_the_folder_of_the_game(game, monitor):
    shutil.rmtree(inside(game.folder))


@ends("limit", alone=True)
def removes_all_temporary_files(game, monitor):
    for entry in (marks().parent / "scratch").iterdir():
        shutil.rmtree(entry, ignore_errors=True)


@ends("limit", alone=True)
def renames_the_folder_of_the_game(game, monitor):
    inside(game.folder).rename(game.folder.with_name(f"gone-{game.folder.name}"))


@ends("limit", "refuted", "crashed", alone=True)
def makes_all_payoffs_zero(game, monitor):
    """In place, so that whoever has mapped the file sees it; then anything is an equilibrium."""
    os.chmod(inside(game.folder) / "base.npy", 0o644)
    np.load(game.folder / "base.npy", mmap_mode="r+")[:] = 0
    monitor.candidate(uniform(game), claim="equilibrium", claimed_regret=0.0)
    return Termination("converged")


@ends("limit", "refuted", "crashed", alone=True)
def writes_other_payoffs(game, monitor):
    file = inside(game.folder) / "base.npy"
    np.save(file, np.zeros_like(np.load(file)))
    monitor.candidate(uniform(game), claim="equilibrium", claimed_regret=0.0)
    return Termination("converged")


@ends("limit", "refuted", "crashed", alone=True)
def writes_other_chances(game, monitor):
    file = inside(game.folder) / "chance.npy"
    chance = np.load(file)
    np.save(file, chance[::-1].copy())


@ends("limit", "crashed", alone=True)
def truncates_the_arrays(game, monitor):
    """A page of a mapped file that is gone ends who touches it by SIGBUS."""
    for file in arrays(game):
        os.truncate(file, 0)
    monitor.candidate(np.full(game.tree.n_actions, 0.5), claim="iterate")
    return Termination("limit", "survived its attack")


@ends("limit", "crashed", alone=True)
def puts_pipes_in_place_of_arrays(game, monitor):
    for file in arrays(game):
        file.unlink()
        os.mkfifo(file)


@ends("limit", "crashed", alone=True)
def puts_devices_in_place_of_arrays(game, monitor):
    for file in arrays(game):
        file.unlink()
        file.symlink_to("/dev/zero")


@ends("limit", "crashed", alone=True)
def writes_labels_that_lie(game, monitor):
    file = inside(game.folder) / "labels.json"
    labels = json.loads(file.read_text())
    file.write_text(json.dumps(labels | {"payoff_denominator": -1, "players": [1, 2]}))


@ends("limit", alone=True)
def removes_the_folders_for_files(game, monitor):
    for name in ("profiles", "traces", "logs", "claims"):
        shutil.rmtree(inside(run()) / name, ignore_errors=True)


@ends("limit", alone=True)
def removes_the_folder_of_the_run(game, monitor):
    shutil.rmtree(inside(run()))


@ends(alone=True, codes=(1, 2))
def puts_a_file_in_place_of_the_run(game, monitor):
    shutil.rmtree(inside(run()))
    run().write_text("here")


@ends(alone=True, codes=(0, 1, 2))
def puts_a_device_in_place_of_the_lines(game, monitor):
    (inside(run()) / "runs.jsonl").unlink(missing_ok=True)
    (run() / "runs.jsonl").symlink_to("/dev/full")


@ends(alone=True, codes=(0, 1, 2))
def puts_a_pipe_in_place_of_the_lines(game, monitor):
    (inside(run()) / "runs.jsonl").unlink(missing_ok=True)
    os.mkfifo(run() / "runs.jsonl")
    time.sleep(0.1)


@ends("limit", alone=True)
def writes_a_torn_line(game, monitor):
    with open(inside(run()) / "runs.jsonl", "ab") as file:
        file.write(b'{"key": "torn')


@ends("limit", alone=True)
def writes_lines_of_its_own(game, monitor):
    lie = {"key": "0123456789abcdef", "status": 5, "equilibria": "none"}
    with open(inside(run()) / "runs.jsonl", "ab") as file:
        file.write(json.dumps(lie).encode() + b"\n" + b"[" * 50_000 + b"\n")
