"""Pytest plugin: in CI every skip must be listed, with its reason, in ``tests/allowed_skips.txt``.

A skipped test looks green. On a contributor's machine that is a convenience; in CI it is how a
test stops running without anyone noticing. A line of the list reads ``nodeid-glob  # reason``.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path

import pytest


def read_allowed(path: Path) -> list[str]:
    """Return the node-id globs listed in `path`; a line without a reason is a usage error."""
    if not path.exists():
        return []
    globs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        glob, _, reason = line.partition(" #")
        if not reason.strip():
            raise pytest.UsageError(
                f"{path.name}:{number}: {line.strip()!r} has no reason; "
                "write `nodeid-glob  # reason`"
            )
        globs.append(glob.strip())
    return globs


class SkipPolicy:
    """Collect the skips of a session and fail it when one of them is not allowed."""

    def __init__(self, globs: list[str]) -> None:
        # Brackets are literal, as node ids use them.
        self.globs = [glob.replace("[", "[[]") for glob in globs]
        self.unlisted: set[str] = set()

    def pytest_runtest_logreport(self, report) -> None:
        # An expected failure is reported as skipped too, but it did run.
        is_skip = report.skipped and not hasattr(report, "wasxfail")
        if is_skip and not any(fnmatchcase(report.nodeid, glob) for glob in self.globs):
            self.unlisted.add(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unlisted and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.unlisted:
            terminalreporter.section("skips that CI does not allow", red=True)
            for nodeid in sorted(self.unlisted):
                terminalreporter.write_line(nodeid)
            terminalreporter.write_line(
                "Make them run, or list them with a reason in tests/allowed_skips.txt."
            )


def pytest_configure(config: pytest.Config) -> None:
    # The list is read everywhere, so that a bad line fails before it reaches CI.
    globs = read_allowed(config.rootpath / "tests" / "allowed_skips.txt")
    # Workers of pytest-xdist forward their reports; the controller judges them.
    if os.environ.get("CI") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkipPolicy(globs), "skip-policy")
