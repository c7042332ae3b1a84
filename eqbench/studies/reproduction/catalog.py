"""The sources that can be reproduced."""

from __future__ import annotations

import importlib

from eqbench.errors import UsageError, nearest
from eqbench.studies.reproduction.claims import Source

# in the order of their games: from the tree to its equilibria to methods that find them
MODULES = {
    "encyclopedia": "eqbench.studies.reproduction.encyclopedia",
    "szafron": "eqbench.studies.reproduction.szafron",
    "ganzfried": "eqbench.studies.reproduction.ganzfried",
    "billingham_2017": "eqbench.studies.reproduction.billingham_2017",
    "billingham_2018": "eqbench.studies.reproduction.billingham_2018",
}


def load_source(name: str) -> Source:
    """The source of this name.

    Raises
    ------
    UsageError
        If there is none; the message lists them.
    """
    if name not in MODULES:
        raise UsageError(f"unknown source {name!r}: {nearest(name, MODULES)}")
    module = importlib.import_module(MODULES[name])
    source: Source = module.SOURCE
    return source
