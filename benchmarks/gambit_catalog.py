"""Every game of Gambit's own catalog, with Gambit's methods and ours.

    python benchmarks/gambit_catalog.py

The games are files of the package pygambit. What cannot be read is listed with the reason; on
the others `eqbench run` lets all solvers loose, so that everything is verified.
"""

from __future__ import annotations

import argparse
from importlib import metadata
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from measuring import run_cells, write_results

SUFFIXES = (".efg", ".nfg")
SOLVERS = ("all", "gambit_all")
PLAYERS, NODES = 3, 20_000  # of the games that are solved


def main() -> None:
    """Read and solve all games, print what came of each, and write the raw results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--timeout", type=float, default=3, help="seconds for each cell")
    options = parser.parse_args()
    with as_file(files("pygambit") / "catalog_data") as folder:
        paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
        rows = [measure(path, str(path.relative_to(folder)), options.timeout) for path in paths]
    versions = {"pygambit": metadata.version("pygambit")}
    write_results("gambit_catalog", vars(options) | versions | {"rows": rows})


def measure(path: Path, name: str, timeout_s: float) -> dict[str, Any]:
    """Sizes of a game and how many cells ended how, or why it is refused."""
    from eqbench.errors import EqbenchError
    from eqbench.registry import load_game

    try:
        tree = load_game(str(path)).tree
    except EqbenchError as error:
        print(f"{name}: {error}", flush=True)
        kind = type(error).__name__
        return {"game": name, "refused": kind, "why": str(error).replace(str(path), path.name)}
    row: dict[str, Any] = {
        "game": name,
        "players": tree.n_players,
        "nodes": tree.n_nodes,
        "infosets": tree.n_infosets,
    }
    if tree.n_players <= PLAYERS and tree.n_nodes <= NODES:
        cells = run_cells([str(path)], SOLVERS, timeout_s=timeout_s, seeds=1)
        row["cells"] = [kept(cell) for cell in cells]
        refuted = [cell["solver"] for cell in cells if cell["status"] == "refuted"]
        crashed = [cell["solver"] for cell in cells if cell["status"] == "crashed"]
        solved = sum(cell["status"] == "ok" for cell in cells)
        print(f"{name}: {solved} of {len(cells)} ok, {refuted=} {crashed=}", flush=True)
    return row


def kept(cell: dict[str, Any]) -> dict[str, Any]:
    """The figures of a cell that are kept."""
    names = ("solver", "status", "reason", "elapsed_s", "max_regret")
    return {name: cell[name] for name in names} | {"profiles": len(cell["equilibria"])}


if __name__ == "__main__":
    main()
