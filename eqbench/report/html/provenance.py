"""Where results come from: what a run was asked for, the machine, and how to run it again."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eqbench.model.size_limit import DEFAULT_MAX_NODES
from eqbench.report.html.document import Block, Cell, Command, Facts, Heading, Table, Title
from eqbench.report.terminal import mebibytes, seconds
from eqbench.store.stored_run import StoredRun
from eqbench.text import printable

Pairs = list[tuple[str, str | Sequence[str]]]

# Options of `eqbench run` by entries of a stored request, with what is the case unless given.
_OPTIONS: dict[str, tuple[str, Any]] = {
    "seeds": ("--seeds", 1),
    "timeout_s": ("--timeout", 10.0),
    "setup_timeout_s": ("--setup-timeout", 120.0),
    "iterations": ("--iterations", None),
    "target": ("--target", None),
    "tolerance": ("--tolerance", 1e-6),
    "memory_bytes": ("--memory", 4 * 2**30),
    "threads": ("--threads", 1),
    "max_nodes": ("--max-nodes", DEFAULT_MAX_NODES),
    "jobs": ("--jobs", 1),
}
_UNKNOWN = "–"
_LISTS = {"games": "--game", "solvers": "--solver", "plugins": "--plugin"}


def command_of(run: StoredRun) -> str:
    """The command that asks for the same run, as far as the run says what it was asked for."""
    request, words = run.plan["request"], ["eqbench", "run"]
    for name, option in _LISTS.items():
        for value in request.get(name) or ():
            words += [option, str(value)]
    for name, (option, usual) in _OPTIONS.items():
        value = request.get(name)
        if value not in (None, usual):
            words += [option, str(value).removesuffix(".0")]
    return printable(shlex.join(words))


def overview(run: StoredRun) -> list[Block]:
    """What a run was asked for, what came of it, and the commands for it."""
    request, cells = run.plan["request"], run.cells
    statuses = Counter(cell.status for cell in cells)
    came = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    spent = sum(cell.elapsed_s or 0.0 for cell in cells)
    setup = sum(cell.setup_s or 0.0 for cell in cells)
    pairs: Pairs = [
        ("run", str(run.path)),
        ("started", _text(run.plan.get("created")).replace("T", " ").replace("+00:00", " UTC")),
        ("games", _text(_asked(run, "games", [cell.game for cell in cells]))),
        ("solvers", _text(_asked(run, "solvers", [cell.solver for cell in cells]))),
        ("seeds", _text(request.get("seeds"))),
        ("limits per cell", _limits(request)),
        ("target", _target(request)),
        ("cells", f"{len(run.finished)} of {run.planned} finished" + (f": {came}" if came else "")),
        ("time", f"{seconds(spent)} of solving, {seconds(setup)} of set-up, all cells together"),
    ]
    folder = shlex.quote(str(run.path))
    return [
        Facts([(name, value) for name, value in pairs if value not in ("", _UNKNOWN)]),
        Command("the same run again", command_of(run)),
        Command("go on where it stopped", f"eqbench run --resume {folder}"),
    ]


def _asked(run: StoredRun, name: str, found: Sequence[str]) -> Any:
    """What the request says while cells are missing, else what is there."""
    asked = run.plan["request"].get(name)
    return asked if run.missing and asked else [*dict.fromkeys(found)] or asked


def provenance(runs: Sequence[StoredRun]) -> list[Block]:
    """Machine, packages, thread settings and keys of each run."""
    blocks: list[Block] = []
    for place, run in enumerate(runs, 1):
        if len(runs) > 1:
            blocks.append(Title(str(run.path), f"provenance-{place}"))
        plan = {k: v for k, v in run.plan.items() if k not in ("cells", "environment", "request")}
        asked = {"request": run.plan["request"]}
        blocks.append(Facts(list(_lines(plan | (run.plan.get("environment") or {}) | asked))))
        blocks.append(_keys(run, f"keys-{place}"))
    return blocks


def _keys(run: StoredRun, name: str) -> Table:
    columns = [Heading(text) for text in ("key", "game", "solver", "seed", "version of solver")]
    columns[3] = Heading("seed", numeric=True)
    rows = [
        [
            Cell(cell.key),
            Cell(printable(cell.game_spec)),
            Cell(printable(cell.solver_spec)),
            Cell("" if cell.seed is None else str(cell.seed), cell.seed),
            Cell(printable(cell.solver_version)),
        ]
        for cell in run.cells
    ]
    caption = (
        "A key is a hash of everything a result may depend on: the content of the game, the solver "
        "with its options, version and source, seed and limits. Cells of equal keys are the same "
        "piece of work."
    )
    return Table(name, columns, rows, caption, "Keys of cells")


def _lines(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in data.items():
        label = name.removesuffix("_bytes").replace("_", " ")
        if isinstance(value, Mapping):
            yield label, ", ".join(f"{key} {_text(item)}" for key, item in value.items())
        else:
            yield label, mebibytes(value) if name.endswith("_bytes") else _text(value)


def _limits(request: Mapping[str, Any]) -> str:
    parts = [f"{float(request['timeout_s']):g} s of solving"]
    if (setup := request.get("setup_timeout_s")) is not None:
        parts.append(f"{setup:g} s of set-up")
    if (memory := request.get("memory_bytes")) is not None:
        parts.append(mebibytes(memory))
    if (iterations := request.get("iterations")) is not None:
        parts.append(f"{iterations:,} iterations")
    if (threads := request.get("threads")) is not None:
        parts.append("1 thread" if threads == 1 else f"{threads} threads")
    if (jobs := request.get("jobs")) is not None:
        parts.append(f"{jobs} at a time")
    return ", ".join(parts)


def _target(request: Mapping[str, Any]) -> str:
    if (target := request.get("target")) is None:
        return "max regret 1e-10 of the payoff range"
    return "none: the whole budget is used" if target == 0 else f"max regret {target:g}"


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return printable(", ".join(map(str, value))) or "none"
    return _UNKNOWN if value is None else printable(str(value))
