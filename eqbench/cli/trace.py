"""`eqbench trace`: follow a branch of regularized equilibria along a payoff parameter."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import click

from eqbench.cli.options import (
    DURATION,
    LARGEST,
    NUMBER_OR_NONE,
    SEED,
    FiniteNumber,
    folder_option,
    json_option,
    plugin_option,
    spec_completion,
)
from eqbench.cli.output import put_json, say
from eqbench.cli.trace_control import first_interrupt, progress_line
from eqbench.cli.trace_request import ExactNumber, Interval, new_request, same_request

STALLED, INTERRUPTED = 1, 130


@click.command()
@click.option(
    "--game",
    default=None,
    metavar="SPEC",
    shell_complete=spec_completion("game"),
    help="Game with a payoff parameter, for example skp or 'kuhn(players=3, cards=10)'.",
)
@click.option(
    "--parameter", default="", metavar="NAME", help="The parameter.  [default: that of the game]"
)
@click.option("--from", "from", default=None, type=ExactNumber(), help="Where the branch begins.")
@click.option(
    "--to",
    default=None,
    type=ExactNumber(),
    help="Towards where it is followed, up or down, until it leaves the range at either end.",
)
@click.option(
    "--epsilon",
    default=None,
    type=FiniteNumber(positive=True, most=1e9),
    help="Strength of the regularization in payoff units.  [default: that of the solver]",
)
@click.option(
    "--regularization",
    default=None,
    type=click.Choice(["log", "arctan", "rational"]),
    help="How frequencies are kept inside their bounds.  [default: that of the solver]",
)
@click.option(
    "--derivative",
    default=None,
    type=click.Choice(["counterfactual", "raw"]),
    help="Action values, without or with the own reach.  [default: that of the solver]",
)
@click.option(
    "--solver",
    default="arclength",
    show_default=True,
    metavar="SPEC",
    shell_complete=spec_completion("solver"),
    help="Solver that follows branches.",
)
@click.option(
    "--at",
    multiple=True,
    type=ExactNumber(most=True),
    metavar="X",
    help="Polish and verify the equilibria on the branch at this value, or where it has `most` "
    "points at one value, for which the branch is followed a second time; may be given several "
    "times.",
)
@click.option(
    "--starts",
    default=0,
    type=NUMBER_OR_NONE,
    show_default=True,
    metavar="N",
    help="At each such value, also look beside the branch from N random starts; they take time "
    "beyond --time.",
)
@click.option("--seed", default=0, type=SEED, show_default=True, help="Of the random starts.")
@click.option(
    "--most-points",
    default=None,
    type=click.IntRange(2, LARGEST),
    metavar="N",
    help="Stop when the branch has N points; --resume goes on.",
)
@click.option(
    "--time",
    default=None,
    type=DURATION,
    metavar="S",
    help="Stop after S seconds of tracing; --resume goes on. What --at and --starts ask for is "
    "done after that, however long it takes.",
)
@folder_option("trace")
@click.option(
    "--resume",
    default=None,
    type=click.Path(),
    metavar="DIR",
    help="Go on with the trace in this folder. The points become the same as without a break.",
)
@click.option(
    "--figures", is_flag=True, help="Draw payoffs, frequencies and counts, as SVG and PNG."
)
@click.option(
    "--close-up",
    "close_ups",
    multiple=True,
    type=Interval(),
    metavar="LO,HI",
    help="With --figures: also show this range of the parameter by itself; may be given several "
    "times.",
)
@click.option(
    "--animate",
    default=None,
    type=click.IntRange(2, 10_000),
    metavar="FRAMES",
    help="Three-player Kuhn poker: write the strategies along the branch as animation.gif.",
)
@plugin_option
@json_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@click.pass_context
def trace(ctx: click.Context, /, **options: Any) -> None:
    """Follow a branch of regularized equilibria along a payoff parameter.

    Writes points.csv and summary.json. A trace that was interrupted or stopped goes on with
    --resume. What is counted are equilibria on this branch, for the epsilon and the
    regularization that are printed with them; others may exist beside it. Exit code: 0 traced
    or stopped at a limit, 1 the branch was lost or has no start, 2 usage, 130 interrupted.
    """
    # for matrices of this size more threads wait for each other: ten times slower where another
    # process uses the cores
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from eqbench.errors import EqbenchError

    _check(options)
    setting, folder = _opened(ctx, options)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as after Ctrl-C
    try:
        document = _document(setting, folder, options)
        if document is not None:
            _print(document, as_json=options["as_json"])
            _draw(setting, folder, document, options)
    except KeyboardInterrupt:
        document = None
    except EqbenchError:
        if options["resume"] is None and not folder.points.exists():
            folder.discard()
        raise
    if document is None or document["outcome"] in ("points", "time"):
        why = "interrupted" if document is None else document["reason"]
        say(f"{why}; go on with:\n  eqbench trace --resume {_quoted(folder)}")
    if document is None:
        ctx.exit(INTERRUPTED)
    if not options["quiet"]:
        say(f"results in {folder.path}")
    ctx.exit(STALLED if document["outcome"] == "stalled" else 0)


def _check(options: dict[str, Any]) -> None:
    """Refuse options that do not go together."""
    from eqbench.errors import UsageError

    if options["close_ups"] and not options["figures"]:
        raise UsageError("--close-up is about figures; add --figures")
    if options["resume"] is None and options["starts"] and not options["at"]:
        raise UsageError("--starts looks beside the branch at the values of --at; give one")
    if options["resume"] is not None and options["out"] is not None:
        raise UsageError("give either --resume or --out: a resumed trace stays in its folder")


def _opened(ctx: click.Context, options: dict[str, Any]) -> tuple[Any, Any]:
    """What is traced, and the folder for it, new or to go on with."""
    from eqbench.registry import default_registry
    from eqbench.store.run_folder import new_run_path
    from eqbench.studies.trace.folder import TraceFolder
    from eqbench.studies.trace.request import Setting
    from eqbench.studies.trace.study import version_of_method

    folder, stored, version = None, None, ""
    if options["resume"] is not None:
        folder = TraceFolder.open(Path(options["resume"]))
        stored, version = folder.request()
    files = options["plugins"] or (stored.plugins if stored else ())
    options["plugins"] = tuple(str(Path(file).absolute()) for file in files)
    registry = default_registry().with_plugins(options["plugins"])
    if stored is not None:
        request = same_request(ctx, stored, registry, options)
    else:
        request = new_request(options)
    setting = Setting.of(registry, request)
    if options["figures"]:
        from eqbench.plots.branches import check_figures

        check_figures(setting, options["close_ups"])
    if options["animate"] is not None:
        from eqbench.plots.branches import check_animation

        check_animation(setting)
    now = version_of_method(setting)
    if folder is None:
        out = options["out"]
        path = Path(out) if out else new_run_path(Path("results"), f"trace-{options['game']}")
        folder = TraceFolder.create(path, setting.request, now)
    elif now != version:
        say("the solver is another version than the one that began this trace")
    return setting, folder


def _document(setting: Any, folder: Any, options: dict[str, Any]) -> dict[str, Any] | None:
    """The summary, after tracing what is missing; None if that was interrupted."""
    from eqbench.studies.trace.follow import Control
    from eqbench.studies.trace.study import conclude, trace

    finished = folder.progress(setting.request)
    if finished is not None and finished.over:
        document = folder.summary()
        if document is not None:
            say("this trace has ended; there is nothing to go on with")
            return document
    with first_interrupt() as interrupted, progress_line(setting, options["quiet"]) as line:
        limits = options["most_points"], options["time"]
        control = Control(*limits, interrupted, line.report, line.tell)
        progress = trace(setting, folder, control)
        if progress.outcome == "interrupted":
            return None
        return conclude(setting, folder, progress, control)


def _print(document: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        put_json(document)
        return
    from eqbench.cli.output import print_formatted
    from eqbench.studies.trace.tables import print_trace

    print_formatted(lambda console: print_trace(document, console))


def _draw(setting: Any, folder: Any, document: dict[str, Any], options: dict[str, Any]) -> None:
    if not options["figures"] and options["animate"] is None:
        return
    from eqbench.plots.branches import animate_trace, draw_trace

    files = []
    if options["figures"]:
        drawn = draw_trace(setting, folder, document, options["close_ups"])
        files += drawn.files
        for name, reason in drawn.missing.items():
            say(f"the figure {name} is missing: {reason}")
    if options["animate"] is not None:
        files.append(animate_trace(setting, folder, options["animate"]))
    for file in files:
        say(f"wrote {file}")


def _quoted(folder: Any) -> str:
    import shlex

    return shlex.quote(str(folder.path))
