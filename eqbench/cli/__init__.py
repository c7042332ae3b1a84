"""The command line. Data goes to standard output, progress and messages to standard error."""

from __future__ import annotations

import importlib
import sys

import click

_COMMANDS = {
    "run": "eqbench.cli.run:run",
    "report": "eqbench.cli.report:report",
    "compare": "eqbench.cli.compare:compare",
    "show": "eqbench.cli.show:show",
    "verify": "eqbench.cli.verify:verify",
    "crossplay": "eqbench.cli.crossplay:crossplay",
    "trace": "eqbench.cli.trace:trace",
    "qre": "eqbench.cli.qre:qre",
    "stability": "eqbench.cli.stability:stability",
    "simulate": "eqbench.cli.simulate:simulate",
    "suite": "eqbench.cli.suite:suite",
    "ranges": "eqbench.cli.ranges:ranges",
    "reproduce": "eqbench.cli.reproduce:reproduce",
    "draw": "eqbench.cli.draw:draw",
    "export": "eqbench.cli.export:export",
    "list": "eqbench.cli.catalog:list_",
    "info": "eqbench.cli.catalog:info",
    "check": "eqbench.cli.check:check",
    "doctor": "eqbench.cli.doctor:doctor",
    "schema": "eqbench.cli.schema:schema",
}
USAGE_ERROR = 2
CLOSED_PIPE = 141


class _Commands(click.Group):
    """Imports a command's module when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = _COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, name = target.split(":")
        return getattr(importlib.import_module(module), name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from eqbench.errors import nearest

        if args and args[0] not in _COMMANDS:
            raise click.UsageError(f"unknown command {args[0]!r}: {nearest(args[0], _COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="eqbench", prog_name="eqbench")
def app() -> None:
    """Which Nash equilibria does each method find, how good are they, what did they cost?

    The main job: eqbench run --game kuhn3 --solver all
    """


def main() -> None:
    """Entry point: errors that a user can cause end with one message and no traceback."""
    if sys.platform not in ("linux", "darwin"):
        click.echo(f"eqbench runs on Linux and macOS; this is {sys.platform}", err=True)
        sys.exit(USAGE_ERROR)
    from eqbench.errors import EqbenchError, UsageError

    try:
        # outside standalone mode click returns the code that a command exits with
        code = app.main(standalone_mode=False, prog_name="eqbench")
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except EqbenchError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(USAGE_ERROR if isinstance(error, UsageError) else 1)
    except OSError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    except SystemExit as stop:
        # click ends with 1 when the reader of a pipe has gone; to us 1 means something else. It
        # leaves a wrapper behind, whose class is not public and was renamed.
        gone = type(sys.stdout).__name__.endswith("PacifyFlushWrapper")
        sys.exit(CLOSED_PIPE if gone else stop.code)
    sys.exit(code if isinstance(code, int) else 0)
