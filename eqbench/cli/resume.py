"""What `eqbench run` starts from: its options, or a run that was begun before."""

from __future__ import annotations

from typing import Any

import click

from eqbench.cli.output import say

# What a run was asked for, as options here and as fields of a Request; a resumed run keeps
# what is not given again.
_REQUEST = {
    "games": "games",
    "solvers": "solvers",
    "seeds": "seeds",
    "timeout": "timeout_s",
    "setup_timeout": "setup_timeout_s",
    "iterations": "iterations",
    "target": "target",
    "memory": "memory_bytes",
    "threads": "threads",
    "tolerance": "tolerance",
    "max_nodes": "max_nodes",
    "jobs": "jobs",
    "plugins": "plugins",
}


def resumed_folder(options: dict[str, Any]) -> Any:
    """The folder to go on with, or None for a new run."""
    from pathlib import Path

    from eqbench.errors import UsageError
    from eqbench.store.run_folder import RunFolder

    resume = options["resume"]
    if resume is None:
        if options["retry"]:
            raise UsageError("--retry is about a run that is there; name its folder with --resume")
        for name in ("game", "solver"):
            if not options[f"{name}s"]:
                raise click.UsageError(
                    f"Missing option '--{name}'; a new run needs --game and --solver, for "
                    "example: eqbench run --game kuhn3 --solver all"
                )
        return None
    if options["out"] is not None:
        raise UsageError("give either --resume or --out: a resumed run stays in its folder")
    return RunFolder.open(Path(resume))


def request_of(ctx: click.Context, options: dict[str, Any], folder: Any) -> Any:
    """What to run; of a resumed run, what it was asked for unless it is given again."""
    from pathlib import Path

    from click.core import ParameterSource

    from eqbench.harness.plan import Request

    options["plugins"] = tuple(str(Path(file).absolute()) for file in options["plugins"])
    fields = {field: options[name] for name, field in _REQUEST.items()}
    if folder is None:
        return Request(**fields)
    stored = {k: v for k, v in folder.plan["request"].items() if k in fields}
    given = {
        field: fields[field]
        for name, field in _REQUEST.items()
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    return Request(**(fields | stored | given))


def begin(job: Any, folder: Any, options: dict[str, Any], again: set[str]) -> Any:
    """The folder of a run that is about to begin or to go on."""
    from pathlib import Path

    from eqbench.cli.output import say_notes
    from eqbench.harness.plan import manifest
    from eqbench.store.run_folder import RunFolder, game_slug, new_run_path

    plan = manifest(job.request, job.cells)
    if folder is None:
        out = options["out"]
        slug = "-".join(map(game_slug, options["games"]))
        path = Path(out) if out else new_run_path(Path("results"), slug)
        return RunFolder.create(path, plan)
    finished, before = job.finished_in(folder, again), folder.plan
    say_notes(folder)
    given_up = len(set(before["cells"]) - set(plan["cells"]))
    if before["request"] != plan["request"] and given_up:
        say(
            f"{given_up} of {len(before['cells'])} cells of the run so far are not among those "
            "asked for now, because a game, solver, seed or limit differs; they stay in the "
            "folder, but tables no longer show them",
        )
    if before["request"] == plan["request"] and before["cells"] != plan["cells"]:
        say(
            f"{given_up} of {len(plan['cells'])} cells belong to another version of their game, "
            "solver or packages than what is here now; they are run anew",
        )
    if len(finished) < len(job.cells) or before["cells"] != plan["cells"]:
        folder.resumed(plan)
    if len(finished) == len(job.cells):
        say(f"all {len(finished)} cells are there already")
    return folder
