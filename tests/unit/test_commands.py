"""Commands are made of requests: fields are options, and what cannot be meant is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import click
import pytest
from click.testing import CliRunner
from command import eqbench_here

from eqbench.cli.options import KindType, command, given
from eqbench.requests import (
    FILE,
    FLAG,
    FOLDER,
    NUMBER,
    Choice,
    Exact,
    Integer,
    Interval,
    Kind,
    Number,
    Option,
    Pair,
    Size,
    Words,
)


@dataclass(frozen=True)
class Errand:
    """Fetch things."""

    what: Annotated[str, Option("Thing.", Kind("WHAT"), argument=True)]
    where: Annotated[str, Option("Place.", Kind("PLACE"), "from")]
    count: Annotated[int, Option("How many.", NUMBER, short="n")] = 2
    wrapped: Annotated[bool, Option("In paper.", FLAG)] = False
    colors: Annotated[
        tuple[str, ...], Option("Colors.", Words("COLORS", "color", ("red", "blue")))
    ] = ("red",)
    notes: Annotated[tuple[str, ...], Option("Notes.", name="note")] = ()


@command(Errand)
def fetch(errand: Errand) -> int:
    click.echo(errand)
    return errand.count


def test_fields_of_a_request_are_read_from_the_command_line() -> None:
    words = ["cups", "--from", "attic", "-n", "3", "--wrapped", "--colors", "blue, red"]
    done = CliRunner().invoke(fetch, [*words, "--note", "one", "--note", "two"])
    asked = Errand("cups", "attic", 3, True, ("blue", "red"), ("one", "two"))
    assert done.output == f"{asked}\n"
    assert done.exit_code == 3


def test_what_is_not_given_has_its_default() -> None:
    done = CliRunner().invoke(fetch, ["cups", "--from", "attic"])
    assert done.output == f"{Errand('cups', 'attic')}\n"


@pytest.mark.parametrize("words", [[], ["cups"], ["--from", "attic"], ["cups", "--from", "x", "y"]])
def test_fields_without_a_default_must_be_given(words: list[str]) -> None:
    assert CliRunner().invoke(fetch, words).exit_code == 2


def test_what_was_typed_can_be_told_from_defaults() -> None:
    @dataclass(frozen=True)
    class Manner:
        """Do it somehow."""

    @command(Manner, Errand)
    def change(manner: Manner) -> None:
        click.echo(given(Errand))

    done = CliRunner().invoke(change, ["--count", "2", "cups"])
    assert done.output == f"{ {'what': 'cups', 'count': 2} }\n"


@pytest.mark.parametrize(
    "kind",
    [Choice(words=("a",)), Words(), Integer(), Number(), Size(), Exact(), Interval(), Pair()],
    ids=lambda kind: type(kind).__name__,
)
def test_rejected_value_is_not_repeated_at_length(kind: Kind) -> None:
    with pytest.raises(ValueError, match=r"characters") as caught:
        kind.read("9x;" * 1000)
    assert len(str(caught.value)) < 300


def test_shell_completes_files_and_folders() -> None:
    for kind, what in ((FILE, "file"), (FOLDER, "dir")):
        (item,) = KindType(kind).shell_complete(None, None, "res")
        assert (item.value, item.type) == ("res", what)


RUN = ("run", "--game", "kuhn2", "--solver", "lcp")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((*RUN, "--save-as", "new.toml", "--out", "there"), "--save-as"),
        ((*RUN, "--save-as", "new.toml", "--dry-run"), "--save-as"),
        (("run", "old.toml", "--save-as", "new.toml", "--retry", "timeout"), "--save-as"),
        (("run", "--game", "kuhn", "--solver", "lpc", "--save-as", "new.toml"), "did you mean lcp"),
        (("run", "--game", "khun2", "--solver", "lcp", "--save-as", "new.toml"), "kuhn2"),
        ((*RUN, "--retry", "timeout"), "--resume"),
        (("run", "old.toml", "--retry", "timeout"), "--resume"),
        (("run", "kuhn_gamess"), "did you mean kuhn_games"),
        (("reproduce", "szafron", "--job", "nothing"), "unknown job"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_what_cannot_be_meant_is_refused_and_nothing_written(
    tmp_path: Path, words: tuple[str, ...], named: str
) -> None:
    (tmp_path / "old.toml").write_text('game = "kuhn2"\nsolver = "lcp"\n')
    done = eqbench_here(*words, cwd=tmp_path)
    assert done.code == 2
    assert named in done.err
    assert [file.name for file in tmp_path.iterdir()] == ["old.toml"]


def test_experiment_that_was_begun_takes_what_to_run_again(tmp_path: Path) -> None:
    (tmp_path / "old.toml").write_text('game = "kuhn2"\nsolver = "lcp"\n')
    assert eqbench_here("run", "old.toml", "-q", cwd=tmp_path).code == 0
    again = eqbench_here("run", "old.toml", "--retry", "ok", "--dry-run", cwd=tmp_path)
    assert again.code == 0
    assert "1 to run" in again.out
