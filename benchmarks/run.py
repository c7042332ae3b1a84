"""Run benchmarks, keep their raw results, and show these in the documentation.

    python benchmarks/run.py                     # lists the benchmarks of benchmarks.toml
    python benchmarks/run.py ncp logit           # measures, draws, fills tables and numbers
    python benchmarks/run.py ncp --small         # only whether it runs, in seconds; keeps nothing
    python benchmarks/run.py random_starts --set starts=20
    python benchmarks/run.py coexisting --draw   # draws again from the raw results
    python benchmarks/run.py --tables            # fills tables and numbers from the raw results
    python benchmarks/run.py --check             # exits with 1 if a page does not show them

Everything is measured on one thread. An experiment is run into ``results/<its name>`` and goes on
there if it was interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shlex
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from measuring import ONE_THREAD, eqbench_json
from pages import HERE, RESULTS, ROOT, benchmarks, read_results, stale_pages


def main() -> None:
    """Do what the command line asks for."""
    os.environ.update(ONE_THREAD)  # before numerical libraries are imported
    os.chdir(ROOT)  # so that all paths are relative to the checkout
    options = _arguments()
    if options.call:
        function, given = options.call
        print(json.dumps(called(function, **json.loads(given))))
        return
    for name in options.names:
        if not options.draw:
            found = measured(benchmarks()[name], options.set, small=options.small)
            if options.small:
                print(f"{name}: {json.dumps(found)[:2000]}", flush=True)
                continue
            write_results(name, found)
        if function := benchmarks()[name].get("draw"):
            called(function, read_results(name))
    if not options.names and not (options.tables or options.check):
        for name, entry in benchmarks().items():
            needs = f" (needs {entry['needs']})" if "needs" in entry else ""
            print(f"{name:24} {entry['title']}{needs}")
    elif not options.small:
        show(change=not options.check)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks")
    parser.add_argument("--small", action="store_true", help="a small size; keep nothing")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="option")
    parser.add_argument("--draw", action="store_true", help="measure nothing, draw")
    parser.add_argument("--tables", action="store_true", help="fill tables and numbers")
    parser.add_argument("--check", action="store_true", help="change no page")
    # how measurements get a process of their own
    parser.add_argument("--call", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.names) - set(benchmarks()):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    return options


def called(function: str, *arguments: Any, **options: Any) -> Any:
    """Call ``module:function`` of this folder."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(*arguments, **options)


def measured(entry: Mapping[str, Any], given: list[str], *, small: bool) -> dict[str, Any]:
    """Raw results of a benchmark: its settings, versions, and what was measured."""
    try:
        versions = {name.replace("-", "_"): version(name) for name in entry.get("versions", [])}
    except PackageNotFoundError as error:
        sys.exit(f"{error}; this benchmark needs the extra {entry['needs']}")
    if "function" in entry:
        settings = entry.get("options", {}) | (entry["small"] if small else {})
        settings |= tomllib.loads("\n".join(given))
        return settings | versions | called(entry["function"], **settings)
    if given:
        sys.exit("--set is for functions; what is run here stands in the file or the command")
    words = shlex.split(entry.get("small", "")) if small else []
    if "experiment" in entry:
        return versions | _of_experiment(entry, words)
    if "commands" in entry:
        return versions | {"summaries": _of_commands(entry, words)}
    sys.exit(f"nothing measures it here: {entry['title']}")


def _of_experiment(entry: Mapping[str, Any], words: list[str]) -> dict[str, Any]:
    """Numbers among the settings of an experiment, and what is kept of each of its cells."""
    file = HERE / "experiments" / entry["experiment"]
    with tempfile.TemporaryDirectory() as folder:
        out = ["--out", f"{folder}/run"] if words else []
        cells = eqbench_json("run", str(file), *words, *out)["cells"]
    settings = tomllib.loads(file.read_text(encoding="utf-8"))
    numbers = {key: value for key, value in settings.items() if isinstance(value, int | float)}
    return numbers | {"rows": [kept(cell, entry["keep"]) for cell in cells]}


def kept(cell: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Some of a cell, of its statistics, and of the first equilibrium that it found."""
    found = cell["equilibria"]
    exact = next((each["exact"]["regrets"] for each in found if each["exact"]), None)
    first = found[0] if found else {}
    known = {**first, **cell["statistics"], **cell, "exact_regrets": exact}
    return {name: known.get(name) for name in names}


def _of_commands(entry: Mapping[str, Any], words: list[str]) -> dict[str, Any]:
    """Some of the summaries of commands, by name."""
    summaries = {}
    for name, command in entry["commands"].items():
        with tempfile.TemporaryDirectory() as folder:
            summary = eqbench_json(*shlex.split(command), *words, "--out", f"{folder}/{name}")
        summaries[name] = {key: summary[key] for key in entry["keep"]}
    return summaries


def write_results(name: str, data: Mapping[str, Any]) -> None:
    """Write ``results/<name>.json``: the environment and `data`."""
    from eqbench.harness.environment import environment

    text = json.dumps({"environment": environment(), **data}, indent=1, allow_nan=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def show(*, change: bool) -> None:
    """Fill the pages that do not show the raw results, or only name them."""
    stale = stale_pages()
    if change:
        for page, text in stale.items():
            page.write_text(text, encoding="utf-8")
    if stale:
        print("written:" if change else "stale:", *(Path(page).relative_to(ROOT) for page in stale))
    sys.exit(1 if stale and not change else 0)


if __name__ == "__main__":
    main()
