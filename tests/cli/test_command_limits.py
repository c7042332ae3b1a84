"""Every number, path and spec of the command line has a limit: one line of error, exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from helpers.command import Ended, eqbench_here

from eqbench import cli
from eqbench.cli import main
from eqbench.cli.commands import app
from eqbench.cli.options import KindType
from eqbench.errors import UsageError
from eqbench.requests import Integer
from eqbench.spec import MOST_CHARACTERS, parse_spec

TWENTY = "1" + "0" * 20


@pytest.fixture
def eqbench(tmp_path: Path) -> Callable[..., Ended]:
    """The command in an empty folder."""
    return partial(eqbench_here, cwd=tmp_path)


def options(command: click.Command, *names: str) -> list[tuple[tuple[str, ...], click.Parameter]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        children = [
            (name, command.get_command(context, name)) for name in command.list_commands(context)
        ]
        return [
            found for name, child in children if child for found in options(child, *names, name)
        ]
    return [(names, parameter) for parameter in command.params]


NUMBERS = [
    pytest.param(parameter.type, id=f"{' '.join(names)} {parameter.name}")
    for names, parameter in options(app)
    if isinstance(getattr(parameter.type, "kind", None), Integer)
]


@pytest.mark.parametrize("kind", NUMBERS)
def test_every_integer_of_every_command_fits_64_bits(kind: KindType) -> None:
    assert 0 <= kind.kind.least < kind.kind.most < 2**63


def test_every_value_of_every_command_is_of_a_kind_of_ours() -> None:
    own = (KindType, click.types.BoolParamType)
    assert [names for names, parameter in options(app) if not isinstance(parameter.type, own)] == []


def test_standard_input_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqbench.documents.MOST_BYTES", 1000)
    done: Result = CliRunner().invoke(
        app, ["verify", "--game", "kuhn2", "--profile", "-"], input="1" * 2000
    )
    assert isinstance(done.exception, UsageError)


def test_spec_is_as_long_as_it_may_be_and_no_longer() -> None:
    name = "x" * (MOST_CHARACTERS - 4) + ".efg"
    assert parse_spec(name).name == name
    with pytest.raises(UsageError, match="characters"):
        parse_spec(f"x{name}")


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(**_: Any) -> None:
        raise error

    monkeypatch.setattr(cli.app, "main", fail)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), 1),
        (RecursionError("deep"), 1),
        (ImportError("first\n\nfailed to map segment\n"), 1),
        (UsageError("\x1b[31m" + "why " * 100_000), 2),
        (click.UsageError("\x1b]0;title\x07"), 2),
        (KeyboardInterrupt(), 130),
    ],
    ids=lambda value: type(value).__name__,
)
def test_errors_of_the_machine_and_the_user_are_a_line(
    eqbench: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    fail_with(monkeypatch, error)
    done = eqbench("info", "games")
    assert done.code == code
    assert len(done.err.splitlines()) == (code != 130)
    assert "\x1b" not in done.err
    assert len(done.err) < 3000


def test_errors_of_the_program_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, RuntimeError("a bug"))
    monkeypatch.setattr(sys, "argv", ["eqbench", "info", "games"])
    with pytest.raises(RuntimeError, match="a bug"):
        main()
