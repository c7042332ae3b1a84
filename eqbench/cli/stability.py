"""`eqbench stability`: eigenvalues of a flow at equilibria and at other rest points."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from eqbench.cli.options import (
    NUMBER_OR_NONE,
    SEED,
    folder_option,
    game_option,
    json_option,
    max_nodes_option,
    plugin_option,
    quiet_option,
    spec_completion,
)
from eqbench.cli.output import put_json, say
from eqbench.cli.trace_request import ExactNumber

INTERRUPTED = 130


@click.command()
@game_option("Game, for example skp(pot=3.35) or a file such as game.efg.")
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Also look at this profile, - for standard input; may be given several times.",
)
@click.option(
    "--solver",
    default="replicator",
    show_default=True,
    metavar="SPEC",
    shell_complete=spec_completion("solver"),
    help="Solver whose method is a flow.",
)
@click.option(
    "--rest-points",
    default=0,
    type=NUMBER_OR_NONE,
    show_default=True,
    metavar="N",
    help="Search N random faces for rest points that are no equilibria.",
)
@click.option(
    "--samples",
    default=16,
    type=NUMBER_OR_NONE,
    show_default=True,
    metavar="N",
    help="Members drawn at random from each published set, beside one inside and the corners.",
)
@click.option(
    "--seed",
    default=0,
    type=SEED,
    show_default=True,
    help="Of the members and of the faces.",
)
@click.option(
    "--parameter",
    default="",
    metavar="NAME",
    help="With --at: the parameter.  [default: that of the game]",
)
@click.option(
    "--at",
    multiple=True,
    type=ExactNumber(),
    metavar="X",
    help="Value of the parameter; may be given several times.",
)
@folder_option("stability")
@click.option(
    "--figures",
    is_flag=True,
    help="Draw the eigenvalues, or with several --at the verdicts along the parameter, as SVG and "
    "PNG.",
)
@max_nodes_option
@plugin_option
@json_option
@quiet_option
@click.pass_context
def stability(ctx: click.Context, /, **options: Any) -> None:
    """Say which equilibria of a game are stable under a flow, such as replicator dynamics.

    Eigenvalues of the Jacobian in frequencies are computed at members of all published sets of
    equilibria, inside and at the corners, and at given profiles, which must be rest points. A
    real part up to 1e-9 of the spectral norm is zero. Linearization does not decide whether a
    rest point with a centre manifold is stable. Writes summary.json, and points.csv with the
    profiles of its entries. Exit code: 0 done, 2 usage, 130 interrupted.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from eqbench.cli.trace_control import first_interrupt
    from eqbench.model.profile_json import read_profile
    from eqbench.registry import default_registry
    from eqbench.store.run_folder import game_slug, new_run_path
    from eqbench.studies.flow import stability as study
    from eqbench.studies.study_files import new_folder

    request = study.StabilityRequest(
        options["game"],
        options["solver"],
        tuple(
            study.GivenProfile(name, read_profile(file))
            for file, name in _names(options["profiles"]).items()
        ),
        options["rest_points"],
        options["samples"],
        options["seed"],
        options["parameter"],
        tuple(sorted(set(options["at"]))),
    )
    registry = default_registry().with_plugins(options["plugins"])
    setting = study.StabilitySetting.of(registry, request, max_nodes=options["max_nodes"])
    slug, out = f"stability-{game_slug(options['game'])}", options["out"]
    if out:
        new_folder(Path(out))
    with first_interrupt() as interrupted:
        found = study.examine(setting, interrupted)
    folder = Path(out) if out else new_run_path(Path("results"), slug)
    found.write(folder)
    document = found.document
    _print(document, as_json=options["as_json"])
    if options["figures"]:
        from eqbench.plots.stability import draw_stability

        files = draw_stability(document, folder)
        for file in files if not options["quiet"] else ():
            say(f"wrote {file}")
    if not options["quiet"]:
        stopped = "" if document["finished"] else "interrupted; "
        say(f"{stopped}results in {folder}")
    ctx.exit(0 if document["finished"] else INTERRUPTED)


def _names(files: Sequence[str]) -> dict[str, str]:
    """Under which names profiles are shown: those of their files, or paths if names coincide."""
    names = {file: Path(file).name for file in files}
    return names if len(set(names.values())) == len(names) else {file: file for file in files}


def _print(document: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        put_json(document)
        return
    from eqbench.cli.output import print_formatted
    from eqbench.studies.flow.stability_table import print_stability

    print_formatted(lambda console: print_stability(document, console))
