"""The table of the replicator benchmark."""

from __future__ import annotations

import statistics
from typing import Any

from markdown_tables import table, where

SCRIPTS = {
    "numpy_rk45": "`solve_ivp`, RK45, NumPy",
    "numpy_dop853": "`solve_ivp`, DOP853, NumPy",
    "python_dop853": "`solve_ivp`, DOP853, Python",
}
TITLES = {
    **SCRIPTS,
    **{name: name for name in ("dop853", "lsoda", "heyoka")},
}


def replicator(data: dict[str, Any]) -> str:
    """Seconds of one trajectory by integrator, and how many times those of plain scripts."""
    rows = []
    for row in data["rows"]:
        median = {name: statistics.median(times) for name, times in row["seconds"].items()}
        for name, title in TITLES.items():
            over = [f"{median[script] / median[name]:.1f}×" for script in SCRIPTS]
            compiled = f"{row['heyoka_compile_s']:.2f}" if name == "heyoka" else "–"
            apart = f"{row['differences'][name]:.1e}" if name in row["differences"] else "–"
            rows.append([f"{row['pot']:g}", title, f"{median[name]:.3f}", *over, compiled, apart])
    header = ["pot", "integrator", "s"]
    header += [f"{script} over it" for script in ("RK45", "DOP853", "Python")]
    header += ["compiled in s", f"differs from DOP853 at t = {data['compared_at']:g}"]
    text = f"To t = {data['time']:,g} at tolerance {data['tolerance']:g}. {where(data)}, "
    return (
        table(header, rows, texts=(1,))
        + f"\n{text}SciPy {data['scipy']}, heyoka {data['heyoka']}.\n"
    )
