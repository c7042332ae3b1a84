"""`eqbench simulate`: follow trajectories of a flow."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from eqbench.cli.options import (
    NUMBER,
    NUMBER_OR_NONE,
    SEED,
    SHARE,
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
from eqbench.cli.trace_request import ExactNumber

INTERRUPTED = 130
RANDOM_STARTS = 3
_DISCARDING = "ending the trajectory; Ctrl-C again discards it"
_SHOW_CURSOR = "\x1b[?25h"


class Pair(click.ParamType):
    """Two names of frequencies with a comma between them."""

    name = "pair"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        first, _, second = value.partition(",")
        if not first or not second or "," in second:
            self.fail(
                f"{value!r} is no pair of frequencies; write for example b3,d2",
                param,
                ctx,
            )
        return first.strip(), second.strip()


@click.command()
@game_option("Game, for example 'skp(pot=3.1)' or a file such as game.efg.")
@click.option(
    "--solver",
    default="replicator",
    show_default=True,
    metavar="SPEC",
    shell_complete=spec_completion("solver"),
    help="Solver whose method is a flow.",
)
@click.option(
    "--model",
    default="ode",
    show_default=True,
    type=click.Choice(["ode", "hands"]),
    help="The flow itself, or hand-by-hand repeated play that it imitates.",
)
@click.option(
    "--memory",
    default=None,
    type=NUMBER,
    metavar="M",
    help="With --model hands: how many hands players remember.  [default: 20]",
)
@click.option(
    "--starts",
    default=None,
    type=NUMBER_OR_NONE,
    metavar="N",
    help="Starts drawn at random.  [default: 3, without --start]",
)
@click.option("--seed", default=0, type=SEED, show_default=True, help="Of the first of these.")
@click.option(
    "--spread",
    default=1.0,
    type=SHARE,
    show_default=True,
    help="Standard deviation of their log-odds, which are normal.",
)
@click.option(
    "--start",
    multiple=True,
    metavar="uniform|FILE",
    help="Start at uniform behavior or at the profile in a file, - for standard input; may be "
    "given several times. Frequencies of 0 and 1 are refused, also those that final and average "
    "profiles of a long simulation have by rounding.",
)
@click.option(
    "--time",
    default=None,
    type=FiniteNumber(positive=True, most=1e9),
    metavar="T",
    help="How far trajectories are followed.  [default: 10000, with --model hands 1000]",
)
@click.option(
    "--every",
    default=None,
    type=FiniteNumber(positive=True, most=1e9),
    metavar="DT",
    help="Distance of the times at which states are kept; a tenth of the shortest period or less.  "
    "[default: 0.25]",
)
@click.option(
    "--parameter", default="", metavar="NAME", help="Payoff parameter.  [default: that of the game]"
)
@click.option(
    "--at",
    multiple=True,
    type=ExactNumber(),
    metavar="X",
    help="Simulate at this value of it, with all starts; may be given several times.",
)
@folder_option("simulate")
@click.option("--figures", is_flag=True, help="Draw orbits, frequencies and profits.")
@click.option(
    "--pair",
    "pairs",
    multiple=True,
    type=Pair(),
    metavar="A,B",
    help="With --figures: draw the orbits of these two frequencies, by their published names, such "
    "as b3,d2 of skp, or as 'P1|1:|bet,P2|2:B|call'; may be given several times.",
)
@max_nodes_option
@plugin_option
@json_option
@quiet_option
@click.pass_context
def simulate(ctx: click.Context, /, **options: Any) -> None:
    """Follow trajectories of a flow: where frequencies go, how they move, what players earn.

    Writes summary.json, points.csv and profiles. Of a long run points.csv has at most 4,000
    points, half of them the last ones and the others spread over all of it. Its columns are run,
    with --at the parameter, time, payoffs such as u:P1, payoffs integrated over time such as p:P1,
    and frequencies. Profits are averages over windows of time, beside the payoffs of published
    equilibria. Ctrl-C ends the present trajectory and keeps what was computed; a second one
    discards that trajectory. Exit code: 0 done, also where a trajectory broke off, which the
    summary says; 2 usage, 130 interrupted.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from eqbench.cli.trace_control import progress_line
    from eqbench.registry import default_registry
    from eqbench.store.run_folder import game_slug, new_run_path
    from eqbench.studies.flow.request import SimulationSetting
    from eqbench.studies.flow.simulate import Simulator
    from eqbench.studies.study_files import new_folder

    registry = default_registry().with_plugins(options["plugins"])
    setting = SimulationSetting.of(registry, _request(options), max_nodes=options["max_nodes"])
    if options["pairs"]:
        from eqbench.plots.flow import planes_of

        planes_of(setting.games[0], (), options["pairs"])  # refuses names that are unknown
    slug = f"simulate-{game_slug(options['game'])}"
    folder, quiet = Path(options["out"] or new_run_path(Path("results"), slug)), options["quiet"]
    new_folder(folder)
    with (
        _two_interrupts(f"interrupted; results in {folder}", quiet=quiet) as interrupted,
        progress_line(setting, quiet) as line,
    ):
        document = Simulator(setting, folder, interrupted, line.tell).document()
    if options["as_json"]:
        put_json(document)
    else:
        from eqbench.cli.output import print_formatted
        from eqbench.studies.flow.simulation_table import print_simulation

        print_formatted(lambda console: print_simulation(document, console))
    if options["figures"] and document["runs"]:
        from eqbench.plots.flow import draw_simulation

        if not document["finished"] and not quiet:
            say("drawing figures of what was computed; Ctrl-C leaves them out")
        files = draw_simulation(setting, folder, document, options["pairs"])
        for file in files if not quiet else ():
            say(f"wrote {file}")
    if not quiet:
        stopped = "" if document["finished"] else "interrupted; "
        say(f"{stopped}results in {folder}")
    ctx.exit(0 if document["finished"] else INTERRUPTED)


