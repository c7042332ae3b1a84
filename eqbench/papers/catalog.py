"""The sources that can be reproduced."""

from __future__ import annotations

import importlib

from eqbench.errors import UsageError, nearest
from eqbench.papers.claims import Source

# in the order of their games: from the tree to its equilibria to methods that find them
MODULES = {
    "encyclopedia": "eqbench.papers.encyclopedia",
    "szafron": "eqbench.papers.szafron",
    "ganzfried": "eqbench.papers.ganzfried",
    "billingham_2017": "eqbench.papers.billingham_2017",
    "billingham_2018": "eqbench.papers.billingham_2018",
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
