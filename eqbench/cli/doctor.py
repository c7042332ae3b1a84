"""`eqbench doctor`: is everything in place?"""

from __future__ import annotations

from typing import Any

import click

from eqbench.cli.options import json_option
from eqbench.cli.output import put_json


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, /, as_json: bool) -> None:
    """Check the installation: packages, optional solvers, cache, results folder.

    Exit code 1 if something that eqbench needs is broken.
    """
    checks = _checks()
    if as_json:
        put_json({"schema": "eqbench.doctor/1", "checks": checks})
    else:
        _print(checks)
    ctx.exit(1 if any(check["state"] == "broken" for check in checks) else 0)


def _checks() -> list[dict[str, Any]]:
    from eqbench.harness import environment

    facts = environment.environment()
    memory = facts["memory_bytes"] / 2**30
    checks = [
        _check("eqbench", "good", f"{facts['eqbench']} on Python {facts['python']}"),
        _check(
            "platform", "good", f"{facts['platform']}, {facts['cores']} cores, {memory:.0f} GiB"
        ),
    ]
    split = environment.split_installation()
    place = str(environment.installation())
    checks.append(_check("installation", "broken" if split else "good", split or place))
    for name, version in facts["packages"].items():
        state = "good" if version else "broken"
        checks.append(_check(name, state, version or f"missing: pip install {name}"))
    for extra, (module, distribution) in environment.OPTIONAL.items():
        checks.append(_optional(extra, module, distribution))
    return [*checks, _cache(), _game_cache(), _results()]


def _optional(extra: str, module: str, distribution: str) -> dict[str, Any]:
    import importlib.util

    from eqbench.harness.environment import version_of

    if importlib.util.find_spec(module) is None:
        return _check(extra, "absent", f"optional: pip install 'eqbench[{extra}]'")
    detail = f"{distribution} {version_of(distribution) or ''}".strip()
    if extra == "gurobi":
        detail += f", {_gurobi_license()}"
    return _check(extra, "good", detail)


def _gurobi_license() -> str:
    """Which license of Gurobi is here, tried out on a model that the size-limited one refuses."""
    import gurobipy as gp

    try:
        with gp.Env(params={"OutputFlag": 0}) as env, gp.Model(env=env) as model:
            model.addVars(2001)
            model.optimize()
    except gp.GurobiError as error:
        if error.errno == gp.GRB.Error.SIZE_LIMIT_EXCEEDED:
            return "size-limited license: small models only"
        return f"no license: {error}"
    return "license without a limit on size"


def _cache() -> dict[str, Any]:
    from eqbench.model.compiled import cache_folder

    folder = cache_folder()
    if folder is None:
        return _check("kernel cache", "absent", "not writable: every process compiles afresh")
    return _check("kernel cache", "good", str(folder))


def _game_cache() -> dict[str, Any]:
    from eqbench.model.game_cache import game_cache_folder

    folder = game_cache_folder()
    if folder is None:
        return _check("game cache", "absent", "not writable: large games are built every time")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return _check("game cache", "good", f"{folder} ({size / 2**20:,.0f} MiB)")


def _results() -> dict[str, Any]:
    import tempfile
    from pathlib import Path

    folder = Path("results")
    place = folder if folder.is_dir() else Path.cwd()
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        detail = f"{place.resolve()} cannot be written ({error.strerror}): use run --out DIR"
        return _check("results", "absent", detail)
    return _check("results", "good", f"{folder.resolve()} can be written")


def _check(name: str, state: str, detail: str) -> dict[str, Any]:
    return {"name": name, "state": state, "detail": detail}


def _print(checks: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from eqbench.cli.output import print_formatted

    styles = {"good": "green", "absent": "yellow", "broken": "red"}
    table = Table(box=None, show_header=False)
    for check in checks:
        table.add_row(
            Text(check["name"]),
            Text(check["state"], style=styles[check["state"]]),
            Text(check["detail"], overflow="fold"),
        )
    print_formatted(lambda console: console.print(table))
