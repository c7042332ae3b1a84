"""Published tables, figures and claims, each held against what eqbench stores of its own."""

from __future__ import annotations
