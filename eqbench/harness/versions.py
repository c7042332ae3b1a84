"""Which version of a solver gave a result: part of the identity of a cell."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from eqbench.documents import read_file
from eqbench.errors import UsageError
from eqbench.harness.environment import version_of
from eqbench.model.cache import package_sources, source_hash
from eqbench.plugins import Entry

_DISTRIBUTION = "distribution "


def solver_version(entry: Entry) -> str:
    """Version and source of what defines a solver, as far as it can be told from outside.

    Built-in solvers count with the sources of the model, of their own package and of the
    modules beside it; plugin files with their content; both with the optional packages that
    they announce.
    """
    if entry.builtin:
        own = f"eqbench {version_of('eqbench')} {_builtin_source(entry)}"
    elif entry.plugin:
        own = hashlib.sha256(_content(entry.plugin)).hexdigest()[:16]
    else:
        name = entry.source.removeprefix(_DISTRIBUTION)
        own = f"{name} {version_of(name)}"
    names = [name for need in entry.requires for name in need.split(" or ")]
    packages = [f"{name} {_version_of_module(name)}" for name in names]
    return ", ".join([own, *packages])


def _content(plugin: str) -> bytes:
    try:
        return read_file(plugin)
    except OSError as error:
        raise UsageError(
            f"cannot read the plugin {plugin}: {error.strerror}; give the path of a Python file"
        ) from None


def _builtin_source(entry: Entry) -> str:
    package, _, module = entry.module.rpartition(".")
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    files = package_sources("eqbench.model")
    for folder in map(Path, folders):
        files += [*folder.glob("*.py"), *(folder / module).rglob("*.py")]
    return source_hash(sorted(files))


def _version_of_module(name: str) -> str | None:
    from importlib.metadata import packages_distributions

    found = packages_distributions().get(name, [name])
    return version_of(found[0])
