"""Read runs back, also while they are being written, and find a cell by a few words."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from eqbench.documents import decode, read_file
from eqbench.errors import DocumentError, UsageError, nearest
from eqbench.spec import is_foreign, split_specs
from eqbench.store.run_folder import MANIFEST, RunFolder, write_file
from eqbench.store.schema import CellRecord, CompletenessRecord, CompletenessRecords, HostRecord

MOST_CELLS = 60


@dataclass(frozen=True)
class StoredRun:
    """A run as its folder holds it now.

    Attributes
    ----------
    path : Path
        As given; what the records name is relative to it.
    plan : dict
        What was requested, when the run began or was last resumed, and where it ran.
    cells : tuple of CellRecord
        In the order of the plan. Cells that were interrupted are among them, with that status,
        unless they finished later.
    outdated : int
        Number of further stored cells, which the plan no longer has.
    notes : tuple of str
        What was left out because it is damaged, in sentences.
    completeness : dict
        What indices say about all equilibria of a game, by its content, when the run last ended.
    hosts : dict
        Machines on which cells ran, by their names in records.
    """

    path: Path
    plan: dict[str, Any]
    cells: tuple[CellRecord, ...]
    outdated: int
    notes: tuple[str, ...]
    completeness: CompletenessRecords = field(default_factory=dict)
    hosts: Mapping[str, HostRecord] = field(default_factory=dict)

    @property
    def finished(self) -> tuple[CellRecord, ...]:
        """Cells without the interrupted ones."""
        return tuple(cell for cell in self.cells if cell.status != "interrupted")

    @property
    def planned(self) -> int:
        """Number of cells that the run was to have."""
        return len(self.plan["cells"])

    @property
    def missing(self) -> int:
        """Number of planned cells that have not finished."""
        return self.planned - len(self.finished)

    @property
    def timeout_s(self) -> float:
        """Seconds of solving that each cell had."""
        return float(self.plan["request"]["timeout_s"])

    def missed(self, game: str) -> CompletenessRecord | None:
        """Indices by which the run lacks equilibria of a game of this content, if they say so.

        None while cells have not finished, since these may find more.
        """
        known = None if self.missing else self.completeness.get(game)
        return known if known and known["verdict"] == "proved incomplete" else None

    def cell(self, text: str) -> CellRecord:
        """The only cell that `text` names.

        It may be the solver, with or without its options, the game, ``game/solver`` or the solver,
        with ``/seed`` and ``#repeat`` where that tells cells apart, or the beginning of the key.

        Raises
        ------
        UsageError
            If no cell or several cells are meant; the message lists them.
        """
        wanted = "".join(text.split())
        found = [cell for cell in self.cells if wanted in _names(cell)]
        found = found or [cell for cell in self.cells if wanted in _names(cell, bare=True)]
        found = found or [cell for cell in self.cells if wanted and cell.key.startswith(wanted)]
        if len(found) == 1:
            return found[0]
        if not self.cells:
            raise UsageError(f"{self.path} holds no cells yet, so there is no {text!r} in it")
        if found:
            raise UsageError(f"{text!r} fits several cells; give one of\n{_listing(found)}")
        if text:
            known = {cell_name(cell) if "/" in text else cell.solver for cell in self.cells}
            hint = nearest(text, known, f"eqbench show {self.path} lists its cells")
            raise UsageError(f"{self.path} has no cell {text!r}: {hint}")
        raise UsageError(
            f"{self.path} has these cells; give the beginning of a key, or the name of a cell\n"
            + _listing(self.cells)
        )


def read_run(path: str | Path) -> StoredRun:
    """Run in a folder, also while it runs; nothing on disk is changed.

    What is damaged is left out with a note.

    Raises
    ------
    UsageError
        If there is no run in the folder, another version wrote it, or its manifest is damaged.
    """
    folder = RunFolder.open(Path(path))
    plan = folder.plan | {"cells": list(dict.fromkeys(folder.plan["cells"]))}
    by_key = {cell.key: cell for cell in folder.all_cells()}
    cells = tuple(by_key[key] for key in plan["cells"] if key in by_key)
    lists, hosts = folder.completeness(), folder.hosts()
    outdated = len(by_key) - len(cells)
    return StoredRun(folder.path, plan, cells, outdated, folder.notes, lists, hosts)


def read_runs(texts: Iterable[str]) -> list[StoredRun]:
    """Runs that arguments RUN name, each once; UsageError if one cannot be read."""
    folders = {folder.resolve(): folder for folder in map(run_folder, texts)}
    return [read_run(folder) for folder in folders.values()]


def run_folder(text: str) -> Path:
    """Folder that an argument RUN names.

    Raises
    ------
    UsageError
        If it is `latest` and there is no run yet.
    """
    path = Path(text)
    return latest_run() if text == LATEST and not path.exists() else path


def cell_name(cell: CellRecord) -> str:
    """``game/solver``, with ``/seed`` and ``#repeat`` if it has them."""
    seed = "" if cell.seed is None else f"/{cell.seed}"
    return f"{cell.game}/{cell.solver}{seed}" + (f"#{cell.repeat}" if cell.repeat else "")


