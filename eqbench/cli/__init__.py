"""The command line. Data goes to standard output, progress and messages to standard error."""

from __future__ import annotations

import atexit
import gc
import io
import signal
import sys

from eqbench.errors import INTERRUPTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main() -> None:
    """Run the command that was typed and exit with its code, after at most one message.

    Errors of this program itself keep their traceback.
    """
    try:
        code, message = _outcome()
    except KeyboardInterrupt:
        code, message = INTERRUPTED, ""
    except MemoryError:
        code = 1
        message = "Error: out of memory; ask for something smaller, or allow this process more"
    if message:
        from eqbench.cli.output import say_always

        say_always(message)
    # the interpreter itself would print a traceback if it were interrupted while it ends
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_DFL)
    atexit.register(gc.freeze)  # without a last search for garbage, which takes time
    sys.exit(code)


def _outcome() -> tuple[int, str]:
    """Run the command: its exit code, and a message if it ended early."""
    import click

    from eqbench.cli.commands import app
    from eqbench.cli.output import give_up_output, open_streams
    from eqbench.errors import EqbenchError, UsageError
    from eqbench.extras import needed_for
    from eqbench.isolation.worker import COLLECT_AFTER

    gc.set_threshold(*COLLECT_AFTER)
    open_streams()
    try:
        with needed_for("this command"):
            # outside standalone mode click returns the code that a command exits with
            return int(app.main(standalone_mode=False, prog_name="eqbench") or 0), ""
    except click.Abort:
        return INTERRUPTED, ""
    except click.ClickException as error:
        error.show(text := io.StringIO())
        return error.exit_code, text.getvalue().rstrip()
    except EqbenchError as error:
        return 2 if isinstance(error, UsageError) else 1, f"Error: {error}"
    except OSError as error:
        give_up_output()
        return 1, f"Error: {error}"
    except ImportError as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[-1]
        return 1, f"Error: a package cannot be loaded: {reason}; eqbench doctor says what is broken"
    except RecursionError:
        return 1, "Error: something given here is nested too deeply"


def __getattr__(name: str) -> Any:
    """The group of all commands, imported on its first use."""
    if name == "app":
        from eqbench.cli.commands import app

        return app
    raise AttributeError(f"module 'eqbench.cli' has no attribute {name!r}")
