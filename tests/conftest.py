"""Start-up of the test session: the skip policy and a guard against mixed checkouts."""

from __future__ import annotations

import functools
import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.command import plugins_apart
from hypothesis import HealthCheck, settings

# When a kernel is compiled follows the clock by default; what tests compare must not.
os.environ.setdefault("EQBENCH_KERNELS", "machine")

pytest_plugins = ["helpers.skip_policy"]

# Thousands of tests are many objects that stay: to look through them again and again would take
# half the time of collecting tests and a good part of that of running them.
gc.disable()


LONG = Path(__file__).with_name("long.txt")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help=f"leave out what {LONG.name} lists")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files and folders of tests that take long, if only quick ones are to run."""
    if not config.getoption("quick"):
        return None
    return True if collection_path in _long() else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, or one process would be busy with it alone at the end."""
    places = _long()

    @functools.cache
    def turn(file: Path) -> int:
        return min(places.get(place, len(places)) for place in (file, *file.parents))

    items.sort(key=lambda item: turn(item.path))


@functools.cache
def _long() -> dict[Path, int]:
    """Files and folders of tests that take long, with their places in the list.

    A name that leads nowhere is refused.
    """
    listed = LONG.read_text(encoding="utf-8").splitlines()
    places = [LONG.parent / line for line in listed if line and not line.startswith("#")]
    if missing := sorted(place for place in places if not place.exists()):
        raise pytest.UsageError(f"{LONG} lists what is not there: {missing[0]}")
    return {place: at for at, place in enumerate(places)}


def pytest_collection_finish() -> None:
    """Leave what is there now alone, and look for garbage among what comes."""
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
    gc.enable()


# What `latest` means to whoever runs the tests stays as it is.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="eqbench-state-")

# What processes under test print is buffered, as with most users.
os.environ.pop("PYTHONUNBUFFERED", None)

# Hundreds of processes are started, and each would compile the package anew. A mutant may have the
# size and the second of the whole module, by which compiled files are known.
if "EQBENCH_MUTANT" not in os.environ:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False

# How fast a machine is decides nothing.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def _digits_that_python_prints() -> Iterator[None]:
    """Commands that print long fractions lift the limit for their whole process."""
    most = sys.get_int_max_str_digits()
    yield
    sys.set_int_max_str_digits(most)


@pytest.fixture(autouse=True, scope="module")
def _plugins_of_a_module() -> Iterator[None]:
    """Plugins that the tests of a module load are unknown to those of others."""
    with plugins_apart():
        yield


FOLDERS = {"eqbench": "eqbench", "eqbench.games": "games", "eqbench.solvers": "solvers"}


def pytest_sessionstart() -> None:
    """Refuse to test a package that is not the one beside these tests.

    The three folders are mapped into one package, so an old editable install can deliver the
    core of one checkout with the plugins of another.
    """
    # What a shell starts in the background ignores it, and so would the commands under test.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    root = Path(__file__).resolve().parent.parent
    for package, folder in FOLDERS.items():
        spec = find_spec(package)
        found = Path(spec.origin).resolve().parent if spec and spec.origin else None
        if found != root / folder:
            pytest.exit(
                f"{package} is imported from {found}, not from {root / folder}; "
                "run `pip install -e .` in this checkout",
                returncode=pytest.ExitCode.USAGE_ERROR,
            )