def _names(cell: CellRecord, *, bare: bool = False) -> set[str]:
    """All names that may mean a cell; a solver without a seed also answers to seed 0.

    `bare` means those with the name of its solver alone, which has options.

    Several repeats share them; the number of one tells it from the others.
    """
    games = (cell.game, cell.game_spec)
    solvers = [cell.solver.partition("(")[0].strip()] if bare else [cell.solver, cell.solver_spec]
    pairs = [
        *([] if bare else games),
        *solvers,
        *(f"{game}/{solver}" for game in games for solver in solvers),
    ]
    names = {*pairs, *(f"{name}/{cell.seed or 0}" for name in pairs)}
    names |= {f"{name}#{cell.repeat}" for name in names}
    return {"".join(name.split()) for name in names}


def _listing(cells: tuple[CellRecord, ...] | list[CellRecord]) -> str:
    lines = [f"  {cell.key}  {cell_name(cell)}  ({cell.status})" for cell in cells[:MOST_CELLS]]
    if len(cells) > MOST_CELLS:
        lines.append(f"  and {len(cells) - MOST_CELLS} more")
    return "\n".join(lines)


def chosen(
    runs: Sequence[StoredRun],
    games: Collection[str] = (),
    solvers: Collection[str] = (),
    statuses: Collection[str] = (),
) -> list[StoredRun]:
    """Runs with some of their cells only, as if there had been no others.

    Raises
    ------
    UsageError
        If no cell has a game, solver or status that is named.
    """
    cells = [cell for run in runs for cell in run.cells]
    keys = named(games, cells, "game") & named(solvers, cells, "solver")
    known = dict.fromkeys(cell.status for cell in cells if cell.key in keys)
    if known and statuses and not known.keys() & set(statuses):
        raise UsageError(f"no cell is {' or '.join(statuses)}; there are {', '.join(known)}")
    left_out = {
        c.key for c in cells if c.key not in keys or (statuses and c.status not in statuses)
    }
    return [
        replace(
            run,
            plan=run.plan | {"cells": [key for key in run.plan["cells"] if key not in left_out]},
            cells=tuple(cell for cell in run.cells if cell.key not in left_out),
        )
        for run in runs
    ]


def named(texts: Collection[str], cells: Sequence[CellRecord], kind: str) -> set[str]:
    """Keys of the cells with one of the games or solvers that are named; of all without a name.

    Raises
    ------
    UsageError
        If no cell has one that is named.
    """
    names: dict[str, set[str]] = {}
    for cell in cells:
        typed, spec = getattr(cell, kind), getattr(cell, f"{kind}_spec")
        known_as = (typed, spec, typed if is_foreign(typed) else typed.partition("(")[0])
        names[cell.key] = {"".join(name.split()) for name in known_as}
    wanted = ["".join(part.split()) for text in texts for part in split_specs(text)]
    known = {name for each in names.values() for name in each}
    for text in wanted:
        if text not in known:
            typed = dict.fromkeys(getattr(cell, kind) for cell in cells)
            raise UsageError(f"no cell has the {kind} {text!r}: {nearest(text, typed)}")
    return {key for key, each in names.items() if not wanted or each.intersection(wanted)}


LATEST = "latest"
_MOST = 200  # runs that are remembered
_OF_A_RUN = b'"schema": "eqbench.run/'


def remember(run: Path) -> None:
    """Note that a run began, and from which folder; where that cannot be written, nothing."""
    with suppress(OSError, RuntimeError, UsageError):
        begun, file = (str(Path.cwd()), str(run.absolute())), _file()
        file.parent.mkdir(parents=True, exist_ok=True)
        runs = [*(each for each in _remembered() if each != begun), begun]
        write_file(file, json.dumps(runs[-_MOST:]).encode())


def latest_run() -> Path:
    """Folder of the run that began last: from the current folder, else from any other.

    Raises
    ------
    UsageError
        If there is none.
    """
    here, remembered = str(Path.cwd()), _remembered()
    begun_here = [Path(run) for begun, run in remembered if begun == here]
    stored = [file.parent for file in Path("results").glob(f"*/{MANIFEST}")]
    anywhere = [Path(run) for _, run in remembered]
    found = _newest([*begun_here, *stored]) or _newest(anywhere)
    if found is None:
        raise UsageError(
            f"there is no run in {Path('results').absolute()}, and none is remembered; give the "
            "folder of a run"
        )
    return found.relative_to(here) if found.is_relative_to(here) else found


def _newest(runs: list[Path]) -> Path | None:
    """Of some folders the one with the newest manifest of a run, None if there is no run."""
    begun = [((run / MANIFEST).stat().st_mtime_ns, run.name, run) for run in runs if is_run(run)]
    return max(begun)[-1] if begun else None


def is_run(folder: Path) -> bool:
    """Return whether a folder has the manifest of a run, not that of a study or a web page."""
    with suppress(OSError):
        return _OF_A_RUN in read_file(folder / MANIFEST)[:100]
    return False


def _remembered() -> list[tuple[str, str]]:
    with suppress(OSError, RuntimeError, DocumentError):
        return decode(read_file(_file()), list[tuple[str, str]], "the list of runs")
    return []


def _file() -> Path:
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "eqbench" / "latest.json"
