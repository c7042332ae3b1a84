"""What tests of the reproduction of Ganzfried 2025 share: its claims, and jobs made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from reproduction_store import mark_run

from eqbench.papers.claims import Claim
from eqbench.papers.ganzfried import SOURCE
from eqbench.papers.jobs import Workshop
from eqbench.papers.stored import Stored
from eqbench.store.schema import CellRecord

CLAIMS = {
    (part.title, claim.row, claim.column): claim for part in SOURCE.parts for claim in part.claims
}


def the_claim(row: str, column: str = "") -> Claim:
    (found,) = [claim for (_, r, c), claim in CLAIMS.items() if (r, c) == (row, column)]
    return found


def store(folder: Path, name: str, summary: Any, printed: str = "") -> None:
    """Lay down a job as if it had been run."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "summary.json").write_text(json.dumps(summary))
    (folder / f"{name}.out").write_text(printed)
    mark_run(SOURCE, folder, {path.stem for path in folder.glob("*.out")})


def stored_in(folder: Path) -> Stored:
    return Stored(Workshop("ganzfried", folder, full=False), SOURCE.jobs)


def verdict(claim: Claim, folder: Path) -> str:
    return claim.read(stored_in(folder)).verdict


def cell(game: str, solver: str, **changes: Any) -> CellRecord:
    return CellRecord(
        key="k", game=game, solver=solver, game_spec=game, solver_spec=solver, seed=0, **changes
    )


def verdict_of_cells(claim: Claim, **jobs: list[CellRecord]) -> str:
    stored: Any = {name: SimpleNamespace(cells=cells) for name, cells in jobs.items()}
    return claim.read(stored).verdict
