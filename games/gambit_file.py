"""What game files of both formats have in common: their path, and when they are cached."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

from .gambit_text import read_text

CACHED_FROM = 2**20  # characters; smaller files are read about as fast as their arrays


@dataclass(frozen=True)
class GambitFile:
    """A game file; it is read once, when its text is first needed.

    Parameters
    ----------
    path : path of the file
    """

    path: str

    @property
    def spec(self) -> str:
        """The path as it was typed."""
        return self.path

    @cached_property
    def text(self) -> str:
        """Text of the file, kept: what is built and the key of the cache belong together.

        Raises
        ------
        GameFormatError
            As :func:`eqbench.games.gambit_text.read_text`.
        """
        return read_text(self.path)

    def cache_key(self) -> str:
        """Hash of the contents of a large file; empty if it is small."""
        if len(self.text) < CACHED_FROM:
            return ""
        return hashlib.sha256(self.text.encode()).hexdigest()
