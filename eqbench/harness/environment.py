"""What a result depends on besides the request: versions of solvers, platform, packages."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from eqbench.documents import read_file
from eqbench.errors import UsageError
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


CORE = ("numpy", "scipy", "numba", "pandas", "matplotlib", "click", "rich", "psutil")
OPTIONAL = {
    "gambit": ("pygambit", "pygambit"),
    "gurobi": ("gurobipy", "gurobipy"),
    "scip": ("pyscipopt", "PySCIPOpt"),
    "peers": ("pyspiel", "open_spiel"),
    "liteefg": ("LiteEFG", "LiteEFG"),
    "ode": ("heyoka", "heyoka"),
    "exact": ("flint", "python-flint"),
    "cluster": ("distributed", "distributed"),
}


def environment() -> dict[str, Any]:
    """Platform and package versions, as JSON values; does not need any package itself."""
    commit = checkout_commit(installation())
    return {
        "eqbench": version_of("eqbench"),
        **({"commit": commit} if commit else {}),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "packages": {name: version_of(name) for name in CORE},
    }


def host_facts() -> dict[str, Any]:
    """This machine and its load, as JSON values; `host` is its name in records."""
    name, facts = platform.node(), environment()
    own = "\n".join([name, facts["processor"], str(facts["cores"])])
    host = hashlib.sha256(own.encode()).hexdigest()[:8]
    return {"host": host, "name": name, "load": round(os.getloadavg()[0], 2), **facts}


@functools.cache
def fingerprint() -> dict[str, str]:
    """What must be the same wherever cells of one run are carried out.

    Solvers with the packages that they need have versions of their own, which are part of the keys
    of cells.
    """
    sources = source_hash(package_sources("eqbench", "eqbench.games", "eqbench.solvers"))
    packages = {name: str(version_of(name)) for name in ("numpy", "scipy", "numba")}
    eqbench = f"{version_of('eqbench')} {sources}"
    return {"eqbench": eqbench, "python": platform.python_version(), **packages}


def version_of(package: str) -> str | None:
    """Installed version of a distribution, None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def installation() -> Path:
    """Folder that holds the package."""
    return Path(__file__).resolve().parents[2]


def checkout_commit(folder: Path) -> str | None:
    """Commit of a checkout of git as its files have it, None if the folder is none."""
    git = folder / ".git"
    with suppress(OSError, UnicodeDecodeError):
        if git.is_file():  # of a further worktree
            git = folder / git.read_text().removeprefix("gitdir: ").strip()
        shared = git / "commondir"
        common = git / shared.read_text().strip() if shared.is_file() else git
        head = (git / "HEAD").read_text().strip()
        branch = head.removeprefix("ref: ")
        if branch == head:  # none is checked out
            return head
        if (common / branch).is_file():
            return (common / branch).read_text().strip()
        packed = map(str.split, (common / "packed-refs").read_text().splitlines())
        return next((words[0] for words in packed if words[1:] == [branch]), None)
    return None


def split_installation() -> str | None:
    """Complaint if core and plugins come from different checkouts, else None.

    Both are mapped into one package, so a stale installation could pair new code with old.
    """
    core = Path(__file__).resolve().parents[1]
    for name in ("games", "solvers"):
        spec = importlib.util.find_spec(f"eqbench.{name}")
        if spec is None or not spec.submodule_search_locations:
            return f"the package eqbench.{name} is missing; install eqbench again"
        folder = Path(next(iter(spec.submodule_search_locations))).resolve()
        if folder.parent not in (core, core.parent):
            return (
                f"eqbench comes from {core.parent}, but eqbench.{name} from {folder}; install one "
                "of them again, for example with pip install -e ."
            )
    return None


@dataclass(frozen=True)
class Check:
    """A thing that eqbench needs or can use, and how it is here."""

    name: str
    state: Literal["good", "absent", "broken"]
    detail: str


def checks() -> list[Check]:
    """Check packages, optional solvers, caches and the place for results."""
    facts, split = environment(), split_installation()
    about = f"{facts['platform']}, {facts['cores']} cores, {facts['memory_bytes'] / 2**30:.0f} GiB"
    commit = f", commit {facts['commit'][:10]}" if "commit" in facts else ""
    found = [
        Check("eqbench", "good", f"{facts['eqbench']} on Python {facts['python']}{commit}"),
        Check("platform", "good", about),
        Check("installation", "broken" if split else "good", split or str(installation())),
    ]
    for name, version in facts["packages"].items():
        state: Literal["good", "broken"] = "good" if version else "broken"
        found.append(Check(name, state, version or f"missing: pip install {name}"))
    return [*found, *map(_extra, OPTIONAL), _kernel_cache(), _game_cache(), _results()]


def _extra(extra: str) -> Check:
    """The package of an extra for solvers."""
    module, distribution = OPTIONAL[extra]
    if importlib.util.find_spec(module) is None:
        return Check(extra, "absent", f"optional: pip install 'eqbench[{extra}]'")
    detail = f"{distribution} {version_of(distribution) or ''}".strip()
    if extra == "gurobi":
        detail += f", {_gurobi_license()}"
    return Check(extra, "good", detail)


def _gurobi_license() -> str:
    """Which license of Gurobi is here, tried out on a model that the size-limited one refuses."""
    import gurobipy as gp

    try:
        with gp.Env(params={"OutputFlag": 0}) as env, gp.Model(env=env) as model:
            model.addVars(2001)
            model.optimize()
    except gp.GurobiError as error:
        if error.errno == gp.GRB.Error.SIZE_LIMIT_EXCEEDED:
            return "size-limited license: small models only"
        return f"no license: {error}"
    return "license without a limit on size"


def _kernel_cache() -> Check:
    from eqbench.model.compiled import cache_folder

    folder = cache_folder()
    if folder is None:
        return Check("kernel cache", "absent", "not writable: every process compiles afresh")
    return Check("kernel cache", "good", str(folder))


def _game_cache() -> Check:
    from eqbench.model.game_cache import game_cache_folder

    folder = game_cache_folder()
    if folder is None:
        return Check("game cache", "absent", "not writable: large games are built every time")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return Check("game cache", "good", f"{folder} ({size / 2**20:,.0f} MiB)")


def _results() -> Check:
    folder = Path("results")
    place = folder if folder.is_dir() else Path.cwd()
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        detail = f"{place.resolve()} cannot be written ({error.strerror}): use run --out DIR"
        return Check("results", "absent", detail)
    return Check("results", "good", f"{folder.resolve()} can be written")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"
