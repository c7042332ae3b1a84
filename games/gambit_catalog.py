"""Games of the catalog that comes with pygambit, read by our own readers of Gambit's files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from eqbench.errors import SpecError, UsageError, nearest
from eqbench.model.tree import GameTree

from .efg import EfgFile
from .nfg import NfgFile

PREFIX = "gambit:"
READERS: dict[str, type[EfgFile] | type[NfgFile]] = {".efg": EfgFile, ".nfg": NfgFile}


@dataclass(frozen=True)
class CatalogGame:
    """A game of Gambit's catalog, named as in `pygambit.catalog.load`.

    Parameters
    ----------
    text : ``gambit:`` and the name, for example journals/ijgt/selten1975/fig1
    """

    text: str

    @property
    def spec(self) -> str:
        """The name, wherever pygambit is installed."""
        return PREFIX + self.text.strip().removeprefix(PREFIX).strip()

    def build(self) -> GameTree:
        """Checked game tree; raises as for game files, and `SpecError` for an unknown name."""
        name, files = self.spec.removeprefix(PREFIX), _catalog()
        if name not in files:
            raise SpecError(f"unknown game {name!r} of Gambit's catalog: {nearest(name, files)}")
        return READERS[files[name].suffix](str(files[name])).build()


def _catalog() -> dict[str, Path]:
    """Files of the catalog by their names; raises `UsageError` if it is not installed."""
    package = find_spec("pygambit")  # it is not imported
    origin = package.origin if package else None
    folder = Path(origin or os.devnull).with_name("catalog_data")
    files = [file for file in sorted(folder.rglob("*")) if file.suffix in READERS]
    if not files:
        raise UsageError(
            f"{PREFIX} needs pygambit 17 or later; install it by: pip install 'eqbench[gambit]'"
        )
    return {file.relative_to(folder).with_suffix("").as_posix(): file for file in files}
