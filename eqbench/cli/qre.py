"""`eqbench qre`: follow branches of logit quantal response equilibria."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from eqbench.cli.options import (
    NUMBER_OR_NONE,
    SEED,
    FiniteNumber,
    folder_option,
    game_option,
    json_option,
    max_nodes_option,
    plugin_option,
    quiet_option,
    spec_completion,
)
from eqbench.cli.output import put_json, say

INTERRUPTED = 130
PER_DECADE = 20


@click.command()
@game_option("Game, for example kuhn3 or a file such as game.efg.")
@click.option(
    "--to",
    default=1e6,
    type=FiniteNumber(positive=True, most=1e15),
    show_default=True,
    metavar="LAMBDA",
    help="Lambda at which branches end.",
)
@click.option(
    "--at",
    multiple=True,
    type=FiniteNumber(positive=True, most=1e15),
    metavar="LAMBDA",
    help="Put a point at exactly this lambda, verify it and write its profile; may be given "
    "several times.",
)
@click.option(
    "--branches",
    default=0,
    type=NUMBER_OR_NONE,
    show_default=True,
    metavar="N",
    help="Also follow N branches that begin at priors drawn at random.",
)
@click.option("--seed", default=0, type=SEED, show_default=True, help="Of the first of these.")
@click.option(
    "--solver",
    default="logit",
    show_default=True,
    metavar="SPEC",
    shell_complete=spec_completion("solver"),
    help="Solver that follows such branches.",
)
@folder_option("qre")
@click.option(
    "--figures",
    is_flag=True,
    help="Draw the frequencies against lambda, as SVG and PNG; the branch then has at least 20 "
    "points for each factor of 10.",
)
@max_nodes_option
@plugin_option
@json_option
@quiet_option
@click.pass_context
def qre(ctx: click.Context, /, **options: Any) -> None:
    """Follow branches of logit quantal response equilibria from lambda 0 to large lambda.

    At every information set log(p_a / p_b) = log(prior_a / prior_b) + lambda (v_a - v_b), where
    v are values of actions conditional on reaching it (Turocy 2010). The principal branch begins
    at uniform behavior. Writes points.csv, summary.json and profiles. Exit code: 0 done, also
    where a branch was lost on its way, which the summary says; 2 usage, 130 interrupted.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from eqbench.cli.trace_control import first_interrupt
    from eqbench.registry import default_registry
    from eqbench.store.run_folder import game_slug, new_run_path
    from eqbench.studies.qre import Follower, QuantalRequest, QuantalSetting
    from eqbench.studies.study_files import new_folder

    at = tuple(sorted(set(options["at"])))
    request = QuantalRequest(
        options["game"],
        options["solver"],
        options["to"],
        at,
        options["branches"],
        options["seed"],
        per_decade=PER_DECADE if options["figures"] else 0,
    )
    registry = default_registry().with_plugins(options["plugins"])
    setting = QuantalSetting.of(registry, request, max_nodes=options["max_nodes"])
    if options["figures"]:
        from eqbench.plots.branches import frequency_panels

        frequency_panels(setting.game.tree)  # refuses games of which nothing could be drawn
    out = options["out"]
    folder = (
        Path(out) if out else new_run_path(Path("results"), f"qre-{game_slug(options['game'])}")
    )
    new_folder(folder)
    with first_interrupt() as interrupted, _status(options["quiet"]) as tell:
        document = Follower(setting, folder, interrupted, tell).document()
    if options["as_json"]:
        put_json(document)
    else:
        from eqbench.cli.output import print_formatted
        from eqbench.studies.qre import print_quantal

        print_formatted(lambda console: print_quantal(document, console))
    if options["figures"]:
        from eqbench.plots.branches import draw_quantal

        files = draw_quantal(setting, folder)
        for file in files if not options["quiet"] else ():
            say(f"wrote {file}")
    if not options["quiet"]:
        stopped = "" if document["finished"] else "interrupted; "
        say(f"{stopped}results in {folder}")
    ctx.exit(0 if document["finished"] else INTERRUPTED)


@contextmanager
def _status(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A live line on standard error if that is a terminal."""
    from rich.text import Text

    from eqbench.report.screen import Screen

    console = Screen(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda words: None
        return
    with console.status("compiling") as status:
        yield lambda words: status.update(Text(words))
