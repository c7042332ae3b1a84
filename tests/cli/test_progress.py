"""Progress: lines where there is no terminal, a bar where there is one, shares that never fall."""

from __future__ import annotations

import io
import sys
import time

import pytest

from eqbench.cli import progress
from eqbench.cli.output import messages
from eqbench.cli.progress import LiveProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, *, quiet: bool = False) -> str:
    """What progress on a stream shows of a run that is half done."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "LINE_S", 0.02)
    monkeypatch.setattr(messages, "quiet", quiet)
    with LiveProgress("1 of 2 cells done", lambda: ["cfr on kuhn2: 3 s"]) as work:
        work.done(0.5)
        work.say("logit on kuhn2: ok")
        time.sleep(0.3)
    return stream.getvalue()


def test_without_a_terminal_there_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = set(shown(io.StringIO(), monkeypatch).splitlines())
    assert {"logit on kuhn2: ok", "1 of 2 cells done, 50%; cfr on kuhn2: 3 s"} <= lines


def test_on_a_terminal_there_is_a_bar_with_a_line_for_what_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = shown(Terminal(), monkeypatch)
    for words in ("50%", "1 of 2 cells done", "  cfr on kuhn2: 3 s", "logit on kuhn2: ok"):
        assert words in text


def test_quiet_commands_show_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(Terminal(), monkeypatch, quiet=True) == ""


def test_share_never_falls_and_gives_the_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with LiveProgress() as work:
        assert work.line() == "starting"
        work.describe("seed 0")
        clock = work._bars
        for share, at in ((0.25, 20.0), (0.2, 30.0), (0.5, 40.0)):
            clock.get_time = lambda at=at: at
            work.done(share)
        assert work.line() == "seed 0, 50%, about 0:00:40 left"
