"""Every verified profile that the runs of a reproduction hold, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eqbench.papers.jobs import Workshop
from eqbench.store.results import load_equilibria
from eqbench.store.run_folder import LINES
from eqbench.text import cell_text

_COLUMNS = ("source", "job", "game", "solver", "seed", "rank", "claim")
_FIGURES = ("nash_conv", "max_regret", "identity", "on_path", "strict", "distance", "profile")


def points_csv(workshops: Sequence[Workshop], folder: Path) -> str:
    """One row for each profile, in CSV, with payoffs as ``u:P1`` … and paths below `folder`."""
    import pandas as pd

    frames = [
        load_equilibria(run.parent).assign(source=workshop.source, job=run.parent.name)
        for workshop in workshops
        for run in sorted(workshop.folder.glob(f"*/{LINES}"))
    ]
    frames = [frame for frame in frames if len(frame)]
    if not frames:
        return ",".join([*_COLUMNS, *_FIGURES]) + "\n"
    table = pd.concat(frames, ignore_index=True)
    table["profile"] = [
        str(Path(path).relative_to(folder.absolute())) if isinstance(path, str) else None
        for path in table["profile"]
    ]
    table["game"] = table["game"].map(cell_text)
    payoffs = sorted(name for name in table.columns if name.startswith("payoff_P"))
    table = table[[*_COLUMNS, *payoffs, *_FIGURES]]
    renamed = table.rename(columns={name: "u:" + name.removeprefix("payoff_") for name in payoffs})
    text: str = renamed.to_csv(index=False, lineterminator="\n")
    return text
