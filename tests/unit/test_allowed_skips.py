"""In CI a skipped test fails the session unless it is listed together with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from skip_policy import is_allowed

TESTS = Path(__file__).resolve().parents[1]

SKIPPED = """
    import pytest

    def test_runs():
        pass

    @pytest.mark.parametrize("solver", ["gurobi"])
    def test_licensed(solver):
        pytest.skip("no license here")
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with the skip policy, in CI, with one test that passes and one that is skipped."""
    monkeypatch.setenv("CI", "true")
    pytester.makeini(f"[pytest]\npythonpath = {TESTS}\naddopts = -ra -p no:cacheprovider")
    pytester.makeconftest("pytest_plugins = ['skip_policy']")
    pytester.makepyfile(test_it=SKIPPED)
    pytester.mkdir("tests")
    return pytester


def allow(project: pytest.Pytester, line: str) -> None:
    (project.path / "tests" / "allowed_skips.txt").write_text(f"# a heading\n\n{line}\n")


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    # A process of its own: the policy must set the exit code that CI sees.
    return project.runpytest_subprocess(*arguments)


def test_unlisted_skip_fails_and_is_named(project: pytest.Pytester):
    result = run(project)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*skips that CI does not allow*", "test_it.py::test_licensed*"])


def test_unlisted_skip_is_reported_by_xdist_workers_too(project: pytest.Pytester):
    result = run(project, "-n", "1")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["test_it.py::test_licensed*"])


def test_unlisted_skip_of_a_whole_module_fails(project: pytest.Pytester):
    project.makepyfile(test_module="import pytest\npytest.skip('no', allow_module_level=True)")
    allow(project, "test_it.py::*  # no license on the machine")
    result = run(project)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["test_module.py"])


def test_listed_skip_passes_and_its_reason_is_printed(project: pytest.Pytester):
    allow(project, "test_it.py::test_licensed[gurobi]  # no license on the machine")
    result = run(project)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["SKIPPED*no license here*"])


def test_skip_passes_outside_ci(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CI", "")
    assert run(project).ret == pytest.ExitCode.OK


def test_expected_failure_is_no_skip(project: pytest.Pytester):
    project.makepyfile(
        test_it="import pytest\n@pytest.mark.xfail\ndef test_fails():\n    assert False"
    )
    assert run(project).ret == pytest.ExitCode.OK


def test_failing_test_keeps_its_exit_code(project: pytest.Pytester):
    project.makepyfile(test_interrupted="def test_stops():\n    raise KeyboardInterrupt")
    assert run(project).ret == pytest.ExitCode.INTERRUPTED


@pytest.mark.parametrize("line", ["test_it.py::*", "test_it.py::*  #  "])
def test_line_without_reason_is_refused_everywhere(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, line: str
):
    monkeypatch.delenv("CI")
    allow(project, line)
    result = run(project)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*allowed_skips.txt:3*has no reason*"])


def test_globs_take_brackets_literally():
    assert is_allowed("t.py::test_a[x-1]", ["t.py::test_a[x*]"])
    assert not is_allowed("t.py::test_ax", ["t.py::test_a[x]"])