@contextmanager
def _two_interrupts(farewell: str, *, quiet: bool) -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; pressed once more, it ends the process with these last words.

    No exception is raised, since compiled code may be running, which turns it into another one.
    """
    pressed: list[int] = []
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in signals}
    above = f"{_SHOW_CURSOR}\n" if os.isatty(2) else ""  # a live line hides the cursor there

    def note(number: int, frame: Any) -> None:
        again = bool(pressed)
        pressed.append(number)
        words = "" if quiet else f"{farewell if again else _DISCARDING}\n"
        with suppress(OSError):  # nobody may read them
            os.write(2, f"{above}{words}".encode())
        if again:
            os._exit(INTERRUPTED)

    for number in signals:
        signal.signal(number, note)
    try:
        yield lambda: bool(pressed)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _short_names(starts: tuple[str, ...]) -> dict[str, str]:
    """How starts are called, by what was given: files without folders, if that tells them apart."""
    found = {given: "standard input" if given == "-" else Path(given).name for given in starts}
    times = Counter(found.values())
    return {given: name if times[name] == 1 else given for given, name in found.items()}


def _request(options: dict[str, Any]) -> Any:
    """The request that the options make."""
    from eqbench.errors import UsageError
    from eqbench.model.profile_json import read_profile
    from eqbench.studies.flow.request import HORIZON_BY_HAND, UNIFORM, SimulationRequest

    if options["pairs"] and not options["figures"]:
        raise UsageError("--pair is about figures; add --figures")
    if options["memory"] is not None and options["model"] != "hands":
        raise UsageError("--memory is of players who learn from hands; add --model hands")
    chosen = {
        name: options[name] for name in ("memory", "time", "every") if options[name] is not None
    }
    if options["model"] == "hands":
        chosen = {"time": HORIZON_BY_HAND} | chosen
    random = options["starts"]
    return SimulationRequest(
        **{name: options[name] for name in ("game", "solver", "model", "seed", "spread")},
        **chosen,
        random=random if random is not None else 0 if options["start"] else RANDOM_STARTS,
        profiles={
            name: None if given == UNIFORM else read_profile(given)
            for given, name in _short_names(options["start"]).items()
        },
        parameter=options["parameter"],
        at=tuple(dict.fromkeys(options["at"])),
    )
