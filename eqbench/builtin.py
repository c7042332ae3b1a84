"""The games and solvers that eqbench ships, a line each of ``builtin.csv``; none is imported here.

`preset` are defaults of options that a spec may override, `in_all` is `no` for solvers that the
word ``all`` leaves out. Cells run in the order of the lines: methods that end by themselves come
before those that use up their time, so a first table row stands within seconds. Games with a
`family` are aliases: their canonical specs carry the name of the family. Games that are not named
in advance go by the start or the end of their specs.
"""

from __future__ import annotations

import csv
import importlib
from collections.abc import Iterator
from pathlib import Path

from eqbench.plugins import Entry, Kind, installed
from eqbench.spec import GAME_FILES, PREFIXES, parse_spec

# Whether a solver takes `yes`, `some` or `no` games of these kinds, as its `supports` answers for
# a few games of each; written down, so that a list of solvers need not import them all.
KINDS_OF_GAMES = (
    *("two players, zero sum", "two players, general sum", "three or more players"),
    *("strategic form", "perfect information", "large"),
)


def _entries(kind: Kind) -> Iterator[Entry]:
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] == kind:
                yield Entry(
                    kind,
                    row["name"],
                    f"eqbench.{kind}s.{row['target']}",
                    row["summary"],
                    dict(parse_spec(f"preset({row['preset']})").options),
                    row["family"],
                    default_row=row["in_all"] != "no",
                    group=row["group"],
                    requires=tuple(filter(None, row["requires"].split("; "))),
                    takes=dict(zip(KINDS_OF_GAMES, row["takes"].split(), strict=False)),
                )


BUILTIN_SOLVERS = {entry.name: entry for entry in _entries("solver")}
BUILTIN_GAMES = {entry.name: entry for entry in _entries("game")}
_FOREIGN = {prefix: f"{prefix}NAME" for prefix in PREFIXES}
_FOREIGN |= {ending: f"PATH{ending}" for ending in GAME_FILES}
FOREIGN_GAMES = {place: BUILTIN_GAMES.pop(name) for place, name in _FOREIGN.items()}
BUILTIN: dict[Kind, dict[str, Entry]] = {"game": BUILTIN_GAMES, "solver": BUILTIN_SOLVERS}


def built_in_class(kind: Kind, name: str) -> type:
    """Class of built-in games or solvers; AttributeError if there is none of that name."""
    module = class_modules(kind).get(name)
    if module is None:
        raise AttributeError(f"module 'eqbench.{kind}s' has no attribute {name!r}")
    found: type = getattr(importlib.import_module(module), name)
    return found


def class_modules(kind: Kind) -> dict[str, str]:
    """Modules of the classes of built-in games or solvers by their names, sorted."""
    entries = [*BUILTIN[kind].values(), *(FOREIGN_GAMES.values() if kind == "game" else ())]
    return {name: module for module, name in sorted(each.target.split(":") for each in entries)}


# Extensions as ``module:attribute`` by name, in the groups of entry points by which installed
# distributions add theirs: verdicts on claimed equilibria, engines that carry out cells, and
# packages with documents of published equilibria, or with experiments in folders of theirs.
EXTENSIONS = {
    "verdicts": {
        "credible": "eqbench.verdicts.kinds:credible",
        "kind": "eqbench.verdicts.kinds:kind",
        "place": "eqbench.proofs.complete_sets:place",
    },
    "engines": {"dask": "eqbench.cluster:ClusterEngine"},
    "equilibria": {"published": "eqbench.equilibria.data"},
    "experiments": {"papers": "eqbench.papers", "studies": "eqbench.studies"},
}


def extensions(group: str) -> dict[str, str]:
    """Extensions of a group: the built-in ones, which keep their names, then those installed."""
    return EXTENSIONS[group] | installed(group) | EXTENSIONS[group]
