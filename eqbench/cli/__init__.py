"""The command line. Data goes to standard output, progress and messages to standard error."""

from __future__ import annotations

# Little is imported before `main` has made sure that an interrupt ends the process quietly.
import atexit
import gc
import os
import signal
import sys

from eqbench.errors import INTERRUPTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

USAGE_ERROR = 2
CLOSED_PIPE = 141


def main() -> None:
    """Entry point: whatever ends a command, it ends with its exit code and at most one message.

    Errors of this program itself keep their traceback.
    """
    interrupt = signal.getsignal(signal.SIGINT)
    if interrupt is signal.default_int_handler:  # jobs in the background may ignore it
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    code, message = _outcome(interrupt)
    if message:
        from eqbench.cli.output import say_always

        say_always(message)
    # all is done: what is interrupted now is the interpreter, which would print a traceback
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_DFL)
    atexit.register(gc.freeze)  # nor is garbage looked for any more
    sys.exit(code)


def _outcome(interrupt: Any) -> tuple[Any, str]:
    """Run the command: its exit code, and a message if it ended early.

    `interrupt` handles SIGINT from here on.
    """
    if sys.platform not in ("linux", "darwin"):
        return USAGE_ERROR, f"eqbench runs on Linux and macOS; this is {sys.platform}"
    try:
        from eqbench.isolation.worker import COLLECT_AFTER

        gc.set_threshold(*COLLECT_AFTER)
        import click

        from eqbench.cli.commands import app
        from eqbench.cli.output import give_up_output, open_streams
        from eqbench.errors import EqbenchError, UsageError

        open_streams()
        signal.signal(signal.SIGINT, interrupt)
    except MemoryError:
        return 1, _OUT_OF_MEMORY
    try:
        # outside standalone mode click returns the code that a command exits with
        code = app.main(standalone_mode=False, prog_name="eqbench")
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED, ""
    except click.ClickException as error:
        return error.exit_code, _as_click_shows(error)
    except EqbenchError as error:
        return USAGE_ERROR if isinstance(error, UsageError) else 1, f"Error: {error}"
    except OSError as error:
        give_up_output()
        return 1, f"Error: {error}"
    except ImportError as error:
        return 1, (
            f"Error: a package cannot be loaded: {_last_line(error)}; eqbench doctor says what is "
            "broken, unless this process is allowed too little memory"
        )
    except (MemoryError, RecursionError, RuntimeError) as error:
        if not (message := _exhausted(error)):
            raise
        return 1, message
    except SystemExit as stop:
        # click ends with 1 when the reader of a pipe has gone; to us 1 means something else. It
        # leaves a wrapper behind, whose class is not public and was renamed.
        gone = type(sys.stdout).__name__.endswith("PacifyFlushWrapper")
        return CLOSED_PIPE if gone else stop.code, ""
    return code if isinstance(code, int) else 0, ""


_OUT_OF_MEMORY = "Error: out of memory; ask for something smaller, or allow this process more"


def _exhausted(error: Exception) -> str:
    """Message about an error that means that the machine gives no more; else nothing."""
    import threading
    import traceback

    if isinstance(error, MemoryError):
        return _OUT_OF_MEMORY
    if isinstance(error, RecursionError):
        return "Error: something given here is nested too deeply"
    start = threading.Thread.start.__code__
    if any(frame.f_code is start for frame, _ in traceback.walk_tb(error.__traceback__)):
        return "Error: this process may start no more threads; ask for fewer jobs, or allow more"
    return ""


def _last_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]


def _as_click_shows(error: Any) -> str:
    """Text of an error of click, with the usage of the command."""
    import io

    text = io.StringIO()
    error.show(text)
    return text.getvalue().rstrip()


def __getattr__(name: str) -> Any:
    """The group of all commands, imported when it is asked for."""
    if name == "app":
        from eqbench.cli.commands import app

        return app
    raise AttributeError(f"module 'eqbench.cli' has no attribute {name!r}")
